"""Beam search: labellings grow from left to right, and only the most promising ones are kept.

    Problem ─→ Viterbi ─→ violated primitives are tracked ─→ beam ─→ violated by its best? ─→ … ─→ Decoding

A labelling that is cut off after some token can at most reach

    score so far − cost so far + best completion in the lattice − minimum remaining cost of the automata

which ranks the labellings. What is dropped can reach no more than the best rank among it; so the search
gives an upper bound, too, and proves its answer where nothing dropped ranked above it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conseq.decoders.base import NO_LIMITS, Best, Limits, bring_in, violated
from conseq.decoders.chain.viterbi import first_answer
from conseq.decoders.lattice.lattice import Lattice
from conseq.decoders.lattice.partial import Growth, PartialPaths
from conseq.decoders.lattice.reader import Reader
from conseq.decoders.lattice.search import lowered
from conseq.errors import RuleError
from conseq.problem import Decoding, Problem

States = NDArray[np.int32]
CELLS_PER_STATE = 4
"""The table of an automaton keeps a few bytes where a product state keeps many, so more of it may be kept."""


@dataclass(frozen=True)
class Beam:
    """Beam search that keeps `width` labellings after each token."""

    name: ClassVar[str] = "beam"

    width: int = 8

    def decode(
        self, problem: Problem, *, limits: Limits = NO_LIMITS, hint: ArrayLike | None = None
    ) -> Decoding:
        """The best labelling of the beams; the bound is that of the chain or of what the beams dropped."""
        best, states = first_answer(problem, hint)
        rounds = 0
        if states is not None:
            lattice = Lattice.of(problem.with_local_constraints, len(problem.schema), lowered(best.score))
            readers = Readers(problem, lattice, limits)
            wanted = readers.usable(violated(problem, states))
            left = max(0, limits.iterations - 1)  # Viterbi was the first
            rounds = bring_in(wanted, lambda active: self._round(best, readers, active), left)
        return best.decoding(iterations=1 + rounds if problem.n_tokens else 0)

    def _round(self, best: Best, readers: Readers, active: list[int]) -> list[int] | None:
        """A beam that tracks all that was violated so far; what its best labelling violates."""
        if best.is_done(readers.limits):
            return None
        until = best.begun + readers.limits.seconds
        found, bound = beam_search(readers.lattice, readers.of(active), self.width, best.score, until)
        best.prove(bound)
        for states in found:
            best.offer(states)
        return readers.usable(violated(best.problem, found[0])) if found else None


class Readers:
    """The primitives that can be tracked on a lattice as automata, made when they are first needed."""

    def __init__(self, problem: Problem, lattice: Lattice, limits: Limits) -> None:
        self.problem, self.lattice, self.limits = problem, lattice, limits
        self._made: dict[int, Reader] = {}
        self._refused: set[int] = set()

    def of(self, primitives: Sequence[int]) -> list[Reader]:
        return [self._made[p] for p in primitives]

    def usable(self, primitives: Sequence[int]) -> list[int]:
        """Those whose tables are small enough; leaving one out can only raise the bound."""
        for p in primitives:
            if p not in self._made and p not in self._refused:
                self._make(p)
        return [p for p in primitives if p in self._made]

    def _make(self, p: int) -> None:
        try:
            reader = Reader.of(self.lattice, self.problem, self.problem.charges[p])
        except RuleError:  # a sum of too many different totals
            self._refused.add(p)
            return
        if len(reader.next) * self.lattice.n_nodes <= CELLS_PER_STATE * self.limits.states:
            self._made[p] = reader
        else:
            self._refused.add(p)


def beam_search(
    lattice: Lattice, readers: Sequence[Reader], width: int, floor: float, until: float = np.inf
) -> tuple[list[States], float]:
    """Labellings above the floor, best first, and what no labelling can exceed (at least the floor).

    After the time `until` (of time.perf_counter) the search is given up.
    """
    growth, rest = Growth(lattice, readers), lattice.completions[0]
    dropped = floor
    for level in range(lattice.n_tokens + 1):
        if time.perf_counter() > until:
            return [], np.inf
        paths = growth.at(level)
        if paths is None:
            continue
        chosen, most = _most_promising(growth, paths, rest, width, floor)
        dropped = max(dropped, most)
        growth.wait(growth.keep(paths.take(chosen)))
    paths = growth.at(lattice.n_tokens + 1)
    if paths is None:
        return [], dropped
    values = paths.score - paths.cost
    order = np.argsort(-values, kind="stable")
    found = [growth.states(paths, i) for i in order[values[order] > -np.inf].tolist()]
    return found, max(dropped, float(values.max(initial=-np.inf)))


def _most_promising(
    growth: Growth, paths: PartialPaths, rest: NDArray[np.float64], width: int, floor: float
) -> tuple[NDArray[np.int64], float]:
    """The best paths that differ in their future, and the best rank of the others."""
    ranks = paths.score - paths.cost + rest[paths.node] - paths.remaining
    able = np.flatnonzero(ranks > floor)
    able = able[np.argsort(-ranks[able], kind="stable")]
    _, first = np.unique(growth.keys(paths)[able], return_index=True)
    able = able[np.sort(first)]
    return able[:width], float(ranks[able[width]]) if len(able) > width else -np.inf
