"""Beam search: labellings grow from left to right, and only the most promising ones are kept.

    Problem ─→ Viterbi ─→ violated primitives are tracked ─→ beam ─→ violated by its best? ─→ … ─→ Decoding

A labelling that is cut off after token t can at most reach

    score so far − charges so far + best rest of the chain − least that is still to be charged

which ranks the labellings. What is dropped can reach no more than the best rank among it; so the search gives
an upper bound, too, and proves its answer where nothing dropped ranked above it.

Axes: T tokens, S states, W labellings kept, M automata.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conseq.decoders.base import NO_LIMITS, Best, Limits
from conseq.decoders.subproblems import Chain, Floats, Ints, Reading, fits
from conseq.kernels.reading import follow
from conseq.problem import Decoding, Problem

NOTHING: Floats = np.empty(0)
"""The multipliers of no sums."""


@dataclass(frozen=True)
class Beam:
    """Beam search that keeps `width` labellings."""

    name: ClassVar[str] = "beam"

    width: int = 8

    def decode(
        self, problem: Problem, *, limits: Limits = NO_LIMITS, hint: ArrayLike | None = None
    ) -> Decoding:
        """The best labelling of the beams; the bound is that of the chain or of what the beams dropped."""
        best = Best(problem)
        if problem.n_tokens == 0:
            return Best.of_empty(problem)
        best.offer(hint)
        chain = Chain(problem)
        score, states = chain.solve(NOTHING, None)
        best.prove(score)
        rounds = 0
        if score > -np.inf:
            best.offer(states)
            rounds = self._rounds(best, chain, states, limits)
        return best.decoding(iterations=1 + rounds)

    def _rounds(self, best: Best, chain: Chain, states: NDArray[np.int32], limits: Limits) -> int:
        """Beams that track all that was violated so far, until nothing else is."""
        problem = best.problem
        ahead = chain.rests(NOTHING, None)
        guides: dict[int, Guide] = {}
        until = best.begun + limits.seconds
        rounds = 0
        while not best.settled and 1 + rounds < limits.iterations and best.seconds < limits.seconds:
            broken = problem.program.extra(problem.violations(states)).tolist()
            new = [p for p in broken if p not in guides and fits(problem, p, limits.states)]
            if not new:
                break
            guides.update((p, Guide.of(Reading(problem, p, chain))) for p in new)
            rounds += 1
            found, bound = search(chain, ahead, list(guides.values()), self.width, best.score, until)
            best.prove(bound)
            for labelling in found:
                best.offer(labelling)
            if not found:
                break
            states = found[0]
        return rounds


class Guide(NamedTuple):
    """An automaton that reads along, and the most that it can still give (its charges are negative)."""

    reading: Reading
    rests: Floats  # [T,Q,G]

    @classmethod
    def of(cls, reading: Reading) -> Guide:
        return cls(reading, reading.rests())


def search(
    chain: Chain, ahead: Floats, guides: list[Guide], width: int, floor: float, until: float = np.inf
) -> tuple[list[NDArray[np.int32]], float]:
    """Labellings above the floor, best first, and what no labelling can exceed (at least the floor).

    ahead[T,S] + Σ rests must be at least what any rest of a labelling adds to its score minus charges. After
    the time `until` (of time.perf_counter) the search is given up.
    """
    beam = _Beam(chain, ahead, guides, width, floor)
    for t in range(len(ahead)):
        if time.perf_counter() > until:
            return [], np.inf
        beam.extend(t)
    return beam.finish()


class _Beam:
    """W labellings of the first tokens, with their values and where each automaton stands."""

    def __init__(self, chain: Chain, ahead: Floats, guides: list[Guide], width: int, floor: float) -> None:
        self.chain = chain
        self.ahead = ahead
        self.guides = guides
        self.width = width
        self.values: Floats = np.zeros(1)
        self.last: Ints = np.full(1, -1)  # START
        self.at: Ints = np.array([[g.reading.machine.start] for g in guides], dtype=np.int64)  # [M,W]
        self.floor = self.dropped = floor
        self.states: list[Ints] = []  # per token, [W]
        self.origins: list[Ints] = []  # per token, which labelling before it was extended, [W]

    def extend(self, t: int) -> None:
        """Every labelling by every state; then the most promising ones."""
        values = self.values[:, None] + self._step(t)
        ranks = values + self.ahead[t]
        at = np.empty((len(self.guides), *values.shape), dtype=np.int64)
        for m, (reading, rests) in enumerate(self.guides):
            symbols = reading.symbols[reading.classes[t]]
            read = (symbols, self._groups(reading), reading.group_of, self.at[m])
            follow(*read, reading.machine.next, reading.price, rests[t], values, ranks, at[m])
        at = at.reshape(len(self.guides), values.size)
        chosen = self._choose(ranks.ravel(), at)
        self.origins.append(chosen // values.shape[1])
        self.last = chosen % values.shape[1]
        self.states.append(self.last)
        self.values = values.ravel()[chosen]
        self.at = np.ascontiguousarray(at[:, chosen])

    def _groups(self, reading: Reading) -> Ints:
        """The groups of the last states, [W]."""
        return np.append(reading.group_of, reading.n_groups)[self.last]

    def _step(self, t: int) -> Floats:
        """The scores of token t and the step to it, [W,S]."""
        chain = self.chain
        step = chain.step_pairwise[chain.step_kind[t], self.last] if t else chain.start
        return np.asarray(step + chain.unary[t])

    def _choose(self, ranks: Floats, at: Ints) -> Ints:
        """The best candidates that differ in state or automata; those that do not have the same future."""
        size = self.ahead.shape[1]
        able = np.flatnonzero(ranks > self.floor)
        chosen: list[int] = []
        seen: set[tuple[int, bytes]] = set()
        for i in able[np.argsort(-ranks[able], kind="stable")].tolist():
            key = (i % size, at[:, i].tobytes())
            if key in seen:
                continue
            if len(chosen) == self.width:
                self.dropped = max(self.dropped, float(ranks[i]))
                break
            seen.add(key)
            chosen.append(i)
        return np.array(chosen, dtype=np.int64)

    def finish(self) -> tuple[list[NDArray[np.int32]], float]:
        """Charge the step to END; walk back."""
        values = self.values + self.chain.end[self.last]
        for m, (reading, _) in enumerate(self.guides):
            values = values - reading.price[self.at[m], reading.symbols[0, self._groups(reading), -1]]
        order = np.argsort(-values, kind="stable")
        order = order[values[order] > -np.inf]
        paths = np.empty((len(order), len(self.states)), dtype=np.int32)
        walk = order
        for t in range(len(self.states) - 1, -1, -1):
            paths[:, t] = self.states[t][walk]
            walk = self.origins[t][walk]
        return list(paths), max(self.dropped, float(values.max(initial=-np.inf)))
