"""Constraint satisfaction inference over class trigrams (Canisius et al. 2006), sequence after sequence.

    indptr[T+1], cls[nnz], share[nnz], winner[T], parts[K,3]  ─→ weigh   ─→ predicted[T,3], weights[T,6]
    predicted[T,3]                                            ─→ propose ─→ domain[T,3], sizes[T]
    predicted, weights, domain, sizes                         ─→ solve   ─→ labels[T], totals[N]

Axes: T tokens of all sequences end to end, N sequences, K trigram classes. The trigram of token t speaks of
the tokens t−1, t, t+1. OUTSIDE stands for "no label": a boundary mark, or a token beyond the ends.

The six constraints of a trigram are its n-grams, in this order: all three; the first two, the last two; the
first, the middle, the last.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conseq.kernels.chain import longest
from conseq.kernels.compiled import helper, kernel

Array = NDArray[Any]

OUTSIDE = -1
SPANS = np.array([[0, 3], [0, 2], [1, 3], [0, 1], [1, 2], [2, 3]])
"""The places of each constraint in its trigram: from … up to."""
TRIGRAM, LEFT, RIGHT, SINGLE = 0, 1, 2, 3
"""Columns of weights: the trigram, its bigrams, the first of its unigrams."""


class Found(NamedTuple):
    """What a classifier says of each token: a share of some classes, as CSR, and which of them wins."""

    indptr: Array  # [T+1]
    cls: Array
    share: Array
    winner: Array  # [T]


@kernel
def weigh(
    found: Found,
    parts: Array,
    offsets: Array,
    first: int,
    last: int,
    predicted: Array,
    weights: Array,
) -> None:
    """The predicted trigrams of the sequences first … last−1, and the weights of their constraints:

    weight of an n-gram = Σ share of the classes that have the same labels as the winner at its places

    A constraint that has OUTSIDE at one of its places weighs nothing.
    """
    indptr, cls, share = found.indptr, found.cls, found.share
    for n in range(first, last):
        a, b = offsets[n], offsets[n + 1]
        for t in range(a, b):
            best = found.winner[t]
            for p in range(3):
                inside = a <= t + p - 1 < b
                predicted[t, p] = parts[best, p] if inside else OUTSIDE
            for c in range(len(SPANS)):
                weights[t, c] = 0.0
            for k in range(indptr[t], indptr[t + 1]):
                for c in range(len(SPANS)):
                    if agrees(parts, best, cls[k], c):
                        weights[t, c] += share[k]
            for c in range(len(SPANS)):
                for p in range(SPANS[c, 0], SPANS[c, 1]):
                    if predicted[t, p] == OUTSIDE:
                        weights[t, c] = 0.0


@helper(inline="always")
def agrees(parts: Array, one: int, other: int, c: int) -> bool:
    """Whether two classes have the same labels at the places of constraint c."""
    same = True
    for p in range(SPANS[c, 0], SPANS[c, 1]):
        same = same and parts[one, p] == parts[other, p]
    return same


@kernel
def propose(predicted: Array, offsets: Array, first: int, last: int, domain: Array, sizes: Array) -> None:
    """The different labels proposed for each token: by its own trigram, by the one before it, by the next."""
    for n in range(first, last):
        a, b = offsets[n], offsets[n + 1]
        for t in range(a, b):
            size = 0
            for p in range(3):
                domain[t, p] = OUTSIDE
            for source, place in ((t, 1), (t - 1, 2), (t + 1, 0)):
                if not a <= source < b:
                    continue
                label = predicted[source, place]
                known = label == OUTSIDE
                for p in range(size):
                    known = known or domain[t, p] == label
                if not known:
                    domain[t, size] = label
                    size += 1
            sizes[t] = size


@helper
def single(predicted: Array, weights: Array, a: int, b: int, t: int, y: int) -> float:
    """The weight of the unigrams that label y satisfies at token t."""
    total = 0.0
    for p in range(3):
        source = t + 1 - p
        if a <= source < b and predicted[source, p] == y:
            total += weights[source, SINGLE + p]
    return total


@helper(inline="always")
def double(predicted: Array, weights: Array, t: int, x: int, y: int) -> float:
    """The weight of the bigrams that the labels x, y of the tokens t−1, t satisfy."""
    total = 0.0
    if predicted[t - 1, 1] == x and predicted[t - 1, 2] == y:
        total += weights[t - 1, RIGHT]
    if predicted[t, 0] == x and predicted[t, 1] == y:
        total += weights[t, LEFT]
    return total


@helper(inline="always")
def triple(predicted: Array, weights: Array, t: int, w: int, x: int, y: int) -> float:
    """The weight of the trigram of token t−1 if the labels w, x, y of the tokens t−2, t−1, t satisfy it."""
    same = predicted[t - 1, 0] == w and predicted[t - 1, 1] == x and predicted[t - 1, 2] == y
    return weights[t - 1, TRIGRAM] if same else 0.0


@helper(inline="always")
def forward(
    predicted: Array, weights: Array, domain: Array, sizes: Array, a: int, b: int, best: Array, back: Array
) -> None:
    """The most that the tokens a … t can satisfy if t−1 and t have their labels number j and k:

    best_t[j,k] = max_i (best_{t−1}[i,j] + triple(i,j,k)) + double(j,k) + single(k)

    best[3,3] ends as that of the last token; back[t−a,j,k] is the lowest i that attains it. The first token
    has one label before it, number 0.
    """
    before = np.empty((3, 3))
    for k in range(sizes[a]):
        best[0, k] = single(predicted, weights, a, b, a, domain[a, k])
    for t in range(a + 1, b):
        for i in range(sizes[t - 2] if t - 2 >= a else 1):
            for j in range(sizes[t - 1]):
                before[i, j] = best[i, j]
        for k in range(sizes[t]):
            y = domain[t, k]
            alone = single(predicted, weights, a, b, t, y)
            for j in range(sizes[t - 1]):
                x = domain[t - 1, j]
                most, chosen = before[0, j], 0
                if t - 2 >= a:
                    most = -1.0
                    for i in range(sizes[t - 2]):
                        gain = before[i, j] + triple(predicted, weights, t, domain[t - 2, i], x, y)
                        if gain > most:
                            most, chosen = gain, i
                back[t - a, j, k] = chosen
                best[j, k] = most + double(predicted, weights, t, x, y) + alone


@kernel
def solve(
    predicted: Array,
    weights: Array,
    domain: Array,
    sizes: Array,
    offsets: Array,
    first: int,
    last: int,
    labels: Array,
    totals: Array,
) -> None:
    """The labels of the largest weight for the sequences first … last−1, and that weight.

    Of equal ones the last token takes the label that stands first in its domain, then the last but one, and
    so on. Weights must be ≥ 0.
    """
    best = np.empty((3, 3))
    back = np.empty((longest(offsets, first, last), 3, 3), dtype=np.int8)
    for n in range(first, last):
        a, b = offsets[n], offsets[n + 1]
        totals[n] = 0.0
        if a == b:
            continue
        forward(predicted, weights, domain, sizes, a, b, best, back)
        j, k = 0, 0
        for y in range(sizes[b - 1]):
            for x in range(sizes[b - 2] if b - 2 >= a else 1):
                if best[x, y] > best[j, k]:
                    j, k = x, y
        totals[n] = best[j, k]
        for t in range(b - 1, a - 1, -1):
            labels[t] = domain[t, k]
            if t > a:
                j, k = back[t - a, j, k], j
