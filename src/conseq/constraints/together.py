"""Rules about what appears together in a sequence. A name appears if a token is in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from conseq.constraints import writing
from conseq.constraints.base import Constraint
from conseq.constraints.names import by_entered, inside, reading
from conseq.constraints.primitives import Automaton, Primitive
from conseq.corpus import Corpus
from conseq.schema import Schema


@dataclass(frozen=True)
class IfThen(Constraint, form="if {name:name} then {then:name}", different=True):
    """Charged once if one name appears and another does not.

    >>> IfThen("a", "b").violation(["a", "a"], Schema(["a", "b"], "plain"))
    1.0
    """

    name: str
    then: str

    def lower(self, schema: Schema, corpus: Corpus | None = None) -> Sequence[Primitive]:
        # states: 0 neither appeared, 1 the first alone, 2 the second; columns: the symbols of `reading`
        arcs = np.array([[0, 1, 2, 2, 0], [1, 1, 2, 2, 1], [2, 2, 2, 2, 2]])
        cost = np.zeros(arcs.shape)
        cost[1, -1] = 1.0
        return [Automaton(reading(schema, self.name, self.then), arcs, cost)]


@dataclass(frozen=True)
class NotBoth(Constraint, form="not both {first:name} and {second:name}", different=True):
    """Charged once if two names both appear.

    >>> NotBoth("a", "b").violation(["a", "b", "a"], Schema(["a", "b"], "plain"))
    1.0
    """

    first: str
    second: str

    def lower(self, schema: Schema, corpus: Corpus | None = None) -> Sequence[Primitive]:
        return [_at_most_one(schema, (self.first, self.second))]


@dataclass(frozen=True)
class ExactlyOneOf(Constraint, form="exactly one of {choices:names}"):
    """Charged once unless exactly one of some names appears.

    >>> rule = ExactlyOneOf(("a", "b"))
    >>> schema = Schema(["O", "a", "b"], "plain")
    >>> [rule.violation(labels, schema) for labels in (["O"], ["a", "a"], ["a", "b"])]
    [1.0, 0.0, 1.0]
    """

    choices: tuple[str, ...]

    def lower(self, schema: Schema, corpus: Corpus | None = None) -> Sequence[Primitive]:
        return [_at_most_one(schema, self.choices, none=1.0)]

    def line(self) -> str:
        return f"exactly one of {writing.names(self.choices, ', ')}"


def _at_most_one(schema: Schema, names: Sequence[str], none: float = 0.0) -> Automaton:
    """Charges 1 once several of the names have appeared, and what is said if `none` has at the end.

    States and symbols alike: 0 none of them, 1 + i name i alone, then several; the last symbol is END.
    """
    several = len(names) + 1
    found = np.stack([inside(schema, name) for name in names])
    symbols = np.where(found.sum(axis=0) > 1, several, found.argmax(axis=0) + found.any(axis=0))
    symbols[-1] = several + 1
    state, seen = np.arange(several + 1)[:, None], np.arange(several + 2)
    more = (seen > 0) & (seen <= several) & (seen != state)
    arcs = np.where(more, np.where(state == 0, seen, several), state)
    cost = 1.0 * ((arcs == several) & (state < several))
    cost[0, -1] = none
    return Automaton(by_entered(symbols), arcs, cost)
