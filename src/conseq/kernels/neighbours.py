"""The nearest instances of a query: a search depth first through their tree, cut off by bounds.

    Measure, values      ─→ floors  ─→ what the values that share a bit of a mask cost at least
    Search, query        ─→ nearest ─→ the k nearest distances, the rows at them

    distance(x, y) = Σ_f weight[f] · difference_f(x[f], y[f])
    OVERLAP   0 if equal, else 1
    NUMBERS   |x[f] − y[f]| / (largest − smallest)
    VALUES    ½ Σ_c |p_c − q_c|, p_c = p(c | x[f]) and q_c = p(c | y[f]) (MVDM, Cost and Salzberg 1993)
    SHANNON   ½ Σ_c p_c log₂(p_c / m_c) + q_c log₂(q_c / m_c), m_c = (p_c + q_c) / 2 (Jensen-Shannon)
    JEFFREY   ½ Σ_c (p_c − q_c) log₂(p_c / q_c), or p_c + q_c where one of them is 0 (Jeffrey)

The last three are 1 if a value was never seen.

What a path has cost already, and what the values of the rows below cost at least in each other feature, is a
lower bound for all rows below; the k-th distance found so far is an upper one. All distances are summed in
the same order, so those that are the same sums are equal to the last bit; nothing else counts as equal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from conseq.kernels.compiled import Array, helper, kernel
from conseq.kernels.index import place_of
from conseq.kernels.instances import BITS, Tree, bit_of

OVERLAP, VALUES, NUMBERS, SHANNON, JEFFREY = 0, 1, 2, 3, 4

PRIME = 67
"""No two of the powers 2⁰ … 2⁶² leave the same remainder."""
POSITION = np.array([{2**i % PRIME: i for i in range(BITS)}.get(rest, 0) for rest in range(PRIME)])
"""Remainder of a bit ─→ which one it is."""


class Measure(NamedTuple):
    """How far apart the values of each feature are; value v of feature f has the place start[f] + v."""

    kind: NDArray[np.int8]  # [F]
    weight: NDArray[np.float64]  # [F]
    start: NDArray[np.int64]  # [F+1]
    bounds: NDArray[np.int64]  # [V+1] of the classes seen with the value at each place
    cls: NDArray[np.int32]
    share: NDArray[np.float64]  # p(class | value)
    number: NDArray[np.float64]  # [V] of values that are numbers, divided by their range
    square: NDArray[np.int64]  # [F] where the table of all differences begins, −1 if there is none
    table: NDArray[np.float64]  # weighted differences of any two values of some features
    slack: float  # bounds may be wrong by that much, as they are summed in another order


class Queries(NamedTuple):
    """What is looked for."""

    ids: NDArray[np.int32]  # [M,F], −1 for values that were not seen in training
    numbers: NDArray[np.float64]  # [M,F], or [M,0] if there are none
    floor: NDArray[np.int32]  # [M,F] which of the floors is that of the value, −1 if all others cost alike
    floors: NDArray[np.float64]  # [R,BITS] what the values that share a bit cost at least

    def part(self, lo: int, hi: int) -> Queries:
        """Those from lo up to hi."""
        return Queries(self.ids[lo:hi], self.numbers[lo:hi], self.floor[lo:hi], self.floors)


class Work(NamedTuple):
    """Space of one thread: what is known of the query, and the nodes that wait."""

    base: NDArray[np.int64]  # [F] value v costs far[base[f] + v]; −1 where all others cost the weight
    far: NDArray[np.float64]  # the table, then [V] what is computed when first needed, −1 until then
    known: NDArray[np.int64]  # [V] which places of feature f are computed: n_known[f] from start[f] on
    n_known: NDArray[np.int64]  # [F]
    last: NDArray[np.int32]  # [F] the values they are about
    bit: NDArray[np.int64]  # [F] of the query's values
    unequal: NDArray[np.float64]  # [F] what another value costs at least, where there is no floor
    node: NDArray[np.int64]  # [pending,2] node and depth
    cost: NDArray[np.float64]  # [pending,2] what the values so far cost, and what rows below cost at least
    row: NDArray[np.int32]  # [U] the rows found
    distance: NDArray[np.float64]  # [U] and how far they are


class Search(NamedTuple):
    """Queries, and where one thread looks for their neighbours."""

    tree: Tree
    measure: Measure
    queries: Queries
    work: Work


def workspace(tree: Tree, measure: Measure) -> Work:
    """Space to be used by one search after the other."""
    features = measure.weight.size
    lazy = np.any((measure.kind != OVERLAP) & (measure.square < 0))
    values = int(measure.start[-1]) if lazy else 0
    return Work(
        np.empty(features, dtype=np.int64),
        np.concatenate([measure.table, np.full(values, -1.0)]),
        np.empty(values, dtype=np.int64),
        np.zeros(features, dtype=np.int64),
        np.full(features, -1, dtype=np.int32),
        np.empty(features, dtype=np.int64),
        np.empty(features),
        np.empty((tree.pending + 1, 2), dtype=np.int64),
        np.empty((tree.pending + 1, 2)),
        np.empty(tree.rows.shape[0], dtype=np.int32),
        np.empty(tree.rows.shape[0]),
    )


@kernel
def floors(measure: Measure, feature: Array, place: Array, first: int, last: int, least: Array) -> None:
    """Rows first:last of least[R,BITS]: what the values with a bit cost at least, seen from a value.

    The difference of values without a common class is 1; each that is common takes something off. That is the
    same as `value_difference` up to rounding, and takes one pass.
    """
    bounds, cls, share, start = measure.bounds, measure.cls, measure.share, measure.start
    size = 0
    for i in range(cls.size):
        size = max(size, cls[i] + 1)
    own = np.zeros(size)
    for r in range(first, last):
        f = feature[r]
        kind = measure.kind[f]
        for i in range(bounds[place[r]], bounds[place[r] + 1]):
            own[cls[i]] = share[i]
        for bit in range(BITS):
            least[r, bit] = measure.weight[f]
        for other in range(start[f], start[f + 1]):
            total, bit = 2.0, (other - start[f]) % BITS
            for i in range(bounds[other], bounds[other + 1]):
                p, q = own[cls[i]], share[i]
                if p > 0:
                    total += _apart(kind, p, q) - p - q
            cost = measure.weight[f] * total / 2 if other != place[r] else 0.0
            least[r, bit] = min(least[r, bit], cost)
        for i in range(bounds[place[r]], bounds[place[r] + 1]):
            own[cls[i]] = 0.0


@helper(inline="always")
def _prepare(measure: Measure, query: Array, work: Work) -> None:
    """Where the costs of each feature stand; those of other values than the query's are forgotten."""
    for f in range(query.size):
        unseen, kind, start = query[f] < 0, measure.kind[f], measure.start[f]
        work.bit[f] = 0 if unseen else bit_of(query[f])
        work.unequal[f], work.base[f] = 0.0 if kind == NUMBERS else measure.weight[f], -1
        if kind == OVERLAP or (kind != NUMBERS and unseen):
            continue
        if measure.square[f] >= 0:
            work.base[f] = measure.square[f] + query[f] * (measure.start[f + 1] - start)
            continue
        work.base[f] = measure.table.size + start
        if kind == NUMBERS or query[f] != work.last[f]:
            for i in range(start, start + work.n_known[f]):
                work.far[work.known[i]] = -1.0
            work.n_known[f] = 0
            work.last[f] = query[f]


