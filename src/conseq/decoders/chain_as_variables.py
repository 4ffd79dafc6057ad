"""`wcsp`: the lattice of a chain and its rules as a weighted CSP.

    Problem ─→ Viterbi ─→ violated primitives ─→ WCSP ─→ states ─→ violated? ─→ … ─→ Decoding

A variable per place between tokens for the node of the lattice there, with a table over neighbours for the
edges. A primitive that matters is an automaton that reads along: a variable per place for its state, tied to
its neighbours by a table over (node before, node, automaton before, automaton after). Every primitive is
supported; one whose tables would have more than 100,000 cells (or `limits.states`), or for which there is no
room beside the others, is left out, which can only raise the bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar

import numpy as np

from conseq.decoders.base import NO_LIMITS, Best, Hint, Limits, bring_in
from conseq.decoders.chain.viterbi import first_answer
from conseq.decoders.lattice.lattice import Lattice
from conseq.decoders.lattice.reader import Reader
from conseq.decoders.variables.buckets import CELL, MOST_CELLS
from conseq.decoders.variables.wcsp import WCSP
from conseq.dtypes import Ints
from conseq.errors import RuleError
from conseq.problem import Decoding, Problem

MOST_CELLS_IN_ALL = 1 << 24
"""Cells of the tables of all automata together."""


@dataclass(frozen=True)
class ChainAsVariables:
    """Tables over tokens and automata; exact unless a limit stops it or leaves a rule out."""

    name: ClassVar[str] = "wcsp"

    def decode(self, problem: Problem, *, limits: Limits = NO_LIMITS, hint: Hint = None) -> Decoding:
        """The best labelling, or the best found within the limits and its gap."""
        best, wanted = first_answer(problem, hint)
        lattice = None if wanted is None else Lattice.within(best, -np.inf, limits)
        if wanted is None or lattice is None:
            return best.decoding(iterations=1 if problem.n_tokens else 0)
        model = _Model(best, lattice, limits)
        bring_in(wanted, model.solve, limits.iterations)
        return best.decoding(iterations=1 + model.nodes)


class _Model:
    """The places before, between and after the tokens as variables, their values the nodes of the lattice;
    after them, for each automaton that reads along, a variable per place for its state.

    It lacks tables only if there was no time left to make them, and is not solved then.
    """

    def __init__(self, best: Best, lattice: Lattice, limits: Limits) -> None:
        self.best, self.lattice, self.limits = best, lattice, limits
        inner = np.searchsorted(lattice.position[:-1], np.arange(lattice.n_tokens + 2))
        self.levels = np.append(inner, lattice.n_nodes)  # the nodes of place t are levels[t] … levels[t+1]−1
        self.sizes = np.diff(self.levels).tolist()  # 1 for the root and the sink
        self.nodes = 0.0
        self.known = 0  # primitives that were brought in
        self.room = min(MOST_CELLS_IN_ALL, limits.room(CELL))
        self.csp = WCSP(self.sizes)
        for t, (here, before, after) in enumerate(self.steps()):
            table = np.full((self.sizes[t], self.sizes[t + 1]), -np.inf)
            table[before, after] = lattice.graph.gains[here]
            self.csp.add([t, t + 1], table)

    def steps(self) -> Iterator[tuple[slice, Ints, Ints]]:
        """Until time is up, the edges from each place to the next, and the numbers of their ends among the
        nodes there."""
        graph, levels = self.lattice.graph, self.levels
        for t, (a, b) in enumerate(pairwise(graph.first[levels[:-1]].tolist())):
            if self.best.is_done(self.limits):
                return
            yield slice(a, b), self.lattice.sources[a:b] - levels[t], graph.targets[a:b] - levels[t + 1]

    def solve(self, active: list[int]) -> list[int] | None:
        """The best labelling under the active primitives; what it violates."""
        best, limits = self.best, self.limits
        added = [not best.is_done(limits) and self._read_along(p) for p in active[self.known :]]
        self.known = len(active)
        if not any(added) or best.is_done(limits):
            return None
        nodes = max(0.0, limits.nodes - self.nodes)
        found = self.csp.solve(replace(limits, seconds=best.left(limits), nodes=nodes))
        self.nodes += found.certificate.iterations
        best.prove(found.certificate.bound)
        if found.choice is None:
            return None
        entering = np.zeros(self.lattice.n_nodes, dtype=np.int32)  # the state of the token before each node
        entering[self.lattice.graph.targets] = self.lattice.steps.state
        return best.offer(entering[self.levels[:-1] + found.choice[: len(self.sizes)]][1:-1])

    def _read_along(self, p: int) -> bool:
        """Add the automaton of a primitive, unless its tables are too large or there is no time for it."""
        problem, sizes = self.best.problem, self.sizes
        try:
            reader = Reader.of(self.lattice, problem, problem.charges[p])
        except RuleError:
            return False
        states, cells = [np.array([reader.start])], [0]
        for t, (here, _, _) in enumerate(self.steps()):
            states.append(np.unique(reader.next[np.ix_(states[t], np.unique(reader.read[here]))]))
            cells.append(sizes[t] * sizes[t + 1] * len(states[t]) * len(states[t + 1]))
            if cells[-1] > min(self.limits.states, MOST_CELLS):
                return False
        if sum(cells) > self.room:
            return False
        self.room -= sum(cells)
        first = len(self.csp.domains)
        self.csp.domains.update((first + t, range(len(reached))) for t, reached in enumerate(states))
        for t, (here, before, after) in enumerate(self.steps()):
            old, new, read = states[t], states[t + 1], reader.read[here]
            place = np.searchsorted(new, reader.next[old][:, read])  # [automaton before, edges]
            table = np.full((sizes[t], sizes[t + 1], len(old), len(new)), -np.inf)
            table[before, after, np.arange(len(old))[:, None], place] = -reader.cost[old][:, read]
            self.csp.add([t, t + 1, first + t, first + t + 1], table)
        return True
