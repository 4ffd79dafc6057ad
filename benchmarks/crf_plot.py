"""The race against CRFsuite as a picture: its result ─→ objective over seconds, one panel per data set."""

from __future__ import annotations

import os
from typing import Any

from conseq.errors import ConseqError
from conseq.io import atomic_write

WIDTH, HEIGHT = 4.5, 3.6
"""Inches of a panel."""
DOTS = 150
"""Dots per inch."""


def plot(result: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Write a PNG file; needs matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ConseqError("a plot needs matplotlib; install it with: pip install 'conseq[plot]'") from None
    sets = result["sets"]
    figure: Any = Figure(figsize=(WIDTH * len(sets), HEIGHT), layout="constrained")
    panels = figure.subplots(1, len(sets), squeeze=False)[0]
    for panel, (name, found) in zip(panels, sets.items(), strict=True):
        _draw(panel, name, found)
    lines, names = panels[0].get_legend_handles_labels()
    figure.legend(lines, names, loc="outside lower center", ncols=len(names), fontsize="small")
    with atomic_write(path) as file:
        figure.savefig(file, format="png", dpi=DOTS)


def _draw(panel: Any, name: str, found: dict[str, Any]) -> None:
    peer = found["crfsuite"]
    curves = {"CRFsuite": peer["curve"]}
    curves |= {f"conseq, threads: {n}": side["curve"] for n, side in found["conseq"].items()}
    for label, curve in curves.items():
        values, seconds = zip(*curve, strict=True)
        panel.plot(seconds, values, label=label, linewidth=1.4, marker=".", markersize=3)
    stopped = f"\nCRFsuite stopped after {peer['iterations']} iterations" if peer["limited"] else ""
    panel.set_title(name + stopped, fontsize="medium")
    panel.set(xlabel="seconds", ylabel="objective", xscale="log", yscale="log")
    panel.grid(alpha=0.3)
