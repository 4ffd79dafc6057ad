"""Families of rules, instantiated from labelled data: what could hold, how often it applied and was broken.

    View of the gold labels, View of the model's ─→ family ─→ Candidates

Two kinds. The templates of Anzaroot et al. 2014 are about counts, and worth a look where the model breaks
them more often than the gold labels. The families of Fersini et al. 2014 and the forms that people understand
(if … then, not both, contains) are kept where they mostly held when they applied. Everything is counted for
all pairs of names at once; only what passes becomes a rule.

Axes: N sequences, K names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from conseq.constraints import (
    Around,
    BeginsWith,
    Constraint,
    Contains,
    Counts,
    EndsWith,
    FirstLast,
    FollowedBy,
    FollowedLater,
    IfThen,
    NotBefore,
    NotBoth,
    Segments,
    Sum,
    Term,
    TokenTest,
)
from conseq.dtypes import Bools, Ints
from conseq.mining.predicates import mine_rules
from conseq.mining.token_tests import TESTS, frequent_tokens
from conseq.mining.view import View

BOUND = 3
"""The highest bound of a count."""


@dataclass(frozen=True)
class Candidate:
    """A rule that could be worth having.

    applied     how often it could have been broken in the gold labels: sequences for rules that are charged
                once or by degree, places (tokens, segments) for those that are charged for each
    violated    how often it was
    """

    rule: Constraint
    family: str
    applied: int
    violated: int

    @property
    def held(self) -> int:
        return self.applied - self.violated


@dataclass(frozen=True)
class Screen:
    """What a rule must show to become a candidate.

    importance    how many times as many sequences of the model as of the gold labels must break it
    broken        in how many sequences the model must break it at least
    support       how often it must have applied (all families but those of counts)
    confidence    the share of them in which it must have held
    tests         token tests by name that rules may use: words, patterns
    words         how many of the most frequent words are taken for delimiters, besides marks
    """

    importance: float = 1.2
    broken: int = 3
    support: int = 5
    confidence: float = 0.5
    tests: Mapping[str, TokenTest] = field(default_factory=lambda: TESTS)
    words: int = 20

    def important(self, violated: Ints, by_model: Ints) -> Bools:
        """Which rules the model breaks much more often than the gold labels."""
        return (by_model >= max(1, self.broken)) & (by_model >= self.importance * violated)

    def sound(self, applied: Ints, violated: Ints) -> Bools:
        """Which rules held almost always when they applied, and at all."""
        held = applied - violated
        return (applied >= self.support) & (held >= 1) & (held >= self.confidence * applied)


Family = Callable[[View, View, Screen], Iterator[Candidate]]


# ── counts (Anzaroot et al. 2014) ────────────────────────────────────────────────────────────────


def only_one(gold: View, model: View, screen: Screen) -> Iterator[Candidate]:
    """at most 1 segment of A"""
    violated, by_model = ((view.counts > 1).sum(axis=0) for view in (gold, model))
    important = screen.important(violated, by_model)
    make = partial(Segments, "at most", 1)
    yield from _where(important, gold.names.all, "only-one", make, gold.appears.sum(axis=0), violated)


def pairwise(gold: View, model: View, screen: Screen) -> Iterator[Candidate]:
    """count(A) + count(B) and count(A) - count(B), each at most and at least 0, 1, 2, 3"""
    names = gold.names.single
    violated, by_model = (broken_pairs(view)[:, : len(names), : len(names)] for view in (gold, model))
    always = np.full((len(names), len(names)), len(gold.corpus))
    for form, broken, important in zip(FORMS, violated, screen.important(violated, by_model), strict=True):
        yield from _where(important, names, "pairwise", partial(_pair, *form), always, broken)


def hierarchical(gold: View, model: View, screen: Screen) -> Iterator[Candidate]:
    """count(A) <= count(B) for names at different levels, each meaning all paths that end in it"""
    names, form = gold.names.all, FORMS.index((-1, "<=", 0))
    leaves = {type.rsplit("/", 1)[-1] for type in gold.schema.types()} if gold.schema.levels > 1 else set()
    shared = np.array([name in leaves for name in names], dtype=bool)
    violated, by_model = (broken_pairs(view)[form] for view in (gold, model))
    wanted = np.outer(shared, shared) & screen.important(violated, by_model)
    always = np.full_like(violated, len(gold.corpus))
    yield from _where(wanted, names, "hierarchical", partial(_pair, *FORMS[form]), always, violated)


FORMS = [
    *((1, "<=", k) for k in range(BOUND + 1)),
    *((1, ">=", k) for k in range(1, BOUND + 1)),  # every count is at least 0
    *((-1, "<=", k) for k in range(BOUND + 1)),
    *((-1, ">=", k) for k in range(1, BOUND + 1)),  # a − b ≥ 0 is b − a ≤ 0
]
"""(weight of the second count, relation, bound) of the rules about two counts."""


def broken_pairs(view: View) -> Ints:
    """The sequences that break each form for each pair, [form,K,K]; sums have the names in order only."""
    sums, differences = view.combinations(BOUND)
    differences = differences + differences[:, :, ::-1].transpose(1, 0, 2)  # b − a beside a − b
    result = np.zeros((len(FORMS), *sums.shape[:2]), dtype=np.int64)
    for row, (weight, relation, bound) in zip(result, FORMS, strict=True):
        counts, at = (sums, bound) if weight > 0 else (differences, BOUND + 1 + bound)
        row[:] = (counts[:, :, at + 1 :] if relation == "<=" else counts[:, :, :at]).sum(axis=2)
    return result


def _pair(weight: int, relation: str, bound: int, a: str, b: str) -> Counts:
    """count(a) + count(b) ≤ k, or count(a) ≤ count(b) + k, which reads better than a difference."""
    if weight > 0:
        return Counts(Sum((Term(1, a), Term(1, b))), relation, Sum((), bound))
    return Counts(Sum((Term(1, a),)), relation, Sum((Term(1, b),), bound))


def _where(
    wanted: Bools,
    names: Sequence[str],
    family: str,
    make: Callable[..., Constraint],
    applied: Ints,
    violated: Ints,
) -> Iterator[Candidate]:
    """The wanted rules make(A) or make(A, B), as there are axes of names."""
    for place in map(tuple, np.argwhere(wanted).tolist()):
        rule = make(*(names[i] for i in place))
        yield Candidate(rule, family, int(applied[place]), int(violated[place]))


# ── the five families of Fersini et al. 2014 ───────────────────────────────────────────────────


def adjacency(gold: View, model: View, screen: Screen) -> Iterator[Candidate]:
    """A followed by B"""
    yield from _sound(gold.names.all, screen, "adjacency", FollowedBy, gold.followed, gold.followers)


def precedence(gold: View, model: View, screen: Screen) -> Iterator[Candidate]:
    """A followed later by B"""
    _, later = gold.orders
    yield from _sound(gold.names.all, screen, "precedence", FollowedLater, gold.tokens_in, later)


def presence(gold: View, model: View, screen: Screen) -> Iterator[Candidate]:
    """no B before each A: where A is, B was not before"""
    earlier, _ = gold.orders
    together = gold.appears.T.astype(np.int64) @ gold.appears
    applied = np.where(together > 0, gold.tokens_in[:, None], 0)
    yield from _sound(gold.names.all, screen, "presence", _absent_before, applied, applied - earlier)


def _absent_before(a: str, b: str) -> Constraint:
    return NotBefore(b, a, each=True)


def begin_end(gold: View, model: View, screen: Screen) -> Iterator[Candidate]:
    """first A -> last B"""
    yield from _sound(gold.names.all, screen, "begin-end", FirstLast, *gold.ends, same=True)


def state_change(gold: View, model: View, screen: Screen) -> Iterator[Candidate]:
    """around "d": if A then B, and around "d": A -> B, for marks (and words) d that are frequent in the data;
    A or B may be the label O"""
    sides = gold.names.sides
    for test in frequent_tokens(gold.corpus, screen.support, screen.words):
        mask = test.mask(gold.corpus)
        left, both = gold.around(mask)
        always = np.full_like(both, len(gold.inner(mask)))
        implied, literal = partial(Around, test, implies=True), partial(Around, test)
        yield from _sound(sides, screen, "state-change", implied, left, both, same=True)
        yield from _sound(sides, screen, "state-change", literal, always, both, same=True)


def _sound(
    names: Sequence[str],
    screen: Screen,
    family: str,
    make: Callable[..., Constraint],
    applied: Ints,
    held: Ints,
    same: bool = False,
) -> Iterator[Candidate]:
    """The rules make(A) or make(A, B), as `held` has axes, that held almost always when they applied.

    `applied` may depend on A alone; A and B may be the same where that says something.
    """
    applied = np.broadcast_to(applied if applied.ndim == held.ndim else applied[:, None], held.shape)
    sensible = screen.sound(applied, applied - held)
    if not same and sensible.ndim > 1:
        np.fill_diagonal(sensible, False)
    yield from _where(sensible, names, family, make, applied, applied - held)


# ── forms that people understand ────────────────────────────────────────────────────────────────


def together(gold: View, model: View, screen: Screen) -> Iterator[Candidate]:
    """if A then B; not both A and B"""
    appears = gold.appears.astype(np.int64)
    both, alone = appears.T @ appears, appears.sum(axis=0)
    yield from _sound(gold.names.all, screen, "together", IfThen, alone, both)
    rarer = np.triu(np.minimum(alone[:, None], alone), 1)
    yield from _sound(gold.names.all, screen, "together", NotBoth, rarer, rarer - both)


def content(gold: View, model: View, screen: Screen) -> Iterator[Candidate]:
    """each A contains /pattern/; count(A at /pattern/) <= 0 and tokens(A at /pattern/) <= 0: no segment of A
    begins with such a token, or has one"""
    segments, tokens = gold.counts.sum(axis=0), gold.tokens_in
    for test, mask in _tests(gold, screen):
        for make, applied, held in (
            (partial(Contains, test=test), segments, gold.containing(mask)),
            (partial(_none, "count", test), segments, segments - gold.beginning(mask)),
            (partial(_none, "tokens", test), tokens, tokens - gold.marked(mask)),
        ):
            yield from _sound(gold.names.all, screen, "content", make, applied, held)


def _none(unit: str, test: TokenTest, name: str) -> Constraint:
    """count(name at test) <= 0, or tokens(name at test) <= 0"""
    return Counts(Sum((Term(1, name, unit, test),)), "<=", Sum((), 0))


def edges(gold: View, model: View, screen: Screen) -> Iterator[Candidate]:
    """each A begins with /pattern/; each A ends with /pattern/"""
    segments, followed = gold.counts.sum(axis=0), gold.followed
    for test, mask in _tests(gold, screen):
        for kind, applied, held in (
            (BeginsWith, segments, gold.beginning(mask)),
            (EndsWith, followed, gold.ending(mask)),
        ):
            yield from _sound(gold.names.all, screen, "edges", partial(kind, test=test), applied, held)


def _tests(gold: View, screen: Screen) -> Iterator[tuple[TokenTest, Bools]]:
    """The tests of tokens, and which tokens pass them."""
    if gold.corpus.columns:
        for test in screen.tests.values():
            yield test, test.mask(gold.corpus)


def clauses(gold: View, model: View, screen: Screen) -> Iterator[Candidate]:
    """the five families of Fersini et al. 2014, found by minimum-cost satisfiability instead of counting"""
    for mined in mine_rules(gold.corpus, gold.labels, gold.schema):
        applied = mined.clause.support + mined.clause.false
        yield Candidate(mined.rule, "clauses", applied, mined.clause.false)


FAMILIES: dict[str, Family] = {
    "only-one": only_one,
    "hierarchical": hierarchical,
    "pairwise": pairwise,
    "adjacency": adjacency,
    "precedence": precedence,
    "state-change": state_change,
    "begin-end": begin_end,
    "presence": presence,
    "together": together,
    "content": content,
    "edges": edges,
    "clauses": clauses,
}
"""Every family by its name."""
