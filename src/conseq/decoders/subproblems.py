"""The sub-problems of dual decomposition: one shifted chain, and one reading per automaton.

    Chain     max_y  score(y) − Σ_p λ_p · sum_p(y) + Σ_p Σ_t u_p[t, group of y_t]
    Reading   max_z  −penalty · violation_p(z) − Σ_t u_p[t, z_t]

A reading labels tokens with groups of labels that its automaton cannot tell apart, so it costs the same for
any number of labels. Both are built once and solved many times.

Axes: T tokens, Y labels, S states, G groups, K classes of tokens, C kinds of step, Q automaton states.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from conseq.constraints.primitives import Automaton, Linear, Primitive
from conseq.decoders.relaxation import folded
from conseq.kernels import chain, reading
from conseq.problem import Problem

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CELLS_PER_STATE = 4
"""A reading keeps a few bytes where a product state keeps many, so more of it may be kept."""


class Chain:
    """The scores of one sequence with the local constraints charged, ready to be shifted by multipliers."""

    def __init__(self, problem: Problem) -> None:
        scores = folded(problem)
        unary, pairwise, start, end, offsets, kind = scores.arrays()
        self.problem = problem
        self.unary: Floats = unary.astype(np.float64)
        self.pairwise: Floats = pairwise
        self.start: Floats = start
        self.end: Floats = end
        self.offsets = offsets
        self.kind = kind
        self.sums: list[Sum] = []
        self._choose_kinds()

    def add(self, sum_: Sum) -> None:
        """Let a sum be charged from now on."""
        self.sums.append(sum_)
        if sum_.looks_at_tokens:
            self._choose_kinds()

    def _choose_kinds(self) -> None:
        """A kind of step for each combination of classes of tokens that occurs."""
        length = len(self.unary)
        kind = self.kind if len(self.kind) else np.zeros(length, dtype=np.int64)
        columns = np.stack([kind, *(s.classes[:-1] for s in self.sums)], axis=1)
        combinations, kinds = np.unique(columns, axis=0, return_inverse=True)
        self.step_pairwise: Floats = np.ascontiguousarray(self.pairwise[combinations[:, 0]])
        self.step_classes = combinations[:, 1:]
        self.step_kind = kinds.reshape(-1).astype(np.int32)

    def solve(self, multipliers: Floats, rewards: Floats | None) -> tuple[float, NDArray[np.int32]]:
        """The best score and states under the multipliers [sums] and with rewards[T,S] added; −inf: none."""
        unary, pairwise, start, end = self._shifted(multipliers, rewards)
        states = np.empty(len(unary), dtype=np.int32)
        score = np.empty(1)
        chain.viterbi(unary, pairwise, start, end, self.offsets, self.step_kind, 0, 1, states, score)
        return float(score[0]), states

    def rests(self, multipliers: Floats, rewards: Floats | None) -> Floats:
        """The best score of what follows each state at each token, END included, under the same, [T,S]."""
        unary, pairwise, _, end = self._shifted(multipliers, rewards)
        rests = np.empty(unary.shape)
        rests[-1] = end
        for t in range(len(unary) - 2, -1, -1):
            steps = pairwise[self.step_kind[t + 1]]
            rests[t] = (steps + (unary[t + 1] + rests[t + 1])).max(axis=1)
        return rests

    def _shifted(self, multipliers: Floats, rewards: Floats | None) -> tuple[Floats, Floats, Floats, Floats]:
        unary = self.unary if rewards is None else self.unary + rewards
        pairwise, start, end = self.step_pairwise, self.start, self.end
        if not multipliers.any():
            return unary, pairwise, start, end
        pairwise, start, end = pairwise.copy(), start.copy(), end.copy()
        for i, (sum_, multiplier) in enumerate(zip(self.sums, multipliers.tolist(), strict=True)):
            if multiplier:
                steps = sum_.steps
                inner = steps[self.step_classes[:, i]] if sum_.looks_at_tokens else steps[:1]
                pairwise -= multiplier * inner[:, :-1, :-1]
                start -= multiplier * steps[sum_.classes[0], -1, :-1]
                end -= multiplier * steps[0, :-1, -1]
        return unary, pairwise, start, end


class Sum:
    """One Linear on one sequence: what each step between states adds to it."""

    def __init__(self, problem: Problem, p: int) -> None:
        linear = problem.charges[p].primitive
        assert isinstance(linear, Linear)
        rows = np.append(problem.label_of, len(problem.schema))
        self.p = p
        self.penalty = problem.charges[p].penalty
        self.limit = linear.limit(problem.n_tokens)
        self.steps: Floats = linear.steps[:, rows[:, None], rows[None, :]].astype(np.float64)  # [K,S+1,S+1]
        self.classes: Ints = np.append(problem.classes(linear), 0)  # [T+1]
        self.looks_at_tokens = len(self.steps) > 1

    def total(self, path: Ints) -> float:
        """The sum along START, states …, END."""
        return float(self.steps[self.classes, path[:-1], path[1:]].sum())


class Reading:
    """One automaton on one sequence: the best groups of labels that it can read."""

    def __init__(self, problem: Problem, p: int, chain: Chain) -> None:
        charge = problem.charges[p]
        machine, group_of_label, self.symbols = groups(charge.primitive, problem.n_tokens)
        self.p = p
        self.machine = machine
        self.group_of: Ints = group_of_label[problem.label_of]  # [S]
        self.n_groups = len(self.symbols[0]) - 1
        self.price = charge.penalty * machine.cost if charge.penalty < np.inf else _forbid(machine.cost)
        self.classes = problem.classes(charge.primitive)
        self.amounts = _amounts(charge.primitive)
        self.open, self.allowed = self._possible(chain)

    def _possible(self, chain: Chain) -> tuple[NDArray[np.bool_], Floats]:
        """What the chain can take: steps between groups [G+1,G+1], and groups of tokens (0 or −inf) [T,G]."""
        member = np.zeros((len(self.group_of), self.n_groups), dtype=np.int64)
        member[np.arange(len(self.group_of)), self.group_of] = 1
        steps = np.isfinite(chain.pairwise).any(axis=0).astype(np.int64)
        open_ = np.zeros((self.n_groups + 1, self.n_groups + 1), dtype=bool)
        open_[:-1, :-1] = member.T @ steps @ member > 0
        open_[-1, :-1] = np.isfinite(chain.start) @ member > 0
        open_[:-1, -1] = np.isfinite(chain.end) @ member > 0
        allowed = np.where(np.isfinite(chain.unary) @ member > 0, 0.0, -np.inf)
        return open_, allowed

    def solve(self, rewards: Floats, wish: Ints) -> tuple[float, Ints]:
        """The best value and groups under rewards[T,G]; among equals close to the groups wish[T]."""
        found = np.zeros(len(rewards), dtype=np.int64)
        value = reading.read_best(
            self.symbols,
            self.open,
            self.classes,
            self.machine.next,
            self.price,
            self.machine.start,
            self.allowed + rewards,
            wish,
            found,
        )
        return float(value), found

    def rests(self, rewards: Floats | None = None, multiplier: float = 0.0) -> Floats:
        """The most that what follows can still give in each state after each group, [T,Q,G].

        With a multiplier the automaton is that of a sum, and gives back what the chain pays for the sum.
        """
        reward = self.allowed if rewards is None else self.allowed + rewards
        price = self.price - multiplier * self.amounts if multiplier else self.price
        rests = np.empty((len(reward), len(price), self.n_groups))
        reading.fill_rests(self.symbols, self.open, self.classes, self.machine.next, price, reward, rests)
        return rests


def fits(problem: Problem, p: int, states: int) -> bool:
    """Whether a reading of the primitive is small enough, if so many product states may be kept."""
    machine, _, symbols = groups(problem.charges[p].primitive, problem.n_tokens)
    return len(machine.next) * (len(symbols[0]) - 1) * problem.n_tokens <= CELLS_PER_STATE * states


def groups(primitive: Primitive, length: int) -> tuple[Automaton, Ints, Ints]:
    """The automaton, the group of each label [Y], and what it reads of steps between groups [K,G+1,G+1]."""
    if isinstance(primitive, Automaton):
        return primitive, *label_groups(primitive)
    return _counting(primitive, length), *label_groups(primitive)


@lru_cache(maxsize=1024)
def _counting(sum_: Linear, length: int) -> Automaton:
    return sum_.automaton(length)


@lru_cache(maxsize=1024)
def label_groups(primitive: Primitive) -> tuple[Ints, Ints]:
    """The group of each label [Y], and the symbols of steps between groups [K,G+1,G+1].

    Labels are in one group if all steps from them and all steps to them are read alike.
    """
    steps = primitive.steps if isinstance(primitive, Automaton) else primitive.alphabet[1]
    size = steps.shape[1] - 1
    seen = np.concatenate([steps[:, :size].swapaxes(0, 1), steps[:, :, :size].transpose(2, 0, 1)], axis=1)
    _, first, group = np.unique(seen.reshape(size, -1), axis=0, return_index=True, return_inverse=True)
    chosen = np.append(first, size)
    return group.reshape(-1), np.ascontiguousarray(steps[:, chosen[:, None], chosen[None, :]])


def _amounts(primitive: Primitive) -> Ints:
    """What each symbol of a sum's automaton adds to the sum, [A]; an automaton has no sum."""
    if not isinstance(primitive, Linear):
        return np.empty(0, dtype=np.int64)
    amounts = primitive.alphabet[0]
    return np.concatenate([amounts, amounts])


def _forbid(cost: Floats) -> Floats:
    return np.where(cost > 0, np.inf, 0.0)
