"""Multinomial logistic regression: a conditional random field whose sequences have one token each.

rows, labels ─→ CRF without transitions and boundaries ─→ ChainModel ─→ softmax ─→ probabilities

p(k | x) ∝ exp(w_k · x);  minimised is −Σ log p(label | x) + c2 ‖w‖², over the (attribute, class) pairs that
training data shows
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from conseq.archive import Archive
from conseq.dtypes import Floats
from conseq.errors import DataError, ModelError
from conseq.estimator import Estimator
from conseq.models.crf import CRF, ChainModel
from conseq.models.layout import Shard
from conseq.models.rows import classes_of, design_of, log_shares
from conseq.optimise.lbfgs import LBFGS
from conseq.threads import threads_of


@dataclass(eq=False, repr=False)
class LogisticRegression(Estimator):
    """Learns classes of rows, a `Design` or a matrix of numbers.

    >>> model = LogisticRegression(c2=0.01).fit([[1, 0], [1, 1], [0, 1]], ["yes", "yes", "no"])
    >>> model.predict([[1, 0], [0, 1]])
    ['yes', 'no']

    c2              weight of the squared L2 norm
    max_iterations  of L-BFGS; None: until it converges
    delta           it converges where the objective falls by less than this part in ten iterations
    n_jobs          threads; None or −1: all processors
    """

    c2: float = 1.0
    max_iterations: int | None = None
    delta: float = 1e-3
    n_jobs: int | None = None

    model_type = "logistic"

    def fit(self, X: Any, y: Sequence[Any] | NDArray[Any], classes: Sequence[Any] | None = None) -> Self:
        """Learn from rows and a label each; `classes` are all there may be, if not all of them occur."""
        design = design_of(X)
        self.classes_, labels = classes_of(y, classes)
        if len(labels) != design.n_tokens:
            raise DataError(f"there are {design.n_tokens} rows and {len(labels)} labels; give one for each")
        optimiser = LBFGS(c2=self.c2, max_iterations=self.max_iterations, delta=self.delta)
        crf = CRF(optimiser, transitions=False, boundaries=False, threads=threads_of(self.n_jobs))
        shard = Shard(design, labels, np.arange(len(labels) + 1, dtype=np.int64))
        self.model_, self.report_ = crf.fit_all([shard], len(self.classes_))
        return self

    def decision_function(self, X: Any) -> Floats:
        """The score of each class of each row, [M,K]."""
        if not hasattr(self, "model_"):
            raise ModelError("the classifier is not trained yet; call fit")
        design = design_of(X, len(self.model_.layout.feature) - 1)
        offsets = np.arange(design.n_tokens + 1, dtype=np.int64)
        return self.model_.potentials(design, offsets).unary

    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithm of the probability of each class of each row, [M,K]."""
        return log_shares(self.decision_function(X))

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class of each row, [M,K]."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> list[Any]:
        """The most probable class of each row."""
        return [self.classes_[k] for k in self.decision_function(X).argmax(axis=1).tolist()]

    def archive(self) -> Archive:
        """What a model file holds of it; whoever packs it knows the classes and its options."""
        return Archive({}, {}, self.model_.arrays())

    def restore(self, archive: Archive, classes: Sequence[Any], n_attributes: int) -> Self:
        """The reverse, for a classifier that has its options."""
        self.classes_ = list(classes)
        self.model_ = ChainModel.from_archive(archive, len(self.classes_), n_attributes)
        return self
