"""`python -m experiments NAME`: run an experiment, show the paper's figures and ours."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer

from conseq.cli.options import AsJson, one_of
from conseq.cli.outcome import misused
from conseq.cli.show import show_table
from conseq.io.atomic import emit
from experiments import EXPERIMENTS
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

PROGRAM = "python -m experiments"


class Split(StrEnum):
    """What is measured on: development data, or the test data that nothing was tuned on."""

    dev = "dev"
    test = "test"


def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Which experiment; without a name they are listed."),
    ] = None,
    data: DataFolder = None,
    split: Annotated[Split, typer.Option(metavar=one_of(Split), help="What is measured on.")] = Split.dev,
    quick: Quick = False,
    as_json: AsJson = False,
    markdown: MarkdownFile = None,
    plot: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Write a picture (PNG) of the figures, for csinf; needs matplotlib.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Repeat a paper's experiment: its figures next to ours.

    \b
    Examples:
      python -m experiments
      python -m experiments soft-ilp --quick
      python -m experiments soft-ilp --split test --data ~/data --markdown soft-ilp.md
      python -m experiments csinf --split test --plot csinf.png
    """
    if name is None:
        abouts = [[n, e.about] for n, e in EXPERIMENTS.items()]
        show_list(["experiment", "what it repeats"], abouts, PROGRAM)
        return
    if name not in EXPERIMENTS:
        misused(f"there is no experiment {name!r}; there are: {', '.join(EXPERIMENTS)}")
    experiment = EXPERIMENTS[name]
    check_outputs(markdown, plot)
    folder = data_folder(data)
    plot = plottable(plot, name, experiment.plot)
    result = experiment.run(data=folder, split=str(split), quick=quick, say=tell)
    if markdown is not None:
        emit(markdown, experiment.markdown(result))
    if plot is not None and experiment.plot is not None:
        experiment.plot(result, plot)
    if as_json:
        print(json.dumps(result, ensure_ascii=False))
    else:
        header, *rows = experiment.table(result)
        show_table(header, rows)


def main(arguments: Sequence[str] | None = None) -> int:
    return run_program(reproduce, PROGRAM, arguments)


if __name__ == "__main__":
    sys.exit(main())
