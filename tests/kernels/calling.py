"""Helpers called from Python, where they have no entry of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import config, njit

ENTRY = ("nopython", "no_cpython_wrapper")
"""Options of a helper that `called` does not take over."""


def called(helper: Any) -> Callable[..., Any]:
    """The same function compiled with an entry; with the JIT off, the helper itself.

    It is not kept on disk, where it would be taken for the helper.
    """
    if config.DISABLE_JIT:
        return helper
    options = {name: value for name, value in helper.targetoptions.items() if name not in ENTRY}
    return njit(**options)(helper.py_func)
