"""What breaking a rule should cost, learned from evidence.

    Examples, rules ─→ learner.passes ─→ weights[W] after each pass ─→ those best on held-out halves

Anzaroot et al. 2014, section 3.1, with v the violations and ŷ the best labels under the present penalties:

    perceptron    c ← max(0, c + step · Σ_batch (v(ŷ) − v(gold)))                       averaged over updates
    svm           the same with ŷ = argmax score(y) + margin · (wrong tokens of y),
                  and c shrinks towards 0: c ← max(0, (1 − step · shrink) c + …)
    log-ratio     c = −log((v + α) / (h + v + 2α)), h times held, v times violated, α = ½
                  (Fersini et al. 2014, eq. 30)

Examples are labelled sequences (`Evidence`) or sentences with relations (`RelationEvidence`). The first K
weights are the penalties c; whatever else the examples have to be learned follows.

Axes: N sequences, K rules, W weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conseq.constraints.base import Rule
from conseq.dtypes import Floats
from conseq.errors import ConseqError

DIGITS = 3
"""Penalties are rounded to this number of decimals."""


class Pass(NamedTuple):
    """How far learning is: passes done and to do, and the score on held-out sequences, if there are some."""

    number: int
    of: int
    score: float | None = None


Watch = Callable[[Pass], None]


Kind = TypeVar("Kind", bound=Rule, contravariant=True)


class Lesson(Protocol):
    """A batch of examples with the rules lowered."""

    def __len__(self) -> int: ...

    def excess(self, weights: Floats) -> Floats:
        """How much each weight should grow by each example, [N,W]: of a penalty, how much more than gold the
        best answer under these weights violates the rule."""
        ...


class Examples(Protocol[Kind]):
    """What penalties are learned from: right answers, with the scores of a model that has not seen them."""

    def __len__(self) -> int: ...

    def select(self, sequences: ArrayLike) -> Self:
        """Some of them, in this order."""
        ...

    def start(self, n_rules: int) -> Floats:
        """The weights before anything was learned, to which they shrink, [W]."""
        ...

    def lesson(self, rules: Sequence[Kind], margin: float) -> Lesson:
        """All of them as one batch, where what is wrong has `margin` points more."""
        ...

    def score(self, weights: Floats, rules: Sequence[Kind], metric: str) -> float:
        """How good the best answers are under these weights."""
        ...


class Learner(Protocol):
    """Something that learns penalties pass by pass."""

    @property
    def epochs(self) -> int: ...

    def passes(self, evidence: Examples[Kind], rules: Sequence[Kind]) -> Iterator[Floats]:
        """The weights [W] after each pass over the evidence."""


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

    def passes(self, evidence: Examples[Kind], rules: Sequence[Kind]) -> Iterator[Floats]:
        """The mean of the weights after all updates so far, after each pass, [W]."""
        lessons = [
            evidence.select(batch).lesson(rules, self.margin) for batch in self._batches(len(evidence))
        ]
        start = evidence.start(len(rules))
        weights, total, updates = start, np.zeros(len(start)), 0
        for _ in range(self.epochs):
            for lesson in lessons:
                more = lesson.excess(weights).sum(axis=0)
                fall = self.shrink * len(lesson) * (weights - start)
                weights = np.maximum(0.0, weights + self.step * (more - fall))
                total += weights
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
    evidence: Examples[Kind],
    rules: Sequence[Kind],
    *,
    early: bool = True,
    metric: str = "span_f1",
    watch: Watch = lambda _: None,
) -> Floats:
    """The penalties of the rules, rounded, and what else is learned, [W]; 0 for rules not worth having.

    With `early` the learner and its number of passes are those whose penalties, learned on one half of the
    evidence, score best on the other half; without it the first learner makes all its passes. Interrupted, it
    gives what the last pass gave.
    """
    start = evidence.start(len(rules))
    if not len(start):
        return start
    given = list(learners) if isinstance(learners, Sequence) else [learners]
    chosen, passes = given[0], given[0].epochs
    if early:
        tried = [(*_best_pass(one, evidence, rules, metric, watch), one) for one in given]
        _, passes, chosen = max(tried, key=lambda one: one[0])
    weights = start
    try:
        for number, found in enumerate(chosen.passes(evidence, rules), start=1):
            weights = found
            watch(Pass(number, passes))
            if number == passes:
                break
    except KeyboardInterrupt:
        if not weights[: len(rules)].any():
            raise
    return np.round(weights, DIGITS)


def _best_pass(
    learner: Learner, evidence: Examples[Kind], rules: Sequence[Kind], metric: str, watch: Watch
) -> tuple[float, int]:
    """The best score on the half that was not learned from, both halves together, and its pass."""
    halves = evidence.select(np.arange(0, len(evidence), 2)), evidence.select(np.arange(1, len(evidence), 2))
    if not len(halves[1]):
        return 0.0, learner.epochs
    both = zip(learner.passes(halves[0], rules), learner.passes(halves[1], rules), strict=True)
    scores = []
    for number, (first, second) in enumerate(both, start=1):
        pairs = ((halves[1], first), (halves[0], second))
        scores.append(sum(half.score(weights, rules, metric) for half, weights in pairs) / 2)
        watch(Pass(number, learner.epochs, scores[-1]))
    best = int(np.argmax(scores))
    return scores[best], best + 1