@helper
def _apart(kind: int, p: float, q: float) -> float:
    """How far apart two shares of a class are, neither of them 0; twice what it adds to the difference."""
    if kind == SHANNON:
        return p * np.log2(2 * p / (p + q)) + q * np.log2(2 * q / (p + q))
    if kind == JEFFREY:
        return abs(p - q) * np.log2(max(p, q) / min(p, q))  # the same bits for q, p
    return abs(p - q)


@helper
def value_difference(kind: int, bounds: Array, cls: Array, share: Array, a: int, b: int) -> float:
    """The difference of the values at two places by their shares of classes; 1 if nothing is known of one."""
    i, j, total = bounds[a], bounds[b], 0.0
    end_i, end_j = bounds[a + 1], bounds[b + 1]
    if i == end_i or j == end_j:
        return 1.0
    while i < end_i and j < end_j:
        if cls[i] == cls[j]:
            total += _apart(kind, share[i], share[j])
            i += 1
            j += 1
        elif cls[i] < cls[j]:
            total += share[i]
            i += 1
        else:
            total += share[j]
            j += 1
    while i < end_i:
        total += share[i]
        i += 1
    while j < end_j:
        total += share[j]
        j += 1
    return total / 2


@helper
def _compute(measure: Measure, query: Array, number: Array, work: Work, f: int, value: int) -> float:
    """What a value of feature f costs, kept for the next time."""
    start = measure.start[f]
    place = start + value
    if measure.kind[f] == NUMBERS:
        cost = abs(number[f] - measure.number[place])
    else:
        shares = measure.bounds, measure.cls, measure.share
        cost = value_difference(measure.kind[f], *shares, start + query[f], place)
    work.far[work.base[f] + value] = measure.weight[f] * cost
    work.known[start + work.n_known[f]] = work.base[f] + value
    work.n_known[f] += 1
    return measure.weight[f] * cost


@helper
def _insert(near: Array, distance: float) -> None:
    """Put a distance among the smallest ones, each of which stands there once."""
    i = near.size
    while i > 0 and distance < near[i - 1]:
        i -= 1
    if i < near.size and (i == 0 or distance > near[i - 1]):
        for j in range(near.size - 1, i, -1):
            near[j] = near[j - 1]
        near[i] = distance


@helper(inline="always")
def _kept(row: Array, distance: Array, n: int, most: float) -> int:
    """Move the rows that are near enough to the front; how many there are."""
    kept = 0
    for i in range(n):
        if distance[i] <= most:
            row[kept], distance[kept] = row[i], distance[i]
            kept += 1
    return kept


