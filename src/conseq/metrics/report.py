"""The report of an evaluation.  gold and predicted labels → `Report`.

| key | what counts |
| --- | --- |
| accuracy | every token, O among them |
| sequence_accuracy | sequences without a mistake |
| token | labels of the gold data without O; micro sums their counts, macro averages their fractions |
| span | segments as conlleval reads them, at every level, the full path as type |
| span_leaf | of those the ones with nothing below: no token of the segment lies in a deeper segment |
| span_strict | segments as seqeval's strict mode reads them |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conseq.metrics.counts import (
    READINGS,
    Counts,
    Fractions,
    Labellings,
    Reading,
    check_ids,
    encode_all,
    ratio,
    score_ids,
    tally,
)
from conseq.schema import AUTO, OUTSIDE, Schema, Scheme


@dataclass(frozen=True)
class TokenScores:
    """Scores of single labels: those of the gold data, O left out."""

    micro: Fractions
    macro: Fractions
    labels: Mapping[str, Counts]

    def to_dict(self) -> dict[str, Any]:
        return {
            "micro": self.micro.to_dict(),
            "macro": self.macro.to_dict(),
            "labels": {name: counts.to_dict() for name, counts in self.labels.items()},
        }


@dataclass(frozen=True)
class SpanScores:
    """Scores of segments: all together, and by type (of the gold or the predicted segments)."""

    total: Counts
    labels: Mapping[str, Counts]

    def to_dict(self) -> dict[str, Any]:
        return {
            **self.total.fractions.to_dict(),
            "labels": {name: counts.to_dict() for name, counts in self.labels.items()},
        }


@dataclass(frozen=True, eq=False)
class Confusion:
    """How often each label was taken for each: matrix[Y, Y], gold by predicted."""

    labels: tuple[str, ...]
    matrix: NDArray[np.int64]

    def top(self, n: int = 10) -> list[tuple[str, str, int]]:
        """The most frequent mistakes as (gold, predicted, count), the worst first."""
        wrong = self.matrix.copy()
        np.fill_diagonal(wrong, 0)
        gold, predicted = np.nonzero(wrong)
        counts = wrong[gold, predicted]
        worst = np.argsort(-counts, kind="stable")[:n].tolist()
        return [(self.labels[gold[i]], self.labels[predicted[i]], int(counts[i])) for i in worst]


@dataclass(frozen=True)
class Report:
    """Everything that was measured on one labelling; all scores are fractions from 0 to 1."""

    tokens: int
    accuracy: float
    sequence_accuracy: float
    token: TokenScores
    span: SpanScores
    span_leaf: SpanScores
    span_strict: SpanScores
    confusion: Confusion

    def to_dict(self) -> dict[str, Any]:
        """The report as plain JSON values, the confusion matrix left out."""
        return {
            "tokens": self.tokens,
            "accuracy": self.accuracy,
            "sequence_accuracy": self.sequence_accuracy,
            "token": self.token.to_dict(),
            **{name: getattr(self, name).to_dict() for name in READINGS},
        }


def evaluate(gold: Labellings, predicted: Labellings, scheme: Schema | Scheme | str = AUTO) -> Report:
    """Score the labels of sequences against the gold ones; each a list of labels per sequence, or a corpus.

    >>> report = evaluate([["B-x", "I-x", "O", "B-x"]], [["B-x", "I-x", "O", "O"]])
    >>> report.accuracy, report.span.total.precision, report.span.total.recall
    (0.75, 1.0, 0.5)
    >>> report.confusion.top()
    [('B-x', 'O', 1)]

    A schema given is extended by labels it lacks; a scheme (or 'auto') is applied to the labels of both.
    """
    data = encode_all(gold, predicted, scheme=scheme)
    return evaluate_ids(data.gold, data.systems[0], data.offsets, data.schema)


def evaluate_ids(gold: NDArray, predicted: NDArray, offsets: NDArray, schema: Schema) -> Report:
    """Score label ids[T] against the gold ones; every id must be one of the schema's."""
    check_ids(gold, predicted, offsets, schema)
    confusion = _confusion(gold, predicted, schema)
    correct = int(np.trace(confusion.matrix))
    spans = {
        name: _span_scores(reading, gold, predicted, offsets, schema) for name, reading in READINGS.items()
    }
    return Report(
        tokens=len(gold),
        accuracy=ratio(correct, len(gold)),
        sequence_accuracy=score_ids(gold, predicted, offsets, schema, "sequence_accuracy"),
        token=_token_scores(gold, predicted, schema),
        confusion=confusion,
        **spans,
    )


def _confusion(gold: NDArray, predicted: NDArray, schema: Schema) -> Confusion:
    n = len(schema)
    cells = np.bincount(gold.astype(np.int64) * n + predicted, minlength=n * n)
    return Confusion(schema.labels, cells.reshape(n, n))


def _token_scores(gold: NDArray, predicted: NDArray, schema: Schema) -> TokenScores:
    counts = tally(gold, predicted, gold == predicted, len(schema))
    counted = [y for y, label in enumerate(schema.labels) if label != OUTSIDE and counts[y, 2]]
    labels = {schema.labels[y]: Counts.total(counts[y]) for y in counted}
    return TokenScores(
        micro=Counts.total(counts[counted]).fractions,
        macro=Fractions.mean([c.fractions for c in labels.values()]),
        labels=labels,
    )


def _span_scores(
    reading: Reading, gold: NDArray, predicted: NDArray, offsets: NDArray, schema: Schema
) -> SpanScores:
    counts = reading.tally("type", gold, predicted, offsets, schema)
    seen = np.flatnonzero(counts.any(axis=1)).tolist()
    return SpanScores(Counts.total(counts), {schema.types()[p]: Counts.total(counts[p]) for p in seen})
