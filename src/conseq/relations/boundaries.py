"""Where entities may be: spans that a conditional random field thinks possible, with exact probabilities.

    sentences ─→ SequenceLabeller (BIO) ─→ posterior of the chain ─→ Spans: candidates, shares of types
    Spans, right entities ─→ sentences whose entities are candidates, those that are none of type `none`

Which candidates are entities is decided together with types and relations; those that share a token exclude
each other (`entities do not overlap`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from conseq.constraints.relational import ArgumentTypes, NoOverlap, RelationRule
from conseq.corpus import Corpus
from conseq.decoders.chain.marginals import ChainPosterior
from conseq.dtypes import Floats, Ints
from conseq.entities import NONE, Entity, Relation, Sentence, Types, all_pairs
from conseq.errors import DataError
from conseq.features.presets import PRESETS
from conseq.labeller.core import SequenceLabeller
from conseq.persist import Archive
from conseq.relations.lists import LISTS, entries

LEAST = 0.03
"""A span that is less probable is no candidate."""
MOST = 16
"""Candidates of a sentence, the most probable ones."""
LONGEST = 16
"""Tokens of a candidate."""
FLOOR = 1e-6
"""The least share that a type of a candidate has, so that another classifier may find it."""


@dataclass(frozen=True, eq=False)
class Spans:
    """Candidates of one sentence: start and end of each, [E,2]; shares of none and of each type, [E,1+A]."""

    places: Ints
    shares: Floats


@dataclass(frozen=True, eq=False)
class Boundaries:
    """A trained model of where entities are."""

    labeller: SequenceLabeller
    types: tuple[str, ...]  # of entities

    @classmethod
    def learn(cls, sentences: Sequence[Sentence], types: Sequence[str], n_jobs: int | None) -> Boundaries:
        """From sentences with their entities, of which no two share a token."""
        templates = [line for line in PRESETS["ner"].tokens.splitlines() if line.strip()]
        templates += [f"lexicon({name})[-1..1]" for name in LISTS]
        lexicons = {name: sorted(entries(name)) for name in LISTS}
        labeller = SequenceLabeller(templates, lexicons=lexicons, scheme="bio", c2=0.2, n_jobs=n_jobs)
        return cls(labeller.fit(_corpus(sentences).with_labels(_labels(sentences))), tuple(types))

    def spans(self, sentences: Sequence[Sentence]) -> list[Spans]:
        """The candidates of each sentence, in the order of the text."""
        given = [i for i, sentence in enumerate(sentences) if sentence.tokens]
        found = [Spans(np.zeros((0, 2), dtype=np.int64), np.zeros((0, 1 + len(self.types))))] * len(sentences)
        potentials = self.labeller.potentials(_corpus([sentences[i] for i in given]))
        for n, i in enumerate(given):
            found[i] = self._spans(ChainPosterior.of(potentials, n), len(sentences[i].tokens))
        return found

    def _spans(self, posterior: ChainPosterior, length: int) -> Spans:
        shares: dict[tuple[int, int], Floats] = {}
        for k, name in enumerate(self.types, start=1):
            for start, end, chance in self._possible(posterior, length, name):
                shares.setdefault((start, end), np.zeros(1 + len(self.types)))[k] = chance
        kept = [place for place, share in shares.items() if share.sum() >= LEAST]
        kept = sorted(sorted(kept, key=lambda place: -shares[place].sum())[:MOST])
        table = np.array([shares[place] for place in kept]).reshape(-1, 1 + len(self.types))
        table[:, 1:] = np.maximum(table[:, 1:], FLOOR)
        table[:, 0] = np.maximum(FLOOR, 1 - table[:, 1:].sum(axis=1))
        return Spans(np.array(kept, dtype=np.int64).reshape(-1, 2), table)

    def _possible(
        self, posterior: ChainPosterior, length: int, name: str
    ) -> Iterator[tuple[int, int, float]]:
        """Start, end and probability of segments of a type."""
        schema = self.labeller.schema_
        begin, inside = (schema.vocabulary.find(f"{mark}-{name}") for mark in "BI")
        for start in range(length):
            for end in range(start + 1, min(length, start + LONGEST) + 1):
                if _opens(posterior, start, end, begin, inside) < LEAST:
                    break
                patterns = schema.span_patterns(start, end, name, legal=True)
                chance = sum(posterior.span_probability(start, *pattern) for pattern in patterns)
                if chance >= FLOOR:
                    yield start, end, chance

    def archive(self) -> Archive:
        """All that a model file holds of it."""
        return self.labeller.archive()

    @classmethod
    def from_archive(cls, archive: Archive, types: Sequence[str]) -> Boundaries:
        """The reverse."""
        archive.field("model-type", str)
        return cls(SequenceLabeller.from_archive(archive), tuple(types))


def _opens(posterior: ChainPosterior, start: int, end: int, begin: int, inside: int) -> float:
    """The probability that a segment of a type begins at `start` and goes on to `end` at least."""
    if begin < 0 or (end > start + 1 and inside < 0):
        return 0.0
    masks = np.zeros((end - start, posterior.potentials.unary.shape[1]), dtype=bool)
    masks[0, begin] = True
    masks[1:, inside] = end > start + 1
    return posterior.span_probability(start, None, masks, None)


def _corpus(sentences: Sequence[Sentence]) -> Corpus:
    return Corpus.from_sequences([sentence.tokens for sentence in sentences])


def _labels(sentences: Sequence[Sentence]) -> list[str]:
    """The labels of all tokens in BIO."""
    found = []
    for i, sentence in enumerate(sentences):
        labels = ["O"] * len(sentence.tokens)
        for entity in sentence.entities:
            if any(label != "O" for label in labels[entity.start : entity.end]):
                raise DataError(
                    f"sentence {i} (from 0) has two entities on the token {sentence.tokens[entity.start]!r}; "
                    "where boundaries are to be predicted, leave one out"
                )
            labels[entity.start : entity.end] = [f"I-{entity.type}"] * (entity.end - entity.start)
            labels[entity.start] = f"B-{entity.type}"
        found += labels
    return found


# ── candidates as entities ──────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, eq=False)
class Proposals:
    """Sentences whose entities are candidates.

    pairs     those that share no token
    scores    what boundaries say of each candidate
    """

    sentences: list[Sentence]
    pairs: list[Ints]
    scores: Floats  # [E,1+A], logarithms of the shares of none and of each type

    @classmethod
    def of(cls, sentences: Sequence[Sentence], spans: Sequence[Spans], *, teach: bool = False) -> Proposals:
        """For deciding, where nothing is known; to `teach`, with the right entities among the candidates."""
        both = [_proposed(one, two, teach) for one, two in zip(sentences, spans, strict=True)]
        changed = [sentence for sentence, _ in both]
        width = max((shares.shape[1] for _, shares in both), default=1)
        table = np.concatenate([np.ones((0, width)), *(shares for _, shares in both)])
        return cls(changed, [apart(sentence) for sentence in changed], np.log(table))


def with_none(types: Types) -> Types:
    """The types, and first that of candidates that are no entities."""
    return Types((NONE, *types.entities), types.relations)


def _proposed(sentence: Sentence, spans: Spans, teach: bool) -> tuple[Sentence, Floats]:
    """The sentence with candidates as entities, what is not right of the type none; and their shares."""
    right = {(e.start, e.end): e.type for e in sentence.entities} if teach else {}
    given = dict(zip(map(tuple, spans.places.tolist()), spans.shares, strict=True))
    places = sorted({*right, *given})
    width = spans.shares.shape[1]
    unlikely = np.full(width, FLOOR)
    unlikely[0] = 1 - FLOOR * (width - 1)
    shares = np.array([given.get(place, unlikely) for place in places]).reshape(-1, width)
    entities = tuple(Entity(right.get(place, NONE), *place) for place in places)
    relations: tuple[Relation, ...] = ()
    if teach:
        where = [places.index((e.start, e.end)) for e in sentence.entities]
        relations = tuple(Relation(r.type, where[r.head], where[r.tail]) for r in sentence.relations)
    return replace(sentence, entities=entities, relations=relations, pos=None), shares


def apart(sentence: Sentence) -> Ints:
    """The pairs of candidates that share no token, [P,2]."""
    pairs = all_pairs(len(sentence.entities))
    begin = np.array([entity.start for entity in sentence.entities], dtype=np.int64)
    end = np.array([entity.end for entity in sentence.entities], dtype=np.int64)
    head, tail = pairs[:, 0], pairs[:, 1]
    return pairs[(begin[head] >= end[tail]) | (begin[tail] >= end[head])] if len(pairs) else pairs


def settled(sentence: Sentence) -> Sentence:
    """The sentence without the candidates that are no entities."""
    kept = [i for i, entity in enumerate(sentence.entities) if entity.type != NONE]
    number = {old: new for new, old in enumerate(kept)}
    relations = tuple(Relation(r.type, number[r.head], number[r.tail]) for r in sentence.relations)
    return replace(sentence, entities=tuple(sentence.entities[i] for i in kept), relations=relations)


def rules_of_candidates(types: Types, rules: Sequence[RelationRule]) -> tuple[RelationRule, ...]:
    """What holds of candidates whatever the rules: entities do not overlap, and relations relate entities."""
    real = tuple(name for name in types.entities if name != NONE)
    said = {rule.relation for rule in rules if isinstance(rule, ArgumentTypes) and rule.is_hard}
    others = (ArgumentTypes(name, real, real) for name in types.relations if name not in said)
    return NoOverlap(), *others
