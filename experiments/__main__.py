"""`python -m experiments NAME`: run an experiment, show the paper's figures and ours."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Literal

import typer

from conseq.cli.grouping import grouped
from conseq.cli.options import option
from conseq.cli.show import show_table
from experiments import EXPERIMENTS
from experiments.measuring import Outputs, find, run_program, show_list

PROGRAM = "python -m experiments"

Split = Literal["dev", "test"]
"""What is measured on: development data, or the test data that nothing was tuned on."""


@grouped
def reproduce(
    *,
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Which experiment; without a name they are listed.")
    ] = None,
    split: Split | None = option(
        None,
        None,
        Split,
        "What is measured on; if not given dev, for relations test (cross-validation over all).",
    ),
    outputs: Outputs,
    plot: str | None = option(
        None, None, "FILE", "Write a picture (PNG) of the figures, for csinf; needs matplotlib."
    ),
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
        show_list(["experiment", "what it repeats"], EXPERIMENTS, PROGRAM)
        return
    experiment = find(name, "experiment", EXPERIMENTS)
    outputs.measure(
        name,
        experiment,
        plot,
        lambda result: _show(*experiment.table(result)),
        split=split or experiment.split,
    )


def _show(header: list[str], *rows: list[str]) -> None:
    show_table(header, rows)


def main(arguments: Sequence[str] | None = None) -> int:
    return run_program(reproduce, PROGRAM, arguments)


if __name__ == "__main__":
    sys.exit(main())
