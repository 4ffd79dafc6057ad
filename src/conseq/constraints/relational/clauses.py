"""Clauses: if some things hold of some entities, then some others do.

    if works_for(a, b) and same(b, c) then not works_for(a, c)

Variables stand for different entities of a sentence. A clause is broken once for each way to choose the
entities so that all conditions hold and no conclusion does.

    atom.truth(candidates) ─→ [E] or [E,E], where an atom is known before anything is decided
    atom.indicators(types, candidates) ─→ the same shape, −1 where it cannot hold, where it is to be decided
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from conseq.constraints import writing
from conseq.constraints.relational.base import (
    RelationRule,
    entity_indicators,
    joined,
    pair_indicators,
    places,
    relation_number,
    spans_of,
)
from conseq.constraints.relational.sums import Sums
from conseq.constraints.tokens import Pattern, TokenTest, Words
from conseq.dtypes import Bools, Ints
from conseq.entities import Candidates, Types
from conseq.errors import RuleError

MOST = 20_000_000
"""The most ways to choose the entities of a clause that are listed."""


@dataclass(frozen=True)
class Atom(ABC):
    """Something that holds of one or two entities or not."""

    @property
    @abstractmethod
    def variables(self) -> tuple[str, ...]:
        """Those that it speaks of, in their order."""


@dataclass(frozen=True)
class Decided(Atom):
    """What is to be decided."""

    name: str

    @abstractmethod
    def indicators(self, types: Types, candidates: Candidates) -> Ints:
        """The indicator that it holds, by entities; −1 where it cannot hold."""

    def __str__(self) -> str:
        name = f"'{SAME}'" if self.name == SAME else writing.name(self.name)
        return f"{name}({', '.join(self.variables)})"


@dataclass(frozen=True)
class Known(Atom):
    """What is known of two entities beforehand."""

    first: str
    second: str

    @property
    def variables(self) -> tuple[str, ...]:
        return self.first, self.second

    @abstractmethod
    def truth(self, candidates: Candidates) -> Bools:
        """Whether it holds, [E,E]."""


SAME = "same"


@dataclass(frozen=True)
class Related(Decided):
    """Two entities are in a relation.

    >>> print(Related("works_for", "a", "b"))
    works_for(a, b)
    """

    first: str
    second: str

    @property
    def variables(self) -> tuple[str, ...]:
        return self.first, self.second

    def indicators(self, types: Types, candidates: Candidates) -> Ints:
        related = pair_indicators(types, candidates, relation_number(types, self.name))
        return np.append(related, -1)[places(candidates)]


@dataclass(frozen=True)
class IsA(Decided):
    """An entity has a type.

    >>> print(IsA("person", "a"))
    person(a)
    """

    entity: str

    @property
    def variables(self) -> tuple[str, ...]:
        return (self.entity,)

    def indicators(self, types: Types, candidates: Candidates) -> Ints:
        return entity_indicators(types, candidates, self.name)


@dataclass(frozen=True)
class Same(Known):
    """Two mentions are said to be of the same thing."""

    def truth(self, candidates: Candidates) -> Bools:
        same = np.zeros((candidates.n_entities, candidates.n_entities), dtype=bool)
        for i, j in candidates.same:
            same[i, j] = same[j, i] = True
        return same

    def __str__(self) -> str:
        return f"{SAME}({self.first}, {self.second})"


@dataclass(frozen=True)
class Before(Known):
    """The first mention begins before the second."""

    def truth(self, candidates: Candidates) -> Bools:
        begin = spans_of(candidates)[:, 0]
        return begin[:, None] < begin

    def __str__(self) -> str:
        return f"{self.first} before {self.second}"


@dataclass(frozen=True)
class Between(Known):
    """Some token between the two mentions, whichever is first, is one of some words, or fits a pattern.

    >>> print(Between("a", "b", Words(frozenset({"murder", "killed"}))))
    "killed" or "murder" between a and b
    """

    test: TokenTest

    def __post_init__(self) -> None:
        if not isinstance(self.test, (Words, Pattern)):
            raise RuleError('tokens between entities are words or a pattern; give "w" or /p/')

    def truth(self, candidates: Candidates) -> Bools:
        if candidates.tokens is None:
            raise RuleError(
                "a rule looks at tokens, and none are given; give the tokens along with the scores"
            )
        spans, tokens = spans_of(candidates), candidates.tokens
        if isinstance(self.test, Words):
            passes = [token in self.test.words for token in tokens]
        else:
            assert isinstance(self.test, Pattern)
            passes = [bool(self.test.compiled(token)) for token in tokens]
        before = np.cumsum([0, *passes])  # how many of the tokens before a place pass, [T+1]
        begin, end = spans[:, 0], spans[:, 1]
        passing = before[begin][None, :] - before[end][:, None]  # between the end of one and the next
        return (passing > 0) & (begin[None, :] >= end[:, None]) | (passing.T > 0) & (
            begin[:, None] >= end[None, :]
        )

    def __str__(self) -> str:
        return f"{writing.test(self.test)} between {self.first} and {self.second}"


@dataclass(frozen=True)
class Literal:
    """An atom that holds, or does not."""

    atom: Atom
    holds: bool = True

    def __str__(self) -> str:
        return f"{'' if self.holds else 'not '}{self.atom}"


@dataclass(frozen=True)
class Clause(RelationRule):
    """Charges each choice of different entities for which all conditions hold and no conclusion does.

    >>> rule = Clause((Literal(Related("in", "a", "b")),), (Literal(Related("in", "b", "a"), False),))
    >>> print(rule)
    if in(a, b) then not in(b, a)  hard
    """

    conditions: tuple[Literal, ...]
    conclusions: tuple[Literal, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.conditions or not self.conclusions:
            raise RuleError("the clause is not complete; give a condition and a conclusion at least")
        for literal in self.literals:
            variables = literal.atom.variables
            if len(set(variables)) < len(variables):
                message = f"{literal.atom} relates an entity to itself; name two different variables"
                raise RuleError(message)

    @property
    def literals(self) -> tuple[Literal, ...]:
        return self.conditions + self.conclusions

    @property
    def disjuncts(self) -> tuple[Literal, ...]:
        """The literals of which one must hold."""
        return (*(Literal(one.atom, not one.holds) for one in self.conditions), *self.conclusions)

    @property
    def varies(self) -> bool:  # type: ignore[override]
        return any(isinstance(literal.atom, Known) for literal in self.literals)

    @property
    def variables(self) -> tuple[str, ...]:
        """In the order in which they are mentioned first."""
        return tuple(dict.fromkeys(name for literal in self.literals for name in literal.atom.variables))

    @property
    def names(self) -> tuple[str, ...]:
        atoms = (literal.atom for literal in self.literals)
        return tuple(dict.fromkeys(atom.name for atom in atoms if isinstance(atom, Decided)))

    def line(self) -> str:
        return f"if {' and '.join(map(str, self.conditions))} then {' or '.join(map(str, self.conclusions))}"

    def lower(self, types: Types, candidates: Candidates) -> Sums:
        open_to: dict[Literal, Ints] = {}
        settled: dict[Literal, Bools] = {}
        for literal in dict.fromkeys(self.disjuncts):
            if isinstance(literal.atom, Decided):
                indicators = literal.atom.indicators(types, candidates)
                open_to[literal] = indicators
                settled[literal] = (indicators < 0) & (not literal.holds)  # what cannot hold does not
            else:
                assert isinstance(literal.atom, Known)
                settled[literal] = literal.atom.truth(candidates) == literal.holds
        choices = self._choices(candidates.n_entities, settled)
        codes = np.full((len(next(iter(choices.values()))), len(open_to) + 1), UNUSED)
        for column, (literal, indicators) in enumerate(open_to.items()):
            found = indicators[tuple(choices[name] for name in literal.atom.variables)]
            codes[:, column] = np.where(found < 0, UNUSED, 2 * found + literal.holds)
        return _rows(codes)

    def _choices(self, n_entities: int, settled: dict[Literal, Bools]) -> dict[str, Ints]:
        """The entities of the variables, [n] each, in all ways that leave the clause to be decided."""
        chosen: dict[str, Ints] = {}
        left = dict(settled)
        for name in self.variables:
            n = len(next(iter(chosen.values()))) if chosen else 1
            if n * n_entities > MOST:
                raise RuleError(
                    f"'{self.line()}' speaks of more than {MOST:,} ways to choose {len(self.variables)} of "
                    f"{n_entities} entities; name fewer variables"
                )
            chosen = {old: np.repeat(entities, n_entities) for old, entities in chosen.items()}
            new = np.tile(np.arange(n_entities), n)
            keep = np.ones(len(new), dtype=bool)
            for entities in chosen.values():
                keep &= entities != new
            chosen[name] = new
            for literal in [one for one in left if set(one.atom.variables) <= chosen.keys()]:
                keep &= ~left.pop(literal)[tuple(chosen[v] for v in literal.atom.variables)]
            chosen = {old: entities[keep] for old, entities in chosen.items()}
        return chosen


UNUSED = np.int64(2**62)
"""Stands where a row has no literal."""


def _rows(codes: Ints) -> Sums:
    """Rows that are broken once if no literal holds; codes are 2 · indicator + whether it should be 1, [n,L].

    Rows with the same literals become one, which counts as often.
    """
    codes = np.sort(codes, axis=1)
    twice = codes[:, 1:] == codes[:, :-1]
    codes[:, 1:][twice] = UNUSED
    codes = np.sort(codes, axis=1) if twice.any() else codes
    either = (codes[:, 1:] // 2 == codes[:, :-1] // 2) & (codes[:, 1:] < UNUSED)
    codes = codes[~either.any(axis=1)]
    if not len(codes):
        return joined([])
    codes, times = _distinct(codes)
    used = codes < UNUSED
    row, column = np.nonzero(used)
    literal = codes[row, column]
    negative = np.sum(used & (codes % 2 == 0), axis=1)
    weight = ((1 - 2 * (literal % 2)) * times[row]).astype(np.float64)
    bound = (negative - 1) * times
    return Sums(row, literal // 2, weight, bound.astype(np.float64))


def _distinct(codes: Ints) -> tuple[Ints, Ints]:
    """The different rows in the order of their numbers, and how often each is there."""
    order = np.lexsort(codes.T[::-1])
    codes = codes[order]
    first = np.append(True, (codes[1:] != codes[:-1]).any(axis=1))
    starts = np.flatnonzero(first)
    return codes[starts], np.diff(np.append(starts, len(codes)))
