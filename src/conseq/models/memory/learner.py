"""A memory-based learner in scikit-learn's manner.

rows of values, classes ─→ MemoryLearner(options).fit ─→ predict, predict_proba, kneighbors of rows
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from conseq.errors import ConseqError, DataError, ModelError
from conseq.estimator import Estimator
from conseq.models.memory.index import ALGORITHMS, VOTING, Classified, Memory, Options
from conseq.models.memory.measure import METRICS
from conseq.models.memory.weights import WEIGHTS
from conseq.persist import Archive
from conseq.threads import cores
from conseq.vocabulary import Vocabulary

Rows = Sequence[Sequence[Any]]


class MemoryLearner(Estimator):
    """Keeps all instances; a new one gets the class of those nearest to it.

    metric: overlap, mvdm (modified value difference), jensen-shannon, jeffrey (divergences of the classes
        that go with two values) or numeric, or a list with one for each feature
    weights: none, gain-ratio, information-gain, chi-squared or shared-variance
    k: all instances at the k nearest distances vote
    voting: majority, inverse-distance, inverse-linear or exponential-decay, which is exp(−a · d^b)
    algorithm: ib1 (exact) or igtree (the instances that match longest in the order of weights)
    threshold: values seen less often than this are equal or not, whatever the metric
    threads: all processors if None

    >>> rows, classes = [["a", "x"], ["a", "y"], ["b", "y"]], ["one", "one", "two"]
    >>> learner = MemoryLearner().fit(rows, classes)
    >>> learner.predict([["a", "z"], ["b", "x"]])
    ['one', 'two']
    """

    def __init__(
        self,
        metric: str | Sequence[str] = "overlap",
        weights: str = "gain-ratio",
        k: int = 1,
        voting: str = "majority",
        algorithm: str = "ib1",
        a: float = 1.0,
        b: float = 1.0,
        threshold: int = 1,
        threads: int | None = None,
    ) -> None:
        self.metric = metric
        self.weights = weights
        self.k = k
        self.voting = voting
        self.algorithm = algorithm
        self.a = a
        self.b = b
        self.threshold = threshold
        self.threads = threads

    def fit(self, rows: Rows, classes: Sequence[Hashable]) -> Self:
        """Keep the instances: a row of values and a class each."""
        if not len(rows):
            raise DataError("there is nothing to learn from; give at least one instance")
        if len(rows) != len(classes):
            raise DataError(f"{len(rows)} rows and {len(classes)} classes; give one class per row")
        options = self.options(len(rows[0]))
        columns = _columns(rows, len(rows[0]))
        built = [Vocabulary.build(column) for column in columns]
        self.vocabularies_ = [vocabulary for vocabulary, _ in built]
        self.classes_ = list(dict.fromkeys(classes))
        number = {name: i for i, name in enumerate(self.classes_)}
        self.model_ = Memory.build(
            np.stack([ids for _, ids in built], axis=1),
            np.array([number[name] for name in classes], dtype=np.int32),
            options,
            _numbers(columns, options.metric),
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
        found = self.model_.neighbours(ids, numbers, threads=self._threads())
        return [
            _by_distance(found.distance[lo:hi].tolist(), found.instance[lo:hi].tolist())
            for lo, hi in pairwise(found.indptr.tolist())
        ]

    def score(self, rows: Rows, classes: Sequence[Hashable]) -> float:
        """The share of rows that get the right class."""
        return float(np.mean([a == b for a, b in zip(self.predict(rows), classes, strict=True)]))

    def classify(self, rows: Rows) -> Classified:
        """Winners and votes as arrays."""
        ids, numbers = self._encode(rows)
        return self.model_.classify(ids, numbers, threads=self._threads())

    def archive(self) -> Archive:
        """All there is to save, for `conseq.persist.save`."""
        self._check_fitted()
        classes = [name for name in self.classes_ if isinstance(name, str)]
        if len(classes) < len(self.classes_):
            raise ModelError(
                "only classes that are strings can be saved; turn them into strings and fit again"
            )
        strings = {f"values{f}": v.names for f, v in enumerate(self.vocabularies_)}
        document = {"memory": self.model_.document()}
        return Archive(document, {"classes": classes, **strings}, self.model_.arrays())

    @classmethod
    def from_archive(cls, archive: Archive, threads: int | None = None) -> Self:
        """The learner that gave an archive."""
        document = archive.document["memory"]
        learner = cls(**{**document, "metric": list(document["metric"])}, threads=threads)
        learner.model_ = Memory.from_arrays(archive.arrays, document)
        learner.classes_ = list(archive.strings["classes"])
        n_features = len(document["metric"])
        learner.vocabularies_ = [Vocabulary(archive.strings[f"values{f}"]) for f in range(n_features)]
        return learner

    def options(self, n_features: int) -> Options:
        """Its options, checked, for this number of features."""
        metric = (self.metric,) * n_features if isinstance(self.metric, str) else tuple(self.metric)
        if len(metric) != n_features:
            raise ConseqError(f"{len(metric)} metrics for {n_features} features; give one, or one for each")
        for name in metric:
            _check_known("metric", name, METRICS)
        _check_known("weights", self.weights, WEIGHTS)
        _check_known("voting", self.voting, VOTING)
        _check_known("algorithm", self.algorithm, ALGORITHMS)
        if not isinstance(self.k, int | np.integer) or self.k < 1:
            raise ConseqError(f"k is {self.k}; give a whole number of at least 1")
        if not (self.a >= 0 and self.b > 0):
            raise ConseqError(f"a is {self.a} and b is {self.b}; give a of at least 0 and b above 0")
        if not isinstance(self.threshold, int | np.integer) or self.threshold < 1:
            raise ConseqError(f"threshold is {self.threshold}; give a whole number of at least 1")
        return Options(
            metric, self.weights, int(self.k), self.voting, self.algorithm, float(self.a), float(self.b),
            int(self.threshold),
        )  # fmt: skip

    def _encode(self, rows: Rows) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
        self._check_fitted()
        vocabularies = self.vocabularies_
        if not len(rows):
            return np.empty((0, len(vocabularies)), dtype=np.int32), None
        columns = _columns(rows, len(vocabularies))
        ids = np.stack([v.encode(column) for v, column in zip(vocabularies, columns, strict=True)], axis=1)
        return ids, _numbers(columns, self.model_.options.metric)

    def _check_fitted(self) -> None:
        if not hasattr(self, "model_"):
            raise ModelError("the learner has no instances yet; call fit")

    def _threads(self) -> int:
        if self.threads is not None and self.threads < 1:
            raise ConseqError(f"threads is {self.threads}; give at least 1, or None for all processors")
        return self.threads or cores()


def _check_known(option: str, name: object, known: Mapping[str, Any] | Sequence[str]) -> None:
    if name not in known:
        raise ConseqError(f"there is no {option} {name!r}; choose one of {', '.join(known)}")


def _columns(rows: Rows, width: int) -> list[list[str]]:
    """The values of each feature as strings."""
    for i, row in enumerate(rows):
        if len(row) != width:
            raise DataError(f"row {i} has {len(row)} values where {width} are needed; give all features")
    if not width:
        raise DataError("the rows are empty; give at least one feature")
    return [list(map(str, column)) for column in zip(*rows, strict=True)]


def _numbers(columns: list[list[str]], metric: Sequence[str]) -> NDArray[np.float64] | None:
    """The values as numbers where features are numeric, [N,F], zeros elsewhere; None if no feature is."""
    if "numeric" not in metric:
        return None
    numbers = np.zeros((len(columns[0]), len(columns)))
    for f, column in enumerate(columns):
        if metric[f] == "numeric":
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
            "give a number, or choose another metric"
        )
    return number


def _by_distance(distances: list[float], instances: list[int]) -> list[tuple[float, list[int]]]:
    """Instances at the same distance together."""
    found: dict[float, list[int]] = {}
    for distance, instance in zip(distances, instances, strict=True):
        found.setdefault(distance, []).append(instance)
    return [(distance, sorted(members)) for distance, members in found.items()]
