"""The kernel that counts violations, against its reference on random arrays."""

from __future__ import annotations

import naive_violations
import numpy as np
import pytest
from calling import called

from conseq.kernels import violations as kernel
from conseq.kernels.violations import Automata, Counters, Ground, Sums

SEEDS = range(80)
N_TOKENS = 20


def random_counters(rng: np.random.Generator, size: int, n_counters: int) -> Counters:
    """Up to three moves per step, two thirds of them behind one of two masks."""
    per_step = rng.integers(0, 4, size * size)
    pairs = np.concatenate([[0], np.cumsum(per_step)]).astype(np.int64)
    n = int(pairs[-1])
    columns = rng.integers(0, n_counters, n), rng.integers(-2, 3, n), rng.integers(-1, 2, n)
    return Counters(pairs, np.stack(columns, axis=1).astype(np.int64), rng.random((2, N_TOKENS)) < 0.5)


def random_sums(rng: np.random.Generator, n_sums: int, n_counters: int) -> Sums:
    lengths = rng.integers(1, 4, n_sums)
    rows = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    n = int(rows[-1])
    terms = np.stack([rng.integers(-2, 3, n), rng.integers(0, n_counters, n)], axis=1).astype(np.int64)
    limits = np.stack([rng.integers(-3, 4, n_sums), rng.choice([0, 0.29, -0.4], n_sums)], axis=1)
    return Sums(rows, terms, limits.astype(np.float64))


def random_automata(rng: np.random.Generator, n_machines: int, size: int) -> Automata:
    machines, steps, arcs, costs = [], [], [], []
    n_steps = n_arcs = 0
    for _ in range(n_machines):
        states, symbols, row = int(rng.integers(1, 5)), int(rng.integers(1, 5)), int(rng.integers(-1, 2))
        machines.append([row, n_steps, n_arcs, symbols, int(rng.integers(states))])
        steps.append(rng.integers(0, symbols, (1 if row < 0 else 4) * size * size))
        arcs.append(rng.integers(0, states, states * symbols))
        costs.append(rng.integers(0, 4, states * symbols) / 2)
        n_steps, n_arcs = n_steps + len(steps[-1]), n_arcs + len(arcs[-1])
    readings = [np.flatnonzero(rng.random(N_TOKENS) < share) for share in rng.choice([0, 0.3, 1], 2)]
    tokens = np.concatenate(readings)
    return Automata(
        np.array(machines, dtype=np.int64).reshape(-1, 5),
        np.cumsum([0, *map(len, readings)]),
        tokens,
        rng.integers(0, 4, len(tokens)).astype(np.int16),
        np.concatenate([*steps, []]).astype(np.int16),
        np.concatenate([*arcs, []]).astype(np.int32),
        np.concatenate([*costs, []]),
    )


def random_ground(rng: np.random.Generator) -> Ground:
    size = int(rng.integers(2, 5))
    n_counters, n_sums, n_machines = int(rng.integers(1, 4)), int(rng.integers(0, 4)), int(rng.integers(0, 4))
    counters, sums = random_counters(rng, size, n_counters), random_sums(rng, n_sums, n_counters)
    if n_sums == 0:
        counters = Counters(np.zeros(size * size + 1, dtype=np.int64), counters.moves[:0], counters.masks)
    else:  # the kernel keeps as many counts as the sums speak of
        counters.moves[:, 0] %= sums.terms[:, 1].max() + 1
    return Ground(size, counters, sums, random_automata(rng, n_machines, size))


def random_labellings(rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labellings of parts of 20 tokens, some of them empty and some of −1."""
    lengths = rng.integers(0, 7, 12)
    bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    labels = rng.integers(0, size - 1, int(bounds[-1])).astype(np.int32)
    for n in np.flatnonzero(rng.random(12) < 0.2):
        labels[bounds[n] : bounds[n + 1]] = -1
    return labels, bounds, rng.integers(0, 13, 12)


@pytest.mark.parametrize("seed", SEEDS)
def test_violations_are_those_of_the_reference(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ground = random_ground(rng)
    labels, bounds, first_token = random_labellings(rng, ground.size)
    result = np.full((12, len(ground.sums.limits) + len(ground.automata.machines)), np.nan)
    kernel.violations_of(labels, bounds, first_token, ground, 0, 12, result)
    expected = naive_violations.violations_of(labels.tolist(), bounds.tolist(), first_token.tolist(), ground)
    np.testing.assert_allclose(result, np.array(expected).reshape(result.shape), atol=1e-8)


@pytest.mark.parametrize("seed", SEEDS[::4])
def test_one_labelling_is_judged_with_its_counts(seed: int) -> None:
    """Also from the middle of an array, into any row."""
    rng = np.random.default_rng(seed)
    ground = random_ground(rng)
    labels = rng.integers(0, ground.size - 1, 9).astype(np.int32)
    n_counters = 1 + max((int(c) for c in ground.sums.terms[:, 1]), default=0)
    counts = np.full(n_counters, 99)
    found = np.full((2, len(ground.sums.limits) + len(ground.automata.machines)), -1.0)
    called(kernel.judge)(labels, 3, 8, 6, ground, counts, found, 1)
    assert counts.tolist() == naive_violations.count(labels[3:8].tolist(), 6, ground, n_counters)
    bounds = [0, 5]
    (expected,) = naive_violations.violations_of(labels[3:8].tolist(), bounds, [6], ground)
    assert found[1] == pytest.approx(expected, abs=1e-8)
    assert (found[0] == -1).all()


def test_a_bound_in_decimal_fractions_is_met_exactly() -> None:
    """0.1 · 3 is a little more than 0.3, and 0.7 + 0.1 · 3 a little less than 1."""
    for bound, per_token, length in ((0.7, 0.1, 3), (0.0, 0.29, 100), (-0.3, 0.1, 3)):
        sums = Sums(np.array([0, 1]), np.array([[1, 0]]), np.array([[bound, per_token]]))
        exact = round(bound + per_token * length, 6)
        assert called(kernel.limit_of)(sums, 0, length) == exact
        result = np.empty((1, 1))
        called(kernel.exceed)(np.array([round(exact)]), length, sums, result, 0)
        assert result.tolist() == [[0.0]]


def test_only_the_labellings_asked_for_are_filled() -> None:
    none = np.zeros(0, dtype=np.int64)
    counters = Counters(np.array([0, 1, 1, 1, 1]), np.array([[0, 1, -1]]), np.zeros((0, 0), dtype=bool))
    sums = Sums(np.array([0, 1]), np.array([[1, 0]]), np.zeros((1, 2)))
    automata = Automata(
        none.reshape(0, 5),
        np.zeros(1, dtype=np.int64),
        none,
        none.astype(np.int16),
        none.astype(np.int16),
        none.astype(np.int32),
        np.zeros(0),
    )
    labels, bounds = np.zeros(9, dtype=np.int32), np.array([0, 2, 5, 9])
    result = np.full((3, 1), -1.0)
    kernel.violations_of(
        labels, bounds, np.array([0, 0, 0]), Ground(2, counters, sums, automata), 1, 2, result
    )
    assert result.ravel().tolist() == [-1, 2, -1]
