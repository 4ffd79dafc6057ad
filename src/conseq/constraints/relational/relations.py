"""Rules about relations: what they relate, and what one relation says of another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conseq.constraints import writing
from conseq.constraints.counts import check_size
from conseq.constraints.relational.base import (
    RelationRule,
    alike,
    entity_indicators,
    joined,
    one,
    pair_indicators,
    places,
    relation_number,
)
from conseq.constraints.relational.sums import Sums
from conseq.dtypes import Ints
from conseq.entities import Candidates, Types
from conseq.errors import RuleError


@dataclass(frozen=True)
class ArgumentTypes(RelationRule, form="{relation:relation} ( {head:entities} , {tail:entities} )"):
    """Charges each argument of a relation that has none of the types listed for it.

    >>> print(ArgumentTypes("lives_in", ("person",), ("city", "country")))
    lives_in(person, city or country)  hard
    """

    relation: str
    head: tuple[str, ...]
    tail: tuple[str, ...]

    def lower(self, types: Types, candidates: Candidates) -> Sums:
        related = pair_indicators(types, candidates, relation_number(types, self.relation))
        sides = zip((self.head, self.tail), candidates.pairs.reshape(-1, 2).T, strict=True)
        parts = []
        for allowed, entities in sides:
            fitting = [entity_indicators(types, candidates, name)[entities] for name in allowed]
            rows = np.column_stack([related, *fitting])
            if len(allowed) < len(types.entities):
                parts.append(alike(rows, [1.0] + [-1.0] * len(allowed), 0.0))
        return joined(parts)

    def line(self) -> str:
        return f"{writing.name(self.relation)}({writing.names(self.head)}, {writing.names(self.tail)})"


@dataclass(frozen=True)
class PairLimit(RelationRule, form="at most {bound:integer} relation|relations per pair"):
    """Charges the relations between two entities, in both directions together, that are beyond a number.

    >>> print(PairLimit(1))
    at most 1 relation per pair  hard
    """

    bound: int

    def __post_init__(self) -> None:
        super().__post_init__()
        check_bound(self.bound)

    def lower(self, types: Types, candidates: Candidates) -> Sums:
        number = places(candidates)
        there, back = both_directions(number)
        no_relation = pair_indicators(types, candidates, 0)
        parts = []
        if self.bound < 2:
            both = np.column_stack([no_relation[number[there, back]], no_relation[number[back, there]]])
            parts.append(alike(both, [-1.0, -1.0], self.bound - 2))
        if self.bound < 1:
            single = no_relation[number[(number >= 0) & (number.T < 0)]]
            parts.append(alike(single[:, None], [-1.0], -1.0))
        return joined(parts)

    def line(self) -> str:
        return f"at most {self.bound} {'relation' if self.bound == 1 else 'relations'} per pair"


@dataclass(frozen=True)
class Symmetric(RelationRule, form="{relation:relation} is symmetric"):
    """Charges each two entities that are in a relation in one direction and not in the other.

    >>> print(Symmetric("married_to", penalty=2))
    married_to is symmetric  penalty 2
    """

    relation: str

    def lower(self, types: Types, candidates: Candidates) -> Sums:
        number, kind = places(candidates), relation_number(types, self.relation)
        related = pair_indicators(types, candidates, kind)
        there, back = both_directions(number)
        two = np.column_stack([related[number[there, back]], related[number[back, there]]])
        single = related[number[(number >= 0) & (number.T < 0)]]
        return joined(
            [alike(np.vstack([two, two[:, ::-1]]), [1.0, -1.0], 0.0), alike(single[:, None], [1.0], 0.0)]
        )


@dataclass(frozen=True)
class Inverse(RelationRule, form="{relation:relation} is inverse of {inverse:relation}", different=True):
    """Charges each pair that is in a relation where the reversed pair is not in its inverse, or vice versa.

    >>> print(Inverse("employs", "works_for"))
    employs is inverse of works_for  hard
    """

    relation: str
    inverse: str

    def lower(self, types: Types, candidates: Candidates) -> Sums:
        first = pair_indicators(types, candidates, relation_number(types, self.relation))
        second = pair_indicators(types, candidates, relation_number(types, self.inverse))
        number = places(candidates)
        both = (number >= 0) & (number.T >= 0)
        two = np.column_stack([first[number[both]], second[number.T[both]]])
        lone = number[(number >= 0) & (number.T < 0)]
        single = np.concatenate([first[lone], second[lone]])
        return joined(
            [alike(np.vstack([two, two[:, ::-1]]), [1.0, -1.0], 0.0), alike(single[:, None], [1.0], 0.0)]
        )


@dataclass(frozen=True)
class Acyclic(RelationRule, form="{relation:relation} is acyclic"):
    """Charged once if a relation leads from some entity back to it.

    There are too many cycles for a row each: `lower` has those of two entities, `more` those that are broken.

    >>> print(Acyclic("part_of"))
    part_of is acyclic  hard
    """

    relation: str

    def lower(self, types: Types, candidates: Candidates) -> Sums:
        number, kind = places(candidates), relation_number(types, self.relation)
        related = pair_indicators(types, candidates, kind)
        there, back = both_directions(number)
        two = np.column_stack([related[number[there, back]], related[number[back, there]]])
        return alike(two, [1.0, 1.0], 1.0, together=True)

    def more(self, types: Types, candidates: Candidates, values: ArrayLike) -> Sums | None:
        related = pair_indicators(types, candidates, relation_number(types, self.relation))
        amounts = np.asarray(values, dtype=np.float64)[related]
        if amounts.sum() <= 2.0:  # a cycle of three that is broken has more
            return None
        number = places(candidates)
        amount = np.append(amounts, 0.0)[number]  # [E,E]
        found = [cycle for cycle in broken_cycles(amount) if len(cycle) > 2]
        if not found:
            return None
        ends = [list(zip(cycle, [*cycle[1:], cycle[0]], strict=True)) for cycle in found]
        edges = [np.array([related[number[i, j]] for i, j in cycle]) for cycle in ends]
        return joined([one([(1, edge)], len(edge) - 1) for edge in edges], together=True)


def both_directions(number: Ints) -> tuple[Ints, Ints]:
    """The two entities i < j of all pairs that are candidates in both directions; pairs by `places`."""
    there, back = np.nonzero(np.triu((number >= 0) & (number.T >= 0)))
    return there, back


def broken_cycles(amount: NDArray[np.float64]) -> list[tuple[int, ...]]:
    """Cycles whose edges add up to more than their number − 1, [E,E] amounts 0 … 1: a shortest through each
    edge. Each begins with its least entity.

    >>> broken_cycles(np.array([[0, 1.0, 0], [0, 0, 1.0], [1.0, 0, 0]]))
    [(0, 1, 2)]
    """
    n = len(amount)
    lack = np.where(amount > 0, 1.0 - amount + 1e-9, np.inf)  # all edges taken: a little for each
    distance, follower = lack.copy(), np.tile(np.arange(n), (n, 1))
    for k in range(n):
        through = distance[:, k, None] + distance[None, k]
        nearer = through < distance
        distance = np.where(nearer, through, distance)
        follower = np.where(nearer, follower[:, k, None], follower)
    found = set()
    for i, j in np.argwhere(lack + distance.T < 1.0 - 1e-6).tolist():
        cycle, at = [i], j
        while at != i and len(cycle) <= n:
            cycle.append(at)
            at = int(follower[at, i])
        least = cycle.index(min(cycle))
        if len(set(cycle)) == len(cycle) and at == i:
            found.add((*cycle[least:], *cycle[:least]))
    return sorted(found, key=lambda cycle: (len(cycle), cycle))


def check_bound(bound: int) -> None:
    """Raise if a number of things is negative or too large."""
    if bound < 0:
        raise RuleError(f"the number is {bound}; give one of at least 0")
    check_size("number", bound)
