"""Rules about the tokens in segments: what they contain, begin with and end with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from conseq.constraints.base import Constraint
from conseq.constraints.names import begins, each, ends, known_types
from conseq.constraints.primitives import Automaton, Primitive
from conseq.constraints.tokens import After, Not, TokenTest
from conseq.corpus import Corpus
from conseq.kept import kept
from conseq.schema import Schema


@dataclass(frozen=True)
class Content(Constraint):
    """A rule about the tokens of each segment of a name."""

    name: str
    test: TokenTest


@dataclass(frozen=True)
class BeginsWith(Content, form="each {name:segment} begins with {test:test}"):
    """Charges each segment of a name whose first token does not pass a test.

    >>> from conseq.constraints.tokens import Pattern
    >>> rule = BeginsWith("name", Pattern("^[A-Z]"))
    >>> print(rule)
    each name begins with /^[A-Z]/  hard
    >>> rule.violation(["name", "O", "name"], Schema(["O", "name"], "plain"), ["Ada", "and", "the"])
    1.0
    """

    def lower(self, schema: Schema, corpus: Corpus | None = None) -> Sequence[Primitive]:
        return each(begins(schema, self.name), Not(self.test))


@dataclass(frozen=True)
class EndsWith(Content, form="each {name:segment} ends with {test:test}"):
    """Charges each segment that does not end the sequence and whose last token does not pass a test.

    >>> from conseq.constraints.tokens import Pattern
    >>> rule = EndsWith("city", Pattern(",$"))
    >>> print(rule)
    each city ends with /,$/  hard
    >>> rule.violation(["city", "zip", "city"], Schema(["city", "zip"], "plain"), ["Bonn", "53111", "Bonn"])
    1.0
    """

    def lower(self, schema: Schema, corpus: Corpus | None = None) -> Sequence[Primitive]:
        return each(ends(schema, self.name), After(Not(self.test)))


@dataclass(frozen=True)
class Contains(Content, form="each {name:segment} contains {test:test}"):
    """Charges each segment of a name in which no token passes a test.

    >>> from conseq.constraints.tokens import Pattern
    >>> rule = Contains("year", Pattern(r"\\d{4}"))
    >>> print(rule)
    each year contains /\\d{4}/  hard
    >>> rule.violation(["year", "O", "year"], Schema(["O", "year"], "plain"), ["in", "the", "(1998)"])
    1.0
    """

    def lower(self, schema: Schema, corpus: Corpus | None = None) -> Sequence[Primitive]:
        return [
            Automaton(_steps(schema, type), _ARCS, _COST, tests=(self.test,))
            for type in known_types(schema, self.name)
        ]


OTHER, PASSES, CLOSES, OPENS, END = range(5)
_ARCS = np.array([[0, 0, 0, 1, 0], [1, 0, 0, 1, 0]])
_COST = np.array([[0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0, 1.0]])
"""Segments of one type never overlap, so two states are enough: 1 in one where nothing passed yet, else 0."""


@kept
def _steps(schema: Schema, type: str) -> NDArray[np.int64]:
    """The symbols where the token fails the test and where it passes, [2,Y+1,Y+1]."""
    inside = np.append(schema.inside(type), False)
    begins, ends = schema.begins(type), schema.ends(type)
    failing = np.where(begins, OPENS, np.where(ends, CLOSES, OTHER))
    passing = np.where(ends, CLOSES, np.where(inside, PASSES, OTHER))
    steps = np.stack([failing, passing])
    steps[:, :, -1] = END
    return steps
