"""Small tools with which the rules of the library become primitives.

    each     a table of steps that are wrong   ─→ a sum that charges each of them
    reading  which names the entered label is in ─→ the symbols of an automaton
    machine  symbols and a list of moves       ─→ an automaton

Axes: Y labels, K classes of tokens, Q states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from conseq.constraints.names import inside
from conseq.constraints.primitives import Automaton, Counter, Linear
from conseq.constraints.tokens import TokenTest
from conseq.errors import RuleError
from conseq.schema import Schema

Bools = NDArray[np.bool_]
Table = NDArray[np.int64]

Moves = Mapping[tuple[int, int], tuple[int, float]]
"""(state, symbol) ─→ (next state, charge); what is not listed stays in its state and is free."""


def each(wrong: NDArray, test: TokenTest | None = None) -> tuple[Linear]:
    """Charges 1 for each step that is wrong[Y+1,Y+1] (into a token that passes the test)."""
    return (Linear(((1, Counter(wrong.astype(np.int64, copy=False), test)),), 0),)


def any_inside(schema: Schema, names: Sequence[str]) -> Bools:
    """The labels that are in one of the names, [Y+1]."""
    return np.logical_or.reduce([inside(schema, name) for name in names])


def reading(schema: Schema, *names: str) -> Table:
    """Symbols that tell in which names a token is: Σ 2^i over the names i; 2^len(names) is END, [1,Y+1,Y+1].

    >>> reading(Schema(["O", "a", "b"], "plain"), "a", "b")[0, 0].tolist()
    [0, 1, 2, 4]
    """
    symbols = np.zeros(len(schema) + 1, dtype=np.int64)
    for i, name in enumerate(names):
        symbols += inside(schema, name).astype(np.int64) << i
    symbols[-1] = 1 << len(names)
    return by_entered(symbols)


def by_entered(symbols: Table) -> Table:
    """The table of steps whose symbol depends on the label they enter alone, [Y+1] ─→ [1,Y+1,Y+1]."""
    return np.tile(symbols, (1, len(symbols), 1))


def machine(
    steps: Table, size: tuple[int, int], moves: Moves, tests: tuple[TokenTest, ...] = ()
) -> Automaton:
    """An automaton of `size` (states, symbols) that begins in state 0."""
    states, symbols = size
    arcs = np.repeat(np.arange(states)[:, None], symbols, axis=1)
    cost = np.zeros(size)
    for (state, symbol), (after, charge) in moves.items():
        arcs[state, symbol] = after
        cost[state, symbol] = charge
    return Automaton(steps, arcs, cost, tests=tests)


def check_choice(what: str, given: str, known: Sequence[str]) -> None:
    """Raise if a field has none of the values it may have."""
    if given not in known:
        choices = ", ".join(repr(one) for one in known)
        raise RuleError(f"the {what} is {given!r}; choose one of {choices}")


def check_different(first: str, second: str) -> None:
    """Raise if a rule that relates two names has the same one twice."""
    if first == second:
        raise RuleError(f"the rule relates {first!r} to itself; give two different names")
