"""Picks telling examples for the demonstration.  a model and held-out data ─→ what to show.

`Doubt`: a segment the model is not sure of, with what else it could be.
`Hint`: a sequence read wrongly that one known label puts right.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conseq.corpus import Corpus
    from conseq.labelled import LabelledSequence, LabelledSpan
    from conseq.labeller import SequenceLabeller

LABELLINGS = 50
"""So many labellings are looked at for what a segment could be instead."""


@dataclass(frozen=True)
class Doubt:
    """A sequence, its most doubtful segment, and readings of those tokens with their probabilities."""

    sequence: LabelledSequence
    span: LabelledSpan
    readings: list[tuple[str, float]]


@dataclass(frozen=True)
class Hint:
    """A sequence read wrongly, the token told and its type, the reading then, further tokens put right."""

    before: LabelledSequence
    after: LabelledSequence
    token: int
    type: str
    repaired: int


def doubt(labeller: SequenceLabeller, corpus: Corpus) -> Doubt | None:
    """The segment whose probability is nearest to one half, in a sequence of moderate length."""
    from conseq.decoders.marginals import marginals

    spans = [
        (abs((span.confidence or 0.0) - 0.5), i, span)
        for i, sequence in enumerate(labeller.label(corpus))
        for span in sequence.spans
        if len(sequence.tokens) <= 40 and span.end - span.start > 1
    ]
    if not spans:
        return None
    _, i, span = min(spans, key=lambda found: found[:2])
    alone = corpus.select([i])
    sequence = labeller.label(alone, nbest=LABELLINGS)[0]
    whole = float(marginals(labeller.potentials(alone)).log_partition[0])
    chances: dict[str, float] = {}
    for labels, score in sequence.nbest or []:
        reading = _reading(labeller, labels, sequence, span)
        chances[reading] = chances.get(reading, 0.0) + math.exp(score - whole)
    likely = sorted(chances.items(), key=lambda item: -item[1])
    return Doubt(sequence, span, likely[:3])


def _reading(
    labeller: SequenceLabeller, labels: list[str], sequence: LabelledSequence, span: LabelledSpan
) -> str:
    """The segments that a labelling has on the tokens of a span, as text."""
    found = [s for s in labeller.schema_.spans(labels) if s.start < span.end and s.end > span.start]
    parts = [f"{s.type} “{sequence.cut(s.start, s.end)}”" for s in found]
    return ", ".join(parts) or "nothing"


def hint(labeller: SequenceLabeller, corpus: Corpus) -> Hint | None:
    """The sequence in which one told label puts the most other tokens right."""
    best: Hint | None = None
    for i, before in enumerate(labeller.label(corpus)):
        gold = corpus[i].labels or []
        wrong = [t for t, label in enumerate(gold) if label not in ("O", before.labels[t])]
        if len(wrong) < 3 or len(gold) > 40 or not set(gold) <= set(labeller.schema_.labels):
            continue
        for token in [t for t in wrong if before.tokens[t].isalnum()][:4]:
            found = _told(labeller, corpus.select([i]), before, token, gold)
            if best is None or found.repaired > best.repaired:
                best = found
    return best if best is not None and best.repaired > 0 else None


def _told(
    labeller: SequenceLabeller, alone: Corpus, before: LabelledSequence, token: int, gold: list[str]
) -> Hint:
    allowed = [[[label] if t == token else None for t, label in enumerate(gold)]]
    after = labeller.label(alone, allowed=allowed)[0]
    repaired = _right(after, gold) - _right(before, gold) - 1
    return Hint(before, after, token, labeller.schema_.spans([gold[token]])[0].type, repaired)


def _right(sequence: LabelledSequence, gold: Iterable[str]) -> int:
    return sum(label == true for label, true in zip(sequence.labels, gold, strict=True))
