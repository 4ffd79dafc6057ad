"""Rules for the race of decoders, made from training and development data by the recipes of two papers.

train, dev, a trained labeller ─┬─→ `count_and_order`: rules that hold in training, priced by how often (000)
                                └─→ `segment_counts`: rules that the model breaks more often than the gold
                                    labels, priced by `log_ratio` (000) or `learned` (003)

Axes: N sequences, K rules.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from conseq.constraints import (
    Constraint,
    Counts,
    FirstLast,
    FollowedBy,
    IfThen,
    NotBefore,
    Segments,
    Sum,
    Term,
)
from conseq.constraints.program import Program
from conseq.corpus import Corpus
from conseq.decoders.choose import decode_all
from conseq.labeller import SequenceLabeller
from conseq.problem import Problems
from conseq.schema import Schema

HOLDS = 0.97
"""The share of the training sequences it applies to in which a rule must hold."""
IMPORTANCE = 2.75
"""How many times as many sequences of the model as of the gold labels must break a rule."""
BOUNDS = range(4)
EPOCHS, BATCH, STEP = 5, 40, 0.2
"""Passes of the perceptron, sequences decoded before each update, how far an update goes."""
DIGITS = 3
"""Learned penalties are rounded to so many decimals, and those of 0 dropped."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def broken(rules: Iterable[Constraint], schema: Schema, corpus: Corpus, labels: NDArray[np.int32]) -> Floats:
    """How much the labels of each sequence violate each rule, [N,K]."""
    program = Program.of(rules, schema, corpus)
    return program.by_rule(program.violations(labels))


def broken_by_gold(rules: Sequence[Constraint], labeller: SequenceLabeller, corpus: Corpus) -> Floats:
    """How much the gold labels violate each rule, [N,K]."""
    gold, schema = labeller.gold_ids(corpus)  # a schema with the labels that training lacked
    return broken(rules, schema, corpus, gold)


def broken_by_model(rules: Sequence[Constraint], labeller: SequenceLabeller, corpus: Corpus) -> Floats:
    """How much the model's labels violate each rule, [N,K]."""
    return broken(rules, labeller.schema_, corpus, labeller.predict_ids(corpus))


def log_ratio(violated: float, applied: float) -> float:
    """−log((v + ½) / (h + v + 1)), h + v = applied: the rarer a violation, the dearer (paper 000, eq. 30).

    >>> round(log_ratio(0, 99), 3), round(log_ratio(50, 99), 3)
    (5.298, 0.683)
    """
    return -math.log((violated + 0.5) / (applied + 1))


# ── rules that hold in training ─────────────────────────────────────────────────────────────────


def count_and_order(labeller: SequenceLabeller, train: Corpus, dev: Corpus, number: int) -> list[Constraint]:
    """The rules that hold in training and that the model breaks most often on dev, `number` of them.

    Where it breaks fewer, those that apply most often in training follow.
    """
    candidates = count_and_order_candidates(labeller.schema_.types())
    applied = _applied(candidates, labeller, train)
    violated = (broken_by_gold(candidates, labeller, train) > 0).sum(axis=0)
    by_model = (broken_by_model(candidates, labeller, dev) > 0).sum(axis=0)
    sound = np.flatnonzero((applied > 0) & (applied - violated >= HOLDS * applied))
    ranked = sound[np.lexsort((-applied[sound], -by_model[sound]))]
    return [
        replace(candidates[k], penalty=log_ratio(float(violated[k]), float(applied[k])))
        for k in ranked[:number].tolist()
    ]


def count_and_order_candidates(types: Sequence[str]) -> list[Constraint]:
    """At most one a;  for a ≠ b: no more a than b, if a then b, no a before b, a followed by b, first a ->
    last b.

    >>> len(count_and_order_candidates(["author", "title"]))
    12
    """
    rules: list[Constraint] = [Segments("at most", 1, a) for a in types]
    for a, b in permutations(types, 2):
        rules.append(Counts(_sum((1, a)), "<=", _sum((1, b))))
        rules += [IfThen(a, b), NotBefore(a, b), FollowedBy(a, b), FirstLast(a, b)]
    return rules


