"""The rule that tokens which belong together have the same label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from conseq.constraints import writing
from conseq.constraints.base import Constraint, check_choice
from conseq.constraints.primitives import Automaton, Primitive
from conseq.constraints.tokens import Places, Repeated, TokenTest
from conseq.corpus import Corpus
from conseq.errors import RuleError
from conseq.schema import Schema


@dataclass(frozen=True)
class Agree(Constraint):
    """Charges each token of a group whose label (or type) is not that of the group's token before it.

    on       "label", or "type": the innermost type of segment, so that B-x and I-x agree; outside is one, too
    among    the groups are the equal words of a sequence that pass this test (None: all words)
    places   if given, the tokens at these places are the one group

    >>> rule = Agree("type")
    >>> print(rule)
    equal tokens agree on type  hard
    >>> rule.violation(["a", "b", "b"], Schema(["a", "b"], "plain"), ["x", "y", "x"])
    1.0
    """

    varies: ClassVar[bool] = True

    on: str
    among: TokenTest | None = None
    places: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("property to agree on", self.on, ("label", "type"))
        if self.places and self.among is not None:
            raise RuleError("the rule has both places and a test of equal tokens; give one of them")
        if self.places and len(set(self.places)) < max(2, len(self.places)):
            raise RuleError(f"tokens {self._listed} cannot agree; give at least two different places")

    @property
    def _listed(self) -> str:
        return ", ".join(map(str, self.places))

    def lower(self, schema: Schema, corpus: Corpus | None) -> Sequence[Primitive]:
        values = np.arange(len(schema)) if self.on == "label" else _types(schema)
        automaton = _agreement(values)
        if self.places:
            return [automaton.at(Places(self.places))]
        count = 0 if corpus is None else Repeated.count(corpus, self.among)
        return [automaton.at(Repeated(group, self.among)) for group in range(count)]

    def line(self) -> str:
        if self.places:
            return f"tokens {self._listed} agree on {self.on}"
        among = "" if self.among is None else f" {writing.test(self.among)}"
        return f"equal tokens{among} agree on {self.on}"


def _agreement(values: NDArray) -> Automaton:
    """The automaton that remembers the value of the group's last token.

    State 0: none yet; 1 + v: value v. Symbols: 0 a token of no group, 1 + v one of the group, then END.
    """
    count = int(values.max(initial=-1)) + 1
    symbols = np.zeros((2, 1, len(values) + 1), dtype=np.int64)
    symbols[1, 0, :-1] = 1 + values
    symbols[:, 0, -1] = count + 1
    steps = np.repeat(symbols, len(values) + 1, axis=1)
    state, seen = np.arange(count + 1)[:, None], np.arange(count + 2)
    in_group = (seen > 0) & (seen <= count)
    arcs = np.where(in_group, seen, state)
    cost = (in_group & (state > 0) & (seen != state)).astype(np.float64)
    return Automaton(steps, arcs, cost)


def _types(schema: Schema) -> NDArray:
    """The innermost type of each label as a number from 0, [Y]."""
    tables = schema.tables
    labels = np.arange(len(schema))
    innermost = tables.path[np.maximum(tables.depth[:-1] - 1, 0), labels]
    return np.unique(innermost, return_inverse=True)[1]
