"""What rules do on evidence, and how wide the band of two stages is: against doing it the slow way."""

from __future__ import annotations

import numpy as np
import pytest

from conseq.constraints.language import parse_constraints
from conseq.datasets import citations
from conseq.decoders.auto import decode_all
from conseq.decoders.base import Limits
from conseq.decoders.twostage import TwoStage
from conseq.labeller import SequenceLabeller
from conseq.labeller.learning import evidence_of
from conseq.metrics import evaluate
from conseq.mining import tau as tau_module
from conseq.mining.evidence import Evidence
from conseq.mining.report import report_on
from conseq.mining.tau import choose_tau
from conseq.problem import Problems

RULES = parse_constraints(
    """
at most 1 segment of title        penalty 2
at most 1 segment of date         penalty 1.5
if number then volume             penalty 1
not both journal and booktitle    penalty 2
no title before author            penalty 3
"""
)


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    labeller = SequenceLabeller("ner", n_jobs=1, max_iterations=30).fit(citations(40, seed=3))
    return evidence_of(labeller, citations(60, seed=4))


def labels(evidence: Evidence, rules, decoder="auto") -> list[list[str]]:
    """Every sequence by itself, without any short cut."""
    problems = Problems.of(evidence.potentials, evidence.schema, rules, evidence.corpus)
    return [found.labels for found in decode_all(problems, decoder)]


def f1(evidence: Evidence, found: list[list[str]]) -> float:
    gold = evidence.corpus.split(evidence.schema.decode(evidence.gold))
    return evaluate(gold, found, evidence.schema).span.total.f1


def test_effects_are_what_is_lost_without_each_rule(evidence):
    report = report_on(evidence, RULES)
    full = f1(evidence, labels(evidence, RULES))
    assert report.after.span.total.f1 == pytest.approx(full)
    assert report.before.span.total.f1 == pytest.approx(f1(evidence, labels(evidence, [])))
    slow = [full - f1(evidence, labels(evidence, [r for r in RULES if r is not rule])) for rule in RULES]
    assert report.effects == pytest.approx(slow)
    assert any(report.effects), "no rule matters: the data is too easy to test anything"
    assert report.certified == report.sequences == 60


def test_what_is_still_broken_is_counted_in_sequences(evidence):
    report = report_on(evidence, RULES, effects=False)
    tokens = evidence.corpus.token_sequences()
    found = labels(evidence, RULES)
    for rule, number in zip(RULES, report.broken, strict=True):
        pairs = zip(found, tokens, strict=True)
        assert number == sum(rule.violation(y, evidence.schema, x) > 0 for y, x in pairs)
    assert report.effects is None


def test_labels_that_gain_come_first(evidence):
    report = report_on(evidence, RULES, effects=False)
    gains = [one.gain for one in report.labels]
    assert gains == sorted(gains, reverse=True)
    best = report.labels[0]
    assert best.gain == pytest.approx(best.after - best.before)
    assert report.after.span.labels[best.type].f1 == best.after
    assert report.to_dict()["f1"]["after"] == report.after.span.total.f1


def test_without_rules_nothing_changes(evidence):
    report = report_on(evidence, [])
    assert report.effects == ()
    assert report.before.span.total == report.after.span.total


def test_tau_is_the_best_of_the_grid(evidence, monkeypatch):
    monkeypatch.setattr(tau_module, "LIMITS", Limits())  # with the usual ones a wide band is searched in part
    grid = (1.0, 0.99, 0.9, 0.5)
    seen: dict[float, float] = {}
    chosen = choose_tau(evidence, RULES, grid=grid, watch=seen.__setitem__)
    for tau in grid:
        slow = labels(evidence, RULES, TwoStage(tau))
        assert seen[tau] == pytest.approx(f1(evidence, slow)), tau
    assert seen[1.0] == pytest.approx(f1(evidence, labels(evidence, [])))
    assert seen[chosen] == max(seen.values())
    assert len(set(seen.values())) > 1


def test_of_equal_bands_the_narrowest(evidence):
    """Rules that nothing breaks leave all labels as they are."""
    never = parse_constraints("at most 90 segments of title  penalty 1")
    assert choose_tau(evidence, never) == 1.0
    nothing = evidence.select(np.arange(0))
    assert choose_tau(nothing, RULES) == 1.0
