"""Penalties: updates by hand, what they do to predictions, how long is learned, interruptions.

In most problems here a rule (at most 1 segment of a) meets labels a b ?: the model is sure of the first two,
and for the last one it takes a, by a lead, where it should take b.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pytest
from labelled_corpora import scored, towards

from conseq.constraints import FollowedLater, IfThen, Segments
from conseq.errors import ConseqError
from conseq.mining import evidence as module
from conseq.mining.evidence import Evidence, with_penalties
from conseq.mining.penalties import (
    LEARNERS,
    Pass,
    Perceptron,
    StructuredSVM,
    learned,
    log_ratio,
)
from conseq.schema import Schema

SCHEMA = Schema(["a", "b"], "plain")
ONE = Segments("at most", 1, "a")
NEVER = FollowedLater("b", "a", penalty=3.0)
"""Not broken below by anybody who says a b a, and by all who say a b b."""


def tempted(lead: float, n: int = 1, gold: str = "abb") -> Evidence:
    """n sequences: the model says a b a, the last a by so much."""
    return scored(SCHEMA, [(gold, towards("ab?", {"a": lead}))] * n)


def passes(learner: Perceptron, evidence: Evidence, *rules) -> list[list[float]]:
    return [found.tolist() for found in learner.passes(evidence, rules)]


def predicted(evidence: Evidence, rules, penalties) -> list[str]:
    labels = evidence.labels_under(with_penalties(rules, np.asarray(penalties, dtype=float)))
    return evidence.corpus.split("".join(evidence.schema.decode(labels)))


# ── the perceptron ──────────────────────────────────────────────────────────────────────────────


def test_updates_and_their_mean_by_hand():
    """c = 0.2, 0.4, 0.6, and then 0.6 > 0.5 makes the model say b; each pass gives the mean so far."""
    found = passes(Perceptron(epochs=5, step=0.2), tempted(0.5), ONE)
    assert found == [pytest.approx([c]) for c in (0.2, 0.3, 0.4, 0.45, 0.48)]


def test_a_batch_is_one_update_with_the_sum_of_its_violations():
    three = tempted(0.5, 3)
    assert passes(Perceptron(epochs=2, step=0.1), three, ONE) == [pytest.approx([0.3]), pytest.approx([0.45])]
    found = passes(Perceptron(epochs=1, step=0.1, batch=1), three, ONE)
    assert found == [pytest.approx([(0.1 + 0.2 + 0.3) / 3])]


def test_the_last_batch_may_be_smaller():
    """5 alike in batches of 2, 2, 1 with step 0.01: 0.02, 0.04, 0.05."""
    found = passes(Perceptron(epochs=1, step=0.01, batch=2), tempted(0.5, 5), ONE)
    assert found == [pytest.approx([(0.02 + 0.04 + 0.05) / 3])]


def test_penalties_never_fall_below_nothing():
    """The gold labels break the rule and the model does not: −1 each time, cut at 0."""
    obedient = scored(SCHEMA, [("aba", towards("abb"))] * 4)
    assert passes(Perceptron(epochs=3, batch=1), obedient, ONE) == [[0.0]] * 3


def test_a_penalty_falls_again():
    """Two sequences whose gold labels break the rule at a high cost, one whose labels do not."""
    rows = [("abb", towards("ab?", {"a": 0.05})), ("aba", towards("ab?", {"a": 0.15}))]
    evidence = scored(SCHEMA, rows)
    # c = 0: both say a, excess 1 + 0; c = 0.2: both say b, excess 0 − 1; so 0.2, 0, 0.2, 0 …
    found = passes(Perceptron(epochs=4, step=0.2), evidence, ONE)
    assert found == [pytest.approx([c]) for c in (0.2, 0.1, 0.4 / 3, 0.1)]


def test_a_rule_that_the_model_never_breaks_gets_nothing():
    evidence = scored(SCHEMA, [("abb", towards("ab?", {"a": 0.5})), ("ab", towards("ab"))])
    rules = [ONE, Segments("at most", 2, "a"), IfThen("a", "b")]
    assert [p[1:] for p in passes(Perceptron(epochs=4), evidence, *rules)] == [[0.0, 0.0]] * 4


def test_the_penalties_that_rules_come_with_do_not_matter():
    free, high = Segments("at most", 1, "a", penalty=0.0), Segments("at most", 1, "a", penalty=99.0)
    evidence = tempted(0.5)
    expected = passes(Perceptron(), evidence, ONE)
    assert passes(Perceptron(), evidence, free) == passes(Perceptron(), evidence, high) == expected


def test_rules_that_are_violated_by_degree_move_by_degree():
    evidence = scored(SCHEMA, [("abbbb", towards("ababa"))])
    assert passes(Perceptron(epochs=1, step=0.1), evidence, ONE) == [pytest.approx([0.2])]


@pytest.mark.parametrize("name", LEARNERS)
def test_a_rule_that_tells_gold_from_model_gets_a_high_enough_penalty(name):
    evidence = tempted(0.7, 6)
    learner = LEARNERS[name](epochs=25, batch=2)
    assert predicted(evidence, [ONE], [0.0]) == ["aba"] * 6
    penalties = learned(learner, evidence, [ONE], early=False)
    assert predicted(evidence, [ONE], penalties) == ["abb"] * 6
    assert 0.7 < penalties[0] < 2


def test_the_same_seed_gives_the_same_penalties_and_another_another_order():
    rng = np.random.default_rng(0)
    rows = [("abb", towards("ab?", {"a": float(lead)})) for lead in rng.random(30)]
    evidence = scored(SCHEMA, rows)
    found = [passes(Perceptron(epochs=2, batch=3, random_state=seed), evidence, ONE) for seed in (5, 5, 6)]
    assert found[0] == found[1] != found[2]


# ── the structured SVM ──────────────────────────────────────────────────────────────────────────


def test_a_margin_teaches_where_the_labels_are_right_already():
    """b leads by 0.1. A perceptron learns nothing; with a margin of 0.3 a wins until c > 0.2."""
    evidence = scored(SCHEMA, [("abb", towards("ab?", {"b": 0.1}))])
    assert passes(Perceptron(epochs=2), evidence, ONE) == [[0.0], [0.0]]
    c, total, expected = 0.0, 0.0, []
    for k, wins in enumerate([True, True, True, False, False], start=1):
        assert (0.3 - c > 0.1) == wins
        c = c + 0.1 * (wins - 0.001 * c)
        total += c
        expected.append(pytest.approx([total / k]))
    svm = StructuredSVM(epochs=5, step=0.1, margin=0.3, shrink=0.001)
    assert passes(svm, evidence, ONE) == expected


def test_shrinking_counts_the_sequences_of_a_batch():
    """Nothing is violated from the second update on, so that c shrinks alone: by 3 · shrink · step."""
    found = passes(Perceptron(epochs=3, step=1.0, shrink=0.1), tempted(0.5, 3), ONE)
    steps = [3.0, 3.0 - 3 * 0.1 * 3.0, 2.1 - 3 * 0.1 * 2.1]
    assert found == [pytest.approx([np.mean(steps[:k])]) for k in (1, 2, 3)]


def test_the_margin_leaves_forbidden_labels_forbidden_and_the_evidence_alone():
    evidence = tempted(0.5)
    evidence.potentials.unary[0, 1] = -np.inf
    before = evidence.potentials.unary.copy()
    changed = evidence._with_margin(0.25).unary
    assert changed.tolist() == [[10.0, -np.inf], [0.25, 10.0], [0.75, 0.0]]
    assert (evidence.potentials.unary == before).all()


# ── log-ratio ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("violated", "applied"), [(0, 0), (0, 10), (3, 10), (10, 10), (1, 1000)])
def test_log_ratio_is_the_formula(violated, applied):
    """−log((v + α) / (h + v + 2α)), α = ½ (Fersini et al. 2014, eq. 30)."""
    held, alpha = applied - violated, 0.5
    assert log_ratio(violated, applied) == pytest.approx(
        math.log((held + violated + 2 * alpha) / (violated + alpha))
    )
    assert log_ratio(violated, applied) > 0


def test_rarely_broken_rules_have_high_penalties():
    assert log_ratio(0, 99) == pytest.approx(math.log(200))
    assert log_ratio(0, 99) > log_ratio(0, 9) > log_ratio(1, 9) > log_ratio(9, 9)


# ── how long to learn ───────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Told:
    """A learner that gives what it is told, then stops so, and notes how often it was asked for more."""

    found: list[list[float]]
    stops: BaseException | None = None
    asked: list[int] = field(default_factory=list)

    @property
    def epochs(self) -> int:
        return len(self.found) + (self.stops is not None)

    def passes(self, evidence, rules) -> Iterator[np.ndarray]:
        for number, one in enumerate(self.found, start=1):
            self.asked.append(number)
            yield np.array(one)
        if self.stops is not None:
            raise self.stops


def mixed() -> Evidence:
    """Gold labels break the rule in two of four, where the scores are clear: 0.6 is right for all."""
    good = ("abb", towards("ab?", {"a": 0.5}))
    rare = ("aba", towards("ab?", {"a": 5.0}))
    return scored(SCHEMA, [good, good, rare, rare])


def test_the_best_pass_on_the_other_half_is_taken():
    seen: list[Pass] = []
    learner = Told([[0.0], [0.1], [0.6], [100.0]])
    found = learned(learner, mixed(), [ONE], watch=seen.append)
    assert found.tolist() == [0.6]
    assert learner.asked[-3:] == [1, 2, 3]  # no pass more than needed in the end
    halves, last = seen[:4], seen[4:]
    assert [p.number for p in halves] == [1, 2, 3, 4]
    assert all(p.of == 4 for p in halves)
    assert halves[2].score == 1.0
    assert max(halves[0].score, halves[3].score) < 1.0
    assert last == [Pass(1, 3), Pass(2, 3), Pass(3, 3)]


def test_of_passes_that_score_alike_the_first_is_taken():
    assert learned(Told([[0.0], [0.6], [0.7], [0.8]]), mixed(), [ONE]).tolist() == [0.6]


def test_without_choosing_the_last_pass_counts():
    assert learned(Told([[0.6], [100.0]]), mixed(), [ONE], early=False).tolist() == [100.0]


def test_each_half_is_judged_by_penalties_from_the_other():
    """What each half gives here is right for itself and wrong for the other."""
    asked = []

    class Overfitted(Told):
        def passes(self, evidence, rules):
            asked.append("".join(evidence.schema.decode(evidence.gold)))
            yield np.array([100.0 if asked[-1] == "abbabb" else 0.0])

    good, rare = ("abb", towards("ab?", {"a": 0.5})), ("aba", towards("ab?", {"a": 5.0}))
    seen: list[Pass] = []
    learned(Overfitted([[0.0]]), scored(SCHEMA, [good, rare] * 2), [ONE], watch=seen.append)
    assert asked == ["abbabb", "abaaba", "abbabaabbaba"]
    assert seen[0].score < 1.0


def test_one_sequence_alone_has_no_other_half():
    assert learned(Perceptron(epochs=3), tempted(0.5), [ONE]).tolist() == [0.4]


def test_the_metric_is_the_one_asked_for(monkeypatch):
    asked = []
    monkeypatch.setattr(module, "score_ids", lambda *args: asked.append(args[-1]) or 0.5)
    learned(Told([[0.6]]), mixed(), [ONE], metric="token_f1")
    assert asked == ["token_f1"] * 2


def test_the_score_under_penalties_by_hand():
    assert mixed().score(np.array([0.6]), [ONE], "span_f1") == 1.0
    # a b a for a b b: two of three segments right of three gold ones, in the first two sequences
    assert mixed().score(np.array([0.0]), [ONE], "accuracy") == pytest.approx(10 / 12)


def test_penalties_are_rounded():
    assert learned(Told([[0.12345, 0.0004]]), mixed(), [ONE, NEVER], early=False).tolist() == [0.123, 0.0]


def test_no_rules_need_no_learning():
    assert learned(Told([[1.0]], KeyboardInterrupt()), mixed(), []).shape == (0,)


def test_rules_without_a_penalty_are_left_out():
    rules = with_penalties([ONE, NEVER], np.array([0.0, 0.25]))
    assert rules == [FollowedLater("b", "a", penalty=0.25)]


# ── interruptions ───────────────────────────────────────────────────────────────────────────────


def test_interrupted_after_a_pass_its_penalties_stay():
    found = learned(Told([[0.1], [0.3]], KeyboardInterrupt()), mixed(), [ONE], early=False)
    assert found.tolist() == [0.3]


def test_interrupted_by_the_watcher_the_pass_stays():
    def impatient(done: Pass) -> None:
        if done.number == 2:
            raise KeyboardInterrupt

    learner = Told([[0.1], [0.3], [0.5]])
    assert learned(learner, mixed(), [ONE], early=False, watch=impatient).tolist() == [0.3]
    assert learner.asked == [1, 2]


@pytest.mark.parametrize("found", [[], [[0.0]]])
def test_interrupted_before_anything_was_learned_it_is_interrupted(found):
    with pytest.raises(KeyboardInterrupt):
        learned(Told(found, KeyboardInterrupt()), mixed(), [ONE], early=False)


def test_interrupted_while_the_number_of_passes_is_chosen_it_is_interrupted():
    with pytest.raises(KeyboardInterrupt):
        learned(Told([[0.6]], KeyboardInterrupt()), mixed(), [ONE])


def test_other_errors_come_through():
    with pytest.raises(ZeroDivisionError):
        learned(Told([[0.6]], ZeroDivisionError()), mixed(), [ONE], early=False)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"epochs": 0}, "epochs is 0"),
        ({"batch": 0}, "batch is 0"),
        ({"step": 0.0}, "step is 0.0"),
        ({"step": -1.0}, "give a number above 0"),
        ({"margin": -1.0}, "margin is -1.0"),
        ({"shrink": float("nan")}, "shrink is nan"),
    ],
)
def test_options_that_cannot_be_used_are_refused(options, says):
    with pytest.raises(ConseqError, match=says):
        Perceptron(**options)


def test_of_several_learners_the_one_that_is_best_on_the_other_half():
    """0.6 is right for all four sequences, 100 wrong for two and 0 for the others."""
    wrong, right, none = Told([[100.0]]), Told([[0.0], [0.6]]), Told([[0.0]])
    for learners in ([wrong, right, none], [right, none, wrong]):
        assert learned(learners, mixed(), [ONE]).tolist() == [0.6]
    assert learned([wrong, right], mixed(), [ONE], early=False).tolist() == [100.0]
