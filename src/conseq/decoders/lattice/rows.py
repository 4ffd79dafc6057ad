"""Constraints as rows of a linear program over the edges of a lattice.

    Lattice         one flow from the root to the sink: what enters a node leaves it
    Linear          Σ amount · edge − excess ≤ limit, the excess charged
    Automaton       a flow over (token, state, symbol) whose symbols are those that the edges read there

With the edges whole, everything else is whole by itself (Roth and Yih 2005).

Axes: L tokens, E edges, I steps, Q automaton states, A symbols.
"""

from __future__ import annotations

import numpy as np

from conseq.constraints.primitives import Automaton, Linear, Primitive
from conseq.constraints.program import Charge
from conseq.decoders.lattice.lattice import Lattice
from conseq.decoders.lattice.reader import Reader
from conseq.dtypes import Floats, Ints
from conseq.problem import Problem
from conseq.solver import Assembly

ENTRIES_PER_ARC = 3
CELLS_PER_ARC = 32
"""States times tokens that may be looked at, each a byte, for an arc that there is room for."""


def add_flow(assembly: Assembly, lattice: Lattice, gain: Floats) -> Ints:
    """The edges, one unit of which flows from the root to the sink; their columns."""
    edges = assembly.add_columns(gain, integral=True)
    first = edges[: lattice.graph.first[1]]
    assembly.add_rows(1.0, 1.0, np.zeros(len(first), dtype=np.int64), first, np.ones(len(first)))
    enters, leaves = lattice.graph.targets < lattice.n_nodes - 1, lattice.sources > 0
    _balance(assembly, lattice.graph.targets[enters], edges[enters], lattice.sources[leaves], edges[leaves])
    return edges


def add_charge(
    assembly: Assembly, lattice: Lattice, edges: Ints, problem: Problem, charge: Charge, room: float = np.inf
) -> bool:
    """The cost of a primitive's violation, taken off the objective; a hard one must not be violated.

    Whether it was added: an automaton that needs more entries than there is room for is left out.
    """
    if isinstance(charge.primitive, Linear):
        amounts = lattice.amounts(problem, charge.primitive)
        _add_sum(assembly, lattice, edges, charge.primitive, charge.penalty, amounts)
        return True
    return _add_automaton(assembly, edges, Reader.of(lattice, problem, charge), room)


def least_violation(primitive: Primitive, length: int) -> float:
    """No labelling of `length` tokens that violates the primitive does so by less."""
    if isinstance(primitive, Automaton):
        return float(primitive.cost[primitive.cost > 0].min(initial=np.inf))
    limit = primitive.limit(length)
    return float(np.floor(limit)) + 1 - limit  # sums are whole


def _add_sum(
    assembly: Assembly, lattice: Lattice, edges: Ints, linear: Linear, penalty: float, amounts: Ints
) -> None:
    limit = linear.limit(lattice.n_tokens)
    if np.isinf(penalty):
        limit = np.floor(limit)  # amounts are whole, so this loses nothing
    excess = lattice.with_gains(amounts.astype(np.float64)).best_score - limit
    if not 0 < excess < np.inf:
        return
    moved = np.flatnonzero(amounts)
    columns, values = edges[moved], amounts[moved].astype(np.float64)
    if np.isfinite(penalty):
        column = assembly.add_columns(np.array([-penalty]), excess)
        columns, values = np.append(columns, column), np.append(values, -1.0)
    assembly.add_rows(-np.inf, limit, np.zeros(len(columns), dtype=np.int64), columns, values)


def _add_automaton(assembly: Assembly, edges: Ints, reader: Reader, room: float) -> bool:
    lattice, cost, length = reader.lattice, reader.cost, reader.lattice.n_tokens
    arcs = _arcs(reader, room / ENTRIES_PER_ARC)
    if arcs is None:
        return False
    token, state, symbol = arcs
    costs = cost[state, symbol]
    if not np.isinf(cost).any() and not costs.any():
        return True
    columns = assembly.add_columns(-costs)
    size, width = cost.shape
    inner, later = token < length, token > 0
    entered = token[inner] * size + reader.next[state, symbol][inner]
    left = (token[later] - 1) * size + state[later]
    _balance(assembly, entered, columns[inner], left, columns[later])
    read = lattice.steps.token * width + reader.read
    _balance(assembly, token * width + symbol, columns, read, edges[lattice.edge_of_step])
    return True


def _arcs(reader: Reader, most: float) -> Ints | None:
    """What the automaton may do on the way to END without an infinite charge: [3,·], the token (or END) that
    it enters, the state that it is in, the symbol that it reads. None if that is more than `most`, or might
    take as much memory."""
    following, usable = reader.next, np.isfinite(reader.cost)
    if len(following) * (reader.lattice.n_tokens + 1) > CELLS_PER_ARC * most:
        return None
    seen = np.zeros((reader.lattice.n_tokens + 1, usable.shape[1]), dtype=bool)
    seen[reader.lattice.steps.token, reader.read] = True
    live = [np.ones(len(following), dtype=bool)]
    for row in seen[::-1]:
        live.append((usable & row & live[-1][following]).any(axis=1))
    live.reverse()
    reached = np.zeros(len(following), dtype=bool)
    reached[reader.start] = True
    arcs = []
    for t, row in enumerate(seen):
        state, symbol = np.nonzero(usable & row & reached[:, None] & live[t + 1][following])
        reached = np.zeros(len(following), dtype=bool)
        reached[following[state, symbol]] = True
        arcs.append(np.stack([np.full(len(state), t), state, symbol]))
        most -= len(state)
        if most < 0:
            return None
    return np.concatenate(arcs, axis=1)


def _balance(assembly: Assembly, plus: Ints, added: Ints, minus: Ints, taken: Ints) -> None:
    """For each key: the columns `added` under it in `plus` sum to those `taken` under it in `minus`."""
    keys, rows = np.unique(np.concatenate([plus, minus]), return_inverse=True)
    values = np.concatenate([np.ones(len(plus)), -np.ones(len(minus))])
    zeros = np.zeros(len(keys))
    assembly.add_rows(zeros, zeros, rows.reshape(-1), np.concatenate([added, taken]), values)
