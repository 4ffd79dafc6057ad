"""The entities and pairs of sentences as arrays.

    Sentences ─→ Mentions: tokens end to end, spans and pairs with numbers that count through all sentences

Axes: N sequences, T tokens, E entities, P pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from conseq.corpus import Column
from conseq.dtypes import Ints
from conseq.entities import NONE, Sentence, Types, all_pairs
from conseq.errors import DataError


@dataclass(frozen=True, eq=False)
class Mentions:
    """What is to be decided of some sentences."""

    words: Column  # [T]
    tags: Column  # [T], empty where none are known
    offsets: Ints  # [N+1] where the tokens of each sentence begin
    entity_offsets: Ints  # [N+1]
    pair_offsets: Ints  # [N+1]
    first: Ints  # [E] the first token of each entity
    last: Ints  # [E] and the last
    pairs: Ints  # [P,2] head and tail

    @classmethod
    def of(cls, sentences: Sequence[Sentence], pairs: Sequence[Ints] | None = None) -> Mentions:
        """All entities of the sentences, and all their ordered pairs if none are given."""
        offsets = _ends(len(s.tokens) for s in sentences)
        entity_offsets = _ends(len(s.entities) for s in sentences)
        own = pairs if pairs is not None else [all_pairs(len(s.entities)) for s in sentences]
        spans = np.array([(e.start, e.end) for s in sentences for e in s.entities], dtype=np.int64)
        spans = spans.reshape(-1, 2) + np.repeat(offsets[:-1], np.diff(entity_offsets))[:, None]
        shifted = [p + start for p, start in zip(own, entity_offsets.tolist(), strict=False)]
        return cls(
            Column.of(word for s in sentences for word in s.tokens),
            Column.of(tag for s in sentences for tag in (s.pos or ("",) * len(s.tokens))),
            offsets,
            entity_offsets,
            _ends(len(p) for p in own),
            spans[:, 0],
            spans[:, 1] - 1,
            np.concatenate([np.empty((0, 2), dtype=np.int64), *shifted]),
        )

    @cached_property
    def sentence(self) -> Ints:
        """The sentence of each entity, [E]."""
        return np.repeat(np.arange(len(self)), np.diff(self.entity_offsets))

    @property
    def begin(self) -> Ints:
        """Where the sentence of each entity begins, [E]."""
        return self.offsets[self.sentence]

    @property
    def end(self) -> Ints:
        """Where it ends."""
        return self.offsets[self.sentence + 1]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def each(self) -> Iterator[tuple[slice, slice, Ints]]:
        """The entities, the pairs, and the pairs by number in the sentence, of each sentence."""
        entities, pairs = self.entity_offsets.tolist(), self.pair_offsets.tolist()
        for i in range(len(self)):
            own = slice(pairs[i], pairs[i + 1])
            yield slice(entities[i], entities[i + 1]), own, self.pairs[own] - entities[i]


@dataclass(frozen=True, eq=False)
class Gold:
    """The right answers: a type for each entity [E], a relation for each pair [P] (0: none)."""

    entities: Ints
    relations: Ints

    @classmethod
    def of(cls, sentences: Sequence[Sentence], types: Types, mentions: Mentions) -> Gold:
        """Of labelled sentences, whose names must be among the types; others become −1."""
        kinds = {name: i for i, name in enumerate(types.entities)}
        names = {name: k for k, name in enumerate((NONE, *types.relations))}
        entities = [kinds.get(e.type, -1) for s in sentences for e in s.entities]
        relations = np.zeros(len(mentions.pairs), dtype=np.int64)
        for (_, own, pairs), sentence in zip(mentions.each(), sentences, strict=True):
            known = related(sentence)
            if known:
                relations[own] = [names.get(known.get(pair, NONE), -1) for pair in map(tuple, pairs.tolist())]
        return cls(np.array(entities, dtype=np.int64), relations)


def related(sentence: Sentence) -> dict[tuple[int, int], str]:
    """The relation of each pair that has one; raises if a pair has two."""
    found: dict[tuple[int, int], str] = {}
    for relation in sentence.relations:
        pair = relation.head, relation.tail
        if found.setdefault(pair, relation.type) != relation.type:
            raise DataError(
                f"the entities {pair[0]} and {pair[1]} have the relations {found[pair]!r} and "
                f"{relation.type!r}; a pair has one at most, so leave one out"
            )
    return found


def _ends(lengths: Iterator[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(np.fromiter(lengths, dtype=np.int64))]).astype(np.int64)
