"""A problem of variables in arrays: scored values, tables over some variables, sums that should keep a bound.

    score(values) = Σ gain of each value chosen + Σ weight in each table − Σ penalty · violation of each group

Every solver of this folder takes a `Model` and gives back `Found`. Axes as in `kernels/indicators.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from conseq.constraints.relational.sums import Sums
from conseq.decoders.base import NO_LIMITS, Limits
from conseq.decoders.variables.buckets import Table
from conseq.dtypes import Floats, Ints
from conseq.kernels import clock, indicators
from conseq.kernels.indicators import Rows, Variables

More = Callable[[Floats], list[tuple[int, Sums]]]
"""Rows that a point, [I] indicators from 0 to 1, violates beyond those listed, with their groups."""

Key = tuple[int, bytes, bytes, float]
"""What tells rows apart: group, indicators, weights, bound."""


@dataclass(frozen=True, eq=False)
class Model:
    """A problem as solvers see it.

    tables    over numbers of variables
    more      rows that are too many to list at once, asked for when they are needed; none that is listed
    later     those of them that were asked for
    """

    variables: Variables
    rows: Rows
    tables: tuple[Table, ...] = ()
    more: More | None = None
    later: frozenset[Key] = frozenset()

    @property
    def n_variables(self) -> int:
        return len(self.variables.starts) - 1

    @cached_property
    def sizes(self) -> Ints:
        """Values of each variable, [V]."""
        return np.diff(self.variables.starts)

    def violations(self, values: Ints) -> Floats:
        """How much each group is violated, [G]."""
        amounts = np.zeros(len(self.rows.penalty))
        if not self.n_variables:
            for g, bound in zip(self.rows.group.tolist(), self.rows.bound.tolist(), strict=True):
                more = max(0.0, -bound)
                amounts[g] = max(amounts[g], more) if self.rows.together[g] else amounts[g] + more
            return amounts
        indicators.violations(self.variables, self.rows, values, amounts)
        return amounts

    def score(self, values: Ints) -> float:
        """What an answer is worth, given as the indicator of each variable, [V]."""
        amounts = self.violations(values)
        broken = amounts > 0
        cost = float(self.rows.penalty[broken] @ amounts[broken])
        places = values - self.variables.starts[:-1]
        tables = sum(float(table.weights[tuple(places[list(table.scope)])]) for table in self.tables)
        return float(self.variables.gains[values].sum()) + tables - cost

    def with_rows(self, rows: Rows) -> Model:
        return replace(self, rows=rows)

    def grown(self, point: Floats) -> Model:
        """The model with the rows that a point breaks, [I] from 0 to 1, beyond those that are listed."""
        given = [] if self.more is None else self.more(point)
        known = set(self.later)
        found = [(g, new) for g, sums in given if len((new := _without(sums, known, g)).bound)]
        if not found:
            return self
        rows = join(self.rows, rows_of(found, self.rows.penalty, self.rows.together))
        return replace(self, rows=rows, later=frozenset(known))

    def grown_by(self, values: Ints) -> Model:
        """The same for an answer, [V]."""
        if self.more is None:
            return self
        point = np.zeros(len(self.variables.gains))
        point[values] = 1.0
        return self.grown(point)

    def completed(self, solve: Callable[[Model], Found], limits: Limits = NO_LIMITS) -> Found:
        """Solve again and again until no row is violated that was not listed."""
        until, model, nodes = clock.now() + limits.seconds, self, 0.0
        while True:
            found = solve(model)
            nodes += found.nodes
            larger = model if found.values is None else model.grown_by(found.values)
            if larger is model or clock.now() > until:
                return found._replace(nodes=nodes)
            model = larger

    def without_tables(self) -> Model:
        """The same with a variable for each table, whose values are its cells, and hard rows that tie them
        to the table's variables. The first variables are those of this model."""
        if not self.tables:
            return self
        starts = self.variables.starts
        gains, sizes, sums = [self.variables.gains], [*self.sizes.tolist()], []
        at = len(self.variables.gains)
        for table in self.tables:
            cells = np.argwhere(table.weights > -np.inf)
            if not len(cells):  # it forbids everything; one value says so
                cells = np.zeros((1, len(table.scope)), dtype=np.int64)
            gains.append(table.weights[tuple(cells.T)])
            sizes.append(len(cells))
            for axis, v in enumerate(table.scope):
                size = int(self.sizes[v])
                row = np.concatenate([cells[:, axis], np.arange(size)])
                place = np.concatenate([at + np.arange(len(cells)), starts[v] + np.arange(size)])
                weight = np.concatenate([np.ones(len(cells)), np.full(size, -1.0)])
                sums.append((len(self.rows.penalty), Sums(row, place, weight, np.zeros(size))))
            at += len(cells)
        penalty = np.append(self.rows.penalty, np.inf)
        together = np.append(self.rows.together, 0)
        rows = self.rows._replace(penalty=penalty, together=together)
        variables = variables_of(np.concatenate(gains), sizes)
        return Model(variables, join(rows, rows_of(sums, penalty, together)))


