"""`python -m benchmarks NAME`: run a race and show its table."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

import typer

from benchmarks import BENCHMARKS, Benchmark
from conseq.cli.grouping import grouped
from conseq.cli.options import option
from conseq.cli.outcome import misused
from conseq.cli.show import show, show_table
from experiments.measuring import Outputs, find, run_program, show_list

PROGRAM = "python -m benchmarks"


@grouped
def bench(
    *,
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Which benchmark; without a name they are listed.")
    ] = None,
    sets: str | None = option(
        None, None, "NAME,…", "The data sets to race on, for crf; if not given all that are there."
    ),
    outputs: Outputs,
    plot: str | None = option(
        None, None, "FILE", "Write a picture (PNG) of the objective over time, for crf; needs matplotlib."
    ),
) -> None:  # fmt: skip
    """Race other toolkits, measure quality on public data.

    \b
    Examples:
      python -m benchmarks
      python -m benchmarks crf --quick
      python -m benchmarks crf --sets conll2000,umass_citation --plot race.png --markdown race.md
      python -m benchmarks memory --quick
      python -m benchmarks presets --data ~/data --json
    """
    if name is None:
        show_list(["benchmark", "what it measures"], BENCHMARKS, PROGRAM)
        return
    benchmark = find(name, "benchmark", BENCHMARKS)
    chosen = {} if sets is None else {"sets": _sets(name, benchmark, sets)}
    outputs.measure(name, benchmark, plot, partial(_show, benchmark), **chosen)


def _sets(name: str, benchmark: Benchmark, given: str) -> list[str]:
    """The names in a list with commas, if the benchmark has them all."""
    if not benchmark.sets:
        misused(f"{name} takes all data sets that are there; leave --sets out")
    chosen = [part.strip() for part in given.split(",") if part.strip()]
    unknown = [part for part in chosen if part not in benchmark.sets]
    if unknown or not chosen:
        wrong = f"{name} has no set {unknown[0]!r}" if unknown else "--sets is empty"
        misused(f"{wrong}; there are: {', '.join(benchmark.sets)}")
    return chosen


def _show(benchmark: Benchmark, result: dict[str, Any]) -> None:
    header, *rows = benchmark.table(result)
    show_table(header, rows)
    for title, (head, *body) in benchmark.further(result).items():
        show()
        show_table(head, body, title=title)


def main(arguments: Sequence[str] | None = None) -> int:
    return run_program(bench, PROGRAM, arguments)


if __name__ == "__main__":
    sys.exit(main())
