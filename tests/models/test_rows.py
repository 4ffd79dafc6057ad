"""Classifiers of single rows: logistic regression and Winnow, and the rows that they take."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

from conseq import LogisticRegression, Winnow
from conseq.errors import ConseqError, DataError, ModelError
from conseq.features.design import Design
from conseq.models.rows import design_of, flat, matrix_of
from conseq.optimise.lbfgs import LBFGS

BOTH = [LogisticRegression(c2=0.01, n_jobs=1), Winnow()]


def easy(n: int = 120, seed: int = 0) -> tuple[np.ndarray, list[str]]:
    """Rows that show their class in one of three columns, with noise in others."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, size=n)
    rows = np.zeros((n, 9))
    rows[np.arange(n), labels] = 1
    rows[:, 3:] = rng.random((n, 6)) < 0.3
    return rows, [("red", "green", "blue")[k] for k in labels]


@pytest.mark.parametrize("classifier", BOTH, ids=lambda c: c.model_type)
def test_what_is_easy_is_learned(classifier):
    rows, labels = easy()
    found = clone(classifier).fit(rows, labels)
    assert found.classes_ == ["blue", "green", "red"]
    more, right = easy(seed=1)
    assert np.mean([a == b for a, b in zip(found.predict(more), right, strict=True)]) > 0.95
    shares = found.predict_proba(csr_array(more))
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_allclose(shares, np.exp(found.predict_log_proba(more)))


@pytest.mark.parametrize("classifier", BOTH, ids=lambda c: c.model_type)
def test_classes_that_do_not_occur_may_be_named(classifier):
    rows, labels = easy()
    found = clone(classifier).fit(rows, labels, ["red", "green", "blue", "pink"])
    assert found.predict_proba(rows).shape == (120, 4)
    with pytest.raises(DataError, match="'red' is none of the classes green"):
        clone(classifier).fit(rows, labels, ["green", "blue"])


def test_the_weights_minimise_what_they_should():
    """−Σ log p + c2 ‖w‖², with a weight for each attribute and class seen together, by another way."""
    rows, labels = easy(60)
    rows[:, 3:] *= 0.5
    found = LogisticRegression(c2=0.5, delta=1e-9, n_jobs=1).fit(rows, labels)
    names, target = np.unique(labels, return_inverse=True)
    seen = np.stack([(rows[target == k] > 0).any(axis=0) for k in range(len(names))], axis=1)

    def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
        weights = np.zeros(seen.shape)
        weights[seen] = w
        scores = rows @ weights
        top = scores.max(axis=1, keepdims=True)
        log_sum = top[:, 0] + np.log(np.exp(scores - top).sum(axis=1))
        p = np.exp(scores - log_sum[:, None])
        p[np.arange(60), target] -= 1
        value = float((log_sum - scores[np.arange(60), target]).sum() + 0.5 * (w @ w))
        return value, (rows.T @ p)[seen] + w

    best = LBFGS(c2=0.5, delta=1e-12).minimise(objective, np.zeros(int(seen.sum())))
    weights = np.zeros(seen.shape)
    weights[seen] = best.weights
    np.testing.assert_allclose(found.decision_function(rows), rows @ weights, atol=2e-3)


def test_designs_and_matrices_are_the_same_rows():
    row_of = np.array([[0, 1], [2, 1]], dtype=np.int32)
    indptr = np.array([0, 1, 3, 3], dtype=np.int64)
    values = np.array([2.0, 1.0, 3.0], dtype=np.float32)
    design = Design(row_of, indptr, np.array([0, 1, 3], dtype=np.int32), values, 4)
    matrix = matrix_of(design)
    assert matrix.toarray().tolist() == [[2, 1, 0, 3], [0, 1, 0, 3]]
    assert flat(design)[0].tolist() == [0, 3, 5]
    back = design_of(matrix)
    assert [back.attributes(i) for i in range(2)] == [design.attributes(i) for i in range(2)]


def test_what_cannot_be_used_is_said():
    rows, labels = easy(10)
    with pytest.raises(DataError, match="10 rows and 9 labels"):
        LogisticRegression().fit(rows, labels[:9])
    with pytest.raises(DataError, match="8 attributes and the classifier was trained with 9"):
        Winnow().fit(rows, labels).predict(rows[:, :8])
    with pytest.raises(DataError, match="not finite"):
        LogisticRegression().fit(np.where(rows > 0, np.nan, rows), labels)
    with pytest.raises(DataError, match="negative"):
        Winnow().fit(-rows, labels)
    for classifier in BOTH:
        with pytest.raises(ModelError, match="not trained"):
            clone(classifier).predict(rows)
    for wrong in ({"promotion": 1.0}, {"demotion": 1.0}, {"margin": 1.0}, {"epochs": 0}):
        with pytest.raises(ConseqError, match=next(iter(wrong))):
            Winnow(**wrong)
