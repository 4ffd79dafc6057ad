"""The labellings of one sequence as paths through a lattice, and everything that is computed on one.

    potentials above a floor ─→ Lattice.of ────────┐
    segments or candidates ──→ Lattice.of_segments ┴─→ Lattice ─→ best, n best, posteriors, samples
                                                        │ reader(problem, charge) ─→ Reader: a primitive that
                                                        reads along └ under(reader) ─→ Lattice of the same
                                                        labellings, charged

Axes: L tokens, S states, B nodes, E edges, I steps; see `kernels/lattice.py`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conseq.constraints.primitives import Automaton, Linear, Primitive
from conseq.constraints.program import Charge
from conseq.errors import ConseqError, ScoreError
from conseq.kernels import lattice as kernel
from conseq.kernels import product
from conseq.kernels.lattice import Chain, Graph, Steps
from conseq.potentials import Potentials
from conseq.problem import Problem

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
States = NDArray[np.int32]

FIRST_ROOM = 1 << 12
EDGES_PER_STATE = 64
"""A lattice may have this many times the limit of states as edges."""
MOST_ARCS = 5_000_000
"""Edges times states of an automaton up to which its minimum remaining cost is exact."""
MOST_CELLS = 20_000_000
"""Nodes that edges reach across times states of an automaton, for which a table is kept."""


class TooManyStates(ConseqError):
    """The rules make more product states than there may be."""


class Segment(NamedTuple):
    """The tokens start … start + len(labels) − 1 with their labels, and what they add to the score."""

    start: int
    labels: Sequence[int]
    score: float


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
        cls, potentials: Potentials, n_labels: int, floor: float = -np.inf, most_states: float = np.inf
    ) -> Lattice:
        """The labellings of one sequence that score at least `floor`; TooManyStates if there is no room."""
        if potentials.n_tokens == 0:
            return cls._of_no_tokens(potentials.n_states, n_labels, floor)
        chain = chain_of(potentials)
        ahead = np.empty(chain.unary.shape)
        kernel.chain_completions(chain, ahead)
        lattice = cls.above(chain, ahead, floor, n_labels, EDGES_PER_STATE * most_states)
        if lattice is None:
            raise TooManyStates(too_many(most_states))
        return lattice

    @classmethod
    def _of_no_tokens(cls, n_states: int, n_labels: int, floor: float) -> Lattice:
        """The one labelling of a sequence without tokens, the step from START to END."""
        there = 1 if floor <= 0 else 0
        graph = Graph(np.array([0, there, there]), np.ones(there, dtype=np.int64), np.zeros(there))
        outside = np.full(there, (n_labels + 1) ** 2 - 1)
        none = np.full(there, -1, dtype=np.int32)
        steps = Steps(np.arange(there + 1), outside, np.zeros(there, dtype=np.int64), none)
        return cls(graph, steps, np.zeros(2, dtype=np.int64), n_states, n_labels)

    @classmethod
    def above(
        cls, chain: Chain, ahead: Floats, floor: float, n_labels: int, most_edges: float = np.inf
    ) -> Lattice | None:
        """The same from a chain of at least one token and its completions; None if there are too many
        edges."""
        length, size = chain.unary.shape
        most = (length - 1) * size * size + 2 * size
        room = min(max(64 * length, FIRST_ROOM), most)
        while True:
            levels, first = (
                np.empty(length + 3, dtype=np.int64),
                np.zeros((length + 1) * size + 4, dtype=np.int64),
            )
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
            if room >= most_edges:
                return None
            room = int(min(8 * room, most_edges))

    @classmethod
    def of_segments(
        cls,
        segments: Iterable[Segment],
        n_tokens: int,
        n_labels: int,
        pairwise: ArrayLike | None = None,
        start: ArrayLike | None = None,
        end: ArrayLike | None = None,
    ) -> Lattice:
        """All segmentations of the tokens that the given segments allow.

        pairwise[Y,Y] scores the step from the last label of a segment to the first one of the next, start[Y]
        and end[Y] the first and last labels.

        >>> segments = [Segment(0, [0], 1.0), Segment(1, [1], 1.0), Segment(0, [1, 1], 2.5)]
        >>> Lattice.of_segments(segments, n_tokens=2, n_labels=2).best(3)
        (array([[1, 1],
               [0, 1]], dtype=int32), array([2.5, 2. ]))
        """
        steps = _label_scores("pairwise", pairwise, (n_labels, n_labels))
        first, last = _label_scores("start", start, (n_labels,)), _label_scores("end", end, (n_labels,))
        given = list(segments)
        _check_segments(given, n_tokens, n_labels)
        given = [segment for segment in given if segment.score > -np.inf]
        ends = {(s.start + len(s.labels), int(s.labels[-1])) for s in given}
        nodes = [(0, n_labels), *sorted(ends), (n_tokens, n_labels)]
        number = {node: i for i, node in enumerate(nodes[:-1])}
        sources: dict[int, list[int]] = {}
        for i, (place, _) in enumerate(nodes[:-1]):
            sources.setdefault(place, []).append(i)
        edges = []
        for segment in given:
            target = number[segment.start + len(segment.labels), int(segment.labels[-1])]
            for source in sources.get(segment.start, ()):
                before, label = nodes[source][1], segment.labels[0]
                gain = segment.score + (first[label] if source == 0 else steps[before, label])
                edges.append((source, target, gain, segment.labels))
        for source in sources.get(n_tokens, ()):
            gain = 0.0 if source == 0 else float(last[nodes[source][1]])
            edges.append((source, len(nodes) - 1, gain, ()))
        return cls._of_edges(edges, np.array([place for place, _ in nodes]), n_labels, nodes).pruned()

    @classmethod
    def _of_edges(
        cls,
        edges: list[tuple[int, int, float, Sequence[int]]],
        position: Ints,
        n_labels: int,
        nodes: Sequence[tuple[int, int]],
    ) -> Lattice:
        """Edges (source, target, gain, labels of the tokens spanned), in any order; nodes have last
        labels."""
        edges = sorted(edges, key=lambda edge: edge[0])
        size, sink = n_labels + 1, len(nodes) - 1
        pair: list[int] = []
        token: list[int] = []
        state: list[int] = []
        begins = [0]
        for source, target, _, labels in edges:
            path = [nodes[source][1], *labels, *([n_labels] if target == sink else [])]
            pair += [a * size + b for a, b in itertools.pairwise(path)]
            token += range(int(position[source]), int(position[source]) + len(path) - 1)
            state += [*labels, *([-1] if target == sink else [])]
            begins.append(len(pair))
        numbers = np.array([edge[0] for edge in edges], dtype=np.int64)
        first = np.searchsorted(numbers, np.arange(len(nodes) + 1)).astype(np.int64)
        targets = np.array([edge[1] for edge in edges], dtype=np.int64)
        graph = Graph(first, targets, np.array([edge[2] for edge in edges], dtype=np.float64))
        first_step, pairs, tokens = (np.array(column, dtype=np.int64) for column in (begins, pair, token))
        steps = Steps(first_step, pairs, tokens, np.array(state, dtype=np.int32))
        return cls(graph, steps, position, n_labels, n_labels)

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
        return replace(self, graph=graph, steps=self._steps_of(kept), position=self.position[used])

    def _steps_of(self, edges: Ints) -> Steps:
        """The steps of some edges, in this order."""
        lengths = np.diff(self.steps.first)[edges]
        first = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        rows = np.repeat(self.steps.first[edges] - first[:-1], lengths) + np.arange(first[-1])
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
        states = np.empty((len(paths), self.n_tokens), dtype=np.int32)
        for row, path in zip(states, paths, strict=True):
            row[:] = self.states_of(path)
        return states, scores

    def best_paths(self, n: int) -> tuple[Ints, Floats]:
        """The n best paths as edges [n,L+1], −1 after the last, and their scores [n], best first."""
        paths, scores = np.empty((n, self.n_tokens + 1), dtype=np.int64), np.empty(n)
        found = kernel.best_paths(self.graph, *self.completions, paths, scores)
        return paths[:found], scores[:found]

    def states_of(self, path: Ints) -> States:
        """The states of the tokens along the edges of a path (−1: no edge), [L]."""
        edges = path[path >= 0]
        states: States = self._steps_of(edges).state
        return states[states >= 0]

    # ── sums over all paths ─────────────────────────────────────────────────────────────────────

    @cached_property
    def posterior(self) -> Posterior:
        """The distribution over paths, p ∝ exp(score)."""
        shares, nodes = np.zeros(self.n_edges), np.zeros(self.n_nodes)
        log_partition = kernel.edge_probabilities(self.graph, shares)
        kernel.node_posteriors(self.graph, shares, nodes)
        return Posterior(self, shares, nodes, log_partition)

    # ── under rules ─────────────────────────────────────────────────────────────────────────────

    def reads(self, problem: Problem, primitive: Primitive) -> Ints:
        """What a primitive reads at each step, an amount or a symbol, [I]."""
        classes = np.append(problem.classes(primitive), 0)  # the step to END belongs to no token
        table = primitive.steps.reshape(len(primitive.steps), -1)
        read: Ints = table[classes[self.steps.token], self.steps.pair].astype(np.int64)
        return read

    def amounts(self, problem: Problem, linear: Linear) -> Ints:
        """What each edge adds to a sum, [E]."""
        read = self.reads(problem, linear)
        amounts: Ints = self.per_edge(read)
        return amounts

    def per_edge(self, values: NDArray) -> NDArray:
        """The sums of values of steps [I] over the steps of each edge, [E]."""
        if len(values) == self.n_edges:  # every edge takes one step at least
            return values
        return np.add.reduceat(values, self.steps.first[:-1])

    def reader(self, problem: Problem, charge: Charge) -> Reader:
        """A primitive with its penalty as an automaton that reads along."""
        automaton = charge.primitive.automaton(problem.n_tokens)
        cost = np.zeros(automaton.cost.shape)
        paid = automaton.cost > 0
        cost[paid] = charge.penalty * automaton.cost[paid]
        read = self.reads(problem, automaton)
        return Reader(self, read, automaton.next.astype(np.int64), cost, automaton.start, automaton)

    def under(self, reader: Reader, floor: float = -np.inf, most_states: float = np.inf) -> Lattice:
        """The same labellings with a primitive charged, without those that it takes below the floor.

        Every labelling is still one path; product states with the same future are one node, so a primitive
        that cannot tell the labellings apart adds none. TooManyStates if there are more pairs of a node and
        a state of the automaton than allowed.
        """
        if self.is_empty:
            return self
        machine, graph = reader.machine, self.graph
        pairs = self._pairs(machine, floor, most_states)
        same, owed = np.empty(len(pairs.memory), dtype=np.int64), np.empty(len(pairs.memory))
        product.merge(graph, machine, floor, pairs, same, owed)
        if same[0] < 0:  # the root leads nowhere
            return self.pruned(np.inf)
        first, targets, gains, nodes, edges = product.rebuild(graph, machine, pairs, same, owed)
        position = self.position[nodes]
        return replace(
            self, graph=Graph(first, targets, gains), steps=self._steps_of(edges), position=position
        )

    def _pairs(self, machine: product.Machine, floor: float, most_states: float) -> product.Pairs:
        window = product.reach_of(self.graph)
        if window * len(machine.arcs) > MOST_CELLS:
            raise TooManyStates(too_many(most_states))
        room = int(min(max(FIRST_ROOM, 2 * self.n_nodes), most_states))
        while True:
            pairs = product.Pairs(
                np.empty(self.n_nodes + 1, dtype=np.int64), np.empty(room, dtype=np.int64), np.empty(room)
            )
            count = product.explore(self.graph, self.completions[0], machine, floor, window, pairs)
            if count >= 0:
                return product.Pairs(pairs.begins, pairs.memory[:count], pairs.reached[:count])
            if room >= most_states:
                raise TooManyStates(too_many(most_states))
            room = int(min(4 * room, most_states))

    def same_as(self, other: Lattice) -> bool:
        """Whether the paths and their scores are the same, as far as the numbering of nodes shows."""
        return all(np.array_equal(mine, theirs) for mine, theirs in zip(self.graph, other.graph, strict=True))


@dataclass(frozen=True, eq=False)
class Reader:
    """An automaton that reads along with a lattice."""

    lattice: Lattice
    read: Ints  # [I], the symbol of each step
    next: Ints  # [Q,A], the state after each symbol in each state
    cost: Floats  # [Q,A], penalty · violation that is charged there; inf where a hard primitive is broken
    start: int
    automaton: Automaton | None = None  # with which labels may be grouped

    @property
    def machine(self) -> product.Machine:
        """As `kernels/product.py` takes it."""
        return product.Machine(self.lattice.steps.first, self.read, self.next, self.cost, self.start)

    @cached_property
    def minimum_remaining(self) -> Floats:
        """The least that it still charges at each node in each of its states, [B,Q]; inf: no path is left.

        On the large lattice of a chain, a lower bound of it: over groups of labels that it cannot tell apart.
        """
        lattice = self.lattice
        large = lattice.n_edges * len(self.next) > MOST_ARCS
        if self.automaton is None or not large or len(lattice.steps.pair) > lattice.n_edges:
            return self._least(lattice, self.read)
        small, node_of, first_step = over_groups(lattice, label_groups(self.automaton))
        return self._least(small, self.read[first_step])[node_of]

    def _least(self, lattice: Lattice, read: Ints) -> Floats:
        least = np.empty((lattice.n_nodes, len(self.next)))
        kernel.minimum_remaining(lattice.graph, lattice.steps.first, read, self.next, self.cost, least)
        return least

    def over(self, states: Ints, edges: Ints) -> tuple[Ints, Floats]:
        """The automaton's states after edges, one each, and what it charges on them."""
        first = self.lattice.steps.first
        begins, lengths = first[edges], first[edges + 1] - first[edges]
        symbol = self.read[begins]  # every edge takes a step or more
        cost, states = self.cost[states, symbol], self.next[states, symbol]
        for k in range(1, int(lengths.max(initial=0))):
            going = lengths > k
            symbol = self.read[np.where(going, begins + k, begins)]
            cost = cost + np.where(going, self.cost[states, symbol], 0.0)
            states = np.where(going, self.next[states, symbol], states)
        return states, cost


