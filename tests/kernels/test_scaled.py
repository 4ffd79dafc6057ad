"""`kernels/scaled.py` against its reference on random blocks."""

from __future__ import annotations

import math

import naive_rows as naive
import numpy as np
import pytest

from conseq.kernels import scaled as kernel
from conseq.kernels.vectors import LANES

SEEDS = range(10)
DTYPES = [np.float32, np.float64]
CLOSE = {np.float32: 2e-5, np.float64: 1e-12}


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


def packed(lengths):
    """steps[L+1], and the packed places of the tokens of each sequence; lengths fall."""
    active = [sum(length > t for length in lengths) for t in range(lengths[0])]
    steps = np.concatenate([[0], np.cumsum(active)])
    return steps, [[int(steps[t]) + i for t in range(length)] for i, length in enumerate(lengths)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count", [1, 3, 8, 9, 21])
@pytest.mark.parametrize("seed", range(4))
def test_forward_and_backward_equal_enumeration(seed, count, dtype):
    rng = np.random.default_rng(seed)
    labels, width = int(rng.integers(1, 4)), LANES * int(rng.integers(1, 3))
    steps, places = packed(sorted(rng.integers(1, 4, size=count).tolist(), reverse=True))
    weights = np.ones((steps[-1], width), dtype)  # the padding is whatever
    weights[:, :labels] = rng.uniform(0.05, 1, size=(steps[-1], labels))
    moves = np.zeros((width, width), dtype)
    moves[:labels, :labels] = rng.uniform(0.05, 1, size=(labels, labels))
    gold = rng.integers(labels, size=steps[-1]).astype(np.int32)
    given = weights[:, :labels].astype(np.float64)

    alpha, scale, residual = np.empty_like(weights), np.empty(steps[-1], dtype), np.empty_like(weights)
    pairs = np.zeros_like(moves)
    kernel.forward(steps, weights, moves, labels, alpha, scale)
    back = np.ascontiguousarray(moves.T)
    kernel.backward(steps, weights, back, labels, alpha, scale, gold, residual, pairs)

    moved = np.zeros((labels, labels))
    for tokens in places:
        z, marginals, moves_of = naive.enumerate_chain(given[tokens].tolist(), moves.tolist(), labels)
        assert np.log(scale[tokens].astype(np.float64)).sum() == pytest.approx(math.log(z), abs=CLOSE[dtype])
        expected = np.array(marginals) - np.eye(labels)[gold[tokens]]
        np.testing.assert_allclose(residual[tokens, :labels], expected, atol=CLOSE[dtype])
        moved += moves_of
    np.testing.assert_allclose(
        pairs[:labels, :labels] * moves[:labels, :labels], moved, atol=50 * CLOSE[dtype]
    )
    assert not residual[:, labels:].any()


def test_a_sequence_without_any_way_has_a_scale_of_zero():
    weights, moves = np.zeros((1, LANES)), np.ones((LANES, LANES))
    alpha, scale = np.empty_like(weights), np.ones(1)
    with np.errstate(all="ignore"):
        kernel.forward(np.array([0, 1]), weights, moves, 2, alpha, scale)
    assert scale[0] == 0


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", SEEDS)
def test_log_sum_is_summed_in_double(seed, dtype):
    scale = np.exp(np.random.default_rng(seed).uniform(-60, 20, size=50)).astype(dtype)
    expected = math.fsum(map(math.log, scale[3:40].tolist()))
    assert kernel.log_sum(scale, 3, 40) == pytest.approx(expected, rel=1e-6 if dtype == np.float32 else 1e-12)
