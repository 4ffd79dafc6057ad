"""Rules about how many entities of a type or pairs in a relation there are."""

from __future__ import annotations

from dataclasses import dataclass

from conseq.constraints.base import check_choice
from conseq.constraints.counts import AT_LEAST, AT_MOST, EXACTLY, SIGNS, Sum
from conseq.constraints.relational.base import (
    RelationRule,
    grouped,
    indicators_named,
    joined,
    one,
    pair_indicators,
    relation_number,
)
from conseq.constraints.relational.relations import check_bound
from conseq.constraints.relational.sums import Sums
from conseq.entities import Candidates, Types
from conseq.errors import RuleError

HEAD, TAIL = "head", "tail"


@dataclass(frozen=True)
class HowMany(RelationRule, form="{comparison:phrase} {bound:integer} {name:either}"):
    """Charges the pairs in a relation, or the entities of a type, that are beyond a number or short of it.

    >>> print(HowMany("exactly", 1, "kill"))
    exactly 1 kill  hard
    """

    comparison: str
    bound: int
    name: str

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("comparison", self.comparison, (AT_MOST, AT_LEAST, EXACTLY))
        check_bound(self.bound)

    def lower(self, types: Types, candidates: Candidates) -> Sums:
        counted = indicators_named(types, candidates, self.name)
        return joined([one([(sign, counted)], sign * self.bound) for sign in SIGNS[self.comparison]])


@dataclass(frozen=True)
class Degree(RelationRule, form="{comparison:phrase} {bound:integer} {relation:relation} per {end:end}"):
    """Charges for each entity the pairs in a relation with it as head (tail) beyond a number or short of it.

    >>> print(Degree("at most", 1, "born_in", "head"))
    at most 1 born_in per head  hard
    """

    comparison: str
    bound: int
    relation: str
    end: str

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("comparison", self.comparison, (AT_MOST, AT_LEAST, EXACTLY))
        check_choice("end", self.end, (HEAD, TAIL))
        check_bound(self.bound)

    def lower(self, types: Types, candidates: Candidates) -> Sums:
        related = pair_indicators(types, candidates, relation_number(types, self.relation))
        entity = candidates.pairs.reshape(-1, 2)[:, (HEAD, TAIL).index(self.end)]
        n = candidates.n_entities
        signs = SIGNS[self.comparison]
        return joined([grouped(entity, n, related, sign, sign * self.bound) for sign in signs])


@dataclass(frozen=True)
class RelationCounts(RelationRule):
    """Charges how far one sum of counts is above (`<=`), below (`>=`) or from (`==`) another.

    >>> from conseq.constraints.counts import Term
    >>> print(RelationCounts(Sum((Term(1, "works_for"),)), "<=", Sum((Term(1, "person"),), 1)))
    count(works_for) <= count(person) + 1  hard
    """

    left: Sum
    comparison: str
    right: Sum

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("comparison", self.comparison, ("<=", ">=", "=="))
        terms = (*self.left.terms, *self.right.terms)
        if not terms:
            raise RuleError("the rule compares two numbers; count a type or a relation on one side at least")
        if any(term.unit != "count" or term.test is not None for term in terms):
            raise RuleError("the rule counts tokens; entities and relations are counted as in count(A)")

    def lower(self, types: Types, candidates: Candidates) -> Sums:
        weights = dict.fromkeys(self.names, 0)
        for side, added in ((1, self.left), (-1, self.right)):
            for term in added.terms:
                weights[term.name] += side * term.weight
        terms = [(w, indicators_named(types, candidates, name)) for name, w in weights.items() if w]
        bound = self.right.constant - self.left.constant
        signs = SIGNS[self.comparison]
        return joined([one([(sign * w, i) for w, i in terms], sign * bound) for sign in signs])

    def line(self) -> str:
        return f"{self.left} {self.comparison} {self.right}"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(term.name for term in (*self.left.terms, *self.right.terms)))
