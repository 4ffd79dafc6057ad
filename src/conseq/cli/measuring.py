"""What `bench` and `reproduce` share: where data is, and what else is written."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path

from conseq.cli.options import USUAL, VARIABLE
from conseq.cli.outcome import misused, say
from conseq.errors import DataError


def check_outputs(markdown: str | None, plot: str | None) -> None:
    """End before anything is measured if a file could not be written in the end."""
    for option, path in (("--markdown", markdown), ("--plot", plot)):
        if path is not None and not Path(path).absolute().parent.is_dir():
            misused(f"there is no directory {Path(path).parent} for {option}; create it first")


def plottable(plot: str | None, name: str, draw: object) -> str | None:
    """Where the picture goes; None, with a word, if it cannot be drawn."""
    if plot is not None and draw is None:
        misused(f"{name} has no picture; leave --plot out")
    if plot is not None and find_spec("matplotlib") is None:
        say("there will be no plot, which needs matplotlib; install it with: pip install 'conseq[plot]'")
        return None
    return plot


def data_folder(given: str | None) -> Path:
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
