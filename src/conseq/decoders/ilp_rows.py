"""Constraints as rows of a linear program over the edges of a trellis.

    Trellis         one flow from START to END: what enters a node leaves it (paper 000, eq. 12–16)
    Linear          Σ amount · edge − excess ≤ limit, the excess charged; `once`: largest excess · broken
    Automaton       a flow over (step, state, symbol) whose symbols are those of the edges

With the edges whole, everything else is whole by itself, but for `broken`, which must be declared so.

Axes: T tokens, E edges, Q automaton states, A symbols.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from conseq.constraints.primitives import Automaton, Linear, Primitive
from conseq.constraints.program import Charge
from conseq.decoders.trellis import Trellis
from conseq.problem import Problem
from conseq.solver import Assembly

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def add_flow(assembly: Assembly, trellis: Trellis, gain: Floats) -> Ints:
    """The edges, one unit of which flows from START to END; their columns."""
    edges = assembly.add_columns(gain, integral=True)
    first = edges[: trellis.offsets[1]]
    assembly.add_rows(1.0, 1.0, np.zeros(len(first), dtype=np.int64), first, np.ones(len(first)))
    enters = trellis.step < trellis.n_tokens
    leaves = trellis.step > 0
    entered = trellis.step[enters] * trellis.n_states + trellis.after[enters]
    left = (trellis.step[leaves] - 1) * trellis.n_states + trellis.before[leaves]
    _balance(assembly, entered, edges[enters], left, edges[leaves])
    return edges


def add_charge(assembly: Assembly, trellis: Trellis, edges: Ints, problem: Problem, charge: Charge) -> None:
    """The cost of a primitive's violation, taken off the objective; a hard one must not be violated."""
    read = trellis.reads(problem, charge.primitive)
    if isinstance(charge.primitive, Linear):
        _add_sum(assembly, trellis, edges, charge.primitive, charge.penalty, read)
    else:
        _add_automaton(assembly, trellis, edges, charge.primitive, charge.penalty, read)


def least_violation(primitive: Primitive, length: int) -> float:
    """No labelling of so many tokens that violates the primitive does so by less."""
    if isinstance(primitive, Automaton):
        return float(primitive.cost[primitive.cost > 0].min(initial=np.inf))
    limit = primitive.limit(length)
    return 1.0 if primitive.once else float(np.floor(limit)) + 1 - limit  # sums are whole


def _add_sum(
    assembly: Assembly, trellis: Trellis, edges: Ints, linear: Linear, penalty: float, amounts: Ints
) -> None:
    limit = linear.limit(trellis.n_tokens)
    if linear.once or np.isinf(penalty):
        limit = np.floor(limit)  # amounts are whole, so this loses nothing
    excess = trellis.longest(amounts) - limit
    if not 0 < excess < np.inf:
        return
    moved = np.flatnonzero(amounts)
    columns, values = edges[moved], amounts[moved].astype(np.float64)
    if np.isfinite(penalty):
        upper = 1.0 if linear.once else excess
        column = assembly.add_columns(np.array([-penalty]), upper, integral=linear.once)
        columns, values = np.append(columns, column), np.append(values, -excess if linear.once else -1.0)
    assembly.add_rows(-np.inf, limit, np.zeros(len(columns), dtype=np.int64), columns, values)


class _Arcs(NamedTuple):
    """What an automaton may do at each step: in `state` read `symbol`."""

    step: Ints
    state: Ints
    symbol: Ints


def _add_automaton(
    assembly: Assembly, trellis: Trellis, edges: Ints, automaton: Automaton, penalty: float, symbols: Ints
) -> None:
    with np.errstate(invalid="ignore"):
        charged = np.where(automaton.cost > 0, automaton.cost * penalty, 0.0)
    arcs = _arcs(trellis, automaton, charged, symbols)
    costs = charged[arcs.state, arcs.symbol]
    if not np.isinf(charged).any() and not costs.any():
        return
    columns = assembly.add_columns(-costs)
    size = len(automaton.next)
    inner, later = arcs.step < trellis.n_tokens, arcs.step > 0
    entered = arcs.step[inner] * size + automaton.next[arcs.state, arcs.symbol][inner]
    left = (arcs.step[later] - 1) * size + arcs.state[later]
    _balance(assembly, entered, columns[inner], left, columns[later])
    width = charged.shape[1]
    _balance(assembly, arcs.step * width + arcs.symbol, columns, trellis.step * width + symbols, edges)


def _arcs(trellis: Trellis, automaton: Automaton, charged: Floats, symbols: Ints) -> _Arcs:
    """The arcs on ways from the first state that charge nothing infinite up to END."""
    seen = _seen(trellis, symbols, charged.shape[1])
    usable = np.isfinite(charged)
    live = [np.ones(len(automaton.next), dtype=bool)]
    for row in seen[::-1]:
        live.append((usable & row & live[-1][automaton.next]).any(axis=1))
    live.reverse()
    reached = np.zeros(len(automaton.next), dtype=bool)
    reached[automaton.start] = True
    steps, states, read = [], [], []
    for t, row in enumerate(seen):
        state, symbol = np.nonzero(usable & row & reached[:, None] & live[t + 1][automaton.next])
        reached = np.zeros(len(automaton.next), dtype=bool)
        reached[automaton.next[state, symbol]] = True
        steps.append(np.full(len(state), t))
        states.append(state)
        read.append(symbol)
    return _Arcs(np.concatenate(steps), np.concatenate(states), np.concatenate(read))


def _seen(trellis: Trellis, symbols: Ints, n_symbols: int) -> NDArray[np.bool_]:
    """Which symbols the edges of each step have, [T+1,A]."""
    seen = np.zeros((trellis.n_tokens + 1, n_symbols), dtype=bool)
    seen[trellis.step, symbols] = True
    return seen


def _balance(assembly: Assembly, plus: Ints, added: Ints, minus: Ints, taken: Ints) -> None:
    """For each key: the columns `added` under it in `plus` sum to those `taken` under it in `minus`."""
    keys, rows = np.unique(np.concatenate([plus, minus]), return_inverse=True)
    values = np.concatenate([np.ones(len(plus)), -np.ones(len(minus))])
    zeros = np.zeros(len(keys))
    assembly.add_rows(zeros, zeros, rows.reshape(-1), np.concatenate([added, taken]), values)
