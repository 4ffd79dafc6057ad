"""Plain twins of `kernels/graph.py` and `kernels/product.py`: every way, one by one; random small graphs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np


@dataclass
class Graph:
    """levels[L+3], first[B+1], targets[E], gains[E]."""

    levels: np.ndarray
    first: np.ndarray
    targets: np.ndarray
    gains: np.ndarray

    @property
    def n_nodes(self) -> int:
        return len(self.first) - 1

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        return self.levels, self.first, self.targets, self.gains


@dataclass
class Automaton:
    """arcs[Q,A], weight[Q,A], price; it starts in state 0."""

    arcs: np.ndarray
    weight: np.ndarray
    price: float

    @property
    def parts(self) -> tuple[np.ndarray, np.ndarray, int, float]:
        return self.arcs, self.weight, 0, self.price


def random_graph(rng: np.random.Generator) -> Graph:
    """One to four tokens with up to three nodes each; some edges are missing, so some nodes lead nowhere."""
    widths = [1, *rng.integers(1, 4, int(rng.integers(1, 5))).tolist(), 1]
    levels = np.cumsum([0, *widths])
    first, targets = [0], []
    for level in range(len(widths)):
        for _ in range(widths[level]):
            if level + 1 < len(widths):
                there = range(int(levels[level + 1]), int(levels[level + 2]))
                targets += [node for node in there if rng.random() < 0.8]
            first.append(len(targets))
    whole = rng.random() < 0.4
    gains = rng.normal(0, 2, len(targets))
    return Graph(
        levels.astype(np.int64),
        np.array(first, dtype=np.int64),
        np.array(targets, dtype=np.int64),
        np.round(gains) if whole else gains,
    )


def random_automaton(rng: np.random.Generator, n_symbols: int) -> Automaton:
    """Up to four states; costs are whole numbers, and in a third of the cases some are infinite."""
    shape = int(rng.integers(1, 5)), n_symbols
    weight = rng.integers(0, 3, shape) * (rng.random(shape) < 0.5).astype(float)
    if rng.random() < 0.33:
        weight[rng.random(shape) < 0.3] = np.inf
    return Automaton(rng.integers(0, shape[0], shape), weight, float(rng.choice([1.0, 0.5, 2.0])))


def ways(graph: Graph, node: int = 0) -> Iterator[list[int]]:
    """The edges of every way from a node to the sink."""
    if node == graph.n_nodes - 1:
        yield []
    for e in range(graph.first[node], graph.first[node + 1]):
        for rest in ways(graph, int(graph.targets[e])):
            yield [e, *rest]


def gain(graph: Graph, way: list[int]) -> float:
    return float(sum(graph.gains[e] for e in way))


def nodes(graph: Graph, way: list[int]) -> list[int]:
    return [int(graph.targets[e]) for e in way]


def charge(automaton: Automaton, symbols: list[int], state: int = 0) -> float:
    """Σ weight of what an automaton reads."""
    total = 0.0
    for symbol in symbols:
        total += automaton.weight[state, symbol]
        state = int(automaton.arcs[state, symbol])
    return total


def log_sum(values: list[float]) -> float:
    top = max(values, default=-math.inf)
    return top if top == -math.inf else top + math.log(sum(math.exp(v - top) for v in values))


def n_futures(graph: Graph, automaton: Automaton, read: np.ndarray) -> int:
    """Different pairs of a node and what is charged on each way onwards, up to a constant."""
    futures = set()
    reached = {(0, 0)}
    for node in range(graph.n_nodes):
        for state in range(len(automaton.arcs)):
            if (node, state) not in reached:
                continue
            for e in range(graph.first[node], graph.first[node + 1]):
                if automaton.weight[state, read[e]] < np.inf:
                    reached.add((int(graph.targets[e]), int(automaton.arcs[state, read[e]])))
            onwards = list(ways(graph, node))
            paid = [charge(automaton, [read[e] for e in way], state) for way in onwards]
            if min(paid, default=np.inf) < np.inf:
                futures.add((node, tuple(p - min(paid) for p in paid)))
    return len(futures)
