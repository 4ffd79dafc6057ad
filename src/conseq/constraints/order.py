"""Rules about the order of things: what follows, what stands around a token, what comes first and last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from conseq.constraints import writing
from conseq.constraints.base import Constraint
from conseq.constraints.names import each, ends, inside, reading
from conseq.constraints.primitives import Automaton, Counter, Linear, Primitive
from conseq.constraints.tokens import TokenTest
from conseq.corpus import Corpus
from conseq.schema import Schema


@dataclass(frozen=True)
class FollowedBy(Constraint, form="{name:segment} followed by {after:name}"):
    """Charges each segment that does not end the sequence and that no token of another name follows at once.

    >>> rule = FollowedBy("a", "b")
    >>> print(rule)
    a followed by b  hard
    >>> rule.violation(["a", "b", "a", "O", "a"], Schema(["O", "a", "b"], "plain"))
    1.0
    """

    name: str
    after: str

    def lower(self, schema: Schema, corpus: Corpus | None = None) -> Sequence[Primitive]:
        elsewhere = ~inside(schema, self.after)
        elsewhere[-1] = False
        return each(ends(schema, self.name) * elsewhere)


@dataclass(frozen=True)
class FollowedLater(Constraint, form="{name:name} followed later by {later:name}", different=True):
    """Charges each token in a name with no token of another at or after it.

    Precedence in Fersini et al. 2014. The automaton counts the tokens that still wait, so it has one state
    more than the longest sequence has tokens.

    >>> rule = FollowedLater("a", "b")
    >>> rule.violation(["a", "b", "a", "O", "a"], Schema(["O", "a", "b"], "plain"))
    2.0
    """

    varies: ClassVar[bool] = True

    name: str
    later: str

    def lower(self, schema: Schema, corpus: Corpus | None) -> Sequence[Primitive]:
        longest = 0 if corpus is None else int(np.diff(corpus.offsets).max(initial=0))
        waiting = np.arange(longest + 1)
        one_more, none = np.minimum(waiting + 1, longest), np.zeros_like(waiting)
        arcs = np.stack([waiting, one_more, none, none, waiting], axis=1)
        cost = np.zeros(arcs.shape)
        cost[:, -1] = waiting
        return [Automaton(reading(schema, self.name, self.later), arcs, cost)]


@dataclass(frozen=True)
class Around(Constraint, form="around {test:test} : {left:name} -> {right:name}"):
    """Charges each token that passes a test, has two neighbours, and is not between one name and another.

    With `implies` it is charged only if its left neighbour is in the first name and its right one is not in
    the second.

    >>> from conseq.constraints.tokens import Words
    >>> rule = Around(Words(frozenset({","})), "city", "state", True)
    >>> print(rule)
    around ",": if city then state  hard
    >>> rule.violation(["city", "O", "city"], Schema(["O", "city", "state"], "plain"), ["Bonn", ",", "NRW"])
    1.0
    """

    test: TokenTest
    left: str
    right: str
    implies: bool = False

    def lower(self, schema: Schema, corpus: Corpus | None = None) -> Sequence[Primitive]:
        states = 2 if self.implies else 3
        state, seen = np.arange(states)[:, None], np.arange(2 * states + 1)
        at_end = seen == 2 * states
        arcs = np.where(at_end, state, seen % states)
        cost = 1.0 * (~at_end & ((state == 2) | ((state == 1) & (seen < states))))
        return [Automaton(self._steps(schema, states), arcs, cost, tests=(self.test,))]

    def _steps(self, schema: Schema, states: int) -> NDArray[np.int64]:
        """A symbol is the state that follows, plus `states` if the token is in `right`; the last one is END.

        State 0: the token just read does not pass or has no left neighbour; 1: its left neighbour is in
        `left`; 2: it is not, which an implication need not know.
        """
        before = np.where(inside(schema, self.left), 1, 0 if self.implies else 2)
        before[-1] = 0
        right = inside(schema, self.right)[None, :] * states
        steps = np.stack([0 * before[:, None] + right, before[:, None] + right])
        steps[:, :, -1] = 2 * states
        return steps

    def line(self) -> str:
        left, right = writing.name(self.left), writing.name(self.right)
        sides = f"if {left} then {right}" if self.implies else f"{left} -> {right}"
        return f"around {writing.test(self.test)}: {sides}"


@dataclass(frozen=True)
class FirstLast(Constraint, form="first {first:name} -> last {last:name}"):
    """Charged once if the first token is in one name and the last is not in another.

    >>> FirstLast("a", "b").violation(["a", "b", "a"], Schema(["a", "b"], "plain"))
    1.0
    """

    first: str
    last: str

    def lower(self, schema: Schema, corpus: Corpus | None = None) -> Sequence[Primitive]:
        steps = np.zeros((len(schema) + 1, len(schema) + 1), dtype=np.int64)
        steps[-1] = inside(schema, self.first)
        steps[:-1, -1] = ~inside(schema, self.last)[:-1]
        return [Linear(((1, Counter(steps)),), 1)]  # the beginning and the end together are one too many


@dataclass(frozen=True)
class NotBefore(Constraint, form="no {before:name} before {after:name}"):
    """Charged once if a token of one name stands before a token of another, or for each of the latter.

    `each` is presence and precedence in Fersini et al. 2014.

    >>> schema = Schema(["a", "b"], "plain")
    >>> NotBefore("a", "b").violation(["b", "a", "b", "b"], schema)
    1.0
    >>> NotBefore("a", "b", each=True).violation(["b", "a", "b", "b"], schema)
    2.0
    """

    before: str
    after: str
    each: bool = False

    def lower(self, schema: Schema, corpus: Corpus | None = None) -> Sequence[Primitive]:
        done = 1 if self.each else 2  # state 1: `before` was seen; 2: and `after` after it
        arcs = np.array([[0, 1, 0, 1, 0], [1, 1, done, done, 1], [2, 2, 2, 2, 2]])[: done + 1]
        cost = np.zeros(arcs.shape)
        cost[1, 2:4] = 1.0
        return [Automaton(reading(schema, self.before, self.after), arcs, cost)]

    def line(self) -> str:
        which = "each " if self.each else ""
        return f"no {writing.name(self.before)} before {which}{writing.name(self.after)}"
