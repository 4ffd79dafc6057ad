"""What experiments share: reading data folders, tables, the paper's figures next to ours, significance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conseq.corpus import Corpus
from conseq.errors import DataError
from conseq.io import read
from conseq.metrics import paired_bootstrap
from conseq.metrics.counts import Labellings
from conseq.schema import AUTO, Schema, Scheme

Result = dict[str, Any]
"""What an experiment found, as plain JSON values."""
Say = Callable[[str], None]

NONE = "–"
"""What a cell shows where there is no figure."""

METRICS = ("accuracy", "span_f1")
"""What differences are tested on."""


# ── data ────────────────────────────────────────────────────────────────────────────────────────


def read_splits(
    folder: Path, splits: Sequence[str], columns: Sequence[str] = ("word", "label")
) -> list[Corpus]:
    """Splits of the data set in a folder, each the file SPLIT.tsv or SPLIT.tsv.gz."""
    return [_read(Path(folder), split, columns) for split in splits]


def _read(folder: Path, split: str, columns: Sequence[str]) -> Corpus:
    for suffix in (".tsv", ".tsv.gz"):
        path = folder / f"{split}{suffix}"
        if path.is_file():
            return read(path, "columns", columns=columns)
    raise DataError(f"there is no {split}.tsv here; the experiment needs it", path=folder)


def present(data: Path, names: Sequence[str]) -> list[str]:
    """The data sets of these names that have a folder; raises if there is none."""
    found = [name for name in names if (Path(data) / name).is_dir()]
    if not found:
        raise DataError(
            f"there is none of {', '.join(names)} in {data}; name the folder of data sets with --data"
        )
    return found


def rest(n: int, part: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers below n that are not in the part."""
    return np.setdiff1d(np.arange(n), part)


# ── significance ────────────────────────────────────────────────────────────────────────────────


def p_values(
    gold: Labellings,
    first: Labellings,
    second: Labellings,
    scheme: Schema | Scheme | str = AUTO,
    metrics: Sequence[str] = METRICS,
) -> dict[str, float]:
    """How likely chance alone gives as large a difference between two labellings, by each metric."""
    return {m: paired_bootstrap(gold, first, second, scheme, metric=m).p_value for m in metrics}


# ── cells and tables ────────────────────────────────────────────────────────────────────────────


def percent(value: float | None, digits: int = 2) -> str:
    """A fraction from 0 to 1 in per cent.

    >>> percent(0.93994), percent(None)
    ('93.99', '–')
    """
    return NONE if value is None else f"{100 * value:.{digits}f}"


def chance(p: float | None) -> str:
    """A p-value.

    >>> chance(0.0312), chance(0.000999), chance(None)
    ('0.031', '< 0.001', '–')
    """
    if p is None:
        return NONE
    return f"{p:.3f}" if p >= 0.001 else "< 0.001"


def paper_and_ours(paper: float | None, ours: float | None, digits: int = 2) -> list[str]:
    """Two cells: the paper's figure, which is in per cent already, and ours, a fraction.

    >>> paper_and_ours(93.99, 0.9581), paper_and_ours(None, 0.9581)
    (['93.99', '95.81'], ['–', '95.81'])
    """
    return [NONE if paper is None else f"{paper:.{digits}f}", percent(ours, digits)]


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """Rows, the head first, as a table in Markdown.

    >>> print(markdown_table([["what", "F1"], ["a | b", "1.0"]]))
    | what | F1 |
    | --- | --- |
    | a \\| b | 1.0 |
    """
    head, *body = rows
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in lines)


def some(corpus: Corpus, number: int) -> Corpus:
    """At most `number` sequences, evenly from all of them."""
    return corpus.select(np.unique(np.linspace(0, len(corpus) - 1, number).astype(np.int64)))
