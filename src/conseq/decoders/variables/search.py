"""The exact solver: rows are brought in when they are violated, and only what they connect is searched.

    Model ─→ kernels/settling.py: every part by branch and bound ─→ values that violate nothing else
             a part needs more work than that ─→ HiGHS, with the rows brought in so far (`cuts.py`)

Tables are eliminated (`elimination.py`) if sums can be tables, too; otherwise they become variables.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from conseq.decoders.base import GRACE, NO_LIMITS, Limits
from conseq.decoders.variables.beam import VariableBeam
from conseq.decoders.variables.cuts import Cuts
from conseq.decoders.variables.elimination import Elimination, as_tables
from conseq.decoders.variables.model import Found, Model
from conseq.dtypes import Ints
from conseq.kernels import clock, indicators, settling

WORK = 3_000_000
"""Entries of rows that a search of a part looks at before it goes to HiGHS: some milliseconds."""
SHORT = 300_000
"""The same for an answer that need not be the best."""
MOST = 0.85
"""Of the time that is left, what HiGHS may take; the rest is for any answer if it has none."""
WORK_PER_SECOND = 1e8
SMALL = 1_000
"""Cells of a table that a sum may become beside tables that are there."""


@dataclass(frozen=True)
class Search:
    """Branch and bound part by part, HiGHS where that takes long."""

    name: ClassVar[str] = "auto"

    most_work: float = WORK

    def solve(self, model: Model, limits: Limits = NO_LIMITS, hint: Ints | None = None) -> Found:
        """The best values, or the best found within the limits."""
        if model.tables:
            if model.more is None and as_tables(model, min(SMALL, limits.states)) is not None:
                return Elimination().solve(model, limits, hint)
            found = self.solve(model.without_tables(), limits)
            kept = None if found.values is None else found.values[: model.n_variables]
            return found._replace(values=kept)
        return _Run(model, limits, self.most_work, hint).solve()


class _Run:
    """One call: what is chosen, what is brought in, and what the parts lose against their best values."""

    def __init__(self, model: Model, limits: Limits, most_work: float, hint: Ints | None) -> None:
        self.model, self.limits = model, limits
        self.until = clock.now() + limits.seconds
        self.most_work = min(most_work, limits.seconds * WORK_PER_SECOND)
        n = model.n_variables
        self.state = np.zeros(len(model.rows.bound), dtype=np.int64)
        self.values, self.parent = np.zeros(n, dtype=np.int64), np.zeros(n + 1, dtype=np.int64)
        self.loss, self.result = np.zeros(n), np.zeros(4)
        self.total = indicators.choose(model.variables, self.values)
        self.nodes = 0.0
        self.known = hint if hint is not None and model.score(hint) > -np.inf else None

    def solve(self) -> Found:
        if self.total == -np.inf:
            return Found(None, -np.inf)
        while True:
            status = self._settle()
            if status == settling.NONE:
                return self._found(None, -np.inf)
            if status == settling.STUCK:
                return self._hand_over()
            if not self._grow():
                return self._found(self.values, self.bound)
            if clock.now() > self.until:
                return self._stopped(self.bound)

    @property
    def bound(self) -> float:
        """What no answer exceeds."""
        return self.total - float(self.loss.sum())

    def _found(self, values: Ints | None, bound: float) -> Found:
        return Found(values, bound, self.nodes + float(self.result[settling.NODES]))

    def _settle(self) -> int:
        model = self.model
        return settling.settle(
            model.variables,
            model.rows,
            self.state,
            self.values,
            self.loss,
            self.parent,
            self.result,
            self.most_work,
        )

    def _hand_over(self) -> Found:
        """Let HiGHS solve the problem, with what was found out."""
        left = MOST * max(0.0, self.until - clock.now())
        if left == 0 or not self.limits.nodes:
            return self._stopped(self.bound)
        limits = replace(self.limits, seconds=left)
        found = Cuts(self.model, np.flatnonzero(self.state), limits, self.known).solve()
        self.nodes += found.nodes
        bound = min(self.bound, found.bound)
        if found.values is None and bound > -np.inf:
            return self._stopped(bound)
        return self._found(found.values, bound)

    def _feasible(self) -> Ints | None:
        """An answer made of the best that short searches find for each part; None if one finds nothing."""
        self.most_work = SHORT
        self.state[self.state == 2] = 0
        while clock.now() < self.until:
            status = self._settle()
            if status == settling.STUCK and self.result[settling.SCORE] > -np.inf:
                rows = self.model.rows
                part = self.parent[self.model.variables.owner[rows.indicator[rows.first[:-1]]]]
                self.state[(part == self.parent[-1]) & (self.state > 0)] = 1
            elif status != settling.SETTLED:
                return None
            elif not self._grow():
                return self.values if self.model.score(self.values) > -np.inf else None
        return None

    def _grow(self) -> bool:
        """Take in the rows that the values break and that were not listed; whether there are any."""
        larger = self.model.grown_by(self.values)
        if larger is self.model:
            return False
        added = len(larger.rows.bound) - len(self.state)
        self.state = np.append(self.state, np.zeros(added, dtype=np.int64))
        self.model = larger
        return True

    def _stopped(self, bound: float) -> Found:
        """What is known when time is up: any answer, if one is found in what is left of it."""
        values = self.known
        if values is None and self.model.score(self.values) > -np.inf:
            values = self.values
        if values is None:
            values = self._feasible()
        if values is None:
            values = VariableBeam().solve(self.model, replace(self.limits, seconds=GRACE)).values
        return self._found(values, bound)
