"""Mini-bucket elimination: upper bounds for a weighted CSP, exact where the tables stay small.

    tables over some variables ─→ elimination order ─→ Buckets: an upper bound, and per variable tables that
                                                       say how much of it each value gives up

Variables are eliminated one by one: the tables that have the variable are added up and maximised over it,
which leaves a table over the others (its bucket). Where that would be too large, the tables are parted and
maximised each by itself, which can only raise the bound (Dechter and Rish 2003, "Mini-buckets"). Before, the
parts are made to agree as far as they can on the best weight of each value (Ihler et al. 2012).

The tables that are left guide a search in the opposite order (Kask and Dechter 2001, `kernels/branch.py`);
where nothing was parted the first way down is optimal.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Scope = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Table:
    """Weights of the values of some variables; the axes are in the order of the scope, which rises."""

    scope: Scope
    weights: Floats


@dataclass(frozen=True, eq=False)
class Buckets:
    """The variables in the order of search, with the tables that bound it."""

    bound: float
    order: list[int]  # [V], the variable at each place of the search
    tables: list[list[Table]]  # [V], over places; the last axis is the value there, and what it gives up ≤ 0

    @classmethod
    def of(
        cls, sizes: Sequence[int], tables: Iterable[Table], most_cells: float, until: float = math.inf
    ) -> Buckets | None:
        """Eliminate all variables; tables of more than `most_cells` are made only if they were given.

        None if the clock (`time.perf_counter`) passes `until` before all are.
        """
        given = list(tables)
        order = elimination_order(sizes, [table.scope for table in given])[::-1]
        place = {variable: p for p, variable in enumerate(order)}
        waiting: list[list[Table]] = [[] for _ in order]
        bound = 0.0
        for table in given:
            bound += _put(waiting, _renamed(table, place))
        kept: list[list[Table]] = [[] for _ in order]
        for p in range(len(order) - 1, -1, -1):
            if time.perf_counter() > until:
                return None
            parts = [_sum(group, p) for group in _groups(waiting[p], most_cells)] or [
                Table((p,), np.zeros(sizes[order[p]]))
            ]
            for part in _matched(parts):
                message = part.weights.max(axis=-1)
                bound += _put(waiting, Table(part.scope[:-1], message))
                kept[p].append(Table(part.scope, _difference(part.weights, message)))
            waiting[p] = []
        return cls(bound, order, kept)


def elimination_order(sizes: Sequence[int], scopes: Iterable[Scope]) -> list[int]:
    """Which variable to eliminate first, second, …: always one whose bucket is smallest.

    >>> elimination_order([2, 2, 2], [(0, 1), (1, 2)])
    [0, 1, 2]
    """
    near: list[set[int]] = [set() for _ in sizes]
    for scope in scopes:
        for v in scope:
            near[v].update(scope)
    for v, others in enumerate(near):
        others.discard(v)
    logs = [math.log(max(1, size)) for size in sizes]
    cost = {v: logs[v] + sum(logs[u] for u in near[v]) for v in range(len(sizes))}
    order = []
    while cost:
        v = min(cost, key=lambda u: (cost[u], u))
        del cost[v]
        order.append(v)
        for u in near[v]:
            near[u] |= near[v]
            near[u] -= {u, v}
        for u in near[v]:
            cost[u] = logs[u] + sum(logs[w] for w in near[u])
    return order


def _renamed(table: Table, place: dict[int, int]) -> Table:
    """The table with places instead of variables, the axes in rising order."""
    places = [place[v] for v in table.scope]
    axes = sorted(range(len(places)), key=places.__getitem__)
    return Table(tuple(places[a] for a in axes), np.transpose(table.weights, axes))


def _put(waiting: list[list[Table]], table: Table) -> float:
    """Into the bucket of its last variable; the weight of a table that has none."""
    if table.scope:
        waiting[table.scope[-1]].append(table)
        return 0.0
    return float(table.weights)


def _groups(tables: list[Table], most_cells: float) -> list[list[Table]]:
    """Tables to add up, the largest first; each group has at most `most_cells` cells, or is one table."""
    groups: list[list[Table]] = []
    lengths: list[dict[int, int]] = []
    for table in sorted(tables, key=lambda t: (-t.weights.size, t.scope)):
        mine = dict(zip(table.scope, table.weights.shape, strict=True))
        for group, theirs in zip(groups, lengths, strict=True):
            if mine.keys() <= theirs.keys() or math.prod((theirs | mine).values()) <= most_cells:
                group.append(table)
                theirs.update(mine)
                break
        else:
            groups.append([table])
            lengths.append(mine)
    return groups


def _sum(group: list[Table], last: int) -> Table:
    """The sum of tables over all their variables, `last` being the last axis."""
    lengths = {v: n for table in group for v, n in zip(table.scope, table.weights.shape, strict=True)}
    scope = tuple(sorted(lengths))
    total = np.zeros([lengths[v] for v in scope])
    for table in group:
        total += table.weights.reshape([lengths[v] if v in table.scope else 1 for v in scope])
    return Table(scope, total)


def _matched(parts: list[Table]) -> list[Table]:
    """Parts of a bucket with the same sum, whose best weights of each value of its variable agree."""
    if len(parts) == 1:
        return parts
    best = np.stack([part.weights.max(axis=tuple(range(part.weights.ndim - 1))) for part in parts])
    goal = np.where((best > -np.inf).all(axis=0), best.mean(axis=0), -np.inf)
    return [
        Table(part.scope, part.weights + np.where(mine > -np.inf, goal - np.maximum(mine, -1e300), 0.0))
        for part, mine in zip(parts, best, strict=True)
    ]


def _difference(weights: Floats, most: Floats) -> Floats:
    """weights − most along the last axis, −inf where the most is −inf."""
    return weights - np.where(most > -np.inf, most, 0.0)[..., None]
