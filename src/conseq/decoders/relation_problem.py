"""Entities and relations of one sentence decided together: scores, rules, and the best answer under them.

    RelationProblem(types, candidates, scores, rules) ─→ Model ─→ solver ─→ RelationDecoding

    score = Σ scores of the chosen types and relations − Σ penalty · violation of each rule

Axes: E entities, A types of entities, P pairs, R types of relations, G rules; I = E · A + P · (R+1).
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from conseq.constraints.conflict import conflicts
from conseq.constraints.relational import RelationRule
from conseq.constraints.relational.sums import Sums
from conseq.decoders.base import NO_LIMITS, Limits
from conseq.decoders.conflict import PATIENCE, Undecided, blamed
from conseq.decoders.variables.model import Model, join, rows_of
from conseq.decoders.variables.solvers import Solver, solved
from conseq.dtypes import Floats, Ints
from conseq.entities import Candidates, Relation, Types
from conseq.kept import Kept
from conseq.kernels import clock
from conseq.kernels.indicators import Rows, Variables
from conseq.problem import Certificate, Status, Violations


@dataclass(frozen=True, eq=False)
class RelationProblem:
    """What is to be decided of one sentence.

    scores    [I], of each type of each entity, then of none and each relation of each pair; −inf: forbidden
    """

    types: Types
    candidates: Candidates
    scores: Floats
    rules: tuple[RelationRule, ...] = ()

    @cached_property
    def model(self) -> Model:
        """The problem as solvers see it; a group of rows is a rule."""
        frame = _frame(self.types, self.candidates, self.rules)
        penalty = np.array([rule.penalty for rule in self.rules], dtype=np.float64)
        rows = frame.rows._replace(penalty=penalty)
        if frame.varying:
            lowered = self._lowered(frame.varying)
            rows = join(rows, rows_of(lowered, penalty, rows.together))
            for g, sums in lowered:
                rows.together[g] = int(sums.together)
        variables = Variables(frame.starts, frame.owner, np.ascontiguousarray(self.scores, dtype=np.float64))
        return Model(variables, rows, more=self._more if frame.growing else None)

    def _lowered(self, numbers: Sequence[int]) -> list[tuple[int, Sums]]:
        return [(g, self.rules[g].lower(self.types, self.candidates)) for g in numbers]

    def _more(self, values: Floats) -> list[tuple[int, Sums]]:
        """The rows that these indicators [I] violate beyond those that rules are lowered to."""
        growing = [g for g, rule in enumerate(self.rules) if grows(rule)]
        found = [(g, self.rules[g].more(self.types, self.candidates, values)) for g in growing]
        return [(g, sums) for g, sums in found if sums is not None]

    def with_penalties(self, penalties: Sequence[float]) -> RelationProblem:
        """The same under other penalties, [G]; rules are not lowered again."""
        rules = tuple(replace(rule, penalty=p) for rule, p in zip(self.rules, penalties, strict=True))
        changed = replace(self, rules=rules)
        rows = self.model.rows._replace(penalty=np.array(penalties, dtype=np.float64))
        vars(changed)["model"] = replace(self.model, rows=rows, more=self.model.more and changed._more)
        return changed

    def values(self, kinds: ArrayLike, relations: ArrayLike) -> Ints:
        """The indicators of an answer, one for each variable: the type of each entity [E], the relation of
        each pair [P] (0: none) ─→ [E+P]."""
        chosen = np.concatenate([np.asarray(kinds, dtype=np.int64), np.asarray(relations, dtype=np.int64)])
        return self.model.variables.starts[:-1] + chosen

    def violations(self, values: Ints) -> Floats:
        """How much an answer violates each rule, [G]."""
        amounts = self.model.violations(values)
        if self.model.more is not None:
            given = np.zeros(len(self.scores))
            given[values] = 1.0
            for g, sums in self.model.more(given):
                more = sums.violation(given.astype(np.int64))
                amounts[g] = max(amounts[g], more) if sums.together else amounts[g] + more
        return amounts

    def score(self, values: Ints, violations: Floats | None = None) -> float:
        """The scores of an answer less the penalties it pays; −inf if it breaks a hard rule.

        violations    of this answer, [G], where they are known
        """
        amounts = self.violations(values) if violations is None else violations
        broken = amounts > 0
        return float(self.scores[values].sum()) - float(self.model.rows.penalty[broken] @ amounts[broken])

    def solve(
        self, solver: str | Solver = "auto", limits: Limits = NO_LIMITS, hint: Ints | None = None
    ) -> RelationDecoding:
        """The best answer, or the best found within the limits, with its certificate.

        hint    an answer that may be good, as indicators [E+P]
        """
        begun = clock.now()
        found = solved(self.model, solver, limits, hint)
        offers = [(self.score(values), values) for values in (found.values, hint) if values is not None]
        score, values = max(offers, key=lambda offer: offer[0], default=(-np.inf, None))
        known = None if score == -np.inf else score
        seconds = clock.now() - begun
        certificate = Certificate.of(known, found.bound, found.nodes, seconds)
        kept = None if known is None else values
        return RelationDecoding(self, kept, score, certificate, found.integral, found.legal)


class _Frame(NamedTuple):
    """What problems with the same types, entities, pairs and rules share."""

    starts: Ints  # [V+1]
    owner: Ints  # [I]
    rows: Rows  # of the rules that depend on no more
    varying: list[int]  # numbers of the others
    growing: bool  # whether a rule has more rows than it lists


_FRAMES = Kept()


def _frame(types: Types, candidates: Candidates, rules: tuple[RelationRule, ...]) -> _Frame:
    key = types, candidates.n_entities, candidates.pairs.tobytes(), rules
    return _FRAMES.get(key, lambda: _made(types, candidates, rules))


def _made(types: Types, candidates: Candidates, rules: tuple[RelationRule, ...]) -> _Frame:
    n_kinds, n_values = len(types.entities), len(types.relations) + 1
    sizes = [n_kinds] * candidates.n_entities + [n_values] * len(candidates.pairs)
    starts = np.append(0, np.cumsum(sizes)).astype(np.int64)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    lowered = [(g, rule.lower(types, candidates)) for g, rule in enumerate(rules) if not rule.varies]
    together = np.zeros(len(rules), dtype=np.int64)
    for g, sums in lowered:
        together[g] = int(sums.together)
    penalty = np.array([rule.penalty for rule in rules], dtype=np.float64)
    varying = [g for g, rule in enumerate(rules) if rule.varies]
    return _Frame(starts, owner, rows_of(lowered, penalty, together), varying, any(map(grows, rules)))


def grows(rule: RelationRule) -> bool:
    """Whether a rule has more rows than it lists."""
    return type(rule).more is not RelationRule.more


def smallest_conflict(problem: RelationProblem, limits: Limits = NO_LIMITS) -> list[RelationRule] | None:
    """The fewest hard rules that no answer satisfies together with the −inf entries of the scores.

    None: there is an answer that satisfies all of them. An empty list: no rule is to blame. If the limits do
    not suffice to find out, `Undecided` is raised.
    """
    oracle = _Oracle(problem, limits)
    rules = next(conflicts(oracle.hard, oracle), None)
    return None if rules is None else [problem.rules[g] for g in sorted(rules)]


class _Oracle:
    """Decides whether hard rules of a problem can hold together."""

    def __init__(self, problem: RelationProblem, limits: Limits) -> None:
        allowed = np.where(np.isneginf(problem.scores), -np.inf, 0.0)
        self.problem = replace(problem, scores=allowed)
        self.hard = frozenset(g for g, rule in enumerate(problem.rules) if rule.is_hard)
        self.limits, self.until = limits, clock.now() + limits.seconds

    def holding(self, items: Set[int]) -> frozenset[int] | None:
        """Hard rules that hold together and include the given ones; None if these cannot hold together."""
        penalties = [np.inf if g in items else 0.0 for g in range(len(self.problem.rules))]
        rest = replace(self.limits, seconds=max(0.0, self.until - clock.now()))
        found = self.problem.with_penalties(penalties).solve(limits=rest)
        if found.certificate.status is Status.UNKNOWN:
            raise Undecided("whether the rules can hold together was not decided; raise the limits")
        if found.values is None:
            return None
        broken = np.flatnonzero(self.problem.violations(found.values)).tolist()
        return (self.hard - frozenset(broken)) | items

    quickly = holding


@dataclass(frozen=True, eq=False)
class RelationDecoding:
    """The entities and relations that were decided; without an answer `values`, `types` and `relations` are
    None.

    values            [E+P], the indicator chosen for each entity and each pair
    integral          of a relaxation (`solver="lp"`): whether no value was taken in part
    rounding_legal    of a relaxation: whether rounding it breaks no hard rule
    """

    problem: RelationProblem
    values: Ints | None
    score: float
    certificate: Certificate
    integral: bool | None = None
    rounding_legal: bool | None = None

    @cached_property
    def kinds(self) -> Ints | None:
        """The number of the type of each entity, [E]."""
        if self.values is None:
            return None
        n = self.problem.candidates.n_entities
        return self.values[:n] - self.problem.model.variables.starts[:n]

    @cached_property
    def pair_kinds(self) -> Ints | None:
        """The number of the relation of each pair, 0 for none, [P]."""
        if self.values is None:
            return None
        n = self.problem.candidates.n_entities
        return self.values[n:] - self.problem.model.variables.starts[n:-1]

    @cached_property
    def types(self) -> list[str] | None:
        """The type of each entity."""
        names = self.problem.types.entities
        return None if self.kinds is None else [names[kind] for kind in self.kinds.tolist()]

    @cached_property
    def relations(self) -> list[Relation] | None:
        """The relations, in the order of the pairs."""
        if self.pair_kinds is None:
            return None
        names, pairs = self.problem.types.relations, self.problem.candidates.pairs
        there = np.flatnonzero(self.pair_kinds).tolist()
        return [
            Relation(names[int(self.pair_kinds[p]) - 1], int(pairs[p, 0]), int(pairs[p, 1])) for p in there
        ]

    @cached_property
    def violations(self) -> Violations:
        """The rules that the answer violates and how much."""
        if self.values is None:
            return Violations()
        amounts, rules = self.problem.violations(self.values), self.problem.rules
        return Violations({rules[g]: float(amounts[g]) for g in np.flatnonzero(amounts).tolist()})

    def explain_infeasible(self, limits: Limits = PATIENCE) -> str | None:
        """One sentence: why there is no answer, with the fewest rules to blame; None if there may be one."""
        try:
            rules = smallest_conflict(self.problem, limits)
        except Undecided:
            return "no answer that satisfies the hard rules was found; drop some of them"
        if rules is None:
            return None
        if not rules:
            return "there is no answer: an entity or a pair has a score of -inf for everything; allow more"
        return blamed("answer", rules)

    def __repr__(self) -> str:
        status = self.certificate.status.name
        if self.types is None or self.relations is None:
            return f"RelationDecoding(no answer; {status})"
        related = ", ".join(f"{one.type}({one.head}, {one.tail})" for one in self.relations)
        types = ", ".join(self.types)
        return f"RelationDecoding({types}; {related or 'no relations'}; score {self.score:.6g}, {status})"
