"""Methods of Fersini et al. 2014, and how one is chosen: by labels of sequences that it was not made from.

    Evidence ─→ Plan: candidates ─→ those that matter ─→ penalties ─→ Methods, one per τ
    Evidence in parts ─→ Chooser: Methods made from the others, tokens gained on each ─→ the best Method

A Method is rules with their penalties and a kind of inference: `two-stage` (Fersini et al. 2014, eq. 22 to
29), or `soft`, the score less the penalties. Viterbi is the two-stage method with τ = 1, which every choice
offers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from conseq.constraints.base import Constraint
from conseq.decoders.auto import decode_all
from conseq.decoders.base import Decoder, Limits
from conseq.decoders.batch import Decodings
from conseq.decoders.twostage import TwoStage
from conseq.labeller.learning import split
from conseq.mining import FAMILIES, LOG_RATIO, Candidate, Evidence, Perceptron, Recipe, Screen, learn_from
from conseq.mining.importance import important, judge, without_redundant
from conseq.mining.penalties import log_ratio
from conseq.mining.predicates import MinedRule, mine_rules
from conseq.mining.recipe import find_candidates
from conseq.problem import Problems
from conseq.schema import OUTSIDE
from experiments.common import rest

FIVE = ("adjacency", "precedence", "state-change", "begin-end", "presence")
"""The families of Fersini et al. 2014."""
MARKS = "state-change"
TAUS = (0.999, 0.998, 0.995, 0.99, 0.98, 0.95)
"""Besides 1, which is Viterbi."""
FEW_TAUS = (0.999, 0.995, 0.99)
"""For weak rules, which need a wide band least and take longest in it."""
SURE, LIKELY = 0.9, 0.5
"""In what share of its applications a rule must have held. Free text has few rules that hold nine times in
ten; those about marks are the ones that pay there, so they may be weaker."""
SCALES = (1.0, 0.5)
"""Log-ratio costs are on no model's scale; as penalties they are tried at these multiples."""
PERCEPTRON = Perceptron(margin=0.3)
USUAL = Screen(importance=1.5, broken=2, confidence=0.9, words=0)
WEAK = Screen(importance=1.05, broken=3, confidence=0.1, support=10, words=40)
"""For learned penalties a rule need not hold: it is enough that the model breaks it more often than gold."""
SMALL_STEPS = Perceptron(epochs=5, step=0.05)
MOST_RULES = 80
"""Rules that penalties are learned for: hundreds of automata are slow."""
UPDATES, SMALLEST = 50, 5
"""Steps of a perceptron with small batches in one pass, and the sequences in its smallest batch."""
MOST_IDLE = 100
"""Rules kept that neither the gold labels nor the model's break."""
CAUTION = 0.5
"""Standard errors by which a gain is discounted: one in many sequences is worth more than one in a few."""
PARTS = 3
"""Parts of the evidence that a choice is made on."""
LIMITS = Limits(seconds=2.0)
"""For one sequence; the best labels so far are taken then."""
LITTLE = Limits(states=5_000, nodes=0)
"""The same while methods are compared: no limit of time, so that the same data give the same choice."""

Ints = NDArray[np.int64]

VITERBI, TWO_STAGE, SOFT = "viterbi", "two-stage", "soft"


@dataclass(frozen=True)
class Method:
    """Rules with their penalties, and how to label under them."""

    inference: str
    rules: tuple[Constraint, ...] = ()
    tau: float | None = None
    penalties: str | None = None

    def decode(self, evidence: Evidence) -> Decodings:
        """The labels of all sequences with their certificates."""
        decoder = "auto" if self.tau is None else TwoStage(self.tau)
        return self._decode(evidence, decoder, LIMITS)

    def _decode(self, evidence: Evidence, decoder: str | Decoder, limits: Limits) -> Decodings:
        problems = Problems.of(evidence.potentials, evidence.schema, self.rules, evidence.corpus)
        return decode_all(problems, decoder, limits=limits, threads=evidence.threads)

    def gains(self, evidence: Evidence) -> Ints:
        """How many tokens more than by Viterbi are labelled rightly, in each sequence that changes, [≤ N].

        Where Viterbi's labels break no rule they stay, so the other sequences alone are decoded.
        """
        broken = evidence.broken_by_model(self.rules) if self.rules else np.zeros((len(evidence), 0))
        part = evidence.select(np.flatnonzero((broken > 0).any(axis=1)))
        if not len(part):
            return np.zeros(0, dtype=np.int64)
        decoder = "auto" if self.tau is None else TwoStage(self.tau, "search")
        found = self._decode(part, decoder, LITTLE).labels
        better = (found == part.gold).astype(np.int64) - (part.predicted == part.gold)
        return np.diff(np.append(0, np.cumsum(better))[part.corpus.offsets])


NO_RULES = Method(VITERBI)


# ── plans ───────────────────────────────────────────────────────────────────────────────────────


class Plan(Protocol):
    """A way to make methods from evidence: as many, in the same order, from any."""

    def methods(self, evidence: Evidence) -> list[Method]: ...


class Families(NamedTuple):
    """Rules of these families that held almost always; those about marks in such a share of their
    applications."""

    names: tuple[str, ...]
    around_marks: float = SURE

    def candidates(self, evidence: Evidence) -> list[Candidate]:
        found = find_candidates(evidence, Recipe(self.names, Screen(confidence=SURE, words=0)))
        if MARKS in self.names and self.around_marks < SURE:
            found += find_candidates(
                evidence, Recipe((MARKS,), Screen(confidence=self.around_marks, words=0))
            )
        return list({candidate.rule: candidate for candidate in found}.values())


