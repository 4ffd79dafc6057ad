"""Which candidates are worth a penalty: those that the model breaks and the gold labels do not.

    candidates, Evidence ─→ judge ─→ Judged rules ─→ the important ones ─→ without redundant ones

imp(c) = sequences of the model's labels that break c / gold sequences that do  (Anzaroot et al. 2014, eq. 10)

Never broken by the gold labels, but by the model: infinite. By neither: nothing to gain.
Axes: N sequences, K rules.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from conseq.constraints.base import Constraint
from conseq.constraints.counts import Counts, Segments
from conseq.mining.evidence import Evidence
from conseq.mining.families import Candidate, Screen

AT_ONCE = 500
"""Rules judged at a time, so that memory does not grow with the candidates."""


@dataclass(frozen=True)
class Judged(Candidate):
    """A candidate, and how many sequences break it: of the gold labels, and of the model's."""

    by_gold: int
    by_model: int
    trace: bytes = b""  # equal for rules that are violated alike in every sequence, by gold and by the model

    @property
    def importance(self) -> float:
        if not self.by_gold:
            return math.inf if self.by_model else 0.0
        return self.by_model / self.by_gold


def judge(candidates: Sequence[Candidate], evidence: Evidence) -> Iterator[Judged]:
    """Each candidate with the sequences that break it."""
    for first in range(0, len(candidates), AT_ONCE):
        part = candidates[first : first + AT_ONCE]
        rules = [candidate.rule for candidate in part]
        gold, model = evidence.broken_by_gold(rules), evidence.broken_by_model(rules)
        for k, candidate in enumerate(part):
            amounts = np.stack([gold[:, k], model[:, k]])
            by_gold, by_model = np.count_nonzero(amounts, axis=1).tolist()
            trace = amounts.astype(np.float32).tobytes()
            yield Judged(**vars(candidate), by_gold=by_gold, by_model=by_model, trace=trace)


def important(rules: Iterable[Judged], screen: Screen) -> list[Judged]:
    """The rules that the model breaks in enough sequences, and often enough compared with the gold labels."""
    return [r for r in rules if r.by_model >= max(1, screen.broken) and r.importance >= screen.importance]


def without_redundant(rules: Iterable[Judged]) -> list[Judged]:
    """The rules without those that another makes needless.

    Of rules that are violated alike in every sequence one stays: the evidence cannot tell them apart, they
    would get the same penalty, and together count several times. Of rules that the gold labels violate alike
    those go that another implies: beside `at most 1 segment of a` nobody needs `count(a) <= count(b) + 1`.
    """
    alike: dict[bytes, Judged] = {}
    for rule in rules:
        other = alike.setdefault(rule.trace, rule)
        if other is not rule and _is_better(rule, other):
            alike[rule.trace] = rule
    by_gold: dict[bytes, list[Judged]] = {}
    for rule in alike.values():
        by_gold.setdefault(rule.trace[: len(rule.trace) // 2], []).append(rule)
    implied = {id(rule) for group in by_gold.values() for rule in _implied(group)}
    return [rule for rule in alike.values() if id(rule) not in implied]


def _implied(rules: Sequence[Judged]) -> Iterator[Judged]:
    """The rules that another of them implies, and does not follow from itself."""
    for rule in rules:
        others = (other for other in rules if other is not rule and implies(other.rule, rule.rule))
        if any(not implies(rule.rule, other.rule) for other in others):
            yield rule


def _is_better(one: Judged, other: Judged) -> bool:
    forth, back = implies(one.rule, other.rule), implies(other.rule, one.rule)
    if forth != back:
        return forth
    return (len(one.rule.names), len(one.rule.line())) < (len(other.rule.names), len(other.rule.line()))


def implies(one: Constraint, other: Constraint) -> bool:
    """Whether a rule about counts implies another, whatever the sequence: counts are at least 0, so
    Σ a·n ≤ b implies Σ a'·n ≤ b' if a' ≤ a everywhere and b ≤ b'.

    >>> from conseq.constraints.language import parse_constraints
    >>> one, other = parse_constraints("count(x) + count(y) <= 1 hard\\nat most 1 segment of x hard")
    >>> implies(one, other), implies(other, one)
    (True, False)
    """
    mine, theirs = _sums(one), _sums(other)
    return bool(theirs) and all(any(_dominates(a, b) for a in mine) for b in theirs)


_Sum = tuple[dict[object, int], int]


def _dominates(one: _Sum, other: _Sum) -> bool:
    (weights, bound), (others, limit) = one, other
    keys = weights.keys() | others.keys()
    return bound <= limit and all(others.get(key, 0) <= weights.get(key, 0) for key in keys)


def _sums(rule: Constraint) -> list[_Sum]:
    """A rule about counts as sums Σ weight · count ≤ bound; none for other rules."""
    if isinstance(rule, Segments):
        weights: dict[object, int] = {(rule.name, "count", None): 1}
        bound, relation = rule.bound, rule.relation
    elif isinstance(rule, Counts):
        weights = {}
        for sign, terms in ((1, rule.left.terms), (-1, rule.right.terms)):
            for term in terms:
                key = (term.name, term.unit, term.test)
                weights[key] = weights.get(key, 0) + sign * term.weight
        bound, relation = rule.right.constant - rule.left.constant, rule.relation
    else:
        return []
    below = (weights, bound)
    above = ({key: -weight for key, weight in weights.items()}, -bound)
    return {"<=": [below], "at most": [below], ">=": [above], "at least": [above]}.get(
        relation, [below, above]
    )
