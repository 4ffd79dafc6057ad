"""Rules about what appears together in a sequence. A name appears if a token is in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from conseq.constraints import writing
from conseq.constraints.base import Constraint
from conseq.constraints.lowering import by_entered, check_different, machine, reading
from conseq.constraints.names import inside
from conseq.constraints.primitives import Primitive
from conseq.corpus import Corpus
from conseq.schema import Schema

FIRST, SECOND, BOTH, END = 1, 2, 3, 4
"""The symbols of `reading` for two names."""


@dataclass(frozen=True)
class IfThen(Constraint, form="if {name:name} then {then:name}"):
    """Charged once if one name appears and another does not.

    >>> IfThen("a", "b").violation(["a", "a"], Schema(["a", "b"], "plain"))
    1.0
    """

    name: str
    then: str

    def __post_init__(self) -> None:
        super().__post_init__()
        check_different(self.name, self.then)

    def lower(self, schema: Schema, corpus: Corpus | None = None) -> Sequence[Primitive]:
        nothing, wanting, settled = range(3)
        moves = {
            (nothing, FIRST): (wanting, 0.0),
            (nothing, SECOND): (settled, 0.0),
            (nothing, BOTH): (settled, 0.0),
            (wanting, SECOND): (settled, 0.0),
            (wanting, BOTH): (settled, 0.0),
            (wanting, END): (wanting, 1.0),
        }
        return [machine(reading(schema, self.name, self.then), (3, 5), moves)]


@dataclass(frozen=True)
class NotBoth(Constraint, form="not both {first:name} and {second:name}"):
    """Charged once if two names both appear.

    >>> NotBoth("a", "b").violation(["a", "b", "a"], Schema(["a", "b"], "plain"))
    1.0
    """

    first: str
    second: str

    def __post_init__(self) -> None:
        super().__post_init__()
        check_different(self.first, self.second)

    def lower(self, schema: Schema, corpus: Corpus | None = None) -> Sequence[Primitive]:
        nothing, one, other, both = range(4)
        moves = {
            (nothing, FIRST): (one, 0.0),
            (nothing, SECOND): (other, 0.0),
            (nothing, BOTH): (both, 1.0),
            (one, SECOND): (both, 1.0),
            (one, BOTH): (both, 1.0),
            (other, FIRST): (both, 1.0),
            (other, BOTH): (both, 1.0),
        }
        return [machine(reading(schema, self.first, self.second), (4, 5), moves)]


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
        several = len(self.choices) + 1  # states and symbols alike: 0 none of them, 1 + i choice i, several
        end = several + 1
        found = np.stack([inside(schema, name) for name in self.choices])
        symbols = np.where(found.sum(axis=0) > 1, several, found.argmax(axis=0) + found.any(axis=0))
        symbols[-1] = end
        moves = {(state, seen): (several, 1.0) for state in range(several) for seen in range(1, end)}
        moves |= {(0, one): (one, 0.0) for one in range(1, several)}
        moves |= {(one, one): (one, 0.0) for one in range(1, several)}
        moves[0, end] = (0, 1.0)
        return [machine(by_entered(symbols), (several + 1, end + 1), moves)]

    def line(self) -> str:
        return f"exactly one of {writing.names(self.choices, ', ')}"
