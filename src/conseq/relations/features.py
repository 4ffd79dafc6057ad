"""The attributes that the classifiers of entities and of relations work with.

    Sentences ─→ Mentions ─→ columns ─ templates ─→ hashes ─ those known ─→ Design of entities ─┬─→ scores
                                                                 Design of pairs: head, tail, own ┘

Of the two sets, `paper` has what Roth and Yih 2004 list, and `full` adds pieces of the phrase, the words of
the sentence, and what stands at either end of the words between, and leaves out trigrams.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from conseq.archive import Archive
from conseq.corpus import gathered
from conseq.dtypes import Ints
from conseq.features.codes import CodeIndex
from conseq.features.design import Design
from conseq.relations.columns import (
    AFTER,
    BEFORE,
    PATTERNS,
    SUFFIXES,
    Between,
    Phrases,
    Tokens,
    entity_bags,
    entity_columns,
    more_entity_bags,
    pair_bags,
    pair_columns,
)
from conseq.relations.hashed import SIZE, Attributes, Coded, Templates, side_by_side
from conseq.relations.lists import LISTS
from conseq.relations.mentions import Mentions


def mixed(*places: str) -> list[str]:
    """Words and tags at these places, in all mixtures.

    >>> mixed("-1", "+1")
    ['w-1 w+1', 'w-1 t+1', 't-1 w+1', 't-1 t+1']
    """
    mixtures = product("wt", repeat=len(places))
    return [" ".join(map("".join, zip(kinds, places, strict=True))) for kinds in mixtures]


FORMS = ("icap", "acap", "incap", "length", *(f"{how}-{name}" for name in LISTS for how in ("is", "has")))
ENTITY = (
    "bias",
    *(line for place in [*BEFORE, *AFTER] for line in (f"w{place}", f"t{place}", f"w{place} t{place}")),
    *mixed("-2", "-1"), *mixed("-1", ".first"), *mixed(".last", "+1"), *mixed("+1", "+2"),
    *mixed("-3", "-2", "-1"), *mixed("-1", ".last", "+1"), *mixed("+1", "+2", "+3"),
    "w.first", "w.last", "t.first", "t.last", "w.last t.last", "phrase",
    *FORMS, *(f"suffix{n}" for n in SUFFIXES),
)  # fmt: skip
MORE_ENTITY = (
    *(line for line in ENTITY if len(line.split()) < 3),  # trigrams tell nothing that pieces of words do not
    *(f"{name}{place}" for name in LISTS for place in ("-2", "-1", "+1", "+2")),
    "t.first t.last length",
)
CONJUNCTIONS = (
    "a.w.last b.w.last", "a.t.last b.t.last", "a.length b.length", "a.listed b.listed",
    "a.w+1 b.w-1", "a.w-1 b.w-1", "a.w-1 b.w+1", "a.w+1 b.w+1",
)  # fmt: skip
PAIR = (
    "bias", "order", "order gap", "order apart",
    *(line for name in PATTERNS for line in (name, f"{name} order")),
    *CONJUNCTIONS, "order a.listed b.listed", "order gap a.listed b.listed",
)  # fmt: skip
MORE_PAIR = (
    *PAIR,
    "order gap apart",
    *(
        f"order {which}.{name}"
        for which in "ab"
        for name in ("w-1", "w-2", "w+1", "w+2", "w.last", "t-1", "t+1", "t.last", *FORMS)
    ),
    "order b1", "order b1 b2", "order b1 b2 b3", "order z1", "order z1 z2", "order b1 z1",
    "order b1 a.listed b.listed", "order z1 a.listed b.listed",
)  # fmt: skip
TYPED = (
    "a.type", "b.type", "a.type b.type", "order a.type b.type", "order gap a.type b.type",
    "order apart a.type b.type", "order b1 a.type b.type",
)  # fmt: skip
"""What the classifier of relations sees of the types of entities, where it is told them."""
RELATED = 2000
"""The number of what the classifier of entities sees of their relations, where it is told them."""

SETS = ("full", "paper")


@dataclass(frozen=True, eq=False)
class Given:
    """What one classifier is told of the other's variables: types of entities [E], relations of pairs [P]."""

    types: Ints | None = None
    relations: Ints | None = None


NOTHING = Given()


