"""Multipliers over a band: bounds that hold for all ways, and arrays that fit the multipliers."""

from __future__ import annotations

from itertools import pairwise

import naive_search as twin
import numpy as np
import pytest
from numba import config

from conseq.kernels import tighten

SEEDS = range(60 if config.DISABLE_JIT else 300)


class Case:
    """A random band with sums, run once."""

    def __init__(self, seed: int, iterations: int | None = None) -> None:
        rng = np.random.default_rng(seed)
        self.graph = twin.random_graph(rng)
        self.counters = int(rng.integers(0, 4))
        n_edges = len(self.graph.targets)
        self.additions = twin.random_additions(rng, n_edges, self.counters)
        self.sums = twin.random_sums(rng, self.counters)
        self.shape = self.sums[2]
        self.ceilings = twin.ceilings(self.shape)
        self.base = np.minimum(rng.exponential(1, len(self.shape)), self.ceilings) * (rng.random() < 0.5)
        self.multipliers = self.base.copy()
        self.shifted, self.rest = np.empty(n_edges), np.empty(self.graph.n_nodes + 2)
        self.way = np.empty(self.graph.length, dtype=np.int64)
        self.bound, self.score, self.done = tighten.tighten(
            (self.graph.first, self.graph.targets, self.graph.gains),
            self.graph.n_nodes,
            self.additions,
            self.counters,
            self.sums,
            -np.inf,
            -np.inf,
            float(rng.choice([0.1, 4.0, 100.0])),
            int(rng.choice([1, 5, 40])) if iterations is None else iterations,
            self.base,
            self.multipliers,
            self.shifted,
            self.rest,
            self.way,
        )

    def scores(self) -> dict[tuple[int, ...], float]:
        """Every way's nodes with its score: the gains, without what `base` took off, less the charges."""
        found = {}
        for way in self.graph.ways():
            x = twin.totals(way, self.additions, self.sums)
            gain = float(self.graph.gains[way].sum() + self.base @ np.array(x, dtype=float))
            score = gain - twin.charged(x, self.shape)
            if gain > -np.inf:
                found[tuple(self.graph.nodes(way))] = score
        return found


@pytest.mark.parametrize("seed", SEEDS)
def test_the_bound_holds_for_every_way(seed):
    case = Case(seed)
    scores = case.scores()
    best = max(scores.values(), default=-np.inf)
    assert case.bound >= best - 1e-9 * (1 + abs(best)) if scores else case.bound == -np.inf
    assert case.score <= best + 1e-9 * (1 + abs(best)) or case.score == best
    assert (case.multipliers >= 0).all()
    assert (case.multipliers <= case.ceilings).all()
    if case.score > -np.inf:
        assert case.score == pytest.approx(scores[tuple(case.way.tolist())], rel=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_bound_is_the_dual_value_of_the_multipliers(seed):
    """D(λ) by all ways, and the arrays that product states go on with."""
    case = Case(seed)
    begins, added = case.additions
    rows, terms, shape = case.sums
    for e in range(len(case.shifted)):
        counts = dict(added[begins[e] : begins[e + 1]].tolist())
        x = [sum(w * counts.get(c, 0) for w, c in terms[a:b].tolist()) for a, b in pairwise(rows)]
        off = (case.multipliers - case.base) @ np.array(x, dtype=float)
        assert case.shifted[e] == pytest.approx(case.graph.gains[e] - off)
    most = max((case.shifted[way].sum() for way in case.graph.ways()), default=-np.inf)
    assert case.rest[0] == pytest.approx(most)
    if most > -np.inf:
        assert case.bound == pytest.approx(most + case.multipliers @ shape[:, 0])


def test_multipliers_often_close_the_gap():
    """Against standing still: the bounds are far below those of no multipliers at all."""
    first = sum(case.bound for case in (Case(seed, 1) for seed in SEEDS) if np.isfinite(case.bound))
    last = sum(case.bound for case in (Case(seed, 40) for seed in SEEDS) if np.isfinite(case.bound))
    assert last < first - 0.1 * len(SEEDS)


def test_charge_by_degree_and_once():
    shape = np.array([[1.0, 2.0, 0, 0, 1, 0], [1.0, 2.0, 0, 1, 1, 0], [1.0, np.inf, 0, 0, 1, 0]])
    assert tighten.charge(np.array([4.0, 4.0, 1.0]), shape) == 6 + 2
    assert tighten.charge(np.array([1.0, 1.0, 2.0]), shape) == np.inf
