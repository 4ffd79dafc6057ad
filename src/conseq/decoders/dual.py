"""Dual decomposition with hard and soft constraints (Soft-DD, Anzaroot et al. 2014): best paths again and
again on shifted scores.

    Problem ─→ Viterbi ─→ violated primitives are brought in ─→ steps down the dual ─→ … ─→ beams ─→ Decoding

    D(λ) = max_y (score(y) − Σ_p λ_p · sum_p(y)) + Σ_p λ_p · limit_p,   0 ≤ λ_p ≤ penalty_p

Every iteration gives an upper bound and a labelling; the best of both are kept, and when they meet the
labelling is optimal. The first iteration is plain Viterbi. Automata, which have no such multiplier, pass
messages (`messages/`); where a gap stays, sums become automata, too, and beams look for a better labelling.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from conseq.decoders.base import Best, Limits
from conseq.decoders.messages.search import MessagePassing, settle, shares_of, sweep


@dataclass(frozen=True)
class Dual(MessagePassing):
    """Dual decomposition.

    width       labellings that the first beam keeps; 0: no beams, dual decomposition alone
    widest      beams are widened up to this, twofold each time, as long as the gap stays
    """

    name: ClassVar[str] = "dual"

    width: int = 32
    widest: int = 512

    def _settle(self, best: Best, wanted: set[int], limits: Limits) -> float:
        shares = shares_of(best, limits, with_sums=False)
        multipliers = np.zeros(best.problem.program.n_linear)
        runs: float = sweep(best, shares, wanted, multipliers, limits)
        if self.width and not best.is_done(limits):
            runs += settle(best, shares.primitives, limits, shares.least, self).runs
        return max(1.0, runs)
