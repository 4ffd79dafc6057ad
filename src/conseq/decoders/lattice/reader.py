"""A primitive that reads along with the paths of a lattice.

    Lattice, Problem, Charge ─→ Reader.of ─→ Reader ─→ product: the lattice of the same labellings, charged
                                                    ─→ minimum_remaining, over: for searches

Axes: B nodes, E edges and I steps of the lattice; Q states, A symbols of the automaton.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from conseq.constraints.program import Charge
from conseq.decoders.base import NO_LIMITS, Limits
from conseq.decoders.lattice.lattice import EDGE, Lattice, too_many
from conseq.dtypes import Floats, Ints
from conseq.kernels import clock
from conseq.kernels import product as kernel
from conseq.kernels.lattice import Graph
from conseq.problem import Problem

STATES_PER_SECOND, ARCS_PER_SECOND = 500_000, 4_000_000
"""Product states that are surely found in a second, and arcs out of them gone through to merge some."""
MOST_CELLS = 20_000_000
"""Cells that are kept for one sequence: nodes times states of an automaton, edges times automata."""


@dataclass(frozen=True, eq=False)
class Reader:
    """An automaton that reads along with a lattice."""

    lattice: Lattice
    read: Ints  # [I], the symbol of each step
    next: Ints  # [Q,A], the state after each symbol in each state
    cost: Floats  # [Q,A], penalty · violation that is charged there; inf where a hard primitive is broken
    start: int

    @classmethod
    def of(cls, lattice: Lattice, problem: Problem, charge: Charge) -> Reader:
        """A primitive with its penalty as an automaton that reads along."""
        automaton = charge.primitive.automaton(problem.n_tokens)
        cost = np.zeros(automaton.cost.shape)
        paid = automaton.cost > 0
        cost[paid] = charge.penalty * automaton.cost[paid]
        read = lattice.reads(problem, automaton)
        return cls(lattice, read, automaton.next.astype(np.int64), cost, automaton.start)

    def product(self, floor: float = -np.inf, limits: Limits = NO_LIMITS, until: float = np.inf) -> Lattice:
        """The labellings of the lattice with the primitive charged, without those that it takes below the
        floor.

        Every labelling is still one path; product states with the same future are one node, so a primitive
        that cannot tell the labellings apart adds none. TooManyStates if there are more pairs of a node and
        a state of the automaton than the limits allow, or than there is time for `until` then.
        """
        lattice, graph = self.lattice, self.lattice.graph
        if lattice.is_empty:
            return lattice
        machine = self._machine
        in_time = STATES_PER_SECOND * max(0.0, until - clock.now())
        pairs = self._pairs(floor, int(min(limits.states, in_time)))
        arcs = np.diff(pairs.begins) @ np.diff(graph.first)
        if arcs > ARCS_PER_SECOND * (until - clock.now()):
            raise too_many(limits.states)
        kernel.merge(machine, floor, pairs)
        if pairs.same[0] < 0:  # the root leads nowhere
            return lattice.pruned(np.inf)
        kept = np.flatnonzero(pairs.same == np.arange(len(pairs.same)))
        nodes = np.searchsorted(pairs.begins, kept, side="right") - 1
        n_edges = int(np.diff(graph.first)[nodes].sum())
        if n_edges > limits.room(EDGE):
            raise too_many(limits.states)
        first, pair, gains, edges = kernel.rebuild(machine, pairs, kept, nodes, n_edges)
        return replace(
            lattice,
            graph=Graph(first, np.searchsorted(kept, pair), gains),
            steps=lattice.steps_of(edges),
            position=lattice.position[nodes],
        )

    def _pairs(self, floor: float, most_states: int) -> kernel.Pairs:
        lattice, size = self.lattice, len(self.next)
        reach = int((lattice.graph.targets - lattice.sources).max(initial=1))
        window = 1 << reach.bit_length()
        if window * size > MOST_CELLS:
            raise too_many(most_states)
        pairs = kernel.Pairs.room_for(lattice.n_nodes, min(lattice.n_nodes * size, most_states))
        count = kernel.explore(self._machine, lattice.completions[0], floor, window, pairs)
        if count < 0:
            raise too_many(most_states)
        return pairs.part(count)

    @property
    def _machine(self) -> kernel.Machine:
        return kernel.Machine(
            self.lattice.graph, self.lattice.steps.first, self.read, self.next, self.cost, self.start
        )

    @cached_property
    def minimum_remaining(self) -> Floats:
        """The least that it still charges at each node in each of its states, [B,Q]; inf: no path is left."""
        return kernel.minimum_remaining(self._machine)

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
