"""Samples from labelled sequences, and rules from the clauses that tell them apart (families of Fersini
et al. 2014).

    corpus, labels[T] ─→ Labelling ─→ predicates, samples ─→ ClauseMiner ─→ Formulas ─→ MinedRules
                            per family: places, class B        clauses       conditions of one predicate

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
Within a family the predicates mostly exclude each other, so the clauses are single literals unless the user
adds predicates.

Axes: T tokens, Y labels (index Y: none, START, END), Q predicates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from conseq.errors import DataError
from conseq.mining.clauses import Clause, ClauseMiner, Table
from conseq.schema import Schema

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

RULES = ClauseMiner(false_cost=9.0, negations=False, shortest=1, least_power=3.0, most_clauses=50)
"""Clauses for rules: they hold nine times in ten, and for some samples more than they fail for."""


@dataclass(frozen=True, eq=False)
class Labelling:
    """What a predicate sees: tokens and labels of all sequences, and what the labels mean."""

    corpus: Corpus
    labels: NDArray  # [T], −1 for none
    schema: Schema

    @property
    def offsets(self) -> Ints:
        return self.corpus.offsets

    @cached_property
    def here(self) -> Ints:
        """The label of each token, [T]."""
        return np.where(self.labels < 0, len(self.schema), self.labels).astype(np.int64)

    @cached_property
    def sequence(self) -> Ints:
        """The sequence of each token, [T]."""
        return np.repeat(np.arange(len(self.corpus)), self.corpus.lengths)

    @property
    def first(self) -> Ints:
        """The first token of each token's sequence, [T]."""
        return self.offsets[self.sequence]

    @property
    def last(self) -> Ints:
        """The last token of each token's sequence, [T]."""
        return self.offsets[self.sequence + 1] - 1

    def back(self, steps: int) -> Ints:
        """The label `steps` tokens before each token, [T]."""
        places = np.arange(len(self.here)) - steps
        return np.where(places >= self.first, self.here[places], len(self.schema))

    def inside(self, type: str) -> Bools:
        """The labels in a type as rules understand its name, [Y+1]."""
        return names.inside(self.schema, type)

    def tokens_in(self, type: str) -> Bools:
        """[T]"""
        return self.inside(type)[self.here]

    def before(self, type: str) -> Ints:
        """How many tokens of all sequences before each one, and in the end, are in a type, [T+1]."""
        return np.concatenate([[0], np.cumsum(self.tokens_in(type))])

    def token_before_is(self, words: Iterable[str]) -> Bools:
        """The token before, in the same sequence, is one of these words, [T]."""
        mask = Words(frozenset(words)).mask(self.corpus)
        places = np.arange(len(mask))
        return mask[places - 1] & (places > self.first)


PredicateFunction = Callable[[Labelling], Bools]
"""Where something is true, [T]."""

Predicates = Mapping[str, PredicateFunction]
"""What clauses may speak of, by name."""


# ── kinds of predicates ─────────────────────────────────────────────────────────────────────────


def _ended(view: Labelling, type: str) -> Bools:
    return names.ends(view.schema, type)[view.back(1), view.here] > 0


def _earlier(view: Labelling, type: str) -> Bools:
    count = view.before(type)
    return count[:-1] > count[view.first]


def _later(view: Labelling, type: str) -> Bools:
    count = view.before(type)
    return count[view.last + 1] > count[:-1]


class Kind(NamedTuple):
    """What a predicate says of a token and a type."""

    text: str
    test: Callable[[Labelling, str], Bools]


KINDS: dict[str, Kind] = {
    "here": Kind("label is {type}", Labelling.tokens_in),
    "ended": Kind("{type} ends before", _ended),
    "first": Kind("first label is {type}", lambda view, type: view.inside(type)[view.here[view.first]]),
    "marked": Kind('{type} and "{mark}" before', lambda view, type: view.inside(type)[view.back(2)]),
}
"""What predicates may ask about the labels around a token."""


