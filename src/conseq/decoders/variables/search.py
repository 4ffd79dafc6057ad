"""The exact solver: rows are brought in when they are violated, and only what they connect is searched.

    Model ─→ kernels/settling.py: every part by branch and bound ─→ values that violate nothing else
             a part that needs more work than that ─→ HiGHS, with the rows brought in so far ─→ go on

Tables are eliminated (`elimination.py`) if sums can be tables, too; otherwise they become variables.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from conseq.decoders.base import NO_LIMITS, Limits
from conseq.decoders.variables.elimination import Elimination, as_tables
from conseq.decoders.variables.model import Found, Model
from conseq.decoders.variables.program import Program
from conseq.dtypes import Ints
from conseq.kernels import indicators, settling

WORK = 3_000_000
"""Entries of rows that a search of a part looks at before it goes to HiGHS: some milliseconds."""
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
        if model.tables or not model.n_variables:
            if model.more is None and as_tables(model, min(SMALL, limits.states)) is not None:
                return Elimination().solve(model, limits, hint)
            found = self.solve(model.without_tables(), limits)
            kept = None if found.values is None else found.values[: model.n_variables]
            return found._replace(values=kept)
        return _Run(model, limits, self.most_work).solve()


class _Run:
    """One call: what is chosen, what is brought in, and what the parts lose against their best values."""

    def __init__(self, model: Model, limits: Limits, most_work: float) -> None:
        self.model, self.limits = model, limits
        self.until = time.perf_counter() + limits.seconds
        self.most_work = min(most_work, limits.seconds * WORK_PER_SECOND)
        n = model.n_variables
        self.state = np.zeros(len(model.rows.bound), dtype=np.int64)
        self.values, self.parent = np.zeros(n, dtype=np.int64), np.zeros(n + 1, dtype=np.int64)
        self.loss, self.result = np.zeros(n), np.zeros(4)
        self.total = indicators.choose(model.variables, self.values)
        self.nodes = 0.0

    def solve(self) -> Found:
        if self.total == -np.inf:
            return Found(None, -np.inf)
        while True:
            status = self._settle()
            if status == settling.NONE:
                return self._found(None, -np.inf)
            if status == settling.SETTLED:
                if (rows := self.model.missing(self.values)) is None:
                    break
                self.state = np.append(self.state, np.zeros(len(rows.bound) - len(self.state), np.int64))
                self.model = replace(self.model, rows=rows)
            elif not self._hand_over():
                break
            if time.perf_counter() > self.until:
                break
        bound = self.total - float(self.loss.sum())
        return self._found(self.values if bound > -np.inf else None, bound)

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

    def _hand_over(self) -> bool:
        """Let HiGHS solve the part that is stuck; whether the values are its answer."""
        left = self.until - time.perf_counter()
        if left <= 0 or not self.limits.nodes:
            return False
        variables, rows = self.model.variables, self.model.rows
        root = self.parent[-1]
        members = np.flatnonzero(self.parent[:-1] == root)
        active = self.state > 0
        active &= self.parent[variables.owner[rows.indicator[rows.first[:-1]]]] == root
        allowed = variables.gains > -np.inf
        program = Program.of(self.model, members, np.flatnonzero(active), allowed)
        found = program.solve(replace(self.limits, seconds=left))
        self.nodes += found.nodes
        free = float(np.maximum.reduceat(variables.gains, variables.starts[:-1])[members].sum())
        known = float(self.loss[members].sum())
        self.loss[members] = 0.0
        self.loss[root] = max(known, free - found.bound)
        self.state[active] = 1
        if found.values is not None:
            self.values[members] = found.values[members]
        return found.values is not None or found.bound == -np.inf
