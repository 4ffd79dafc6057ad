"""Column files ↔ corpora.  One token per line, a cell per column, blank lines between sequences.

    whole file ─→ Block ─→ pieces ─┐
                                   ├─ Layout (once per input) ─→ Grid ─→ Corpus ─→ text
    endless input ─→ Blocks ───────┘                                 └─→ Batch: kept its lines

Cells are split at tabs if the first data line has one, otherwise at runs of blanks. Lines that begin with
-DOCSTART- are left out and end a sequence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar

import numpy as np

from conseq.corpus import Column, Corpus
from conseq.errors import DataError
from conseq.io.grid import Grid, pieces, tidy
from conseq.io.layout import TAB, ColumnOptions, Layout, layout_of
from conseq.io.lines import check_has_tokens
from conseq.io.source import Block
from conseq.io.stream import Cutter


@dataclass(frozen=True, eq=False)
class Batch(Corpus):
    """A corpus that kept the line of each token, to write it back as it was."""

    lines: Column | None = None
    separator: str = TAB


@dataclass
class ColumnReader(ColumnOptions):
    """Makes corpora of columns; the first data line of an input decides what all of them mean.

    >>> corpus = ColumnReader().whole(Block(b"A DT\\ncat NN\\n\\nsat VBD\\n", "x"))
    >>> corpus.token_sequences(), corpus.label_sequences()
    ([['A', 'cat'], ['sat']], [['DT', 'NN'], ['VBD']])
    """

    layout: Layout | None = field(default=None, init=False)

    cutter: ClassVar[Cutter] = Cutter(end=b"\n\n", tidy=tidy, size=lambda piece: piece.count(b"\n") + 1)

    def whole(self, block: Block) -> Corpus | None:
        """The corpus in a block that holds a whole file; None if it has no data line."""
        grid = self._grid(pieces(block))
        return None if grid is None else Corpus(grid.columns, grid.offsets, grid.labels)

    def batch(self, block: Block) -> Batch | None:
        """The corpus in one block of many, with its lines; None if there was no data line so far."""
        grid = self._grid([block])
        if grid is None:
            return None
        separator = TAB if grid.layout.width == 1 else grid.layout.separator
        return Batch(grid.columns, grid.offsets, grid.labels, lines=grid.lines, separator=separator)

    def _grid(self, blocks: Iterable[Block]) -> Grid | None:
        grid = None
        for block in blocks:
            self.layout = self.layout or layout_of(block, self)
            if self.layout is not None:
                grid = grid or Grid(self.layout)
                grid.add(block)
        return grid


def format_columns(corpus: Corpus, *extra: Sequence[str]) -> str:
    """The corpus as columns, with further columns (flat, one value per token) after its own.

    A `Batch` gives the lines it was read from, any other corpus its columns and its labels.

    >>> format_columns(Corpus.from_sequences([["A", "cat"]]), ["DT", "NN"])
    'A\\tDT\\ncat\\tNN\\n\\n'
    """
    kept = corpus.lines if isinstance(corpus, Batch) else None
    separator = corpus.separator if isinstance(corpus, Batch) else TAB
    for values in extra:
        _check_extra(values, corpus.n_tokens, separator)
    own = _rows(corpus) if kept is None else kept.strings()
    lines = list(map(separator.join, zip(own, *extra, strict=True)) if extra else own)
    bounds = pairwise(corpus.offsets.tolist())
    return "".join("\n".join(lines[a:b]) + "\n\n" for a, b in bounds if a < b)


def _rows(corpus: Corpus) -> list[str]:
    """A line per token: its columns, its label."""
    check_has_tokens(corpus)
    columns = [*corpus.columns.values(), *([corpus.labels] if corpus.labels else [])]
    alone = len(columns) == 1
    _check_cells(columns[0], _NOT_ALONE if alone else _NOT_A_WORD)
    for column in columns[1:]:
        _check_cells(column, _NOT_A_CELL)
    rows = list(map(TAB.join, zip(*(column.strings() for column in columns), strict=True)))
    if "" in (row.strip(" \t") for row in rows):
        raise DataError("a token of blanks without a label would end its sequence; give it a label")
    return rows


_NOT_A_CELL = re.compile(r"[\t\n\r]")
_NOT_A_WORD = re.compile(r"[\t\n\r]|^$|^-DOCSTART-(?: |$)")
_NOT_ALONE = re.compile(r"[\t\n\r ]|^$|^-DOCSTART-$")


def _check_cells(column: Column, bad: re.Pattern[str]) -> None:
    """Raise if a value of the column could not be read back."""
    wrong = [i for i, name in enumerate(column.vocabulary) if bad.search(name)]
    used = np.isin(column.ids, wrong)
    if used.any():
        name = column.vocabulary[int(column.ids[used.argmax()])]
        raise DataError(f"{name!r} cannot stand in a column file; write the corpus as jsonl")


def _check_extra(values: Sequence[str], n_tokens: int, separator: str) -> None:
    if len(values) != n_tokens:
        raise DataError(f"{len(values)} values for {n_tokens} tokens; give one value per token")
    for value in set(values):
        if separator in value or _NOT_A_CELL.search(value):
            raise DataError(f"{value!r} contains what separates columns; rename it")
