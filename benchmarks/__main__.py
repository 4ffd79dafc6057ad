"""`python -m benchmarks NAME`: run a race and show its table."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from benchmarks import BENCHMARKS, Benchmark
from conseq.cli.options import AsJson
from conseq.cli.outcome import misused
from conseq.cli.show import show, show_table
from conseq.io.atomic import emit
from experiments.measuring import (
    DataFolder,
    MarkdownFile,
    Quick,
    check_outputs,
    data_folder,
    plottable,
    run_program,
    show_list,
    tell,
)

PROGRAM = "python -m benchmarks"


def bench(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Which benchmark; without a name they are listed."),
    ] = None,
    data: DataFolder = None,
    quick: Quick = False,
    sets: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,…",
            help="The data sets to race on, for crf; if not given all that are there.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
    markdown: MarkdownFile = None,
    plot: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Write a picture (PNG) of the objective over time, for crf; needs matplotlib.",
            show_default=False,
        ),
    ] = None,
) -> None:
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
        abouts = [[n, b.about] for n, b in BENCHMARKS.items()]
        show_list(["benchmark", "what it measures"], abouts, PROGRAM)
        return
    if name not in BENCHMARKS:
        misused(f"there is no benchmark {name!r}; there are: {', '.join(BENCHMARKS)}")
    benchmark = BENCHMARKS[name]
    chosen = {} if sets is None else {"sets": _sets(name, benchmark, sets)}
    check_outputs(markdown, plot)
    folder = data_folder(data)
    plot = plottable(plot, name, benchmark.plot)
    result = benchmark.run(data=folder, quick=quick, say=tell, **chosen)
    if as_json:
        print(json.dumps(result, ensure_ascii=False))
    else:
        _show(benchmark, result)
    if markdown is not None:
        emit(markdown, benchmark.markdown(result))
    if plot is not None and benchmark.plot is not None:
        benchmark.plot(result, plot)


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
