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


def observe(
    design: Design,
    labels: NDArray[np.int32],
    offsets: NDArray[np.int64],
    n_labels: int,
    *,
    transitions: bool = True,
    boundaries: bool = True,
) -> tuple[Layout, Observed]:
    """The weights that training data calls for, with their counts."""
    shards = [Shard(design, labels, offsets)]
    return observe_all(shards, n_labels, transitions=transitions, boundaries=boundaries)


def observe_all(
    shards: Iterable[Shard], n_labels: int, *, transitions: bool = True, boundaries: bool = True
) -> tuple[Layout, Observed]:
    """The same for data in several shards, one after the other."""
    seen = _Pile()
    moves = np.zeros((n_labels, n_labels), dtype=np.int64)
    first, last = np.zeros(n_labels, dtype=np.int64), np.zeros(n_labels, dtype=np.int64)
    n_attributes = 0
    for shard in shards:
        _add_state_features(seen, shard, n_labels)
        n_attributes = shard.design.n_attributes
        filled = np.diff(shard.offsets) > 0
        moves += move_counts(shard.labels, shard.offsets, n_labels)
        first += np.bincount(shard.labels[shard.offsets[:-1][filled]], minlength=n_labels)
        last += np.bincount(shard.labels[shard.offsets[1:][filled] - 1], minlength=n_labels)
    feature, label, state_events, state_contexts = _state_features(seen, n_attributes, n_labels)
    move, move_events, move_contexts = _moves(moves, transitions)
    starts, start_events = _ends(first, boundaries)
    ends, end_events = _ends(last, boundaries)
    layout = Layout(n_labels, feature, label, move, starts, ends)
    events = np.concatenate([state_events, move_events, start_events, end_events])
    many = np.full(len(starts) + len(ends), float(first.sum()))
    return layout, Observed(events, np.concatenate([state_contexts, move_contexts, many]))


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
        lengths = design.indptr[row + 1] - design.indptr[row]
        entry = flat_ranges(design.indptr[row], lengths)
        codes = design.attr[entry].astype(np.int64) * n_labels + np.repeat(label, lengths)
        weights = np.repeat(counts, lengths) * design.value[entry].astype(np.float64)
        seen.add(*_summed(codes, weights, np.abs(weights)))  # group by group, for there may be very many


def _state_features(
    seen: _Pile, n_attributes: int, n_labels: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]:
    """(attribute, label) pairs seen, by attribute: bounds, labels, events, contexts."""
    code, events, size = seen.sums()
    order = np.argsort(code, kind="stable")
    attribute, label = np.divmod(code[order], n_labels)
    feature = np.searchsorted(attribute, np.arange(n_attributes + 1)).astype(np.int64)
    contexts = np.bincount(attribute, weights=size[order], minlength=n_attributes)[attribute]
    return feature, label.astype(np.int32), events[order].astype(np.float64), contexts.astype(np.float64)


def _summed(codes: NDArray[np.int64], *weights: NDArray) -> tuple[NDArray, ...]:
    """The distinct codes, and the sums of their weights."""
    ids, first = factorise(codes)
    return codes[first], *(np.bincount(ids, weights=w, minlength=len(first)) for w in weights)


def flat_ranges(first: NDArray[np.int64], lengths: NDArray[np.integer]) -> NDArray[np.int64]:
    """first[i], first[i] + 1, … for each i, lengths[i] of them, one after the other.

    >>> flat_ranges(np.array([5, 9]), np.array([2, 1])).tolist()
    [5, 6, 9]
    """
    return np.repeat(first - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())


def move_counts(labels: NDArray[np.int32], offsets: NDArray[np.int64], n_labels: int) -> NDArray[np.int64]:
    """How often each label follows each other one inside a sequence, [Y, Y] (from, to)."""
    inner = np.ones(len(labels), dtype=bool)
    inner[offsets[:-1][np.diff(offsets) > 0]] = False
    into = np.flatnonzero(inner)
    codes = labels[into - 1].astype(np.int64) * n_labels + labels[into]
    return np.bincount(codes, minlength=n_labels**2).reshape(n_labels, n_labels)


def _moves(
    counts: NDArray[np.int64], wanted: bool
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]:
    if not wanted:
        return np.empty((0, 2), np.int32), np.empty(0), np.empty(0)
    moves = np.argwhere(counts > 0).astype(np.int32)
    contexts = counts.sum(axis=1)[moves[:, 0]]
    return moves, counts[counts > 0].astype(np.float64), contexts.astype(np.float64)


def _ends(counts: NDArray[np.int64], wanted: bool) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    seen = np.flatnonzero(counts) if wanted else np.empty(0, dtype=np.int64)
    return seen.astype(np.int32), counts[seen].astype(np.float64)
