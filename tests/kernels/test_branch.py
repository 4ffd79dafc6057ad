"""Branch and bound against trying everything, in one go and stopped again and again."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numba import config

from conseq.kernels import branch

SEEDS = range(20 if config.DISABLE_JIT else 150)
Tables = list[list[tuple[list[int], np.ndarray]]]
"""Per variable: the earlier variables of a table, and what it says (≤ 0) of their values and its own."""


def random_tables(rng: np.random.Generator) -> tuple[list[int], Tables]:
    sizes = rng.integers(1, 4, rng.integers(1, 6)).tolist()
    tables: Tables = []
    for v, size in enumerate(sizes):
        bucket = []
        for _ in range(rng.integers(0, 3)):
            parents = sorted(rng.permutation(v)[: rng.integers(0, 3)].tolist())
            weights = -rng.integers(0, 9, [*(sizes[p] for p in parents), size]).astype(float)
            bucket.append((parents, np.where(rng.random(weights.shape) < 0.15, -np.inf, weights)))
        tables.append(bucket)
    return sizes, tables


def flat(sizes: list[int], tables: Tables) -> tuple[np.ndarray, ...]:
    first, start, links, parents, cells = [0], [0], [0], [], []
    for bucket in tables:
        for above, weights in bucket:
            parents += above
            links.append(len(parents))
            cells += weights.ravel().tolist()
            start.append(len(cells))
        first.append(len(links) - 1)
    integers = [np.array(x, dtype=np.int64) for x in (sizes, first, start, links, parents)]
    return (*integers, np.array(cells, dtype=np.float64))


def fresh(sizes: list[int], tables: Tables) -> tuple[np.ndarray, ...]:
    scores = np.full((len(sizes), max(sizes)), -np.inf)
    scores[0, : sizes[0]] = 10.0 + sum(weights for _, weights in tables[0])
    return np.zeros(len(sizes), dtype=np.int64), scores, np.zeros(2, dtype=np.int64)


def total(tables: Tables, values: tuple[int, ...]) -> float:
    every = [(v, above, weights) for v, bucket in enumerate(tables) for above, weights in bucket]
    return 10.0 + sum(weights[(*(values[p] for p in above), values[v])] for v, above, weights in every)


@pytest.mark.parametrize("nodes_at_once", [1, 3, 10_000])
def test_the_best_is_found_however_often_it_is_stopped(nodes_at_once):
    for seed in SEEDS:
        sizes, tables = random_tables(np.random.default_rng(seed))
        wanted = max(total(tables, values) for values in product(*map(range, sizes)))
        problem, frame = flat(sizes, tables), fresh(sizes, tables)
        best, found = np.array([-np.inf]), np.full(len(sizes), -1, dtype=np.int64)
        while not branch.search(problem, frame, best, found, frame[-1][branch.NODES] + nodes_at_once):
            left = branch.open_bound(frame)
            assert max(left, best[0]) >= wanted, f"seed {seed}: what is left may reach the best"
        assert best[0] == wanted, f"seed {seed}"
        if wanted > -np.inf:
            assert total(tables, tuple(found.tolist())) == wanted, f"seed {seed}"
        assert branch.open_bound(frame) == -np.inf


def test_only_what_surpasses_a_known_value_is_found():
    tables: Tables = [[([], np.array([0.0, -1.0]))]]
    problem, frame = flat([2], tables), fresh([2], tables)
    best, found = np.array([10.0]), np.array([-1])
    assert branch.search(problem, frame, best, found, 100)
    assert found.tolist() == [-1]
