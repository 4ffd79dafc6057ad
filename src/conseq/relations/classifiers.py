"""The two classifiers, trained apart: of the types of entities, and of the relations of pairs.

    Described, Gold ─→ Classifiers.learn ─→ scores(Described) ─→ log probabilities [E,A] and [P,R+1]

Anything with `fit(rows, labels)`, `predict_proba(rows)` and `classes_` can take the place of ours; rows are
scipy's sparse matrices then, and labels numbers.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, get_type_hints

import numpy as np

from conseq.archive import Archive, combine
from conseq.dtypes import Floats, Ints
from conseq.entities import Types
from conseq.errors import ConseqError, ModelError
from conseq.features.design import Design
from conseq.models.logistic import LogisticRegression
from conseq.models.rows import matrix_of
from conseq.models.winnow import Winnow
from conseq.relations.features import Described, RelationFeatures
from conseq.relations.mentions import Gold

Classifier = LogisticRegression | Winnow
CLASSIFIERS: Mapping[str, type[Classifier]] = {kind.model_type: kind for kind in (LogisticRegression, Winnow)}
"""Ours, by name."""
LEAST = 1e-12
"""The least probability that a classifier of somebody else's is taken to mean."""


class Scores(NamedTuple):
    """Log probabilities of the types of entities and of the relations of pairs, the first of them none."""

    entities: Floats  # [E,A]
    relations: Floats  # [P,R+1]


@dataclass(frozen=True)
class Makers:
    """How classifiers are made: one for entities, one for relations."""

    entity: Callable[[], Any]
    relation: Callable[[], Any]

    @classmethod
    def of(cls, classifier: Any, c2: float, relation_c2: float, n_jobs: int | None) -> Makers:
        """By name, or an object that is copied untrained; logistic regression takes c2."""
        if classifier == LogisticRegression.model_type:
            return cls(
                lambda: LogisticRegression(c2=c2, n_jobs=n_jobs),
                lambda: LogisticRegression(c2=relation_c2, n_jobs=n_jobs),
            )
        if classifier == Winnow.model_type:
            return cls(Winnow, Winnow)
        if isinstance(classifier, str) or not hasattr(classifier, "predict_proba"):
            raise ConseqError(
                f"classifier is {classifier!r}; give {' or '.join(CLASSIFIERS)}, or an object with fit and "
                "predict_proba"
            )
        return cls(lambda: copy.deepcopy(classifier), lambda: copy.deepcopy(classifier))


@dataclass(frozen=True, eq=False)
class Classifiers:
    """Both, trained, with the attributes that they know."""

    features: RelationFeatures
    entity: Any
    relation: Any

    @classmethod
    def learn(
        cls, described: Described, gold: Gold, types: Types, makers: Makers, chosen: str, min_count: int = 1
    ) -> Classifiers:
        """Trained on sentences with the right answers; each learns for itself."""
        features = RelationFeatures.learn(described, chosen, min_count)
        entities = features.entities(described)
        pairs = features.pairs(described, entities)
        return cls(
            features,
            trained(makers.entity(), entities, gold.entities, len(types.entities)),
            trained(makers.relation(), pairs, gold.relations, len(types.relations) + 1),
        )

    def scores(self, described: Described, types: Types) -> Scores:
        """What they say of sentences."""
        return Scores(self.entity_scores(described, types), self.relation_scores(described, types))

    def entity_scores(self, described: Described, types: Types) -> Floats:
        """Of the types of entities alone, [E,A]."""
        return log_probabilities(self.entity, self.features.entities(described), len(types.entities))

    def relation_scores(self, described: Described, types: Types) -> Floats:
        """Of the relations of pairs alone, [P,R+1]."""
        return log_probabilities(self.relation, self.features.pairs(described), len(types.relations) + 1)

    def archive(self) -> Archive:
        """All that a model file holds."""
        both = {"entity": self.entity, "relation": self.relation}
        for classifier in both.values():
            if not isinstance(classifier, Classifier):
                raise ModelError(
                    f"a model file cannot hold a classifier of the type {type(classifier).__name__}; "
                    f"save models with {' or '.join(CLASSIFIERS)}"
                )
        kinds = {name: classifier.model_type for name, classifier in both.items()}
        options = {name: {"options": classifier.get_params()} for name, classifier in both.items()}
        parts = {name: combine(options[name], {"model": both[name].archive()}) for name in both}
        return combine({"kinds": kinds}, {"features": self.features.pack(), **parts})

    @classmethod
    def from_archive(cls, archive: Archive, types: Types) -> Classifiers:
        """The reverse."""
        features = RelationFeatures.unpack(archive.within("features"))
        kinds = archive.table("kinds", {"entity": str, "relation": str})
        sizes = len(types.entities), len(types.relations) + 1
        both = []
        for name, size, n_attributes in zip(kinds, sizes, features.n_attributes, strict=True):
            archive.check(kinds[name] in CLASSIFIERS, f"there is no classifier {kinds[name]!r}")
            kind = CLASSIFIERS[kinds[name]]
            part = archive.within(name)
            hints = get_type_hints(kind.__init__)
            options = part.table("options", {name: hints[name] for name in kind._defaults()})
            both.append(kind(**options).restore(part.within("model"), list(range(size)), n_attributes))
        return cls(features, *both)


def trained(classifier: Any, rows: Design, labels: Ints, n_classes: int) -> Any:
    """The classifier, trained on the rows whose label is known."""
    if isinstance(classifier, Classifier):
        return classifier.fit(rows, labels, list(range(n_classes)))
    classifier.fit(matrix_of(rows), labels)
    return classifier


def log_probabilities(classifier: Any, rows: Design, n_classes: int) -> Floats:
    """The log probability of each class for each row, [M,K]."""
    if not rows.n_tokens:
        return np.zeros((0, n_classes))
    if isinstance(classifier, Classifier):
        return classifier.predict_log_proba(rows)
    given = np.asarray(classifier.predict_proba(matrix_of(rows)), dtype=np.float64)
    classes = np.asarray(classifier.classes_, dtype=np.int64)
    if given.shape != (rows.n_tokens, len(classes)) or not np.isfinite(given).all():
        raise ConseqError(
            f"{type(classifier).__name__}.predict_proba gave the shape {given.shape}, or numbers that are "
            f"not finite; it should give {rows.n_tokens} rows of a probability for {len(classes)} classes"
        )
    shares = np.full((rows.n_tokens, n_classes), LEAST)
    shares[:, classes] = np.maximum(given, LEAST)
    return np.log(shares / shares.sum(axis=1, keepdims=True))
