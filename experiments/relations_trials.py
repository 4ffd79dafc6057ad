"""One fold of the experiment on entities and relations: every approach, on sentences that nothing has seen.

training sentences ─→ classifiers, scores of inner folds ─→ rules, bonus ─→ test sentences ─→ Found by name
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from conseq.constraints.relational import ArgumentTypes, RelationRule
from conseq.constraints.relational.language import parse_relation_rules
from conseq.decoders.base import Limits
from conseq.decoders.relation_problem import RelationProblem
from conseq.dtypes import Floats, Ints
from conseq.entities import Sentence, Types
from conseq.problem import Status
from conseq.relations.classifiers import Classifiers, Makers, Scores
from conseq.relations.features import Described, Given
from conseq.relations.learning import (
    Lessons,
    Weights,
    best_bonus,
    folds_of,
    learned_penalties,
    problems,
    rules_of,
)
from conseq.relations.mentions import Gold, Mentions

TRYING = Limits(seconds=np.inf, nodes=100)
C2, RELATION_C2 = 0.3, 1.0
TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class Found:
    """What an approach says: types [E], relations [P]."""

    kinds: Ints
    relations: Ints


@dataclass(frozen=True, eq=False)
class Part:
    """Sentences with their answers and their attributes, where nothing is told of the answers."""

    sentences: Sequence[Sentence]
    types: Types
    chosen: str

    @cached_property
    def mentions(self) -> Mentions:
        return Mentions.of(self.sentences)

    @cached_property
    def gold(self) -> Gold:
        return Gold.of(self.sentences, self.types, self.mentions)

    @cached_property
    def described(self) -> Described:
        return self.told()

    def told(self, types: Ints | None = None, relations: Ints | None = None) -> Described:
        return Described.of(self.mentions, self.chosen, Given(types, relations))

    def problems(
        self, scores: Scores, rules: Iterable[RelationRule], weights: Weights
    ) -> list[RelationProblem]:
        return list(problems(self.types, self.mentions, self.sentences, scores, tuple(rules), weights))


def solved(given: Sequence[RelationProblem], solver: str = "auto") -> Found:
    """The best answers, which there are."""
    found = [problem.solve(solver) for problem in given]
    kinds = [one.kinds for one in found if one.kinds is not None]
    related = [one.pair_kinds for one in found if one.pair_kinds is not None]
    return Found(np.concatenate(kinds), np.concatenate(related))


@dataclass(eq=False)
class Fold:
    """Training sentences and test sentences."""

    train: Part
    test: Part
    folds: int  # of the training sentences
    classifier: str = "logistic"

    @cached_property
    def makers(self) -> Makers:
        return Makers.of(self.classifier, C2, RELATION_C2, 1)

    @cached_property
    def lessons(self) -> Lessons:
        part = self.train
        fold = folds_of(part.sentences, self.folds)
        return Lessons(part.sentences, part.types, part.mentions, part.gold, self.makers, part.chosen, fold)

    def classifiers(self, described: Described) -> Classifiers:
        return Classifiers.learn(described, self.train.gold, self.train.types, self.makers, self.train.chosen)

    @cached_property
    def scores(self) -> Scores:
        """Of the test sentences, by classifiers that know nothing of each other."""
        return self.classifiers(self.train.described).scores(self.test.described, self.test.types)

    @cached_property
    def crossed(self) -> Scores:
        """Of the training sentences, by classifiers that have not seen them."""
        described = self.train.described
        return Scores(self.lessons.entity_scores(described), self.lessons.relation_scores(described))

    @cached_property
    def rules(self) -> tuple[RelationRule, ...]:
        """All that the training sentences show."""
        return rules_of(self.train.sentences)

    @cached_property
    def signatures(self) -> tuple[RelationRule, ...]:
        """What the relations relate, the paper's constraints."""
        return tuple(rule for rule in self.rules if isinstance(rule, ArgumentTypes))

    def bonus(
        self, scores: Scores, rules: tuple[RelationRule, ...], weights: Weights | None = None
    ) -> Weights:
        """The weights with the bonus that is best for the training sentences."""
        given = weights or Weights()
        return replace(given, bonus=best_bonus(self.lessons, scores, rules, given, TRYING))

    def apart(self, scores: Scores | None = None, weights: Weights | None = None) -> Found:
        """Each variable for itself."""
        return solved(self.test.problems(scores or self.scores, (), weights or Weights()))

    @cached_property
    def weights(self) -> Weights:
        """Of the joint decision under all rules."""
        return self.bonus(self.crossed, self.rules)

    @cached_property
    def paper(self) -> list[RelationProblem]:
        """Under the paper's constraints, with the scores as they are."""
        return self.test.problems(self.scores, self.signatures, Weights())

    @cached_property
    def joint(self) -> list[RelationProblem]:
        return self.test.problems(self.scores, self.rules, self.weights)

    def by_learner(self, learner: str) -> Found:
        """Under the same rules with penalties of a learner, and its scales."""
        begin = self.bonus(self.crossed, tuple(rule for rule in self.rules if rule.is_hard))
        rules, weights = learned_penalties(self.lessons, self.crossed, self.rules, begin, learner)
        return solved(self.test.problems(self.scores, rules, self.bonus(self.crossed, rules, weights)))

    # ── one classifier told of the other's variables ────────────────────────────────────────────

    def pipeline(self) -> tuple[Found, Found, Found]:
        """With types predicted in training, too; the same with a bonus; with true types in training."""
        here = self.test.told(types=self.scores.entities.argmax(axis=1))
        guessed = self.train.told(types=self.crossed.entities.argmax(axis=1))
        scores = self._relations(guessed, here)
        crossed = Scores(self.crossed.entities, self.lessons.relation_scores(guessed))
        raised = self.apart(scores, self.bonus(crossed, ()))
        true = self._relations(self.train.told(types=self.train.gold.entities), here)
        return self.apart(scores), raised, self.apart(true)

    def omniscient(self) -> Found:
        """Each classifier told the truth of the other's variables, and of no other."""
        train, test = (part.told(relations=part.gold.relations) for part in (self.train, self.test))
        entities = self.classifiers(train).entity_scores(test, self.test.types)
        train, test = (part.told(types=part.gold.entities) for part in (self.train, self.test))
        return self.apart(Scores(entities, self._relations(train, test).relations))

    def _relations(self, train: Described, test: Described) -> Scores:
        """The scores of entities as ever, those of relations by a classifier that is told types."""
        told = self.classifiers(train).relation_scores(test, self.test.types)
        return Scores(self.scores.entities, told)

    # ── forced decisions ────────────────────────────────────────────────────────────────────────

    def forced(self, relation: str, given: Sequence[RelationProblem]) -> dict[str, Found]:
        """The sentences that have a relation, free and told so; others have −1."""
        number = self.test.types.relations.index(relation) + 1
        parts = list(self.test.mentions.each())
        active = [
            i for i, (_, pairs, _) in enumerate(parts) if (self.test.gold.relations[pairs] == number).any()
        ]
        found = {}
        for name, line in FORCED.items():
            rules = parse_relation_rules(f"{line} {relation}  hard", self.test.types) if line else []
            kinds = np.full(len(self.test.gold.entities), -1)
            related = np.full(len(self.test.gold.relations), -1)
            for i in active:
                problem = given[i]
                one = replace(problem, rules=(*problem.rules, *rules)).solve()
                if one.kinds is not None and one.pair_kinds is not None:
                    kinds[parts[i][0]], related[parts[i][1]] = one.kinds, one.pair_kinds
            found[name] = Found(kinds, related)
        return found


