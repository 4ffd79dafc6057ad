"""The command line.  arguments ─→ a command of `app.py` ─→ exit code.

0 fine · 1 the work failed, one sentence on standard error says why · 2 wrong usage · 130 interrupted.
Nothing heavy is imported before a command runs, so that `conseq --help` answers at once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from io import TextIOWrapper

from conseq.cli.clock import Clock

__all__ = ["main", "write_utf8"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; without arguments those the process was started with."""
    from conseq.cli.app import app
    from conseq.cli.outcome import exit_code

    clock = Clock()
    if arguments is None:
        clock = Clock.of_process()
        write_utf8()
    given = list(sys.argv[1:] if arguments is None else arguments)
    return exit_code(lambda: app(args=given, prog_name="conseq", standalone_mode=False, obj=clock))


def write_utf8() -> None:
    """Pipes and files get UTF-8 whatever the locale; a terminal gets what it can show."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="replace")
