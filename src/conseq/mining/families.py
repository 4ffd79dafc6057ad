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
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
from conseq.mining.predicates import mine_formulas, rules_from
from conseq.mining.token_tests import TESTS, frequent_tokens
from conseq.mining.view import View

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

BOUND = 3
"""The highest bound of a count."""


class Candidate(NamedTuple):
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

    @property
    def confidence(self) -> float:
        """The share of its applications in which it held."""
        return self.held / self.applied if self.applied else 0.0


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
    applied, violated = gold.appears.sum(axis=0), (gold.counts > 1).sum(axis=0)
    for k in np.flatnonzero(screen.important(violated, (model.counts > 1).sum(axis=0))).tolist():
        yield Candidate(
            Segments("at most", 1, gold.names.all[k]), "only-one", int(applied[k]), int(violated[k])
        )


def pairwise(gold: View, model: View, screen: Screen) -> Iterator[Candidate]:
    """count(A) + count(B) and count(A) - count(B), each at most and at least 0, 1, 2, 3"""
    single = len(gold.names.single)
    violated, by_model = (broken_pairs(view)[:, :single, :single] for view in (gold, model))
    for form, i, j in np.argwhere(screen.important(violated, by_model)).tolist():
        weight, relation, bound = FORMS[form]
        rule = _pair(gold.names.all[i], weight, gold.names.all[j], relation, bound)
        yield Candidate(rule, "pairwise", len(gold.corpus), int(violated[form, i, j]))


def hierarchical(gold: View, model: View, screen: Screen) -> Iterator[Candidate]:
    """count(A) <= count(B) for names at different levels, each meaning all paths that end in it"""
    shared = [gold.names.all.index(name) for name in _leaf_names(gold)]
    form = FORMS.index((-1, "<=", 0))
    violated, by_model = (broken_pairs(view)[form] for view in (gold, model))
    wanted = np.zeros(violated.shape, dtype=bool)
    wanted[np.ix_(shared, shared)] = True
    for i, j in np.argwhere(wanted & screen.important(violated, by_model)).tolist():
        rule = _pair(gold.names.all[i], -1, gold.names.all[j], "<=", 0)
        yield Candidate(rule, "hierarchical", len(gold.corpus), int(violated[i, j]))


def _leaf_names(view: View) -> list[str]:
    """What the parts of all paths are called, each once: names of several types where there are such."""
    names, schema = view.names, view.schema
    if schema.levels == 1:
        return []
    leaves = dict.fromkeys(type.rsplit("/", 1)[-1] for type in schema.types())
    return [leaf for leaf in leaves if leaf in names.all]


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
    middle = BOUND + 1
    result = np.zeros((len(FORMS), *sums.shape[:2]), dtype=np.int64)
    for row, (weight, relation, bound) in zip(result, FORMS, strict=True):
        if weight > 0:
            part = sums[:, :, bound + 1 :] if relation == "<=" else sums[:, :, :bound]
            row[:] = np.triu(part.sum(axis=2), 1)
            continue
        above = differences[:, :, middle + bound + 1 :].sum(axis=2)
        below = differences[:, :, : middle + bound].sum(axis=2)
        other_above = differences[:, :, middle - bound + 1 :].sum(axis=2)
        other_below = differences[:, :, : middle - bound].sum(axis=2)
        forward, backward = (above, other_below) if relation == "<=" else (below, other_above)
        row[:] = np.triu(forward, 1) + np.triu(backward, 1).T
    return result


def _pair(a: str, weight: int, b: str, relation: str, bound: int) -> Counts:
    """count(a) + count(b) ≤ k, or count(a) ≤ count(b) + k, which reads better than a difference."""
    if weight > 0:
        return Counts(Sum((Term(1, a), Term(1, b))), relation, Sum((), bound))
    return Counts(Sum((Term(1, a),)), relation, Sum((Term(1, b),), bound))


# ── the five families of Fersini et al. 2014 ───────────────────────────────────────────────────


def adjacency(gold: View, model: View, screen: Screen) -> Iterator[Candidate]:
    """A followed by B"""
    applied = np.broadcast_to(gold.followed[:, None], gold.followers.shape)
    yield from _sound(gold.names.all, screen, "adjacency", FollowedBy, applied, applied - gold.followers)


def precedence(gold: View, model: View, screen: Screen) -> Iterator[Candidate]:
    """A followed later by B"""
    _, later = gold.orders
    applied = np.broadcast_to(gold.tokens_in[:, None], later.shape)
    yield from _sound(gold.names.all, screen, "precedence", FollowedLater, applied, applied - later)


