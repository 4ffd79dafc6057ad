"""The clock that limits are measured by. It stands still while kernels are compiled: what a first use waits
for, whole minutes on a busy machine, must not be taken from the time in which an answer is looked for."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Clock:
    """Seconds, without those in which it was stopped, by this thread or another.

    >>> clock = Clock()
    >>> with clock.stopped():
    ...     begun = clock.now()
    ...     clock.now() == begun
    True
    >>> clock.now() > begun
    True
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state = 0, 0.0, 0.0  # who stops it now, since when, seconds that it stood before

    def now(self) -> float:
        """Seconds since some moment; of use are differences only."""
        stops, since, stood = self._state
        return (since if stops else time.perf_counter()) - stood

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """It stands still while the block runs."""
        self._change(1)
        try:
            yield
        finally:
            self._change(-1)

    def _change(self, by: int) -> None:
        with self._lock:
            stops, since, stood = self._state
            moment = time.perf_counter()
            if stops + by == 0:
                stood += moment - since
            self._state = stops + by, since if stops else moment, stood

    def _renew(self) -> None:
        """In a forked child, where nobody will let it go on who stopped it before."""
        self._lock = threading.Lock()
        if self._state[0]:
            self._change(-self._state[0])


CLOCK = Clock()
now = CLOCK.now

if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=CLOCK._renew)
