"""Rules from the clauses that tell samples of labelled sequences apart (families of Fersini et al. 2014).

    corpus, labels[T] ─→ Labelling ─→ predicates, samples ─→ ClauseMiner ─→ clauses ─→ MinedRules

A sample is a token t. A family says which tokens are samples, what the predicates ask and which class B is to
be told, so that a clause "⇒ class" is the condition of a rule, letter for letter:

    family         samples t                predicate about A      class B          rule
    adjacency      next to a segment's end  A ends before t        t in B           A followed by B
    precedence     all                      t in A                 B at or after t  A followed later by B
    state change   x, mark, t               x in A and mark is d   t in B           around d: if A then B
    begin-end      last of a sequence       first token in A       t in B           first A -> last B
    presence and   all of sequences         t in A                 no B before t    no B before each A
    precedence     with a B

    adjacency      A  A  B        "A ends before" ⇒ "t in B": samples with this literal that are not in B are
                   ────┘ ↑ t       its errors, and those in B that have it are its support

So `Clause.false` is how often the labels break the rule, and `Clause.support` how often it applied and held.
Within a family the predicates mostly exclude each other, so most clauses are single literals; others are no
rules.

Axes: T tokens, Y labels (index Y: none, START, END), P types.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from conseq.constraints import names
from conseq.constraints.base import Constraint
from conseq.constraints.order import Around, FirstLast, FollowedBy, FollowedLater, NotBefore
from conseq.constraints.tokens import Words
from conseq.corpus import Corpus
from conseq.dtypes import Bools, Ints
from conseq.mining.clauses import Clause, ClauseMiner, Table
from conseq.schema import Schema

RULES = ClauseMiner(false_cost=9.0, negations=False, shortest=1, least_power=3.0, most_clauses=50)
"""Clauses for rules: they hold nine times in ten, and for some samples more than they fail for."""


@dataclass(frozen=True, eq=False)
class Labelling:
    """What predicates see: tokens and labels of all sequences, and what the labels mean."""

    corpus: Corpus
    labels: NDArray  # [T], −1 for none
    schema: Schema

    @cached_property
    def here(self) -> Ints:
        """The label of each token, [T]."""
        return np.where(self.labels < 0, len(self.schema), self.labels).astype(np.int64)

    @cached_property
    def first(self) -> Ints:
        """The first token of each token's sequence, [T]."""
        return np.repeat(self.corpus.offsets[:-1], self.corpus.lengths)

    @cached_property
    def last(self) -> Ints:
        """The last token of each token's sequence, [T]."""
        return np.repeat(self.corpus.offsets[1:] - 1, self.corpus.lengths)

    @cached_property
    def places(self) -> Ints:
        """The number of each token, [T]."""
        return np.arange(len(self.here))

    def back(self, steps: int) -> Ints:
        """The label `steps` tokens before each token, [T]."""
        places = self.places - steps
        return np.where(places >= self.first, self.here[places], len(self.schema))

    @cached_property
    def types(self) -> tuple[str, ...]:
        """[P]"""
        return tuple(self.schema.types())

    @cached_property
    def inside(self) -> Bools:
        """The labels in each type as rules understand its name, [Y+1,P]."""
        rows = [names.inside(self.schema, type) for type in self.types]
        return np.array(rows, dtype=bool).reshape(-1, len(self.schema) + 1).T

    @cached_property
    def tokens_in(self) -> Bools:
        """The tokens in each type, [T,P]."""
        return self.inside[self.here]

    @cached_property
    def ended(self) -> Bools:
        """The tokens next to the end of a segment of each type, [T,P]."""
        before, found = self.back(1), np.zeros((len(self.here), len(self.types)), dtype=bool)
        for p, type in enumerate(self.types):
            found[:, p] = names.ends(self.schema, type)[before, self.here] > 0
        return found

    @cached_property
    def _before(self) -> NDArray[np.int32]:
        """How many tokens of all sequences before each one, and in the end, are in each type, [T+1,P]."""
        counts = np.zeros((len(self.here) + 1, len(self.types)), dtype=np.int32)
        np.cumsum(self.tokens_in, axis=0, out=counts[1:])
        return counts

    @cached_property
    def earlier(self) -> Bools:
        """The tokens with one of each type before them, in the same sequence, [T,P]."""
        return self._before[:-1] > self._before[self.first]

    @cached_property
    def later(self) -> Bools:
        """The tokens of each type, and those with one after them, in the same sequence, [T,P]."""
        return self._before[self.last + 1] > self._before[:-1]

    def token_before_is(self, words: Iterable[str]) -> Bools:
        """The token before, in the same sequence, is one of these words, [T]."""
        mask = Words(frozenset(words)).mask(self.corpus)
        return mask[self.places - 1] & (self.places > self.first)

    @cached_property
    def marks(self) -> tuple[str, ...]:
        """The words without letters and digits."""
        if not self.corpus.columns:
            return ()
        words = self.corpus.columns[self.corpus.token_column].vocabulary
        return tuple(word for word in words if word and not any(map(str.isalnum, word)))

    def before_mark(self, mark: str) -> Bools:
        """The tokens after a mark that has a token of each type before it, [T,P]."""
        return self.inside[self.back(2)] & self.token_before_is([mark])[:, None]


