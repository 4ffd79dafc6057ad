"""Random problems with rules of every class of the library, and their true optimum by enumeration.

    seed ─→ random_problem ─→ Problem ─→ truth: the best score of all labellings, −inf if there is none

Scores and penalties are of very different sizes; ties, forbidden entries, several kinds of step, float32 and
more states than labels occur, and so do rules that contradict each other or stand there twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from conseq.constraints import (
    HARD,
    Agree,
    Around,
    BeginsWith,
    Constraint,
    Contains,
    Contiguous,
    Counts,
    EndsWith,
    ExactlyOneOf,
    FirstLast,
    FollowedBy,
    FollowedLater,
    Forbidden,
    IfThen,
    Legal,
    NotBefore,
    NotBoth,
    OnlySteps,
    Pattern,
    Places,
    Required,
    Segments,
    Share,
    Sum,
    Term,
    TokenIs,
    TokenIsNot,
    TokenTest,
    Words,
)
from conseq.corpus import Corpus
from conseq.potentials import Potentials
from conseq.problem import Problem, Problems
from conseq.schema import Schema

Rng = np.random.Generator

SCHEMAS = (
    Schema(["a"], "plain"),
    Schema(["a", "b"], "plain"),
    Schema(["O", "a", "b"], "plain"),
    Schema(["O", "a", "b", "c"], "plain"),
    Schema(["O", "B-a", "I-a", "B-b"], "bio"),
    Schema(["O", "B-a", "I-a", "E-a", "S-b"], "bioes"),
    Schema(["O", "B-a", "I-a", "I-a/B-b", "I-a/I-b", "B-b"], "bio"),
)
"""The last one is hierarchical: the name b stands for types of two levels."""

WORDS = ("x", ",", "7", "42")
MOST_LABELLINGS = 300
FORBIDDEN = (0.0, 0.0, 0.0, 0.1, 0.3)
SIZES = (1e-4, 1.0, 2.0, 2.0, 2.0, 1e4)
PENALTIES = (0.0, 1e-9, 0.5, 1.0, 1.0, 2.0, 3.7, 1e6, HARD, HARD)

# ── rules ───────────────────────────────────────────────────────────────────────────────────────


class Draw:
    """Draws names, tests and numbers that fit a schema."""

    def __init__(self, rng: Rng, schema: Schema) -> None:
        self.rng = rng
        self.schema = schema
        leaves = dict.fromkeys(path.rsplit("/", 1)[-1] for path in schema.types())
        self.segments = [*leaves, *(path for path in schema.types() if path not in leaves)]
        self.names = list(dict.fromkeys([*self.segments, *schema.labels]))

    def one(self, choices: Sequence[Any]) -> Any:
        return choices[int(self.rng.integers(len(choices)))]

    def name(self) -> str:
        return self.one(self.names)

    def segment(self) -> str:
        return self.one(self.segments)

    def chance(self, share: float = 0.5) -> bool:
        return bool(self.rng.random() < share)

    def some(self, least: int = 1) -> tuple[str, ...]:
        """Some names, each once."""
        count = int(self.rng.integers(least, len(self.names) + 1))
        return tuple(self.names[i] for i in self.rng.permutation(len(self.names))[:count])

    def pair(self) -> tuple[str, str]:
        """Two names that differ; where there is one alone, a label twice is refused, so it needs two."""
        first, second = self.some(2)[:2]
        return first, second

    def before(self) -> str:
        return "START" if self.chance(0.2) else self.name()

    def after(self) -> str:
        return "END" if self.chance(0.2) else self.name()

    def test(self) -> TokenTest:
        return self.one((Words(frozenset({",", "x"})), Pattern(r"\d"), Places((0,)), Places((1, -1))))

    def term(self) -> Term:
        weight = self.one((1, 1, 1, 2, -1, -3))
        test = self.test() if self.chance(0.2) else None
        if self.chance():
            return Term(weight, self.segment(), "count", test)
        return Term(weight, self.name(), "tokens", test)

    def sum(self, least: int = 0) -> Sum:
        count = int(self.rng.integers(least, 3))
        return Sum(tuple(self.term() for _ in range(count)), int(self.rng.integers(-2, 4)))

    def steps(self) -> tuple[tuple[str, str], ...]:
        """Most of all steps between labels, START and END."""
        ends = [(a, b) for a in ("START", *self.schema.labels) for b in (*self.schema.labels, "END")]
        kept = [step for step in ends if self.chance(0.8)]
        return tuple(kept) or (("START", "END"),)

    def places(self) -> tuple[int, ...]:
        return tuple(int(p) for p in self.rng.permutation([0, 1, 2, -1, -2])[: self.rng.integers(2, 4)])

    def agree(self, penalty: float) -> Agree:
        on = self.one(("label", "type"))
        if self.chance(0.4):
            return Agree(on, places=self.places(), penalty=penalty)
        return Agree(on, self.test() if self.chance(0.3) else None, penalty=penalty)


RULES: dict[type[Constraint], Callable[[Draw, float], Constraint]] = {
    Legal: lambda d, p: Legal(str(d.schema.scheme), penalty=p),
    Forbidden: lambda d, p: Forbidden(d.before(), d.after(), penalty=p),
    Required: lambda d, p: Required(d.before(), d.after(), penalty=p),
    OnlySteps: lambda d, p: OnlySteps(d.steps(), penalty=p),
    TokenIs: lambda d, p: TokenIs(d.test(), d.some(), penalty=p),
    TokenIsNot: lambda d, p: TokenIsNot(d.test(), d.some()[:2], penalty=p),
    Segments: lambda d, p: Segments(
        d.one(("at most", "at least", "exactly")), int(d.rng.integers(0, 3)), d.segment(), penalty=p
    ),
    Counts: lambda d, p: Counts(d.sum(1), d.one(("<=", ">=", "==")), d.sum(), penalty=p),
    Share: lambda d, p: Share(d.one(("at most", "at least")), d.one((0, 29, 40.5, 100)), d.name(), penalty=p),
    Contiguous: lambda d, p: Contiguous(d.name(), penalty=p),
    FollowedBy: lambda d, p: FollowedBy(d.segment(), d.name(), penalty=p),
    FollowedLater: lambda d, p: FollowedLater(*d.pair(), penalty=p),
    Around: lambda d, p: Around(d.test(), d.name(), d.name(), d.chance(), penalty=p),
    FirstLast: lambda d, p: FirstLast(d.name(), d.name(), penalty=p),
    NotBefore: lambda d, p: NotBefore(d.name(), d.name(), d.chance(), penalty=p),
    IfThen: lambda d, p: IfThen(*d.pair(), penalty=p),
    NotBoth: lambda d, p: NotBoth(*d.pair(), penalty=p),
    ExactlyOneOf: lambda d, p: ExactlyOneOf(d.some()[:3], penalty=p),
    Agree: lambda d, p: d.agree(p),
    Contains: lambda d, p: Contains(d.segment(), d.test(), penalty=p),
    BeginsWith: lambda d, p: BeginsWith(d.segment(), d.test(), penalty=p),
    EndsWith: lambda d, p: EndsWith(d.segment(), d.test(), penalty=p),
}
"""How a rule of each class is drawn, given its penalty."""

NEEDS_TWO = (FollowedLater, IfThen, NotBoth)
"""Rules that relate two different names."""


def random_rules(
    rng: Rng, schema: Schema, count: int, penalties: Sequence[float] = PENALTIES
) -> list[Constraint]:
    """As many rules as asked for, now and then one of them twice."""
    draw = Draw(rng, schema)
    classes = [rule for rule in RULES if len(draw.names) > 1 or rule not in NEEDS_TWO]
    rules = [RULES[draw.one(classes)](draw, float(draw.one(penalties))) for _ in range(count)]
    if rules and draw.chance(0.1):
        rules.append(draw.one(rules))
    return rules


# ── problems ────────────────────────────────────────────────────────────────────────────────────


def random_scores(rng: Rng, size: float, forbidden: float, *shape: int) -> np.ndarray:
    """Normal scores of a size, or whole multiples of it, which make for ties; some are forbidden."""
    values = rng.normal(size=shape)
    if rng.random() < 0.2:
        values = np.round(values)
    return np.where(rng.random(shape) < forbidden, -np.inf, size * values)


def random_potentials(
    rng: Rng, offsets: np.ndarray, n_states: int, label_of: np.ndarray | None
) -> Potentials:
    length, size = int(offsets[-1]), float(rng.choice(SIZES))
    kinds = int(rng.integers(1, 4))
    unary = random_scores(rng, size, rng.choice(FORBIDDEN), length, n_states)
    if length and rng.random() < 0.02:
        unary[rng.integers(length)] = -np.inf
    return Potentials.of(
        unary.astype(np.float32) if rng.random() < 0.2 else unary,
        random_scores(rng, size, rng.choice(FORBIDDEN), kinds, n_states, n_states),
        random_scores(rng, size, rng.choice(FORBIDDEN), n_states) if rng.random() < 0.6 else None,
        random_scores(rng, size, rng.choice(FORBIDDEN), n_states) if rng.random() < 0.6 else None,
        offsets,
        kind=rng.integers(0, kinds, length) if kinds > 1 else None,
        label_of=label_of,
    )


def random_problems(seed: int, n_sequences: int = 3) -> Problems:
    """Sequences of few enough labellings to try them all, with up to 6 rules, or with 40."""
    rng = np.random.default_rng(seed)
    schema = SCHEMAS[int(rng.integers(len(SCHEMAS)))]
    n_states, label_of = len(schema), None
    if len(schema) < 5 and rng.random() < 0.2:
        label_of = rng.permutation(np.append(np.arange(n_states), rng.integers(n_states)))
        n_states += 1
    longest = 6 if n_states == 1 else int(np.log(MOST_LABELLINGS) / np.log(n_states))
    lengths = rng.choice([0, 1, *range(1, longest + 1), longest, longest, longest], n_sequences)
    corpus = Corpus.from_sequences([[str(word) for word in rng.choice(WORDS, n)] for n in lengths])
    potentials = random_potentials(rng, corpus.offsets, n_states, label_of)
    count = 40 if rng.random() < 0.02 else int(rng.integers(0, 7))
    return Problems.of(potentials, schema, random_rules(rng, schema, count), corpus)


def random_problem(seed: int) -> Problem:
    """The second of the sequences, so that it does not begin where its corpus does."""
    return random_problems(seed, 2)[1]


def large_problem(seed: int, length: int, n_labels: int, n_rules: int) -> Problem:
    """More labellings than can be tried."""
    rng = np.random.default_rng(seed)
    schema = Schema(["O", *"abcdefghijklmnop"[: n_labels - 1]], "plain")
    corpus = Corpus.from_sequences([[str(word) for word in rng.choice(WORDS, length)]])
    potentials = Potentials.of(
        rng.normal(0, 1.5, (length, n_labels)),
        rng.normal(0, 1, (n_labels, n_labels)) + 2 * np.eye(n_labels),
        rng.normal(0, 1, n_labels),
    )
    rules = random_rules(rng, schema, n_rules, (0.3, 1.0, 2.5, 6.0, HARD))
    return Problems.of(potentials, schema, rules, corpus)[0]


# ── the truth ───────────────────────────────────────────────────────────────────────────────────


def all_labellings(problem: Problem) -> np.ndarray:
    """Every labelling, [n,T]."""
    size, length = problem.n_states, problem.n_tokens
    return np.stack(np.unravel_index(np.arange(size**length), (size,) * length or (1,)), axis=1)[:, :length]


def model_scores(potentials: Potentials, paths: np.ndarray) -> np.ndarray:
    """start + unary + pairwise + … + end of each labelling, [n]."""
    length = paths.shape[1]
    if length == 0:
        return np.zeros(len(paths))
    total = potentials.start[paths[:, 0]] + potentials.unary[0, paths[:, 0]].astype(float)
    for t in range(1, length):
        kind = 0 if potentials.kind is None else potentials.kind[t]
        total = total + potentials.pairwise[kind, paths[:, t - 1], paths[:, t]]
        total = total + potentials.unary[t, paths[:, t]]
    return total + potentials.end[paths[:, -1]]


def all_scores(problem: Problem, paths: np.ndarray) -> np.ndarray:
    """Model score − Σ penalty · violation of each labelling, [n]."""
    n, length = paths.shape
    starts = np.full(n, problem.first_token)
    labels = problem.label_of[paths].ravel()
    scores = model_scores(problem.potentials, paths)
    violations = problem.program.violations(labels, np.arange(n + 1) * length, starts)
    for charge, amounts in zip(problem.charges, violations.T, strict=True):
        paid = amounts > 0
        scores[paid] -= charge.penalty * amounts[paid]
    return scores


def truth(problem: Problem) -> float:
    """The best score of all labellings; −inf if none is allowed."""
    return float(all_scores(problem, all_labellings(problem)).max())
