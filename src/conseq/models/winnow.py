"""A sparse network of Winnow units: one linear unit for each class, learned row by row.

    rows, labels ─→ epochs of updates by factors ─→ mean weights ─→ activations ─→ softmax ─→ probabilities

Roth 1998 (SNoW). A unit whose class is right and whose activation is not above the threshold multiplies the
weights of the row's attributes by `promotion`, one whose class is wrong and that is not below it, by
`demotion`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from conseq.archive import Archive
from conseq.dtypes import Floats
from conseq.errors import ConseqError, DataError, ModelError
from conseq.estimator import Estimator
from conseq.features.design import Design
from conseq.kernels import winnow as kernels
from conseq.models.rows import classes_of, design_of, flat, log_shares


@dataclass(eq=False, repr=False)
class Winnow(Estimator):
    """Learns classes of rows, a `Design` or a matrix of numbers that are not negative.

    >>> model = Winnow().fit([[1, 0], [1, 1], [0, 1]], ["yes", "yes", "no"])
    >>> model.predict([[1, 0], [0, 1]])
    ['yes', 'no']

    promotion, demotion    factors of the weights of a unit that was too low, or too high
    margin                 how far beyond the threshold, which is 1, an activation must be to be left alone
    epochs                 passes over the rows; the weights are the means over their ends
    sharpness              of the softmax: shares are exp(sharpness · activation), divided by their sum
    random_state           of the order of the rows
    """

    promotion: float = 1.05
    demotion: float = 0.95
    margin: float = 0.4
    epochs: int = 20
    sharpness: float = 4.0
    random_state: int = 0

    model_type = "winnow"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.promotion > 1:
            raise ConseqError(f"promotion is {self.promotion}; give a number above 1")
        if not 0 < self.demotion < 1:
            raise ConseqError(f"demotion is {self.demotion}; give a number between 0 and 1")
        if not 0 <= self.margin < 1:
            raise ConseqError(f"margin is {self.margin}; give a number from 0 to below 1")
        if not (self.epochs >= 1 and self.sharpness > 0):
            raise ConseqError("epochs must be 1 or more, and sharpness above 0")

    def fit(self, X: Any, y: Sequence[Any] | NDArray[Any], classes: Sequence[Any] | None = None) -> Self:
        """Learn from rows and a label each; `classes` are all there may be, if not all of them occur."""
        design = design_of(X)
        self.classes_, labels = classes_of(y, classes)
        if len(labels) != design.n_tokens:
            raise DataError(f"there are {design.n_tokens} rows and {len(labels)} labels; give one for each")
        data = _data(design)
        if (data.value < 0).any():
            raise DataError("a row has a negative number; the units of Winnow need numbers from 0 up")
        size = design.n_attributes, len(self.classes_)
        weights, total = np.zeros(size), np.zeros(size)
        active = float(data.value.sum()) / max(1, len(labels))  # of a row, on average
        kernels.allocate(data, labels, 1.0 / max(1.0, active), weights)
        rates = kernels.Rates(float(self.promotion), float(self.demotion), float(self.margin))
        rng = np.random.default_rng(self.random_state)
        for _ in range(self.epochs):
            kernels.learn(data, labels, rng.permutation(len(labels)), rates, weights)
            total += weights
        self.model_ = total / self.epochs
        return self

    def decision_function(self, X: Any) -> Floats:
        """The activation of each unit for each row, [M,K]."""
        if not hasattr(self, "model_"):
            raise ModelError("the classifier is not trained yet; call fit")
        design = design_of(X, len(self.model_))
        found = np.empty((design.n_tokens, len(self.classes_)))
        kernels.activations(_data(design), self.model_, found)
        return found

    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithm of the probability of each class of each row, [M,K]."""
        return log_shares(self.sharpness * self.decision_function(X))

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class of each row, [M,K]."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> list[Any]:
        """The class with the highest activation for each row."""
        return [self.classes_[k] for k in self.decision_function(X).argmax(axis=1).tolist()]

    def archive(self) -> Archive:
        """What a model file holds of it; whoever packs it knows the classes and its options."""
        return Archive({}, {}, {"units": self.model_})

    def restore(self, archive: Archive, classes: Sequence[Any], n_attributes: int) -> Self:
        """The reverse, for a classifier that has its options."""
        self.classes_ = list(classes)
        self.model_ = archive.array("units", np.float64, [n_attributes, len(self.classes_)], 0.0)
        return self


def _data(design: Design) -> kernels.Data:
    indptr, attr, value = flat(design)
    return kernels.Data(indptr, attr, value.astype(np.float64))
