"""A primitive that reads along with the paths of a lattice.

    Lattice, Problem, Charge ─→ Reader.of ─→ Reader ─→ product: the lattice of the same labellings, charged
                                                    ─→ minimum_remaining, over: for searches

Axes: B nodes, E edges and I steps of the lattice; Q states, A symbols of the automaton; G groups of labels.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from conseq.constraints.primitives import Automaton
from conseq.constraints.program import Charge
from conseq.decoders.lattice.lattice import FIRST_ROOM, Lattice, too_many
from conseq.kernels import product as kernel
from conseq.kernels.lattice import Graph, Steps
from conseq.problem import Problem

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_ARCS = 5_000_000
"""Edges times states of an automaton up to which its minimum remaining cost is exact."""
MOST_CELLS = 20_000_000
"""Nodes that edges reach across times states of an automaton, for which a table is kept."""


@dataclass(frozen=True, eq=False)
class Reader:
    """An automaton that reads along with a lattice."""

    lattice: Lattice
    read: Ints  # [I], the symbol of each step
    next: Ints  # [Q,A], the state after each symbol in each state
    cost: Floats  # [Q,A], penalty · violation that is charged there; inf where a hard primitive is broken
    start: int
    automaton: Automaton | None = None  # with which labels may be grouped

    @classmethod
    def of(cls, lattice: Lattice, problem: Problem, charge: Charge) -> Reader:
        """A primitive with its penalty as an automaton that reads along."""
        automaton = charge.primitive.automaton(problem.n_tokens)
        cost = np.zeros(automaton.cost.shape)
        paid = automaton.cost > 0
        cost[paid] = charge.penalty * automaton.cost[paid]
        read = lattice.reads(problem, automaton)
        return cls(lattice, read, automaton.next.astype(np.int64), cost, automaton.start, automaton)

    def product(self, floor: float = -np.inf, most_states: float = np.inf) -> Lattice:
        """The labellings of the lattice with the primitive charged, without those that it takes below the
        floor.

        Every labelling is still one path; product states with the same future are one node, so a primitive
        that cannot tell the labellings apart adds none. TooManyStates if there are more pairs of a node and
        a state of the automaton than allowed.
        """
        lattice, graph = self.lattice, self.lattice.graph
        if lattice.is_empty:
            return lattice
        machine = self._machine(lattice, self.read)
        pairs = self._pairs(machine, floor, most_states)
        same, owed = np.empty(len(pairs.memory), dtype=np.int64), np.empty(len(pairs.memory))
        kernel.merge(graph, machine, floor, pairs, same, owed)
        if same[0] < 0:  # the root leads nowhere
            return lattice.pruned(np.inf)
        first, targets, gains, nodes, edges = kernel.rebuild(graph, machine, pairs, same, owed)
        return replace(
            lattice,
            graph=Graph(first, targets, gains),
            steps=lattice.steps_of(edges),
            position=lattice.position[nodes],
        )

    def _pairs(self, machine: kernel.Machine, floor: float, most_states: float) -> kernel.Pairs:
        lattice = self.lattice
        window = kernel.reach_of(lattice.graph)
        if window * len(self.next) > MOST_CELLS:
            raise too_many(most_states)
        begins = np.empty(lattice.n_nodes + 1, dtype=np.int64)
        room = int(min(max(FIRST_ROOM, 2 * lattice.n_nodes), most_states))
        while True:
            pairs = kernel.Pairs(begins, np.empty(room, dtype=np.int64), np.empty(room))
            count = kernel.explore(lattice.graph, lattice.completions[0], machine, floor, window, pairs)
            if count >= 0:
                return kernel.Pairs(begins, pairs.memory[:count], pairs.reached[:count])
            if room >= most_states:
                raise too_many(most_states)
            room = int(min(4 * room, most_states))

    def _machine(self, lattice: Lattice, read: Ints) -> kernel.Machine:
        return kernel.Machine(lattice.steps.first, read, self.next, self.cost, self.start)

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
        kernel.minimum_remaining(lattice.graph, self._machine(lattice, read), least)
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
