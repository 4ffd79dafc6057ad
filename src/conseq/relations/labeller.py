"""The estimator of entities and relations.

fit:      sentences ─→ two classifiers, trained apart ─→ scores of folds ─→ rules, penalties, bonus
predict:  sentences with the places of entities ─→ scores ─→ one problem each ─→ types and relations
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator, Sequence
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
from conseq.dtypes import Ints
from conseq.entities import Sentence, Types, types_of
from conseq.errors import DataError, InfeasibleError, ModelError, RuleError
from conseq.estimator import Estimator, Group
from conseq.metrics import RelationReport, evaluate_relations
from conseq.options import RelationOptions
from conseq.problem import Status
from conseq.relations import learning
from conseq.relations.answers import Answer, Answers
from conseq.relations.boundaries import Boundaries, Proposals, rules_of_candidates, settled, with_none
from conseq.relations.classifiers import Classifiers, Makers, Scores
from conseq.relations.features import Described, Given
from conseq.relations.learning import Lessons, Weights, answered, best_bonus, folds_of
from conseq.relations.mentions import Gold
from conseq.relations.reading import Reading

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
        given, makers = self.options, self._makers()
        labelled = list(X)
        self._begin(labelled)
        fold = folds_of(labelled, given.folds or 1, given.random_state)
        read = self._taught(labelled, fold, stage)
        gold = Gold.of(read.sentences, self._types, read.mentions)
        how = makers, given.features, fold, given.min_count
        lessons = Lessons(read.sentences, self._types, read.mentions, gold, *how)
        described = Described.of(read.mentions, given.features)
        entities = None
        if given.folds and (given.approach == "pipeline" or self._learns_from_folds(development)):
            stage("scoring entities by models that have not seen them")
            entities = read.blended(lessons.entity_scores(described))
        if given.approach == "pipeline":
            found = gold.entities if entities is None else entities.argmax(axis=1)
            described = Described.of(read.mentions, given.features, Given(types=found))
        stage("training the classifiers")
        self.model_ = Classifiers.learn(described, gold, self._types, makers, given.features, given.min_count)
        self.weights_ = Weights(bonus=given.bonus or 0.0)
        scores = None
        if entities is not None and self._learns_from_folds(development):
            stage("scoring relations by models that have not seen them")
            scores = Scores(entities, lessons.relation_scores(described))
        if self._learns and given.approach == "joint":
            self.constraints_ = learning.rules_of(labelled)
        self._weigh(lessons, scores, stage)
        if development is not None and self.bonus is None:
            self._choose_bonus(*self._held_out(development, lessons))
        return self

    def _taught(self, sentences: list[Sentence], fold: Ints, stage: Callable[[str], None]) -> Reading:
        """What is learned from; boundaries that are predicted are so by models that have not seen them."""
        self.boundaries_: Boundaries | None = None
        if self.boundaries == "given":
            return Reading.given(sentences)
        stage("learning boundaries")
        self.boundaries_ = Boundaries.learn(sentences, self.types_.entities, self.n_jobs)
        return Reading.taught(sentences, fold, self.types_.entities, self.boundaries_, self.n_jobs)

    def _begin(self, sentences: Sequence[Sentence]) -> None:
        """Forget the old model; look at the data and the rules."""
        vars(self).pop("model_", None)
        self.types_ = types_of(sentences)
        if not self.types_.entities:
            raise DataError("no sentence has an entity; give sentences with entities and relations")
        given = None if self._learns else self.constraints
        self.constraints_ = as_relation_rules(given, self.types_)

    @property
    def _learns(self) -> bool:
        return isinstance(self.constraints, str) and self.constraints == LEARN

    def _learns_from_folds(self, development: Sequence[Sentence] | None) -> bool:
        soft = self._learns and self.approach == "joint"
        return soft or (self.bonus is None and development is None)

    def _weigh(self, lessons: Lessons, scores: Scores | None, stage: Callable[[str], None]) -> None:
        """Penalties and bonus, as far as they are to be learned from folds."""
        if scores is None:
            return
        if self._learns and self.approach == "joint" and self.penalties != "log-ratio":
            stage("learning penalties")
            self._choose_bonus(lessons, scores)
            given = self.constraints_, self.weights_, self.penalties
            self.constraints_, self.weights_ = learning.learned_penalties(lessons, scores, *given)
        stage("choosing the bonus of relations")
        self._choose_bonus(lessons, scores)

    def _choose_bonus(self, lessons: Lessons, scores: Scores) -> None:
        if self.bonus is None:
            bonus = best_bonus(lessons, scores, self._rules, self.weights_, TRYING)
            self.weights_ = replace(self.weights_, bonus=bonus)

    def _held_out(self, sentences: Sequence[Sentence], lessons: Lessons) -> tuple[Lessons, Scores]:
        """Other sentences, and what the model says of them."""
        read = Reading.given(sentences)
        if self.boundaries_ is not None:
            read = Reading.of(Proposals.of(sentences, self.boundaries_.spans(sentences), teach=True))
        gold = Gold.of(read.sentences, self._types, read.mentions)
        held = replace(lessons, sentences=read.sentences, mentions=read.mentions, gold=gold)
        return held, self._scores(read)

    def _makers(self) -> Makers:
        return Makers.of(self.classifier, self.c2, self.relation_c2, self.n_jobs)

    # ── labelling ───────────────────────────────────────────────────────────────────────────────

    @property
    def _types(self) -> Types:
        """The types that are decided: candidates may be no entities."""
        return self.types_ if self.boundaries == "given" else with_none(self.types_)

    @property
    def _rules(self) -> tuple[RelationRule, ...]:
        """The rules that are obeyed: a joint decision's, and what makes entities of candidates."""
        rules = self.constraints_ if self.approach == "joint" else ()
        return rules if self.boundaries == "given" else (*rules, *rules_of_candidates(self._types, rules))

    def _scores(self, read: Reading) -> Scores:
        described = Described.of(read.mentions, self.features)
        entities = read.blended(self.model_.entity_scores(described, self._types))
        if self.approach == "pipeline":
            described = Described.of(read.mentions, self.features, Given(types=entities.argmax(axis=1)))
        return Scores(entities, self.model_.relation_scores(described, self._types))

    def _read(self, sentences: Sequence[Sentence]) -> Reading:
        """The sentences with the entities that are to be decided."""
        if self.boundaries_ is None:
            return Reading.given(sentences)
        return Reading.of(Proposals.of(sentences, self.boundaries_.spans(sentences)))

    def problems(self, X: Sequence[Sentence]) -> list[RelationProblem]:
        """What is to be decided of each sentence: scores under the rules."""
        return [problem for _, problem in self._problems(X)]

    def _problems(self, sentences: Sequence[Sentence]) -> Iterator[tuple[Sentence, RelationProblem]]:
        """The same with the sentences whose entities are to be decided."""
        self._check_fitted()
        for begin in range(0, len(sentences), BATCH):
            read = self._read(sentences[begin : begin + BATCH])
            given = read.sentences, self._scores(read), self._rules, self.weights_
            yield from zip(read.sentences, learning.problems(self._types, read.mentions, *given), strict=True)

    def decode(self, X: Sequence[Sentence]) -> list[RelationDecoding]:
        """The answer for each sentence: types, relations, score, certificate, violated rules.

        Where there is none, because the rules cannot hold together or a limit was met, `types` is None.
        """
        return [problem.solve(self.solver, self._limits) for problem in self.problems(X)]

    @property
    def _limits(self) -> Limits:
        return NO_LIMITS if self.limit is None else Limits(seconds=self.limit)

    def label(self, X: Sequence[Sentence], *, first: int = 0) -> Answers:
        """The sentences with types of their entities and with relations, each with its decoding.

        Raises where the rules cannot hold together; `first` is the number that messages give to the first
        sentence.
        """
        found = Answers()
        for i, (sentence, problem) in enumerate(self._problems(X), start=first):
            decoding = problem.solve(self.solver, self._limits)
            if decoding.types is None:
                raise InfeasibleError(f"sentence {i} (from 0): {_why(decoding)}")
            answer = answered(sentence, decoding)
            found.append(Answer(answer if self.boundaries_ is None else settled(answer), decoding))
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
        parts = {"classifiers": self.model_.archive()}
        if self.boundaries_ is not None:
            parts["boundaries-model"] = self.boundaries_.archive()
        return persist.combine(document, parts)

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
        labeller.boundaries_ = None
        if labeller.boundaries == "predicted":
            part = archive.within("boundaries-model")
            labeller.boundaries_ = Boundaries.from_archive(part, labeller.types_.entities)
        labeller.model_ = Classifiers.from_archive(archive.within("classifiers"), labeller._types)
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
        return (
            decoding.explain_infeasible() or "no answer was found, though there may be one; try solver='ilp'"
        )
    return "no answer was found within the limit; raise it"
