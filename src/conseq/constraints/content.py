"""The rule that segments contain a certain token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from conseq.constraints import writing
from conseq.constraints.base import Constraint
from conseq.constraints.lowering import machine
from conseq.constraints.names import known_types
from conseq.constraints.primitives import Automaton, Primitive
from conseq.constraints.tokens import TokenTest
from conseq.corpus import Corpus
from conseq.schema import Schema


@dataclass(frozen=True)
class Contains(Constraint):
    """Charges each segment of a name in which no token passes a test.

    >>> from conseq.constraints.tokens import Pattern
    >>> rule = Contains("year", Pattern(r"\\d{4}"))
    >>> print(rule)
    each year contains /\\d{4}/  hard
    >>> rule.violation(["year", "O", "year"], Schema(["O", "year"], "plain"), ["in", "the", "(1998)"])
    1.0
    """

    name: str
    test: TokenTest

    def lower(self, schema: Schema, corpus: Corpus | None = None) -> Sequence[Primitive]:
        return [_automaton(schema, type, self.test) for type in known_types(schema, self.name)]

    def line(self) -> str:
        return f"each {writing.name(self.name)} contains {writing.test(self.test)}"

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)


SETTLED, WANTING = range(2)
"""Segments of one type never overlap, so two states are enough: in one where nothing passed yet, or not."""

OTHER, PASSES, CLOSES, OPENS, END = range(5)


def _automaton(schema: Schema, type: str, test: TokenTest) -> Automaton:
    moves = {
        (SETTLED, OPENS): (WANTING, 0.0),
        (WANTING, PASSES): (SETTLED, 0.0),
        (WANTING, CLOSES): (SETTLED, 1.0),
        (WANTING, OPENS): (WANTING, 1.0),
        (WANTING, END): (SETTLED, 1.0),
    }
    return machine(_steps(schema, type), (2, 5), moves, (test,))


@lru_cache(maxsize=1024)
def _steps(schema: Schema, type: str) -> NDArray[np.int64]:
    """The symbols where the token fails the test and where it passes, [2,Y+1,Y+1]."""
    inside = np.append(schema.inside(type), False)
    begins, ends = schema.begins(type), schema.ends(type)
    failing = np.where(begins, OPENS, np.where(ends, CLOSES, OTHER))
    passing = np.where(ends, CLOSES, np.where(inside, PASSES, OTHER))
    steps = np.stack([failing, passing])
    steps[:, :, -1] = END
    return steps
