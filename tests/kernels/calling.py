"""Helpers of the kernels, which only compiled code can call, as functions for tests."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from numba import config, njit

NOT_TAKEN_OVER = ("nopython", "no_cpython_wrapper")
"""Options of a helper that are not those of a function that Python calls."""


@cache
@cache
def called(helper: Any) -> Callable[..., Any]:
    """The helper's function with an entry for Python; with the JIT off, the helper itself.

    It is not kept on disk, where it would be taken for the helper.
    """
    if config.DISABLE_JIT:
        return helper
    options = {name: value for name, value in helper.targetoptions.items() if name not in NOT_TAKEN_OVER}
    return njit(**options)(helper.py_func)
