"""Tuples of small integers as single integers, and what they stand for.

    parts' values [n] each, with radices ─→ mixed-radix codes[n] ─→ ids[n]

A `TupleIndex` learns which tuples exist and numbers them; once learned it only looks up. Where the radices
multiply beyond 62 bits, the tuple so far is first replaced by its own id.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from conseq.kernels.index import build, factorise, lookup

LIMIT = 1 << 62
DIRECT = 1 << 20
"""Up to this many possible codes the table is a plain array."""

Codes = NDArray[np.int64]
Part = tuple[NDArray[np.int32], int]
"""Values of one part (−1 = absent) and their radix."""


def join(codes: Codes, values: NDArray[np.int32], radix: int) -> Codes:
    """codes · radix + values, −1 where either is absent."""
    return np.where((codes < 0) | (values < 0), -1, codes * radix + values)


Shorten = Callable[[Codes, int], tuple[NDArray[np.int32], int]]
"""Codes below a size → smaller ones that stand for them, and their size."""


def fold(parts: Sequence[Part], shorten: Shorten) -> tuple[Codes, int]:
    """One code per tuple and the size all stay below; `shorten` is called where 62 bits would not suffice."""
    codes, size = parts[0][0].astype(np.int64), parts[0][1]
    for values, radix in parts[1:]:
        if size * radix >= LIMIT:
            ids, size = shorten(codes, size)
            codes = ids.astype(np.int64)
        codes = join(codes, values, radix)
        size *= radix
    return codes, size


def number(parts: Sequence[Part]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Number the distinct tuples of parts in order of first sight: ids[n], first place of each."""

    def shorten(codes: Codes, _size: int) -> tuple[NDArray[np.int32], int]:
        ids, first = factorise(codes)
        return ids, len(first)

    return factorise(fold(parts, shorten)[0])


@dataclass(frozen=True, eq=False)
class CodeIndex:
    """Known codes; the id of a code is its place."""

    codes: Codes
    size: int  # all codes are below it

    @cached_property
    def _table(self) -> NDArray[np.int32]:
        if self.size > DIRECT:
            return build(self.codes)
        table = np.full(self.size + 1, -1, dtype=np.int32)
        table[self.codes] = np.arange(len(self.codes), dtype=np.int32)
        return table

    def find(self, codes: Codes) -> NDArray[np.int32]:
        """The id of each code, −1 where it is absent (negative) or unknown."""
        if self.size > DIRECT:
            return lookup(codes, self.codes, self._table)
        return self._table[codes]  # −1 hits the last cell, which is never filled


@dataclass(frozen=True, eq=False)
class TupleIndex:
    """Known tuples, numbered; `prefixes` number the first parts where all would not fit in 62 bits."""

    radices: tuple[int, ...]
    final: CodeIndex
    prefixes: tuple[CodeIndex, ...] = field(default=())

    @classmethod
    def learn(cls, parts: Sequence[Part]) -> tuple[TupleIndex, NDArray[np.int32]]:
        """The index of the tuples seen, and the id of each tuple."""
        prefixes: list[CodeIndex] = []

        def shorten(codes: Codes, size: int) -> tuple[NDArray[np.int32], int]:
            ids, first = factorise(codes)
            prefixes.append(CodeIndex(codes[first], size))
            return ids, len(first)

        codes, size = fold(parts, shorten)
        ids, first = factorise(codes)
        return cls(tuple(r for _, r in parts), CodeIndex(codes[first], size), tuple(prefixes)), ids

    def find(self, parts: Sequence[Part]) -> NDArray[np.int32]:
        """The id of each tuple, −1 where it is not known."""
        prefixes = iter(self.prefixes)

        def shorten(codes: Codes, _size: int) -> tuple[NDArray[np.int32], int]:
            prefix = next(prefixes)
            return prefix.find(codes), len(prefix.codes)

        learned = [(values, radix) for (values, _), radix in zip(parts, self.radices, strict=True)]
        return self.final.find(fold(learned, shorten)[0])

    def keep(self, wanted: NDArray[np.bool_]) -> TupleIndex:
        """The index of some of the tuples, numbered anew in the same order."""
        return TupleIndex(self.radices, CodeIndex(self.final.codes[wanted], self.final.size), self.prefixes)

    def values(self, ids: NDArray) -> list[tuple[int, ...]]:
        """The tuples behind the ids."""
        tables = list(self.prefixes)
        codes = self.final.codes[ids]
        columns: list[NDArray] = []
        for i in range(len(self.radices) - 1, 0, -1):
            columns.append(codes % self.radices[i])
            codes = codes // self.radices[i]
            if self._compressed_before(i):
                codes = tables.pop().codes[codes]
        columns.append(codes)
        return list(zip(*(c.tolist() for c in reversed(columns)), strict=True))

    def _compressed_before(self, part: int) -> bool:
        size, prefixes, compressed = self.radices[0], iter(self.prefixes), False
        for radix in self.radices[1 : part + 1]:
            compressed = size * radix >= LIMIT
            size = len(next(prefixes).codes) if compressed else size
            size *= radix
        return compressed

    def __len__(self) -> int:
        return len(self.final.codes)
