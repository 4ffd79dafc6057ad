"""The labelling of least cost whose score reaches a floor: dynamic programming over Pareto fronts.

    Lattice (edges that reach the floor), Readers ─→ cheapest ─→ Found: states, cost, score

Of the partial paths with one future (node and states of the automata) only those are kept that no other one
matches in both cost and score. One is dropped if no completion reaches the floor, or if every completion
costs more than the ceiling.

Axes: n partial paths, M automata, L tokens. Level 0 is the root, level L + 1 the sink, others are positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conseq.corpus import gathered
from conseq.decoders.base import NO_LIMITS, Limits
from conseq.decoders.lattice.lattice import Lattice
from conseq.decoders.lattice.reader import Reader
from conseq.dtypes import Floats, Ints, States
from conseq.kernels import clock
from conseq.kernels.rounding import rounding

PATH = 120
"""Bytes for a partial path, without the states of the automata."""
LARGEST_KEY = 1 << 62


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

    Gives up with more partial paths than `limits.states` or memory allow, or when `clock.now()`
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
        if is_full or clock.now() > deadline:
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


class PartialPaths(NamedTuple):
    """Where paths and automata are, what the automata charged so far and charge at least from here on."""

    node: Ints  # [n]
    memory: Ints  # [M,n], the states of the automata
    score: Floats  # [n], of the edges
    cost: Floats  # [n]
    remaining: Floats  # [n]
    parent: Ints  # [n], their numbers among all that were kept
    edge: Ints  # [n]

    def take(self, places: NDArray) -> PartialPaths:
        columns: list[Any] = [column[..., places] for column in self]
        return PartialPaths(*columns)


class Growth:
    """Partial paths that wait for their position, and how those that were kept came about."""

    def __init__(self, lattice: Lattice, readers: Sequence[Reader]) -> None:
        self.lattice = lattice
        self.readers = readers
        self.level_of = lattice.position.copy()
        self.level_of[-1] += 1
        self.waiting: list[list[PartialPaths]] = [[] for _ in range(lattice.n_tokens + 2)]
        self.kept: list[PartialPaths] = []
        self.n_kept = 0
        starts = np.array([[reader.start] for reader in readers], dtype=np.int64).reshape(len(readers), 1)
        zero, node = np.zeros(1), np.zeros(1, dtype=np.int64)
        least = sum((reader.minimum_remaining[0, reader.start] for reader in readers), zero)
        root = PartialPaths(node, starts, zero, zero, least, node - 1, node - 1)
        self.waiting[0].append(root)
        self.nothing = root.take(node[:0])

    def at(self, level: int) -> PartialPaths:
        """The partial paths that end at a level."""
        parts, self.waiting[level] = self.waiting[level] or [self.nothing], []
        columns: list[Any] = [np.concatenate(column, axis=-1) for column in zip(*parts, strict=True)]
        return PartialPaths(*columns)

    def keep(self, paths: PartialPaths, floor: float = -np.inf) -> None:
        """Extend these by every edge out of their nodes; the extended ones wait for their position.

        Those whose score does not reach the floor, whatever follows, are left out.
        """
        bounds, edge = gathered(self.lattice.graph.first, paths.node)
        item = np.repeat(np.arange(len(paths.node)), np.diff(bounds))
        node = self.lattice.graph.targets[edge]
        score = paths.score[item] + self.lattice.graph.gains[edge]
        if floor > -np.inf:
            high = score + self.lattice.completions[0][node] >= floor
            item, edge, node, score = item[high], edge[high], node[high], score[high]
        cost = paths.cost[item]
        memory, remaining = paths.memory[:, item], np.zeros(len(item))
        for m, reader in enumerate(self.readers):
            memory[m], charged = reader.over(memory[m], edge)
            cost = cost + charged
            remaining += reader.minimum_remaining[node, memory[m]]
        parent = self.n_kept + item
        self.kept.append(paths)
        self.n_kept += len(paths.node)
        paths = PartialPaths(node, memory, score, cost, remaining, parent, edge)
        levels = self.level_of[node]
        if len(levels) and levels.min() == levels.max():
            self.waiting[levels[0]].append(paths)
            return
        for level in np.unique(levels).tolist():
            self.waiting[level].append(paths.take(levels == level))

    def keys(self, paths: PartialPaths) -> Ints:
        """One number per combination of node and automata's states: paths with the same one have one
        future."""
        keys, size = paths.node, int(paths.node.max(initial=0)) + 1
        for memory, reader in zip(paths.memory, self.readers, strict=True):
            if size * len(reader.next) >= LARGEST_KEY:
                values, keys = np.unique(keys, return_inverse=True)
                keys, size = keys.reshape(-1), len(values)
            keys, size = keys * len(reader.next) + memory, size * len(reader.next)
        return keys

    def states(self, paths: PartialPaths, place: int) -> States:
        """The states of the tokens along one of the paths that came to the sink, [L]."""
        parents = np.concatenate([part.parent for part in self.kept])
        edges = np.concatenate([part.edge for part in self.kept])
        path, at = [int(paths.edge[place])], int(paths.parent[place])
        while parents[at] >= 0:
            path.append(int(edges[at]))
            at = int(parents[at])
        return self.lattice.states_of(np.array(path[::-1]))
