"""The best values under rows of which few matter: those that are violated are brought in, part by part.

    every variable takes its best value ─→ violated rows ─→ the parts that they connect, each solved by itself
    ─→ violated rows ─→ …  until there is none

Penalties are ≥ 0, so leaving rows out can only raise the optimum: what is best under some of them and
violates no other is best under all.

Axes as in `indicators.py`.
"""

from __future__ import annotations

import numpy as np

from conseq.kernels.compiled import Array, helper, kernel
from conseq.kernels.indicators import Rows, Variables, activate, connect
from conseq.kernels.part_search import search
from conseq.kernels.parts import Part, cut_out

SETTLED, NONE, STUCK = 0, 1, 2
"""No other row is violated; there is no answer; a part needs more work than was allowed."""
SCORE, BOUND, NODES, WORK = 0, 1, 2, 3
"""What `result` holds: of the part that was last, its best score and upper bound; in all, nodes and work."""


@helper
def keep_answer(
    variables: Variables, part: Part, found: Array, values: Array, loss: Array, parent: Array, bound: float
) -> None:
    """Write down what was found for the part parent[V], and what its best values lose at least."""
    root, free, known, n = parent[-1], 0.0, 0.0, 0
    for v in range(len(values)):
        if parent[v] == root:
            if found[n] >= 0:
                values[v] = part.origin[found[n]]
            n += 1
            best = -np.inf
            for i in range(variables.starts[v], variables.starts[v + 1]):
                best = max(best, variables.gains[i])
            free += best
            known += loss[v]
            loss[v] = 0.0
    loss[root] = max(known, free - bound)


@kernel
def settle(
    variables: Variables,
    rows: Rows,
    state: Array,
    values: Array,
    loss: Array,
    parent: Array,
    result: Array,
    most_work: float,
) -> int:
    """Go on until no row is violated that has no state, or a part is stuck or has no answer.

    state[K]    0: not brought in; 1: brought in and solved; 2: brought in
    values[V]   the indicators chosen; at first the best ones
    loss[V]     for the parts solved, at one of their variables: what they lose against the best values
    parent[V]   which variables make a part; of one that is stuck, the parent is left in parent[V]
    """
    while activate(variables, rows, state, values) > 0:
        connect(variables, rows, state, parent[:-1])
        for k in range(len(state)):
            root = parent[variables.owner[rows.indicator[rows.first[k]]]]
            if state[k] == 2:
                parent[-1] = root
                part = cut_out(variables, rows, state, parent[:-1], root)
                n = len(part.starts) - 1
                for v in range(n):
                    if part.starts[v] == part.starts[v + 1]:
                        return NONE
                found = np.full(n, -1)
                result[SCORE] = -np.inf
                done = search(part, found, result, most_work)
                if result[BOUND] == -np.inf:
                    return NONE
                keep_answer(variables, part, found, values, loss, parent, result[BOUND])
                if not done:
                    return STUCK
                for other in range(len(state)):
                    one = variables.owner[rows.indicator[rows.first[other]]]
                    if state[other] == 2 and parent[one] == root:
                        state[other] = 1
    return SETTLED
