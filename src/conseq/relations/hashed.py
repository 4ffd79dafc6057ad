"""Attributes by their hashes: what rows have, as numbers, and which of them a model knows.

    strings ─→ hashed[n]           values[n,C] of columns, templates ─→ Coded ─→ Attributes ─→ Design

The hash of an attribute depends on what it says alone, so nothing is remembered but the hashes that training
data had; two different ones meet with a chance of 2**−62.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from conseq.corpus import gathered
from conseq.dtypes import Ints
from conseq.features.codes import CodeIndex
from conseq.features.design import Design
from conseq.kernels.hashing import combine, hash_ranges
from conseq.kernels.index import factorise

SIZE = 1 << 62
"""Hashes are below it."""


def characters_of(strings: Iterable[str]) -> tuple[Ints, Ints]:
    """The characters of strings end to end, as numbers, and where each string begins, [n+1]."""
    given = list(strings)
    joined = np.frombuffer("".join(given).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    ends = np.cumsum(np.fromiter(map(len, given), dtype=np.int64, count=len(given)))
    return joined.astype(np.int64), np.concatenate([[0], ends]).astype(np.int64)


def hashed_ranges(characters: Ints, start: Ints, end: Ints) -> Ints:
    """The hash of each range of characters, −1 where it is empty."""
    hashes = np.empty(len(start), dtype=np.int64)
    hash_ranges(characters, np.ascontiguousarray(start), np.ascontiguousarray(end), hashes)
    return hashes


def hashed(strings: Iterable[str]) -> Ints:
    """The hash of each string, −1 of an empty one.

    >>> a, b, c, d = hashed(["Ann", "ann", "Ann", ""]).tolist()
    >>> a == c != b, d
    (True, -1)
    """
    characters, bounds = characters_of(strings)
    return hashed_ranges(characters, bounds[:-1], bounds[1:])


@dataclass(frozen=True, eq=False)
class Coded:
    """The attributes of M rows, by hash: row m has codes[indptr[m]:indptr[m+1]], −1 for none."""

    indptr: Ints  # [M+1]
    codes: Ints
    values: NDArray[np.float32]

    @classmethod
    def of(cls, table: Ints) -> Coded:
        """From codes [M,K]."""
        rows, width = table.shape
        indptr = np.arange(rows + 1, dtype=np.int64) * width
        return cls(indptr, table.reshape(-1), np.ones(table.size, dtype=np.float32))

    @classmethod
    def bag(cls, indptr: Ints, values: Ints, number: int, weight: float = 1.0) -> Coded:
        """From values by row, all of one template."""
        codes = coded(values[:, None], np.zeros((1, 1), dtype=np.int64), number)
        return cls(indptr, codes.reshape(-1), np.full(len(codes), weight, dtype=np.float32))

    @classmethod
    def beside(cls, parts: Sequence[Coded]) -> Coded:
        """The attributes of all parts together, row by row."""
        lengths = np.stack([np.diff(part.indptr) for part in parts])  # [parts, M]
        indptr = np.concatenate([[0], np.cumsum(lengths.sum(axis=0))]).astype(np.int64)
        codes = np.empty(indptr[-1], dtype=np.int64)
        values = np.empty(indptr[-1], dtype=np.float32)
        begin = indptr[:-1] + np.cumsum(lengths, axis=0) - lengths
        for part, start, length in zip(parts, begin, lengths, strict=True):
            place = np.repeat(start - part.indptr[:-1], length) + np.arange(part.indptr[-1])
            codes[place], values[place] = part.codes, part.values
        return cls(indptr, codes, values)

    def take(self, rows: Ints) -> Coded:
        """Some of the rows."""
        indptr, places = gathered(self.indptr, rows)
        return Coded(indptr, self.codes[places], self.values[places])

    def __len__(self) -> int:
        return len(self.indptr) - 1


def coded(values: Ints, columns: Ints, first: int = 0) -> Ints:
    """The codes [M,K] of templates, each the columns[K,W] of values[M,C] that it joins, then −1."""
    codes = np.empty((len(values), len(columns)), dtype=np.int64)
    combine(np.ascontiguousarray(values), columns, first, codes)
    return codes


@dataclass(frozen=True)
class Templates:
    """Conjunctions of named columns: "w-1 t-1" is the word and the tag before together."""

    lines: tuple[str, ...]
    first: int = 0  # the number of the first one, which its hashes depend on

    def code(self, given: Mapping[str, Ints]) -> Coded:
        """The attributes of rows, of which each column [M] is given."""
        names = list(dict.fromkeys(name for line in self.lines for name in line.split()))
        place = {name: c for c, name in enumerate(names)}
        parts = [[place[name] for name in line.split()] for line in self.lines]
        width = max(map(len, parts))
        columns = np.array([part + [-1] * (width - len(part)) for part in parts], dtype=np.int64)
        values = np.stack([given[name] for name in names], axis=1)
        return Coded.of(coded(values, columns, self.first))


@dataclass(frozen=True, eq=False)
class Attributes:
    """The attributes that training data had, numbered."""

    known: CodeIndex

    @classmethod
    def learn(cls, rows: Coded, min_count: int = 1) -> Attributes:
        """Those that occur at least `min_count` times."""
        ids, first = factorise(rows.codes)
        often = np.bincount(ids + 1, minlength=len(first) + 1)[1:] >= min_count
        return cls(CodeIndex(rows.codes[first[often]], SIZE))

    def __len__(self) -> int:
        return len(self.known.codes)

    def design(self, rows: Coded) -> Design:
        """The rows with the attributes that are known."""
        ids = self.known.find(rows.codes)
        kept = ids >= 0
        indptr = np.concatenate([[0], np.cumsum(kept)])[rows.indptr].astype(np.int64)
        own = np.arange(len(rows), dtype=np.int32)[:, None]
        return Design(own, indptr, ids[kept], rows.values[kept], len(self))


def side_by_side(parts: Sequence[tuple[Design, Ints]]) -> Design:
    """Rows that have the attributes of a row of each part: of row numbers[m] for the m-th."""
    row_of, indptr, attr = [], [np.zeros(1, dtype=np.int64)], []
    rows, entries, attributes = 0, 0, 0
    for design, numbers in parts:
        row_of.append(design.row_of[numbers] + rows)
        indptr.append(design.indptr[1:] + entries)
        attr.append(design.attr + attributes)
        rows, entries = rows + design.n_rows, entries + int(design.indptr[-1])
        attributes += design.n_attributes
    return Design(
        np.ascontiguousarray(np.hstack(row_of), dtype=np.int32),
        np.concatenate(indptr),
        np.concatenate(attr).astype(np.int32),
        np.concatenate([design.value for design, _ in parts]),
        attributes,
    )
