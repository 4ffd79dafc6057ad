"""What a rule about entities and relations is, and what its rows are made of.

rule.lower(types, candidates) ─→ Sums;   rule.violation(types, candidates, indicators) ≥ 0

Axes: E entities, A types of entities, P pairs, R types of relations, K rows; I = E · A + P · (R+1).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np
from numpy.typing import ArrayLike

from conseq.constraints.base import Rule
from conseq.constraints.relational.sums import Sums
from conseq.dtypes import Ints
from conseq.entities import Candidates, Types
from conseq.errors import RuleError


@dataclass(frozen=True)
class RelationRule(Rule, ABC):
    """A rule about the entities and relations of a sentence. A pair that is no candidate has no relation."""

    @abstractmethod
    def lower(self, types: Types, candidates: Candidates) -> Sums:
        """The rows of the rule, for this sentence if it `varies`, else for its entities and pairs alone."""

    def more(self, types: Types, candidates: Candidates, values: ArrayLike) -> Sums | None:
        """Rows beside those of `lower` that these indicators [I], 0 … 1, break; None: there are none.

        They belong to the same sums: where those stand `together`, so do these.
        """
        return None

    def violation(self, types: Types, candidates: Candidates, values: ArrayLike) -> float:
        """How much an assignment, as indicators [I] of 0 and 1, violates the rule."""
        values = np.asarray(values)
        rows, more = self.lower(types, candidates), self.more(types, candidates, values)
        amount = rows.violation(values)
        if more is None:
            return amount
        return max(amount, more.violation(values)) if rows.together else amount + more.violation(values)


def indicators(types: Types, candidates: Candidates, kinds: ArrayLike, relations: ArrayLike) -> Ints:
    """The indicators of an assignment: the type of each entity [E], the relation of each pair [P] ─→ [I].

    >>> from conseq.entities import all_pairs
    >>> indicators(Types(("a", "b"), ("R",)), Candidates(2, all_pairs(2)), [1, 0], [0, 1]).tolist()
    [0, 1, 1, 0, 1, 0, 0, 1]
    """
    n_kinds, n_values = len(types.entities), len(types.relations) + 1
    values = np.zeros(candidates.n_entities * n_kinds + len(candidates.pairs) * n_values, dtype=np.int64)
    values[np.arange(candidates.n_entities) * n_kinds + np.asarray(kinds, dtype=np.int64)] = 1
    first = candidates.n_entities * n_kinds + np.arange(len(candidates.pairs)) * n_values
    values[first + np.asarray(relations, dtype=np.int64)] = 1
    return values


# ── what names stand for ────────────────────────────────────────────────────────────────────────


def entity_number(types: Types, name: str) -> int:
    """The number of a type of entities."""
    if name not in types.entities:
        raise unknown(name, "type of entity", types.entities, types.relations, "is a relation")
    return types.entities.index(name)


def relation_number(types: Types, name: str) -> int:
    """The number of a relation, from 1."""
    if name not in types.relations:
        raise unknown(name, "relation", types.relations, types.entities, "is a type of entity")
    return types.relations.index(name) + 1


def unknown(
    name: str, called: str, known: Sequence[str], others: Sequence[str] = (), other: str = ""
) -> RuleError:
    """The error for a name that none of the known has; the others are what it might be instead."""
    close = get_close_matches(name, known, n=1)
    hint = f"there are {', '.join(known[:8]) or 'none'}{' …' if len(known) > 8 else ''}"
    hint = f"did you mean {close[0]!r}?" if close else hint
    if name in others:
        return RuleError(f"{name!r} {other}, no {called}; {hint}")
    return RuleError(f"no {called} is called {name!r}; {hint}")


def entity_indicators(types: Types, candidates: Candidates, name: str) -> Ints:
    """The indicators that each entity has a type, [E]."""
    return np.arange(candidates.n_entities) * len(types.entities) + entity_number(types, name)


def pair_indicators(types: Types, candidates: Candidates, number: int) -> Ints:
    """The indicators that each pair has the relation with this number, 0 for none, [P]."""
    first = candidates.n_entities * len(types.entities)
    return first + np.arange(len(candidates.pairs)) * (len(types.relations) + 1) + number


def indicators_named(types: Types, candidates: Candidates, name: str) -> Ints:
    """The indicators of what a name counts, entities of a type or pairs in a relation."""
    if name in types.entities:
        return entity_indicators(types, candidates, name)
    if name in types.relations:
        return pair_indicators(types, candidates, relation_number(types, name))
    raise unknown(name, "type or relation", [*types.entities, *types.relations])


def places(candidates: Candidates) -> Ints:
    """The number of each pair by its head and tail, −1 where there is no such pair, [E,E]."""
    number = np.full((candidates.n_entities, candidates.n_entities), -1, dtype=np.int64)
    pairs = candidates.pairs.reshape(-1, 2)
    number[pairs[:, 0], pairs[:, 1]] = np.arange(len(pairs))
    return number


def spans_of(candidates: Candidates) -> Ints:
    """Where the mentions stand, [E,2]."""
    if candidates.spans is None:
        raise RuleError(
            "a rule looks at where mentions stand, and no spans are given; give them along with the scores"
        )
    return candidates.spans.reshape(-1, 2)


# ── rows ────────────────────────────────────────────────────────────────────────────────────────


def alike(indicator: ArrayLike, weight: ArrayLike, bound: float, *, together: bool = False) -> Sums:
    """Rows of one length: indicators [K,m] with the same weights [m] and bound.

    >>> alike([[0, 1], [2, 3]], [1, -1], 0).row.tolist()
    [0, 0, 1, 1]
    """
    weights = np.asarray(weight, dtype=np.float64)
    numbers = np.asarray(indicator, dtype=np.int64).reshape(-1, len(weights)) if len(weights) else None
    n = 0 if numbers is None else len(numbers)
    flat = np.empty(0, dtype=np.int64) if numbers is None else numbers.reshape(-1)
    row = np.repeat(np.arange(n), len(weights))
    return Sums(row, flat, np.tile(weights, n), np.full(n, float(bound)), together)


def one(terms: Iterable[tuple[float, Ints]], bound: float) -> Sums:
    """A single row: weights, each of some indicators."""
    pairs = [(weight, np.asarray(numbers, dtype=np.int64)) for weight, numbers in terms]
    indicator = np.concatenate([numbers for _, numbers in pairs]) if pairs else np.empty(0, dtype=np.int64)
    weights = [np.full(len(numbers), float(weight)) for weight, numbers in pairs]
    weight = np.concatenate(weights) if pairs else np.empty(0)
    return Sums(np.zeros(len(indicator), dtype=np.int64), indicator, weight, np.array([float(bound)]))


def grouped(group: Ints, n_groups: int, indicator: Ints, weight: float, bound: float) -> Sums:
    """A row for each group of indicators, all with the same weight and bound; groups may be empty."""
    order = np.argsort(group, kind="stable")
    weights = np.full(len(order), float(weight))
    return Sums(group[order], indicator[order], weights, np.full(n_groups, float(bound)))


def joined(parts: Sequence[Sums], *, together: bool = False) -> Sums:
    """The rows of all parts, one after the other."""
    if not parts:
        return alike(np.empty((0, 0)), [], 0.0, together=together)
    first = np.cumsum([0, *(len(part.bound) for part in parts[:-1])])
    row = np.concatenate([part.row + start for part, start in zip(parts, first.tolist(), strict=True)])
    indicator, weight, bound = (np.concatenate([part[i] for part in parts]) for i in (1, 2, 3))
    return Sums(row, indicator, weight, bound, together)
