"""The command line.  arguments ─→ a command of `app.py` ─→ exit code.

0 fine · 1 the work failed, one sentence on standard error says why · 2 wrong usage · 130 interrupted.
Nothing heavy is imported before a command runs, so that `conseq --help` answers at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from typing import TextIO

from conseq.cli.clock import Clock

__all__ = ["main", "occupy_closed_streams", "write_utf8"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; without arguments those the process was started with."""
    clock = Clock()
    try:
        if arguments is None:
            clock = Clock.of_process()
            _prepare_process()
        from conseq.cli.app import app
        from conseq.cli.outcome import run_app
    except KeyboardInterrupt:
        return 130
    return run_app(app, "conseq", sys.argv[1:] if arguments is None else arguments, obj=clock)


def _prepare_process() -> None:
    """What holds for a whole process: its streams, and what signals do."""
    from conseq.cli.interrupts import interrupt_in_safety
    from conseq.temporary import remove_when_ended

    occupy_closed_streams()
    interrupt_in_safety()
    remove_when_ended()
    write_utf8()


def occupy_closed_streams() -> None:
    """Where standard output or error is closed (`>&-`), keep its number from the next file that is opened.

    Writing to such an output fails, as it should; what would be said on such an error output is lost.
    """
    if sys.stdout is None:
        sys.stdout = _in_place_of(1, os.O_RDONLY)
    if sys.stderr is None:
        sys.stderr = _in_place_of(2, os.O_WRONLY)


def _in_place_of(number: int, flags: int) -> TextIO:
    null = os.open(os.devnull, flags)
    try:
        os.fstat(number)  # it may be the one that was just opened, or that of another file
    except OSError:
        os.dup2(null, number)
    return open(null, "w")


def write_utf8() -> None:
    """Pipes and files get UTF-8 whatever the locale; a terminal gets what it can show."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="replace")
