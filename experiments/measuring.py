"""What `python -m experiments` and `python -m benchmarks` share: options, where data is, how a run ends.

0 fine · 1 the work failed, one sentence on standard error says why · 2 wrong usage · 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from conseq.cli import write_utf8
from conseq.cli.helping import Command
from conseq.cli.outcome import exit_code, guarded, misused, say
from conseq.cli.show import show, show_table
from conseq.errors import DataError

VARIABLE, USUAL = "CONSEQ_DATA", "../shared/data"
"""Where data sets are looked for if no folder is named."""

DataFolder = Annotated[
    str | None,
    typer.Option(
        metavar="DIR",
        help=f"The folder of data sets; if not given ${VARIABLE}, then {USUAL}.",
        show_default=False,
    ),
]
Quick = Annotated[bool, typer.Option("--quick", help="Less data, a rough answer.")]
MarkdownFile = Annotated[
    str | None, typer.Option(metavar="FILE", help="Write the tables to a file, too.", show_default=False)
]


def run_program(command: Callable[..., None], program: str, arguments: Sequence[str] | None) -> int:
    """Run a program that has one command; without arguments those the process was started with.

    ─→ exit code
    """
    if arguments is None:
        write_utf8()
    given = list(sys.argv[1:] if arguments is None else arguments)
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command(cls=Command)(guarded(command))
    return exit_code(lambda: app(args=given, prog_name=program, standalone_mode=False))


def show_list(header: Sequence[str], abouts: Iterable[Sequence[str]], program: str) -> None:
    """Names and what they are about, and how to run one."""
    show_table(header, abouts)
    show()
    show(f"Run one with: {program} NAME, its options with: {program} --help")


def check_outputs(markdown: str | None, plot: str | None) -> None:
    """End before anything is measured if a file could not be written in the end."""
    for option, path in (("--markdown", markdown), ("--plot", plot)):
        if path is not None and not Path(path).absolute().parent.is_dir():
            misused(f"there is no directory {Path(path).parent} for {option}; create it first")


def plottable(plot: str | None, name: str, draw: object) -> str | None:
    """Where the picture goes; None, with a word, if it cannot be drawn."""
    if plot is not None and draw is None:
        misused(f"{name} has no picture; leave --plot out")
    if plot is not None and find_spec("matplotlib") is None:
        say("there will be no plot, which needs matplotlib; install it with: pip install 'conseq[plot]'")
        return None
    return plot


def data_folder(given: str | None) -> Path:
    """The folder of data sets: given, or $CONSEQ_DATA, or the usual place."""
    folder = Path(given or os.environ.get(VARIABLE) or USUAL)
    if not folder.is_dir():
        raise DataError(
            f"there is no folder of data sets here; name it with --data or ${VARIABLE}", path=folder
        )
    return folder


def tell(line: str) -> None:
    """A line on standard error while something is measured."""
    print(line, file=sys.stderr, flush=True)