def _applied(rules: Sequence[Constraint], labeller: SequenceLabeller, corpus: Corpus) -> Ints:
    """In how many sequences the condition of each rule is met by the gold labels, [K]."""
    gold, schema = labeller.gold_ids(corpus)
    types = labeller.schema_.types()
    none = [Segments("at most", 0, a) for a in types]
    found: NDArray[np.bool_] = broken(none, schema, corpus, gold) > 0
    appears: dict[str, NDArray[np.bool_]] = dict(zip(types, found.T, strict=True))
    first = gold[corpus.offsets[:-1]]
    leads: dict[str, NDArray[np.bool_]] = {a: schema.inside(a)[first] for a in types}

    def condition(rule: Constraint) -> NDArray[np.bool_]:
        a, *rest = rule.names
        if isinstance(rule, FirstLast):
            return leads[a]
        both = isinstance(rule, NotBefore)
        return np.logical_and(appears[a], appears[rest[0]]) if both else appears[a]

    return np.array([condition(rule).sum() for rule in rules])


# ── rules that the model breaks more often than the gold labels ─────────────────────────────────


def segment_counts(labeller: SequenceLabeller, dev: Corpus) -> list[Constraint]:
    """The templates of paper 003 that matter on dev: sequences of the model's that break the rule, over those
    of the gold labels, are at least IMPORTANCE. Without penalties yet."""
    candidates = segment_count_candidates(labeller.schema_)
    by_model = (broken_by_model(candidates, labeller, dev) > 0).sum(axis=0)
    by_gold = (broken_by_gold(candidates, labeller, dev) > 0).sum(axis=0)
    kept = np.flatnonzero((by_model > 0) & (by_model >= IMPORTANCE * by_gold))
    return [candidates[k] for k in kept.tolist()]


def segment_count_candidates(schema: Schema) -> list[Constraint]:
    """Singleton and pairwise rules over the types of segments at every level, no two of the same meaning.

    count(a) ≤ 1;  count(a) + count(b) and count(a) − count(b), each ≤ and ≥ 0, 1, 2, 3

    >>> rules = segment_count_candidates(Schema(["a", "b"], "plain"))
    >>> len(rules), rules[0].line(), rules[-1].line()
    (23, 'at most 1 segment of a', 'count(b) - count(a) >= 3')
    """
    types = schema.types()
    rules: list[Constraint] = [Segments("at most", 1, a) for a in types]
    for a, b in combinations(types, 2):
        rules += [_pair(a, 1, b, "<=", k) for k in BOUNDS]
        rules += [_pair(a, 1, b, ">=", k) for k in BOUNDS if k > 0]  # every count is at least 0
    for a, b in permutations(types, 2):
        rules += [_pair(a, -1, b, "<=", k) for k in BOUNDS]
        rules += [_pair(a, -1, b, ">=", k) for k in BOUNDS if k > 0]  # a − b ≥ 0 is b − a ≤ 0
    return rules


def _pair(a: str, weight: int, b: str, relation: str, bound: int) -> Counts:
    return Counts(_sum((1, a), (weight, b)), relation, Sum((), bound))


def _sum(*terms: tuple[int, str]) -> Sum:
    return Sum(tuple(Term(weight, name) for weight, name in terms))


def with_log_ratios(
    rules: Sequence[Constraint], labeller: SequenceLabeller, train: Corpus
) -> list[Constraint]:
    """The rules with prices that say how rarely the training data violates them."""
    violated = (broken_by_gold(rules, labeller, train) > 0).sum(axis=0).tolist()
    return [replace(r, penalty=log_ratio(v, len(train))) for r, v in zip(rules, violated, strict=True)]


def with_learned_penalties(
    rules: Sequence[Constraint], labeller: SequenceLabeller, dev: Corpus
) -> list[Constraint]:
    """The rules with penalties learned by an averaged structured perceptron, those of 0 left out (paper 003).

    c ← max(0, c + step · Σ over a batch of (violation by the best labels under c − violation by gold))
    """
    schema = labeller.schema_
    gold = broken_by_gold(rules, labeller, dev)
    starts = range(0, len(dev), BATCH)
    batches = [dev.select(range(n, min(n + BATCH, len(dev)))) for n in starts]
    scores = [labeller.potentials(batch) for batch in batches]
    penalties, total = np.zeros(len(rules)), np.zeros(len(rules))
    for _ in range(EPOCHS):
        for n, batch, potentials in zip(starts, batches, scores, strict=True):
            problems = Problems.of(potentials, schema, _priced(rules, penalties), batch)
            more = decode_all(problems).violations - gold[n : n + BATCH]
            penalties = np.maximum(0.0, penalties + STEP * more.sum(axis=0))
            total += penalties
    means = np.round(total / (EPOCHS * len(batches)), DIGITS)
    return [rule for rule in _priced(rules, means) if rule.penalty > 0]


def _priced(rules: Sequence[Constraint], penalties: Floats) -> list[Constraint]:
    return [replace(rule, penalty=penalty) for rule, penalty in zip(rules, penalties.tolist(), strict=True)]
