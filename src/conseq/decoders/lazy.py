"""Exact decoding that brings in only the constraints that matter, as product states.

    viterbi ─→ violated? ─→ best path of a lattice under them ─→ violated? ─→ …

Each search looks only at labellings within a band below the bound so far, and widens it until one is found.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conseq.decoders.base import NO_LIMITS, Best, Limits, bring_in, violated
from conseq.decoders.chain.viterbi import first_answer
from conseq.decoders.lattice.lattice import Lattice, chain_of
from conseq.decoders.lattice.search import LatticeSearch, Workspace, lowered
from conseq.decoders.lattice.tracked import Primitives
from conseq.kernels import lattice as lattice_kernel
from conseq.kernels import softdd
from conseq.kernels.lattice import Chain
from conseq.potentials import Potentials
from conseq.problem import Decoding, Problem

Floats = NDArray[np.float64]

FIRST_BAND = 4.0
"""How far below the upper bound labellings are looked for at first; then twice as far, and so on."""
WIDEN = 2.0
WIDEST_BAND = 1e4
EDGES_PER_STATE = 16
"""Edges of a lattice are kept in a few bytes each, product states in many."""
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
        best, states = first_answer(problem, hint)
        if states is None:
            return best.decoding(iterations=1 if problem.n_tokens else 0)
        runs = refine(
            best, ShiftedChain.of(problem, problem.with_local_constraints), violated(problem, states), limits
        )
        return best.decoding(iterations=1 + runs)


@dataclass(frozen=True, eq=False)
class ShiftedChain:
    """The chain of one sequence, its scores shifted by multipliers: what bounds labellings and cuts
    lattices."""

    problem: Problem
    potentials: Potentials  # of the sequence, with the local constraints in them
    chain: Chain  # the same, shifted
    multipliers: Floats  # [R], of all sums of the program
    primitives: Primitives
    workspace: Workspace = field(default_factory=Workspace)

    @classmethod
    def of(
        cls,
        problem: Problem,
        potentials: Potentials,
        multipliers: Floats | None = None,
        primitives: Primitives | None = None,
        workspace: Workspace | None = None,
    ) -> ShiftedChain:
        """Primitives and workspace may be shared by all searches of one thread."""
        primitives = Primitives.of(problem.program) if primitives is None else primitives
        given = primitives.no_multipliers if multipliers is None else multipliers
        chain = chain_of(potentials)
        if given.any():
            scores, effects = softdd.Scores(*chain[:4]), primitives.effects(potentials)
            shifted = softdd.shifted_chain(scores, problem.program.arrays.sums, effects, given)
            chain = Chain(*shifted, chain.kind, chain.label_of)
        return cls(problem, potentials, chain, given, primitives, workspace or Workspace())

    def shifted(self, multipliers: Floats) -> ShiftedChain:
        """The same chain, shifted by other multipliers."""
        return ShiftedChain.of(self.problem, self.potentials, multipliers, self.primitives, self.workspace)

    @cached_property
    def ahead(self) -> Floats:
        """What labels can add after each token, [L,S]."""
        ahead = np.empty(self.chain.unary.shape)
        lattice_kernel.chain_completions(self.chain, ahead)
        return ahead

    @cached_property
    def bound(self) -> float:
        """What no labelling exceeds, by the multipliers."""
        return float((self.chain.start + self.chain.unary[0] + self.ahead[0]).max()) + self.constant

    @cached_property
    def constant(self) -> float:
        """What the multipliers give back at the limits: Σ λ · limit."""
        return float(self.multipliers @ self.primitives.all_limits(len(self.ahead)))

    def search(self, floor: float, most_edges: float, until: float) -> LatticeSearch | None:
        """A search among the labellings of at least `floor`; None if their lattice has too many edges."""
        n_labels = len(self.problem.schema)
        lattice = Lattice.above(self.chain, self.ahead, floor - self.constant, n_labels, most_edges)
        if lattice is None:
            return None
        return LatticeSearch(
            lattice, self.problem, self.primitives, floor, self.multipliers, self.workspace, until
        )

    def towards(self, multipliers: Floats) -> tuple[ShiftedChain, int]:
        """The chain shifted towards multipliers that are good in a lattice, if its bound falls; the runs."""
        for tries, share in enumerate(SHARES, start=1):
            moved = self.shifted(self.multipliers + share * (multipliers - self.multipliers))
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
    search = _Widening(best, chain, limits, edges_per_state * limits.states)
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
            search = self.lattice = self.lattice or self._lattice()
            if search is None:
                return None
            tracked = sorted({*active, *np.flatnonzero(self.chain.multipliers).tolist()})
            found = search.best(tracked, best.score, limits.states)
            self.work += found.work
            if found.met is not None:
                best.offer(search.lattice.states_of(found.met))
            if found.path is not None:
                best.prove(found.value)
                states = search.lattice.states_of(found.path)
                best.offer(states)
                return violated(best.problem, states)
            if not found.is_exhaustive:
                best.prove(max(found.value, search.floor))
                return None
            best.prove(max(search.floor, best.score))
            self._widen(search, found.multipliers)
        return None

    def _lattice(self) -> LatticeSearch | None:
        best, limits = self.best, self.limits
        best.prove(self.chain.bound)
        floor = max(best.score, best.bound - self.width)
        search = self.chain.search(lowered(floor), self.most_edges, best.begun + limits.seconds)
        if search is not None:
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
