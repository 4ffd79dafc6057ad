"""`python -m benchmarks NAME`: run a race and show its table."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Annotated, Any, Literal

import typer

from benchmarks import BENCHMARKS, Benchmark
from conseq.cli.grouping import grouped
from conseq.cli.options import option
from conseq.cli.outcome import FAILED, misused
from conseq.cli.show import show, show_table
from experiments.measuring import Outputs, find, run_program, show_list

PROGRAM = "python -m benchmarks"
Part = Literal["problems", "sizes", "inputs"]


@dataclass(frozen=True)
class Amount:
    """How much is to be tried, and what of."""

    minutes: float | None = option(None, None, "N", "How long to go on, for soak; 1 if not given.", min=0)
    seconds: float | None = option(
        None, None, "N", "How long threads ask, for threads; 60 if not given.", min=0
    )
    times: int | None = option(
        None, None, "N", "How many kills, or forks for threads; 200 and 100 if not given.", min=1
    )
    seed: int | None = option(
        None, None, "S", "What is drawn, for soak, kills, threads; a new one if not given.", min=0
    )
    part: Part | None = option(None, None, Part, "This part of soak alone.")
    number: int | None = option(None, None, "N", "This task of a part of soak alone, once more.", min=0)


@grouped
def bench(
    *,
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Which benchmark; without a name they are listed.")
    ] = None,
    sets: str | None = option(
        None, None, "NAME,…", "The data sets to race on, for crf, the problems, for limits; all if not given."
    ),
    amount: Amount,
    outputs: Outputs,
    plot: str | None = option(
        None, None, "FILE", "Write a picture (PNG) of the objective over time, for crf; needs matplotlib."
    ),
) -> None:  # fmt: skip
    """Race other toolkits, measure quality on public data, look for mistakes with random input.

    \b
    Examples:
      python -m benchmarks
      python -m benchmarks crf --quick
      python -m benchmarks crf --sets conll2000,umass_citation --plot race.png --markdown race.md
      python -m benchmarks limits --quick --sets rules
      python -m benchmarks memory --quick
      python -m benchmarks presets --data ~/data --json
      python -m benchmarks soak --minutes 10 --json
      python -m benchmarks kills --times 200 --json
    """
    if name is None:
        show_list(["benchmark", "what it measures"], BENCHMARKS, PROGRAM)
        return
    benchmark = find(name, "benchmark", BENCHMARKS)
    chosen: dict[str, Any] = {} if sets is None else {"sets": _sets(name, benchmark, sets)}
    chosen |= _own(
        name, benchmark, {key: value for key, value in asdict(amount).items() if value is not None}
    )
    result = outputs.measure(
        name, benchmark, plot, partial(_show, benchmark), needs_data=benchmark.needs_data, **chosen
    )
    if benchmark.failed(result):
        raise typer.Exit(FAILED)


def _own(name: str, benchmark: Benchmark, given: dict[str, Any]) -> dict[str, Any]:
    """The options that only some benchmarks have, if this one has them."""
    for key in given:
        if key not in benchmark.options:
            misused(f"{name} has no option --{key}; leave it out")
    if "number" in given and "part" not in given:
        misused("--number is that of a task of one part; name it with --part")
    return given


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
