"""Entities and relations from words alone: boundaries, types and relations decided in one problem.

    pool ─→ RelationLabeller(boundaries="predicted") ─→ tokens of the target ─→ strict F1

A relation is right if its type and both its entities are, with their boundaries and types. Tags of words are
not used.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from conseq.constraints.relational import ArgumentTypes
from conseq.entities import Sentence
from conseq.metrics import evaluate_relations
from conseq.problem import Status
from conseq.relations.labeller import RelationLabeller
from experiments.common import Result


def end_to_end(pool: Sequence[Sentence], target: Sequence[Sentence], quick: bool) -> Result:
    """F1 on the target of a model that learned from the pool."""
    labeller = RelationLabeller(boundaries="predicted", n_jobs=1, folds=2 if quick else 5).fit(pool)
    bare = [replace(sentence, entities=(), relations=(), pos=None) for sentence in target]
    labeller.label(bare[:1])
    begun = time.perf_counter()
    answers = labeller.label(bare)
    seconds = time.perf_counter() - begun
    report = evaluate_relations(target, answers.sentences)
    found = [rule for rule in labeller.constraints_ if isinstance(rule, ArgumentTypes)]
    allowed = {(rule.relation, head, tail) for rule in found for head in rule.head for tail in rule.tail}
    related = [
        (relation.type, sentence.entities[relation.head].type, sentence.entities[relation.tail].type)
        for sentence in answers.sentences
        for relation in sentence.relations
    ]
    total = report.relations.total
    return {
        "trained_on": len(pool),
        "sentences": len(target),
        "entity_f1": report.entities.total.f1,
        "relation_f1": total.f1,
        "relation_precision": total.fractions.precision,
        "relation_recall": total.fractions.recall,
        "entities": {name: counts.f1 for name, counts in report.entities.labels.items()},
        "relations": {name: counts.f1 for name, counts in report.relations.labels.items()},
        "incoherent": sum(triple not in allowed for triple in related) / max(1, len(related)),
        "certified": float(np.mean([a.decoding.certificate.status is Status.OPTIMAL for a in answers])),
        "milliseconds": 1000 * seconds / max(1, len(target)),
    }