@dataclass(frozen=True, eq=False)
class Posterior:
    """The distribution over the paths of a lattice, p ∝ exp(score); without a path log_partition is −inf."""

    lattice: Lattice
    shares: Floats  # [E], p(edge | its source)
    nodes: Floats  # [B], p(node)
    log_partition: float

    @cached_property
    def edges(self) -> Floats:
        """p(edge), [E]."""
        return self.nodes[self.lattice.sources] * self.shares

    @cached_property
    def states(self) -> Floats:
        """p(state s at token t), [L,S]."""
        lattice = self.lattice
        found = np.zeros((lattice.n_tokens, lattice.n_states))
        inner = lattice.steps.state >= 0
        at = lattice.steps.token[inner], lattice.steps.state[inner]
        np.add.at(found, at, self.edges[lattice.edge_of_step][inner])
        return found

    def passage(self, first: int, masks: NDArray[np.bool_]) -> float:
        """p(the path has a state of masks[k] at token first + k, for all k), masks[M,S]."""
        lattice = self.lattice
        found = kernel.passage(lattice.graph, lattice.steps, self.shares, self.nodes, first, masks)
        return min(1.0, float(found))

    def sample(self, n: int, rng: np.random.Generator) -> Ints:
        """Paths drawn independently, as edges [n,L+1], −1 after the last."""
        if self.log_partition == -np.inf:
            raise ConseqError("there is no path to draw from; allow more labels or steps")
        shape = n, self.lattice.n_tokens + 1
        paths = np.empty(shape, dtype=np.int64)
        kernel.sample(self.lattice.graph, self.shares, rng.random(shape), paths)
        return paths


