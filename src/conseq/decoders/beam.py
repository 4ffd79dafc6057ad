"""Beam search: labellings grow from left to right, and only the most promising ones are kept.

    Problem ─→ Viterbi ─→ violated primitives are tracked ─→ beam ─→ violated by its best? ─→ … ─→ Decoding

A labelling that is cut off after some token can at most reach

    score so far − cost so far + best completion of the chain − minimum remaining cost of the automata

which ranks the labellings; before each beam a pass of messages (`messages/`) tells chain and automata what
the others make of the labels. What is dropped can reach no more than the best rank among it; so the search
gives an upper bound, too, and proves its answer where nothing dropped ranked above it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from conseq.decoders.base import NO_LIMITS, Hint, Limits, bring_in
from conseq.decoders.chain.viterbi import first_answer
from conseq.decoders.messages.search import look, pass_messages
from conseq.decoders.messages.shares import Shares
from conseq.problem import Decoding, Problem


@dataclass(frozen=True)
class Beam:
    """Beam search that keeps `width` labellings after each token."""

    name: ClassVar[str] = "beam"

    width: int = 8

    def decode(self, problem: Problem, *, limits: Limits = NO_LIMITS, hint: Hint = None) -> Decoding:
        """The best labelling of the beams; the bound is that of the chain or of what the beams dropped."""
        best, wanted = first_answer(problem, hint)
        rounds = 0
        if wanted:
            shares = Shares(problem, np.inf, best.begun + limits.seconds, limits)

            def solve(active: list[int]) -> set[int] | None:
                if best.is_done(limits):
                    return None
                shares.add(active)
                return look(best, shares, self.width) if pass_messages(best, shares) else None

            rounds = bring_in(wanted, solve, max(0, limits.iterations - 1))  # Viterbi was the first
        return best.decoding(iterations=1 + rounds if problem.n_tokens else 0)