class Clauses(NamedTuple):
    """Rules from clauses that tell classes apart, by minimum-cost satisfiability."""

    def candidates(self, evidence: Evidence) -> list[Candidate]:
        return find_candidates(evidence, Recipe(("clauses",)))


def clause_rules(evidence: Evidence) -> list[MinedRule]:
    """The rules whose condition is a clause, from the gold labels."""
    return mine_rules(evidence.corpus, evidence.gold, evidence.schema)


@dataclass(frozen=True)
class LogRatio:
    """Rules at log-ratio costs (eq. 30): two-stage with each τ, and soft with each multiple of the costs.

    Rules that the gold labels break more often than the model's are left out. Those that neither breaks are
    kept, the ones that applied most often: a small corpus does not show every mistake.
    """

    source: Families | Clauses
    taus: Sequence[float] = TAUS
    scales: Sequence[float] = ()

    def methods(self, evidence: Evidence) -> list[Method]:
        rules = [_with_penalty(candidate) for candidate in self.candidates(evidence)]
        found = [Method(TWO_STAGE, tuple(rules), tau, LOG_RATIO) for tau in self.taus]
        for scale in self.scales:
            scaled = (replace(rule, penalty=scale * rule.penalty) for rule in rules)
            found.append(Method(SOFT, tuple(scaled), None, LOG_RATIO))
        return found

    def candidates(self, evidence: Evidence) -> list[Candidate]:
        judged = list(judge(self.source.candidates(evidence), evidence))
        worth = without_redundant(important(judged, Screen(importance=1.0, broken=1)))
        idle = [one for one in judged if not one.by_gold and not one.by_model]
        idle.sort(key=lambda one: -one.applied)
        return [*worth, *idle[:MOST_IDLE]]


def _with_penalty(candidate: Candidate) -> Constraint:
    return replace(candidate.rule, penalty=log_ratio(candidate.violated, candidate.applied))


@dataclass(frozen=True)
class Learnt:
    """Rules of these families with penalties learned by a perceptron, decoded as score less penalties.

    With `updates` its batches are so small, or large, that a pass has about that many of them. The screen is
    for running text, most of which is O; records have enough rules that mostly hold.
    """

    families: Sequence[str]
    learner: Perceptron = PERCEPTRON
    updates: int | None = None
    screen: Screen = USUAL

    def methods(self, evidence: Evidence) -> list[Method]:
        learner = self.learner
        if self.updates is not None:
            learner = replace(learner, batch=max(SMALLEST, len(evidence) // self.updates))
        is_text = OUTSIDE in evidence.schema.vocabulary
        screen = self.screen if is_text else USUAL
        recipe = Recipe(self.families, screen, MOST_RULES, learner, early=False)
        rules = learn_from(evidence, recipe).constraints
        return [Method(SOFT, tuple(rules), None, learner.name)]


# ── the choice ──────────────────────────────────────────────────────────────────────────────────


class Chooser:
    """Chooses methods by what they gain on parts of the evidence, made from the other parts.

    What a plan gains is measured once, however many choices it is part of.
    """

    def __init__(self, evidence: Evidence, parts: int = PARTS) -> None:
        self.evidence = evidence
        held_out = split(len(evidence), min(parts, len(evidence)))
        self.parts = [(evidence.select(rest(len(evidence), one)), evidence.select(one)) for one in held_out]
        self.measured: dict[int, list[float]] = {}

    def choose(self, plans: Sequence[Plan]) -> Method:
        """The method that surely gains most tokens, made anew from all of the evidence; no rules unless one
        gains."""
        sure = [(gain, p, m) for p, plan in enumerate(plans) for m, gain in enumerate(self.gains(plan))]
        best, p, m = max(sure, key=lambda one: one[0], default=(0.0, 0, 0))
        return plans[p].methods(self.evidence)[m] if best > 0 else NO_RULES

    def gains(self, plan: Plan) -> list[float]:
        """What each method of the plan surely gains."""
        if id(plan) not in self.measured:
            by_part = [[m.gains(part) for m in plan.methods(others)] for others, part in self.parts]
            self.measured[id(plan)] = [surely(np.concatenate(found)) for found in zip(*by_part, strict=True)]
        return self.measured[id(plan)]


def surely(gains: Ints) -> float:
    """The sum of gains[N], less CAUTION times its standard error, √Σ g² where gains are around 0.

    >>> surely(np.array([1, 1, 1, 1])), surely(np.array([4]))
    (3.0, 2.0)
    """
    return float(gains.sum() - CAUTION * np.sqrt((gains.astype(np.float64) ** 2).sum()))


FIVE_PLANS: Sequence[Plan] = [
    LogRatio(Families(FIVE), scales=SCALES),
    LogRatio(Families(FIVE, LIKELY), FEW_TAUS, SCALES),
    Learnt(FIVE),
    Learnt(FIVE, SMALL_STEPS, UPDATES, WEAK),
]
FEW = tuple(family for family in FAMILIES if family != "pairwise")
"""Without the thousands of rules about two counts, of which a small corpus cannot tell the good ones."""
LEARNED_PLANS: Sequence[Plan] = [
    Learnt(families, *learner)
    for families in (tuple(FAMILIES), FEW)
    for learner in ((PERCEPTRON,), (Perceptron(), UPDATES))
]

METHODS: dict[str, Sequence[Plan]] = {
    VITERBI: (),
    **{family: [LogRatio(Families((family,)))] for family in FIVE},
    MARKS: [LogRatio(Families((MARKS,))), LogRatio(Families((MARKS,), LIKELY), FEW_TAUS)],
    "five": FIVE_PLANS,
    "clauses": [LogRatio(Clauses())],
    "learned": LEARNED_PLANS,
    "all": [*FIVE_PLANS, *LEARNED_PLANS],
}
"""Method ─→ the plans that it may follow."""
