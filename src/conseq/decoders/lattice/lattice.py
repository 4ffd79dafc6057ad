"""The labellings of one sequence as paths through a lattice.

    potentials above a floor ─→ Lattice.of ──────┐                      ┌─→ best, n best
    segments, candidates ─→ `segments.py` ───────┴─→ Lattice ───────────┼─→ probabilities, `posterior.py`
                                                                        └─→ rules that read along, `reader.py`

Axes: L tokens, S states, B nodes, E edges, I steps; see `kernels/lattice.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from conseq.constraints.primitives import Linear, Primitive
from conseq.corpus import gathered
from conseq.decoders.base import Best, Limits
from conseq.decoders.chain.viterbi import chain_of
from conseq.dtypes import Floats, Ints, States
from conseq.errors import ConseqError
from conseq.kernels import lattice as kernel
from conseq.kernels.chain import Chain
from conseq.kernels.lattice import Graph, Steps
from conseq.potentials import Potentials
from conseq.problem import Problem

FIRST_ROOM = 1 << 12
EDGES_PER_STATE = 16
"""A lattice may have this many times the limit of states as edges, for they are kept in fewer bytes."""
EDGES_PER_SECOND = 6_000_000
"""Edges that are surely made in a second."""
EDGE = 64
"""Bytes for an edge with its step."""


class TooManyStates(ConseqError):
    """The rules make more product states than there may be."""


@dataclass(frozen=True, eq=False)
class Lattice:
    """A graph whose paths are labellings. Node 0 is the root, the last one the sink.

    >>> lattice = Lattice.of(Potentials.of([[0.0, 1.0], [2.0, -np.inf]]), n_labels=2)
    >>> lattice.best(2)
    (array([[1, 0],
           [0, 0]], dtype=int32), array([3., 2.]))
    """

    graph: Graph
    steps: Steps
    position: Ints  # [B], the tokens before each node; L for the sink
    n_states: int
    n_labels: int

    @classmethod
    def of(
        cls, potentials: Potentials, n_labels: int, floor: float = -np.inf, most_edges: float = np.inf
    ) -> Lattice:
        """The labellings of one sequence that score at least `floor`; TooManyStates if there is no room."""
        chain = chain_of(potentials)
        ahead = kernel.chain_completions(chain)
        lattice = cls.above(chain, ahead, floor, n_labels, most_edges)
        return lattice if len(ahead) else lattice.pruned(floor)

    @classmethod
    def within(cls, best: Best, floor: float, limits: Limits) -> Lattice | None:
        """The labellings of a problem, local constraints charged, that score at least `floor`; None if the
        limits of memory and of seconds, of which some are gone, do not suffice."""
        problem, edges = best.problem, most_edges(limits, best.left(limits))
        try:
            return cls.of(problem.with_local_constraints, len(problem.schema), floor, edges)
        except TooManyStates:
            return None

    @classmethod
    def above(
        cls, chain: Chain, ahead: Floats, floor: float, n_labels: int, most_edges: float = np.inf
    ) -> Lattice:
        """The same as `of` from a chain and its completions."""
        length, size = chain.unary.shape
        most = int(min(max(0, length - 1) * size * size + 2 * size, most_edges))
        room = min(max(64 * length, FIRST_ROOM), most)
        while True:
            levels = np.empty(length + 3, dtype=np.int64)
            first = np.zeros((length + 1) * size + 4, dtype=np.int64)
            targets, gains = np.empty(room + size, dtype=np.int64), np.empty(room + size)
            pair, token = np.empty((2, room + size), dtype=np.int64)
            state = np.empty(room + size, dtype=np.int32)
            steps = Steps(first[:0], pair, token, state)
            graph = Graph(first, targets, gains)
            nodes, edges = kernel.from_chain(chain, ahead, floor, n_labels + 1, graph, steps, levels)
            if edges >= 0:
                graph = Graph(first[: nodes + 1], targets[:edges], gains[:edges])
                steps = Steps(np.arange(edges + 1), pair[:edges], token[:edges], state[:edges])
                position = np.repeat(np.minimum(np.arange(length + 2), length), np.diff(levels))
                return cls(graph, steps, position, size, n_labels)
            if room >= most:
                raise too_many(most_edges / EDGES_PER_STATE)
            room = min(8 * room, most)

    # ── shape ───────────────────────────────────────────────────────────────────────────────────

    @property
    def n_nodes(self) -> int:
        return len(self.graph.first) - 1

    @property
    def n_edges(self) -> int:
        return len(self.graph.targets)

    @property
    def n_tokens(self) -> int:
        return int(self.position[-1])

    @property
    def takes_one_step(self) -> bool:
        """Whether every edge takes a single step, as in a lattice of a chain; each takes at least one."""
        return len(self.steps.pair) == self.n_edges

    @property
    def is_empty(self) -> bool:
        """Whether there is no path."""
        return not self.n_edges

    @cached_property
    def sources(self) -> Ints:
        """The source of each edge, [E]."""
        return np.repeat(np.arange(self.n_nodes), np.diff(self.graph.first))

    @cached_property
    def edge_of_step(self) -> Ints:
        """The edge that takes each step, [I]."""
        return np.repeat(np.arange(self.n_edges), np.diff(self.steps.first))

    def with_gains(self, gains: Floats) -> Lattice:
        """The same paths with other scores."""
        return replace(self, graph=self.graph._replace(gains=gains))

    def pruned(self, floor: float = -np.inf) -> Lattice:
        """The paths that score at least `floor` (and more than −inf), without edges and nodes that none
        takes."""
        through = self.through
        kept = np.flatnonzero((through >= floor) & (through > -np.inf))
        used = np.zeros(self.n_nodes, dtype=bool)
        used[[0, -1]] = True
        used[self.sources[kept]] = used[self.graph.targets[kept]] = True
        if len(kept) == self.n_edges and used.all():
            return self
        number = np.cumsum(used) - 1
        first = np.searchsorted(number[self.sources[kept]], np.arange(used.sum() + 1)).astype(np.int64)
        graph = Graph(first, number[self.graph.targets[kept]], self.graph.gains[kept])
        return replace(self, graph=graph, steps=self.steps_of(kept), position=self.position[used])

    def steps_of(self, edges: Ints) -> Steps:
        """The steps of some edges, in this order."""
        first, rows = gathered(self.steps.first, edges)
        return Steps(first, self.steps.pair[rows], self.steps.token[rows], self.steps.state[rows])

    # ── best paths ──────────────────────────────────────────────────────────────────────────────

    @cached_property
    def completions(self) -> tuple[Floats, Ints]:
        """The most that can be gained from each node on, [B], and the edge to take for it, [B]."""
        rest, following = np.empty(self.n_nodes), np.empty(self.n_nodes, dtype=np.int64)
        kernel.completions(self.graph, rest, following)
        return rest, following

    @cached_property
    def prefixes(self) -> Floats:
        """The most that can be gained up to each node, [B]."""
        best = np.empty(self.n_nodes)
        kernel.prefixes(self.graph, best)
        return best

    @property
    def through(self) -> Floats:
        """The best score of a path that takes each edge, [E]."""
        return self.prefixes[self.sources] + self.graph.gains + self.completions[0][self.graph.targets]

    @property
    def best_score(self) -> float:
        """The score of the best path; −inf if there is none."""
        return float(self.completions[0][0])

    def best(self, n: int) -> tuple[States, Floats]:
        """The n best paths as states [n,L] and their scores [n], best first; all if there are fewer."""
        paths, scores = self.best_paths(n)
        states = np.array([self.states_of(path) for path in paths], dtype=np.int32)
        return states.reshape(len(paths), self.n_tokens), scores

    def best_paths(self, n: int) -> tuple[Ints, Floats]:
        """The n best paths as edges [n,L+1], −1 after the last, and their scores [n], best first."""
        paths, scores = np.empty((n, self.n_tokens + 1), dtype=np.int64), np.empty(n)
        found = kernel.best_paths(self.graph, *self.completions, paths, scores)
        return paths[:found], scores[:found]

    def states_of(self, path: Ints) -> States:
        """The states of the tokens along the edges of a path (−1: no edge), [L]."""
        edges = path[path >= 0]
        states: States = self.steps.state[edges] if self.takes_one_step else self.steps_of(edges).state
        return states[states >= 0]

    # ── under rules ─────────────────────────────────────────────────────────────────────────────

    def reads(self, problem: Problem, primitive: Primitive) -> Ints:
        """What a primitive reads at each step, an amount or a symbol, [I]."""
        table = primitive.steps.reshape(len(primitive.steps), -1)
        if len(table) == 1:
            return table[0].take(self.steps.pair)
        classes = np.append(problem.classes(primitive), 0)  # the step to END belongs to no token
        return table[classes[self.steps.token], self.steps.pair]

    def amounts(self, problem: Problem, linear: Linear) -> Ints:
        """What each edge adds to a sum, [E]."""
        return self.per_edge(self.reads(problem, linear))

    def per_edge(self, values: NDArray) -> NDArray:
        """The sums of values of steps [I,…] over the steps of each edge, [E,…]."""
        if self.takes_one_step:
            return values
        return np.add.reduceat(values, self.steps.first[:-1])

    def same_as(self, other: Lattice) -> bool:
        """Whether the paths and their scores are the same, as far as the numbering of nodes shows."""
        return all(np.array_equal(mine, theirs) for mine, theirs in zip(self.graph, other.graph, strict=True))


def most_edges(limits: Limits, seconds: float) -> float:
    """The edges that a lattice may have where `seconds` are left."""
    return min(limits.room(EDGE), EDGES_PER_SECOND * max(0.0, seconds))


def too_many(most_states: float) -> TooManyStates:
    return TooManyStates(
        f"the rules make more than {most_states:,} product states on this sequence, which is the limit; "
        "give fewer rules, raise limits.states, or do without rules here"
    )
