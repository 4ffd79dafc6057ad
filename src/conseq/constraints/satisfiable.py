"""Can rules hold together at all? A small integer program over what occurs in a sequence and how often.

    rules ─→ rows over counts and presence ─→ integer program ─→ numbers that satisfy them, or none

Of a labelling it knows only which labels occur, and how many segments there are of each type:

    o_y ∈ {0,1}   label y occurs
    p_g ∈ {0,1}   a label of the set g occurs  p_g ≤ Σ_{y∈g} o_y ≤ |g| p_g
    n_t ≥ 0       segments of type t          p_g ≤ n_t ≤ most · p_g,  g the labels inside t

Every labelling gives such numbers, so rules that no numbers satisfy contradict each other; rules about order
or tokens are left out, and what is proved without them holds with them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from conseq import constraints as library
from conseq.constraints import names
from conseq.constraints.base import Constraint
from conseq.constraints.counts import SIGNS
from conseq.errors import RuleError
from conseq.schema import Schema
from conseq.solver import Assembly, Outcome

Thing = TypeVar("Thing")

MOST = 1_000_000
"""Counts beyond this are not told apart from a presence of 0 by a solver that works in floating point."""


@dataclass(frozen=True)
class Space:
    """What names stand for: sets of labels, and types of segments (given by the labels inside them)."""

    n_labels: int
    types: tuple[frozenset[int], ...]
    types_of: Mapping[str, tuple[int, ...]]
    labels_of: Mapping[str, frozenset[int]]

    @classmethod
    def of_schema(cls, schema: Schema, mentioned: Iterable[str]) -> Space:
        """The space of a schema, for names that it has."""
        mentioned = list(mentioned)
        types = tuple(frozenset(np.flatnonzero(schema.inside(type)).tolist()) for type in schema.types())
        types_of = {name: _types_of(schema, name) for name in mentioned}
        inside = {name: np.flatnonzero(names.inside(schema, name)).tolist() for name in mentioned}
        return cls(len(schema), types, types_of, {name: frozenset(labels) for name, labels in inside.items()})

    @classmethod
    def of_names(cls, mentioned: Iterable[str]) -> Space:
        """Where no labels are known: each name is a type of its own, and there is one label more."""
        numbers = {name: i for i, name in enumerate(dict.fromkeys(mentioned))}
        own = {name: frozenset({i}) for name, i in numbers.items()}
        return cls(len(numbers) + 1, tuple(own.values()), {name: (i,) for name, i in numbers.items()}, own)


@dataclass(frozen=True)
class Row:
    """low ≤ Σ weight · n_t + Σ weight · p_g ≤ high."""

    counts: Mapping[int, int] = field(default_factory=dict)
    presence: Mapping[frozenset[int], int] = field(default_factory=dict)
    low: float = -math.inf
    high: float = math.inf

    def negations(self) -> list[Row]:
        """The rows of which one holds if this one does not; all numbers are whole."""
        below = [Row(self.counts, self.presence, high=self.low - 1)] if self.low > -math.inf else []
        above = [Row(self.counts, self.presence, low=self.high + 1)] if self.high < math.inf else []
        return below + above

    def holds(self, occur: Set[int], counts: Sequence[int]) -> bool:
        """Whether it does where these labels occur, with counts[type] segments of each type."""
        total = sum(weight * counts[type] for type, weight in self.counts.items())
        total += sum(weight * bool(occur & labels) for labels, weight in self.presence.items())
        return self.low <= total <= self.high

    @property
    def size(self) -> float:
        """At least the norm of its weights of counts and its bound."""
        bounds = [abs(bound) for bound in (self.low, self.high) if math.isfinite(bound)]
        return sum(map(abs, self.counts.values())) + max(bounds, default=0.0)


def row_of(rule: Constraint, space: Space) -> Row | None:
    """What a rule says of counts and presence; None if that is not all it says."""
    match rule:
        case library.Segments(relation, bound, name):
            return Row(_total(space, [(1, name)]), {}, *_range(relation, bound))
        case library.Counts(left, relation, right):
            terms = [*((1, term) for term in left.terms), *((-1, term) for term in right.terms)]
            if any(term.unit != "count" or term.test is not None for _, term in terms):
                return None
            weights = _total(space, [(sign * term.weight, term.name) for sign, term in terms])
            return Row(weights, {}, *_range(relation, right.constant - left.constant))
        case library.IfThen(name, then):
            return Row({}, _presence(space, [(1, name), (-1, then)]), high=0)
        case library.NotBoth(first, second):
            return Row({}, _presence(space, [(1, first), (1, second)]), high=1)
        case library.ExactlyOneOf(choices):
            return Row({}, _presence(space, [(1, name) for name in choices]), 1, 1)
    return None


def not_empty(space: Space) -> Row:
    """Some label occurs."""
    return Row({}, {frozenset(range(space.n_labels)): 1}, low=1)


@dataclass(frozen=True, eq=False)
class Together:
    """Decides which rows can hold together in a sequence that is not empty, if no count is above `most`."""

    space: Space
    rows: Mapping[int, Row]
    most: float

    def holding(self, items: Set[int]) -> set[int] | None:
        """Rows that hold together and include the given ones; None if these cannot hold together."""
        chosen = [not_empty(self.space), *(self.rows[i] for i in items)]
        found = numbers(self.space, chosen, self.most)
        if found is None:
            return None
        return {i for i, row in self.rows.items() if row.holds(*found)} | items

    quickly = holding  # it never takes long


def impossible(space: Space, rows: Sequence[Row]) -> bool:
    """Whether it is proved that no numbers satisfy the rows, however large."""
    most = _enough(rows)
    return most <= MOST and numbers(space, rows, most) is None


def numbers(space: Space, rows: Sequence[Row], most: float) -> tuple[set[int], list[int]] | None:
    """The labels that occur and how many segments there are of each type where all rows hold and no count is
    above `most`; None if there is no such thing."""
    program, counted = _program(space, rows, most)
    found = program.solve()
    if found.outcome is Outcome.INFEASIBLE:
        return None
    assert found.values is not None, "nothing stops the solver"
    values = found.values.round().astype(np.int64)
    occur = set(np.flatnonzero(values[: space.n_labels]).tolist())
    counts = [int(bool(occur & labels)) for labels in space.types]  # one segment where no row counts them
    for type, place in counted.items():
        counts[type] = int(values[place])
    return occur, counts


def _types_of(schema: Schema, name: str) -> tuple[int, ...]:
    """The types that a name stands for, none if it is a label outside."""
    try:
        return tuple(map(schema.type_id, names.known_types(schema, name)))
    except RuleError:
        return ()


def _range(relation: str, bound: int) -> tuple[float, float]:
    signs = SIGNS[relation]
    return (bound if -1 in signs else -math.inf, bound if 1 in signs else math.inf)


def _total(space: Space, terms: Iterable[tuple[int, str]]) -> dict[int, int]:
    return _summed((type, weight) for weight, name in terms for type in space.types_of[name])


def _presence(space: Space, terms: Iterable[tuple[int, str]]) -> dict[frozenset[int], int]:
    return _summed((space.labels_of[name], weight) for weight, name in terms)


def _summed(weights: Iterable[tuple[Thing, int]]) -> dict[Thing, int]:
    total: dict[Thing, int] = {}
    for thing, weight in weights:
        total[thing] = total.get(thing, 0) + weight
    return total


def _enough(rows: Iterable[Row]) -> float:
    """A count that need not be exceeded: if the rows have a solution, they have one that keeps to it.

    Once it is fixed what occurs, the counts solve A n ≤ b with whole numbers, and then some solution has
    entries of at most (n + 1) Δ, Δ the largest subdeterminant of [A b] (Schrijver 1986, theorem 17.1), which
    is at most the product of the norms of the rows (Hadamard); n_t ≥ 1 and n_t = 0 are rows, too.
    """
    counting = [row for row in rows if row.counts]
    types = {type for row in counting for type in row.counts}
    return (len(types) + 1) * 2.0 ** len(types) * math.prod(max(1.0, row.size) for row in counting)


# ── the integer program; its variables are o, then p, then n ────────────────────────────────────


def _program(space: Space, rows: Sequence[Row], most: float) -> tuple[Assembly, dict[int, int]]:
    """The program that is feasible just if numbers satisfy the rows and no count is above `most`; and where
    the count of each type that the rows speak of stands among its variables."""
    types = list(dict.fromkeys(type for row in rows for type in row.counts))
    sets = list(dict.fromkeys([*(s for row in rows for s in row.presence), *(space.types[t] for t in types)]))
    program = Assembly()
    o = program.add_columns(np.zeros(space.n_labels), integral=True).tolist()
    p = dict(zip(sets, program.add_columns(np.zeros(len(sets)), integral=True).tolist(), strict=True))
    n = dict(zip(types, program.add_columns(np.zeros(len(types)), most, integral=True).tolist(), strict=True))
    for labels, place in p.items():
        occur = {o[label]: 1.0 for label in labels}
        _add_row(program, occur | {place: -1.0}, 0.0, math.inf)
        _add_row(program, occur | {place: -float(len(labels))}, -math.inf, 0.0)
    for type, place in n.items():
        _add_row(program, {place: 1.0, p[space.types[type]]: -1.0}, 0.0, math.inf)
        _add_row(program, {place: 1.0, p[space.types[type]]: -most}, -math.inf, 0.0)
    for row in rows:
        counts = {n[type]: float(weight) for type, weight in row.counts.items()}
        present = {p[labels]: float(weight) for labels, weight in row.presence.items()}
        _add_row(program, counts | present, row.low, row.high)
    return program, n


def _add_row(program: Assembly, weights: dict[int, float], low: float, high: float) -> None:
    columns, values = np.array(list(weights), dtype=np.int64), np.array(list(weights.values()))
    program.add_rows(low, high, np.zeros(len(columns), dtype=np.int64), columns, values)
