"""Tells the person why the first use takes long: numba's events ─→ whether something is being compiled."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

NOTICE = "compiling (first use only) …"
PATIENCE = 1.0
"""Seconds of compiling before anything is said of it."""


class Compilation:
    """What numba compiles; code that comes from its cache on the disk is not compiled."""

    def __init__(self) -> None:
        self.running = 0
        self.begun: float | None = None

    @property
    def noticeable(self) -> bool:
        """Whether something is being compiled now, and compiling began a while ago."""
        return self.running > 0 and self.begun is not None and time.monotonic() - self.begun > PATIENCE


@contextmanager
def heard() -> Iterator[Compilation]:
    """Listen while the block runs."""
    from numba.core.event import Listener, install_listener

    compilation = Compilation()

    class CompileListener(Listener):
        def on_start(self, event: Any) -> None:
            compilation.running += 1
            compilation.begun = compilation.begun or time.monotonic()

        def on_end(self, event: Any) -> None:
            compilation.running -= 1

    with install_listener("numba:compile", CompileListener()):
        yield compilation


@contextmanager
def told() -> Iterator[None]:
    """Say so once, on a terminal, if compiling takes long while the block runs."""
    if not sys.stderr.isatty():
        yield
        return
    done = threading.Event()
    with heard() as compilation:
        watcher = threading.Thread(target=_watch, args=(compilation, done), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            done.set()
            watcher.join()


def _watch(compilation: Compilation, done: threading.Event) -> None:
    while not done.wait(0.1):
        if compilation.noticeable:
            print(NOTICE, file=sys.stderr, flush=True)
            return