FORCED = {"free": "", "exactly_one": "exactly 1", "at_least_one": "at least 1"}
"""Name ─→ what is said of a relation."""


# ── proofs and times ────────────────────────────────────────────────────────────────────────────


def proofs(given: Sequence[RelationProblem]) -> dict[str, list[Any]]:
    """Of each problem: whether it is certified and HiGHS finds the same score, whether its relaxation was
    integral, whether rounding it is legal."""
    found: dict[str, list[Any]] = {"certified": [], "as_highs": [], "integral": [], "rounding_legal": []}
    for problem in given:
        exact, relaxed, whole = (problem.solve(solver) for solver in ("auto", "lp", "ilp"))
        found["certified"].append(exact.certificate.status is Status.OPTIMAL)
        found["as_highs"].append(abs(exact.score - whole.score) <= TOLERANCE * (1 + abs(whole.score)))
        found["integral"].append(bool(relaxed.integral))
        found["rounding_legal"].append(relaxed.rounding_legal is not False)
    return found


def times(given: Sequence[RelationProblem], solve: Any) -> Floats:
    """Milliseconds of each problem, made anew and solved."""
    seconds = []
    for problem in given:
        fresh = replace(problem)
        begun = time.perf_counter()
        solve(fresh)
        seconds.append(time.perf_counter() - begun)
    return 1000 * np.array(seconds)


def solve_from_scratch(problem: RelationProblem) -> float:
    """The best score by a program that is built and solved for this sentence alone, by scipy."""
    types, candidates = problem.types, problem.candidates
    n_first = candidates.n_entities * len(types.entities)
    sizes = [len(types.entities)] * candidates.n_entities + [len(types.relations) + 1] * len(candidates.pairs)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    if not len(owner):
        return 0.0
    one = csr_array((np.ones(len(owner)), (owner, np.arange(len(owner)))), shape=(len(sizes), len(owner)))
    rows = [LinearConstraint(one, 1.0, 1.0)]
    for rule in problem.rules:
        sums = rule.lower(types, candidates)
        if len(sums.bound):
            shape = len(sums.bound), len(owner)
            matrix = csr_array((sums.weight, (sums.row, sums.indicator)), shape=shape)
            rows.append(LinearConstraint(matrix, -np.inf, sums.bound))
    assert len(problem.scores) == n_first + len(candidates.pairs) * (len(types.relations) + 1)
    answer = milp(-problem.scores, integrality=np.ones(len(owner)), bounds=Bounds(0, 1), constraints=rows)
    return -float(answer.fun)
