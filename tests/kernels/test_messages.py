"""Messages between a chain and machines: what they say is what all labellings together say."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from numba import config

from conseq.decoders.messages.machine import Machine, as_arrays, batches_of
from conseq.kernels import messages as kernel

SEEDS = range(15 if config.DISABLE_JIT else 100)


def random_machine(rng: np.random.Generator, length: int, size: int) -> Machine:
    classes, nodes, groups = (int(rng.integers(1, 4)) for _ in range(3))
    shape = classes, nodes, groups
    gain = np.where(rng.random(shape) < 0.1, -np.inf, -rng.exponential(1, shape))
    token = np.flatnonzero(rng.random(length) < rng.choice([0.4, 1.0]))
    return Machine(
        rng.integers(0, nodes, shape),
        gain,
        -rng.exponential(1, nodes),
        rng.integers(0, groups, size),
        False,
        token,
        rng.integers(0, classes, len(token)),
    )


class Case:
    """A random chain with three machines, not all of which read all tokens, and all scores."""

    def __init__(self, seed: int) -> None:
        rng = self.rng = np.random.default_rng(seed)
        self.length, self.size = int(rng.integers(1, 5)), int(rng.integers(1, 4))
        self.machines = [random_machine(rng, self.length, self.size) for _ in range(3)]
        self.machines[2] = (
            self.machines[2] if rng.random() < 0.5 else self.machines[0]
        )  # with the same tables
        self.arrays = as_arrays(self.machines, self.length, self.size)
        self.pairwise = rng.normal(size=(1, self.size, self.size))
        matrix = np.full((2, 4, 4), -np.inf)
        matrix[:, : self.size, : self.size] = self.pairwise[0], self.pairwise[0].T
        self.matrix, self.kind = matrix, np.empty(0, dtype=np.int32)
        unary = rng.normal(size=(self.length, self.size))
        self.unary = unary.copy()
        entries = np.array([len(machine.token) for machine in self.machines])
        told = np.zeros(int((self.arrays.sizes[:, kernel.GROUPS] * entries).sum()))
        before, after = np.zeros((2, self.length, 4))
        reached, self.ahead = np.zeros((2, sum(machine.cells for machine in self.machines)))
        self.scores = kernel.Scores(unary, told, before, after, np.zeros(4), reached, self.ahead)
        self.complete()
        self.is_forward, self.went_forward = True, dict[int, bool]()
        self.labellings = list(product(range(self.size), repeat=self.length))

    def complete(self) -> None:
        kernel.completions(self.matrix, self.kind, self.scores, self.arrays)

    def read(self, m: int, states: tuple[int, ...], told: bool = False) -> tuple[float, int]:
        """What a machine gains on a beginning, with what it is told or without; the node after it."""
        machine, node, gained = self.machines[m], 0, 0.0
        for e, (t, kind) in enumerate(zip(machine.token.tolist(), machine.class_of.tolist(), strict=True)):
            if t >= len(states):
                break
            g = int(machine.group_of[states[t]])
            gained += float(machine.gain[kind, node, g])
            node = int(machine.target[kind, node, g])
            if told:
                sizes = self.arrays.sizes[m]
                gained += float(self.scores.told[sizes[kernel.TOLD] + e * sizes[kernel.GROUPS] + g])
        return gained, node

    def whole(self, m: int, states: tuple[int, ...], told: bool = False) -> float:
        gained, node = self.read(m, states, told)
        return gained + float(self.machines[m].final[node])

    def chain(self, unary: np.ndarray, states: tuple[int, ...]) -> float:
        steps = sum(self.pairwise[0, a, b] for a, b in pairwise(states))
        return float(steps + sum(unary[t, s] for t, s in enumerate(states)))

    def score(self, states: tuple[int, ...]) -> float:
        return self.chain(self.unary, states) + sum(self.whole(m, states) for m in range(3))

    def pass_once(self, floor: float = -np.inf) -> bool:
        spans = batches_of(self.machines, self.length)
        order = [*range(len(spans)), 0]
        for k in order:
            batch = np.array(spans[k])
            given = self.matrix, self.kind, self.scores, self.arrays, batch, self.is_forward
            is_ready = self.went_forward.get(k) == (not self.is_forward) and bool(self.rng.random() < 0.7)
            if not kernel.exchange(*given, is_ready, floor, 0.2):
                return False
            self.is_forward, self.went_forward[k] = not self.is_forward, self.is_forward
        return True


@pytest.mark.parametrize("seed", SEEDS)
def test_completions_are_the_best_of_all_that_can_follow(seed: int) -> None:
    case = Case(seed)
    for m, machine in enumerate(case.machines):
        first = case.arrays.sizes[m, kernel.CELLS]
        used = len(np.unique(machine.group_of)) == machine.target.shape[2]
        best = max(case.whole(m, path) for path in case.labellings)
        if used:  # a group without a label can be read by the machine alone
            assert case.ahead[first] == pytest.approx(best)
        else:
            assert case.ahead[first] >= best - 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_an_exchange_moves_scores_and_loses_none(seed: int) -> None:
    case = Case(seed)
    before = sum(max(case.ahead[first], -np.inf) for first in case.arrays.sizes[:, kernel.CELLS])
    before += max(case.chain(case.unary, states) for states in case.labellings)
    scores = {states: case.score(states) for states in case.labellings}
    for _ in range(3):
        if not case.pass_once():
            assert max(scores.values()) == -np.inf
            return
        bound = float(case.scores.values.sum())
        assert max(scores.values()) - 1e-9 <= bound <= before + 1e-9
        before = bound
        for states, score in scores.items():
            split = case.chain(case.scores.unary, states)
            split += sum(case.whole(m, states, told=True) for m in range(3))
            assert split == pytest.approx(score) or (split == score == -np.inf)


@pytest.mark.parametrize("seed", SEEDS)
def test_states_that_cannot_reach_the_floor_are_left_out(seed: int) -> None:
    case = Case(seed)
    best = max(case.score(states) for states in case.labellings)
    if best == -np.inf:
        return
    assert all(case.pass_once(best - 0.1) for _ in range(5))
    left = {(t, s) for t in range(case.length) for s in range(case.size) if case.scores.unary[t, s] > -np.inf}
    for states in case.labellings:
        if case.score(states) > best - 0.1 + 1e-9:
            assert set(enumerate(states)) <= left


@pytest.mark.parametrize("seed", SEEDS)
def test_the_best_of_two_machines_is_that_of_the_same_labels(seed: int) -> None:
    case = Case(seed)
    case.pass_once()
    groups = np.unique([case.machines[m].group_of for m in (0, 1)], axis=1)
    found = kernel.joint_best(case.scores, case.arrays, 0, 1, groups)
    best = max(
        case.whole(0, states, told=True) + case.whole(1, states, told=True) for states in case.labellings
    )
    assert found == pytest.approx(best) or found == best == -np.inf


@pytest.mark.parametrize("seed", SEEDS)
def test_prefixes_reach_what_chain_and_machines_allow(seed: int) -> None:
    """The most that a prefix can reach is no less than what any labelling that begins so scores."""
    case = Case(seed)
    if not case.pass_once():
        return
    case.complete()
    states = np.arange(case.size)
    nodes = np.zeros((1, 3), dtype=np.int32)
    begun_with = case.ahead[case.arrays.sizes[:, kernel.CELLS]].sum(keepdims=True)
    prefixes = kernel.Prefixes(np.zeros(1, dtype=np.int64), np.zeros(1), begun_with, nodes)
    begun: list[tuple[int, ...]] = [()]
    for t in range(case.length):
        most = np.empty((len(begun), case.size))
        kernel.reach(case.pairwise, case.kind, case.scores, case.arrays, t, prefixes, states, most)
        longer = [(*begin, s) for begin in begun for s in range(case.size)]
        for begin, reached in zip(longer, most.ravel().tolist(), strict=True):
            best = max(case.score(labels) for labels in case.labellings if labels[: t + 1] == begin)
            assert reached >= best - 1e-9
        parents = np.repeat(np.arange(len(begun)), case.size)
        grown = kernel.Prefixes(
            np.tile(states, len(begun)),
            *np.empty((2, len(longer))),
            np.empty((len(longer), 3), dtype=np.int32),
        )
        keys = np.empty(len(longer), dtype=np.int64)
        kernel.grow(case.pairwise, case.kind, case.scores, case.arrays, t, prefixes, parents, grown, keys)
        assert grown.nodes.tolist() == [[case.read(m, begin)[1] for m in range(3)] for begin in longer]
        futures = {(begin[-1], *row) for begin, row in zip(longer, grown.nodes.tolist(), strict=True)}
        assert len(set(keys.tolist())) == len(futures)
        prefixes, begun = grown, longer
    for begin, reached in zip(begun, most.ravel().tolist(), strict=True):
        assert reached == pytest.approx(case.score(begin)) or reached == case.score(begin) == -np.inf
