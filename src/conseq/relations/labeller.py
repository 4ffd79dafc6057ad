"""The estimator of entities and relations.

fit:      sentences ─→ two classifiers, trained apart ─→ scores of folds ─→ rules, penalties, bonus
predict:  sentences with the places of entities ─→ scores ─→ one problem each ─→ types and relations
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self, get_type_hints

import numpy as np

from conseq import persist
from conseq.archive import unpacking
from conseq.constraints.language import format_constraints
from conseq.constraints.relational import RelationRule
from conseq.constraints.relational.language import RelationRules, as_relation_rules
from conseq.decoders.base import NO_LIMITS, Limits
from conseq.decoders.relation_problem import RelationDecoding, RelationProblem
from conseq.decoders.variables.solvers import Solver, solver_of
from conseq.entities import Sentence, Types, types_of
from conseq.errors import ConseqError, DataError, InfeasibleError, ModelError, RuleError
from conseq.estimator import Estimator, Group
from conseq.metrics import RelationReport, evaluate_relations
from conseq.options import RelationOptions
from conseq.problem import Status
from conseq.relations import learning
from conseq.relations.answers import Answer, Answers
from conseq.relations.classifiers import Classifiers, Makers, Scores
from conseq.relations.features import Described, Given
from conseq.relations.learning import Lessons, Weights, answered, best_bonus, folds_of
from conseq.relations.mentions import Gold, Mentions

LEARN = "learn"
BATCH = 500
"""Sentences scored at a time, so that memory does not grow with the input."""
TRYING = Limits(seconds=np.inf, nodes=100)
"""For one sentence while the bonus is chosen; no limit of time, so that it is always the same."""
ELSEWHERE = ("classifier", "constraints", "solver", "n_jobs")
"""Options that other parts of a model file hold, or that belong to the machine."""


@dataclass(eq=False, repr=False)
class RelationLabeller(Estimator):
    """Learns to type the entities of sentences and to relate them, and decides both together.

    >>> from conseq.entities import Entity, Relation
    >>> def said(who, what):
    ...     both = Entity("person", 0, 1), Entity("city", 3, 4)
    ...     return Sentence((who, "lives", "in", what), both, (Relation("lives_in", 0, 1),))
    >>> labeller = RelationLabeller(folds=0, n_jobs=1).fit([said("Ann", "Rome"), said("Bob", "Oslo")])
    >>> [answer] = labeller.predict([said("Cleo", "Paris")])
    >>> [entity.type for entity in answer.entities], answer.relations
    (['person', 'city'], (Relation(type='lives_in', head=0, tail=1),))
    >>> print(*labeller.constraints_, sep="; ")
    lives_in(person, city)  hard

    classifier … limit    the fields of `conseq.RelationOptions`
    n_jobs                threads; None or −1: all processors
    options               the same as an object

    A trained model gets other rules by `with_constraints`.
    """

    model_type = "relations"

    classifier: Any = RelationOptions.classifier
    _: KW_ONLY
    approach: str = RelationOptions.approach
    boundaries: str = RelationOptions.boundaries
    features: str = RelationOptions.features
    c2: float = RelationOptions.c2
    relation_c2: float = RelationOptions.relation_c2
    min_count: int = RelationOptions.min_count
    constraints: RelationRules = RelationOptions.constraints
    penalties: str = RelationOptions.penalties
    bonus: float | None = RelationOptions.bonus
    folds: int = RelationOptions.folds
    random_state: int = RelationOptions.random_state
    solver: str | Solver = RelationOptions.solver
    limit: float | None = RelationOptions.limit
    n_jobs: int | None = None
    options: Group[RelationOptions] = Group(RelationOptions)

    # ── training ────────────────────────────────────────────────────────────────────────────────

    def fit(
        self,
        X: Sequence[Sentence],
        y: None = None,
        *,
        development: Sequence[Sentence] | None = None,
        stage: Callable[[str], None] = lambda _: None,
    ) -> Self:
        """Learn from sentences with their entities and relations.

        With `development` the bonus is chosen there, not on folds. `stage` is told what comes next.
        """
        self._check_options()
        if self.boundaries == "predicted":
            raise ConseqError("boundaries='predicted' is not there yet; give sentences with their entities")
        given, makers = self.options, self._makers()
        sentences = list(X)
        self._begin(sentences)
        mentions = Mentions.of(sentences)
        gold = Gold.of(sentences, self.types_, mentions)
        fold = folds_of(sentences, given.folds or 1, given.random_state)
        lessons = Lessons(
            sentences, self.types_, mentions, gold, makers, given.features, fold, given.min_count
        )
        described = Described.of(mentions, given.features)
        entities = None
        if given.folds and (given.approach == "pipeline" or self._learns_from_folds(development)):
            stage("scoring entities by models that have not seen them")
            entities = lessons.entity_scores(described)
        if given.approach == "pipeline":
            found = gold.entities if entities is None else entities.argmax(axis=1)
            described = Described.of(mentions, given.features, Given(types=found))
        stage("training the classifiers")
        self.model_ = Classifiers.learn(described, gold, self.types_, makers, given.features, given.min_count)
        self.weights_ = Weights(bonus=given.bonus or 0.0)
        scores = None
        if entities is not None and self._learns_from_folds(development):
            stage("scoring relations by models that have not seen them")
            scores = Scores(entities, lessons.relation_scores(described))
        self._learn_rules(lessons, scores, development, stage)
        return self

    def _begin(self, sentences: Sequence[Sentence]) -> None:
        """Forget the old model; look at the data and the rules."""
        vars(self).pop("model_", None)
        self.types_ = types_of(sentences)
        if not self.types_.entities:
            raise DataError("no sentence has an entity; give sentences with entities and relations")
        self.constraints_: tuple[RelationRule, ...] = ()
        if not self._learns:
            self.constraints_ = as_relation_rules(self.constraints, self.types_)

    @property
    def _learns(self) -> bool:
        return isinstance(self.constraints, str) and self.constraints == LEARN

    def _learns_from_folds(self, development: Sequence[Sentence] | None) -> bool:
        soft = self._learns and self.approach == "joint"
        return soft or (self.bonus is None and development is None)

    def _learn_rules(
        self,
        lessons: Lessons,
        scores: Scores | None,
        development: Sequence[Sentence] | None,
        stage: Callable[[str], None],
    ) -> None:
        """Rules, penalties and bonus, as far as they are to be learned."""
        if self._learns and self.approach == "joint":
            stage("learning rules")
            self.constraints_ = learning.rules_of(lessons.sentences)
            if scores is not None and self.penalties != "log-ratio":
                self._choose_bonus(lessons, scores)
                learned = learning.learned_penalties(
                    lessons, scores, self.constraints_, self.weights_, self.penalties
                )
                self.constraints_, self.weights_ = learned
        if scores is not None:
            stage("choosing the bonus of relations")
            self._choose_bonus(lessons, scores)
        if development is not None and self.bonus is None:
            self._choose_bonus(*self._held_out(development, lessons))

    def _choose_bonus(self, lessons: Lessons, scores: Scores) -> None:
        if self.bonus is None:
            bonus = best_bonus(lessons, scores, self._rules, self.weights_, TRYING)
            self.weights_ = replace(self.weights_, bonus=bonus)

    def _held_out(self, sentences: Sequence[Sentence], lessons: Lessons) -> tuple[Lessons, Scores]:
        """Other sentences, and what the model says of them."""
        mentions = Mentions.of(sentences)
        gold = Gold.of(sentences, self.types_, mentions)
        return replace(lessons, sentences=sentences, mentions=mentions, gold=gold), self._scores(mentions)

    def _makers(self) -> Makers:
        return Makers.of(self.classifier, self.c2, self.relation_c2, self.n_jobs)

    # ── labelling ───────────────────────────────────────────────────────────────────────────────

    @property
    def _rules(self) -> tuple[RelationRule, ...]:
        """The rules that are obeyed: only a joint decision has some."""
        return self.constraints_ if self.approach == "joint" else ()

    def _scores(self, mentions: Mentions) -> Scores:
        described = Described.of(mentions, self.features)
        if self.approach != "pipeline":
            return self.model_.scores(described, self.types_)
        entities = self.model_.entity_scores(described, self.types_)
        told = Described.of(mentions, self.features, Given(types=entities.argmax(axis=1)))
        return Scores(entities, self.model_.relation_scores(told, self.types_))

    def problems(self, X: Sequence[Sentence]) -> list[RelationProblem]:
        """What is to be decided of each sentence: scores under the rules."""
        self._check_fitted()
        found: list[RelationProblem] = []
        for begin in range(0, len(X), BATCH):
            batch = X[begin : begin + BATCH]
            mentions = Mentions.of(batch)
            scores = self._scores(mentions)
            given = (self.types_, mentions, batch, scores, self._rules, self.weights_)
            found += learning.problems(*given)
        return found

    def decode(self, X: Sequence[Sentence]) -> list[RelationDecoding]:
        """The answer for each sentence: types, relations, score, certificate, violated rules.

        Where there is none, because the rules cannot hold together or a limit was met, `types` is None.
        """
        limits = NO_LIMITS if self.limit is None else Limits(seconds=self.limit)
        return [problem.solve(self.solver, limits) for problem in self.problems(X)]

    def label(self, X: Sequence[Sentence], *, first: int = 0) -> Answers:
        """The sentences with types of their entities and with relations, each with its decoding.

        Raises where the rules cannot hold together; `first` is the number that messages give to the first
        sentence.
        """
        found = Answers()
        for i, (sentence, decoding) in enumerate(zip(X, self.decode(X), strict=True), start=first):
            if decoding.types is None:
                raise InfeasibleError(f"sentence {i}: {_why(decoding)}")
            found.append(Answer(answered(sentence, decoding), decoding))
        return found

    def predict(self, X: Sequence[Sentence], *, first: int = 0) -> list[Sentence]:
        """The sentences with types of their entities and with relations."""
        return self.label(X, first=first).sentences

    def with_constraints(self, constraints: RelationRules) -> Self:
        """The same trained model under other rules, in place of those it has; this one keeps its own."""
        self._check_fitted()
        other = copy.copy(self)
        other.constraints_ = as_relation_rules(constraints, self.types_)
        other.constraints = other.constraints_ or None
        return other

    def _check_fitted(self) -> None:
        if not hasattr(self, "model_"):
            raise ModelError("the labeller is not trained yet; call fit, or load a model")

    # ── evaluation ──────────────────────────────────────────────────────────────────────────────

    def evaluate(self, X: Sequence[Sentence]) -> RelationReport:
        """All scores on sentences whose entities and relations are right."""
        return evaluate_relations(X, self.predict(X))

    def score(self, X: Sequence[Sentence], y: None = None) -> float:
        """The mean F1 of the relations by place, from 0 to 1."""
        return self.evaluate(X).by_place.total.f1

    # ── files ───────────────────────────────────────────────────────────────────────────────────

    def archive(self) -> persist.Archive:
        """All that a model file holds."""
        options = {name: value for name, value in self.get_params().items() if name not in ELSEWHERE}
        document = {
            "model-type": self.model_type,
            "options": options,
            "classifier": self.classifier if isinstance(self.classifier, str) else "",
            "entities": list(self.types_.entities),
            "relations": list(self.types_.relations),
            "constraints": format_constraints(self.constraints_),
            "weights": vars(self.weights_),
            "solver": solver_of(self.solver).name,
        }
        return persist.combine(document, {"classifiers": self.model_.archive()})

    @classmethod
    def from_archive(cls, archive: persist.Archive) -> Self:
        """The labeller of a model file."""
        archive.field("model-type", str)
        hints = get_type_hints(RelationOptions)
        names = [name for name in hints if name not in ELSEWHERE]
        labeller = cls(
            archive.field("classifier", str),
            **archive.table("options", {name: hints[name] for name in names}),
        )
        labeller.solver = archive.field("solver", str)
        labeller._check_options()
        labeller.types_ = Types(
            tuple(archive.field("entities", list[str])), tuple(archive.field("relations", list[str]))
        )
        labeller.constraints = archive.field("constraints", str) or None
        try:
            labeller.constraints_ = as_relation_rules(labeller.constraints, labeller.types_)
        except RuleError as error:
            archive.refuse(f"a rule in it cannot be read ({error})")
        weights = archive.table("weights", get_type_hints(Weights))
        archive.check(np.isfinite(list(weights.values())).all(), "a weight is not finite")
        labeller.weights_ = Weights(**weights)
        labeller.model_ = Classifiers.from_archive(archive.within("classifiers"), labeller.types_)
        return labeller

    def _check_options(self) -> None:
        """Raise if an option cannot be used."""
        self.options  # noqa: B018  # an object of options looks at its own
        solver_of(self.solver)
        self._makers()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file."""
        self._check_fitted()
        persist.save(path, self.archive())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model file."""
        archive = persist.load(path)
        with unpacking(archive):
            name = archive.field("model-type", str)
            if name != cls.model_type:
                raise ModelError(
                    f"{path}: the model is of the type {name[:99]!r}; here goes {cls.model_type}"
                )
            labeller = cls.from_archive(archive)
        return labeller  # noqa: RET504  # what is left over is noticed when the block ends


def _why(decoding: RelationDecoding) -> str:
    """Why there is no answer."""
    if decoding.certificate.status is Status.INFEASIBLE:
        lines = "; ".join(rule.line() for rule in decoding.problem.rules if rule.is_hard)
        return f"no answer satisfies all hard rules: {lines}; drop one of them or give it a penalty"
    return "no answer was found within the limit; raise it"
