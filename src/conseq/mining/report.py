"""What rules do: how often each is broken, and what the labels would score without it.

Evidence, rules ─→ RuleReport: scores before and after, the effect of leaving each rule out, labels that gain

A labelling without rules that breaks none of them is the best under any part of them, so only the other
sequences are decoded again, once per rule.  Axes: N sequences, K rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conseq.constraints.base import Constraint
from conseq.decoders.auto import decode_all
from conseq.dtypes import Ids
from conseq.metrics import Counts, Report, evaluate_ids, sequence_counts
from conseq.mining.evidence import LIMITS, Evidence
from conseq.problem import Problems


class LabelGain(NamedTuple):
    """A type of segment, its F1 without and with rules, and how many there are."""

    type: str
    before: float
    after: float
    support: int

    @property
    def gain(self) -> float:
        return self.after - self.before


@dataclass(frozen=True)
class RuleReport:
    """The scores of a model's labels without rules and under them, on evidence."""

    before: Report
    after: Report
    effects: tuple[float, ...] | None  # [K], F1 with all rules − F1 with this one left out
    broken: tuple[int, ...]  # [K], sequences that still break the rule under all of them
    certified: int
    sequences: int

    @property
    def labels(self) -> list[LabelGain]:
        """The types of segments, those that gain most first."""
        kinds = sorted(self.before.span.labels.keys() & self.after.span.labels.keys())
        both = ((k, self.before.span.labels[k], self.after.span.labels[k]) for k in kinds)
        gains = [LabelGain(kind, old.f1, new.f1, new.gold) for kind, old, new in both]
        return sorted(gains, key=lambda one: -one.gain)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; the effects stand with their rules elsewhere."""
        return {
            "sequences": self.sequences,
            "certified": self.certified,
            "f1": {"before": self.before.span.total.f1, "after": self.after.span.total.f1},
            "accuracy": {"before": self.before.accuracy, "after": self.after.accuracy},
            "labels": [{**one._asdict(), "gain": one.gain} for one in self.labels if one.gain],
        }


def report_on(
    evidence: Evidence,
    rules: Sequence[Constraint],
    *,
    effects: bool = True,
    watch: Callable[[int], None] = lambda _: None,
) -> RuleReport:
    """Measure the rules on evidence; with `effects` each by itself, and `watch` is told how many are done."""
    problems = Problems.of(evidence.potentials, evidence.schema, rules, evidence.corpus)
    found = decode_all(problems, limits=LIMITS, threads=evidence.threads)
    report = evaluate_ids(evidence.gold, found.labels, evidence.corpus.offsets, evidence.schema)
    return RuleReport(
        evaluate_ids(evidence.gold, evidence.predicted, evidence.corpus.offsets, evidence.schema),
        report,
        tuple(_effects(evidence, rules, found.labels, watch)) if effects else None,
        tuple((found.violations > 0).sum(axis=0).tolist()),
        int(found.certified.sum()),
        len(evidence),
    )


def _effects(
    evidence: Evidence, rules: Sequence[Constraint], labels: Ids, watch: Callable[[int], None]
) -> list[float]:
    """F1 with all rules − F1 with one left out, [K]."""
    touched = np.flatnonzero((evidence.broken_by_model(rules) > 0).any(axis=1))
    if not len(touched):
        return [0.0] * len(rules)
    part = evidence.select(touched)
    whole = _tally(evidence, labels)
    rest = whole.sum(axis=0) - whole[touched].sum(axis=0)
    full = Counts.total(whole).f1
    problems = Problems.of(part.potentials, part.schema, rules, part.corpus)
    penalties = [rule.penalty for rule in rules]
    effects = []
    for k in range(len(rules)):
        without = problems.program.with_penalties([*penalties[:k], 0.0, *penalties[k + 1 :]])
        found = decode_all(Problems(part.potentials, without), limits=LIMITS, threads=part.threads)
        effects.append(full - Counts.total(rest + _tally(part, found.labels).sum(axis=0)).f1)
        watch(k + 1)
    return effects


def _tally(evidence: Evidence, labels: Ids) -> NDArray[np.int64]:
    return sequence_counts(evidence.gold, labels, evidence.corpus.offsets, evidence.schema)
