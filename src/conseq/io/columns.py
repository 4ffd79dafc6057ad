"""Column files ↔ corpora.  One token per line, a cell per column, blank lines between sequences.

    whole file ─→ Block ─→ pieces ─┐
                                   ├─ Layout (once per input) ─→ Grid ─→ Corpus ─→ text
    endless input ─→ Blocks ───────┘                                 └─→ Batch: kept its lines

Cells are split at tabs if the first data line has one, otherwise at runs of blanks. Lines that begin with
-DOCSTART- are left out and end a sequence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from conseq.corpus import Column, Corpus
from conseq.errors import DataError
from conseq.io.grid import Grid, pieces, tidy
from conseq.io.layout import TAB, ColumnOptions, Layout, layout_of
from conseq.io.lines import check_has_tokens, no_tokens
from conseq.io.source import Block, Input
from conseq.io.stream import MAX_TOKENS, Cutter, stream_blocks

CUTTER = Cutter(end=b"\n\n", tidy=tidy, size=lambda piece: piece.count(b"\n") + 1)
"""How column files are cut into sequences."""


@dataclass(frozen=True, eq=False)
class Batch(Corpus):
    """A corpus that kept the line of each token, to write it back as it was."""

    lines: Column | None = None
    separator: str = TAB


def parse_columns(block: Block, options: ColumnOptions) -> Corpus:
    """The corpus in a block that holds a whole file.

    >>> corpus = parse_columns(Block(b"A DT\\ncat NN\\n\\nsat VBD\\n", "x"), ColumnOptions())
    >>> corpus.token_sequences(), corpus.label_sequences()
    ([['A', 'cat'], ['sat']], [['DT', 'NN'], ['VBD']])
    """
    grid = None
    for piece in pieces(block):
        if grid is None and (layout := layout_of(piece, options)) is not None:
            grid = Grid(layout)
        if grid is not None:
            grid.add(piece)
    if grid is None:
        raise no_tokens(block.path)
    return Corpus(grid.columns, grid.offsets, grid.labels)


def stream_columns(source: Input, options: ColumnOptions, max_tokens: int = MAX_TOKENS) -> Iterator[Batch]:
    """Read a column file or pipe batch by batch, each as soon as it is there.

    >>> import io
    >>> batches = stream_columns(io.BytesIO(b"a\\nb\\n\\nc\\n"), ColumnOptions(), max_tokens=2)
    >>> [batch.n_tokens for batch in batches]
    [2, 1]
    """
    layout = None
    path = ""
    for block in stream_blocks(source, CUTTER, max_tokens):
        path = block.path
        layout = layout or layout_of(block, options)
        if layout is not None:
            batch = _batch(block, layout)
            if len(batch):
                yield batch
    if layout is None:
        raise no_tokens(path)


def _batch(block: Block, layout: Layout) -> Batch:
    grid = Grid(layout)
    grid.add(block)
    separator = TAB if layout.width == 1 else layout.separator
    return Batch(grid.columns, grid.offsets, grid.labels, lines=grid.lines, separator=separator)


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
