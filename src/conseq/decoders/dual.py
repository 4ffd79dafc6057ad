"""Dual decomposition with hard and soft constraints (Soft-DD, Anzaroot et al. 2014): best paths again and
again on shifted scores.

    Problem ─→ Viterbi ─→ violated primitives are brought in ─→ steps down the dual ─→ … ─→ beam ─→ Decoding

Every iteration gives an upper bound (`lattice/dual.py`) and a labelling; the best of both are kept, and when
they meet the labelling is optimal. The first iteration is plain Viterbi. Where a gap stays, a beam search
that the multipliers of the sums guide looks for a better labelling and often closes it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conseq.constraints.primitives import Linear
from conseq.decoders.base import NO_LIMITS, Best, Limits, bring_in, violated
from conseq.decoders.beam import Readers, beam_search
from conseq.decoders.chain.viterbi import first_answer
from conseq.decoders.lattice.dual import DualFunction
from conseq.decoders.lattice.lattice import Lattice, TooManyStates
from conseq.decoders.lattice.reader import Reader
from conseq.decoders.lattice.search import lowered
from conseq.kernels import multipliers as kernel
from conseq.problem import Decoding, Problem

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Dual:
    """Dual decomposition.

    shortest    when steps are this share of Polyak's or shorter, the gap is taken to be real
    lost        iterations without any labelling after which a search begins
    width       labellings that the beam search keeps; 0: no search, dual decomposition alone
    widest      beams are widened up to this, fourfold each time, as long as the gap stays

    >>> from conseq.constraints import Segments
    >>> from conseq.potentials import Potentials
    >>> from conseq.problem import Problems
    >>> from conseq.schema import Schema
    >>> scores = Potentials.of([[0.0, 3.0], [1.0, 0.0], [0.0, 2.0]])
    >>> rule = Segments("at most", 1, "A", penalty=5.0)
    >>> Dual().decode(Problems.of(scores, Schema(["O", "A"], "plain"), [rule])[0])
    Decoding(A A A; score 5, OPTIMAL)
    """

    name: ClassVar[str] = "dual"

    shortest: float = 0.1
    lost: int = 30
    width: int = 32
    widest: int = 512

    def decode(
        self, problem: Problem, *, limits: Limits = NO_LIMITS, hint: ArrayLike | None = None
    ) -> Decoding:
        """The best labelling and the least bound met within the limits."""
        best, states = first_answer(problem, hint)
        wanted = [] if states is None else violated(problem, states)
        if best.closed or not wanted or limits.iterations <= 1:
            return best.decoding(iterations=1 if problem.n_tokens else 0)
        lattice = Lattice.of(problem.with_local_constraints, len(problem.schema), lowered(best.score))
        descent = _Descent(self, best, DualFunction(problem, lattice), limits)
        bring_in(wanted, descent.solve, limits.iterations)
        return best.decoding(iterations=descent.iterations)


class _Descent:
    """Where the multipliers stand, and what was met on the way down."""

    def __init__(self, options: Dual, best: Best, dual: DualFunction, limits: Limits) -> None:
        self.options, self.best, self.dual, self.limits = options, best, dual, limits
        self.readers = Readers(best.problem, dual.lattice, limits)
        self.point: Floats = np.zeros(0)
        self.best_point = self.point
        self.refused: set[int] = set()
        self.spread = _spread(dual.lattice.graph.gains)
        self.state = kernel.descent(self.spread)
        self.iterations = 1.0

    def solve(self, active: list[int]) -> list[int] | None:
        """Go down the dual until a labelling violates something new; where a gap stays, search."""
        for p in active:
            if p not in self.dual.members and p not in self.refused:
                try:
                    self.dual.add(p, self.limits.states)
                except TooManyStates:
                    self.refused.add(p)
        new = self._descend(set(active))
        if new or not self.options.width or self.best.is_done(self.limits):
            return [*new]
        new = self._search(active, set(active))
        self.point, self.state = self.best_point, kernel.descent(self.spread)  # begin again with long steps
        return [*new]

    def _descend(self, active: set[int]) -> set[int]:
        """Steps down from the point so far; primitives not active that a labelling met violates.

        At the first point the labelling is the one that brought new primitives in, so that is no iteration.
        """
        point, moved = self._grown(self.point), False
        self.best_point = self._grown(self.best_point)
        while not self.best.is_done(self.limits):
            bound, excess, states = self.dual.value(point)
            self.best.prove(bound)
            if states is None or bound == -np.inf:
                return set()
            self.iterations += moved
            self.best.offer(states)
            if (moved or not self.state[kernel.ROUNDS]) and kernel.note(self.state, bound):
                self.best_point = point
            new = set(violated(self.best.problem, states)) - active
            self.point = point
            if new or self.best.closed or self._is_stuck():
                return new
            point, moved = point.copy(), True
            gap = kernel.gap_to_close(self.state, bound, self.best.score)
            if not kernel.move(point, excess, self.dual.lower, self.dual.upper, gap):
                return set()
        return set()

    def _grown(self, point: Floats) -> Floats:
        """The point with zeros for the multipliers that came later."""
        return np.append(point, np.zeros(len(self.dual) - len(point)))

    def _is_stuck(self) -> bool:
        """Whether the dual cannot be lowered much, or there is no labelling, where it falls forever."""
        lost = self.best.states is None and self.state[kernel.ROUNDS] >= self.options.lost
        short = self.state[kernel.STEP] < self.options.shortest
        return bool(short or (lost and self.options.width) or self.iterations >= self.limits.iterations)

    def _search(self, active: list[int], known: set[int]) -> set[int]:
        """Beams, wider and wider; primitives not active that a labelling met violates."""
        tracked = self.readers.usable(active)
        lattice, readers = self._guided(tracked)
        width, until = self.options.width, self.best.begun + self.limits.seconds
        room = self.limits.states // (self.best.problem.n_tokens * (1 + len(readers)))
        while width <= min(room, self.options.widest):
            found, bound = beam_search(lattice, readers, width, self.best.score, until)
            self.iterations += width / self.best.problem.n_states
            self.best.prove(bound)
            new: set[int] = set()
            for states in found:
                self.best.offer(states)
                new |= set(violated(self.best.problem, states)) - known
            if new or self.best.settled or bound == np.inf:
                return new
            width *= 4
        return set()

    def _guided(self, tracked: list[int]) -> tuple[Lattice, list[Reader]]:
        """The lattice shifted by the multipliers of the tracked sums, and readers that give back what it
        pays."""
        problem, lattice = self.best.problem, self.dual.lattice
        gains, readers = lattice.graph.gains, self.readers.of(tracked)
        multipliers = self.dual.sums_at(self.best_point)
        for i, p in enumerate(tracked):
            linear = problem.charges[p].primitive
            if p in multipliers and isinstance(linear, Linear):
                gains = gains - multipliers[p] * lattice.amounts(problem, linear)
                amounts = np.tile(linear.alphabet[0], 2)
                readers[i] = replace(readers[i], cost=readers[i].cost - multipliers[p] * amounts)
        guided = lattice.with_gains(gains)
        return guided, [replace(reader, lattice=guided) for reader in readers]


def _spread(gains: Floats) -> float:
    """How far apart the scores of edges lie: what a first guess of the gap may go by."""
    finite = gains[np.isfinite(gains)]
    return 1.0 + float(np.ptp(finite)) if len(finite) else 1.0
