"""The dual function of a problem on its lattice: an upper bound for every choice of multipliers, and its
slope.

    D(λ, u) = max_y (score(y) − Σ_p λ_p · sum_p(y) + Σ_p u_p · y) + Σ_p λ_p · limit_p
              + Σ_p max_z (−cost_p(z) − u_p · z)

where 0 ≤ λ_p ≤ penalty_p belongs to sums (Soft-DD), and u_p[t, group of labels], of any sign, to automata.
An automaton is a sub-problem of its own: the best path through a small lattice over groups of labels that it
cannot tell apart. A primitive that is not brought in counts as never violated, so D is an upper bound
whatever is brought in. All multipliers stand in one vector, in the order in which they came.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from conseq.constraints.primitives import Automaton, Linear
from conseq.decoders.lattice.lattice import Lattice
from conseq.decoders.lattice.reader import Reader, label_groups, over_groups
from conseq.problem import Problem

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NUDGE = 1e-12
"""Of equally good paths a sub-problem takes one that agrees with the labelling, which is worth this times
(1 + the largest score) at each token."""


class DualFunction:
    """The dual function, with the primitives that were brought in so far."""

    def __init__(self, problem: Problem, lattice: Lattice) -> None:
        self.problem = problem
        self.lattice = lattice
        self.members: set[int] = set()
        self.lower: Floats = np.empty(0)
        self.upper: Floats = np.empty(0)
        self._sums: list[tuple[int, int, Ints, float]] = []  # primitive, place, amounts[E], limit
        self._subproblems: list[tuple[Subproblem, slice]] = []

    def __len__(self) -> int:
        return len(self.lower)

    def add(self, p: int, most_states: float = np.inf) -> None:
        """Bring in a primitive; its multipliers are 0 at first. TooManyStates if its sub-problem is too
        large."""
        charge, n = self.problem.charges[p], len(self)
        if isinstance(charge.primitive, Linear):
            amounts = self.lattice.amounts(self.problem, charge.primitive)
            self._sums.append((p, n, amounts, charge.primitive.limit(self.problem.n_tokens)))
            self._extend(1, 0.0, charge.penalty)
        else:
            subproblem = Subproblem.of(self.problem, p, self.lattice, most_states)
            size = self.problem.n_tokens * subproblem.n_groups
            self._subproblems.append((subproblem, slice(n, n + size)))
            self._extend(size, -np.inf, np.inf)
        self.members.add(p)

    def _extend(self, size: int, lower: float, upper: float) -> None:
        self.lower = np.append(self.lower, np.full(size, lower))
        self.upper = np.append(self.upper, np.full(size, upper))

    def value(self, point: Floats) -> tuple[float, Floats, NDArray[np.int32] | None]:
        """D and the slope of −D at a point, and the labelling of the lattice's best path there."""
        gains = self.lattice.graph.gains
        for _, place, amounts, _ in self._sums:
            gains = gains - point[place] * amounts
        for subproblem, part in self._subproblems:
            gains = gains + subproblem.rewards(self.lattice, point[part])
        shifted = self.lattice.with_gains(gains)
        bound, slope = shifted.best_score, np.zeros(len(self))
        if bound == -np.inf:
            return bound, slope, None
        (path,), _ = shifted.best_paths(1)
        states = self.lattice.states_of(path)
        edges = path[path >= 0]
        for _, place, amounts, limit in self._sums:
            bound += float(point[place]) * limit
            slope[place] = amounts[edges].sum() - limit
        for subproblem, part in self._subproblems:
            bound += subproblem.solve(point[part], states, slope[part])
        return bound, slope, states

    def sums_at(self, point: Floats) -> dict[int, float]:
        """The multipliers of the sums that have one at a point."""
        return {p: float(point[place]) for p, place, _, _ in self._sums if point[place] > 0}


@dataclass(frozen=True, eq=False)
class Subproblem:
    """One automaton: the best groups of labels that it can read."""

    lattice: Lattice  # over groups, its gains are what the automaton charges
    group_of: Ints  # [S], the group of each state

    @classmethod
    def of(cls, problem: Problem, p: int, lattice: Lattice, most_states: float) -> Subproblem:
        charge = problem.charges[p]
        assert isinstance(charge.primitive, Automaton)
        groups = label_groups(charge.primitive)
        plain, _, _ = over_groups(lattice, groups)
        read = Reader.of(plain, problem, charge).product(most_states=most_states)
        return cls(read, groups[problem.label_of])

    @property
    def n_groups(self) -> int:
        return self.lattice.n_states

    def rewards(self, lattice: Lattice, point: Floats) -> Floats:
        """What each edge of a lattice over states gains by the multipliers u[T·G], [E]."""
        steps = lattice.steps
        inner = steps.state >= 0
        places = steps.token * self.n_groups + self.group_of[steps.state]
        return lattice.per_edge(np.append(point, 0.0)[np.where(inner, places, len(point))])

    def solve(self, point: Floats, states: NDArray[np.int32], slope: Floats) -> float:
        """The value of the sub-problem; −D slopes down in the labelling's groups, up in those it has."""
        graph, steps = self.lattice.graph, self.lattice.steps
        wanted = np.arange(len(states)) * self.n_groups + self.group_of[states]
        nudge = np.zeros(len(point) + 1)
        nudge[wanted] = NUDGE * (1 + np.abs(point).max(initial=0.0))
        places = np.where(steps.state >= 0, steps.token * self.n_groups + steps.state, len(point))
        shifted = self.lattice.with_gains(graph.gains - (np.append(point, 0.0) - nudge)[places])
        if shifted.best_score == -np.inf:
            return -np.inf
        (path,), _ = shifted.best_paths(1)
        found = np.arange(len(states)) * self.n_groups + self.lattice.states_of(path)
        slope[wanted] -= 1
        slope[found] += 1
        return shifted.best_score
