"""`wcsp`: the lattice of a chain and its rules as a weighted CSP.

    Problem ─→ Viterbi ─→ violated primitives ─→ WCSP ─→ states ─→ violated? ─→ … ─→ Decoding

A variable per token for its node in the lattice, with a table over neighbours for the edges. A primitive
that matters is an automaton that reads along: a variable per token for where the automaton is, tied to its
neighbours by a table over (node before, node, automaton before, automaton after). Every primitive is
supported; one whose tables would have more than 100,000 cells (or `limits.states`) is left out, which can
only raise the bound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conseq.decoders.base import NO_LIMITS, Best, Limits, bring_in, violated
from conseq.decoders.chain.viterbi import first_answer
from conseq.decoders.lattice.lattice import Lattice
from conseq.decoders.lattice.reader import Reader
from conseq.decoders.variables.wcsp import MOST_CELLS, WCSP
from conseq.errors import RuleError
from conseq.problem import Decoding, Problem

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ChainAsVariables:
    """Tables over tokens and automata; exact unless a limit stops it or leaves a rule out."""

    name: ClassVar[str] = "wcsp"

    def decode(
        self, problem: Problem, *, limits: Limits = NO_LIMITS, hint: ArrayLike | None = None
    ) -> Decoding:
        """The best labelling, or the best found within the limits and its gap."""
        best, states = first_answer(problem, hint)
        nodes = 0.0
        if states is not None:
            model = _Model(best, Lattice.of(problem.with_local_constraints, len(problem.schema)), limits)
            bring_in(violated(problem, states), model.solve, limits.iterations)
            nodes = model.nodes
        return best.decoding(iterations=1 + nodes if problem.n_tokens else 0)


class _Model:
    """The tokens as variables, their values the nodes of the lattice after each token."""

    def __init__(self, best: Best, lattice: Lattice, limits: Limits) -> None:
        self.best, self.lattice, self.limits = best, lattice, limits
        self.levels = np.searchsorted(lattice.position[:-1], np.arange(lattice.n_tokens + 2))
        self.nodes = 0.0
        self.tracks: dict[int, _Track | None] = {}

    def solve(self, active: list[int]) -> list[int] | None:
        """The best labelling under the active primitives; what it violates."""
        most_cells = min(self.limits.states, MOST_CELLS)
        new = {p: _Track.of(self, p, most_cells) for p in active if p not in self.tracks}
        self.tracks.update(new)
        best, limits = self.best, self.limits
        if not any(new.values()) or best.is_done(limits):
            return None
        seconds, nodes = limits.seconds - best.seconds, max(0.0, limits.nodes - self.nodes)
        found = self._problem().solve(replace(limits, seconds=seconds, nodes=nodes))
        self.nodes += found.certificate.iterations
        best.prove(found.certificate.bound)
        if found.choice is None:
            return None
        states = self._states(found.choice[: self.lattice.n_tokens])
        best.offer(states)
        return violated(best.problem, states)

    def edges(self, t: int) -> tuple[slice, Ints, Ints]:
        """The edges into token t (n_tokens: END), and the places of their ends among the nodes of a token."""
        first, levels = self.lattice.graph.first, self.levels
        here = slice(int(first[levels[t]]), int(first[levels[t + 1]]))
        after = self.lattice.graph.targets[here] - levels[t + 1]
        return here, self.lattice.sources[here] - levels[t], after

    def size(self, t: int) -> int:
        """The values of token t; 1 for the root (−1) and the sink."""
        return int(self.levels[t + 2] - self.levels[t + 1]) if t < self.lattice.n_tokens else 1

    def _problem(self) -> WCSP:
        tracks = [track for track in self.tracks.values() if track is not None]
        length = self.lattice.n_tokens
        sizes = [self.size(t) for t in range(length)]
        csp = WCSP(sizes + [len(places) for track in tracks for places in track.places])
        for t in range(length + 1):
            here, before, after = self.edges(t)
            table = np.full((self.size(t - 1), self.size(t)), -np.inf)
            table[before, after] = self.lattice.graph.gains[here]
            _add(csp, [(t - 1, 0), (t, 1)], table, length)
        for number, track in enumerate(tracks):
            for t in range(length + 1):
                place = length * (1 + number) + t
                _add(csp, [(t - 1, 0), (t, 1), (t - 1, 2), (t, 3)], track.table(self, t), length, place - t)
        return csp

    def _states(self, choice: Ints) -> NDArray[np.int32]:
        """The states behind the values of the tokens."""
        nodes = self.levels[1:-1] + choice
        entering = np.zeros(self.lattice.n_nodes, dtype=np.int32)
        entering[self.lattice.graph.targets] = self.lattice.steps.state
        return entering[nodes]


def _add(csp: WCSP, axes: list[tuple[int, int]], table: Floats, length: int, shift: int = 0) -> None:
    """Add a table whose axes belong to (token, axis); before the first and after the last token there is no
    variable. Axes from the third on are of automata, whose variables are `shift` further on."""
    kept = [(t, axis) for t, axis in axes if 0 <= t < length]
    dropped = tuple(axis for t, axis in axes if not 0 <= t < length)
    scope = [t + (shift if axis >= 2 else 0) for t, axis in kept]
    csp.add(scope, table.max(axis=dropped) if dropped else table)


@dataclass(frozen=True, eq=False)
class _Track:
    """An automaton that reads along, and where it can be after each token."""

    reader: Reader
    places: list[Ints]  # [T]

    @classmethod
    def of(cls, model: _Model, p: int, most_cells: float) -> _Track | None:
        """The automaton of primitive p; None if a table of it would have too many cells."""
        problem = model.best.problem
        try:
            reader = Reader.of(model.lattice, problem, problem.charges[p])
        except RuleError:
            return None
        places = [np.array([reader.start])]
        for t in range(model.lattice.n_tokens):
            here, _, _ = model.edges(t)
            following = np.unique(reader.next[np.ix_(places[-1], np.unique(reader.read[here]))])
            cells = len(places[-1]) * len(following) * model.size(t - 1) * model.size(t)
            if cells > most_cells:
                return None
            places.append(following)
        return cls(reader, places[1:])

    def table(self, model: _Model, t: int) -> Floats:
        """[nodes before, nodes, automaton before, automaton after] of the step into token t, END being one
        node with one state of the automaton."""
        here, before, after = model.edges(t)
        ends = t == len(self.places)
        old = self.places[t - 1] if t else np.array([self.reader.start])
        new = np.zeros(1, dtype=np.int64) if ends else self.places[t]
        read = self.reader.read[here]
        following = self.reader.next[old][:, read]  # [automaton, edges]
        place = np.zeros_like(following) if ends else np.searchsorted(new, following)
        table = np.full((model.size(t - 1), model.size(t), len(old), len(new)), -np.inf)
        i = np.arange(len(old))[:, None]
        table[before, after, i, place] = -self.reader.cost[old][:, read]
        return table
