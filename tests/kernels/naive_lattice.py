"""The reference for the lattice kernels: random small lattices, and every path of one, one by one.

Of conseq there are only the types that hold the arrays; nothing here calls its code.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import naive
import numpy as np

from conseq.kernels.lattice import Graph, Steps

MOST_PATHS = 300
N_STATES = 4


@dataclass
class Lattice:
    """As `kernels/lattice.py` takes it; position[B] are the tokens before each node, label_of[S]."""

    graph: Graph
    steps: Steps
    position: np.ndarray
    label_of: np.ndarray

    @property
    def n_nodes(self) -> int:
        return len(self.graph.first) - 1

    @property
    def n_edges(self) -> int:
        return len(self.graph.targets)

    @property
    def length(self) -> int:
        return int(self.position[-1])

    @property
    def size(self) -> int:
        """Y + 1."""
        return int(self.label_of.max()) + 2

    def edges(self, node: int) -> range:
        return range(int(self.graph.first[node]), int(self.graph.first[node + 1]))

    def paths(self, node: int = 0) -> Iterator[list[int]]:
        """The edges of every path from a node to the sink, forbidden ones included."""
        if node == self.n_nodes - 1:
            yield []
        for e in self.edges(node):
            for rest in self.paths(int(self.graph.targets[e])):
                yield [e, *rest]

    def scored(self, node: int = 0) -> dict[tuple[int, ...], float]:
        """The paths from a node that are not forbidden, and what they gain."""
        gains = {tuple(path): self.gain(path) for path in self.paths(node)}
        return {path: gain for path, gain in gains.items() if gain > -math.inf}

    def gain(self, path: list[int]) -> float:
        return float(sum(self.graph.gains[e] for e in path))

    def nodes(self, path: list[int]) -> list[int]:
        """The nodes of a path from the root."""
        return [0, *(int(self.graph.targets[e]) for e in path)]

    def steps_on(self, path: list[int]) -> list[int]:
        """The steps along the edges of a path."""
        return [i for e in path for i in range(self.steps.first[e], self.steps.first[e + 1])]

    def states(self, path: list[int]) -> list[int]:
        """The states of all tokens along a path from the root."""
        return [int(self.steps.state[i]) for i in self.steps_on(path) if self.steps.state[i] >= 0]


@dataclass
class Edge:
    source: int
    target: int
    states: list[int]  # of the tokens that it spans


def random_lattice(rng: np.random.Generator) -> Lattice:
    """A lattice of 0 to 6 tokens with few enough paths to list them all.

    Half of them are chains; in the others edges span 1 to 5 tokens, several between the same two nodes. Some
    nodes lead nowhere, some cannot be reached, some edges are forbidden, and at times there is no path.
    """
    while True:
        lattice = _random_lattice(rng)
        if n_paths(lattice) <= MOST_PATHS:
            return lattice


def n_paths(lattice: Lattice) -> int:
    count = [0] * lattice.n_nodes
    count[-1] = 1
    for node in range(lattice.n_nodes - 2, -1, -1):
        count[node] = sum(count[int(lattice.graph.targets[e])] for e in lattice.edges(node))
    return count[0]


def _random_lattice(rng: np.random.Generator) -> Lattice:
    length = int(rng.integers(0, 7))
    longest = 1 if rng.random() < 0.5 else 5
    n_labels = int(rng.integers(1, N_STATES + 1))
    label_of = np.append(np.arange(n_labels), rng.integers(0, n_labels, N_STATES - n_labels))
    places = [0, *(p for p in range(1, length + 1) for _ in range(rng.integers(1, 4))), length]
    states = [-1, *rng.integers(0, N_STATES, len(places) - 2).tolist(), -1]
    edges = _random_edges(rng, places, states, longest)
    order = _topological(rng, len(places), edges)
    number = np.argsort(order)
    edges = sorted(edges, key=lambda edge: number[edge.source])
    first = np.searchsorted([number[edge.source] for edge in edges], np.arange(len(places) + 1))
    targets = np.array([number[edge.target] for edge in edges], dtype=np.int64)
    graph = Graph(first.astype(np.int64), targets, _random_gains(rng, len(edges)))
    steps = _steps(edges, places, states, np.append(label_of, n_labels))
    return Lattice(graph, steps, np.array(places, dtype=np.int64)[order], label_of.astype(np.int32))


def _random_edges(rng: np.random.Generator, places: list[int], states: list[int], longest: int) -> list[Edge]:
    sink, chance = len(places) - 1, 0.85 if longest == 1 else 0.5
    edges = []
    for source in range(sink):
        for target in range(1, sink):
            span = places[target] - places[source]
            if 1 <= span <= longest:
                for _ in range(int(rng.random() < chance) + int(longest > 1 and rng.random() < 0.2)):
                    inner = rng.integers(0, N_STATES, span - 1).tolist()
                    edges.append(Edge(source, target, [*inner, states[target]]))
        if places[source] == places[sink] and rng.random() < 0.9:
            edges.append(Edge(source, sink, []))
    return edges


def _topological(rng: np.random.Generator, n_nodes: int, edges: list[Edge]) -> np.ndarray:
    """Any order in which edges lead on, the root first and the sink last: not that of positions alone."""
    order, left = [0], set(range(1, n_nodes - 1))
    while left:
        blocked = {edge.target for edge in edges if edge.source in left}
        order.append(int(rng.choice(sorted(left - blocked))))
        left.remove(order[-1])
    return np.array([*order, n_nodes - 1])


def _random_gains(rng: np.random.Generator, count: int) -> np.ndarray:
    """In some cases whole numbers, with many ties; now and then −inf."""
    gains = rng.normal(0, 2, count)
    if rng.random() < 0.4:
        gains = np.round(gains)
    gains[rng.random(count) < 0.04] = -math.inf
    return gains


def _steps(edges: list[Edge], places: list[int], states: list[int], labels: np.ndarray) -> Steps:
    first, pair, token, state = [0], [], [], []
    size = int(labels[-1]) + 1
    for edge in edges:
        end = [-1] if edge.target == len(places) - 1 else []
        along = [states[edge.source], *edge.states, *end]
        pair += [int(labels[before]) * size + int(labels[after]) for before, after in pairwise(along)]
        token += range(places[edge.source], places[edge.source] + len(along) - 1)
        state += along[1:]
        first.append(len(pair))
    columns = (np.array(column, dtype=np.int64) for column in (first, pair, token))
    return Steps(*columns, np.array(state, dtype=np.int32))


# ── from a chain ────────────────────────────────────────────────────────────────────────────────


def one_chain(seed: int) -> naive.Chain:
    """A chain of at least one token that has a labelling."""
    number = 10_000 * seed
    while True:
        for chain in naive.random_chains(number):
            if len(chain.unary) and naive.labellings(chain):
                return chain
        number += 1


def chain_completions(chain: naive.Chain) -> np.ndarray:
    """best[L,S]: the most that the labels after a token can add, by all of them."""
    length, size = chain.unary.shape
    best = np.empty((length, size))
    for t, s in np.ndindex(length, size):
        rest = naive.Chain(
            chain.unary[t + 1 :],
            chain.pairwise,
            chain.pairwise[chain.kind[t + 1], s] if t + 1 < length else chain.start,
            chain.end,
            chain.kind[t + 1 :],
        )
        scores = [score for score, _ in naive.labellings(rest)]
        best[t, s] = max(scores, default=-math.inf) if t + 1 < length else chain.end[s]
    return best


def steps_through(chain: naive.Chain, floor: float) -> dict[tuple[int, int, int], float]:
    """The steps (t, state before, state) of the labellings of at least the floor, and what each adds; −1 is
    START and END."""
    found = {}
    for score, path in naive.labellings(chain):
        if score >= floor:
            for t, (before, after) in enumerate(pairwise((-1, *path, -1))):
                found[t, before, after] = step_gain(chain, t, before, after)
    return found


def step_gain(chain: naive.Chain, t: int, before: int, after: int) -> float:
    if after < 0:
        return float(chain.end[before])
    step = chain.start[after] if before < 0 else chain.pairwise[chain.kind[t], before, after]
    return float(step) + float(chain.unary[t, after])


def floor_between(rng: np.random.Generator, scores: list[float]) -> float:
    """A floor halfway between two scores, so that rounding decides nothing; or below all."""
    distinct = sorted({round(score, 6) for score in scores})
    i = int(rng.integers(len(distinct)))
    return distinct[0] - 1 if i == 0 else (distinct[i - 1] + distinct[i]) / 2
