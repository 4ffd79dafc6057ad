"""The labelling of least cost whose score reaches a floor: dynamic programming over Pareto fronts.

    Lattice (edges that reach the floor), Readers ─→ cheapest ─→ Found: states, cost, score

Of the partial paths with one future (node and states of the automata) only those are kept that no other one
matches in both cost and score. One is dropped if no completion reaches the floor, or if every completion
costs more than the ceiling.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from conseq.decoders.base import NO_LIMITS, Limits
from conseq.decoders.lattice.lattice import Lattice
from conseq.decoders.lattice.partial import Growth, PartialPaths
from conseq.decoders.lattice.reader import Reader
from conseq.dtypes import States
from conseq.kernels.rounding import rounding

PATH = 120
"""Bytes for a partial path, without the states of the automata."""


def at_most(cost: float) -> float:
    """The largest cost that counts as equal."""
    return cost + rounding(cost)


class Found(NamedTuple):
    """The cheapest labelling, the best of equally cheap ones. Without one `states` is None and `cost` is the
    least cost that was dropped: inf if there is no labelling at all."""

    states: States | None
    cost: float
    score: float = -np.inf
    is_complete: bool = True  # whether it was not given up


def cheapest(
    lattice: Lattice,
    readers: Sequence[Reader],
    floor: float,
    ceiling: float,
    limits: Limits = NO_LIMITS,
    deadline: float = np.inf,
) -> Found:
    """The labelling of least cost among those of score ≥ floor and cost ≤ ceiling.

    Gives up with more partial paths than `limits.states` or memory allow, or when `time.perf_counter()`
    passes the deadline.
    """
    growth = Growth(lattice, readers)
    degree, dropped = np.diff(lattice.graph.first), np.inf
    room = limits.room(PATH + 8 * len(readers), 0.5)
    for level in range(lattice.n_tokens + 2):
        paths = growth.at(level)
        least = paths.cost + paths.remaining
        dropped = min(dropped, float(least[least > ceiling].min(initial=np.inf)))
        paths = _front(growth, paths.take(least <= ceiling))
        kept = growth.n_kept + len(paths.node)
        is_full = kept > limits.states or kept + int(degree[paths.node].sum()) > room
        if is_full or time.perf_counter() > deadline:
            return Found(None, dropped, is_complete=False)
        growth.keep(paths, floor)
    if not len(paths.node):
        return Found(None, dropped)
    cheap = np.flatnonzero(paths.cost <= at_most(float(paths.cost.min())))
    place = int(cheap[np.argmax(paths.score[cheap])])
    return Found(growth.states(paths, place), float(paths.cost[place]), float(paths.score[place]))


def _front(growth: Growth, paths: PartialPaths) -> PartialPaths:
    """The paths that no other one with the same future matches in cost and score."""
    if len(paths.node) < 2:
        return paths
    keys = growth.keys(paths)
    order = np.lexsort((-paths.score, paths.cost, keys))
    paths, keys = paths.take(order), keys[order]
    group = np.cumsum(np.append(0, keys[1:] != keys[:-1]))
    _, rank = np.unique(paths.score, return_inverse=True)  # equal scores have equal ranks
    level = group * (len(order) + 1) + rank.reshape(-1) + 1
    highest = np.append(-1, np.maximum.accumulate(level)[:-1])
    return paths.take(level > highest)
