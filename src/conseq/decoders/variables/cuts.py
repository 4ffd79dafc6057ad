"""The relaxation of a whole problem, with rows added where its point breaks them, and stronger ones.

    Model, rows brought in ─→ relaxation ─→ rows that its point breaks ─→ … ─→ integer program ─→ Found

Where every indicator x of a hard row Σ x ≤ N implies that some variable takes one of the values T (by hard
rows x ≤ Σ_T y), so does the sum: Σ x ≤ N · Σ_T y, which is much stronger if the variable is undecided (an
entity that is half a person has at most half of N relations that only persons have).

The multipliers of the last relaxation say for each value what no answer with it exceeds. The integer program
has only values that may surpass a goal just below its bound; if its answer does, that is the best of all.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np

from conseq.constraints.relational.sums import Sums
from conseq.decoders.base import Limits
from conseq.decoders.variables.model import Found, Model, join, rows_of
from conseq.decoders.variables.program import Program
from conseq.dtypes import Bools, Floats, Ints
from conseq.kernels import clock
from conseq.kernels.indicators import Rows
from conseq.kernels.rounding import rounding
from conseq.solver import Answer, Warm

ROUNDS = 60
CLOSE = 1e-9
"""What is this close to a score may be better, as a share."""
FIRST_SHARE, GROWTH = 1.5, 2.0
"""Values for each variable in the first integer program, and how much larger the next one is."""
BROKEN = 1e-6
"""How far a point of the relaxation has to be beyond a row for the row to be added."""


class Cuts:
    """A problem whose relaxation gets better and better.

    rows      those that are in the programs; what they lack of a model's rows its answers do not break
    bound     what no answer exceeds
    known     an answer (None: there is none), whose score is the floor
    reach     what no answer that has a certain value exceeds, [I]
    """

    def __init__(self, model: Model, active: Ints, limits: Limits, known: Ints | None) -> None:
        self.known = known
        self.floor = -np.inf if known is None else model.score(known)
        self.allowed = model.variables.gains > -np.inf
        self.reach = np.full(len(self.allowed), np.inf)
        self.model, self.limits = strengthened(model), limits
        self.until = clock.now() + limits.seconds
        self.rows = np.union1d(active, np.flatnonzero(~_is_hard(model.rows)))  # soft ones have own columns
        self.bound, self.nodes = np.inf, 0.0

    @property
    def left(self) -> float:
        """Seconds."""
        return max(0.0, self.until - clock.now())

    @property
    def is_settled(self) -> bool:
        """Whether no answer is better than the known one, or there is none."""
        floor = self.floor + rounding(self.floor, CLOSE) if self.known is not None else -np.inf
        return self.bound <= floor

    def solve(self) -> Found:
        """The best answer, or the best found within the limits."""
        values, share = self._relaxed(), FIRST_SHARE
        if values is None:
            self.rows = np.arange(len(self.model.rows.bound))
        whole = values is not None  # the relaxation had all values
        while self.left and not self.is_settled:
            if values is None:
                goal, allowed = self._hopeful(share)
                whole = goal <= self.floor
                found = self._program(allowed).solve(replace(self.limits, seconds=self.left))
                self.nodes += found.nodes
                self.bound, values = min(self.bound, max(found.bound, goal)), found.values
                if values is None and (whole or found.bound > -np.inf):
                    break
                if values is None:
                    share *= GROWTH
                    continue
            if len(self._take(values)):
                self._relaxed()
            else:
                self._offer(values)
                if whole:
                    break
                share *= GROWTH
            values = None
        return Found(self.known, self.bound, self.nodes)

    def _offer(self, values: Ints) -> None:
        """Keep an answer that breaks no row, if it is the best."""
        score = self.model.score(values)
        if score > self.floor:
            self.known, self.floor = values, score

    def _hopeful(self, share: float) -> tuple[float, Bools]:
        """A goal, and the values with which an answer may surpass it: some for each variable, or more."""
        reach = self.reach[self.allowed]
        most = share * self.model.n_variables
        goal = self.floor
        if most < len(reach):
            goal = max(goal, float(-np.partition(-reach, int(most))[int(most)]))
        return goal, self.allowed & (self.reach >= goal - rounding(goal, CLOSE) if goal > -np.inf else True)

    def _program(self, allowed: Bools) -> Program:
        return Program.of(self.model, np.arange(self.model.n_variables), self.rows, allowed)

    def _take(self, values: Ints) -> Ints:
        """Take in the rows that an answer breaks; those that are new."""
        point = np.zeros(len(self.model.variables.gains))
        point[values] = 1.0
        return self._take_at(point)

    def _take_at(self, point: Floats) -> Ints:
        """The same for a point of the relaxation."""
        self.model = self.model.grown(point)
        new = np.setdiff1d(_broken(self.model.rows, point), self.rows)
        self.rows = np.union1d(self.rows, new)
        return new

    def _bound(self, program: Program, answer: Answer) -> None:
        """What an answer with each value may reach."""
        if answer.reduced is not None:
            reach = answer.bound + np.minimum(0.0, answer.reduced[program.column])
            self.reach = np.minimum(self.reach, np.where(program.column >= 0, reach, np.inf))

    def _relaxed(self) -> Ints | None:
        """Solve the relaxation until it breaks no row; its point, if it is whole, as an answer."""
        while self.left:
            program = self._program(self.allowed)
            warm = Warm(program.assembly)
            for _ in range(ROUNDS):
                answer = warm.solve(self.left)
                self.bound = min(self.bound, answer.bound)
                if answer.values is None:
                    return None
                point = np.where(program.column >= 0, answer.values[program.column], 0.0)
                new = self._take_at(point)
                self._bound(program, answer)
                if not len(new):
                    chosen, is_whole = program.largest(answer.values)
                    return chosen if is_whole else None
                if not _is_hard(self.model.rows)[new].all():
                    break
                _add(warm, self.model.rows, new, program.column)
            else:
                return None
        return None


def _is_hard(rows: Rows) -> Bools:
    return np.isinf(rows.penalty[rows.group])


def _broken(rows: Rows, point: Floats) -> Ints:
    """The rows that a point is beyond."""
    row = np.repeat(np.arange(len(rows.bound)), np.diff(rows.first))
    totals = np.bincount(row, rows.weight * point[rows.indicator], minlength=len(rows.bound))
    counts = rows.penalty[rows.group] > 0
    return np.flatnonzero(counts & (totals > rows.bound + BROKEN * (1 + np.abs(rows.bound))))


def _add(warm: Warm, rows: Rows, new: Ints, column: Ints) -> None:
    counts = np.diff(rows.first)[new]
    entry = np.repeat(rows.first[new] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
    there = column[rows.indicator[entry]] >= 0
    row = np.repeat(np.arange(len(new)), counts)[there]
    first = np.append(0, np.cumsum(np.bincount(row, minlength=len(new))))
    warm.add_rows(rows.bound[new], first, column[rows.indicator[entry[there]]], rows.weight[entry[there]])


def strengthened(model: Model) -> Model:
    """The model with the sums that implications make stronger."""
    rows = model.rows
    implied = _implications(model)
    found = []
    for k in np.flatnonzero(_is_hard(rows) & (rows.bound >= 1)).tolist():
        here = slice(rows.first[k], rows.first[k + 1])
        members = rows.indicator[here]
        if len(members) < 2 or (rows.weight[here] != 1).any():
            continue
        for values in set.intersection(*(implied[i] for i in members.tolist())):
            indicator = np.append(members, values)
            weight = np.append(rows.weight[here], np.full(len(values), -rows.bound[k]))
            row = np.zeros(len(indicator), dtype=np.int64)
            found.append((int(rows.group[k]), Sums(row, indicator, weight, np.zeros(1))))
    if not found:
        return model
    return model.with_rows(join(rows, rows_of(found, rows.penalty, rows.together)))


def _implications(model: Model) -> dict[int, set[tuple[int, ...]]]:
    """For an indicator, values of one variable of which each answer that has it has one."""
    rows, owner = model.rows, model.variables.owner
    implied: dict[int, set[tuple[int, ...]]] = defaultdict(set)
    positive = np.bincount(
        np.repeat(np.arange(len(rows.bound)), np.diff(rows.first)),
        rows.weight == 1,
        minlength=len(rows.bound),
    )
    for k in np.flatnonzero(_is_hard(rows) & (rows.bound == 0) & (positive == 1)).tolist():
        here = slice(rows.first[k], rows.first[k + 1])
        indicator, weight = rows.indicator[here], rows.weight[here]
        values = indicator[weight == -1]
        if len(values) and len(values) == len(indicator) - 1 and len(set(owner[values].tolist())) == 1:
            implied[int(indicator[weight == 1][0])].add(tuple(values.tolist()))
    return implied
