"""Variables, tables and sums as an integer program, or its relaxation, for HiGHS.

Model, which variables and rows ─→ Program.of ─→ solve ─→ Found

maximise Σ gain · x − Σ penalty · s        x: a column per value, s: one per soft row, or group of rows
Σ over the values of a variable of x = 1;  Σ weight · x − s ≤ bound
a table has a column per cell; those of a value of a variable add up to its x
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from conseq.decoders.base import NO_LIMITS, Limits
from conseq.decoders.variables.model import Found, Model
from conseq.dtypes import Bools, Floats, Ints
from conseq.solver import ENTRY, Assembly, Outcome

WHOLE = 1e-6
"""How far a value of a relaxation may be off a whole number."""


@dataclass(frozen=True, eq=False)
class Program:
    """The program of some variables and rows of a model; `column` is −1 for indicators that have none."""

    model: Model
    members: Ints  # [n], the variables
    assembly: Assembly
    column: Ints  # [I]

    @classmethod
    def of(cls, model: Model, members: Ints, rows: Ints, allowed: Bools) -> Program:
        """Only the indicators that are allowed have a column; each variable has to have one."""
        variables, assembly = model.variables, Assembly()
        inside = np.zeros(model.n_variables, dtype=bool)
        inside[members] = True
        kept = np.flatnonzero(allowed & inside[variables.owner])
        column = np.full(len(allowed), -1)
        column[kept] = assembly.add_columns(variables.gains[kept], integral=True)
        place = np.cumsum(inside) - 1
        assembly.add_rows(
            np.ones(len(members)),
            1.0,
            place[variables.owner[kept]],
            column[kept],
            np.ones(len(kept)),
        )
        program = cls(model, members, assembly, column)
        if len(rows):
            program._add_sums(rows)
        for table in model.tables:
            program._add_table(table.scope, table.weights)
        return program

    def _add_sums(self, rows: Ints) -> None:
        given, column = self.model.rows, self.column
        counts = np.diff(given.first)[rows]
        row = np.repeat(np.arange(len(rows)), counts)
        entry = np.repeat(given.first[rows] - np.cumsum(counts) + counts, counts) + np.arange(len(row))
        there = column[given.indicator[entry]] >= 0
        row, entry = row[there], entry[there]
        most = np.bincount(row, np.maximum(0.0, given.weight[entry]), minlength=len(rows)) - given.bound[rows]
        kept = most > 0  # no answer breaks the others
        row, entry = (np.cumsum(kept) - 1)[row[kept[row]]], entry[kept[row]]
        rows, most = rows[kept], most[kept]
        group = given.group[rows]
        soft = np.flatnonzero(given.penalty[group] < np.inf)
        key = np.where(given.together[group] == 1, -1 - group, np.arange(len(rows)))[soft]
        slacks, place = np.unique(key, return_inverse=True)
        upper = np.zeros(len(slacks))
        np.maximum.at(upper, place, most[soft])
        penalty = np.zeros(len(slacks))
        penalty[place] = given.penalty[group[soft]]
        slack = self.assembly.add_columns(-penalty, upper)
        self.assembly.add_rows(
            np.full(len(rows), -np.inf),
            given.bound[rows],
            np.concatenate([row, soft]),
            np.concatenate([column[given.indicator[entry]], slack[place]]),
            np.concatenate([given.weight[entry], np.full(len(soft), -1.0)]),
        )

    def _add_table(self, scope: tuple[int, ...], weights: Floats) -> None:
        """A column per cell that is allowed; those of a value add up to the value's column."""
        starts = self.model.variables.starts
        columns = [self.column[starts[v] : starts[v + 1]] for v in scope]
        cells = np.argwhere(weights > -np.inf)
        for axis, own in enumerate(columns):
            cells = cells[own[cells[:, axis]] >= 0]
        cell = self.assembly.add_columns(weights[tuple(cells.T)])
        for axis, own in enumerate(columns):
            there = np.flatnonzero(own >= 0)
            self.assembly.add_rows(
                np.zeros(len(there)),
                0.0,
                np.concatenate([np.searchsorted(there, cells[:, axis]), np.arange(len(there))]),
                np.concatenate([cell, own[there]]),
                np.concatenate([np.ones(len(cell)), np.full(len(there), -1.0)]),
            )

    def solve(self, limits: Limits = NO_LIMITS, relax: bool = False) -> Found:
        """The values of the members, the others −1; no values if none were found."""
        having = np.bincount(self.model.variables.owner[self.column >= 0], minlength=self.model.n_variables)
        if not having[self.members].all():
            return Found(None, -np.inf)
        answer = self.assembly.solve(limits.seconds, relax, limits.nodes, limits.room(ENTRY))
        if answer.outcome is Outcome.INFEASIBLE:
            return Found(None, -np.inf, answer.nodes)
        if answer.values is None:
            return Found(None, answer.bound, answer.nodes)
        values, is_whole = self.largest(answer.values)
        return Found(values, answer.bound, answer.nodes, is_whole)

    def largest(self, given: Floats) -> tuple[Ints, bool]:
        """The indicator of each member whose column is largest; whether all columns are whole."""
        starts = self.model.variables.starts
        x = np.where(self.column >= 0, given[self.column], -1.0)
        values = np.full(self.model.n_variables, -1)
        for v in self.members.tolist():
            values[v] = starts[v] + np.argmax(x[starts[v] : starts[v + 1]])
        there = x[self.column >= 0]
        return values, bool(np.abs(there - np.round(there)).max(initial=0.0) <= WHOLE)


@dataclass(frozen=True)
class Integer:
    """HiGHS, with all rows from the start."""

    name: ClassVar[str] = "ilp"

    def solve(self, model: Model, limits: Limits = NO_LIMITS, hint: Ints | None = None) -> Found:
        """The best values, or the best found within the limits."""
        return model.completed(lambda one: whole(one).solve(limits), limits)


@dataclass(frozen=True)
class Relaxation:
    """The relaxation, in which a variable may take several values in parts; each then takes its largest."""

    name: ClassVar[str] = "lp"

    def solve(self, model: Model, limits: Limits = NO_LIMITS, hint: Ints | None = None) -> Found:
        """The rounded values; the bound is the relaxation's."""
        found = model.completed(lambda one: whole(one).solve(limits, relax=True), limits)
        legal = None if found.values is None else model.score(found.values) > -np.inf
        return found._replace(legal=legal)


def whole(model: Model) -> Program:
    """The program of all variables and rows."""
    members, rows = np.arange(model.n_variables), np.arange(len(model.rows.bound))
    return Program.of(model, members, rows, model.variables.gains > -np.inf)
