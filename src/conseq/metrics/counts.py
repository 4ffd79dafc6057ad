"""From labels to tallies.  gold and predicted labels → (correct, predicted, gold) per type or per sequence.

    precision = correct / predicted    recall = correct / gold    F1 = 2·correct / (predicted + gold)

and 0/0 = 0.  Accuracy is the same formula with predicted = gold = tokens, so every metric is a tally of
three numbers.  Axes: T tokens, N sequences, Y labels, P segment types; the 3 of a tally in that order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conseq.corpus import Corpus
from conseq.dtypes import Ints
from conseq.errors import DataError
from conseq.schema import AUTO, Schema, Scheme, SpanArrays
from conseq.vocabulary import Vocabulary

Labellings = Corpus | Sequence[Sequence[str]]
"""The labels of sequences: a labelled corpus, or a list of labels each."""


def ratio(part: float, whole: float) -> float:
    """part / whole, 0 where there is nothing to divide by."""
    return part / whole if whole else 0.0


@dataclass(frozen=True)
class Fractions:
    """Precision, recall and F1, from 0 to 1."""

    precision: float
    recall: float
    f1: float

    @classmethod
    def mean(cls, parts: Sequence[Fractions]) -> Fractions:
        names = ("precision", "recall", "f1")
        return cls(*(ratio(sum(getattr(p, name) for p in parts), len(parts)) for name in names))

    def to_dict(self) -> dict[str, float]:
        return asdict(self)


@dataclass(frozen=True)
class Counts:
    """How many things were found rightly, how many were found, how many there are.

    >>> Counts(correct=2, predicted=4, gold=2).to_dict()
    {'precision': 0.5, 'recall': 1.0, 'f1': 0.6666666666666666, 'support': 2}
    """

    correct: int
    predicted: int
    gold: int

    @classmethod
    def total(cls, tally: Ints) -> Counts:
        """The sum of a tally, [..., 3]."""
        correct, predicted, gold = tally.reshape(-1, 3).sum(axis=0).tolist()
        return cls(correct, predicted, gold)

    @property
    def precision(self) -> float:
        return ratio(self.correct, self.predicted)

    @property
    def recall(self) -> float:
        return ratio(self.correct, self.gold)

    @property
    def f1(self) -> float:
        return ratio(2 * self.correct, self.predicted + self.gold)

    @property
    def fractions(self) -> Fractions:
        return Fractions(self.precision, self.recall, self.f1)

    def to_dict(self) -> dict[str, Any]:
        return {**self.fractions.to_dict(), "support": self.gold}


# ── labels → ids ────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, eq=False)
class Encoded:
    """Labellings of the same sequences over one schema: gold[T], systems each [T], offsets[N+1]."""

    schema: Schema
    gold: NDArray[np.int32]
    systems: tuple[NDArray[np.int32], ...]
    offsets: Ints

    def counts(self, metric: str) -> list[Ints]:
        """What a metric tallies per sequence, [N, 3], for each system."""
        return [sequence_counts(self.gold, ids, self.offsets, self.schema, metric) for ids in self.systems]


def encode_all(gold: Labellings, *systems: Labellings, scheme: Schema | Scheme | str = AUTO) -> Encoded:
    """Lists of labels, or corpora, → ids over a schema that has the labels of all of them."""
    right, *others = map(_lists, (gold, *systems))
    for predicted in others:
        _check_aligned(right, predicted)
    lengths = [len(labels) for labels in right]
    flat = chain.from_iterable(chain.from_iterable(labelling) for labelling in (right, *others))
    vocabulary, ids = Vocabulary.build(flat)
    pieces = np.split(ids, len(systems) + 1)
    _check_labelled(vocabulary, pieces, lengths)
    if isinstance(scheme, Schema):
        schema = scheme.extended(vocabulary)
    else:
        schema = Schema.infer(vocabulary, scheme, right)
    place = schema.encode(vocabulary.names)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Encoded(schema, place[pieces[0]], tuple(place[piece] for piece in pieces[1:]), offsets)


def _lists(labellings: Labellings) -> Sequence[Sequence[str]]:
    if isinstance(labellings, Corpus):
        return labellings.label_sequences()
    for one in labellings:
        if isinstance(one, str):
            raise DataError(f"the label {one!r} stands where a sequence should; give a list of labels each")
    return labellings


def _check_aligned(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> None:
    if len(gold) != len(predicted):
        raise DataError(
            f"{len(gold)} sequences of gold labels but {len(predicted)} of predicted ones; give both for each"
        )
    for i, (x, y) in enumerate(zip(gold, predicted, strict=True)):
        if len(x) != len(y):
            raise DataError(
                f"sequence {i} (from 0) has {len(x)} gold labels and {len(y)} predicted ones; "
                "give both for every token"
            )


def _check_labelled(vocabulary: Vocabulary, pieces: Sequence[NDArray], lengths: Sequence[int]) -> None:
    empty = vocabulary.find("")
    for piece in pieces if empty >= 0 else ():
        for token in np.flatnonzero(piece == empty)[:1]:
            sequence = int(np.searchsorted(np.cumsum(lengths), token, side="right"))
            raise DataError(
                f"sequence {sequence} (from 0) has a token without a label; label it or drop the sequence"
            )


def check_ids(gold: NDArray, predicted: NDArray, offsets: NDArray, schema: Schema) -> None:
    """Raise unless both have one id of the schema per token."""
    if not len(gold) == len(predicted) == offsets[-1]:
        raise DataError(
            f"{len(gold)} gold and {len(predicted)} predicted labels for {offsets[-1]} tokens; "
            "give both for every token"
        )
    for kind, ids in [("gold", gold), ("predicted", predicted)]:
        if len(ids) and not (ids.min() >= 0 and ids.max() < len(schema)):
            token = int(np.flatnonzero((ids < 0) | (ids >= len(schema)))[0])
            raise DataError(
                f"token {token} (from 0) has the {kind} label id {ids[token]}, which the schema lacks; "
                "add its label with schema.extended"
            )


# ── ids → tallies ───────────────────────────────────────────────────────────────────────────────


def tally(gold: NDArray, predicted: NDArray, right: NDArray, n: int) -> Ints:
    """Correct, predicted and gold things of each of n kinds, [n, 3], from the kind of each thing."""
    parts = (predicted[right], predicted, gold)
    return np.stack([np.bincount(kinds, minlength=n) for kinds in parts], axis=1)


def matched(gold: SpanArrays, predicted: SpanArrays, schema: Schema, n_tokens: int) -> NDArray[np.bool_]:
    """Which predicted segments are in the gold data with the same tokens and type, [M].

    A token begins at most one segment per level, so end and type at [level, start] say all.
    """
    width = len(schema.types())
    there = np.full((schema.levels, n_tokens), -1, dtype=np.int64)
    there[gold.level, gold.start] = gold.end * width + gold.type
    return there[predicted.level, predicted.start] == predicted.end * width + predicted.type


@dataclass(frozen=True)
class Reading:
    """Which segments count: read in this mode, at every level or those with nothing below them."""

    mode: str
    leaves: bool

    def tally(self, by: str, gold: NDArray, predicted: NDArray, offsets: NDArray, schema: Schema) -> Ints:
        """Correct, predicted and gold segments of each `type` or `sequence`, [·,3]."""
        both = (schema.span_arrays(ids, offsets, self.mode) for ids in (gold, predicted))
        g, p = (spans.take(spans.leaf) if self.leaves else spans for spans in both)
        right = matched(g, p, schema, int(offsets[-1]))
        n = len(schema.types()) if by == "type" else len(offsets) - 1
        return tally(getattr(g, by), getattr(p, by), right, n)


READINGS = {
    "span": Reading("conlleval", leaves=False),
    "span_leaf": Reading("conlleval", leaves=True),
    "span_strict": Reading("strict", leaves=False),
}
"""The keys of a report that count segments."""

Tallier = Callable[[NDArray, NDArray, NDArray, Schema], Ints]


def _tokens_by_sequence(gold: NDArray, predicted: NDArray, offsets: NDArray, schema: Schema) -> Ints:
    sequence = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return tally(sequence, sequence, gold == predicted, len(offsets) - 1)


def _whole_sequences(gold: NDArray, predicted: NDArray, offsets: NDArray, schema: Schema) -> Ints:
    """1, 1, 1 for a sequence without a mistake, 0, 1, 1 for others; nothing for one without tokens."""
    counts = _tokens_by_sequence(gold, predicted, offsets, schema)
    filled = counts[:, 2] > 0
    return np.stack([filled & (counts[:, 0] == counts[:, 2]), filled, filled], axis=1).astype(np.int64)


METRICS: dict[str, Tallier] = {
    "accuracy": _tokens_by_sequence,
    "sequence_accuracy": _whole_sequences,
    **{f"{name}_f1": partial(reading.tally, "sequence") for name, reading in READINGS.items()},
}
"""Metric → what it tallies per sequence, [N, 3]; its value is the F1 of the sum."""


def sequence_counts(
    gold: NDArray, predicted: NDArray, offsets: NDArray, schema: Schema, metric: str = "span_f1"
) -> Ints:
    """Correct, predicted and gold things of each sequence, [N, 3]."""
    if metric not in METRICS:
        raise DataError(f"there is no metric {metric!r}; choose one of {', '.join(METRICS)}")
    check_ids(gold, predicted, offsets, schema)
    return METRICS[metric](gold, predicted, offsets, schema)


def score_ids(
    gold: NDArray, predicted: NDArray, offsets: NDArray, schema: Schema, metric: str = "span_f1"
) -> float:
    """One number, quickly: what a training run watches after every iteration.

    >>> schema = Schema(["O", "B-x", "I-x"], "bio")
    >>> score_ids(np.array([1, 2, 0, 1]), np.array([1, 2, 0, 0]), np.array([0, 4]), schema)
    0.6666666666666666
    """
    return Counts.total(sequence_counts(gold, predicted, offsets, schema, metric)).f1
