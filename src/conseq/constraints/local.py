"""Rules that look at one step or one token at a time: what may follow what, and what a token may be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from conseq.constraints.base import HARD, Constraint, check_choice
from conseq.constraints.names import each, entering, inside, unknown
from conseq.constraints.primitives import Primitive
from conseq.constraints.tokens import TokenTest
from conseq.constraints.writing import END, START
from conseq.corpus import Corpus
from conseq.dtypes import Bools
from conseq.errors import RuleError
from conseq.schema import Schema, Scheme


@dataclass(frozen=True)
class Legal(Constraint, form="legal {scheme:scheme}"):
    """Charges each step that the scheme of the labels does not allow.

    `legal iob1` also fits labels in bio, for that is what IOB1 data is turned into.

    >>> Legal("bio").violation(["O", "I-x", "B-x"], Schema(["O", "B-x", "I-x"], "bio"))
    1.0
    """

    scheme: str

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("scheme", self.scheme, [str(scheme) for scheme in Scheme])

    def lower(self, schema: Schema, corpus: Corpus | None = None) -> Sequence[Primitive]:
        turned = self.scheme == Scheme.IOB1 and schema.scheme is Scheme.BIO
        if self.scheme != schema.scheme and not turned:
            raise RuleError(
                f"the rule is for the scheme {self.scheme} and the labels are in {schema.scheme}; "
                f"write 'legal {schema.scheme}'"
            )
        return each(~schema.tables.legal)


@dataclass(frozen=True)
class Step(Constraint):
    """A rule about the steps from one name, or START, to another, or END."""

    before: str
    after: str

    def __post_init__(self) -> None:
        super().__post_init__()
        check_step(self.before, self.after)


@dataclass(frozen=True)
class Forbidden(Step, form="forbid {before:step_end} -> {after:step_end}"):
    """Charges each step from one name to another.

    >>> Forbidden("a", "b").violation(["a", "b", "a"], Schema(["a", "b"], "plain"))
    1.0
    """

    def lower(self, schema: Schema, corpus: Corpus | None = None) -> Sequence[Primitive]:
        return each(np.outer(_place(schema, self.before), _place(schema, self.after)))


@dataclass(frozen=True)
class Required(Step, form="require {before:step_end} -> {after:step_end}"):
    """Charges each step out of a name that does not lead into another; a sequence may end anywhere.

    >>> Required("a", "b").violation(["a", "b", "a", "a"], Schema(["a", "b"], "plain"))
    1.0
    """

    def lower(self, schema: Schema, corpus: Corpus | None = None) -> Sequence[Primitive]:
        elsewhere = ~_place(schema, self.after)
        elsewhere[-1] = False
        return each(np.outer(_place(schema, self.before), elsewhere))


@dataclass(frozen=True)
class OnlySteps(Constraint, form="only steps {steps:steps}"):
    """Charges each step that is not listed. The steps are pairs of labels, START or END.

    >>> rule = OnlySteps((("START", "a"), ("a", "END")))
    >>> rule.violation(["a", "a"], Schema(["a", "b"], "plain"))
    1.0
    """

    steps: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.steps:
            raise RuleError("the rule lists no step; list at least one")
        for before, after in self.steps:
            check_step(before, after)

    def lower(self, schema: Schema, corpus: Corpus | None = None) -> Sequence[Primitive]:
        wrong = np.ones((len(schema) + 1, len(schema) + 1), dtype=bool)
        for before, after in self.steps:
            wrong[_label(schema, before), _label(schema, after)] = False
        return each(wrong)

    @property
    def names(self) -> tuple[str, ...]:
        ends = dict.fromkeys(name for step in self.steps for name in step)
        return tuple(name for name in ends if name not in (START, END))


def seen_steps(label_ids: NDArray, offsets: NDArray, schema: Schema, penalty: float = HARD) -> OnlySteps:
    """The rule that allows the steps of labelled sequences alone, and the empty sequence.

    >>> print(seen_steps(np.array([0, 0, 1]), np.array([0, 2, 3]), Schema(["a", "b"], "plain")))
    only steps a -> a, a -> END, b -> END, START -> a, START -> b, START -> END  hard

    Steps into or out of a token without a label (−1) are passed over.
    """
    end = len(schema)
    seen = np.zeros((end + 1, end + 1), dtype=bool)
    seen[end, end] = True
    path = np.insert(label_ids, offsets, end)
    known = (path[:-1] >= 0) & (path[1:] >= 0)
    seen[path[:-1][known], path[1:][known]] = True
    froms, tos = [*schema.labels, START], [*schema.labels, END]
    steps = tuple((froms[i], tos[j]) for i, j in np.argwhere(seen).tolist())
    return OnlySteps(steps, penalty=penalty)


@dataclass(frozen=True)
class TokenIs(Constraint, form="token {test:test} is {allowed:names}"):
    """Charges each token that passes a test and is in none of the names.

    >>> from conseq.constraints.tokens import Words
    >>> rule = TokenIs(Words(frozenset({"Mr."})), ("person",))
    >>> print(rule)
    token "Mr." is person  hard
    >>> rule.violation(["O", "person"], Schema(["O", "person"], "plain"), ["Mr.", "X"])
    1.0
    """

    test: TokenTest
    allowed: tuple[str, ...]

    def lower(self, schema: Schema, corpus: Corpus | None = None) -> Sequence[Primitive]:
        wrong = ~inside(schema, *self.allowed)
        wrong[-1] = False
        return each(entering(wrong), self.test)


@dataclass(frozen=True)
class TokenIsNot(Constraint, form="token {test:test} is not {forbidden:names}"):
    """Charges each token that passes a test and is in one of the names.

    >>> from conseq.constraints.tokens import Pattern
    >>> print(TokenIsNot(Pattern(r"^\\d+$"), ("author", "title"), penalty=2))
    token /^\\d+$/ is not author or title  penalty 2
    """

    test: TokenTest
    forbidden: tuple[str, ...]

    def lower(self, schema: Schema, corpus: Corpus | None = None) -> Sequence[Primitive]:
        return each(entering(inside(schema, *self.forbidden)), self.test)


def check_step(before: str, after: str) -> None:
    """Raise if something should stand before START or after END."""
    if before == END or after == START:
        raise RuleError(
            f"there is no step {before} -> {after}; START stands left of the arrow and END right of it"
        )


def _place(schema: Schema, name: str) -> Bools:
    """The labels in a name, or START or END alone, [Y+1]."""
    if name in (START, END):
        return np.arange(len(schema) + 1) == len(schema)
    return inside(schema, name)


def _label(schema: Schema, name: str) -> int:
    """The index of a label, START or END."""
    if name in (START, END):
        return len(schema)
    label = schema.vocabulary.find(name)
    if label >= 0:
        return label
    if schema.types_named(name):
        raise RuleError(f"{name!r} is a type of segment and no label; list steps between labels")
    raise unknown(schema, name)
