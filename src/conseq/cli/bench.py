"""`conseq bench`: run a race of `conseq.benchmarks` and show its table."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from conseq.cli.options import AsJson
from conseq.cli.outcome import misused
from conseq.cli.show import show_table
from conseq.errors import DataError

VARIABLE, USUAL = "CONSEQ_DATA", "../shared/data"


def bench(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Which benchmark; without a name they are listed."),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help=f"The folder of data sets; if not given ${VARIABLE}, then {USUAL}.",
            show_default=False,
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Less data, a rough answer.")] = False,
    as_json: AsJson = False,
) -> None:
    """Race other toolkits, measure quality on public data.

    \b
    Examples:
      conseq bench
      conseq bench crf --quick
      conseq bench presets --data ~/data --json
    """
    from conseq.benchmarks import BENCHMARKS

    if name is None:
        show_table(["benchmark", "what it measures"], [[n, b.about] for n, b in BENCHMARKS.items()])
        return
    if name not in BENCHMARKS:
        misused(f"there is no benchmark {name!r}; there are: {', '.join(BENCHMARKS)}")
    benchmark = BENCHMARKS[name]
    result = benchmark.run(data=data_folder(data), quick=quick, say=_say)
    if as_json:
        print(json.dumps(result, ensure_ascii=False))
    else:
        header, *rows = benchmark.table(result)
        show_table(header, rows)


def data_folder(given: str | None) -> Path:
    """The folder of data sets: given, or $CONSEQ_DATA, or the usual place."""
    folder = Path(given or os.environ.get(VARIABLE) or USUAL)
    if not folder.is_dir():
        raise DataError(
            f"there is no folder of data sets here; name it with --data or ${VARIABLE}", path=folder
        )
    return folder


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
