"""Dual decomposition with hard and soft constraints (Soft-DD): Viterbi again and again on shifted scores.

    Problem ─→ Viterbi ─→ violated primitives are brought in ─→ steps down the dual ─→ … ─→ beam ─→ Decoding

Every iteration gives an upper bound (`lagrangian.py`) and a labelling; the best of both are kept, and when
they meet the labelling is optimal. The first iteration is plain Viterbi. Where a gap stays, a beam search
that the multipliers guide looks for a better labelling and often closes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from conseq.decoders.base import NO_LIMITS, Best, Limits
from conseq.decoders.beam import Guide, search
from conseq.decoders.descent import Descent
from conseq.decoders.subproblems import Floats
from conseq.problem import Decoding, Problem


@dataclass(frozen=True)
class Dual:
    """Dual decomposition.

    step        how far to go at first, as a share of what would close the gap if the dual were linear
    patience    iterations without a better bound after which steps are halved
    shortest    when steps are this short, the gap is taken to be real
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

    step: float = 1.5
    patience: int = 4
    shortest: float = 0.1
    lost: int = 30
    width: int = 32
    widest: int = 512

    def decode(
        self, problem: Problem, *, limits: Limits = NO_LIMITS, hint: ArrayLike | None = None
    ) -> Decoding:
        """The best labelling and the least bound met within the limits."""
        best = Best(problem)
        if problem.n_tokens == 0:
            return Best.of_empty(problem)
        best.offer(hint)
        rounds = _Rounds(self, Descent(best, limits, self.step, self.patience, self.shortest))
        while rounds.descend() and self.width and rounds.search():
            pass
        return best.decoding(iterations=rounds.iterations)


class _Rounds:
    """Descents and searches in turn."""

    def __init__(self, options: Dual, descent: Descent) -> None:
        self.options = options
        self.descent = descent
        self.best = descent.best
        self.beams = 0.0

    @property
    def iterations(self) -> float:
        """Viterbi runs; a beam of W labellings looks at W/S times as many steps as one."""
        return self.descent.iterations + self.beams

    def descend(self) -> bool:
        """Go down the dual; True if that has come to its end with a gap."""
        return self.descent.run(self.options.lost if self.options.width else None)

    def search(self) -> bool:
        """Beams, wider and wider; True if they found something from which the dual can go on."""
        dual, width = self.descent.dual, self.options.width
        before = len(dual), self.best.states is None
        ahead, guides = dual.guides(self.descent.best_point, self.descent.limits.states)
        room = self.descent.limits.states // (self.best.problem.n_tokens * (1 + len(guides)))
        while width <= min(room, self.options.widest) and not self._beam(ahead, guides, width):
            width *= 4
        self.descent.restart()
        return (len(dual), self.best.states is None) != before and not self.best.closed

    def _beam(self, ahead: Floats, guides: list[Guide], width: int) -> bool:
        """One beam search; True if a wider one would be of no use or must not be."""
        descent = self.descent
        before = len(descent.dual)
        until = self.best.begun + descent.limits.seconds
        found, bound = search(descent.dual.chain, ahead, guides, width, self.best.score, until)
        self.beams += width / self.best.problem.n_states
        self.best.prove(bound)
        for states in found:
            descent.offer(states)
        return self.best.closed or bound in (-np.inf, np.inf) or len(descent.dual) > before