@helper(inline="always")
def _least(floors: Array, floor: int, held: int) -> float:
    """The least of what the bits of a mask stand for."""
    low = np.inf
    while held:
        bit = held & -held
        low = min(low, floors[floor, POSITION[bit % PRIME]])
        held ^= bit
    return low


@helper(inline="always")
def _bound(
    mask: Array, bit: Array, unequal: Array, floor: Array, floors: Array,
    node: int, depth: int, cost: float, most: float,
) -> float:  # fmt: skip
    """What rows below a node cost at least: a value that none of them has must be another one of theirs.

    More than `most` is too much, however much it is.
    """
    for f in range(depth, bit.size):
        if mask[node, f] & bit[f] == 0:
            cost += unequal[f] if floor[f] < 0 else _least(floors, floor[f], mask[node, f])
            if cost > most:
                break
    return cost


@helper(inline="always")
def _best_last(node: Array, cost: Array, low: int, high: int) -> None:
    """Among those that wait at low:high, move one with the least bound to the end."""
    best, last = low, high - 1
    for i in range(low + 1, high):
        if cost[i, 1] < cost[best, 1]:
            best = i
    if last > best:
        for j in range(2):
            node[best, j], node[last, j] = node[last, j], node[best, j]
            cost[best, j], cost[last, j] = cost[last, j], cost[best, j]


@helper
def nearest(search: Search, asked: int, near: Array, before: int) -> int:
    """The k nearest distances into near[k], ∞ where there are fewer; how many rows are at them (in work).

    The rows found for the query before are tried first: if they are near, they give a bound. (Longer than
    others: its parts would hand more than a dozen arrays to each other at every node.)
    """
    tree, measure, work, queries = search.tree, search.measure, search.work, search.queries
    query, number, floor = queries.ids[asked], queries.numbers[asked], queries.floor[asked]
    _prepare(measure, query, work)
    # out of their tuples first: inside the loops that would count references again and again
    floors = queries.floors
    rows, value, child, mask, weight = tree.rows, tree.value, tree.child, tree.mask, measure.weight
    first, end, row, distance = tree.low, tree.high, work.row, work.distance
    base, far, bit, unequal, node, cost = work.base, work.far, work.bit, work.unequal, work.node, work.cost
    k, slack, features = near.size, measure.slack, query.size
    n = 0
    near[:] = np.inf
    for i in range(min(before, 4 * k)):
        total = 0.0
        for f in range(features):
            other = rows[row[i], f]
            if other != query[f]:
                more = weight[f] if base[f] < 0 else far[base[f] + other]
                total += more if more >= 0 else _compute(measure, query, number, work, f, other)
        _insert(near, total)
    node[0, 0], node[0, 1], cost[0, 0], cost[0, 1] = 0, 0, 0.0, 0.0
    waiting = 1
    while waiting:
        waiting -= 1
        most = near[k - 1] + slack
        if cost[waiting, 1] > most:
            continue
        here, depth, so_far = node[waiting, 0], node[waiting, 1], cost[waiting, 0]
        low, high = child[here], child[here + 1]
        if low == high:
            for i in range(first[here], end[here]):
                total = so_far
                for f in range(depth, features):
                    other = rows[i, f]
                    if other != query[f]:
                        more = weight[f] if base[f] < 0 else far[base[f] + other]
                        total += more if more >= 0 else _compute(measure, query, number, work, f, other)
                        if total > near[k - 1]:
                            break
                if total <= near[k - 1]:
                    _insert(near, total)
                    row[n], distance[n] = i, total
                    n += 1
            continue
        others = so_far + _bound(mask, bit, unequal, floor, floors, here, depth + 1, 0.0, np.inf)
        if base[depth] < 0 and others + weight[depth] > most:
            low = place_of(value, low, high, query[depth])
            high = low + 1 if low >= 0 else low
        top = waiting
        for i in range(low, high):
            other, more, at_least = value[i], 0.0, 0.0
            if other != query[depth]:
                more = weight[depth] if base[depth] < 0 else far[base[depth] + other]
                at_least = more
                if more < 0:
                    at_least = 0.0 if floor[depth] < 0 else floors[floor[depth], other % BITS]
            if others + at_least > most:
                continue
            bound = _bound(mask, bit, unequal, floor, floors, i, depth + 1, so_far + at_least, most)
            if bound > most:
                continue
            if more < 0:
                more = _compute(measure, query, number, work, depth, other)
                bound += more - at_least
            if bound <= most:
                node[waiting, 0], node[waiting, 1] = i, depth + 1
                cost[waiting, 0], cost[waiting, 1] = so_far + more, bound
                waiting += 1
        _best_last(node, cost, top, waiting)
    return _kept(row, distance, n, near[k - 1])


@kernel
def tabulate(measure: Measure, f: int) -> None:
    """Fill in the weighted differences of all values of a feature."""
    start, size, weight = measure.start[f], measure.start[f + 1] - measure.start[f], measure.weight[f]
    table, shares = measure.table[measure.square[f] :], (measure.bounds, measure.cls, measure.share)
    for a in range(size):
        for b in range(a):
            cost = weight * value_difference(measure.kind[f], *shares, start + a, start + b)
            table[a * size + b] = table[b * size + a] = cost
