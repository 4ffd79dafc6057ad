"""What rules about entities and relations mean, by loops over entities, with small sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations, permutations, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conseq.constraints import Pattern, Sum, Term, TokenTest, Words
from conseq.constraints.relational import (
    Acyclic,
    ArgumentTypes,
    Atom,
    Before,
    Between,
    Clause,
    Degree,
    HowMany,
    Inverse,
    IsA,
    Literal,
    MentionsAgree,
    NoOverlap,
    PairLimit,
    Related,
    RelationCounts,
    RelationRule,
    Same,
    Symmetric,
)
from conseq.entities import Candidates, Types, all_pairs

Numbers = NDArray[np.int64]

TYPES = Types(("A", "B"), ("R", "S"))


class Answer(NamedTuple):
    """The type of each entity, the relations that there are, and what the sentence says."""

    kinds: list[str]
    related: set[tuple[str, int, int]]  # relation, head, tail
    candidates: Candidates

    @property
    def entities(self) -> range:
        return range(len(self.kinds))

    def count(self, name: str) -> int:
        return self.kinds.count(name) + sum(relation == name for relation, _, _ in self.related)


def naive(rule: RelationRule, answer: Answer) -> float:
    """How much an answer violates a rule."""
    related, entities = answer.related, answer.entities
    match rule:
        case ArgumentTypes(relation, head, tail):
            wrong = 0
            for name, i, j in related:
                if name == relation:
                    wrong += (answer.kinds[i] not in head) + (answer.kinds[j] not in tail)
            return wrong
        case PairLimit(bound):
            pairs = [(i, j) for i in entities for j in entities if i < j]
            return sum(max(0, sum({p, q} == {i, j} for _, p, q in related) - bound) for i, j in pairs)
        case Symmetric(relation):
            return sum(name == relation and (name, j, i) not in related for name, i, j in related)
        case Inverse(relation, inverse):
            one = {(i, j) for name, i, j in related if name == relation}
            other = {(j, i) for name, i, j in related if name == inverse}
            return len(one ^ other)
        case Acyclic(relation):
            edges = {(i, j) for name, i, j in related if name == relation}
            return any(
                all(step in edges for step in zip(path, [*path[1:], path[0]], strict=True))
                for length in range(2, len(entities) + 1)
                for path in permutations(entities, length)
            )
        case HowMany(comparison, bound, name):
            return beyond(answer.count(name), comparison, bound)
        case Degree(comparison, bound, relation, end):
            ends = [(i if end == "head" else j) for name, i, j in related if name == relation]
            return sum(beyond(ends.count(i), comparison, bound) for i in entities)
        case RelationCounts(left, comparison, right):
            return beyond(total(left, answer), comparison, total(right, answer))
        case Clause(conditions, conclusions):
            broken = 0
            for chosen in permutations(entities, len(rule.variables)):
                bound_to = dict(zip(rule.variables, chosen, strict=True))
                held = all(true(one, bound_to, answer) for one in conditions)
                broken += held and not any(true(one, bound_to, answer) for one in conclusions)
            return broken
        case MentionsAgree():
            return sum(answer.kinds[i] != answer.kinds[j] for i, j in answer.candidates.same)
        case NoOverlap(none):
            assert answer.candidates.spans is not None
            taken = [set(range(*span)) for span in answer.candidates.spans.tolist()]
            found = [taken[i] for i in entities if answer.kinds[i] != none]
            return sum(bool(one & other) for one, other in combinations(found, 2))
    raise AssertionError(rule)


def beyond(number: int, comparison: str, bound: int) -> int:
    if comparison in ("at most", "<="):
        return max(0, number - bound)
    if comparison in ("at least", ">="):
        return max(0, bound - number)
    return abs(number - bound)


def total(added: Sum, answer: Answer) -> int:
    return added.constant + sum(term.weight * answer.count(term.name) for term in added.terms)


def true(literal: Literal, bound_to: dict[str, int], answer: Answer) -> bool:
    found = [bound_to[name] for name in literal.atom.variables]
    spans, tokens = answer.candidates.spans, answer.candidates.tokens
    assert spans is not None
    assert tokens is not None
    match literal.atom:
        case Related(name):
            held = (name, *found) in answer.related
        case IsA(name):
            held = answer.kinds[found[0]] == name
        case Same():
            held = (min(found), max(found)) in answer.candidates.same
        case Before():
            first, second = (spans[i][0] for i in found)
            held = first < second
        case Between(test=test):
            (_, begin), (end, _) = sorted(spans[i].tolist() for i in found)
            held = any(passes(test, token) for token in tokens[begin:end])
    return held == literal.holds


def passes(test: TokenTest, token: str) -> bool:
    if isinstance(test, Words):
        return token in test.words
    assert isinstance(test, Pattern)
    return re.search(test.pattern, token) is not None


# ── small sentences and random rules ────────────────────────────────────────────────────────────


def small(rng: np.random.Generator, most: int = 4) -> Candidates:
    """A sentence with some entities, some of the pairs, and some mentions of the same thing."""
    n = int(rng.integers(0, most + 1))
    pairs = all_pairs(n)[rng.permutation(n * (n - 1))]
    if rng.random() < 0.5:
        pairs = pairs[rng.random(len(pairs)) < 0.6]
    tokens = tuple(rng.choice(["x", "y", "z1"], 12).tolist())
    cuts = rng.choice(13, 2 * n, replace=False)
    cuts = np.sort((cuts if rng.random() < 0.3 else np.sort(cuts)).reshape(n, 2))  # spans may overlap
    same = [(i, j) for i in range(n) for j in range(i + 1, n) if rng.random() < 0.4]
    return Candidates(n, pairs, cuts[rng.permutation(n)], tokens, frozenset(same))


def answer_of(candidates: Candidates, kinds: Numbers, relations: Numbers) -> Answer:
    names = [TYPES.entities[kind] for kind in kinds]
    found = zip(relations.tolist(), candidates.pairs.tolist(), strict=True)
    return Answer(names, {(TYPES.relations[k - 1], i, j) for k, (i, j) in found if k}, candidates)


def answers(candidates: Candidates, rng: np.random.Generator, most: int) -> Iterator[tuple[Numbers, Numbers]]:
    """Types and relations, all that there are or some: types [E], relations [P]."""
    n, p = candidates.n_entities, len(candidates.pairs)
    n_kinds, n_values = len(TYPES.entities), len(TYPES.relations) + 1
    if n_kinds**n * n_values**p <= most:
        for one in product(*[range(n_kinds)] * n, *[range(n_values)] * p):
            yield np.array(one[:n], dtype=int), np.array(one[n:], dtype=int)
        return
    for _ in range(most):
        yield rng.integers(0, n_kinds, n), rng.integers(0, n_values, p)


def random_rule(kind: type[RelationRule], rng: np.random.Generator) -> RelationRule:
    """A rule of a class about the small types."""

    def pick(*choices: Any) -> Any:
        return choices[rng.integers(len(choices))]

    def term() -> Term:
        return Term(pick(1, 2, -1), pick("A", "B", "R", "S"))

    comparison, relation = pick("at most", "at least", "exactly"), pick("R", "S")
    allowed = (("A",), ("B",), ("B", "A"))
    match kind.__name__:
        case "ArgumentTypes":
            return ArgumentTypes(relation, pick(*allowed), pick(*allowed))
        case "PairLimit":
            return PairLimit(pick(0, 1, 2))
        case "Symmetric":
            return Symmetric(relation)
        case "Acyclic":
            return Acyclic(relation)
        case "Inverse":
            return Inverse(*pick(("R", "S"), ("S", "R")))
        case "HowMany":
            return HowMany(comparison, pick(0, 1, 2, 3), pick("A", "R", "S"))
        case "Degree":
            return Degree(comparison, pick(0, 1, 2), relation, pick("head", "tail"))
        case "RelationCounts":
            right = Sum(tuple(term() for _ in range(pick(0, 1, 2))), pick(0, 1))
            return RelationCounts(Sum((term(),), pick(0, 1, -2)), pick("<=", ">=", "=="), right)
        case "MentionsAgree":
            return MentionsAgree()
        case "NoOverlap":
            return NoOverlap(pick("A", "B"))
    names = ["a", "b", "c"][: pick(2, 2, 3)]
    literals = [Literal(random_atom(names, rng), pick(True, True, False)) for _ in range(pick(2, 3, 4))]
    cut = int(rng.integers(1, len(literals)))
    return Clause(tuple(literals[:cut]), tuple(literals[cut:]))


def random_atom(names: list[str], rng: np.random.Generator) -> Atom:
    first, second = rng.permutation(names)[:2].tolist()
    tests: list[TokenTest] = [Words(frozenset({"x"})), Words(frozenset({"y", "z1"})), Pattern(r"\d")]
    match int(rng.integers(8)):
        case 0 | 1 | 2:
            return Related(["R", "S"][rng.integers(2)], first, second)
        case 3 | 4:
            return IsA(["A", "B"][rng.integers(2)], first)
        case 5:
            return Same(first, second)
        case 6:
            return Before(first, second)
    return Between(first, second, tests[rng.integers(3)])
