"""Random rules of every class of the library, for the tests of decoders and for the soak.

Draw: names, tests and numbers that fit a schema ─→ RULES[class] ─→ a rule of that class
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from conseq.constraints import (
    HARD,
    Agree,
    Around,
    BeginsWith,
    Constraint,
    Contains,
    Contiguous,
    Counts,
    EndsWith,
    ExactlyOneOf,
    FirstLast,
    FollowedBy,
    FollowedLater,
    Forbidden,
    IfThen,
    Legal,
    NotBefore,
    NotBoth,
    OnlySteps,
    Pattern,
    Places,
    Required,
    Segments,
    Share,
    Sum,
    Term,
    TokenIs,
    TokenIsNot,
    TokenTest,
    Words,
)
from conseq.schema import Schema

Rng = np.random.Generator

PENALTIES = (0.0, 1e-9, 0.5, 1.0, 1.0, 2.0, 3.7, 1e6, HARD, HARD)


class Draw:
    """Draws names, tests and numbers that fit a schema."""

    def __init__(self, rng: Rng, schema: Schema) -> None:
        self.rng = rng
        self.schema = schema
        leaves = dict.fromkeys(path.rsplit("/", 1)[-1] for path in schema.types())
        self.segments = [*leaves, *(path for path in schema.types() if path not in leaves)]
        self.names = list(dict.fromkeys([*self.segments, *schema.labels]))

    def one(self, choices: Sequence[Any]) -> Any:
        return choices[int(self.rng.integers(len(choices)))]

    def name(self) -> str:
        return self.one(self.names)

    def segment(self) -> str:
        return self.one(self.segments)

    def chance(self, share: float = 0.5) -> bool:
        return bool(self.rng.random() < share)

    def some(self, least: int = 1) -> tuple[str, ...]:
        """Some names, each once."""
        count = int(self.rng.integers(least, len(self.names) + 1))
        return tuple(self.names[i] for i in self.rng.permutation(len(self.names))[:count])

    def pair(self) -> tuple[str, str]:
        """Two names that differ; where there is one alone, a label twice is refused, so it needs two."""
        first, second = self.some(2)[:2]
        return first, second

    def before(self) -> str:
        return "START" if self.chance(0.2) else self.name()

    def after(self) -> str:
        return "END" if self.chance(0.2) else self.name()

    def test(self) -> TokenTest:
        return self.one((Words(frozenset({",", "x"})), Pattern(r"\d"), Places((0,)), Places((1, -1))))

    def term(self) -> Term:
        weight = self.one((1, 1, 1, 2, -1, -3))
        test = self.test() if self.chance(0.2) else None
        if self.chance():
            return Term(weight, self.segment(), "count", test)
        return Term(weight, self.name(), "tokens", test)

    def sum(self, least: int = 0) -> Sum:
        count = int(self.rng.integers(least, 3))
        return Sum(tuple(self.term() for _ in range(count)), int(self.rng.integers(-2, 4)))

    def steps(self) -> tuple[tuple[str, str], ...]:
        """Most of all steps between labels, START and END."""
        ends = [(a, b) for a in ("START", *self.schema.labels) for b in (*self.schema.labels, "END")]
        kept = [step for step in ends if self.chance(0.8)]
        return tuple(kept) or (("START", "END"),)

    def places(self) -> tuple[int, ...]:
        return tuple(int(p) for p in self.rng.permutation([0, 1, 2, -1, -2])[: self.rng.integers(2, 4)])

    def agree(self, penalty: float) -> Agree:
        on = self.one(("label", "type"))
        if self.chance(0.4):
            return Agree(on, places=self.places(), penalty=penalty)
        return Agree(on, self.test() if self.chance(0.3) else None, penalty=penalty)


RULES: dict[type[Constraint], Callable[[Draw, float], Constraint]] = {
    Legal: lambda d, p: Legal(str(d.schema.scheme), penalty=p),
    Forbidden: lambda d, p: Forbidden(d.before(), d.after(), penalty=p),
    Required: lambda d, p: Required(d.before(), d.after(), penalty=p),
    OnlySteps: lambda d, p: OnlySteps(d.steps(), penalty=p),
    TokenIs: lambda d, p: TokenIs(d.test(), d.some(), penalty=p),
    TokenIsNot: lambda d, p: TokenIsNot(d.test(), d.some()[:2], penalty=p),
    Segments: lambda d, p: Segments(
        d.one(("at most", "at least", "exactly")), int(d.rng.integers(0, 3)), d.segment(), penalty=p
    ),
    Counts: lambda d, p: Counts(d.sum(1), d.one(("<=", ">=", "==")), d.sum(), penalty=p),
    Share: lambda d, p: Share(d.one(("at most", "at least")), d.one((0, 29, 40.5, 100)), d.name(), penalty=p),
    Contiguous: lambda d, p: Contiguous(d.name(), penalty=p),
    FollowedBy: lambda d, p: FollowedBy(d.segment(), d.name(), penalty=p),
    FollowedLater: lambda d, p: FollowedLater(*d.pair(), penalty=p),
    Around: lambda d, p: Around(d.test(), d.name(), d.name(), d.chance(), penalty=p),
    FirstLast: lambda d, p: FirstLast(d.name(), d.name(), penalty=p),
    NotBefore: lambda d, p: NotBefore(d.name(), d.name(), d.chance(), penalty=p),
    IfThen: lambda d, p: IfThen(*d.pair(), penalty=p),
    NotBoth: lambda d, p: NotBoth(*d.pair(), penalty=p),
    ExactlyOneOf: lambda d, p: ExactlyOneOf(d.some()[:3], penalty=p),
    Agree: lambda d, p: d.agree(p),
    Contains: lambda d, p: Contains(d.segment(), d.test(), penalty=p),
    BeginsWith: lambda d, p: BeginsWith(d.segment(), d.test(), penalty=p),
    EndsWith: lambda d, p: EndsWith(d.segment(), d.test(), penalty=p),
}
"""How a rule of each class is drawn, given its penalty."""

NEEDS_TWO = (FollowedLater, IfThen, NotBoth)
"""Rules that relate two different names."""


def random_rules(
    rng: Rng, schema: Schema, count: int, penalties: Sequence[float] = PENALTIES
) -> list[Constraint]:
    """As many rules as asked for, now and then one of them twice."""
    draw = Draw(rng, schema)
    classes = [rule for rule in RULES if len(draw.names) > 1 or rule not in NEEDS_TWO]
    rules = [RULES[draw.one(classes)](draw, float(draw.one(penalties))) for _ in range(count)]
    if rules and draw.chance(0.1):
        rules.append(draw.one(rules))
    return rules
