"""Tuples of small integers as single integers, and what they stand for.

    parts' values [n] each, with radices ─→ mixed-radix codes[n] ─→ ids[n]

A `TupleIndex` learns which tuples exist and numbers them; once learned it only looks up. Where the radices
multiply beyond 62 bits, the tuple so far is first replaced by its own id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
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
    """Known tuples, numbered; where 62 bits are too few for all parts, `prefixes` number those before one."""

    radices: tuple[int, ...]
    final: CodeIndex
    prefixes: Mapping[int, CodeIndex] = field(default_factory=dict)  # by the part that comes next

    @classmethod
    def learn(cls, parts: Sequence[Part]) -> tuple[TupleIndex, NDArray[np.int32], NDArray[np.int32]]:
        """The index of the tuples seen, the id of each tuple, and the place where each id was first seen."""
        prefixes: dict[int, CodeIndex] = {}
        codes, size = parts[0][0].astype(np.int64), parts[0][1]
        for k, (values, radix) in enumerate(parts[1:], 1):
            if size * radix >= LIMIT:
                ids, first = factorise(codes)
                prefixes[k] = CodeIndex(codes[first], size)
                codes, size = ids.astype(np.int64), len(first)
            codes = join(codes, values, radix)
            size *= radix
        ids, first = factorise(codes)
        radices = tuple(radix for _, radix in parts)
        return cls(radices, CodeIndex(codes[first], size), prefixes), ids, first

    def find(self, parts: Sequence[Part]) -> NDArray[np.int32]:
        """The id of each tuple, −1 where it is not known."""
        codes = parts[0][0].astype(np.int64)
        for k, (values, _) in enumerate(parts[1:], 1):
            if k in self.prefixes:
                codes = self.prefixes[k].find(codes).astype(np.int64)
            codes = join(codes, values, self.radices[k])
        return self.final.find(codes)

    def keep(self, wanted: NDArray[np.bool_]) -> TupleIndex:
        """The index of some of the tuples, numbered anew in the same order."""
        return replace(self, final=CodeIndex(self.final.codes[wanted], self.final.size))

    def values(self, ids: NDArray) -> list[tuple[int, ...]]:
        """The tuples behind the ids."""
        codes = self.final.codes[ids]
        columns: list[NDArray] = []
        for k in range(len(self.radices) - 1, 0, -1):
            codes, last = np.divmod(codes, self.radices[k])
            columns.append(last)
            if k in self.prefixes:
                codes = self.prefixes[k].codes[codes]
        columns.append(codes)
        return list(zip(*(c.tolist() for c in reversed(columns)), strict=True))

    def __len__(self) -> int:
        return len(self.final.codes)
