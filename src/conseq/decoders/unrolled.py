"""`wcsp`: the chain and its rules as a weighted CSP.

    Problem ─→ Viterbi ─→ violated primitives ─→ WCSP ─→ states ─→ violated? ─→ … ─→ Decoding

A variable per token for its state, with the tables of the chain. A primitive that matters is an automaton
that reads along: a variable per token for where the automaton is, tied to its neighbours by a table over
(state before, state, automaton before, automaton after). Every primitive is supported; one whose tables would
have more than 100,000 cells (or `limits.states`) is left out, which can only raise the bound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conseq.constraints.primitives import Automaton
from conseq.decoders.base import NO_LIMITS, Best, Limits
from conseq.decoders.lazy import wanted
from conseq.decoders.relaxation import folded
from conseq.decoders.viterbi import viterbi
from conseq.decoders.wcsp import MOST_CELLS, WCSP, Solution
from conseq.errors import RuleError
from conseq.potentials import Potentials
from conseq.problem import Decoding, Problem

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Unrolled:
    """Tables over tokens and automata; exact unless a limit stops it or leaves a rule out."""

    name: ClassVar[str] = "wcsp"

    def decode(
        self, problem: Problem, *, limits: Limits = NO_LIMITS, hint: ArrayLike | None = None
    ) -> Decoding:
        """The best labelling, or the best found within the limits and its gap."""
        best = Best(problem)
        if problem.n_tokens == 0:
            return Best.of_empty(problem)
        best.offer(hint)
        potentials = folded(problem)
        paths = viterbi(potentials)
        best.prove(float(paths.scores[0]))
        rounds = 0.0
        if best.bound > -np.inf:
            best.offer(paths.states)
            rounds = _rounds(best, potentials, paths.states, limits)
        return best.decoding(iterations=1 + rounds)


def _rounds(best: Best, potentials: Potentials, states: NDArray[np.int32], limits: Limits) -> float:
    """Bring in what is violated until nothing else is; the nodes of the searches."""
    chain = _Chain(best.problem, potentials)
    readers: dict[int, _Reader | None] = {}
    nodes = 0.0
    for _ in range(limits.iterations):
        broken = wanted(best.problem, states).tolist()
        new = {p: _Reader.of(chain, p, min(limits.states, MOST_CELLS)) for p in broken if p not in readers}
        readers.update(new)
        if not any(new.values()) or best.settled or best.seconds >= limits.seconds:
            break
        rest = replace(limits, seconds=limits.seconds - best.seconds, nodes=max(0.0, limits.nodes - nodes))
        found = chain.solve([reader for reader in readers.values() if reader is not None], rest)
        nodes += found.certificate.iterations
        best.prove(found.certificate.bound)
        if found.choice is None:
            break
        states = chain.states(found.choice)
        best.offer(states)
    return nodes


class _Chain:
    """The tokens of a sequence as variables, each with the states that its scores allow."""

    def __init__(self, problem: Problem, potentials: Potentials) -> None:
        self.problem = problem
        self.potentials = potentials
        self.allowed = [np.flatnonzero(row > -np.inf) for row in potentials.unary]
        self.rows = [problem.label_of[states].astype(np.int64) for states in self.allowed]
        self.outside = len(problem.schema)

    def __len__(self) -> int:
        return len(self.allowed)

    def solve(self, readers: list[_Reader], limits: Limits) -> Solution:
        length = len(self)
        sizes = [len(states) for states in self.allowed]
        csp = WCSP(sizes + [len(places) for reader in readers for places in reader.places])
        self._add_scores(csp)
        for number, reader in enumerate(readers):
            reader.add(csp, length * (1 + number))
        return csp.solve(limits)

    def states(self, choice: Ints) -> NDArray[np.int32]:
        """The states behind the values of the tokens."""
        pairs = zip(self.allowed, choice[: len(self)].tolist(), strict=True)
        return np.array([states[i] for states, i in pairs], dtype=np.int32)

    def _add_scores(self, csp: WCSP) -> None:
        scores, allowed = self.potentials, self.allowed
        kind = np.zeros(len(self), dtype=np.int64) if scores.kind is None else scores.kind
        for t, states in enumerate(allowed):
            unary = scores.unary[t, states].astype(np.float64)
            unary = unary + (scores.start[states] if t == 0 else 0.0)
            csp.add([t], unary + (scores.end[states] if t == len(self) - 1 else 0.0))
            if t > 0:
                csp.add([t - 1, t], scores.pairwise[kind[t]][np.ix_(allowed[t - 1], states)])


@dataclass(frozen=True, eq=False)
class _Reader:
    """An automaton that reads along, and where it can be after each token."""

    automaton: Automaton
    symbols: list[Ints]  # [T+1]: what it reads from the states before to the states after each step
    places: list[Ints]  # [T], the states of the automaton that can be reached
    penalty: float

    @classmethod
    def of(cls, chain: _Chain, p: int, most_cells: float) -> _Reader | None:
        """The automaton of primitive p; None if a table of it would have too many cells."""
        charge = chain.problem.charges[p]
        try:
            automaton = charge.primitive.automaton(len(chain))
        except RuleError:
            return None
        outside = np.array([chain.outside])
        rows = [outside, *chain.rows, outside]
        classes = np.append(chain.problem.classes(charge.primitive), 0).tolist()
        steps = zip(classes, rows[:-1], rows[1:], strict=True)
        symbols = [automaton.steps[k][np.ix_(before, after)] for k, before, after in steps]
        places = [np.array([automaton.start])]
        for read in symbols[:-1]:
            following = np.unique(automaton.next[np.ix_(places[-1], np.unique(read))])
            if len(places[-1]) * len(following) * read.size > most_cells:
                return None
            places.append(following)
        return cls(automaton, symbols, places[1:], charge.penalty)

    def add(self, csp: WCSP, first: int) -> None:
        """Add its tables to a problem where its variables have the numbers from `first` on."""
        length = len(self.places)
        start = np.array([self.automaton.start])
        csp.add([0, first], self._table(0, start, self.places[0])[0, :, 0])
        for t in range(1, length):
            table = self._table(t, self.places[t - 1], self.places[t])
            csp.add([t - 1, t, first + t - 1, first + t], table)
        read = self.symbols[length][:, 0]
        csp.add([length - 1, first + length - 1], self._price(self.places[-1], read).T)

    def _table(self, t: int, before: Ints, after: Ints) -> Floats:
        """[states before, states, automaton before, automaton after] of the step into token t."""
        read = self.symbols[t]
        table = np.full((*read.shape, len(before), len(after)), -np.inf)
        following = np.searchsorted(
            after, self.automaton.next[before][:, read]
        )  # [automaton, states, states]
        i, x, y = np.indices(following.shape)
        table[x, y, i, following] = self._price(before, read)
        return table

    def _price(self, places: Ints, read: Ints) -> Floats:
        """What symbols cost in states of the automaton, as a weight, [automaton, *read.shape]."""
        cost = self.automaton.cost[places][:, read]
        if self.penalty == np.inf:
            return np.where(cost > 0, -np.inf, 0.0)
        return -self.penalty * cost
