"""Sentences with entities and relations between them, and what there may be of both.

    Sentence    tokens, Entity(type, start, end)…, Relation(type, head, tail)…
    Types       the types of entities and of relations; a pair of entities may also have no relation
    Candidates  the entities and ordered pairs of one sentence that are to be decided; rules are ground on it

Axes: E entities, A types of entities, P pairs, R types of relations; I = E · A + P · (R+1) indicators.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from conseq.dtypes import Ints
from conseq.errors import DataError, SchemaError

NONE = "none"
"""How it is written that a pair has no relation."""


@dataclass(frozen=True)
class Entity:
    """The tokens start … end−1 are a mention of something of this type."""

    type: str
    start: int
    end: int


@dataclass(frozen=True)
class Relation:
    """Entity number `head` of the sentence stands in this relation to number `tail`."""

    type: str
    head: int
    tail: int


@dataclass(frozen=True)
class Sentence:
    """Tokens, the entities among them, and what these have to do with one another.

    text, characters    the text that was read, and where each token stands in it; None: not known
    """

    tokens: tuple[str, ...]
    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    pos: tuple[str, ...] | None = None
    id: str | int | None = None
    text: str | None = None
    characters: tuple[tuple[int, int], ...] | None = None

    def __post_init__(self) -> None:
        n, size = len(self.tokens), len(self.entities)
        if self.pos is not None and len(self.pos) != n:
            raise DataError(f"{len(self.pos)} tags for {n} tokens; give one for each")
        if (self.text is None) != (self.characters is None) or len(self.characters or self.tokens) != n:
            raise DataError("a text goes with the characters of each token; give both, or neither")
        for i, entity in enumerate(self.entities):
            if not 0 <= entity.start < entity.end <= n:
                place = f"{entity.start} to {entity.end}"
                raise DataError(f"entity {i} spans the tokens {place} of {n}; give 0 ≤ start < end ≤ {n}")
        for relation in self.relations:
            ends = relation.head, relation.tail
            what = f"the relation {relation.type!r} of the entities {ends[0]} and {ends[1]}"
            if not all(0 <= end < size for end in ends):
                raise DataError(f"{what}: the sentence has {size} entities, numbered from 0; correct it")
            if ends[0] == ends[1]:
                raise DataError(f"{what} relates an entity to itself; name two")

    def cut(self, start: int, end: int) -> str:
        """Tokens start … end−1 as they stand in the text, or joined by blanks if there is none.

        >>> Sentence(("Ann", "Lee", "sleeps"), (Entity("person", 0, 2),)).cut(0, 2)
        'Ann Lee'
        """
        if self.text is None or self.characters is None:
            return " ".join(self.tokens[start:end])
        return self.text[self.characters[start][0] : self.characters[end - 1][1]]


@dataclass(frozen=True)
class Types:
    """The types of entities and of relations, in the order of their scores."""

    entities: tuple[str, ...]
    relations: tuple[str, ...]  # without NONE, which has number 0 in scores; relation k has number k+1

    def __post_init__(self) -> None:
        for what, names in (("entities", self.entities), ("relations", self.relations)):
            twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
            if twice is not None:
                raise SchemaError(f"the types of {what} have {twice!r} twice; name each once")
        if NONE in self.relations:
            raise SchemaError(f"{NONE!r} stands for no relation and is not listed; leave it out")
        both = sorted({*self.entities} & {*self.relations})
        if both:
            raise SchemaError(f"{both[0]!r} is a type of entities and of relations; rename one of them")


@dataclass(frozen=True, eq=False)
class Candidates:
    """What is to be decided of one sentence: a type for each entity, a relation or none for each pair.

    pairs    [P,2], the numbers of head and tail; all ordered pairs if None was given to `of`
    spans    [E,2], start and end of each entity; None: not known
    tokens   of the sentence; None: not known, and then no rule may look at them
    same     pairs of mentions (i < j) that are said to be of the same thing
    """

    n_entities: int
    pairs: Ints
    spans: Ints | None = None
    tokens: tuple[str, ...] | None = None
    same: frozenset[tuple[int, int]] = field(default_factory=frozenset)

    @cached_property
    def place(self) -> dict[tuple[int, int], int]:
        """The number of each pair."""
        return {(head, tail): p for p, (head, tail) in enumerate(self.pairs.tolist())}

    def entity_indicator(self, types: Types, entity: int, kind: int) -> int:
        """The number of the indicator that an entity has type `kind`."""
        return entity * len(types.entities) + kind

    def pair_indicator(self, types: Types, pair: int, kind: int) -> int:
        """The number of the indicator that a pair has relation `kind` (0: none)."""
        return self.n_entities * len(types.entities) + pair * (len(types.relations) + 1) + kind


def all_pairs(n_entities: int) -> Ints:
    """Every ordered pair of different entities, [P,2].

    >>> all_pairs(3).tolist()
    [[0, 1], [0, 2], [1, 0], [1, 2], [2, 0], [2, 1]]
    """
    head, tail = np.divmod(np.arange(n_entities * n_entities), max(1, n_entities))
    return np.column_stack([head, tail])[head != tail]


def types_of(sentences: Sequence[Sentence]) -> Types:
    """The types that occur, in alphabetical order."""
    entities = {entity.type for sentence in sentences for entity in sentence.entities}
    relations = {relation.type for sentence in sentences for relation in sentence.relations}
    return Types(tuple(sorted(entities)), tuple(sorted(relations)))
