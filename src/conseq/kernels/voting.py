"""The neighbours of each query vote for its class.

    Ballot, Search of queries[M,F]  ─→ classify   ─→ winner[M], …, votes as classes and weights (CSR)
    Search of queries[M,F]          ─→ neighbours ─→ Known: rows and distances, nearest first (CSR)
    Ballot, Known                   ─→ classify   ─→ the same for any k and way to vote

    a neighbour at distance d weighs, d₁ being the nearest distance and d_k the farthest that votes:
    MAJORITY 1     INVERSE 1 / (d + ε)     LINEAR (d_k − d) / (d_k − d₁)     DECAY exp(−a · d^b)

A tie is broken by looking one distance further, once; if that does not help, among the first votes by the
class that is more frequent, then by the one that was seen first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from conseq.kernels.compiled import Array, helper, kernel
from conseq.kernels.neighbours import Search, nearest

MAJORITY, INVERSE, LINEAR, DECAY = 0, 1, 2, 3
EPSILON = 2.0**-52
ROUNDING = 1e-12
"""Votes that differ by this share are equal."""
LEAST = 1e-300
"""The least that a vote decays to: if all are so far that they would weigh nothing, they are equal."""


class Ballot(NamedTuple):
    """The classes of each row, and how its votes weigh."""

    bounds: NDArray[np.int64]  # [U+1]
    cls: NDArray[np.int32]
    times: NDArray[np.float64]  # how often the row goes with the class
    frequency: NDArray[np.float64]  # [C] in training
    kind: int
    a: float
    b: float


class Known(NamedTuple):
    """Rows near queries that were searched before: those of query i stand at bounds[i]:bounds[i+1]."""

    bounds: NDArray[np.int64]  # [M+1]
    row: NDArray[np.int32]
    distance: NDArray[np.float64]  # ascending for each query


@helper(inline="always")
def weight_of(distance: float, first: float, last: float, kind: int, a: float, b: float) -> float:
    """What a neighbour's vote weighs."""
    if kind == INVERSE:
        return 1.0 / (distance + EPSILON)
    if kind == LINEAR:
        return (last - distance) / (last - first) if last > first else 1.0
    if kind == DECAY:
        return max(np.exp(-a * distance**b), LEAST)
    return 1.0


@helper
def _elect(frequency: Array, votes: Array, voted: Array) -> tuple[int, bool]:
    """The class with most votes, and whether others have as many."""
    top = 0.0
    for cls in voted:
        top = max(top, votes[cls])
    winner, rivals = -1, 0
    for cls in voted:
        if votes[cls] < top * (1 - ROUNDING):
            continue
        rivals += 1
        if winner < 0 or (-frequency[cls], cls) < (-frequency[winner], winner):
            winner = cls
    return winner, rivals > 1


@helper(inline="always")
def _reach(distance: Array, low: int, high: int, k: int) -> int:
    """Where the k-th of the distances at low:high, ascending, ends."""
    end = low
    while end < high and k > 0:
        end += 1
        if end == high or distance[end] > distance[end - 1]:
            k -= 1
    return end


@helper
def _doubled(array: Array) -> Array:
    larger = np.empty(2 * array.size, dtype=array.dtype)
    for i in range(array.size):  # a slice would take seconds to compile
        larger[i] = array[i]
    return larger


@helper
def _vote(ballot: Ballot, row: Array, distance: Array, votes: Array, voted: Array) -> tuple[int, float]:
    """Add the votes of these rows; how many classes, voted[:n], have some, and the nearest distance."""
    bounds, classes, times = ballot.bounds, ballot.cls, ballot.times
    n, first, last = 0, np.inf, -np.inf
    for j in range(row.size):
        first, last = min(first, distance[j]), max(last, distance[j])
    for j in range(row.size):
        weight = weight_of(distance[j], first, last, ballot.kind, ballot.a, ballot.b)
        if weight > 0:
            for entry in range(bounds[row[j]], bounds[row[j] + 1]):
                cls = classes[entry]
                if votes[cls] == 0:
                    voted[n] = cls
                    n += 1
                votes[cls] += weight * times[entry]
    return n, first


@kernel
def classify(
    ballot: Ballot, known: Known, search: Search | None, k: int
) -> tuple[Array, Array, Array, Array, Array, Array]:
    """Winner, nearest distance, whether there was a tie, how many classes have votes, these, their votes.

    Without a search it is the rows known of each query, at k + 1 distances or more, that vote. An election
    that is held again because of a tie counts if it ends without one.
    """
    m = known.bounds.size - 1 if search is None else search.queries.ids.shape[0]
    winner, nearest_of = np.empty(m, dtype=np.int32), np.empty(m)
    tied, counts = np.zeros(m, dtype=np.bool_), np.zeros(m, dtype=np.int64)
    votes = np.zeros(ballot.frequency.size)
    voted, near = np.empty(votes.size, dtype=np.int32), np.empty(k + 1)
    all_classes, all_votes = np.empty(2 * m + 16, dtype=np.int32), np.empty(2 * m + 16)
    found, at = 0, 0
    for i in range(m):
        for again in (False, True):
            if search is None:
                low = known.bounds[i]
                end = _reach(known.distance, low, known.bounds[i + 1], k + again)
                row, distance = known.row[low:end], known.distance[low:end]
            else:
                found = nearest(search, i, near[: k + again], found)
                row, distance = search.work.row[:found], search.work.distance[:found]
            n, first = _vote(ballot, row, distance, votes, voted)
            chosen, tie = _elect(ballot.frequency, votes, voted[:n])
            if not again:
                nearest_of[i], tied[i] = first, tie
            if not (again and tie):
                winner[i], counts[i] = chosen, n
                while at + n > all_classes.size:
                    all_classes, all_votes = _doubled(all_classes), _doubled(all_votes)
                for j in range(n):
                    all_classes[at + j], all_votes[at + j] = voted[j], votes[voted[j]]
            for j in range(n):
                votes[voted[j]] = 0.0
            if not tie:
                break
        at += counts[i]
    return winner, nearest_of, tied, counts, all_classes[:at].copy(), all_votes[:at].copy()


def neighbours(search: Search, k: int) -> tuple[Array, Array, Array]:
    """How many rows each query has at its k nearest distances, these rows, their distances; nearest first."""
    counts, row, distance = _found(search, k)
    order = np.lexsort((distance, np.repeat(np.arange(counts.size), counts)))  # a sort takes long to compile
    return counts, row[order], distance[order]


@kernel
def _found(search: Search, k: int) -> tuple[Array, Array, Array]:
    """As `neighbours`, those of a query in the order in which they are found."""
    m, work = search.queries.ids.shape[0], search.work
    counts = np.zeros(m, dtype=np.int64)
    row, distance = np.empty(2 * m + 16, dtype=np.int32), np.empty(2 * m + 16)
    near = np.empty(k)
    found, at = 0, 0
    for i in range(m):
        found = nearest(search, i, near, found)
        while at + found > row.size:
            row, distance = _doubled(row), _doubled(distance)
        for one in range(found):
            row[at], distance[at] = work.row[one], work.distance[one]
            at += 1
        counts[i] = found
    return counts, row[:at].copy(), distance[:at].copy()
