"""The rows of column files.  `Block`s + `Layout` → columns of ids, offsets, labels.

    lines[L] ─→ id of each line ─→ offsets[N+1], row[T]
    distinct lines[R] ─split→ cells[R, width] ─→ ids per distinct line ─[row]→ ids per token

A line is split into cells once, however often it occurs: in CoNLL-2000 there are 28 thousand distinct
lines for 212 thousand tokens. Axes: L lines, R distinct lines, T tokens, N sequences.
"""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Iterator
from itertools import count, islice

import numpy as np

from conseq.corpus import Column, Offsets
from conseq.dtypes import Ids
from conseq.errors import counted
from conseq.io.layout import BLANK, DOCSTART, TAB, Layout, is_blank, split_cells
from conseq.io.source import Block, decode
from conseq.vocabulary import Vocabulary

PIECE = 1 << 18
"""Bytes that are worked on at a time: the memory for their lines is used again for the next."""

_NO_TOKEN = -1
_MAY_BE_BLANK = " \t-"  # what a line that `is_blank` may begin with
_DOCSTART = DOCSTART.encode()
_NO_TOKENS = re.compile(rb"^(?:%b(?:[ \t].*)?|[ \t]+)$" % _DOCSTART, re.MULTILINE)  # `is_blank` on bytes

_EVEN = "give every line the same columns, and put blank lines between sequences only"
_REMEDIES = {
    (TAB, False): _EVEN,
    (TAB, True): "only the last cell, an empty label, may be missing",
    (BLANK, False): f"{_EVEN} (cells that contain blanks need tabs between them)",
    (BLANK, True): "put tabs between the cells, so that a label can be empty",
}


def tidy(data: bytes) -> bytes:
    """The same lines, those that are no token's left empty: each of them ends a sequence.

    >>> tidy(b"EU NNP\\n \\t\\n-DOCSTART- -X-\\nPeter NNP\\n")
    b'EU NNP\\n\\n\\nPeter NNP\\n'
    """
    suspect = data.startswith((b" ", b"\t")) or any(start in data for start in (b"\n ", b"\n\t", _DOCSTART))
    return _NO_TOKENS.sub(b"", data) if suspect else data


def pieces(block: Block, size: int = PIECE) -> Iterator[Block]:
    """The block in pieces of about `size` bytes, each of which ends where a sequence ends."""
    start, line = 0, block.line
    while start < len(block.data):
        cut = block.data.find(b"\n\n", start + size)
        end = len(block.data) if cut < 0 else cut + 2
        yield Block(block.data[start:end], block.path, line)
        line += block.data.count(b"\n", start, end)
        start = end


class Grid:
    """Columns in the making: `add` blocks of one layout, then take what is asked for.

    Each block begins a new sequence.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._index: defaultdict[str, int] = defaultdict()  # distinct line → its number
        self._index.default_factory = self._index.__len__
        self._row_of = array("i")  # number of a distinct line → its row, or _NO_TOKEN
        self._rows: list[str] = []
        self._cells: list[list[str]] = [[] for _ in layout.roles]
        self._tokens: list[Ids] = []  # the row of each token, block by block
        self._ends: list[Offsets] = []  # the end of each sequence, block by block
        self._n_tokens = 0

    @property
    def columns(self) -> dict[str, Column]:
        return {name: self._column(cell) for name, cell in self.layout.kept.items()}

    @property
    def labels(self) -> Column | None:
        return None if self.layout.label is None else self._column(self.layout.label)

    @property
    def offsets(self) -> Offsets:
        return np.concatenate([np.zeros(1, dtype=np.int64), *self._ends])

    @property
    def lines(self) -> Column:
        """The line of each token."""
        return Column(np.concatenate(self._tokens), Vocabulary(self._rows))

    def _column(self, cell: int) -> Column:
        return Column.of(self._cells[cell]).take(np.concatenate(self._tokens))

    def add(self, block: Block) -> None:
        """Add the sequences of a block."""
        lines = decode(block)[:-1].split("\n")
        known = len(self._index)
        ids = np.fromiter(map(self._index.__getitem__, lines), dtype=np.int32, count=len(lines))
        new = list(islice(reversed(self._index), len(self._index) - known))[::-1]
        wrong = self._add_distinct(new)
        if wrong is not None:
            row, reason = wrong
            raise block.error(reason, block.line + lines.index(row))
        rows = np.frombuffer(self._row_of, dtype=np.int32)[ids]
        token = rows != _NO_TOKEN
        ends = np.unique(np.append(np.cumsum(token)[~token], token.sum()))
        self._tokens.append(rows[token])
        self._ends.append(ends[ends > 0] + self._n_tokens)
        self._n_tokens += int(token.sum())

    def _add_distinct(self, lines: list[str]) -> tuple[str, str] | None:
        """Split lines that were not seen before into cells; give back the first that is wrong, and why."""
        blank = [line[:1] in _MAY_BE_BLANK and is_blank(line) for line in lines]
        numbers = count(len(self._rows))
        self._row_of.extend([_NO_TOKEN if skip else next(numbers) for skip in blank])
        rows = [line for line, skip in zip(lines, blank, strict=True) if not skip]
        if not rows:
            return None
        padded = self.layout.padded(rows)
        columns = _columns(padded, self.layout)
        if columns is None:
            return next((row, reason) for row in rows if (reason := _reason(row, self.layout)))
        for column, new in zip(self._cells, columns, strict=True):
            column += new
        self._rows += padded
        return None


def _columns(rows: list[str], layout: Layout) -> list[list[str]] | None:
    """The cells of all rows, column by column; None if a row is wrong.

    All rows are split at once, with a newline as a cell of its own between them: the rows are even if
    a newline is every (width + 1)-th cell and no other.
    """
    between = f"{layout.separator}\n{layout.separator}"
    cells = split_cells(between.join(rows), layout.separator)
    stride = layout.width + 1
    even = len(cells) == stride * len(rows) - 1 and cells[stride - 1 :: stride].count("\n") == len(rows) - 1
    columns = [cells[i::stride] for i in range(layout.width)]
    return columns if even and not any("" in columns[i] for i in layout.needed) else None


def _reason(row: str, layout: Layout) -> str | None:
    """What is wrong with a row, if anything, and what to do."""
    cells = split_cells(layout.padded([row])[0], layout.separator)
    if len(cells) != layout.width:
        remedy = _REMEDIES[layout.separator, layout.partial]
        return f"{counted(len(cells), 'column')} where line {layout.line} has {layout.width}; {remedy}"
    for i in layout.needed:
        if not cells[i]:
            partly = ", or read the file as partly labelled" if i == layout.label else ""
            return f"the {layout.roles[i]} is empty; give one{partly}"
    return None
