"""What a labeller learns beside its classifiers, from scores of models that have not seen the sentences.

sentences ─→ folds ─→ crossed scores ─┬─→ types for the classifier of relations to see (pipeline)
                                      ├─→ bonus: what each relation gets over none, by F1
                                      └─→ rules, penalties, scales (mining/relations.py)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from conseq.constraints.relational import Acyclic, RelationRule
from conseq.decoders.base import NO_LIMITS, Limits
from conseq.decoders.relation_problem import RelationDecoding, RelationProblem
from conseq.dtypes import Floats, Ints
from conseq.entities import Candidates, Sentence, Types
from conseq.mining.penalties import DIGITS, log_ratio
from conseq.mining.relations import RelationEvidence, learn_relation_rules
from conseq.mining.signatures import signatures, tendencies
from conseq.relations.classifiers import Makers, Scores, log_probabilities, trained
from conseq.relations.features import Described, RelationFeatures
from conseq.relations.mentions import Gold, Mentions

BONUSES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0)
"""What the bonus is chosen from."""


@dataclass(frozen=True)
class Weights:
    """What scores are multiplied by, and what each relation gets beside."""

    entities: float = 1.0
    relations: float = 1.0
    bonus: float = 0.0

    def flat(self, scores: Scores, entities: slice, pairs: slice) -> Floats:
        """The scores of one sentence, [I]."""
        of_pairs = scores.relations[pairs].copy()
        of_pairs[:, 0] -= self.bonus
        return np.concatenate(
            [self.entities * scores.entities[entities].ravel(), self.relations * of_pairs.ravel()]
        )


def folds_of(sentences: Sequence[Sentence], folds: int, seed: int = 0) -> Ints:
    """The fold of each sentence, [N]; those with the same tokens are in one.

    >>> one, other = Sentence(("a",)), Sentence(("b",))
    >>> len(set(folds_of([one, other, one], 2).tolist()))
    2
    """
    distinct = {tokens: i for i, tokens in enumerate(dict.fromkeys(s.tokens for s in sentences))}
    order = np.random.default_rng(seed).permutation(len(distinct))
    return np.array([order[distinct[s.tokens]] % folds for s in sentences], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Lessons:
    """Labelled sentences in folds, and how classifiers are made."""

    sentences: Sequence[Sentence]
    types: Types
    mentions: Mentions
    gold: Gold
    makers: Makers
    chosen: str
    fold: Ints  # [N]
    min_count: int = 1

    def entity_scores(self, described: Described) -> Floats:
        """What classifiers of entities say that have learned from the other folds, [E,A]."""

        def learn(features: RelationFeatures, part: Described, labels: Ints) -> Any:
            return trained(self.makers.entity(), features.entities(part), labels, len(self.types.entities))

        def say(features: RelationFeatures, part: Described, classifier: Any) -> Floats:
            return log_probabilities(classifier, features.entities(part), len(self.types.entities))

        return self._crossed(described, self.gold.entities, described.entity_offsets, learn, say)

    def relation_scores(self, described: Described) -> Floats:
        """The same of relations, [P,R+1]."""
        size = len(self.types.relations) + 1

        def learn(features: RelationFeatures, part: Described, labels: Ints) -> Any:
            return trained(self.makers.relation(), features.pairs(part), labels, size)

        def say(features: RelationFeatures, part: Described, classifier: Any) -> Floats:
            return log_probabilities(classifier, features.pairs(part), size)

        return self._crossed(described, self.gold.relations, described.pair_offsets, learn, say)

    def _crossed(
        self, described: Described, labels: Ints, offsets: Ints, learn: Callable, say: Callable
    ) -> Floats:
        numbers = np.repeat(np.arange(len(self.fold)), np.diff(offsets))
        found: Floats | None = None
        for k in range(int(self.fold.max(initial=0)) + 1):
            inside = self.fold == k
            rest, own = described.select(np.flatnonzero(~inside)), described.select(np.flatnonzero(inside))
            features = RelationFeatures.learn(rest, self.chosen, self.min_count)
            classifier = learn(features, rest, labels[~inside[numbers]])
            part = say(features, own, classifier)
            found = np.zeros((len(labels), part.shape[1])) if found is None else found
            found[inside[numbers]] = part
        return np.zeros((0, 1)) if found is None else found


def problems(
    types: Types,
    mentions: Mentions,
    sentences: Sequence[Sentence],
    scores: Scores,
    rules: tuple[RelationRule, ...],
    weights: Weights,
) -> Iterator[RelationProblem]:
    """What is to be decided of each sentence."""
    for sentence, (entities, pairs, own) in zip(sentences, mentions.each(), strict=True):
        flat = weights.flat(scores, entities, pairs)
        yield RelationProblem(types, candidates(sentence, own), flat, rules)


def candidates(sentence: Sentence, pairs: Ints) -> Candidates:
    """The entities and pairs of a sentence; entities of the same words are said to be the same."""
    spans = np.array([(e.start, e.end) for e in sentence.entities], dtype=np.int64).reshape(-1, 2)
    return Candidates(len(sentence.entities), pairs, spans, sentence.tokens, _same(sentence))


def _same(sentence: Sentence) -> frozenset[tuple[int, int]]:
    texts = [sentence.tokens[e.start : e.end] for e in sentence.entities]
    if len(set(texts)) == len(texts):
        return frozenset()
    n = len(texts)
    return frozenset((i, j) for i in range(n) for j in range(i + 1, n) if texts[i] == texts[j])


def answered(sentence: Sentence, found: RelationDecoding) -> Sentence:
    """The sentence with the types and relations that were decided."""
    entities = tuple(
        replace(e, type=kind) for e, kind in zip(sentence.entities, found.types or (), strict=True)
    )
    return replace(sentence, entities=entities, relations=tuple(found.relations or ()))


def macro_f1(gold: Ints, found: Ints, classes: Sequence[int]) -> float:
    """The mean F1 of some classes."""
    scores = []
    for k in classes:
        right = int(((gold == k) & (found == k)).sum())
        scores.append(2 * right / max(1, int((gold == k).sum() + (found == k).sum())))
    return float(np.mean(scores)) if scores else 0.0


def decided(
    lessons: Lessons,
    scores: Scores,
    rules: tuple[RelationRule, ...],
    weights: Weights,
    limits: Limits = NO_LIMITS,
) -> tuple[Ints, Ints]:
    """The types [E] and relations [P] that are best under the rules."""
    kinds, related = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    given = problems(lessons.types, lessons.mentions, lessons.sentences, scores, rules, weights)
    for problem in given:
        found = problem.solve(limits=limits)
        n, m = problem.candidates.n_entities, len(problem.candidates.pairs)
        kinds.append(np.full(n, -1) if found.kinds is None else found.kinds)
        related.append(np.full(m, -1) if found.pair_kinds is None else found.pair_kinds)
    return np.concatenate(kinds), np.concatenate(related)


def rules_of(sentences: Sequence[Sentence]) -> tuple[RelationRule, ...]:
    """The rules that sentences show: hard what always held, with penalties what mostly did.

    A penalty is the log-ratio of how often the rule held and how often not (Fersini et al. 2014, eq. 30).
    Cycles are left out: what forbids them costs time, and classifiers hardly propose any.
    """
    hard = [rule for rule in signatures(sentences) if not isinstance(rule, Acyclic)]
    soft = [
        replace(one.rule, penalty=round(log_ratio(one.applied - one.held, one.applied), DIGITS))
        for one in tendencies(sentences)
        if not isinstance(one.rule, Acyclic)
    ]
    return *hard, *soft


def learned_penalties(
    lessons: Lessons, scores: Scores, rules: Sequence[RelationRule], weights: Weights, learner: str
) -> tuple[tuple[RelationRule, ...], Weights]:
    """The rules with penalties that a learner finds on sentences, and the scales of both classifiers."""
    parts = list(lessons.mentions.each())
    raised = scores.relations.copy()
    raised[:, 0] -= weights.bonus
    evidence = RelationEvidence.of(
        lessons.sentences,
        lessons.types,
        [scores.entities[entities] for entities, _, _ in parts],
        [raised[pairs] for _, pairs, _ in parts],
        hard=[rule for rule in rules if rule.is_hard],
    )
    found = learn_relation_rules(evidence, [rule for rule in rules if not rule.is_hard], learner)
    kept = tuple(rule for rule in found.rules if rule.penalty)
    return kept, replace(weights, entities=found.entity_scale, relations=found.relation_scale)


def best_bonus(
    lessons: Lessons, scores: Scores, rules: tuple[RelationRule, ...], weights: Weights, limits: Limits
) -> float:
    """The bonus with which the mean F1 of the relations is best; of equal ones the smallest."""
    classes = [k for k in range(1, len(lessons.types.relations) + 1) if (lessons.gold.relations == k).any()]
    tried = []
    for bonus in BONUSES:
        _, found = decided(lessons, scores, rules, replace(weights, bonus=bonus), limits)
        tried.append((macro_f1(lessons.gold.relations, found, classes), -bonus))
    return -max(tried)[1]