@dataclass(frozen=True)
class About:
    """A predicate of one of the kinds: about a type, and for `marked` about the token before, too.

    >>> labelling = Labelling(Corpus.from_sequences([["x", ",", "y"]]), np.array([0, 1, 1]),
    ...                       Schema(["a", "b"], "plain"))
    >>> print(About("marked", "a", ","), About("marked", "a", ",")(labelling).tolist())
    a and "," before [False, False, True]
    """

    kind: str
    type: str
    mark: str = ""

    def __call__(self, view: Labelling) -> Bools:
        found = KINDS[self.kind].test(view, self.type)
        return found & view.token_before_is([self.mark]) if self.mark else found

    def __str__(self) -> str:
        return KINDS[self.kind].text.format(type=self.type, mark=self.mark)


def predicates_of(view: Labelling, kind: str, marks: Sequence[str]) -> list[About]:
    """The predicates of a kind for every type; for `marked` with every mark that is seen after it."""
    types = view.schema.types()
    if kind != "marked":
        return [About(kind, type) for type in types]
    two_back, found = view.back(2), []
    for mark in marks:
        seen = np.unique(two_back[view.token_before_is([mark])])
        found += [About(kind, type, mark) for type in types if view.inside(type)[seen].any()]
    return found


def punctuation(corpus: Corpus) -> tuple[str, ...]:
    """The tokens without letters and digits."""
    if not corpus.columns:
        return ()
    words = corpus.columns[corpus.token_column].vocabulary
    return tuple(word for word in words if word and not any(map(str.isalnum, word)))


def evaluate(predicates: Predicates, view: Labelling) -> Bools:
    """The predicates at every token, [T,Q]."""
    columns = np.zeros((len(view.here), len(predicates)), dtype=bool)
    for q, (name, predicate) in enumerate(predicates.items()):
        column = np.asarray(predicate(view), dtype=bool)
        if column.shape != view.here.shape:
            raise DataError(
                f"predicate {name!r} gives the shape {column.shape} for {len(view.here)} tokens; "
                "give one value per token"
            )
        columns[:, q] = column
    return columns


# ── samples of the families ─────────────────────────────────────────────────────────────────────


def _all(view: Labelling, *_: object) -> Bools:
    return np.ones(len(view.here), dtype=bool)


def _after_segments(view: Labelling, _: Sequence[str]) -> Bools:
    ended = np.zeros((len(view.schema) + 1,) * 2, dtype=bool)
    for type in view.schema.types():
        ended |= names.ends(view.schema, type) > 0
    return ended[view.back(1), view.here]


def _after_marks(view: Labelling, marks: Sequence[str]) -> Bools:
    return view.token_before_is(marks) & (np.arange(len(view.here)) > view.first + 1)


def _last_tokens(view: Labelling, _: Sequence[str]) -> Bools:
    return np.arange(len(view.here)) == view.last


def _none_earlier(view: Labelling, type: str) -> Bools:
    return ~_earlier(view, type)


def _where_it_appears(view: Labelling, type: str) -> Bools:
    count = view.before(type)
    return count[view.last + 1] > count[view.first]


def _parts(view: Labelling, type: str) -> list[str]:
    """The types all of whose tokens are in a type: at each of them there is one of the type."""
    whole = view.inside(type)
    return [part for part in view.schema.types() if not (view.inside(part) & ~whole).any()]


@dataclass(frozen=True)
class Sampler:
    """One kind of rule: if A then B, as a question about samples.

    kind      what the predicates ask about A
    places    which tokens are samples, given the delimiters, [T]
    target    the class of B, [T]
    rule      the rule for a predicate about A, and B
    among     the samples that matter for B, [T]
    without   the types A for which the rule would say nothing
    """

    name: str
    kind: str
    places: Callable[[Labelling, Sequence[str]], Bools]
    target: Callable[[Labelling, str], Bools]
    rule: Callable[[About, str], Constraint]
    among: Callable[[Labelling, str], Bools] = _all
    without: Callable[[Labelling, str], Sequence[str]] = lambda view, type: ()


def _around(about: About, type: str) -> Around:
    return Around(Words(frozenset({about.mark})), about.type, type, implies=True)


