"""The neighbours of each query vote for its class.

    Tree, Measure, Ballot, queries[M,F] ─→ classify   ─→ winner[M], …, votes as classes and weights (CSR)
    Tree, Measure, queries[M,F]         ─→ neighbours ─→ rows and distances, nearest first (CSR)
    Ballot, rows and distances          ─→ recount    ─→ as classify, for any k and way to vote

    a neighbour at distance d weighs, d₁ being the nearest distance and d_k the farthest that votes:
    MAJORITY 1     INVERSE 1 / (d + ε)     LINEAR (d_k − d) / (d_k − d₁)     DECAY exp(−a · d^b)

A tie is broken by looking one distance further, once; if that does not help, among the first votes by the
class that is more frequent, then by the one that was seen first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conseq.kernels.compiled import helper, kernel
from conseq.kernels.instances import Tree, _doubled
from conseq.kernels.neighbours import Measure, Queries, Work, nearest

Array = NDArray[Any]

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


class Tally(NamedTuple):
    """What is known of each query, and space to count the votes of one."""

    winner: NDArray[np.int32]  # [M]
    distance: NDArray[np.float64]  # [M] the nearest one
    tied: NDArray[np.bool_]  # [M] whether there was a tie at first
    counts: NDArray[np.int64]  # [M] how many classes have votes
    votes: NDArray[np.float64]  # [C], all 0 between two queries
    voted: NDArray[np.int32]  # [C] the classes that have votes


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
def _count(
    bounds: Array, classes: Array, times: Array,
    low: int, high: int, weight: float, votes: Array, voted: Array, n: int,
) -> int:  # fmt: skip
    """Add the votes of rows low:high; the classes that have votes are voted[:n]."""
    for i in range(bounds[low], bounds[high]):
        cls = classes[i]
        if votes[cls] == 0:
            voted[n] = cls
            n += 1
        votes[cls] += weight * times[i]
    return n


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
def _farthest(near: Array) -> float:
    """The last of some distances, ascending, that is one."""
    last = near[0]
    for further in near:
        if further < np.inf:
            last = further
    return last


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
def _append(
    all_classes: Array, all_votes: Array, at: int, votes: Array, voted: Array, kept: int
) -> tuple[Array, Array]:
    """Put `kept` votes of one query behind those of others, in larger arrays if there is no room; then all
    its votes are 0 again."""
    while at + kept > all_classes.size:
        all_classes, all_votes = _doubled(all_classes), _doubled(all_votes)
    for i in range(kept):
        all_classes[at + i], all_votes[at + i] = voted[i], votes[voted[i]]
    for cls in voted:
        votes[cls] = 0.0
    return all_classes, all_votes


@helper
def _tally(m: int, n_classes: int) -> Tally:
    """Nothing counted yet."""
    return Tally(
        np.empty(m, dtype=np.int32), np.empty(m), np.zeros(m, dtype=np.bool_), np.zeros(m, dtype=np.int64),
        np.zeros(n_classes), np.empty(n_classes, dtype=np.int32),
    )  # fmt: skip


@helper
def _vote(
    ballot: Ballot, row: Array, distance: Array, first: float, last: float, tally: Tally, i: int, again: bool
) -> tuple[int, bool]:
    """Let rows elect the class of query i; how many classes have votes, and whether there is a tie.

    An election that is held again because of a tie counts if it ends without one.
    """
    bounds, classes, times = ballot.bounds, ballot.cls, ballot.times
    votes, voted, n = tally.votes, tally.voted, 0
    for j in range(row.size):
        weight = weight_of(distance[j], first, last, ballot.kind, ballot.a, ballot.b)
        if weight > 0:
            n = _count(bounds, classes, times, row[j], row[j] + 1, weight, votes, voted, n)
    chosen, still = _elect(ballot.frequency, votes, voted[:n])
    if not again:
        tally.distance[i], tally.tied[i] = first, still
    if not (again and still):
        tally.winner[i], tally.counts[i] = chosen, n
    return n, still


@kernel
def classify(
    tree: Tree, measure: Measure, ballot: Ballot, queries: Queries, work: Work, k: int
) -> tuple[Array, Array, Array, Array, Array, Array]:
    """Winner, nearest distance, whether there was a tie, how many classes have votes, these, their votes."""
    m = queries.ids.shape[0]
    tally, near = _tally(m, ballot.frequency.size), np.empty(k + 1)
    all_classes, all_votes = np.empty(2 * m + 16, dtype=np.int32), np.empty(2 * m + 16)
    found, at = 0, 0
    for i in range(m):
        for again in (False, True):
            reach = near[: k + again]
            found = nearest(tree, measure, queries, i, work, reach, found)
            row, distance = work.row[:found], work.distance[:found]
            n, still = _vote(ballot, row, distance, reach[0], _farthest(reach), tally, i, again)
            kept = 0 if again and still else n
            all_classes, all_votes = _append(all_classes, all_votes, at, tally.votes, tally.voted[:n], kept)
            if not still:
                break
        at += tally.counts[i]
    return (*tally[:4], all_classes[:at].copy(), all_votes[:at].copy())


@kernel
def recount(
    ballot: Ballot, bounds: Array, row: Array, distance: Array, k: int
) -> tuple[Array, Array, Array, Array, Array, Array]:
    """As `classify`, of queries whose rows are known at their k + 1 nearest distances or more."""
    m = bounds.size - 1
    tally = _tally(m, ballot.frequency.size)
    all_classes, all_votes = np.empty(2 * m + 16, dtype=np.int32), np.empty(2 * m + 16)
    at = 0
    for i in range(m):
        low = bounds[i]
        for again in (False, True):
            end = _reach(distance, low, bounds[i + 1], k + again)
            near = distance[low:end]
            n, still = _vote(ballot, row[low:end], near, near[0], near[-1], tally, i, again)
            kept = 0 if again and still else n
            all_classes, all_votes = _append(all_classes, all_votes, at, tally.votes, tally.voted[:n], kept)
            if not still:
                break
        at += tally.counts[i]
    return (*tally[:4], all_classes[:at].copy(), all_votes[:at].copy())


def neighbours(
    tree: Tree, measure: Measure, queries: Queries, work: Work, k: int
) -> tuple[Array, Array, Array]:
    """How many rows each query has at its k nearest distances, these rows, their distances; nearest first."""
    counts, row, distance = _found(tree, measure, queries, work, k)
    order = np.lexsort((distance, np.repeat(np.arange(counts.size), counts)))  # a sort takes long to compile
    return counts, row[order], distance[order]


@kernel
def _found(tree: Tree, measure: Measure, queries: Queries, work: Work, k: int) -> tuple[Array, Array, Array]:
    """As `neighbours`, those of a query in the order in which they are found."""
    m = queries.ids.shape[0]
    counts = np.zeros(m, dtype=np.int64)
    row, distance = np.empty(2 * m + 16, dtype=np.int32), np.empty(2 * m + 16)
    near = np.empty(k)
    found, at = 0, 0
    for i in range(m):
        found = nearest(tree, measure, queries, i, work, near, found)
        while at + found > row.size:
            row, distance = _doubled(row), _doubled(distance)
        for one in range(found):
            row[at], distance[at] = work.row[one], work.distance[one]
            at += 1
        counts[i] = found
    return counts, row[:at].copy(), distance[:at].copy()


@helper
def _first_from(rows: Array, f: int, low: int, high: int, value: int) -> int:
    """The first of the rows low:high, sorted by column f, that has this value in it or a higher one."""
    while low < high:
        middle = (low + high) >> 1
        if rows[middle, f] < value:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def descend(tree: Tree, ballot: Ballot, queries: Array) -> tuple[Array, Array, Array, Array, Array, Array]:
    """As `classify`, but all rows vote that share the longest prefix with the query (IGTree, Daelemans et al.
    1997); the distance is the number of features that were not matched."""
    m, features = queries.shape
    winner, distance, tied, counts, votes, space = _tally(m, ballot.frequency.size)
    all_classes, all_votes = np.empty(2 * m + 16, dtype=np.int32), np.empty(2 * m + 16)
    at = 0
    for i in range(m):
        low, high, depth = 0, tree.rows.shape[0], 0
        while depth < features:
            first = _first_from(tree.rows, depth, low, high, queries[i, depth])
            last = _first_from(tree.rows, depth, first, high, queries[i, depth] + 1)
            if first == last:
                break
            low, high, depth = first, last, depth + 1
        distance[i] = features - depth
        counts[i] = _count(ballot.bounds, ballot.cls, ballot.times, low, high, 1.0, votes, space, 0)
        voted = space[: counts[i]]
        winner[i], tied[i] = _elect(ballot.frequency, votes, voted)
        all_classes, all_votes = _append(all_classes, all_votes, at, votes, voted, counts[i])
        at += counts[i]
    return winner, distance, tied, counts, all_classes[:at].copy(), all_votes[:at].copy()
