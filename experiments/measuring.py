"""What `python -m experiments` and `python -m benchmarks` share: options, where data is, how a run ends.

0 fine · 1 the work failed, one sentence on standard error says why · 2 wrong usage · 130 interrupted.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, TypeVar

import typer

from conseq.cli import write_utf8
from conseq.cli.helping import Command
from conseq.cli.options import AS_JSON, option
from conseq.cli.outcome import misused, run_app, say
from conseq.cli.show import show, show_table
from conseq.errors import DataError
from conseq.io.atomic import emit

VARIABLE, USUAL = "CONSEQ_DATA", "../shared/data"
"""Where data sets are looked for if no folder is named."""

Result = dict[str, Any]


class Measured(Protocol):
    """What a name stands for: an experiment or a benchmark."""

    @property
    def about(self) -> str: ...
    @property
    def run(self) -> Callable[..., Result]: ...
    @property
    def plot(self) -> Callable[[Result, str], None] | None: ...
    def markdown(self, result: Result, /) -> str: ...


Kind = TypeVar("Kind", bound=Measured)


@dataclass(frozen=True)
class Outputs:
    """Where data is, and where results go."""

    data: str | None = option(
        None, None, "DIR", f"The folder of data sets; if not given ${VARIABLE}, then {USUAL}."
    )
    quick: bool = option(False, None, None, "Less data, a rough answer.", "--quick")
    as_json: bool = AS_JSON
    markdown: str | None = option(None, None, "FILE", "Write the tables to a file, too.")

    def measure(
        self,
        name: str,
        kind: Measured,
        plot: str | None,
        show: Callable[[Result], None],
        needs_data: bool = True,
        **own: Any,
    ) -> Result:
        """Run what a name stands for, and write what was asked for."""
        _check_outputs(self.markdown, plot)
        folder = _data_folder(self.data) if needs_data else None
        plot = _plottable(plot, name, kind.plot)
        result = kind.run(data=folder, quick=self.quick, say=tell, **own)
        if self.markdown is not None:
            emit(self.markdown, kind.markdown(result))
        if plot is not None and kind.plot is not None:
            kind.plot(result, plot)
        if self.as_json:
            print(json.dumps(result, ensure_ascii=False))
        else:
            show(result)
        return result


def find(name: str, what: str, table: Mapping[str, Kind]) -> Kind:
    """What a name stands for; ends if there is no such thing."""
    if name not in table:
        misused(f"there is no {what} {name!r}; there are: {', '.join(table)}")
    return table[name]


def run_program(command: Callable[..., None], program: str, arguments: Sequence[str] | None) -> int:
    """Run a program that has one command; without arguments those the process was started with.

    ─→ exit code
    """
    if arguments is None:
        write_utf8()
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command(cls=Command)(command)
    return run_app(app, program, sys.argv[1:] if arguments is None else arguments)


def show_list(header: Sequence[str], table: Mapping[str, Measured], program: str) -> None:
    """Names and what they are about, and how to run one."""
    show_table(header, [[name, kind.about] for name, kind in table.items()])
    show()
    show(f"Run one with: {program} NAME, its options with: {program} --help")


def _check_outputs(markdown: str | None, plot: str | None) -> None:
    """End before anything is measured if a file could not be written in the end."""
    for flag, path in (("--markdown", markdown), ("--plot", plot)):
        if path is not None and not Path(path).absolute().parent.is_dir():
            misused(f"there is no directory {Path(path).parent} for {flag}; create it first")


def _plottable(plot: str | None, name: str, draw: object) -> str | None:
    """Where the picture goes; None, with a word, if it cannot be drawn."""
    if plot is not None and draw is None:
        misused(f"{name} has no picture; leave --plot out")
    if plot is not None and find_spec("matplotlib") is None:
        say("there will be no plot, which needs matplotlib; install it with: pip install 'conseq[plot]'")
        return None
    return plot


def _data_folder(given: str | None) -> Path:
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
