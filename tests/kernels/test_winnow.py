"""`kernels/winnow.py` against the rule of Winnow, written out."""

from __future__ import annotations

import numpy as np
import pytest

from conseq.kernels import winnow


def naive(rows, labels, order, rates, weights):
    """An epoch on dense rows [M,A]."""
    for i in order:
        for unit in range(weights.shape[1]):
            total = rows[i] @ weights[:, unit]
            active = rows[i] > 0
            if unit == labels[i] and total <= 1 + rates.margin:
                weights[active, unit] *= rates.promotion
            elif unit != labels[i] and total >= 1 - rates.margin:
                weights[active, unit] *= rates.demotion


@pytest.mark.parametrize("seed", range(20))
def test_epochs_are_those_of_the_rule(seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, size=(8, 5)) * rng.integers(0, 2, size=(8, 5)) * 0.5
    labels = rng.integers(0, 3, size=8)
    place = [np.flatnonzero(row) for row in rows]
    indptr = np.concatenate([[0], np.cumsum([len(p) for p in place])]).astype(np.int64)
    attr = np.concatenate([np.empty(0, dtype=np.int32), *place]).astype(np.int32)
    data = winnow.Data(indptr, attr, np.concatenate([rows[i][p] for i, p in enumerate(place)]))
    weights = np.zeros((5, 3))
    winnow.allocate(data, labels.astype(np.int32), 0.3, weights)
    wanted = np.zeros((5, 3))
    for i in range(8):
        wanted[rows[i] > 0, labels[i]] = 0.3
    assert np.array_equal(weights, wanted)
    rates = winnow.Rates(1.5, 0.7, 0.2)
    for _ in range(3):
        order = rng.permutation(8)
        winnow.learn(data, labels.astype(np.int32), order, rates, weights)
        naive(rows, labels, order, rates, wanted)
        np.testing.assert_allclose(weights, wanted)
    found = np.empty((8, 3))
    winnow.activations(data, weights, found)
    np.testing.assert_allclose(found, rows @ wanted)