SAMPLERS: tuple[Sampler, ...] = (
    Sampler("adjacency", "ended", _after_segments, Labelling.tokens_in, lambda a, b: FollowedBy(a.type, b)),
    Sampler("precedence", "here", _all, _later, lambda a, b: FollowedLater(a.type, b), without=_parts),
    Sampler("state change", "marked", _after_marks, Labelling.tokens_in, _around),
    Sampler("begin-end", "first", _last_tokens, Labelling.tokens_in, lambda a, b: FirstLast(a.type, b)),
    Sampler(
        "presence and precedence",
        "here",
        _all,
        _none_earlier,
        lambda a, b: NotBefore(b, a.type, each=True),
        among=_where_it_appears,
        without=lambda view, type: (type,),
    ),
)
"""The five families of Fersini et al. 2014."""


@dataclass(frozen=True)
class Formula:
    """What tells class B of a family: clauses, the strongest first, over these predicates."""

    family: Sampler
    type: str
    clauses: tuple[Clause, ...]
    predicates: Predicates

    def __str__(self) -> str:
        return f"{self.family.name}, {self.type}: {' or '.join(f'({clause})' for clause in self.clauses)}"


def mine_formulas(
    corpus: Corpus,
    labels: NDArray,
    schema: Schema,
    *,
    miner: ClauseMiner = RULES,
    samplers: Sequence[Sampler] = SAMPLERS,
    delimiters: Sequence[str] | None = None,
    predicates: Predicates | None = None,
) -> list[Formula]:
    """The clauses for every family and type that occurs; families without any are left out.

    delimiters   tokens that may mark a change of state; by default those without letters and digits
    predicates   more that clauses may speak of; a clause that does is no rule
    """
    view = Labelling(corpus, labels, schema)
    marks = punctuation(corpus) if delimiters is None else tuple(delimiters)
    types = [type for type in schema.types() if view.tokens_in(type).any()]
    found: list[Formula] = []
    for family in samplers:
        own = {str(about): about for about in predicates_of(view, family.kind, marks)}
        asked: Predicates = {**own, **(predicates or {})}
        places = family.places(view, marks) if asked else np.zeros(len(view.here), dtype=bool)
        # every sequence may begin with A: that tells nothing apart, but is a rule's condition all the same
        table = Table.of(evaluate(asked, view)[places], list(asked), constant=True)
        for type in types:
            without = [str(About(family.kind, part)) for part in family.without(view, type)]
            clauses = miner.mine_table(
                table,
                family.target(view, type)[places],
                among=family.among(view, type)[places],
                without=without,
            )
            if clauses:
                found.append(Formula(family, type, tuple(clauses), asked))
    return found


# ── rules from clauses ──────────────────────────────────────────────────────────────────────────


class MinedRule(NamedTuple):
    """A rule and the clause that is its condition."""

    rule: Constraint
    family: str
    clause: Clause


def rules_from(
    formulas: Iterable[Formula], penalty: Callable[[Clause], float] | None = None
) -> list[MinedRule]:
    """The clauses that are the condition of a rule, by falling power.

    Their penalties are minus the log of the share of applications in which they fail, with one more that
    failed and one more that held (after Fersini et al. 2014, eq. 30), unless `penalty` says otherwise.
    """
    penalty = penalty or surprise
    found = [
        MinedRule(_rule(formula, about, penalty(clause)), formula.family.name, clause)
        for formula in formulas
        for clause in formula.clauses
        if (about := _condition(formula, clause)) is not None
    ]
    return sorted(found, key=lambda rule: -rule.clause.power)


def surprise(clause: Clause) -> float:
    """−log((false + 1) / (support + false + 2)): how unlikely a failure is."""
    return math.log((clause.support + clause.false + 2) / (clause.false + 1))


def _condition(formula: Formula, clause: Clause) -> About | None:
    """The predicate of a clause of one, if it is one that the family asks."""
    if len(clause.literals) != 1 or not clause.literals[0].positive:
        return None
    about = formula.predicates[clause.literals[0].predicate]
    return about if isinstance(about, About) and about.kind == formula.family.kind else None


def _rule(formula: Formula, about: About, penalty: float) -> Constraint:
    return replace(formula.family.rule(about, formula.type), penalty=penalty)
