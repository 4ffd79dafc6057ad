"""Single sequences in double precision, as `kernels/online.py` runs them through `kernels/scaled.py`, against
enumeration on random small chains."""

from __future__ import annotations

import math
from itertools import pairwise

import naive
import numpy as np
import pytest
from calling import called

from conseq.kernels import chain as chain_kernel
from conseq.kernels import online, scaled
from conseq.kernels.vectors import LANES

SEEDS = range(20)

padded, exponential = called(chain_kernel.padded), called(online.exponential)


def run(chain):
    """log Z, p(y | x) and the expected transitions of one chain."""
    length, n = chain.unary.shape
    width = padded(n, LANES)
    scores, alpha, residual = (np.zeros((length + 2, width)) for _ in range(3))
    scale, matrix, back, pairs = np.zeros(length + 2), *(np.zeros((width, width)) for _ in range(3))
    scores[:length, :n] = chain.unary
    gold = np.arange(length, dtype=np.int32) % n
    gold_score = chain.unary[np.arange(length), gold].sum()
    top = exponential(chain.pairwise, matrix, back)
    log_z = scaled.lower_by_max(scores, gold, n, 0, length) + gold_score + (length - 1) * top
    scores[:length, :n] = np.exp(scores[:length, :n])
    steps = np.arange(length + 1)
    scaled.forward(steps, scores, matrix, n, alpha, scale)
    scaled.backward(steps, scores, back, n, alpha, scale, gold, residual, pairs)
    log_z += scaled.log_sum(scale, 0, length)
    posterior = residual[:length, :n] + np.eye(n)[gold]
    return log_z, posterior, (pairs * matrix)[:n, :n]


def random_chain(seed, size):
    rng = np.random.default_rng(seed)
    length, n = int(rng.integers(1, 5)), int(rng.integers(1, 5))
    unary, pairwise = size * rng.normal(size=(length, n)), rng.normal(size=(1, n, n)) * min(size, 50)
    return naive.Chain(unary, pairwise, np.zeros(n), np.zeros(n), np.zeros(length, np.int32))


@pytest.mark.parametrize("size", [1.0, 300.0])
@pytest.mark.parametrize("seed", SEEDS)
def test_sums_equal_enumeration(seed, size):
    """Also where scores are so far apart that single precision, or plain sums, would lose them."""
    chain = random_chain(seed, size)
    log_z, posterior, pairs = run(chain)
    assert log_z == pytest.approx(naive.log_partition(chain), rel=1e-12)
    np.testing.assert_allclose(posterior, naive.node(chain), atol=1e-10)
    expected = np.zeros_like(pairs)
    for value, path in naive.labellings(chain):
        for x, y in pairwise(path):
            expected[x, y] += math.exp(value - naive.log_partition(chain))
    np.testing.assert_allclose(pairs, expected, atol=1e-10)


@pytest.mark.parametrize(("labels", "width"), [(1, 8), (8, 8), (9, 16), (22, 24)])
def test_rows_are_padded_to_full_vectors(labels, width):
    assert padded(labels, LANES) == width
