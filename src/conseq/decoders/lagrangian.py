"""The dual function of a problem: an upper bound for every choice of multipliers, and how it slopes.

    D(λ, u) = max_y (score(y) − Σ λ_p · sum_p(y) + Σ u_p · y) + Σ λ_p · limit_p
              + Σ_p max_z (−penalty_p · violation_p(z) − u_p · z)

where 0 ≤ λ_p ≤ penalty_p belongs to sums charged by degree (Soft-DD), and u_p[t, group of labels], of any
sign, to automata and to sums charged once. A primitive that is not brought in counts as never violated, so D
is an upper bound whatever is brought in. All multipliers stand in one vector, in the order in which they
came.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from conseq.constraints.primitives import Linear
from conseq.decoders.base import NO_LIMITS
from conseq.decoders.beam import Guide
from conseq.decoders.subproblems import Chain, Floats, Ints, Reading, Sum, fits
from conseq.problem import Problem


class Lagrangian:
    """The dual function, with the primitives that were brought in so far."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.chain = Chain(problem)
        self.lower: Floats = np.empty(0)
        self.upper: Floats = np.empty(0)
        self._slices: list[tuple[Reading, slice]] = []
        self._places: list[int] = []
        self.members: set[int] = set()

    def __len__(self) -> int:
        return len(self.lower)

    def add(self, p: int) -> None:
        """Bring in a primitive; its multipliers are 0 at first."""
        self.members.add(p)
        if is_degree(self.problem, p):
            self.chain.add(Sum(self.problem, p))
            self._places.append(len(self))
            self._extend(1, 0.0, self.problem.charges[p].penalty)
            return
        reading = Reading(self.problem, p, self.chain)
        size = self.problem.n_tokens * reading.n_groups
        self._slices.append((reading, slice(len(self), len(self) + size)))
        self._extend(size, -np.inf, np.inf)

    def _extend(self, size: int, lower: float, upper: float) -> None:
        self.lower = np.append(self.lower, np.full(size, lower))
        self.upper = np.append(self.upper, np.full(size, upper))

    def solve(self, point: Floats) -> tuple[float, NDArray[np.int32]]:
        """The chain's best score and labelling at a point."""
        return self.chain.solve(point[self._places], self._rewards(point))

    def value(self, point: Floats, score: float, states: NDArray[np.int32]) -> tuple[float, Floats]:
        """D and its slope at a point where the chain's best is known."""
        bound = score
        slope = np.zeros(len(self))
        path = np.concatenate([[-1], states, [-1]])
        for sum_, place in zip(self.chain.sums, self._places, strict=True):
            bound += float(point[place]) * sum_.limit
            slope[place] = sum_.limit - sum_.total(path)
        for reading, part in self._slices:
            bound += self._read(reading, point[part], states, slope[part])
        return bound, slope

    def guides(self, point: Floats, states: int = NO_LIMITS.states) -> tuple[Floats, list[Guide]]:
        """What the rest of a labelling can reach at most, as beam search takes it: by state, by automaton.

        Sums whose automata would be larger than the limit of states allows are left out.
        """
        multipliers = point[self._places]
        guides = []
        for i, sum_ in enumerate(self.chain.sums):
            if fits(self.problem, sum_.p, states):
                reading = Reading(self.problem, sum_.p, self.chain)
                guides.append(Guide(reading, reading.rests(None, float(multipliers[i]))))
            else:
                multipliers[i] = 0.0
        for reading, part in self._slices:
            guides.append(Guide(reading, reading.rests(-point[part].reshape(-1, reading.n_groups))))
        return self.chain.rests(multipliers, self._rewards(point)), guides

    def _rewards(self, point: Floats) -> Floats | None:
        """Σ_p u_p for each token and state, [T,S]."""
        if not self._slices:
            return None
        rewards = np.zeros(self.chain.unary.shape)
        for reading, part in self._slices:
            rewards += point[part].reshape(-1, reading.n_groups)[:, reading.group_of]
        return rewards

    def _read(self, reading: Reading, point: Floats, states: NDArray[np.int32], slope: Floats) -> float:
        """The value of one reading; it slopes up in the groups that the chain has, down in those it has."""
        wish: Ints = reading.group_of[states]
        value, found = reading.solve(-point.reshape(-1, reading.n_groups), wish)
        tokens = np.arange(len(wish)) * reading.n_groups
        slope[tokens + wish] += 1
        slope[tokens + found] -= 1
        return value


def is_degree(problem: Problem, p: int) -> bool:
    """Whether one multiplier tells all: a sum that is charged by how far it is beyond its limit."""
    charge = problem.charges[p]
    return isinstance(charge.primitive, Linear) and (not charge.primitive.once or charge.penalty == np.inf)
