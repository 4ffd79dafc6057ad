"""Small random sentences with rules of every kind, and the best answer by trying every one."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np

from conseq.constraints.relational import Acyclic, RelationRule
from conseq.constraints.relational.language import parse_relation_rules
from conseq.decoders.relation_problem import RelationProblem
from conseq.entities import Candidates, Types, all_pairs

TYPES = Types(("A", "B"), ("R", "S"))
LINES = (
    "R(A, B)",
    "S(A or B, A)",
    "S(B, B)",
    "at most 1 relation per pair",
    "at most 0 relations per pair",
    "R is symmetric",
    "R is inverse of S",
    "R is acyclic",
    "S is acyclic",
    "at most 1 R per head",
    "exactly 1 S per tail",
    "at least 1 R per tail",
    "exactly 1 R",
    "at least 2 S",
    "at most 1 A",
    "count(R) <= count(A) + 1",
    "count(S) >= count(B) - 1",
    "if R(a, b) then not R(b, a)",
    "if same(a, b) and R(c, a) then R(c, b)",
    "if A(a) and B(b) then R(a, b) or S(b, a)",
    "if R(a, b) and R(b, c) then R(a, c)",
    "if a before b then not S(a, b)",
    'if "w" between a and b then R(a, b)',
    "if /v|w/ between a and b then not A(a)",
    "same mentions agree on type",
    "entities but B do not overlap",
)
"""Every kind of rule."""


def random_problem(seed: int, most_entities: int = 3, most_pairs: int = 4) -> RelationProblem:
    """Up to three entities, some pairs of them, some scores forbidden, some rules hard."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(0, most_entities + 1))
    pairs = all_pairs(n)
    pairs = pairs[np.sort(rng.permutation(len(pairs))[: rng.integers(0, most_pairs + 1)])]
    spans = np.column_stack([3 * rng.permutation(n), 3 * rng.permutation(n)])
    spans[:, 1] = spans[:, 0] + rng.integers(1, 4, n)  # some share tokens
    tokens = tuple(rng.choice(["w", "v", "u"], 3 * max(1, n) + 3).tolist())
    every = [(i, j) for i in range(n) for j in range(i + 1, n)]
    same = frozenset(pair for pair in every if rng.random() < 0.3)
    size = 2 * n + 3 * len(pairs)
    scores = np.round(rng.normal(0, 2, size), int(rng.integers(0, 3)))
    if rng.random() < 0.25:
        scores[rng.random(size) < 0.2] = -np.inf
    return RelationProblem(TYPES, Candidates(n, pairs, spans, tokens, same), scores, random_rules(rng))


def random_rules(rng: np.random.Generator) -> tuple[RelationRule, ...]:
    """Some of the lines, each hard or with a penalty."""
    chosen = rng.permutation(len(LINES))[: rng.integers(0, 7)]
    hard = rng.choice([0.0, 0.3, 0.8])
    penalties = [
        "hard" if rng.random() < hard else f"penalty {rng.choice([0, 0.5, 1.25, 3, 40])}" for _ in chosen
    ]
    text = "\n".join(f"{LINES[i]}  {penalty}" for i, penalty in zip(chosen, penalties, strict=True))
    return tuple(parse_relation_rules(text, TYPES))


def every_answer(problem: RelationProblem) -> np.ndarray:
    """All answers as indicators of variables, [N,V]."""
    starts = problem.model.variables.starts
    ranges = [range(a, b) for a, b in pairwise(starts.tolist())]
    found = list(product(*ranges))
    return np.array(found, dtype=np.int64).reshape(len(found), len(ranges))


def all_scores(problem: RelationProblem, answers: np.ndarray) -> np.ndarray:
    """The score of each answer, from the definition, [N]."""
    points = np.zeros((len(answers), len(problem.scores)))
    np.put_along_axis(points, answers, 1.0, axis=1)
    totals = problem.scores[answers].sum(axis=1)
    for rule in problem.rules:
        amounts = _violations(rule, problem, points)
        totals -= np.where(amounts > 0, rule.penalty * np.where(amounts > 0, amounts, 1.0), 0.0)
    return totals


def _violations(rule: RelationRule, problem: RelationProblem, points: np.ndarray) -> np.ndarray:
    candidates = problem.candidates
    if isinstance(rule, Acyclic):
        kind, n = TYPES.relations.index(rule.relation) + 1, candidates.n_entities
        places = [candidates.pair_indicator(TYPES, p, kind) for p in range(len(candidates.pairs))]
        edges = np.zeros((len(points), n, n))
        edges[:, candidates.pairs[:, 0], candidates.pairs[:, 1]] = points[:, places]
        paths, closed = edges, np.zeros(len(points), dtype=bool)
        for _ in range(n):
            closed |= np.trace(paths, axis1=1, axis2=2) > 0
            paths = paths @ edges
        return closed.astype(float)
    sums = rule.lower(TYPES, candidates)
    rows = np.zeros((len(sums.bound), points.shape[1]))
    np.add.at(rows, (sums.row, sums.indicator), sums.weight)
    beyond = np.maximum(0.0, points @ rows.T - sums.bound)
    return beyond.max(axis=1, initial=0.0) if sums.together else beyond.sum(axis=1)
