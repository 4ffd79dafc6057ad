"""Exact decoding that brings in only the constraints that matter, as product states.

    viterbi ─→ violated? ─→ best path of a lattice under them ─→ violated? ─→ …

Each search looks only at labellings within a band below the bound so far, and widens it until one is found.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from conseq.decoders.base import NO_LIMITS, Best, Hint, Limits, bring_in
from conseq.decoders.chain.viterbi import chain_of, first_answer
from conseq.decoders.lattice.lattice import EDGE, EDGES_PER_STATE, Lattice, TooManyStates
from conseq.decoders.lattice.search import LatticeSearch, lowered
from conseq.decoders.lattice.tracked import Primitives
from conseq.dtypes import Floats
from conseq.kernels.chain import Chain
from conseq.kernels.lattice import chain_completions
from conseq.kernels.softdd import shifted_chain
from conseq.potentials import Potentials
from conseq.problem import Decoding, Problem

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

    def decode(self, problem: Problem, *, limits: Limits = NO_LIMITS, hint: Hint = None) -> Decoding:
        """The best labelling, or the best found within the limits and its gap."""
        best, wanted = first_answer(problem, hint)
        if wanted is None:
            return best.decoding(iterations=1 if problem.n_tokens else 0)
        runs = refine(best, ShiftedChain.of(problem, problem.with_local_constraints), wanted, limits)
        return best.decoding(iterations=1 + runs)


@dataclass(frozen=True, eq=False)
class ShiftedChain:
    """The chain of one sequence, its scores shifted by multipliers: what bounds labellings and cuts
    lattices."""

    problem: Problem
    potentials: Potentials  # of the sequence, with the local constraints in them
    multipliers: Floats  # [R], of all sums of the program

    @classmethod
    def of(cls, problem: Problem, potentials: Potentials) -> ShiftedChain:
        """The chain as it is."""
        return cls(problem, potentials, np.zeros(problem.program.n_linear))

    @cached_property
    def chain(self) -> Chain:
        """The scores of the potentials, shifted."""
        chain, program = chain_of(self.potentials), self.problem.program
        if not self.multipliers.any():
            return chain
        effects = Primitives.of(program).effects(self.potentials)
        return Chain(*shifted_chain(chain, program.arrays.sums, effects, self.multipliers))

    @cached_property
    def ahead(self) -> Floats:
        """What labels can add after each token, [L,S]."""
        return chain_completions(self.chain)

    @cached_property
    def bound(self) -> float:
        """What no labelling exceeds, by the multipliers."""
        return float((self.chain.start + self.chain.unary[0] + self.ahead[0]).max()) + self.constant

    @cached_property
    def constant(self) -> float:
        """What the multipliers give back at the limits: Σ λ · limit."""
        limits = Primitives.of(self.problem.program).all_limits(len(self.ahead))
        return float(self.multipliers @ limits)

    def search(self, floor: float, most_edges: float, until: float) -> LatticeSearch:
        """A search among the labellings of at least `floor`; TooManyStates if these have too many edges."""
        n_labels = len(self.problem.schema)
        lattice = Lattice.above(self.chain, self.ahead, floor - self.constant, n_labels, most_edges)
        return LatticeSearch(lattice, self.problem, self.multipliers, floor, until)

    def towards(self, multipliers: Floats) -> tuple[ShiftedChain, int]:
        """The chain shifted towards multipliers that are good in a lattice, if its bound falls; the runs."""
        for tries, share in enumerate(SHARES, start=1):
            between = self.multipliers + share * (multipliers - self.multipliers)
            moved = replace(self, multipliers=between)
            if moved.bound < self.bound:
                return moved, tries
        return self, len(SHARES)


def refine(
    best: Best,
    chain: ShiftedChain,
    first: list[int],
    limits: Limits,
    edges_per_state: float = EDGES_PER_STATE,
) -> float:
    """Search under the primitives that are violated, bring in others that the answer violates; the Viterbi
    runs.

    Leaves in `best` the optimum, or where a limit stopped it the best labelling and the bound so far.
    """
    search = _Widening(best, chain, limits, min(edges_per_state * limits.states, limits.room(EDGE)))
    if not first and not best.settled:
        first = search.solve([]) or []
    bring_in(first, search.solve, limits.iterations)
    length, size = chain.chain.unary.shape
    return search.runs + search.work / (length * size * size) if search.runs else 0.0


@dataclass
class _Widening:
    """Searches in a band below the bound that grows until it has a labelling."""

    best: Best
    chain: ShiftedChain
    limits: Limits
    most_edges: float
    width: float = FIRST_BAND
    edges: int = 0  # of the last lattice that had no labelling
    rounds: int = 0
    runs: int = 0
    work: float = 0.0
    lattice: LatticeSearch | None = None

    def solve(self, active: list[int]) -> list[int] | None:
        """The best labelling under the active primitives; what it violates, or None if it was not found."""
        best, limits = self.best, self.limits
        self.runs = max(1, self.runs)
        while not best.is_done(limits) and self.rounds < limits.iterations:
            self.rounds += 1
            try:
                search = self.lattice = self.lattice or self._lattice()
            except TooManyStates:
                return None
            tracked = sorted({*active, *np.flatnonzero(self.chain.multipliers).tolist()})
            found = search.best(tracked, best.score, limits)
            self.work += found.work
            if found.met is not None:
                best.offer(search.lattice.states_of(found.met))
            if found.path is not None:
                best.prove(found.value)
                return best.offer(search.lattice.states_of(found.path))
            if not found.is_exhaustive:
                best.prove(max(found.value, search.floor))
                return None
            best.prove(max(search.floor, best.score))
            self._widen(search, found.multipliers)
        return None

    def _lattice(self) -> LatticeSearch:
        best, limits = self.best, self.limits
        best.prove(self.chain.bound)
        floor = max(best.score, best.bound - self.width)
        search = self.chain.search(lowered(floor), self.most_edges, best.begun + limits.seconds)
        self.work += search.lattice.n_nodes * self.chain.potentials.n_states
        return search

    def _widen(self, search: LatticeSearch, multipliers: Floats | None) -> None:
        """There was nothing in the band: a wider one, along the better multipliers that were found there."""
        grows = self.width < WIDEST_BAND and search.lattice.n_edges > self.edges
        self.width = WIDEN * self.width if grows else np.inf
        self.edges, self.lattice = search.lattice.n_edges, None
        if multipliers is not None and not self.best.settled:
            self.chain, tries = self.chain.towards(multipliers)
            self.runs += tries
