"""How well entities and relations were found.  gold and predicted sentences ─→ `RelationReport`

An entity is right if its tokens and type are. A relation is right if its type, and its entities with their
tokens and types, are; `by_place` forgives wrong types of entities. No entity or relation counts twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from conseq.entities import Sentence
from conseq.errors import DataError
from conseq.metrics.counts import Counts, Fractions, ratio
from conseq.metrics.report import SpanScores

Found = set[tuple[Any, ...]]
"""Entities or relations of a sentence; the first of each is its type."""


@dataclass(frozen=True)
class RelationReport:
    """Scores of entities and relations.

    by_place    relations whose entities may have wrong types
    quality     of the relations that are right by place, the share whose entities have the right types, too
                (Roth and Yih 2004)
    """

    sentences: int
    entities: SpanScores
    relations: SpanScores
    by_place: SpanScores

    @property
    def quality(self) -> float:
        return ratio(self.relations.total.correct, self.by_place.total.correct)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        kinds = {"entities": self.entities, "relations": self.relations, "by_place": self.by_place}
        scores = {name: {**part.to_dict(), "macro": macro(part).to_dict()} for name, part in kinds.items()}
        return {"sentences": self.sentences, **scores, "quality": self.quality}


def macro(scores: SpanScores) -> Fractions:
    """The mean over the types that the gold data has."""
    return Fractions.mean([counts.fractions for counts in scores.labels.values() if counts.gold])


def evaluate_relations(gold: Sequence[Sentence], predicted: Sequence[Sentence]) -> RelationReport:
    """Compare the entities and relations of sentences with those that are right.

    >>> from conseq.entities import Entity, Relation
    >>> both = Entity("person", 0, 1), Entity("place", 1, 2)
    >>> gold = Sentence(("Ann", "Rome"), both, (Relation("live_in", 0, 1),))
    >>> report = evaluate_relations([gold], [Sentence(gold.tokens, both)])
    >>> report.entities.total.f1, report.relations.total.recall
    (1.0, 0.0)
    """
    if len(gold) != len(predicted):
        raise DataError(f"{len(gold)} sentences and {len(predicted)} predictions; give one for each")
    for i, (right, found) in enumerate(zip(gold, predicted, strict=True)):
        if right.tokens != found.tokens:
            raise DataError(f"sentence {i} has other tokens than its prediction; give them in the same order")
    return RelationReport(
        len(gold),
        *(_scores(map(kind, gold), map(kind, predicted)) for kind in (_entities, _relations, _by_place)),
    )


def _entities(sentence: Sentence) -> Found:
    return {(entity.type, entity.start, entity.end) for entity in sentence.entities}


def _relations(sentence: Sentence) -> Found:
    entities = sentence.entities
    return {
        (relation.type, entities[relation.head], entities[relation.tail]) for relation in sentence.relations
    }


def _by_place(sentence: Sentence) -> Found:
    places = [(entity.start, entity.end) for entity in sentence.entities]
    return {(relation.type, places[relation.head], places[relation.tail]) for relation in sentence.relations}


def _scores(gold: Iterable[Found], predicted: Iterable[Found]) -> SpanScores:
    right, found, correct = Counter[str](), Counter[str](), Counter[str]()
    for here, there in zip(gold, predicted, strict=True):
        for counter, things in ((right, here), (found, there), (correct, here & there)):
            counter.update(thing[0] for thing in things)
    by_type = {name: Counts(correct[name], found[name], right[name]) for name in sorted(right | found)}
    return SpanScores(Counts(correct.total(), found.total(), right.total()), by_type)
