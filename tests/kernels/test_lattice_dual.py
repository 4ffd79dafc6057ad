"""Multipliers on a lattice: bounds that hold for all paths, and arrays that fit the multipliers."""

from __future__ import annotations

import naive_lattice as reference
import naive_primitives as rules
import numpy as np
import pytest
from calling import called
from numba import config

from conseq.kernels import lattice_dual as kernel
from conseq.kernels.lattice import Graph
from conseq.kernels.lattice_dual import LIMIT, PENALTY
from conseq.kernels.violations import Sums

SEEDS = range(80 if config.DISABLE_JIT else 400)


class Case:
    """A random lattice with sums, descended once."""

    def __init__(
        self, seed: int, iterations: int | None = None, floor: float = -np.inf, known: float = -np.inf
    ) -> None:
        rng = np.random.default_rng(seed)
        self.lattice = reference.random_lattice(rng)
        self.counters = int(rng.integers(0, 4))
        n_edges = self.lattice.n_edges
        self.amounts = rules.random_amounts(rng, n_edges, self.counters)
        self.sums = rules.random_sums(rng, self.counters)
        self.base = rules.random_multipliers(rng, self.sums)
        spread = float(rng.choice([0.1, 4.0, 100.0]))
        self.iterations = int(rng.choice([1, 5, 40])) if iterations is None else iterations
        found = kernel.descend(
            self.lattice.graph,
            self.amounts,
            self.sums,
            self.base,
            (floor, known, spread),
            self.iterations,
            self.lattice.length,
        )
        self.dual = kernel.Dual(*found)
        self.bound, self.score, self.done = self.dual[:3]

    def scores(self) -> dict[tuple[int, ...], float]:
        """Every path with its score: the gains, without what `base` took off, less the charges."""
        found = {}
        for path, gain in self.lattice.scored().items():
            x = rules.totals(list(path), self.amounts, self.sums)
            found[path] = gain + float(self.base @ x) - rules.charged(x, self.sums)
        return found


@pytest.mark.parametrize("seed", SEEDS)
def test_the_bound_holds_for_every_path(seed: int) -> None:
    case = Case(seed)
    scores = case.scores()
    best = max(scores.values(), default=-np.inf)
    if not scores:
        assert (case.bound, case.score) == (-np.inf, -np.inf)
        return
    assert case.bound >= best - 1e-9 * (1 + abs(best)) or best == -np.inf
    assert 1 <= case.done <= case.iterations
    assert (case.dual.multipliers >= 0).all()
    assert (case.dual.multipliers <= case.sums.limits[:, PENALTY]).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_score_is_that_of_the_best_path_met(seed: int) -> None:
    case = Case(seed)
    scores = case.scores()
    if case.score > -np.inf:
        row = case.dual.path.tolist()
        path = tuple(e for e in row if e >= 0)
        assert row == [*path, *[-1] * (len(row) - len(path))]
        assert case.score == pytest.approx(scores[path], rel=1e-9, abs=1e-9)
    elif scores:
        first = Case(seed, 1)  # the first path met is the best one at the multipliers given
        assert first.score == -np.inf


@pytest.mark.parametrize("seed", SEEDS)
def test_the_bound_is_the_dual_value_of_the_multipliers(seed: int) -> None:
    """D(λ) by all paths, and the arrays that a search of product states goes on with."""
    case = Case(seed)
    lattice, dual = case.lattice, case.dual
    for e in range(lattice.n_edges):
        off = (dual.multipliers - case.base) @ rules.totals([e], case.amounts, case.sums)
        assert dual.shifted[e] == pytest.approx(lattice.graph.gains[e] - off)
    for node in range(lattice.n_nodes):
        onwards = (sum(dual.shifted[list(path)]) for path in lattice.scored(node))
        assert dual.rest[node] == pytest.approx(max(onwards, default=-np.inf))
    if dual.rest[0] > -np.inf:
        expected = dual.rest[0] + dual.multipliers @ case.sums.limits[:, LIMIT]
        assert case.bound == pytest.approx(expected)


@pytest.mark.parametrize("seed", SEEDS[::2])
def test_more_rounds_never_loosen_the_bound_or_lose_a_path(seed: int) -> None:
    few, many = Case(seed, 3), Case(seed, 40)
    assert many.bound <= few.bound
    assert many.score >= few.score
    assert many.done >= few.done


@pytest.mark.parametrize("seed", SEEDS[::2])
def test_a_descent_ends_below_the_floor_or_at_a_score_that_is_known(seed: int) -> None:
    first = Case(seed, 1)
    if not np.isfinite(first.bound):
        return
    assert Case(seed, 40, floor=first.bound + 1).done == 1
    assert Case(seed, 40, known=first.bound).done == 1
    closed = Case(seed, 40)
    if closed.score >= closed.bound - 1e-9 * (1 + abs(closed.bound)):
        best = max(closed.scores().values())
        assert closed.score == pytest.approx(best, rel=1e-8, abs=1e-8)


def test_multipliers_often_close_the_gap() -> None:
    """Against standing still: the bounds are far below those of no multipliers at all."""
    first = sum(case.bound for case in (Case(seed, 1) for seed in SEEDS) if np.isfinite(case.bound))
    last = sum(case.bound for case in (Case(seed, 40) for seed in SEEDS) if np.isfinite(case.bound))
    assert last < first - 0.1 * len(SEEDS)


def test_a_descent_by_hand() -> None:
    """Two edges to choose from, twice: 3 and counted, or 1. At most one may be counted, each further costs 5:
    D(2) = 2 · 1 + 2 · 1 = 4 is the score of 3 + 1, and no λ does better."""
    graph = Graph(np.array([0, 2, 4, 4]), np.array([1, 1, 2, 2]), np.array([3.0, 1.0, 3.0, 1.0]))
    amounts = np.array([[1], [0], [1], [0]])
    sums = Sums(np.array([0, 1]), np.array([[1, 0]]), np.array([[1.0, 5.0, 0.0, 1.0, 0.0]]))
    dual = kernel.Dual(*kernel.descend(graph, amounts, sums, np.zeros(1), (-np.inf, -np.inf, 16.0), 40, 2))
    assert dual.bound == pytest.approx(4.0, abs=0.1)
    assert dual.score <= 4.0 <= dual.bound
    assert dual.multipliers == pytest.approx([2.0], abs=0.1)


def test_charges_grow_with_the_violation() -> None:
    limits = np.array([[1.0, 2.0, 0, 1, 0], [1.0, np.inf, 0, 1, 0], [0.5, 4.0, 0, 1, 1]])
    assert called(kernel.charge)(np.array([4.0, 1.0, 0.5]), limits) == 6
    assert called(kernel.charge)(np.array([1.0, 1.0, 1.0]), limits) == 2
    assert called(kernel.charge)(np.array([1.0, 2.0, -3.0]), limits) == np.inf
