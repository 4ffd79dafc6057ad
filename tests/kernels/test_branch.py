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
    first, start, links, parents, strides, cells = [0], [], [0], [], [], []
    for bucket in tables:
        for above, weights in bucket:
            start.append(len(cells))
            parents += above
            strides += [step // 8 for step in weights.strides[:-1]]
            links.append(len(parents))
            cells += weights.ravel().tolist()
        first.append(len(start))
    integers = [np.array(x, dtype=np.int64) for x in (sizes, first, start, links, parents, strides)]
    return (*integers, np.array(cells, dtype=np.float64))


def fresh(sizes: list[int]) -> tuple[np.ndarray, ...]:
    shape = len(sizes), max(sizes)
    whole = [np.zeros(n, dtype=np.int64) for n in (shape, shape[0], 2)]
    return np.zeros(shape[0], dtype=np.int64), np.full(shape, np.nan), *whole


def total(tables: Tables, values: tuple[int, ...]) -> float:
    every = [(v, above, weights) for v, bucket in enumerate(tables) for above, weights in bucket]
    return 10.0 + sum(weights[(*(values[p] for p in above), values[v])] for v, above, weights in every)


@pytest.mark.parametrize("nodes_at_once", [1, 3, 10_000])
def test_the_best_is_found_however_often_it_is_stopped(nodes_at_once):
    for seed in SEEDS:
        sizes, tables = random_tables(np.random.default_rng(seed))
        wanted = max(total(tables, values) for values in product(*map(range, sizes)))
        problem, frame = flat(sizes, tables), fresh(sizes)
        best, found = np.array([-np.inf]), np.full(len(sizes), -1, dtype=np.int64)
        branch.enter(problem, frame, 0, 10.0)
        while not branch.search(problem, frame, best, found, frame[-1][branch.NODES] + nodes_at_once):
            left = branch.open_bound(frame, problem[0])
            assert max(left, best[0]) >= wanted, f"seed {seed}: what is left may reach the best"
        assert best[0] == wanted, f"seed {seed}"
        if wanted > -np.inf:
            assert total(tables, tuple(found.tolist())) == wanted, f"seed {seed}"
        assert branch.open_bound(frame, problem[0]) == -np.inf


def test_only_what_surpasses_a_known_value_is_found():
    tables: Tables = [[([], np.array([0.0, -1.0]))]]
    problem, frame = flat([2], tables), fresh([2])
    branch.enter(problem, frame, 0, 10.0)
    best, found = np.array([10.0]), np.array([-1])
    assert branch.search(problem, frame, best, found, 100)
    assert found.tolist() == [-1]
