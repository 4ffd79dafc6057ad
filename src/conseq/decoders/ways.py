"""The labellings of one sequence as ways through a graph, with the rules that were brought in as part of it.

    folded scores, floor ─→ Ways.of ─→ ways.under(problem, p, …) for one primitive after the other ─→ Ways

A way is a labelling that may reach the floor, and its gains add up to its score under the primitives so far.
Every primitive is an automaton that reads along; product states with the same future are one
(`kernels/product.py`), so a primitive that cannot tell the labellings of this sequence apart adds none.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from conseq.constraints.primitives import Automaton
from conseq.errors import ConseqError
from conseq.kernels import graph as kernel
from conseq.kernels import product
from conseq.potentials import Potentials
from conseq.problem import Problem

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

FIRST_ROOM = 1 << 12
EDGES_PER_STATE = 64
"""So many times the limit of states may a chain have edges."""
MOST_CELLS = 20_000_000
"""Nodes of a level times states of an automaton, for which a table is kept."""


class TooManyStates(ConseqError):
    """The rules make more product states than there may be."""


@dataclass(frozen=True, eq=False)
class Ways:
    """A graph whose ways are labellings. Axes: L tokens, B nodes, E edges; see `kernels/graph.py`."""

    levels: Ints  # [L+3]
    first: Ints  # [B+1]
    targets: Ints  # [E]
    gains: Floats  # [E]
    states: NDArray[np.int32]  # [B], −1 for the root and the sink

    @classmethod
    def of(cls, potentials: Potentials, floor: float, most_states: int) -> Ways:
        """The labellings of a sequence of at least one token that score at least `floor`."""
        unary, pairwise, start, end, _, kind = potentials.arrays()
        ways = cls(*kernel.unroll((unary, pairwise, start, end, kind), floor, EDGES_PER_STATE * most_states))
        if len(ways.targets) < ways.first[-1]:
            raise TooManyStates(_too_many(most_states))
        return ways

    @property
    def is_empty(self) -> bool:
        return not len(self.targets)

    @property
    def n_nodes(self) -> int:
        return len(self.first) - 1

    @property
    def arrays(self) -> tuple[Ints, Ints, Ints, Floats]:
        return self.levels, self.first, self.targets, self.gains

    def same_as(self, other: Ways) -> bool:
        """Whether the ways and their scores are the same, as far as the numbering of nodes shows."""
        pairs = zip(self.arrays, other.arrays, strict=True)
        return all(np.array_equal(mine, theirs) for mine, theirs in pairs)

    def under(self, problem: Problem, p: int, floor: float, most_states: int) -> Ways:
        """The same labellings with primitive p charged, without those that it takes below the floor.

        Raises TooManyStates if there are more pairs of a node and a state of the automaton than allowed.
        """
        if self.is_empty:
            return self
        charge = problem.charges[p]
        automaton = charge.primitive.automaton(problem.n_tokens)
        read = self._symbols(problem, automaton)
        hard = charge.penalty == np.inf
        weight = np.where(automaton.cost > 0, np.inf, 0.0) if hard else automaton.cost.astype(np.float64)
        price = 1.0 if hard else charge.penalty
        machine = (automaton.next.astype(np.int64), weight, automaton.start, price)
        pairs = self._pairs(read, machine, floor, most_states)
        same, owed = np.empty(len(pairs[1]), dtype=np.int64), np.empty(len(pairs[1]))
        product.merge(self.arrays, read, machine, floor, pairs, same, owed)
        if same[0] < 0:  # the root leads nowhere
            return self._none()
        *arrays, nodes = product.rebuild(self.arrays, read, machine, pairs, same, owed)
        return Ways(*arrays, self.states[nodes])  # type: ignore[call-arg]

    def _none(self) -> Ways:
        """No ways through as many tokens."""
        none = np.empty(0, dtype=np.int64)
        return Ways(
            np.zeros_like(self.levels), np.zeros(1, dtype=np.int64), none, np.empty(0), self.states[:0]
        )

    def _symbols(self, problem: Problem, automaton: Automaton) -> Ints:
        """The symbol that an automaton reads on each edge, [E]."""
        labels = np.append(problem.label_of, len(problem.schema))[self.states]  # −1: START or END
        source, tokens = self._places
        classes = np.append(problem.classes(automaton), 0)
        read: Ints = automaton.steps[classes[tokens], labels[source], labels[self.targets]]
        return read.astype(np.int64)

    @cached_property
    def _places(self) -> tuple[Ints, Ints]:
        """The source of each edge and the token that it enters (L for those to the sink)."""
        source = np.repeat(np.arange(self.n_nodes), np.diff(self.first))
        level = np.repeat(np.arange(len(self.levels) - 1), np.diff(self.levels))
        return source, level[source]

    def _pairs(
        self, read: Ints, machine: tuple[Ints, Floats, int, float], floor: float, most_states: int
    ) -> tuple[Ints, Ints, Floats]:
        if int(np.diff(self.levels).max()) * len(machine[0]) > MOST_CELLS:
            raise TooManyStates(_too_many(most_states))
        room = min(max(FIRST_ROOM, 2 * self.n_nodes), most_states)
        while True:
            pairs = np.empty(self.n_nodes + 1, dtype=np.int64), np.empty(room, dtype=np.int64), np.empty(room)
            count = product.explore(self.arrays, self.completions[0], read, machine, floor, pairs)
            if count >= 0:
                return pairs[0], pairs[1][:count], pairs[2][:count]
            if room >= most_states:
                raise TooManyStates(_too_many(most_states))
            room = min(4 * room, most_states)

    @cached_property
    def completions(self) -> tuple[Floats, Ints]:
        """The most that can be gained from each node on, [B], and the edge to take for it, [B]."""
        rest, following = np.empty(self.n_nodes), np.empty(self.n_nodes, dtype=np.int64)
        if self.n_nodes:
            kernel.completions(self.arrays, rest, following)
        return rest, following

    def best(self, n: int) -> tuple[NDArray[np.int32], Floats]:
        """The n best labellings as states [n,L] and their scores [n], best first; all if there are fewer."""
        length = len(self.levels) - 3
        if self.is_empty:
            return np.empty((0, length), dtype=np.int32), np.empty(0)
        edges, scores = np.empty((n, length + 1), dtype=np.int64), np.empty(n)
        found = kernel.best_ways(self.arrays, *self.completions, edges, scores)
        return self.states[self.targets[edges[:found, :-1]]], scores[:found]


def _too_many(most_states: int) -> str:
    return (
        f"the rules make more than {most_states:,} product states on this sequence, which is the limit; "
        "give fewer rules, raise limits.states, or do without rules here"
    )
