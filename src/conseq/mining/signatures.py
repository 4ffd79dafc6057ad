"""What holds of the relations of labelled sentences: what they relate, how many there are, what follows.

    sentences ─→ observed ─→ how often each rule could have been broken, and held ─→ signatures (always held)
                                                                                 ─→ tendencies (mostly held)

A rule that held n times without exception is broken in less than 3 of n cases at 95 % confidence, so
`support` says how often a rule must have held to be taken for one that always does.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, product

from conseq.constraints.counts import Sum, Term
from conseq.constraints.relational import (
    Acyclic,
    ArgumentTypes,
    Clause,
    Degree,
    Inverse,
    Literal,
    PairLimit,
    Related,
    RelationCounts,
    RelationRule,
    Symmetric,
)
from conseq.entities import Sentence

SUPPORT = 30
"""How often a rule must have held, unless it says what a relation relates."""
NEVER_HARD = (Clause, RelationCounts)
"""What follows from what, and that there are relations, is always for penalties to say."""
USUALLY = 0.5
"""The share of the cases in which a rule that is worth a penalty holds at least."""

Edge = tuple[int, int]
Edges = dict[str, set[Edge]]
"""Heads and tails of each relation in a sentence."""


@dataclass(frozen=True)
class Observed:
    """A rule, in how many cases sentences could have broken it, and in how many they did not."""

    rule: RelationRule
    held: int
    applied: int

    @property
    def always(self) -> bool:
        return self.held == self.applied

    def comment(self) -> str:
        """What a rule file says behind the rule."""
        return f"held {self.held}/{self.applied}"


def signatures(sentences: Sequence[Sentence], support: int = SUPPORT) -> list[RelationRule]:
    """The rules that sentences kept without exception, hard.

    >>> from conseq.entities import Entity, Relation
    >>> both = Entity("person", 0, 1), Entity("city", 1, 2)
    >>> sentence = Sentence(("Ann", "Rome"), both, (Relation("lives_in", 0, 1),))
    >>> print(*signatures([sentence] * 30), sep="; ")
    lives_in(person, city)  hard; at most 1 relation per pair  hard
    """
    return [one.rule for one in always_held(sentences, support)]


def always_held(sentences: Sequence[Sentence], support: int = SUPPORT) -> list[Observed]:
    """The same with what supports them."""
    found = (one for one in observed(sentences) if one.always and not isinstance(one.rule, NEVER_HARD))
    return [one for one in found if isinstance(one.rule, ArgumentTypes) or one.applied >= support]


def tendencies(sentences: Sequence[Sentence], support: int = 5, hard: int = SUPPORT) -> list[Observed]:
    """The rules that mostly held and are no signatures (with support `hard`), to learn penalties for."""
    given = set(signatures(sentences, hard))
    found = (one for one in observed(sentences) if one.rule not in given and one.applied >= support)
    return [one for one in found if one.held >= USUALLY * one.applied]


def observed(sentences: Sequence[Sentence]) -> Iterator[Observed]:
    """Rules about the relations that there are, with how often they held."""
    edges = [_edges(sentence) for sentence in sentences]
    types = _argument_types(sentences)
    for relation, (heads, tails) in types.items():
        n = sum(len(one[relation]) for one in edges if relation in one)
        yield Observed(ArgumentTypes(relation, tuple(sorted(heads)), tuple(sorted(tails))), n, n)
    pairs = [Counter(tuple(sorted(edge)) for found in one.values() for edge in found) for one in edges]
    several = [number for counts in pairs for number in counts.values()]
    yield Observed(PairLimit(1), several.count(1), len(several))
    if types:
        some = Sum(tuple(Term(1, relation) for relation in types))
        related = [one for one, given in zip(edges, sentences, strict=True) if len(given.entities) > 1]
        yield Observed(RelationCounts(some, ">=", Sum((), 1)), sum(map(bool, related)), len(related))
    yield from _both_directions(edges, types)
    for relation, (heads, tails) in types.items():
        if heads & tails:
            found = [one[relation] for one in edges if relation in one]
            n = sum(map(len, found))
            yield Observed(Acyclic(relation), n - sum(map(_on_cycles, found)), n)
        for end, others in ((0, tails), (1, heads)):
            yield _degree(relation, end, others, sentences, edges)
    yield from _triangles(edges)


def _edges(sentence: Sentence) -> Edges:
    edges: Edges = defaultdict(set)
    for relation in sentence.relations:
        edges[relation.type].add((relation.head, relation.tail))
    return dict(edges)


def _argument_types(sentences: Sequence[Sentence]) -> dict[str, tuple[set[str], set[str]]]:
    """The types of heads and of tails of each relation, the relations in alphabetical order."""
    found: dict[str, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
    for sentence in sentences:
        for relation in sentence.relations:
            heads, tails = found[relation.type]
            heads.add(sentence.entities[relation.head].type)
            tails.add(sentence.entities[relation.tail].type)
    return dict(sorted(found.items()))


def _both_directions(edges: Sequence[Edges], relations: Iterable[str]) -> Iterator[Observed]:
    """Relations that say the same in the other direction."""
    for first, second in combinations_with_replacement(relations, 2):
        held = applied = 0
        for one in edges:
            there = one.get(first, set())
            back = {(j, i) for i, j in one.get(second, ())}
            held, applied = held + len(there & back), applied + len(there | back)
        if first == second:  # each two entities were seen from both
            yield Observed(Symmetric(first), held // 2, applied // 2)
        elif applied:
            yield Observed(Inverse(first, second), held, applied)


def _on_cycles(edges: set[Edge]) -> int:
    """How many of the edges are on a cycle: those whose head can be reached from their tail."""
    follow: dict[int, set[int]] = defaultdict(set)
    for i, j in edges:
        follow[i].add(j)

    def reached(begin: int) -> set[int]:
        seen, left = {begin}, [begin]
        while left:
            new = follow[left.pop()] - seen
            seen |= new
            left += new
        return seen

    return sum(i in reached(j) for i, j in edges)


def _degree(
    relation: str, end: int, others: set[str], sentences: Sequence[Sentence], edges: Sequence[Edges]
) -> Observed:
    """At most one per head (end 0) or tail (1); a case is one that could have had another."""
    held = applied = 0
    for sentence, one in zip(sentences, edges, strict=True):
        counts = Counter(edge[end] for edge in one.get(relation, ()))
        for i, number in counts.items():
            possible = sum(e.type in others for k, e in enumerate(sentence.entities) if k != i)
            applied += possible > 1
            held += possible > 1 and number == 1
    return Observed(Degree("at most", 1, relation, ("head", "tail")[end]), held, applied)


TRIANGLE = ("a", "b"), ("b", "c"), ("a", "c")


def _triangles(edges: Sequence[Edges]) -> Iterator[Observed]:
    """If two sides of a triangle of entities are in some relations, then the third is in one."""
    applied: Counter[tuple[int, str, str]] = Counter()
    held: Counter[tuple[int, str, str, str]] = Counter()
    for one in edges:
        sides = [(relation, edge) for relation, found in one.items() for edge in found]
        for missing in range(3):
            first, second = (TRIANGLE[k] for k in range(3) if k != missing)
            for (r, e), (s, f) in product(sides, sides):
                place = _matched((first, e), (second, f))
                if place is None:
                    continue
                applied[missing, r, s] += 1
                third = place[TRIANGLE[missing][0]], place[TRIANGLE[missing][1]]
                held.update((missing, r, s, t) for t, found in one.items() if third in found)
    for (missing, r, s, t), n in sorted(held.items()):
        first, second = (TRIANGLE[k] for k in range(3) if k != missing)
        conditions = Literal(Related(r, *first)), Literal(Related(s, *second))
        rule = Clause(conditions, (Literal(Related(t, *TRIANGLE[missing])),))
        yield Observed(rule, n, applied[missing, r, s])


def _matched(*sides: tuple[tuple[str, str], Edge]) -> dict[str, int] | None:
    """The entity of each variable, if each has one and no two have the same."""
    place: dict[str, int] = {}
    for variables, edge in sides:
        for variable, entity in zip(variables, edge, strict=True):
            if place.setdefault(variable, entity) != entity:
                return None
    return place if len(set(place.values())) == len(place) else None