def chain_of(potentials: Potentials) -> Chain:
    """The scores of one sequence as `kernels/lattice.py` takes them."""
    unary, pairwise, start, end, _, kind = potentials.arrays()
    given = potentials.label_of
    label_of = np.arange(potentials.n_states, dtype=np.int32) if given is None else given
    return Chain(unary, pairwise, start, end, kind, label_of)


def too_many(most_states: float) -> str:
    return (
        f"the rules make more than {most_states:,} product states on this sequence, which is the limit; "
        "give fewer rules, raise limits.states, or do without rules here"
    )


def _label_scores(name: str, given: ArrayLike | None, shape: tuple[int, ...]) -> Floats:
    """The scores of labels or steps, 0 if none are given."""
    scores: Floats = np.zeros(shape) if given is None else np.asarray(given, dtype=np.float64)
    if scores.shape != shape:
        raise ScoreError(f"{name} has the shape {scores.shape}; give scores of the shape {shape}")
    if not (scores < np.inf).all():
        raise ScoreError(f"{name} has a score that is +inf or not a number; give numbers, or -inf")
    return scores


def _check_segments(segments: Sequence[Segment], n_tokens: int, n_labels: int) -> None:
    for segment in segments:
        inside = 0 <= segment.start < segment.start + len(segment.labels) <= n_tokens
        if not inside or not all(0 <= label < n_labels for label in segment.labels):
            raise ScoreError(
                f"{segment} does not fit {n_tokens} tokens and {n_labels} labels (from 0); "
                "give tokens inside the sequence, one label or more, and labels that there are"
            )
        if not segment.score < np.inf:
            raise ScoreError(f"{segment} has a score that is +inf or not a number; give a number, or -inf")


