"""A memory-based learner in scikit-learn's manner.

rows of values, classes ─→ MemoryLearner(options).fit ─→ predict, predict_proba, kneighbors of rows
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from conseq.archive import Archive, combine, unpacking
from conseq.errors import DataError, ModelError
from conseq.estimator import Estimator, Group
from conseq.models.memory.index import Classified, Memory, resolved
from conseq.options import NeighbourOptions
from conseq.threads import threads_of
from conseq.vocabulary import Vocabulary

Rows = Sequence[Sequence[Any]]


@dataclass(eq=False, repr=False)
class MemoryLearner(Estimator):
    """Keeps all instances; a new one gets the class of those nearest to it.

    distance … threshold    how neighbours are found and vote: the fields of `conseq.NeighbourOptions`
    neighbours              the same as an object: neighbours=NeighbourOptions(k=3)
    n_jobs                  threads; None or −1: all processors
    metric                  another name for distance, as scikit-learn's neighbours have it; None: distance

    >>> rows, classes = [["a", "x"], ["a", "y"], ["b", "y"]], ["one", "one", "two"]
    >>> learner = MemoryLearner().fit(rows, classes)
    >>> learner.predict([["a", "z"], ["b", "x"]])
    ['one', 'two']
    """

    distance: str | Sequence[str] = NeighbourOptions.distance
    weights: str = NeighbourOptions.weights
    k: int = NeighbourOptions.k
    voting: str = NeighbourOptions.voting
    algorithm: str = NeighbourOptions.algorithm
    a: float = NeighbourOptions.a
    b: float = NeighbourOptions.b
    threshold: int = NeighbourOptions.threshold
    n_jobs: int | None = None
    neighbours: Group[NeighbourOptions] = Group(NeighbourOptions)
    metric: str | Sequence[str] | None = None

    def fit(self, rows: Rows, classes: Sequence[Hashable]) -> Self:
        """Keep the instances: a row of values and a class each."""
        if not len(rows):
            raise DataError("there is nothing to learn from; give at least one instance")
        if len(rows) != len(classes):
            raise DataError(f"{len(rows)} rows and {len(classes)} classes; give one class per row")
        chosen = self.neighbours if self.metric is None else replace(self.neighbours, distance=self.metric)
        options = resolved(chosen, len(rows[0]))
        columns = _columns(rows, len(rows[0]))
        built = [Vocabulary.build(column) for column in columns]
        self.vocabularies_ = [vocabulary for vocabulary, _ in built]
        self.classes_ = list(dict.fromkeys(classes))
        number = {name: i for i, name in enumerate(self.classes_)}
        self.model_ = Memory.build(
            np.stack([ids for _, ids in built], axis=1),
            np.array([number[name] for name in classes], dtype=np.int32),
            options,
            _numbers(columns, options.distance),
        )
        return self

    def predict(self, rows: Rows) -> list[Any]:
        """The class of each row."""
        return [self.classes_[i] for i in self.classify(rows).winner.tolist()]

    def predict_proba(self, rows: Rows) -> NDArray[np.float64]:
        """The share of the votes that each class of `classes_` gets, [M,C].

        >>> rows, classes = [["a", "x"], ["a", "y"], ["b", "y"]], ["one", "one", "two"]
        >>> MemoryLearner(k=3).fit(rows, classes).predict_proba([["b", "x"]]).round(2).tolist()
        [[0.67, 0.33]]
        """
        found = self.classify(rows)
        shares = np.zeros((len(found.winner), len(self.classes_)))
        shares[np.repeat(np.arange(len(shares)), np.diff(found.indptr)), found.cls] = found.share
        return shares

    def kneighbors(self, rows: Rows) -> list[list[tuple[float, list[int]]]]:
        """For each row the k nearest distances, and which training instances are that far.

        >>> rows, classes = [["a", "x"], ["a", "y"], ["b", "y"]], ["one", "one", "two"]
        >>> MemoryLearner(weights="none", k=2).fit(rows, classes).kneighbors([["a", "z"]])
        [[(1.0, [0, 1]), (2.0, [2])]]
        """
        ids, numbers = self._encode(rows)
        found = self.model_.neighbours(ids, numbers, threads=threads_of(self.n_jobs))
        pairs = list(zip(found.distance.tolist(), found.instance.tolist(), strict=True))
        return [
            [(far, sorted(i for _, i in same)) for far, same in groupby(pairs[lo:hi], key=itemgetter(0))]
            for lo, hi in pairwise(found.indptr.tolist())
        ]

    def score(self, rows: Rows, classes: Sequence[Hashable]) -> float:
        """The share of rows that get the right class."""
        return float(np.mean([a == b for a, b in zip(self.predict(rows), classes, strict=True)]))

    def classify(self, rows: Rows) -> Classified:
        """Winners and votes as arrays."""
        ids, numbers = self._encode(rows)
        return self.model_.classify(ids, numbers, threads=threads_of(self.n_jobs))

    def archive(self) -> Archive:
        """All there is to save, for `conseq.persist.save`."""
        self._check_fitted()
        classes = [name for name in self.classes_ if isinstance(name, str)]
        if len(classes) < len(self.classes_):
            raise ModelError(
                "only classes that are strings can be saved; turn them into strings and fit again"
            )
        strings = {f"values{f}": v.names for f, v in enumerate(self.vocabularies_)}
        whole = combine({}, {"memory": self.model_.archive()})
        return replace(whole, strings={"classes": classes, **strings})

    @classmethod
    def from_archive(cls, archive: Archive, n_jobs: int | None = None) -> Self:
        """The learner that gave an archive."""
        with unpacking(archive):
            memory = archive.within("memory")
            n_features = len(memory.field("distance", list[str]))
            model = Memory.from_archive(memory, n_features)
            learner = cls(**memory.document, n_jobs=n_jobs)
            learner.classes_ = list(archive.texts("classes"))
            known = len(model.ballot.frequency)
            archive.check(len(learner.classes_) == known, f"there should be {known} classes")
            values = [archive.texts(f"values{f}") for f in range(n_features)]
            learner.vocabularies_ = [Vocabulary(names) for names in values]
            learner.model_ = model
        return learner

    def _encode(self, rows: Rows) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
        self._check_fitted()
        vocabularies = self.vocabularies_
        if not len(rows):
            return np.empty((0, len(vocabularies)), dtype=np.int32), None
        columns = _columns(rows, len(vocabularies))
        ids = np.stack([v.encode(column) for v, column in zip(vocabularies, columns, strict=True)], axis=1)
        return ids, _numbers(columns, self.model_.options.distance)

    def _check_fitted(self) -> None:
        if not hasattr(self, "model_"):
            raise ModelError("the learner has no instances yet; call fit")


def _columns(rows: Rows, width: int) -> list[list[str]]:
    """The values of each feature as strings."""
    for i, row in enumerate(rows):
        if len(row) != width:
            raise DataError(f"row {i} has {len(row)} values where {width} are needed; give all features")
    if not width:
        raise DataError("the rows are empty; give at least one feature")
    return [list(map(str, column)) for column in zip(*rows, strict=True)]


def _numbers(columns: list[list[str]], distance: Sequence[str]) -> NDArray[np.float64] | None:
    """The values as numbers where features are numeric, [N,F], zeros elsewhere; None if no feature is."""
    if "numeric" not in distance:
        return None
    numbers = np.zeros((len(columns[0]), len(columns)))
    for f, column in enumerate(columns):
        if distance[f] == "numeric":
            numbers[:, f] = [_number(value, i, f) for i, value in enumerate(column)]
    return numbers


def _number(value: str, row: int, feature: int) -> float:
    try:
        number = float(value)
    except ValueError:
        number = np.nan
    if not np.isfinite(number):
        raise DataError(
            f"row {row} has {value!r} for feature {feature}, which is numeric; "
            "give a number, or choose another distance"
        )
    return number
