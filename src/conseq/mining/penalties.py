"""What breaking a rule should cost, learned from evidence.

    Evidence, rules ─→ learner.passes ─→ penalties[K] after each pass ─→ those best on held-out halves

Anzaroot et al. 2014, section 3.1, with v the violations and ŷ the best labels under the present penalties:

    perceptron    c ← max(0, c + step · Σ_batch (v(ŷ) − v(gold)))                       averaged over updates
    svm           the same with ŷ = argmax score(y) + margin · (wrong tokens of y),
                  and c shrinks towards 0: c ← max(0, (1 − step · shrink) c + …)
    log-ratio     c = −log((v + α) / (h + v + 2α)), h times held, v times violated, α = ½
                  (Fersini et al. 2014, eq. 30)

Axes: N sequences, K rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from conseq.constraints.base import Constraint
from conseq.constraints.program import Program
from conseq.decoders.auto import decode_all
from conseq.decoders.base import Limits
from conseq.dtypes import Floats
from conseq.errors import ConseqError
from conseq.metrics import score_ids
from conseq.mining.evidence import Evidence
from conseq.potentials import Potentials
from conseq.problem import Problems

LIMITS = Limits(states=5_000, nodes=0)
"""For one sequence while penalties are learned; where rules interact more, the best labels so far are taken.
No limit of time, so that the same data and seed give the same penalties."""
DIGITS = 3
"""Penalties are rounded to this number of decimals."""


class Pass(NamedTuple):
    """How far learning is: passes done and to do, and the score on held-out sequences, if there are some."""

    number: int
    of: int
    score: float | None = None


Watch = Callable[[Pass], None]


class Learner(Protocol):
    """Something that learns penalties pass by pass."""

    @property
    def epochs(self) -> int: ...

    def passes(self, evidence: Evidence, rules: Sequence[Constraint]) -> Iterator[Floats]:
        """The penalties [K] after each pass over the evidence."""


@dataclass(frozen=True)
class Perceptron:
    """The averaged structured perceptron, in small batches.

    epochs     passes over the evidence
    batch      sequences between two updates
    step       how much one violation too many adds to a penalty
    margin     points that each wrong token gets during learning, so that right labels must win by so much
    shrink     how fast penalties fall by themselves, per sequence and step
    random_state    of the order of the sequences
    """

    epochs: int = 5
    batch: int = 20
    step: float = 0.2
    margin: float = 0.0
    shrink: float = 0.0
    random_state: int = 0

    name: ClassVar[str] = "perceptron"

    def __post_init__(self) -> None:
        for name, least in (("epochs", 1), ("batch", 1), ("margin", 0), ("shrink", 0)):
            if not getattr(self, name) >= least:
                raise ConseqError(f"{name} is {getattr(self, name)}; give at least {least}")
        if not self.step > 0:
            raise ConseqError(f"step is {self.step}; give a number above 0")

    def passes(self, evidence: Evidence, rules: Sequence[Constraint]) -> Iterator[Floats]:
        """The mean of the penalties after all updates so far, after each pass, [K]."""
        lessons = [
            _Lesson.of(evidence.select(batch), rules, self.margin) for batch in self._batches(len(evidence))
        ]
        penalties, total, updates = np.zeros(len(rules)), np.zeros(len(rules)), 0
        for _ in range(self.epochs):
            for lesson in lessons:
                more = lesson.excess(penalties).sum(axis=0)
                fall = self.shrink * len(lesson.evidence) * penalties
                penalties = np.maximum(0.0, penalties + self.step * (more - fall))
                total += penalties
                updates += 1
            yield total / updates

    def _batches(self, n: int) -> list[NDArray[np.int64]]:
        order = np.random.default_rng(self.random_state).permutation(n)
        return [order[a : a + self.batch] for a in range(0, n, self.batch)]


@dataclass(frozen=True)
class StructuredSVM(Perceptron):
    """The structured support vector machine by projected sub-gradients: a perceptron that shrinks.

    Minimises shrink/2 · ‖c‖² + mean over sequences of
        max_y (score_c(y) + margin · wrong tokens of y) − score_c(gold),   c ≥ 0
    """

    step: float = 0.1
    margin: float = 0.3
    shrink: float = 0.001

    name: ClassVar[str] = "svm"


@dataclass(frozen=True, eq=False)
class _Lesson:
    """A batch of sequences: scores (with the margin), rules lowered once, what the gold labels violate."""

    evidence: Evidence
    potentials: Potentials
    program: Program
    gold: Floats  # [N,K]

    @classmethod
    def of(cls, evidence: Evidence, rules: Sequence[Constraint], margin: float) -> _Lesson:
        soft = [replace(rule, penalty=1.0) for rule in rules]  # a hard one has no penalty to learn
        program = Program.of(soft, evidence.schema, evidence.corpus)
        gold = program.by_rule(program.violations(evidence.gold))
        return cls(evidence, _with_margin(evidence, margin), program, gold)

    def excess(self, penalties: Floats) -> Floats:
        """How much more than gold the best labels under these penalties violate each rule, [N,K]."""
        problems = Problems(self.potentials, self.program.with_penalties(penalties.tolist()))
        found = decode_all(problems, limits=LIMITS, threads=self.evidence.threads)
        return found.violations - self.gold


def _with_margin(evidence: Evidence, margin: float) -> Potentials:
    if not margin:
        return evidence.potentials
    unary = evidence.potentials.unary + margin
    unary[np.arange(len(unary)), evidence.gold] -= margin
    return replace(evidence.potentials, unary=unary)


LEARNERS: dict[str, type[Perceptron]] = {learner.name: learner for learner in (Perceptron, StructuredSVM)}
"""Every learner of penalties by its name; `log_ratio` needs no learning."""


def log_ratio(violated: float, applied: float) -> float:
    """−log((v + ½) / (h + v + 1)), h + v = applied: the rarer a violation, the larger (Fersini et al. 2014,
    eq. 30).

    >>> round(log_ratio(0, 99), 3), round(log_ratio(50, 99), 3)
    (5.298, 0.683)
    """
    return -float(np.log((violated + 0.5) / (applied + 1)))


# ── how long to learn ───────────────────────────────────────────────────────────────────────────


def learned(
    learners: Learner | Sequence[Learner],
    evidence: Evidence,
    rules: Sequence[Constraint],
    *,
    early: bool = True,
    metric: str = "span_f1",
    watch: Watch = lambda _: None,
) -> Floats:
    """The penalties of the rules, rounded, [K]; 0 for rules that are not worth having.

    With `early` the learner and its number of passes are those whose penalties, learned on one half of the
    evidence, score best on the other half; without it the first learner makes all its passes. Interrupted, it
    gives what the last pass gave.
    """
    if not rules:
        return np.zeros(0)
    given = list(learners) if isinstance(learners, Sequence) else [learners]
    chosen, passes = given[0], given[0].epochs
    if early:
        tried = [(*_best_pass(one, evidence, rules, metric, watch), one) for one in given]
        _, passes, chosen = max(tried, key=lambda one: one[0])
    penalties = np.zeros(len(rules))
    try:
        for number, found in enumerate(chosen.passes(evidence, rules), start=1):
            penalties = found
            watch(Pass(number, passes))
            if number == passes:
                break
    except KeyboardInterrupt:
        if not penalties.any():
            raise
    return np.round(penalties, DIGITS)


def _best_pass(
    learner: Learner, evidence: Evidence, rules: Sequence[Constraint], metric: str, watch: Watch
) -> tuple[float, int]:
    """The best score on the half that was not learned from, both halves together, and its pass."""
    halves = evidence.select(np.arange(0, len(evidence), 2)), evidence.select(np.arange(1, len(evidence), 2))
    if not len(halves[1]):
        return 0.0, learner.epochs
    both = zip(learner.passes(halves[0], rules), learner.passes(halves[1], rules), strict=True)
    scores = []
    for number, (first, second) in enumerate(both, start=1):
        pairs = ((halves[1], first), (halves[0], second))
        scores.append(sum(score_under(*pair, rules, metric) for pair in pairs) / 2)
        watch(Pass(number, learner.epochs, scores[-1]))
    best = int(np.argmax(scores))
    return scores[best], best + 1


def score_under(evidence: Evidence, penalties: Floats, rules: Sequence[Constraint], metric: str) -> float:
    """The metric of the best labels under the rules with these penalties."""
    labels = labels_under(evidence, with_penalties(rules, penalties))
    return score_ids(evidence.gold, labels, evidence.corpus.offsets, evidence.schema, metric)


def labels_under(evidence: Evidence, rules: Sequence[Constraint]) -> NDArray[np.int32]:
    """The best labels of all sequences of the evidence under rules, [T]."""
    problems = Problems.of(evidence.potentials, evidence.schema, rules, evidence.corpus)
    return decode_all(problems, limits=LIMITS, threads=evidence.threads).labels


def with_penalties(rules: Sequence[Constraint], penalties: Floats) -> list[Constraint]:
    """The rules with these penalties, those of 0 left out."""
    pairs = zip(rules, penalties.tolist(), strict=True)
    return [replace(rule, penalty=penalty) for rule, penalty in pairs if penalty > 0]
