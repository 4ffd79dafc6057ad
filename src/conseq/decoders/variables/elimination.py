"""Tables over variables: eliminated part by part where they stay small, searched where they do not.

Model ─→ sums as tables ─→ parts that no table connects ─→ Buckets ─→ branch and bound ─→ Found
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from conseq.decoders.base import NO_LIMITS, Limits
from conseq.decoders.variables.buckets import MOST_CELLS, Buckets, Table
from conseq.decoders.variables.model import Found, Model
from conseq.dtypes import Ints
from conseq.errors import ConseqError
from conseq.kernels import branch, clock

NODES_AT_ONCE = 20_000
"""Nodes of the search between two looks at the clock."""

Places = dict[int, int]
"""A number for each variable: which of its values, or how many it has."""


@dataclass(frozen=True)
class Elimination:
    """Mini-bucket elimination, and a search that it guides where tables would be too large."""

    name: ClassVar[str] = "elimination"

    def solve(self, model: Model, limits: Limits = NO_LIMITS, hint: Ints | None = None) -> Found:
        """The best values, or the best found within the limits."""
        return model.completed(lambda one: _eliminate(one, limits, hint), limits)


def _eliminate(model: Model, limits: Limits, hint: Ints | None) -> Found:
    begun = clock.now()
    tables = as_tables(model, MOST_CELLS)
    if tables is None:
        raise ConseqError(f"the table of a sum would have more than {MOST_CELLS:,} cells; use another solver")
    starts = model.variables.starts
    hinted: Places = {} if hint is None else dict(enumerate((hint - starts[:-1]).tolist()))
    found: Places = {}
    bound, nodes = math.fsum(float(table.weights) for table in tables if not table.scope), 0
    for sizes, part in _parts(dict(enumerate(model.sizes.tolist())), tables):
        if bound == -np.inf:
            break
        rest = replace(limits.after(clock.now() - begun), nodes=limits.nodes - nodes)
        best, most, more = _solve(sizes, part, hinted, rest)
        found.update(best)
        bound, nodes = bound + most, nodes + more
    if bound == -np.inf or len(found) < model.n_variables:
        return Found(None, bound, nodes)
    return Found(starts[:-1] + np.array([found[v] for v in range(len(found))], dtype=np.int64), bound, nodes)


def as_tables(model: Model, most_cells: float) -> list[Table] | None:
    """Gains, tables and sums, all as tables; None if one for a sum would have more cells than that."""
    variables, rows = model.variables, model.rows
    gains = np.split(variables.gains, variables.starts[1:-1]) if model.n_variables else []
    tables = [Table((v,), gain) for v, gain in enumerate(gains) if gain.any()]
    tables += model.tables
    group = np.where(rows.together[rows.group] == 1, rows.group, -1 - np.arange(len(rows.group)))
    for key in np.unique(group):
        members = np.flatnonzero(group == key)
        penalty = float(rows.penalty[rows.group[members[0]]])
        if penalty == 0:
            continue
        table = _sum_as_table(model, members.tolist(), penalty, most_cells)
        if table is None:
            return None
        tables.append(table)
    return tables


def _sum_as_table(model: Model, members: Sequence[int], penalty: float, most_cells: float) -> Table | None:
    """What the row that is violated most costs."""
    variables, rows = model.variables, model.rows
    entries = [np.arange(rows.first[k], rows.first[k + 1]) for k in members] if model.n_variables else []
    scope = sorted({int(variables.owner[rows.indicator[e]]) for here in entries for e in here})
    shape = [int(model.sizes[v]) for v in scope]
    if math.prod(shape) > most_cells:
        return None
    beyond = np.zeros(shape)
    for k, here in zip(members, entries or [np.zeros(0, dtype=np.int64)] * len(members), strict=True):
        total = np.full(shape, -float(rows.bound[k]))
        size = abs(float(rows.bound[k])) + float(np.abs(rows.weight[here]).sum())
        for e in here:
            v = int(variables.owner[rows.indicator[e]])
            own = np.arange(model.sizes[v]) == rows.indicator[e] - variables.starts[v]
            ends = [-1 if other == v else 1 for other in scope]
            total += rows.weight[e] * own.reshape(ends)
        beyond = np.maximum(beyond, np.where(total > 1e-9 * size, total, 0.0))
    with np.errstate(invalid="ignore"):
        cost = np.where(beyond > 0, penalty * beyond, 0.0)
    return Table(tuple(scope), -cost)


def _parts(sizes: Places, tables: list[Table]) -> Iterable[tuple[Places, list[Table]]]:
    """The variables with their sizes, and the tables, in parts that no table connects."""
    group = {v: [v] for v in sizes}
    for table in tables:
        for v in table.scope[1:]:
            one, other = group[table.scope[0]], group[v]
            if one is not other:
                one.extend(other)
                group.update(dict.fromkeys(other, one))
    parts: dict[int, tuple[Places, list[Table]]] = {}
    for v, members in group.items():
        parts.setdefault(id(members), ({}, []))[0][v] = sizes[v]
    for table in tables:
        if table.scope:
            parts[id(group[table.scope[0]])][1].append(table)
    return parts.values()


def _solve(sizes: Places, tables: list[Table], hint: Places, limits: Limits) -> tuple[Places, float, int]:
    """The best values of variables that tables connect (or none), an upper bound, and the nodes of the
    search."""
    until = clock.now() + limits.seconds
    buckets = Buckets.of(sizes, tables, limits)
    if buckets is None:  # there was no time or no room
        return {}, math.fsum(float(table.weights.max()) for table in tables), 0
    flat, frame = buckets.arrays()
    best, found = np.array([-np.inf]), np.full(len(sizes), -1, dtype=np.int64)
    if hint:
        best[0] = sum(float(table.weights[tuple(hint[v] for v in table.scope)]) for table in tables)
        found[:] = [hint[v] for v in buckets.order]
    done, at = False, frame[-1]
    while not done and at[branch.NODES] < limits.nodes and clock.now() < until:
        nodes = min(limits.nodes, at[branch.NODES] + NODES_AT_ONCE)
        done = branch.search(flat, frame, best, found, nodes)
    bound = max(float(best[0]), branch.open_bound(frame))
    places = dict(zip(buckets.order, found.tolist(), strict=True)) if best[0] > -np.inf else {}
    return places, bound, int(at[branch.NODES])