class Found(NamedTuple):
    """What a solver knows: the best answer met ([V] indicators, None: none), and an upper bound.

    nodes       of searches and integer programs
    integral    of a relaxation: whether its values are whole; `legal` whether they break no hard row once
                each variable takes its largest
    """

    values: Ints | None
    bound: float
    nodes: float = 0.0
    integral: bool | None = None
    legal: bool | None = None


def variables_of(gains: Sequence[Floats] | Floats, sizes: Sequence[int] | Ints) -> Variables:
    """Variables of these sizes whose gains stand end to end."""
    lengths = np.asarray(sizes, dtype=np.int64)
    starts = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=starts[1:])
    owner = np.repeat(np.arange(len(lengths)), lengths)
    return Variables(starts, owner, np.ascontiguousarray(gains, dtype=np.float64))


def rows_of(groups: Iterable[tuple[int, Sums]], penalty: Floats, together: Ints) -> Rows:
    """The rows of some sums, each with the number of its group; entries at the same place are added up."""
    rows, places, weights, bounds, owners = [], [], [], [], []
    n = 0
    for g, sums in groups:
        size = len(sums.bound)
        rows += [sums.row + n, np.arange(n, n + size)]
        places += [sums.indicator, np.zeros(size, dtype=np.int64)]  # so that each row has an entry
        weights += [sums.weight, np.zeros(size)]
        bounds.append(sums.bound)
        owners.append(np.full(size, g))
        n += size
    empty = np.zeros(0, dtype=np.int64)
    row, indicator = np.concatenate([empty, *rows]), np.concatenate([empty, *places])
    weight = np.concatenate([np.zeros(0), *weights])
    row, indicator, weight = _tidy(row, indicator, weight, n)
    first = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(row, minlength=n), out=first[1:])
    bound, group = np.concatenate([np.zeros(0), *bounds]), np.concatenate([empty, *owners])
    return Rows(first, indicator, weight, bound, group, penalty, together)


def _tidy(row: Ints, indicator: Ints, weight: Floats, n: int) -> tuple[Ints, Ints, Floats]:
    """Entries in order, those at the same place added up, and no zeros but one in an empty row."""
    if not len(row):
        return row, indicator, weight
    span = int(indicator.max()) + 1
    keys, place = np.unique(row * span + indicator, return_inverse=True)
    total = np.bincount(place, weight, minlength=len(keys))
    row, indicator = np.divmod(keys, span)
    filled = np.bincount(row, total != 0, minlength=n) > 0
    kept = (total != 0) | ~filled[row]
    return row[kept], indicator[kept], total[kept]


def join(one: Rows, other: Rows) -> Rows:
    """The rows of both, which have the same groups."""
    return Rows(
        np.concatenate([one.first, other.first[1:] + one.first[-1]]),
        np.concatenate([one.indicator, other.indicator]),
        np.concatenate([one.weight, other.weight]),
        np.concatenate([one.bound, other.bound]),
        np.concatenate([one.group, other.group]),
        one.penalty,
        one.together,
    )


def _without(sums: Sums, known: set[Key], group: int) -> Sums:
    """The rows that are not known yet, each once; they are known from now on."""
    first = np.searchsorted(sums.row, np.arange(len(sums.bound) + 1))
    new = []
    for k, bound in enumerate(sums.bound.tolist()):
        here = slice(first[k], first[k + 1])
        key = group, sums.indicator[here].tobytes(), sums.weight[here].tobytes(), bound
        if key not in known:
            known.add(key)
            new.append(k)
    if len(new) == len(sums.bound):
        return sums
    inside = np.isin(sums.row, new)
    return sums._replace(
        row=np.searchsorted(new, sums.row[inside]).astype(np.int64),
        indicator=sums.indicator[inside],
        weight=sums.weight[inside],
        bound=sums.bound[new],
    )
