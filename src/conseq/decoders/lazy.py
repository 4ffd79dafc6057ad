"""Exact decoding that brings in only the constraints that matter, as product states.

Penalties are ≥ 0, so leaving constraints out can only raise the optimum. So: run Viterbi; if its labelling
violates nothing it is optimal. Otherwise find the best labelling under the violated primitives, and repeat
until nothing outside is violated:

    viterbi ─→ violated? ─→ search under them (floor: what is known to be reached) ─→ violated? ─→ …

Each search looks only at labellings within a band below the bound so far, and widens it until one is found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conseq.decoders.base import NO_LIMITS, Best, Limits
from conseq.decoders.relaxation import folded
from conseq.decoders.search import Search, lowered
from conseq.decoders.viterbi import viterbi
from conseq.problem import Decoding, Problem

Floats = NDArray[np.float64]

FIRST_BAND = 4.0
"""How far below the upper bound labellings are looked for at first; then twice as far, and so on."""
WIDEN = 2.0
WIDEST_BAND = 1e4
SHARES = (1.0, 0.5, 0.25)
"""How much of the way towards better multipliers is tried."""


@dataclass(frozen=True)
class Lazy:
    """Viterbi, then product states of what is violated; exact unless a limit stops it."""

    name: ClassVar[str] = "lazy"

    def decode(
        self, problem: Problem, *, limits: Limits = NO_LIMITS, hint: ArrayLike | None = None
    ) -> Decoding:
        """The best labelling, or the best found within the limits and its gap."""
        best = Best(problem)
        best.offer(hint)
        if problem.n_tokens == 0:
            return Best.of_empty(problem)
        potentials = folded(problem)
        paths = viterbi(potentials)
        best.prove(float(paths.scores[0]))
        if best.bound == -np.inf:
            return best.decoding(iterations=1)
        best.offer(paths.states)
        violated = wanted(problem, paths.states)
        if not len(violated):
            return best.decoding(iterations=1)
        search = Search.of(problem, potentials)
        runs = refine(best, search, violated.tolist(), limits)
        return best.decoding(iterations=1 + runs)


def wanted(problem: Problem, states: NDArray[np.int32]) -> NDArray[np.int64]:
    """The primitives that a labelling violates and pays for, except those that are in the scores already."""
    return problem.program.extra(problem.violations(states))


def refine(best: Best, search: Search, active: list[int], limits: Limits) -> float:
    """Search under the active primitives, add those that the answer violates, and so on; the Viterbi runs.

    Leaves in `best` the optimum, or where a limit stopped it the best labelling and the bound so far. When
    there is nothing in the band, the search goes on with the better multipliers it found there, and a wider
    band.
    """
    length, size = search.ahead.shape
    work, runs, width = 0.0, 1, FIRST_BAND
    band, edges = None, 0
    search.until = best.begun + limits.seconds
    for _ in range(limits.iterations):
        if best.settled or best.seconds >= limits.seconds:
            break
        if band is None:
            best.prove(search.bound)
            floor = max(best.score, best.bound - width)
            band = search.band(lowered(floor), limits.states)
            if band is None:
                break
            work += size * band.n_nodes
        found = search.best(active, band, best.score, limits.states)
        work += found.work
        best.offer(found.met)
        if found.states is not None:
            best.prove(found.value)
            best.offer(found.states)
            more = np.setdiff1d(wanted(search.problem, found.states), active)
            if not len(more):
                break
            active = sorted({*active, *more.tolist()})
        elif not found.is_exhaustive:
            best.prove(max(found.value, floor))
            break
        else:
            best.prove(max(floor, best.score))
            grows = width < WIDEST_BAND and band.n_edges > edges
            width, edges, band = WIDEN * width if grows else np.inf, band.n_edges, None
            if found.multipliers is not None and not best.settled:
                search, tries = towards(search, found.multipliers)
                runs += tries
                active = sorted({*active, *np.flatnonzero(search.multipliers).tolist()})
    return runs + work / (length * size * size)


def towards(search: Search, multipliers: Floats) -> tuple[Search, int]:
    """The search moved towards multipliers that are good in a band, if the bound falls; the runs it took."""
    for tries, share in enumerate(SHARES, start=1):
        moved = search.moved(search.multipliers + share * (multipliers - search.multipliers))
        if moved.bound < search.bound:
            return moved, tries
    return search, len(SHARES)
