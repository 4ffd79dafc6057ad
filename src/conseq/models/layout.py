"""Which weights a linear-chain CRF has and where each stands in the weight vector.

    w = [ state features (attribute, label) by attribute | transitions (from, to) | starts | ends ]

As in CRFsuite, a weight exists only for what was seen in training; everything else scores 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from conseq.corpus import gathered
from conseq.features.design import Design
from conseq.kernels.index import factorise


@dataclass(frozen=True, eq=False)
class Layout:
    """A attributes, Y labels, F weights in all."""

    n_labels: int
    feature: NDArray[np.int64]  # [A+1] the state features of attribute a are feature[a] … feature[a+1]−1
    label: NDArray[np.int32]  # [state features] the label each fires for
    moves: NDArray[np.int32]  # [transitions, 2] from, to
    starts: NDArray[np.int32]  # labels with a start weight
    ends: NDArray[np.int32]  # labels with an end weight

    @cached_property
    def bounds(self) -> tuple[int, int, int, int]:
        """Where each part of the weight vector ends."""
        sizes = [len(self.label), len(self.moves), len(self.starts), len(self.ends)]
        a, b, c, d = np.cumsum(sizes).tolist()
        return a, b, c, d

    @property
    def size(self) -> int:
        return self.bounds[-1]

    def state(self, vector: NDArray) -> NDArray:
        return vector[: self.bounds[0]]

    def chain(self, vector: NDArray) -> tuple[NDArray, NDArray, NDArray]:
        """pairwise[Y, Y], start[Y] and end[Y] of a weight vector; what has no weight scores 0."""
        a, b, c, d = self.bounds
        pairwise = np.zeros((self.n_labels, self.n_labels), dtype=vector.dtype)
        start = np.zeros(self.n_labels, dtype=vector.dtype)
        end = np.zeros(self.n_labels, dtype=vector.dtype)
        pairwise[self.moves[:, 0], self.moves[:, 1]] = vector[a:b]
        start[self.starts] = vector[b:c]
        end[self.ends] = vector[c:d]
        return pairwise, start, end

    def put_chain(self, vector: NDArray, pairwise: NDArray, start: NDArray, end: NDArray) -> None:
        """The reverse: write those entries that have a weight into the vector."""
        a, b, c, d = self.bounds
        vector[a:b] = pairwise[self.moves[:, 0], self.moves[:, 1]]
        vector[b:c] = start[self.starts]
        vector[c:d] = end[self.ends]


@dataclass(frozen=True, eq=False)
class Observed:
    """How often training data shows each weight's event, and its attribute or previous label at all."""

    events: NDArray[np.float64]  # [F] Σ value where the event happened
    contexts: NDArray[np.float64]  # [F] Σ |value| where it could have happened


@dataclass(frozen=True, eq=False)
class Shard:
    """Labelled sequences: all of the training data, or a part of what is larger than memory."""

    design: Design
    labels: NDArray[np.int32]  # [T]
    offsets: NDArray[np.int64]  # [N+1]


def observe_all(
    shards: Iterable[Shard], n_labels: int, *, transitions: bool = True, boundaries: bool = True
) -> tuple[Layout, Observed]:
    """The weights that training data, in several shards one after the other, calls for, with their counts."""
    seen = _Pile()
    steps = np.zeros((n_labels + 1, n_labels + 1), dtype=np.int64)
    n_attributes = 0
    for shard in shards:
        _add_state_features(seen, shard, n_labels)
        n_attributes = shard.design.n_attributes
        steps += _step_counts(shard, n_labels)
    code, events, values = seen.sums()
    order = np.argsort(code, kind="stable")
    attribute, label = np.divmod(code[order], n_labels)
    moves, first, last = steps[:-1, :-1], steps[-1, :-1], steps[:-1, -1]
    layout = Layout(
        n_labels,
        np.searchsorted(attribute, np.arange(n_attributes + 1)).astype(np.int64),
        label.astype(np.int32),
        np.argwhere(moves if transitions else moves[:0]).astype(np.int32),
        np.flatnonzero(first if boundaries else first[:0]).astype(np.int32),
        np.flatnonzero(last if boundaries else last[:0]).astype(np.int32),
    )
    happened, possible = np.empty(layout.size), np.empty(layout.size)
    layout.state(happened)[:] = events[order]
    layout.state(possible)[:] = np.bincount(attribute, values[order], n_attributes)[attribute]
    layout.put_chain(happened, moves, first, last)
    left, sequences = moves.sum(axis=1, keepdims=True), np.full(n_labels, first.sum())
    layout.put_chain(possible, np.broadcast_to(left, moves.shape), sequences, sequences)
    return layout, Observed(happened, possible)


MANY = 1 << 20
"""Codes fewer than this are summed up at the end only."""


class _Pile:
    """Codes with weights to be summed by code; summed up whenever they have become twice as many."""

    def __init__(self) -> None:
        self.parts: list[tuple[NDArray, ...]] = []
        self.size, self.limit = 0, MANY

    def add(self, codes: NDArray[np.int64], *weights: NDArray) -> None:
        self.parts.append((codes, *weights))
        self.size += len(codes)
        if self.size > self.limit:
            self.parts = [self.sums()]
            self.size = len(self.parts[0][0])
            self.limit = max(2 * self.size, MANY)

    def sums(self) -> tuple[NDArray, ...]:
        """The distinct codes, and the sums of their weights."""
        return _summed(*(np.concatenate(parts) for parts in zip(*self.parts, strict=True)))


def _add_state_features(seen: _Pile, shard: Shard, n_labels: int) -> None:
    """The (attribute, label) pairs of a shard, as codes, with Σ value and Σ |value|."""
    design = shard.design
    for g in range(design.row_of.shape[1]):
        pairs = design.row_of[:, g].astype(np.int64) * n_labels + shard.labels
        ids, first = factorise(pairs)
        counts = np.bincount(ids, minlength=len(first))
        row, label = pairs[first] // n_labels, pairs[first] % n_labels
        bounds, entry = gathered(design.indptr, row)
        lengths = np.diff(bounds)
        codes = design.attr[entry].astype(np.int64) * n_labels + np.repeat(label, lengths)
        weights = np.repeat(counts, lengths) * design.value[entry].astype(np.float64)
        seen.add(*_summed(codes, weights, np.abs(weights)))  # group by group, for there may be very many


def _summed(codes: NDArray[np.int64], *weights: NDArray) -> tuple[NDArray, ...]:
    """The distinct codes, and the sums of their weights."""
    ids, first = factorise(codes)
    return codes[first], *(np.bincount(ids, weights=w, minlength=len(first)) for w in weights)


def _step_counts(shard: Shard, n_labels: int) -> NDArray[np.int64]:
    """How often each label follows each other one, [Y+1,Y+1] (from, to); the last is START and END."""
    size, bounds = n_labels + 1, np.unique(shard.offsets)  # what has no tokens has no steps
    path = np.insert(shard.labels, bounds, n_labels).astype(np.int64)
    return np.bincount(path[:-1] * size + path[1:], minlength=size**2).reshape(size, size)
