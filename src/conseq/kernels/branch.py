"""Depth-first branch and bound over variables in a fixed order, with bounds from tables.

    problem: sizes[V], first[V+1], start[K], links[K+1], parents[·], strides[·], cells[·]
    frame:   values[V], scores[V,D], order[V,D], place[V], at[2] (depth, nodes)       ─→ best[1], found[V]

Axes: V variables, D values of the largest domain, K tables. Variable v has the tables from first[v] up to
first[v+1]; table k stands in cells from start[k] on. Its last axis is v's value, the others are those of the
earlier variables parents[links[k]:links[k+1]]. Choosing a value adds what the tables of the variable say of
it (≤ 0) to the bound of all that was chosen before it.

The frame holds all there is to know of the search, so it can be stopped after some nodes and taken up again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conseq.kernels.compiled import kernel

Array = NDArray[Any]

DEPTH, NODES = 0, 1


@kernel
def enter(problem: tuple[Array, ...], frame: tuple[Array, ...], depth: int, bound: float) -> None:
    """Bound and rank the values of a variable: the best first, of equal ones the lowest."""
    sizes, first, start, links, parents, strides, cells = problem
    values, scores, order, place, _ = frame
    size = sizes[depth]
    for v in range(size):
        scores[depth, v] = bound
    for k in range(first[depth], first[depth + 1]):
        cell = start[k]
        for i in range(links[k], links[k + 1]):
            cell += strides[i] * values[parents[i]]
        for v in range(size):
            scores[depth, v] += cells[cell + v]
    for v in range(size):
        j = v
        while j > 0 and scores[depth, order[depth, j - 1]] < scores[depth, v]:
            order[depth, j] = order[depth, j - 1]
            j -= 1
        order[depth, j] = v
    place[depth] = 0


@kernel
def search(
    problem: tuple[Array, ...], frame: tuple[Array, ...], best: Array, found: Array, most_nodes: float
) -> bool:
    """Go on until `most_nodes` were entered in all; whether nothing is left.

    best[0] is what must be surpassed; found[V] are the values that do so best.
    """
    values, scores, order, place, at = frame
    last = len(values) - 1
    depth = at[DEPTH]
    while depth >= 0:
        v = order[depth, place[depth]] if place[depth] < problem[0][depth] else -1
        if v < 0 or scores[depth, v] <= best[0]:  # the values that are left are no better
            depth -= 1
            continue
        if depth < last and at[NODES] >= most_nodes:
            break
        place[depth] += 1
        values[depth] = v
        if depth == last:
            best[0] = scores[depth, v]
            for i in range(len(values)):
                found[i] = values[i]
        else:
            depth += 1
            at[NODES] += 1
            enter(problem, frame, depth, scores[depth - 1, v])
    at[DEPTH] = depth
    return depth < 0


def open_bound(frame: tuple[Array, ...], sizes: Array) -> float:
    """What the best of the values that are left on the way to the present place may reach; −inf: none is."""
    _, scores, order, place, at = frame
    left = [d for d in range(at[DEPTH] + 1) if place[d] < sizes[d]]
    return max((float(scores[d, order[d, place[d]]]) for d in left), default=-np.inf)