def presence(gold: View, model: View, screen: Screen) -> Iterator[Candidate]:
    """no B before each A: where A is, B was not before"""
    earlier, _ = gold.orders
    together = gold.appears.T.astype(np.int64) @ gold.appears
    applied = np.where(together > 0, gold.tokens_in[:, None], 0)
    yield from _sound(gold.names.all, screen, "presence", _absent_before, applied, earlier)


def _absent_before(a: str, b: str) -> Constraint:
    return NotBefore(b, a, each=True)


def begin_end(gold: View, model: View, screen: Screen) -> Iterator[Candidate]:
    """first A -> last B"""
    begins, both = gold.ends
    applied = np.broadcast_to(begins[:, None], both.shape)
    yield from _sound(gold.names.all, screen, "begin-end", FirstLast, applied, applied - both, same=True)


def state_change(gold: View, model: View, screen: Screen) -> Iterator[Candidate]:
    """around "d": if A then B, and around "d": A -> B, for marks (and words) d that are frequent in the data;
    A or B may be the label O"""
    sides = gold.names.sides
    for test in frequent_tokens(gold.corpus, screen.support, screen.words):
        mask = test.mask(gold.corpus)
        left, both = gold.around(mask)
        applied = np.broadcast_to(left[:, None], both.shape)
        always = np.full(both.shape, len(gold.inner(mask)))
        implied, literal = partial(Around, test, implies=True), partial(Around, test)
        yield from _sound(sides, screen, "state-change", implied, applied, applied - both, same=True)
        yield from _sound(sides, screen, "state-change", literal, always, always - both, same=True)


def _sound(
    names: Sequence[str],
    screen: Screen,
    family: str,
    make: Callable[..., Constraint],
    applied: Ints,
    violated: Ints,
    same: bool = False,
) -> Iterator[Candidate]:
    """The rules make(A) or make(A, B), as there are axes, that held almost always; A and B may be the same
    where that says something."""
    sensible = screen.sound(applied, violated)
    if not same and sensible.ndim > 1:
        np.fill_diagonal(sensible, False)
    for place in map(tuple, np.argwhere(sensible).tolist()):
        rule = make(*(names[i] for i in place))
        yield Candidate(rule, family, int(applied[place]), int(violated[place]))


# ── forms that people understand ────────────────────────────────────────────────────────────────


def together(gold: View, model: View, screen: Screen) -> Iterator[Candidate]:
    """if A then B; not both A and B"""
    appears = gold.appears.astype(np.int64)
    both, alone = appears.T @ appears, appears.sum(axis=0)
    applied = np.broadcast_to(alone[:, None], both.shape)
    yield from _sound(gold.names.all, screen, "together", IfThen, applied, applied - both)
    rarer = np.minimum(alone[:, None], alone[None, :])
    yield from _sound(gold.names.all, screen, "together", NotBoth, np.triu(rarer, 1), both)


def content(gold: View, model: View, screen: Screen) -> Iterator[Candidate]:
    """each A contains /pattern/; count(A at /pattern/) <= 0 and tokens(A at /pattern/) <= 0: no segment of A
    begins with such a token, or has one"""
    segments, tokens = gold.counts.sum(axis=0), gold.tokens_in
    for test, mask in _tests(gold, screen):
        contains, lacking = partial(Contains, test=test), segments - gold.containing(mask)
        begins, has = partial(_none, "count", test), partial(_none, "tokens", test)
        yield from _sound(gold.names.all, screen, "content", contains, segments, lacking)
        yield from _sound(gold.names.all, screen, "content", begins, segments, gold.beginning(mask))
        yield from _sound(gold.names.all, screen, "content", has, tokens, gold.marked(mask))


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
            make = partial(kind, test=test)
            yield from _sound(gold.names.all, screen, "edges", make, applied, applied - held)


def _tests(gold: View, screen: Screen) -> Iterator[tuple[TokenTest, Bools]]:
    """The tests of tokens, and which tokens pass them."""
    if gold.corpus.columns:
        for test in screen.tests.values():
            yield test, test.mask(gold.corpus)


def clauses(gold: View, model: View, screen: Screen) -> Iterator[Candidate]:
    """the five families of Fersini et al. 2014, found by minimum-cost satisfiability instead of counting"""
    formulas = mine_formulas(gold.corpus, gold.labels, gold.schema)
    for mined in rules_from(formulas):
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
