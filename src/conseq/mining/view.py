"""A labelling of a corpus, counted in all the ways that families of rules ask for.

    labels[T], schema ─→ View ─→ counts[N,K], places[N,K], segments, labels on both sides of a token

Names are those that a rule would use: the shortest ending that means one type alone, and endings that mean
several (`person` for `authors/person` and `editor/person`).
Axes: T tokens, N sequences, Y labels, K names, P types, M segments.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from conseq.constraints.names import inside, known_types
from conseq.corpus import Corpus
from conseq.dtypes import Bools, Ints
from conseq.kernels import pairs
from conseq.schema import OUTSIDE, Schema, SpanArrays


@dataclass(frozen=True)
class Names:
    """The names that rules use for the types of a schema.

    >>> Names.of(Schema(["B-a/B-x", "B-b/B-x", "B-b/B-y"], "bio")).all
    ('a', 'a/x', 'b', 'b/x', 'y', 'x')
    """

    schema: Schema
    single: tuple[str, ...]  # [P], one per type, in the schema's order
    shared: tuple[str, ...]  # names of several types

    @classmethod
    def of(cls, schema: Schema) -> Names:
        single = tuple(_shortest(schema, type) for type in schema.types())
        leaves = dict.fromkeys(type.rsplit("/", 1)[-1] for type in schema.types())
        shared = (leaf for leaf in leaves if leaf not in schema.vocabulary and leaf not in single)
        return cls(schema, single, tuple(name for name in shared if len(schema.types_named(name)) > 1))

    @property
    def all(self) -> tuple[str, ...]:
        """[K]"""
        return self.single + self.shared

    @property
    def sides(self) -> tuple[str, ...]:
        """What may stand beside a token: the names, and the label O."""
        return self.all + ((OUTSIDE,) if OUTSIDE in self.schema.vocabulary else ())

    @cached_property
    def types(self) -> Ints:
        """Which types a name stands for, as 0 and 1, [K,P]."""
        member = np.zeros((len(self.all), len(self.single)), dtype=np.int64)
        for k, name in enumerate(self.all):
            member[k, [self.schema.type_id(type) for type in known_types(self.schema, name)]] = 1
        return member

    @cached_property
    def labels(self) -> Ints:
        """Which labels are in a name, as 0 and 1, [K,Y]."""
        return self._inside(self.all)

    @cached_property
    def side_labels(self) -> Ints:
        """The same for the sides of a token, [K,Y] or [K+1,Y]."""
        return self._inside(self.sides)

    def _inside(self, names: tuple[str, ...]) -> Ints:
        rows = [inside(self.schema, name)[:-1] for name in names]
        return np.array(rows, dtype=np.int64).reshape(len(rows), len(self.schema))


def _shortest(schema: Schema, type: str) -> str:
    """The shortest ending of a path that means this type alone."""
    parts = type.split("/")
    for k in range(len(parts) - 1, 0, -1):
        name = "/".join(parts[k:])
        if name not in schema.vocabulary and schema.types_named(name) == (type,):
            return name
    return type


@dataclass(frozen=True, eq=False)
class View:
    """One labelling of a corpus."""

    names: Names
    corpus: Corpus
    labels: NDArray[np.int32]  # [T]

    @property
    def schema(self) -> Schema:
        return self.names.schema

    @cached_property
    def segments(self) -> SpanArrays:
        return self.schema.span_arrays(self.labels, self.corpus.offsets)

    @cached_property
    def counts(self) -> Ints:
        """The segments of each name in each sequence, [N,K]."""
        found, shape = self.segments, (len(self.corpus), len(self.names.single))
        flat = np.bincount(found.sequence * shape[1] + found.type, minlength=shape[0] * shape[1])
        return flat.reshape(shape) @ self.names.types.T

    @cached_property
    def appears(self) -> Bools:
        """[N,K]"""
        return self.counts > 0

    @cached_property
    def tokens_in(self) -> Ints:
        """The tokens in each name, [K]."""
        return self.names.labels @ np.bincount(self.labels, minlength=len(self.schema))

    @cached_property
    def places(self) -> tuple[Ints, Ints]:
        """The first and the last token in each name of each sequence, counted over all, or −1, [N,K]."""
        found, shape = self.segments, (len(self.corpus), len(self.names.single))
        beyond = self.corpus.n_tokens
        first, last = np.full(shape, beyond), np.full(shape, -1)
        np.minimum.at(first, (found.sequence, found.type), found.start)
        np.maximum.at(last, (found.sequence, found.type), found.end - 1)
        firsts, lasts = np.empty_like(self.counts), np.empty_like(self.counts)
        for k, member in enumerate(self.names.types > 0):
            firsts[:, k], lasts[:, k] = first[:, member].min(axis=1), last[:, member].max(axis=1)
        return np.where(firsts == beyond, -1, firsts), lasts

    @cached_property
    def orders(self) -> tuple[Ints, Ints]:
        """The tokens in one name with another before them, and with another at or after them, [K,K] each."""
        size = len(self.names.all)
        lists = [np.flatnonzero(column) for column in self.names.labels.T]
        lengths = np.array([len(one) for one in lists], dtype=np.int64)[self.labels]
        bounds = np.concatenate([[0], np.cumsum(lengths)])
        inside = np.concatenate([np.empty(0, dtype=np.int64), *(lists[y] for y in self.labels.tolist())])
        earlier, later = np.zeros((size, size), dtype=np.int64), np.zeros((size, size), dtype=np.int64)
        pairs.orders(inside, bounds, self.corpus.offsets, *self.places, earlier, later)
        return earlier, later

    @cached_property
    def followers(self) -> Ints:
        """The segments of one name that another follows at once, [K,K]; last ones of a sequence left out."""
        found, size = self.segments, len(self.schema)
        inner = self._followed
        codes = found.type[inner] * size + self.labels[found.end[inner]]
        steps = np.bincount(codes, minlength=len(self.names.single) * size).reshape(-1, size)
        return self.names.types @ steps @ self.names.labels.T

    @cached_property
    def followed(self) -> Ints:
        """The segments of each name that do not end a sequence, [K]."""
        return self._by_name(self._followed)

    @cached_property
    def _followed(self) -> Bools:
        """Whether a segment does not end its sequence, [M]."""
        return self.segments.end < self.corpus.offsets[self.segments.sequence + 1]

    def _by_name(self, chosen: Bools) -> Ints:
        """How many of the chosen[M] segments are of each name, [K]."""
        return self.names.types @ np.bincount(self.segments.type[chosen], minlength=len(self.names.single))

    @cached_property
    def ends(self) -> tuple[Ints, Ints]:
        """The sequences that begin in a name, [K], and that begin in one and end in another, [K,K]."""
        filled = self.corpus.lengths > 0
        first = self.labels[self.corpus.offsets[:-1][filled]]
        last = self.labels[self.corpus.offsets[1:][filled] - 1]
        both = self._steps(first, last)
        return self.names.labels @ both.sum(axis=1), self.names.labels @ both @ self.names.labels.T

    def around(self, mask: Bools) -> tuple[Ints, Ints]:
        """Of the marked tokens with two neighbours: those with a name on the left, and with one on the left
        and another on the right; [K] and [K,K] over `Names.sides`, but O on both sides does not count."""
        inner = self.inner(mask)
        both = self._steps(self.labels[inner - 1], self.labels[inner + 1])
        sides = self.names.side_labels
        pairs = sides @ both @ sides.T
        pairs[len(self.names.all) :, len(self.names.all) :] = 0
        return sides @ both.sum(axis=1), pairs

    def inner(self, mask: Bools) -> Ints:
        """The places of the marked tokens that are neither first nor last."""
        middle = mask.copy()
        filled = self.corpus.lengths > 0
        middle[self.corpus.offsets[:-1][filled]] = False
        middle[self.corpus.offsets[1:][filled] - 1] = False
        return np.flatnonzero(middle)

    def containing(self, mask: Bools) -> Ints:
        """The segments of each name with a marked token, [K]."""
        found = self.segments
        before = np.concatenate([[0], np.cumsum(mask)])
        return self._by_name(before[found.end] > before[found.start])

    def marked(self, mask: Bools) -> Ints:
        """The marked tokens in each name, [K]."""
        return self.names.labels @ np.bincount(self.labels[mask], minlength=len(self.schema))

    def beginning(self, mask: Bools) -> Ints:
        """The segments of each name whose first token is marked, [K]."""
        return self._by_name(mask[self.segments.start])

    def ending(self, mask: Bools) -> Ints:
        """The segments of each name that do not end their sequence and whose last token is marked, [K]."""
        return self._by_name(self._followed & mask[self.segments.end - 1])

    def _steps(self, left: NDArray, right: NDArray) -> Ints:
        size = len(self.schema)
        codes = left.astype(np.int64) * size + right
        return np.bincount(codes, minlength=size * size).reshape(size, size)

    def combinations(self, bound: int) -> tuple[Ints, Ints]:
        """Histograms of sums [K,K,B+2] and differences [K,K,2B+3] of counts: see `kernels/pairs.py`."""
        size = len(self.names.all)
        sums = np.zeros((size, size, bound + 2), dtype=np.int64)
        differences = np.zeros((size, size, 2 * bound + 3), dtype=np.int64)
        pairs.combine(self.counts, sums, differences)
        return sums, differences