# ── the families ────────────────────────────────────────────────────────────────────────────────


class Predicate(NamedTuple):
    """What a clause may say of a sample: something about a type A, and for state changes about a mark."""

    type: str
    mark: str = ""

    def __str__(self) -> str:
        return f'{self.type} before "{self.mark}"' if self.mark else self.type


@dataclass(frozen=True)
class Family:
    """One kind of rule: if A then B, as a question about samples.

    rule        the rule for a predicate about A, and B
    about       the marks that a predicate may speak of, each with where it holds about A, [T,P]
    target      the class of each B, [T,P]
    places      which tokens are samples, [T]
    among       the samples that matter for each B, [T,P]
    needless    the types A, for each B, for which the rule would say nothing, [P,P]
    """

    name: str
    rule: Callable[[Predicate, str], Constraint]
    about: Callable[[Labelling], Iterable[tuple[str, Bools]]]
    target: Callable[[Labelling], Bools]
    places: Callable[[Labelling], Bools] = lambda view: np.ones(len(view.here), dtype=bool)
    among: Callable[[Labelling], Bools] = lambda view: np.ones_like(view.tokens_in)
    needless: Callable[[Labelling], Bools] = lambda view: np.zeros((len(view.types),) * 2, dtype=bool)

    def predicates(self, view: Labelling, places: Bools) -> dict[Predicate, Bools]:
        """The predicates that hold for one of S samples at least, [S] each."""
        return {
            Predicate(type, mark): column
            for mark, columns in self.about(view)
            for type, column in zip(view.types, columns[places].T, strict=True)
            if column.any()
        }


def _parts(view: Labelling) -> Bools:
    """Whether all labels in A are in B, too, so that at each of its tokens there is one of B, [P,P]."""
    return ~(view.inside.T @ ~view.inside)


FIVE: tuple[Family, ...] = (
    Family(
        "adjacency",
        lambda a, b: FollowedBy(a.type, b),
        about=lambda view: [("", view.ended)],
        target=lambda view: view.tokens_in,
        places=lambda view: np.asarray(view.ended.any(axis=1)),
    ),
    Family(
        "precedence",
        lambda a, b: FollowedLater(a.type, b),
        about=lambda view: [("", view.tokens_in)],
        target=lambda view: view.later,
        needless=_parts,
    ),
    Family(
        "state change",
        lambda a, b: Around(Words(frozenset({a.mark})), a.type, b, implies=True),
        about=lambda view: ((mark, view.before_mark(mark)) for mark in view.marks),
        target=lambda view: view.tokens_in,
        places=lambda view: view.token_before_is(view.marks) & (view.places > view.first + 1),
    ),
    Family(
        "begin-end",
        lambda a, b: FirstLast(a.type, b),
        about=lambda view: [("", view.tokens_in[view.first])],
        target=lambda view: view.tokens_in,
        places=lambda view: view.places == view.last,
    ),
    Family(
        "presence and precedence",
        lambda a, b: NotBefore(b, a.type, each=True),
        about=lambda view: [("", view.tokens_in)],
        target=lambda view: ~view.earlier,
        among=lambda view: view.earlier | view.later,
        needless=lambda view: np.eye(len(view.types), dtype=bool),
    ),
)
"""The five families of Fersini et al. 2014."""


# ── rules from clauses ──────────────────────────────────────────────────────────────────────────


class MinedRule(NamedTuple):
    """A rule and the clause that is its condition."""

    rule: Constraint
    family: str
    clause: Clause


def mine_rules(
    corpus: Corpus,
    labels: NDArray,
    schema: Schema,
    *,
    miner: ClauseMiner = RULES,
    families: Sequence[Family] = FIVE,
) -> list[MinedRule]:
    """The clauses of every family and type that are the condition of a rule, by falling power.

    Their penalties are minus the log of the share of applications in which they fail, with one more that
    failed and one more that held (after Fersini et al. 2014, eq. 30).
    """
    view = Labelling(corpus, labels, schema)
    found: list[MinedRule] = []
    for family in families:
        places = family.places(view)
        predicates = family.predicates(view, places)
        named = {str(predicate): predicate for predicate in predicates}
        matrix = np.array(list(predicates.values()), dtype=bool).reshape(len(named), places.sum()).T
        # every sequence may begin with A: that tells nothing apart, but is a rule's condition all the same
        table = Table.of(matrix, list(named), constant=True)
        target, among = family.target(view)[places], family.among(view)[places]
        needless = family.needless(view)
        for b in np.flatnonzero(view.tokens_in.any(axis=0)).tolist():
            without = [str(Predicate(view.types[a])) for a in np.flatnonzero(needless[:, b])]
            clauses = miner.mine_table(table, target[:, b], among=among[:, b], without=without)
            for clause in clauses:
                if len(clause.literals) == 1 and clause.literals[0].positive:
                    rule = family.rule(named[clause.literals[0].predicate], view.types[b])
                    found.append(MinedRule(replace(rule, penalty=surprise(clause)), family.name, clause))
    return sorted(found, key=lambda rule: -rule.clause.power)


def surprise(clause: Clause) -> float:
    """−log((false + 1) / (support + false + 2)): how unlikely a failure is."""
    return math.log((clause.support + clause.false + 2) / (clause.false + 1))
