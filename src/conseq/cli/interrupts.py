"""Ctrl-C ends a command, at a moment that compiled code survives.

Compiled code calls Python to make arrays and to keep what was compiled, and does not look whether that was
interrupted: the interrupt would be lost, or a SystemError. So it waits until that is done.
"""

from __future__ import annotations

import signal
import sys
from types import FrameType
from typing import Any

UNAWARE = frozenset(["_numba_unpickle", "_raw_object_cache_notify", "_raw_object_cache_getbuffer"])
"""Functions of numba and llvmlite that are called so."""


def interrupt_in_safety() -> None:
    """From now on KeyboardInterrupt is raised only where it does no harm; an ignored SIGINT is left alone."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)


def _interrupt(_: int, frame: FrameType | None) -> None:
    safe = frame
    while frame is not None:
        if frame.f_code.co_name in UNAWARE:
            safe = frame.f_back
        frame = frame.f_back
    if safe is None or safe is sys._getframe(1):
        raise KeyboardInterrupt
    safe.f_trace, safe.f_trace_opcodes = _raise, True
    sys.settrace(lambda *_: None)


def _raise(frame: FrameType, *_: Any) -> None:
    """Called before the frame goes on."""
    sys.settrace(None)
    frame.f_trace, frame.f_trace_opcodes = None, False
    raise KeyboardInterrupt
