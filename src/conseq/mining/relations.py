"""Penalties of rules about entities and relations, and the scales of two classifiers, learned from sentences.

    sentences + scores ─→ RelationEvidence ─→ learner of penalties.py ─→ LearnedRelations

    score = entity_scale · Σ entity scores + relation_scale · Σ relation scores − Σ penalty · violation

The scales are weights like the penalties: where the answer under the present weights is wrong, a scale grows
by how much more the right answer scores by that classifier, times `RATE`.

Axes: N sentences, E entities, A types of entities, P pairs, R types of relations, K rules; I = E·A + P·(R+1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from conseq.constraints.language import format_constraints
from conseq.constraints.relational import RelationRule
from conseq.constraints.relational.base import entity_number, relation_number
from conseq.decoders.relation_problem import RelationProblem
from conseq.dtypes import Floats, Ints
from conseq.entities import Candidates, Sentence, Types, all_pairs
from conseq.errors import ConseqError, DataError, ScoreError
from conseq.metrics.counts import Counts
from conseq.mining.evidence import LIMITS, with_penalties
from conseq.mining.penalties import Learner, Pass, Perceptron, StructuredSVM, learned

RATE = 0.02
"""How fast the scales move, compared with the penalties."""
LEAST = -30.0
"""Scores below this are taken for it, so that none is infinitely wrong."""
LEARNERS: dict[str, tuple[Learner, ...]] = {
    Perceptron.name: (Perceptron(step=0.02), Perceptron(step=0.1)),
    StructuredSVM.name: (StructuredSVM(step=0.02), StructuredSVM(step=0.1)),
}
"""By name: the learners to choose from."""
METRICS = ("both", "entities", "relations")
"""What the choice of learner and passes looks at: the mean F1 of types of entities, of relations, or both."""


@dataclass(frozen=True, eq=False)
class RelationEvidence:
    """Sentences with right answers, and scores of classifiers that have not learned from them.

    scores    [I] of each sentence, of types of entities and then of none and the relations of pairs
    gold      [E+P] of each sentence, the numbers of the right types and relations
    hard      rules that hold anyway and have no penalty to learn
    """

    types: Types
    candidates: tuple[Candidates, ...]
    scores: tuple[Floats, ...]
    gold: tuple[Ints, ...]
    hard: tuple[RelationRule, ...] = ()

    @classmethod
    def of(
        cls,
        sentences: Sequence[Sentence],
        types: Types,
        entity_scores: Sequence[ArrayLike],
        relation_scores: Sequence[ArrayLike],
        pairs: Sequence[Ints] | None = None,
        hard: Sequence[RelationRule] = (),
    ) -> RelationEvidence:
        """Evidence of labelled sentences.

        entity_scores      [E,A] for each sentence, by the entities that it has
        relation_scores    [P,R+1] for each sentence, the first column of none, by its pairs
        pairs              [P,2] for each sentence; all ordered pairs if not given
        """
        if not len(sentences) == len(entity_scores) == len(relation_scores):
            raise DataError(
                f"there are {len(sentences)} sentences, {len(entity_scores)} arrays of entity_scores and "
                f"{len(relation_scores)} of relation_scores; give one for each sentence"
            )
        given = [all_pairs(len(one.entities)) for one in sentences] if pairs is None else pairs
        candidates = [_candidates(one, two) for one, two in zip(sentences, given, strict=True)]
        shapes = [(one.n_entities, len(types.entities)) for one in candidates]
        first = _checked("entity_scores", entity_scores, shapes)
        shapes = [(len(one.pairs), len(types.relations) + 1) for one in candidates]
        second = _checked("relation_scores", relation_scores, shapes)
        scores = (np.concatenate(both) for both in zip(first, second, strict=True))
        gold = [_gold(one, types, two) for one, two in zip(sentences, candidates, strict=True)]
        return cls(types, tuple(candidates), tuple(scores), tuple(gold), tuple(hard))

    def __len__(self) -> int:
        return len(self.scores)

    def select(self, sequences: ArrayLike) -> Self:
        """The evidence of some sentences, in this order."""
        chosen = np.asarray(sequences, dtype=np.int64).tolist()
        parts = ([part[i] for i in chosen] for part in (self.candidates, self.scores, self.gold))
        candidates, scores, gold = map(tuple, parts)
        return replace(self, candidates=candidates, scores=scores, gold=gold)

    # ── what learners of penalties ask for (`Examples`, penalties.py) ───────────────────────────

    def start(self, n_rules: int) -> Floats:
        """The weights before anything was learned: no penalties, both scales 1, [K+2]."""
        return np.append(np.zeros(n_rules), (1.0, 1.0))

    def lesson(self, rules: Sequence[RelationRule], margin: float) -> RelationLesson:
        """These sentences as one batch; each wrong type or relation has `margin` points more."""
        together = self.together_with(rules)
        problems = [self.problem(i, together) for i in range(len(self))]
        right = [one.values(*self.right(i)) for i, one in enumerate(problems)]
        broken = [one.violations(values) for one, values in zip(problems, right, strict=True)]
        return RelationLesson(self, together, right, np.reshape(broken, (len(self), len(together))), margin)

    def score(self, weights: Floats, rules: Sequence[RelationRule], metric: str) -> float:
        """The mean F1 over types of entities, over relations, or of both, of the best answers."""
        if metric not in METRICS:
            raise ConseqError(f"there is no metric {metric!r}; choose one of {', '.join(METRICS)}")
        together = self.together_with(rules)
        kinds = np.zeros((len(self.types.entities), 3), dtype=np.int64)
        relations = np.zeros((len(self.types.relations) + 1, 3), dtype=np.int64)
        for i in range(len(self)):
            found = self.problem(i, together, weights).solve(limits=LIMITS)
            of_entities, of_pairs = self.right(i)
            _count(kinds, of_entities, found.kinds)
            _count(relations, of_pairs, found.pair_kinds)
        by = {"entities": _mean_f1(kinds), "relations": _mean_f1(relations[1:])}
        return by[metric] if metric in by else (by["entities"] + by["relations"]) / 2

    def together_with(self, rules: Sequence[RelationRule]) -> tuple[RelationRule, ...]:
        """The hard rules, then these with a penalty of 1, which stands for the one to be learned."""
        return (*self.hard, *(replace(rule, penalty=1.0) for rule in rules))

    def right(self, i: int) -> tuple[Ints, Ints]:
        """The right types of the entities of a sentence, and the right relations of its pairs."""
        n = self.candidates[i].n_entities
        return self.gold[i][:n], self.gold[i][n:]

    def parts(self, i: int) -> tuple[slice, slice]:
        """Where the scores of entities and those of relations stand."""
        n = self.candidates[i].n_entities * len(self.types.entities)
        return slice(0, n), slice(n, len(self.scores[i]))

    def problem(
        self,
        i: int,
        together: tuple[RelationRule, ...],
        weights: Floats | None = None,
        more: Floats | float = 0.0,
    ) -> RelationProblem:
        """A sentence under rules (`together_with`) and weights, with something added to its scores."""
        hard, soft = self.hard, len(together) - len(self.hard)
        given = self.start(soft) if weights is None else weights
        scores = self.scores[i] + 0.0
        for part, scale in zip(self.parts(i), given[soft:].tolist(), strict=True):
            scores[part] *= scale
        problem = RelationProblem(self.types, self.candidates[i], scores + more, together)
        return problem.with_penalties([*(rule.penalty for rule in hard), *given[:soft].tolist()])


@dataclass(frozen=True, eq=False)
class RelationLesson:
    """A batch of sentences: rules, of which the first are hard; the right answers, and what they violate."""

    evidence: RelationEvidence
    rules: tuple[RelationRule, ...]
    right: list[Ints]  # indicators [E+P] for each sentence
    broken: Floats  # [N, hard + K]
    margin: float

    def __len__(self) -> int:
        return len(self.right)

    def excess(self, weights: Floats) -> Floats:
        """How much more than the right answers the best ones under these weights violate each rule; how much
        more the right ones score by each classifier, times `RATE`, [N,K+2]."""
        evidence, n_hard = self.evidence, len(self.evidence.hard)
        n_soft = len(self.rules) - n_hard
        excess = np.zeros((len(self), n_soft + 2))
        for i, right in enumerate(self.right):
            more = np.full(len(evidence.scores[i]), self.margin)
            more[right] = 0.0
            problem = evidence.problem(i, self.rules, weights, more)
            values = problem.solve(limits=LIMITS).values
            if values is None or np.array_equal(values, right):
                continue
            excess[i, :n_soft] = (problem.violations(values) - self.broken[i])[n_hard:]
            gained = np.zeros(len(evidence.scores[i]))
            np.add.at(gained, right, evidence.scores[i][right])
            np.subtract.at(gained, values, evidence.scores[i][values])
            excess[i, n_soft:] = [RATE * gained[part].sum() for part in evidence.parts(i)]
        return excess


@dataclass(frozen=True)
class LearnedRelations:
    """The rules with a penalty and those that are hard, and the scales of the two classifiers."""

    rules: tuple[RelationRule, ...]
    entity_scale: float
    relation_scale: float

    def to_text(self, comments: Sequence[str] = ()) -> str:
        """A rule file that people can read and edit."""
        scales = f"entities × {self.entity_scale:g}, relations × {self.relation_scale:g}"
        return f"# {len(self.rules)} rules, for scores of {scales}\n" + format_constraints(
            self.rules, comments
        )


def learn_relation_rules(
    evidence: RelationEvidence,
    rules: Sequence[RelationRule],
    learner: Learner | Sequence[Learner] | str = Perceptron.name,
    *,
    early: bool = True,
    metric: str = "both",
    watch: Callable[[Pass], None] = lambda _: None,
) -> LearnedRelations:
    """What the rules should cost beside those of the evidence that are hard, and the scales of the scores.

    learner    a name of `LEARNERS`, an object, or several to choose from
    early      choose the learner and its number of passes on held-out halves of the evidence
    """
    if isinstance(learner, str) and learner not in LEARNERS:
        raise ConseqError(f"there is no learner {learner!r}; choose one of {', '.join(LEARNERS)}")
    learners = LEARNERS[learner] if isinstance(learner, str) else learner
    weights = learned(learners, evidence, rules, early=early, metric=metric, watch=watch)
    soft = with_penalties(rules, weights[: len(rules)])
    scales = np.maximum(weights[len(rules) :], RATE).tolist()
    return LearnedRelations((*evidence.hard, *soft), *scales)


# ── sentences as arrays ─────────────────────────────────────────────────────────────────────────


def _candidates(sentence: Sentence, pairs: Ints) -> Candidates:
    spans = np.array([(one.start, one.end) for one in sentence.entities], dtype=np.int64).reshape(-1, 2)
    pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    return Candidates(len(sentence.entities), pairs, spans, sentence.tokens)


def _checked(name: str, given: Sequence[ArrayLike], shapes: Sequence[tuple[int, int]]) -> list[Floats]:
    """The scores of each sentence, flat."""
    arrays = []
    for i, (one, shape) in enumerate(zip(given, shapes, strict=True)):
        scores = np.asarray(one, dtype=np.float64)
        if scores.size != shape[0] * shape[1] or (scores.size and scores.shape != shape):
            raise ScoreError(f"{name}[{i}] has the shape {scores.shape}; it should be {shape}")
        if not (scores < np.inf).all():
            raise ScoreError(f"{name}[{i}] has a score that is not a number, or infinite; give log scores")
        arrays.append(np.maximum(scores.reshape(-1), LEAST))
    return arrays


def _gold(sentence: Sentence, types: Types, candidates: Candidates) -> Ints:
    """The number of the type of each entity and of the relation of each pair, 0 for none, [E+P]."""
    kinds = [entity_number(types, entity.type) for entity in sentence.entities]
    relations = np.zeros(len(candidates.pairs), dtype=np.int64)
    for relation in sentence.relations:
        pair = candidates.place.get((relation.head, relation.tail))
        if pair is not None and not relations[pair]:
            relations[pair] = relation_number(types, relation.type)
    return np.concatenate([np.array(kinds, dtype=np.int64), relations])


def _count(tally: Ints, right: Ints, found: Ints | None) -> None:
    """Add to the numbers of right ones, of found ones and of true ones of each type, [types,3]."""
    given = np.full(len(right), -1) if found is None else found
    for column, kinds in enumerate((right[right == given], given[given >= 0], right)):
        tally[:, column] += np.bincount(kinds, minlength=len(tally))


def _mean_f1(tally: Ints) -> float:
    """The mean over the types that there are."""
    scores = [Counts(*counts).f1 for counts in tally.tolist() if counts[2]]
    return float(np.mean(scores)) if scores else 0.0
