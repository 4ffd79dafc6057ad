"""The kernel that counts violations, against its twin on random arrays."""

from __future__ import annotations

import naive_tally
import numpy as np
import pytest

from conseq.kernels import tally

SEEDS = range(40)


def random_counters(rng, size, n_counters, n_tokens):
    """Up to three moves per step, half of them behind one of two masks."""
    per_step = rng.integers(0, 4, size * size)
    pairs = np.concatenate([[0], np.cumsum(per_step)]).astype(np.int64)
    n = int(pairs[-1])
    columns = rng.integers(0, n_counters, n), rng.integers(-2, 3, n), rng.integers(-1, 2, n)
    return pairs, np.stack(columns, axis=1).astype(np.int64), rng.random((2, n_tokens)) < 0.5


def random_sums(rng, n_sums, n_counters):
    lengths = rng.integers(1, 4, n_sums)
    rows = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    n = int(rows[-1])
    terms = np.stack([rng.integers(-2, 3, n), rng.integers(0, n_counters, n)], axis=1).astype(np.int64)
    limits = np.stack(
        [rng.integers(-3, 4, n_sums), rng.choice([0, 0.29, -0.4], n_sums), rng.integers(0, 2, n_sums)], axis=1
    )
    return rows, terms, limits.astype(np.float64)


def random_automata(rng, n_machines, size, n_tokens):
    machines, steps, arcs, costs = [], [], [], []
    n_steps = n_arcs = 0
    for _ in range(n_machines):
        states, symbols, row = int(rng.integers(1, 5)), int(rng.integers(1, 5)), int(rng.integers(-1, 2))
        machines.append([row, n_steps, n_arcs, symbols, int(rng.integers(states))])
        steps.append(rng.integers(0, symbols, (1 if row < 0 else 4) * size * size))
        arcs.append(rng.integers(0, states, states * symbols))
        costs.append(rng.integers(0, 4, states * symbols) / 2)
        n_steps, n_arcs = n_steps + len(steps[-1]), n_arcs + len(arcs[-1])
    return (
        np.array(machines, dtype=np.int64).reshape(-1, 5),
        rng.integers(0, 4, (2, n_tokens)).astype(np.int16),
        np.concatenate([*steps, []]).astype(np.int16),
        np.concatenate([*arcs, []]).astype(np.int32),
        np.concatenate([*costs, []]),
    )


def random_labellings(rng, size):
    """Labellings of parts of 20 tokens, some of them empty and some of −1."""
    lengths = rng.integers(0, 7, 12)
    bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    labels = rng.integers(0, size - 1, int(bounds[-1])).astype(np.int32)
    for n in np.flatnonzero(rng.random(12) < 0.2):
        labels[bounds[n] : bounds[n + 1]] = -1
    return labels, bounds, rng.integers(0, 13, 12)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_kernel_is_its_twin(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 5))
    n_counters, n_sums, n_machines = int(rng.integers(1, 4)), int(rng.integers(0, 4)), int(rng.integers(0, 4))
    counters = random_counters(rng, size, n_counters, 20)
    sums = random_sums(rng, n_sums, n_counters)
    if n_sums == 0:
        counters = np.zeros(size * size + 1, dtype=np.int64), np.zeros((0, 3), dtype=np.int64), counters[2]
    else:  # the kernel keeps as many counts as the sums speak of
        counters[1][:, 0] %= sums[1][:, 1].max() + 1
    automata = random_automata(rng, n_machines, size, 20)
    labels, bounds, first_token = random_labellings(rng, size)
    result = np.full((12, n_sums + n_machines), np.nan)
    tally.tally(labels, bounds, first_token, size, counters, sums, automata, 0, 12, result)
    lists = [tuple(array.tolist() for array in arrays) for arrays in (counters, sums, automata)]
    expected = naive_tally.tally(labels.tolist(), bounds.tolist(), first_token.tolist(), size, *lists)
    np.testing.assert_allclose(result, np.array(expected).reshape(result.shape), atol=1e-8)


def test_only_the_labellings_asked_for_are_filled():
    none = np.zeros(0, dtype=np.int64)
    counters = np.array([0, 1, 1, 1, 1]), np.array([[0, 1, -1]]), np.zeros((0, 0), dtype=bool)
    sums = np.array([0, 1]), np.array([[1, 0]]), np.zeros((1, 3))
    automata = (
        none.reshape(0, 5),
        np.zeros((0, 0), dtype=np.int16),
        none.astype(np.int16),
        none.astype(np.int32),
        np.zeros(0),
    )
    labels, bounds = np.zeros(9, dtype=np.int32), np.array([0, 2, 5, 9])
    result = np.full((3, 1), -1.0)
    tally.tally(labels, bounds, np.array([0, 0, 0]), 2, counters, sums, automata, 1, 2, result)
    assert result.ravel().tolist() == [-1, 2, -1]
