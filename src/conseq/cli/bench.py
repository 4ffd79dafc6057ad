"""`conseq bench`: run a race of `conseq.benchmarks` and show its table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from conseq.cli.measuring import check_outputs, data_folder, plottable, tell
from conseq.cli.options import AsJson, DataFolder, MarkdownFile, Quick
from conseq.cli.outcome import misused
from conseq.cli.show import show, show_table

if TYPE_CHECKING:
    from conseq.benchmarks import Benchmark


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
      conseq bench
      conseq bench crf --quick
      conseq bench crf --sets conll2000,umass_citation --plot race.png --markdown race.md
      conseq bench memory --quick
      conseq bench presets --data ~/data --json
    """
    from conseq.benchmarks import BENCHMARKS
    from conseq.io.atomic import emit

    if name is None:
        show_table(["benchmark", "what it measures"], [[n, b.about] for n, b in BENCHMARKS.items()])
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
