"""Depth-first branch and bound over variables in a fixed order, with bounds from tables.

    tables: sizes[V], first[V+1], start[K+1], links[K+1], parents[·], cells[·]
    frame:  values[V], scores[V,D], at[2] (depth, nodes)                     ─→ best[1], found[V]

Axes: V variables, D values of the largest domain, K tables. Variable v has the tables from first[v] up to
first[v+1]; table k stands in cells from start[k] on. Its last axis is v's value, the others are those of the
earlier variables parents[links[k]:links[k+1]]. Choosing a value adds what the tables of the variable say of
it (≤ 0) to the bound of all that was chosen before it: its score, which is −inf once it was tried.

The frame holds all there is to know of the search, so it can be stopped after some nodes and taken up again.
At first it has the scores of the first variable's values, and −inf elsewhere.
"""

from __future__ import annotations

import numpy as np

from conseq.kernels.compiled import Array, helper, kernel

DEPTH, NODES = 0, 1


@helper(inline="always")
def enter(tables: tuple[Array, ...], values: Array, scores: Array, depth: int, bound: float) -> None:
    """Score the values of a variable."""
    sizes, first, start, links, parents, cells = tables
    for v in range(sizes[depth]):
        scores[depth, v] = bound
    for k in range(first[depth], first[depth + 1]):
        row = 0
        for i in range(links[k], links[k + 1]):
            row = row * sizes[parents[i]] + values[parents[i]]
        for v in range(sizes[depth]):
            scores[depth, v] += cells[start[k] + row * sizes[depth] + v]


@kernel
def search(
    tables: tuple[Array, ...], frame: tuple[Array, ...], best: Array, found: Array, most_nodes: float
) -> bool:
    """Go on until `most_nodes` were entered in all; whether nothing is left.

    The best value is tried first, of equal ones the lowest. best[0] is what must be surpassed; found[V] are
    the values that do so best.
    """
    values, scores, at = frame
    last = len(values) - 1
    depth = at[DEPTH]
    while depth >= 0:
        v = 0
        for other in range(1, scores.shape[1]):
            if scores[depth, other] > scores[depth, v]:
                v = other
        bound = scores[depth, v]
        if bound <= best[0]:  # the values that are left are no better
            depth -= 1
            continue
        if depth < last and at[NODES] >= most_nodes:
            break
        scores[depth, v] = -np.inf
        values[depth] = v
        if depth == last:
            best[0] = bound
            for i in range(len(values)):
                found[i] = values[i]
        else:
            depth += 1
            at[NODES] += 1
            enter(tables, values, scores, depth, bound)
    at[DEPTH] = depth
    return depth < 0


def open_bound(frame: tuple[Array, ...]) -> float:
    """What the best of the values that are left on the way to the present place may reach; −inf: none is."""
    _, scores, at = frame
    return float(scores[: at[DEPTH] + 1].max(initial=-np.inf))
