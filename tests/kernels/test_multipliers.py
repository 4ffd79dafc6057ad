"""The steps of a dual descent, against what their docs say, by hand and on random numbers."""

from __future__ import annotations

import naive_primitives
import numpy as np
import pytest
from calling import called

from conseq.kernels import multipliers as kernel
from conseq.kernels.multipliers import IDLE, LEAST, PATIENCE, ROUNDS, SPREAD, STEP

SEEDS = range(100)


# ── how far steps go ────────────────────────────────────────────────────────────────────────────


def test_a_bound_that_falls_moves_the_target_further_away_except_the_first() -> None:
    state = kernel.descent(4.0)
    assert (state[LEAST], state[STEP], state[SPREAD]) == (np.inf, 1.0, 4.0)
    for bound, spread in ((10.0, 4.0), (9.0, 8.0), (5.0, 16.0)):
        assert kernel.note(state, bound)
        assert (state[LEAST], state[SPREAD], state[STEP], state[IDLE]) == (bound, spread, 1.0, 0)
    assert state[ROUNDS] == 3


def test_steps_are_halved_when_the_bound_does_not_fall_for_a_while() -> None:
    state = kernel.descent(4.0)
    kernel.note(state, 10.0)
    for halvings in (1, 2):
        for idle in range(1, PATIENCE + 1):
            assert not kernel.note(state, 10.0 + idle)
            assert state[IDLE] == idle % PATIENCE
        assert (state[STEP], state[SPREAD]) == (0.5**halvings, 4.0 * 0.5**halvings)
    assert state[LEAST] == 10
    assert kernel.note(state, 9.0)
    assert (state[IDLE], state[STEP], state[SPREAD]) == (0, 0.25, 2.0)


def test_a_bound_that_falls_by_rounding_is_the_least_but_no_progress() -> None:
    state = kernel.descent(4.0)
    kernel.note(state, 10.0)
    for k in range(1, PATIENCE + 1):
        assert kernel.note(state, 10.0 - k * 1e-12)
    assert (state[STEP], state[LEAST]) == (0.5, 10.0 - PATIENCE * 1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_least_of_all_bounds_is_kept_and_only_those_are_noted(seed: int) -> None:
    rng = np.random.default_rng(seed)
    state, bounds = kernel.descent(1.0), rng.normal(0, 2, 20).tolist()
    noted = [kernel.note(state, bound) for bound in bounds]
    assert noted == [bound < min(bounds[:i], default=np.inf) for i, bound in enumerate(bounds)]
    assert (state[LEAST], state[ROUNDS]) == (min(bounds), 20)


def test_the_gap_reaches_to_the_best_score_or_to_the_spread_below_the_least_bound() -> None:
    state = kernel.descent(4.0)
    kernel.note(state, 10.0)
    assert kernel.gap_to_close(state, 10.0, -np.inf) == 4  # nothing is known: 10 − 4
    assert kernel.gap_to_close(state, 12.0, -np.inf) == 6  # from a worse point it is further
    assert kernel.gap_to_close(state, 10.0, 5.0) == 4
    assert kernel.gap_to_close(state, 10.0, 9.0) == 1  # a known score is nearer
    state[STEP] = 0.25
    assert kernel.gap_to_close(state, 10.0, 9.0) == 0.25


# ── where they go ───────────────────────────────────────────────────────────────────────────────


def moved(point, excess, upper, gap) -> tuple[bool, list[float]]:
    point = np.array(point, dtype=float)
    went = kernel.move(point, *(np.array(part, dtype=float) for part in (excess, upper)), gap)
    return went, point.tolist()


def test_a_step_closes_the_gap_of_a_linear_function() -> None:
    """λ rises by gap / ‖excess‖² · excess, so λ · excess by the gap."""
    assert moved([0, 0], [3, 4], [9, 9], 5.0) == (True, pytest.approx([0.6, 0.8]))
    assert moved([1, 1], [-1, 2], [9, 9], 1.0) == (True, pytest.approx([0.8, 1.4]))


def test_what_the_box_blocks_is_left_out_of_the_norm() -> None:
    """Of the excesses (−3, 4) the first cannot move below 0, of (4, 3) the second not above 1."""
    assert moved([0, 0], [-3, 4], [9, 9], 4.0) == (True, pytest.approx([0.0, 1.0]))
    assert moved([0, 1], [4, 3], [9, 1], 4.0) == (True, pytest.approx([1.0, 1.0]))


def test_steps_end_at_the_walls_of_the_box() -> None:
    assert moved([1.0], [2.0], [1.5], 100.0) == (True, [1.5])
    assert moved([1.0], [-2.0], [1.5], 100.0) == (True, [0.0])
    assert moved([1.0], [2.0], [np.inf], 8.0) == (True, [5.0])


def test_there_is_nowhere_to_go_at_a_corner_or_on_level_ground() -> None:
    assert moved([0, 2], [-1, 1], [2, 2], 3.0) == (False, [0, 2])
    assert moved([1, 1], [0, 0], [2, 2], 3.0) == (False, [1, 1])
    assert moved([], [], [], 3.0) == (False, [])


@pytest.mark.parametrize("seed", SEEDS)
def test_steps_stay_in_the_box_and_follow_the_slope(seed: int) -> None:
    rng = np.random.default_rng(seed)
    upper = rng.choice([0.0, 0.5, 3.0, np.inf], 4)
    point, excess = np.minimum(rng.exponential(1, 4), upper), rng.integers(-2, 3, 4).astype(float)
    before = point.copy()
    went = kernel.move(point, excess, upper, float(rng.exponential(2)))
    assert ((point >= 0) & (point <= upper)).all()
    assert ((point - before) * excess >= 0).all()
    free = ((before > 0) | (excess > 0)) & ((before < upper) | (excess < 0)) & (excess != 0)
    assert went == free.any()
    assert (point[~free] == before[~free]).all()
    assert (point[free] != before[free]).all()


# ── sums ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", SEEDS)
def test_sums_and_what_their_multipliers_weigh_counters_with(seed: int) -> None:
    """Σ_j weights_j · count_j = Σ_k (λ_k − base_k) · x_k."""
    rng = np.random.default_rng(seed)
    sums = naive_primitives.random_sums(rng, 3)
    counts = rng.integers(-3, 6, 3)
    x, weights = np.full(len(sums.limits), np.nan), np.full(3, np.nan)
    called(kernel.totals)(sums, counts, x)
    assert x.tolist() == naive_primitives.weighted(sums, dict(enumerate(counts.tolist()))).tolist()
    base = rng.exponential(1, len(x))
    multipliers = np.where(rng.random(len(x)) < 0.3, base, rng.exponential(1, len(x)))
    called(kernel.weigh)(sums, multipliers, base, weights)
    assert called(kernel.dot)(weights, counts) == pytest.approx((multipliers - base) @ x)
    assert called(kernel.dot)(weights, counts) == pytest.approx(float(weights @ counts))
