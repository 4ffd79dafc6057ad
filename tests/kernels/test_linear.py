"""`kernels/linear.py` against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from conseq.kernels import linear as kernel

CLOSE = {np.float32: 1e-5, np.float64: 1e-12}


@pytest.fixture(params=[np.float32, np.float64])
def vectors(request):
    """q, a, b and a positive scale."""
    rng = np.random.default_rng(0)
    q, a, b = (rng.normal(size=300).astype(request.param) for _ in range(3))
    return q, a, b, rng.uniform(0.1, 2, size=300).astype(request.param)


def test_products(vectors):
    q, a, _, scale = vectors
    close = {"rel": CLOSE[q.dtype.type], "abs": CLOSE[q.dtype.type]}
    assert kernel.dot(q, a) == pytest.approx(float(q.astype(float) @ a.astype(float)), **close)
    assert kernel.scaled_square(a, scale) == pytest.approx(
        float((scale * a.astype(float) ** 2).sum()), **close
    )


def test_adding_and_multiplying_in_one_pass(vectors):
    q, a, b, scale = vectors
    close = CLOSE[q.dtype.type]
    expected = q.astype(float) - 0.7 * a
    found = q.copy()
    assert kernel.add_dot(found, -0.7, a, b) == pytest.approx(float(expected @ b), rel=100 * close)
    np.testing.assert_allclose(found, expected, close, close)
    found, expected = q.copy(), expected * scale * 1.3
    assert kernel.add_scale_dot(found, -0.7, a, scale, 1.3, b) == pytest.approx(
        float(expected @ b), rel=100 * close
    )
    np.testing.assert_allclose(found, expected, close, close)


def test_element_by_element_it_rounds_as_numpy_does(vectors):
    q, a, b, _ = vectors
    wide = [v.astype(float) * (1 + 1e-9) for v in (q, a, b)]
    found = wide[0].copy()
    kernel.sum_times(found, 0.3, wide[1], found)
    assert np.array_equal(found, wide[0] + 0.3 * wide[1])
    kernel.sum_times(wide[1], -0.7, wide[2], found)
    assert np.array_equal(found, wide[1] + -0.7 * wide[2])
