"""Picks telling examples for the demonstration.  a model and held-out data ─→ what to show.

`Mended`: a sequence that one rule has read better, before and after.
`doubt`: a segment the model is not sure of, with what else it could be.
`Hint`: a sequence read wrongly that one known label puts right.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conseq.constraints.base import Constraint
    from conseq.corpus import Corpus
    from conseq.labelled import LabelledSequence, LabelledSpan
    from conseq.labeller import SequenceLabeller

LABELLINGS = 50
"""How many labellings are looked at for what a segment could be instead."""

MOST_TOKENS = 40
"""Longer sequences are no good examples."""


@dataclass(frozen=True)
class Mended:
    """A sequence read without rules and under them, the rule that decided, whether all is right.

    `alone`: the rule leads there even as the only one; else it is the one that counts most.
    """

    before: LabelledSequence
    after: LabelledSequence
    rule: Constraint
    right: bool
    alone: bool

    def rows(self) -> list[tuple[LabelledSpan | None, LabelledSpan | None]]:
        """The segments that differ or that the rule names, side by side where they overlap."""
        same = {_place(span) for span in self.before.spans} & {_place(span) for span in self.after.spans}
        left, right = (
            [span for span in reading.spans if _place(span) not in same or span.type in self.rule.names]
            for reading in (self.before, self.after)
        )
        rows: list[tuple[LabelledSpan | None, LabelledSpan | None]] = []
        while left and right:
            first, second = left[0].start < right[0].end, right[0].start < left[0].end
            rows.append((left.pop(0) if first else None, right.pop(0) if second else None))
        return rows + [(span, None) for span in left] + [(None, span) for span in right]


def _place(span: LabelledSpan) -> tuple[int, int, str]:
    return span.start, span.end, span.type


@dataclass(frozen=True)
class Hint:
    """A sequence read wrongly, the token told and its type, the reading then, further tokens put right, and
    whether all are."""

    before: LabelledSequence
    after: LabelledSequence
    token: int
    type: str
    repaired: int
    right: bool


def mended(
    labeller: SequenceLabeller, rules: Sequence[Constraint], corpus: Corpus, count: int
) -> list[Mended]:
    """Sequences that the rules have read better, each by another rule: those put wholly right first, and of
    them those in which a rule decided alone."""
    ruled = labeller.with_constraints(rules)
    without, under = labeller.label(corpus, confidences=False), ruled.label(corpus, confidences=False)
    golds = [sequence.labels or [] for sequence in corpus]
    gains = [_matches(under[i].labels, y) - _matches(without[i].labels, y) for i, y in enumerate(golds)]
    better = [i for i, gain in enumerate(gains) if gain > 0 and len(corpus[i]) <= MOST_TOKENS]
    found = []
    for i in better:
        rule, alone = _decided(labeller, rules, corpus.select([i]), without[i], under[i])
        right = under[i].labels == corpus[i].labels
        found.append((right, alone, gains[i], Mended(without[i], under[i], rule, right, alone)))
    found.sort(key=lambda one: one[:3], reverse=True)
    by_rule: dict[Constraint, Mended] = {}
    for *_, one in found:
        by_rule.setdefault(one.rule, one)
    return list(by_rule.values())[:count]


def _decided(
    labeller: SequenceLabeller,
    rules: Sequence[Constraint],
    sequence: Corpus,
    before: LabelledSequence,
    after: LabelledSequence,
) -> tuple[Constraint, bool]:
    """The simplest rule that leads from one reading to the other alone, else the one that saves most."""
    saved = {rule: _cost(rule, before, labeller) - _cost(rule, after, labeller) for rule in rules}
    helpful = sorted((r for r in rules if saved[r] > 0), key=lambda r: (len(r.names), -saved[r]))
    for rule in helpful:
        if labeller.with_constraints([rule]).predict(sequence)[0] == after.labels:
            return rule, True
    return max(rules, key=lambda rule: saved[rule]), False


def _cost(rule: Constraint, reading: LabelledSequence, labeller: SequenceLabeller) -> float:
    """What a rule costs a reading; a hard one counts as very costly."""
    return rule.violation(reading.labels, labeller.schema_, reading.tokens) * min(rule.penalty, 1e6)


def doubt(
    labeller: SequenceLabeller, corpus: Corpus
) -> tuple[LabelledSequence, list[tuple[str, float]]] | None:
    """A sequence of moderate length, and readings of the segment whose probability is nearest to one half."""
    from conseq.decoders.chain.marginals import marginals

    spans = [
        (abs((span.confidence or 0.0) - 0.5), i, span)
        for i, sequence in enumerate(labeller.label(corpus))
        for span in sequence.spans
        if len(sequence.tokens) <= MOST_TOKENS and span.end - span.start > 1
    ]
    if not spans:
        return None
    _, i, span = min(spans, key=lambda found: found[:2])
    alone = corpus.select([i])
    sequence = labeller.label(alone, nbest=LABELLINGS)[0]
    whole = float(marginals(labeller.potentials(alone)).log_partition[0])
    probability: defaultdict[str, float] = defaultdict(float)
    for labels, score in sequence.nbest or []:
        probability[_reading(labeller, labels, sequence, span)] += math.exp(score - whole)
    return sequence, sorted(probability.items(), key=lambda item: -item[1])[:3]


def _reading(
    labeller: SequenceLabeller, labels: list[str], sequence: LabelledSequence, span: LabelledSpan
) -> str:
    """The segments that a labelling has on the tokens of a span, as text."""
    found = [s for s in labeller.schema_.spans(labels) if s.start < span.end and s.end > span.start]
    parts = [f"{s.type} “{sequence.cut(s.start, s.end)}”" for s in found]
    return ", ".join(parts) or "nothing"


def hint(labeller: SequenceLabeller, corpus: Corpus) -> Hint | None:
    """The sequence in which one told label puts the most other tokens right."""
    found = []
    for i, before in enumerate(labeller.label(corpus, confidences=False)):
        gold = corpus[i].labels or []
        wrong = [t for t, label in enumerate(gold) if label not in ("O", before.labels[t])]
        if len(wrong) < 3 or len(gold) > MOST_TOKENS or not set(gold) <= set(labeller.schema_.labels):
            continue
        telling = [t for t in wrong if before.tokens[t].isalnum()][:4]
        found += [_told(labeller, corpus.select([i]), before, token, gold) for token in telling]
    best = max(found, key=lambda hint: (hint.right, hint.repaired), default=None)
    return best if best is not None and best.repaired > 0 else None


def _told(
    labeller: SequenceLabeller, alone: Corpus, before: LabelledSequence, token: int, gold: list[str]
) -> Hint:
    allowed = [[[label] if t == token else None for t, label in enumerate(gold)]]
    after = labeller.label(alone, allowed=allowed, confidences=False)[0]
    repaired = _matches(after.labels, gold) - _matches(before.labels, gold) - 1
    return Hint(
        before, after, token, labeller.schema_.spans([gold[token]])[0].type, repaired, after.labels == gold
    )


def _matches(labels: list[str], gold: list[str]) -> int:
    return sum(label == true for label, true in zip(labels, gold, strict=True))
