"""`kernels/scaled.py` against its twins on random blocks."""

from __future__ import annotations

import math

import naive_rows as naive
import numpy as np
import pytest

from conseq.kernels import scaled as kernel

SEEDS = range(10)
DTYPES = [np.float32, np.float64]
CLOSE = {np.float32: 2e-5, np.float64: 1e-12}


def blocks(seed, dtype, count, low=0.0):
    """Random [n, Y] blocks of one shape."""
    rng = np.random.default_rng(seed)
    shape = rng.integers([1, 1], [9, 12])
    return [rng.uniform(low, 1.0, size=shape).astype(dtype) for _ in range(count)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", SEEDS)
def test_lower_by_max(seed, dtype):
    rng = np.random.default_rng(seed)
    n, n_labels = rng.integers([1, 1], [9, 8]).tolist()
    scores = np.zeros((n, 8), dtype)
    scores[:, :n_labels] = 50 * rng.normal(size=(n, n_labels))
    gold = rng.integers(n_labels, size=n).astype(np.int32)
    before = scores.tolist()
    lo = int(rng.integers(n))
    total = kernel.lower_by_max(scores, gold, n_labels, lo, n)
    expected = naive.lowered(before[lo:], n_labels)
    np.testing.assert_allclose(scores[lo:, :n_labels], expected, CLOSE[dtype], CLOSE[dtype] * 100)
    assert scores[:lo].tolist() == before[:lo]
    gaps = [-row[gold[lo + i]] for i, row in enumerate(expected)]
    assert total == pytest.approx(math.fsum(gaps), rel=CLOSE[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
def test_lower_by_max_keeps_the_padding_from_overflowing(dtype):
    """Scores far below 0 are raised to 0; the padding beside them, which is 0, must not be raised too."""
    scores = np.zeros((2, 8), dtype)
    scores[:, :3] = [[-2000, -2001, -1999], [-5000, -4000, -4500]]
    kernel.lower_by_max(scores, np.zeros(2, np.int32), 3, 0, 2)
    assert np.isfinite(np.exp(scores)).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", SEEDS)
def test_advance(seed, dtype):
    block, weights = blocks(seed, dtype, 2)
    expected, sums = naive.advance(block.tolist(), weights.tolist())
    scale = np.empty(len(block), dtype)
    kernel.advance(block, weights, scale)
    np.testing.assert_allclose(block, expected, CLOSE[dtype], CLOSE[dtype])
    np.testing.assert_allclose(scale, sums, CLOSE[dtype])
    np.testing.assert_allclose(block.sum(axis=1), 1, CLOSE[dtype])


def test_advance_of_nothing_gives_nothing_and_a_scale_of_zero():
    block, scale = np.zeros((1, 4)), np.ones(1)
    kernel.advance(block, np.ones((1, 4)), scale)
    assert not block.any()
    assert scale[0] == 0


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", SEEDS)
def test_weigh(seed, dtype):
    beta, weights = blocks(seed, dtype, 2)
    scale = np.random.default_rng(seed).uniform(0.1, 2, size=len(beta)).astype(dtype)
    expected = naive.weigh(beta.tolist(), weights.tolist(), scale.tolist())
    out = np.full_like(beta, np.nan)
    kernel.weigh(beta, weights, scale, out)
    np.testing.assert_allclose(out, expected, CLOSE[dtype], CLOSE[dtype])
    kernel.weigh(beta, weights, scale, weights)
    np.testing.assert_array_equal(weights, out, "writing into one's own input must make no difference")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", SEEDS)
def test_subtract_gold(seed, dtype):
    alpha, beta = blocks(seed, dtype, 2)
    rng = np.random.default_rng(seed)
    gold = rng.integers(alpha.shape[1], size=len(alpha)).astype(np.int32)
    lo = int(rng.integers(len(alpha)))
    expected = naive.residual(alpha.tolist(), beta.tolist(), gold.tolist())
    untouched = beta[:lo].copy()
    kernel.subtract_gold(alpha, beta, gold, lo, len(alpha))
    np.testing.assert_allclose(beta[lo:], expected[lo:], CLOSE[dtype], CLOSE[dtype])
    np.testing.assert_array_equal(beta[:lo], untouched)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", SEEDS)
def test_log_sum_is_summed_in_double(seed, dtype):
    scale = np.exp(np.random.default_rng(seed).uniform(-60, 20, size=50)).astype(dtype)
    expected = math.fsum(map(math.log, scale[3:40].tolist()))
    assert kernel.log_sum(scale, 3, 40) == pytest.approx(expected, rel=1e-6 if dtype == np.float32 else 1e-12)
