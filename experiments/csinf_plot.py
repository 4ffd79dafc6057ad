"""Figures 1 and 2 of Canisius et al. 2006: points of the curves ─→ a column per task, sequences above, scores
below."""

from __future__ import annotations

import os
from typing import Any

from conseq.errors import ConseqError
from conseq.io import atomic_write
from experiments.common import Result
from experiments.csinf_tasks import TASKS

WIDTH, HEIGHT = 3.2, 5.6
"""Inches of a column."""
DOTS = 150
"""Dots per inch."""
WAYS = {"oracle": "oracle", "csinf": "constraint satisfaction inference", "voting": "majority voting"}


def plot(result: Result, path: str | os.PathLike[str]) -> None:
    """Write a PNG file; needs matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ConseqError("a plot needs matplotlib; install it with: pip install 'conseq[plot]'") from None
    names = [name for name in TASKS if name in result]
    figure: Any = Figure(figsize=(WIDTH * len(names), HEIGHT), layout="constrained")
    panels = figure.subplots(2, len(names), squeeze=False, sharex="col")
    for column, name in enumerate(names):
        _draw(panels[0, column], panels[1, column], name, result[name])
    panels[0, 0].set_ylabel("possible sequences, mean")
    lines, labels = panels[1, 0].get_legend_handles_labels()
    figure.legend(lines, labels, loc="outside lower center", ncols=len(labels), fontsize="small")
    with atomic_write(path) as file:
        figure.savefig(file, format="png", dpi=DOTS)


def _draw(above: Any, below: Any, name: str, found: Result) -> None:
    """The number of sequences, and the scores, against the accuracy of the classifier."""
    points = sorted(found["curve"], key=lambda point: point["base_accuracy"])
    accuracy = [100 * point["base_accuracy"] for point in points]
    above.plot(accuracy, [point["sequences"] for point in points], color="black", marker=".", linewidth=1.2)
    above.set_title(name, fontsize="medium")
    if max(point["sequences"] for point in points) > MANY:
        above.set_yscale("log")
    for way, label in WAYS.items():
        below.plot(accuracy, [100 * point[way] for point in points], label=label, marker=".", linewidth=1.2)
    below.set(xlabel="base classifier accuracy, %", ylabel=f"{found['measure']}, %")
    for panel in (above, below):
        panel.grid(alpha=0.3)


MANY = 100
"""A larger number of sequences is drawn on a logarithmic scale."""
