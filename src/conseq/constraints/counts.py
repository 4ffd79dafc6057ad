"""Rules about how many segments or tokens of a kind a sequence has. All of them are sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from conseq.constraints import writing
from conseq.constraints.base import Constraint, check_choice
from conseq.constraints.names import inside, segments, tokens
from conseq.constraints.primitives import Counter, Linear, Primitive
from conseq.constraints.tokens import TokenTest
from conseq.corpus import Corpus
from conseq.errors import RuleError
from conseq.schema import Schema

LARGEST = 10**12
"""The largest whole number in a rule, so that sums over long sequences stay exact."""
AT_MOST, AT_LEAST, EXACTLY = "at most", "at least", "exactly"
SIGNS = {"<=": (1,), ">=": (-1,), "==": (1, -1), AT_MOST: (1,), AT_LEAST: (-1,), EXACTLY: (1, -1)}
"""A relation as sums that must not be above 0: left − right (1), right − left (−1), or both."""


def check_size(called: str, number: int) -> None:
    """Raise if a number is too large for sums over long sequences to stay exact."""
    if abs(number) > LARGEST:
        given = number if abs(number) < LARGEST**2 else "too large"
        raise RuleError(f"the {called} is {given}; give whole numbers of at most {LARGEST}")


@dataclass(frozen=True)
class Segments(Constraint, form="{relation:phrase} {bound:integer} segment|segments of {name:segment}"):
    """Charges the segments of a name that are beyond a number, or short of it.

    >>> rule = Segments("at most", 1, "a")
    >>> print(rule)
    at most 1 segment of a  hard
    >>> rule.violation(["a", "b", "a", "b", "a"], Schema(["a", "b"], "plain"))
    2.0
    """

    relation: str
    bound: int
    name: str

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("relation", self.relation, (AT_MOST, AT_LEAST, EXACTLY))
        if self.bound < 0:
            raise RuleError(f"the number of segments is {self.bound}; give one of at least 0")
        check_size("number of segments", self.bound)

    def lower(self, schema: Schema, corpus: Corpus | None = None) -> Sequence[Primitive]:
        counter = segments(schema, self.name)
        return [Linear(((sign, counter),), sign * self.bound) for sign in SIGNS[self.relation]]

    def line(self) -> str:
        unit = "segment" if self.bound == 1 else "segments"
        return f"{self.relation} {self.bound} {unit} of {writing.name(self.name)}"


@dataclass(frozen=True)
class Term:
    """weight · the segments (unit `count`) or tokens (unit `tokens`) of a name.

    With a test only segments whose first token passes it are counted, or tokens that pass it.

    >>> print(Term(-2, "a"))
    -2 count(a)
    """

    weight: int
    name: str
    unit: str = "count"
    test: TokenTest | None = None

    def __post_init__(self) -> None:
        check_choice("unit", self.unit, ("count", "tokens"))
        check_size("weight", self.weight)

    def counter(self, schema: Schema) -> Counter:
        return (segments if self.unit == "count" else tokens)(schema, self.name, self.test)

    def __str__(self) -> str:
        weight = {1: "", -1: "-"}.get(self.weight, f"{self.weight} ")
        where = "" if self.test is None else f" at {writing.test(self.test)}"
        return f"{weight}{self.unit}({writing.name(self.name)}{where})"


@dataclass(frozen=True)
class Sum:
    """Terms and a number.

    >>> print(Sum((Term(1, "a"), Term(-2, "b")), 1), Sum((), -3), sep="; ")
    count(a) - 2 count(b) + 1; -3
    """

    terms: tuple[Term, ...]
    constant: int = 0

    def __post_init__(self) -> None:
        check_size("constant", self.constant)

    def __str__(self) -> str:
        parts = [str(term) for term in self.terms]
        if self.constant or not parts:
            parts.append(str(self.constant))
        return parts[0] + "".join(f" - {p[1:]}" if p[0] == "-" else f" + {p}" for p in parts[1:])


@dataclass(frozen=True)
class Counts(Constraint):
    """Charges how far one sum of counts is above (`<=`), below (`>=`) or from (`==`) another.

    >>> rule = Counts(Sum((Term(1, "a"),)), "<=", Sum((Term(1, "b"),)))
    >>> print(rule)
    count(a) <= count(b)  hard
    >>> rule.violation(["a", "b", "a"], Schema(["a", "b"], "plain"))
    1.0
    """

    left: Sum
    relation: str
    right: Sum

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("relation", self.relation, ("<=", ">=", "=="))
        if not self.left.terms and not self.right.terms:
            raise RuleError("the rule compares two numbers; count a label on one side at least")

    def lower(self, schema: Schema, corpus: Corpus | None = None) -> Sequence[Primitive]:
        left = [(term.weight, term.counter(schema)) for term in self.left.terms]
        right = [(-term.weight, term.counter(schema)) for term in self.right.terms]
        bound = self.right.constant - self.left.constant
        return [
            Linear(tuple((sign * weight, counter) for weight, counter in [*left, *right]), sign * bound)
            for sign in SIGNS[self.relation]
        ]

    def line(self) -> str:
        return f"{self.left} {self.relation} {self.right}"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(term.name for term in (*self.left.terms, *self.right.terms)))


@dataclass(frozen=True)
class Share(Constraint, form="{relation:phrase} {percent:number} % of tokens are {name:name}"):
    """Charges the tokens in a name that are beyond a share of the sequence, or short of it.

    >>> rule = Share("at most", 40, "a")
    >>> print(rule)
    at most 40 % of tokens are a  hard
    >>> round(rule.violation(["a", "a", "b"], Schema(["a", "b"], "plain")), 9)
    0.8
    """

    relation: str
    percent: float
    name: str

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("relation", self.relation, (AT_MOST, AT_LEAST))
        if not 0 <= self.percent <= 100:
            raise RuleError(f"the share is {self.percent} %; give a number from 0 to 100")

    def lower(self, schema: Schema, corpus: Corpus | None = None) -> Sequence[Primitive]:
        (sign,) = SIGNS[self.relation]
        counter = tokens(schema, self.name)
        return [Linear(((sign, counter),), 0, per_token=sign * self.percent / 100)]


@dataclass(frozen=True)
class Contiguous(Constraint, form="{name:name} is contiguous"):
    """Charges the runs of tokens in a name beyond one. Segments that touch are one run.

    >>> Contiguous("a").violation(["a", "b", "a"], Schema(["a", "b"], "plain"))
    1.0
    """

    name: str

    def lower(self, schema: Schema, corpus: Corpus | None = None) -> Sequence[Primitive]:
        here = inside(schema, self.name)
        runs = Counter(np.outer(~here, here).astype(np.int64))
        return [Linear(((1, runs),), 1)]