@lru_cache(maxsize=1024)
def label_groups(automaton: Automaton) -> Ints:
    """The group of each label, [Y]: labels are in one if all steps from them and to them are read alike."""
    steps = automaton.steps
    size = steps.shape[1] - 1
    seen = np.concatenate([steps[:, :size].swapaxes(0, 1), steps[:, :, :size].transpose(2, 0, 1)], axis=1)
    _, group = np.unique(seen.reshape(size, -1), axis=0, return_inverse=True)
    return group.reshape(-1)


def over_groups(lattice: Lattice, group_of: Ints) -> tuple[Lattice, Ints, Ints]:
    """The lattice of a chain with groups of labels as states, all gains 0; a group stands for a label of it.

    Also the new node that each old one belongs to, [B], and an old step for each new one.
    """
    size, n_groups = lattice.n_labels + 1, int(group_of.max(initial=-1)) + 1
    groups, width = np.append(group_of, n_groups), n_groups + 1
    before, after = groups[lattice.steps.pair // size], groups[lattice.steps.pair % size]
    key = (lattice.steps.token * width + before) * width + after
    keys, first_step = np.unique(key, return_index=True)
    token, before, after = keys // (width * width), keys // width % width, keys % width
    nodes, place = np.unique(np.append(0, (token + 1) * width + after), return_inverse=True)
    sources = np.searchsorted(nodes, np.where(token == 0, 0, token * width + before))
    first = np.searchsorted(sources, np.arange(len(nodes) + 1)).astype(np.int64)
    graph = Graph(first, place.reshape(-1)[1:].astype(np.int64), np.zeros(len(keys)))
    state = np.where(after < n_groups, after, -1).astype(np.int32)
    steps = Steps(np.arange(len(keys) + 1), lattice.steps.pair[first_step], token, state)
    node_of = np.zeros(lattice.n_nodes, dtype=np.int64)
    last = lattice.steps.first[1:] - 1
    entered = (lattice.steps.token[last] + 1) * width + groups[lattice.steps.pair[last] % size]
    node_of[lattice.graph.targets] = np.searchsorted(nodes, entered)
    position = np.minimum(nodes // width, lattice.n_tokens)
    return Lattice(graph, steps, position, n_groups, lattice.n_labels), node_of, first_step