@dataclass(frozen=True, eq=False)
class Described:
    """The attributes of all entities and pairs of N sentences, by hash."""

    entity_offsets: Ints  # [N+1]
    pair_offsets: Ints  # [N+1]
    pairs: Ints  # [P,2]
    entities: Coded  # [E]
    own: Coded  # [P], beside those of head and tail

    @classmethod
    def of(cls, mentions: Mentions, chosen: str, given: Given = NOTHING) -> Described:
        """By one of the `SETS`, and what else is given."""
        full = chosen == "full"
        tokens, phrases, between = Tokens(mentions), Phrases.of(mentions), Between.of(mentions)
        columns = entity_columns(tokens, phrases)
        entities = [Templates(MORE_ENTITY if full else ENTITY).code(columns), *entity_bags(tokens, phrases)]
        if full:
            entities += more_entity_bags(tokens, phrases)
        if given.relations is not None:
            entities.append(_related(mentions, given.relations))
        if given.types is not None:
            columns["type"] = given.types
        pairs = pair_columns(tokens, between, columns)
        own = [Templates(MORE_PAIR if full else PAIR, 100).code(pairs), *pair_bags(tokens, between)]
        if given.types is not None:
            own.append(Templates(TYPED, 200).code(pairs))
        return cls(
            mentions.entity_offsets,
            mentions.pair_offsets,
            mentions.pairs,
            Coded.beside(entities),
            Coded.beside(own),
        )

    def select(self, chosen: Ints) -> Described:
        """Of some of the sentences."""
        entity_offsets, entities = gathered(self.entity_offsets, chosen)
        pair_offsets, pairs = gathered(self.pair_offsets, chosen)
        number = np.zeros(int(self.entity_offsets[-1]), dtype=np.int64)
        number[entities] = np.arange(len(entities))
        return Described(
            entity_offsets,
            pair_offsets,
            number[self.pairs[pairs]],
            self.entities.take(entities),
            self.own.take(pairs),
        )


def _related(mentions: Mentions, relations: Ints) -> Coded:
    """The relations of which each entity is head, or tail."""
    active = np.flatnonzero(relations > 0)
    entity = mentions.pairs[active].T.reshape(-1)
    values = np.concatenate([2 * relations[active], 2 * relations[active] + 1])
    order = np.argsort(entity, kind="stable")
    counts = np.bincount(entity, minlength=len(mentions.first))
    return Coded.bag(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), values[order], RELATED)


@dataclass(frozen=True, eq=False)
class RelationFeatures:
    """The attributes of training data; of other data those of them that it has."""

    chosen: str
    entity: Attributes
    pair: Attributes

    @classmethod
    def learn(cls, described: Described, chosen: str, min_count: int = 1) -> RelationFeatures:
        """The attributes that occur at least `min_count` times."""
        found = (Attributes.learn(rows, min_count) for rows in (described.entities, described.own))
        return cls(chosen, *found)

    def entities(self, described: Described) -> Design:
        """The design of the entities."""
        return self.entity.design(described.entities)

    def pairs(self, described: Described, entities: Design | None = None) -> Design:
        """The design of the pairs, which have the attributes of head and tail and their own.

        That of the entities may be given.
        """
        ends = self.entities(described) if entities is None else entities
        pairs = described.pairs
        own = self.pair.design(described.own), np.arange(len(pairs))
        return side_by_side([(ends, pairs[:, 0]), (ends, pairs[:, 1]), own])

    @property
    def n_attributes(self) -> tuple[int, int]:
        """Of entities, and of pairs."""
        return len(self.entity), 2 * len(self.entity) + len(self.pair)

    def pack(self) -> Archive:
        """Everything needed to find the same attributes again."""
        arrays = {"entity": self.entity.known.codes, "pair": self.pair.known.codes}
        return Archive({"chosen": self.chosen}, {}, arrays)

    @classmethod
    def unpack(cls, archive: Archive) -> RelationFeatures:
        """The features that were packed."""
        chosen = archive.field("chosen", str)
        archive.check(chosen in SETS, f"there is no set of features {chosen!r}")
        entity, pair = (
            Attributes(CodeIndex(archive.array(name, np.int64, [None], 0, SIZE - 1, distinct=True), SIZE))
            for name in ("entity", "pair")
        )
        return cls(chosen, entity, pair)
