"""What a classifier says of each row: a share for every class that it thinks possible.

    memory-based learner: classify(rows)                    ─┐
    scikit-learn style: predict_proba, or decision_function ─┴─→ distributions(base, rows) ─┐
    a dense array of probabilities ─→ Distributions.from_dense ─────────────────────────────┴─→ Distributions

Axes: M rows, K classes; row m has the classes cls[indptr[m]:indptr[m+1]] with as many shares.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conseq.dtypes import Floats
from conseq.errors import ScoreError

MOST_CLASSES = 50
"""Classes kept per row of a dense answer, as a neighbourhood has few; thousands would fill the memory."""
ROWS_AT_ONCE = 4096


@dataclass(frozen=True, eq=False)
class Distributions:
    """Shares of classes, M rows. Those of a row add up to 1 (or less, if a base says so).

    >>> found = Distributions.from_dense([[0.2, 0.8], [1.0, 0.0]], ["no", "yes"])
    >>> found.names(), found.confidence.tolist(), np.diff(found.indptr).tolist()
    (['yes', 'no'], [0.8, 1.0], [2, 1])
    """

    classes: Sequence[Any]  # [K], whatever the base was trained with
    indptr: NDArray[np.int64]  # [M+1]
    cls: NDArray[np.int32]  # [nnz]
    share: Floats  # [nnz], ≥ 0
    winner: NDArray[np.int32]  # [M], the class that is predicted

    @classmethod
    def of(
        cls,
        classes: Sequence[Any],
        indptr: ArrayLike,
        entries: ArrayLike,
        share: ArrayLike,
        winner: ArrayLike,
    ) -> Distributions:
        """Checked distributions."""
        found = cls(
            classes,
            np.ascontiguousarray(indptr, dtype=np.int64),
            np.ascontiguousarray(entries, dtype=np.int32),
            np.ascontiguousarray(share, dtype=np.float64),
            np.ascontiguousarray(winner, dtype=np.int32),
        )
        found.check()
        return found

    @classmethod
    def from_dense(
        cls, probabilities: ArrayLike, classes: Sequence[Any], most: int = MOST_CLASSES
    ) -> Distributions:
        """From [M,K], any numbers ≥ 0: the `most` largest of each row, divided by their sum.

        The winner is the largest, the first of equal ones; a row of zeros is shared equally by all classes.
        """
        dense = np.asarray(probabilities, dtype=np.float64)
        if dense.ndim != 2 or dense.shape[1] != len(classes) or not len(classes):
            raise ScoreError(
                f"the probabilities have the shape {dense.shape} and there are {len(classes)} classes; "
                "give one column per class"
            )
        if not ((dense >= 0) & (dense < np.inf)).all():
            m, k = np.argwhere(~((dense >= 0) & (dense < np.inf)))[0]
            raise ScoreError(f"row {m}, class {k} (from 0): {dense[m, k]} is no probability; give 0 or more")
        if most < 1:
            raise ScoreError(f"most is {most}; keep at least 1 class per row")
        dense = np.where(dense.any(axis=1, keepdims=True), dense, 1.0)
        winner = dense.argmax(axis=1)
        if most < dense.shape[1]:
            ranked = dense.copy()
            ranked[np.arange(len(dense)), winner] = np.inf  # the winner stays, whatever equals it
            least = np.argpartition(ranked, -most, axis=1)[:, :-most]
            dense = dense.copy()
            np.put_along_axis(dense, least, 0.0, axis=1)
        row, entries = np.nonzero(dense)
        indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(dense)))])
        share = dense[row, entries] / dense.sum(axis=1)[row]
        return cls.of(classes, indptr, entries, share, winner)

    @classmethod
    def joined(cls, parts: Sequence[Distributions]) -> Distributions:
        """The rows of several answers of one base, one after the other."""
        lengths = np.concatenate([np.diff(part.indptr) for part in parts])
        return cls(
            parts[0].classes,
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            np.concatenate([part.cls for part in parts]),
            np.concatenate([part.share for part in parts]),
            np.concatenate([part.winner for part in parts]),
        )

    def check(self) -> None:
        """Raise if the arrays do not fit each other."""
        rows = self.indptr.ndim == 1 and len(self.indptr) == len(self.winner) + 1 and self.indptr[0] == 0
        if not rows or (np.diff(self.indptr) < 0).any() or self.indptr[-1] != len(self.cls):
            raise ScoreError(
                f"indptr must rise from 0 to {len(self.cls)}, with one entry per row and one more"
            )
        if len(self.cls) != len(self.share):
            raise ScoreError(f"there are {len(self.cls)} classes and {len(self.share)} shares; give one each")
        for name, ids in (("cls", self.cls), ("winner", self.winner)):
            if len(ids) and not 0 <= ids.min() <= ids.max() < len(self.classes):
                raise ScoreError(
                    f"{name} has {ids.min()} to {ids.max()}; there are {len(self.classes)} classes, from 0"
                )
        if not ((self.share >= 0) & (self.share < np.inf)).all():
            raise ScoreError("a share is negative, infinite or not a number; give 0 or more")

    def __len__(self) -> int:
        return len(self.winner)

    @property
    def confidence(self) -> Floats:
        """The share of the winner, [M]."""
        row = np.repeat(np.arange(len(self)), np.diff(self.indptr))
        won = self.cls == self.winner[row]
        return np.bincount(row[won], self.share[won], minlength=len(self)).astype(np.float64)

    def names(self) -> list[Any]:
        """The predicted class of each row."""
        classes = list(self.classes)
        return [classes[k] for k in self.winner.tolist()]


def distributions(base: Any, rows: Any, most: int = MOST_CLASSES, sharpness: float = 1.0) -> Distributions:
    """What a trained base says of rows.

    base       has `classify(rows)` (winner, indptr, cls, share: taken as they are), or `predict_proba(rows)`,
               or `decision_function(rows)`, and `classes_`
    most       of a dense answer the classes kept per row
    sharpness  decision values d become shares by softmax, exp(sharpness · d) / Σ exp(sharpness · d); with 1
               they are rather even where there are many classes, with more the winner gets more
    """
    if hasattr(base, "classify"):
        found = base.classify(rows)
        classes = base.classes_ if hasattr(base, "classes_") else base.classes
        return Distributions.of(classes, found.indptr, found.cls, found.share, found.winner)
    answer = _dense(base, sharpness)
    n = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    starts = range(0, n, ROWS_AT_ONCE)
    parts = [answer(rows[a : a + ROWS_AT_ONCE]) for a in starts]
    if not parts:
        none = np.empty(0, dtype=np.int32)
        return Distributions.of(base.classes_, [0], none, none, none)
    return Distributions.joined([Distributions.from_dense(part, base.classes_, most) for part in parts])


def _dense(base: Any, sharpness: float) -> Callable[[Any], Floats]:
    """A function from rows to [M,K]."""
    if not hasattr(base, "classes_"):
        raise ScoreError(
            f"{type(base).__name__} has no classes_; train it first, or give a base with classify, "
            "predict_proba or decision_function"
        )
    if hasattr(base, "predict_proba"):
        return base.predict_proba
    if hasattr(base, "decision_function"):
        return lambda rows: softmax(base.decision_function(rows), sharpness)
    raise ScoreError(
        f"{type(base).__name__} gives no confidences; give a base with classify, predict_proba or "
        "decision_function"
    )


def softmax(values: ArrayLike, sharpness: float = 1.0) -> Floats:
    """Shares from decision values [M,K], or [M] for two classes (the first has 0 then)."""
    given = sharpness * np.asarray(values, dtype=np.float64)
    columns = np.stack([np.zeros_like(given), given], axis=1) if given.ndim == 1 else given
    shares = np.exp(columns - columns.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)
