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
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from conseq.decoders.base import NO_LIMITS, Limits
from conseq.dtypes import Floats, Ints
from conseq.kernels import clock

CELL = 20
"""Bytes for a cell of a table and its copies."""
MOST_CELLS = 100_000
"""Cells of a table that elimination makes, unless the limit of states is lower. More cells, better bounds."""


@dataclass(frozen=True, eq=False)
class Table:
    """Weights of the values of some variables, an axis for each."""

    scope: tuple[Any, ...]
    weights: Floats


@dataclass(frozen=True, eq=False)
class Buckets:
    """The variables in the order of search, with the tables that bound it."""

    bound: float
    order: list[Any]  # [V], the variable at each place of the search
    tables: list[list[Table]]  # [V], over places; the last axis is the value there, and what it gives up ≤ 0

    @classmethod
    def of(
        cls, sizes: Mapping[Any, int], tables: Sequence[Table], limits: Limits = NO_LIMITS
    ) -> Buckets | None:
        """Eliminate all variables; None if the limits of seconds or of memory do not suffice.

        Tables of more than `limits.states` cells are made only if they were given.
        """
        until, room = clock.now() + limits.seconds, limits.room(CELL, 0.75)
        order = elimination_order(sizes, [table.scope for table in tables], until)[::-1]
        place = {variable: p for p, variable in enumerate(order)}
        waiting: dict[int, list[Table]] = defaultdict(list)  # by the last place of their scope, −1 for none
        for table in tables:
            places = [place[v] for v in table.scope]
            moved = table.weights.transpose(sorted(range(len(places)), key=places.__getitem__))
            waiting[max(places, default=-1)].append(Table(tuple(sorted(places)), moved))
        kept: list[list[Table]] = [[] for _ in order]
        for p in range(len(order) - 1, -1, -1):
            if clock.now() > until or room < 0:
                return None
            alone = Table((p,), np.zeros(sizes[order[p]]))
            for part in _matched(_sums(waiting.pop(p, [alone]), min(limits.states, MOST_CELLS))):
                message = part.weights.max(axis=-1)
                waiting[max(part.scope[:-1], default=-1)].append(Table(part.scope[:-1], message))
                most = np.where(message > -np.inf, message, 0.0)  # −inf − (−inf) would be no number
                kept[p].append(Table(part.scope, part.weights - most[..., None]))
                room -= part.weights.size
        return cls(sum(float(table.weights) for table in waiting[-1]), order, kept)

    def arrays(self) -> tuple[tuple[Ints | Floats, ...], tuple[Ints | Floats, ...]]:
        """The tables and the frame of `kernels/branch.py`."""
        tables = [table for bucket in self.tables for table in bucket]
        sizes = [bucket[0].weights.shape[-1] for bucket in self.tables]
        scores = np.full((len(sizes), max(sizes)), -np.inf)
        scores[0, : sizes[0]] = self.bound + sum(table.weights for table in self.tables[0])
        flat = (
            np.array(sizes, dtype=np.int64),
            _starts(len(bucket) for bucket in self.tables),
            _starts(table.weights.size for table in tables),
            _starts(len(table.scope) - 1 for table in tables),
            np.array([p for table in tables for p in table.scope[:-1]], dtype=np.int64),
            np.concatenate([table.weights.reshape(-1) for table in tables]),
        )
        return flat, (np.zeros(len(sizes), dtype=np.int64), scores, np.zeros(2, dtype=np.int64))


def elimination_order(
    sizes: Mapping[Any, int], scopes: Iterable[Iterable[Any]], until: float = math.inf
) -> list[Any]:
    """Which variable to eliminate first, second, …: always one whose bucket is smallest, until time is up.

    >>> elimination_order({"x": 2, "y": 2, "z": 2}, [("x", "y"), ("y", "z")])
    ['x', 'y', 'z']
    """
    near = {v: {v} for v in sizes}
    for scope in scopes:
        for v in scope:
            near[v].update(scope)
    logs = {v: math.log(size) for v, size in sizes.items()}
    cost = {v: math.fsum(logs[u] for u in others) for v, others in near.items()}
    order: list[Any] = []
    while cost:
        if clock.now() > until:
            return [*order, *cost]
        v = min(cost, key=cost.__getitem__)
        del cost[v]
        order.append(v)
        others = near.pop(v) - {v}
        for u in others:
            near[u] |= others
            near[u].discard(v)
        for u in others:
            cost[u] = math.fsum(logs[w] for w in near[u])
    return order


def _sums(tables: list[Table], most_cells: float) -> list[Table]:
    """The tables added up, the largest first; a sum has at most `most_cells` cells, or those of a table."""
    groups: list[tuple[dict[int, int], list[Table]]] = []
    for table in sorted(tables, key=lambda t: (-t.weights.size, t.scope)):
        own = dict(zip(table.scope, table.weights.shape, strict=True))
        for lengths, group in groups:
            if own.keys() <= lengths.keys() or math.prod((lengths | own).values()) <= most_cells:
                lengths.update(own)
                group.append(table)
                break
        else:
            groups.append((own, [table]))
    sums = []
    for lengths, group in groups:
        scope = sorted(lengths)
        total = np.zeros([lengths[v] for v in scope])
        for table in group:
            total += table.weights.reshape([lengths[v] if v in table.scope else 1 for v in scope])
        sums.append(Table(tuple(scope), total))
    return sums


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


def _starts(lengths: Iterable[int]) -> Ints:
    return np.append(0, np.cumsum(list(lengths))).astype(np.int64)
