"""Helpers of the kernels, which only compiled code can call, as functions for tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import config, njit


def called(helper: Callable[..., Any]) -> Callable[..., Any]:
    """A function that Python may call, compiled or, with the JIT off, plain."""
    if config.DISABLE_JIT:
        return helper

    @njit
    def call(*args: Any) -> Any:
        return helper(*args)

    return call
