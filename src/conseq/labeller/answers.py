"""What decoding found for a part of a corpus.

Corpus, Decodings ─→ Answers: labels, n best, probabilities, or one sentence if a sequence has no labels
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from conseq.corpus import Corpus
from conseq.decoders.base import NO_LIMITS, Limits
from conseq.decoders.batch import Decodings
from conseq.decoders.chain.viterbi import viterbi
from conseq.decoders.conflict import SHOWN_TOKENS, explain_infeasible
from conseq.decoders.constrained_marginals import (
    FOR_SUMS,
    SpanProbabilities,
    constrained_marginals_all,
    quick_limits,
)
from conseq.decoders.constrained_nbest import n_best_all
from conseq.errors import InfeasibleError
from conseq.problem import Decoding, Problems, Status

MOST_OF = 0.5
"""Of the time: decoders do not begin what cannot end in what is left of it."""

Alternatives = list[tuple[list[str], float]]
"""Labellings with their scores, best first."""


@dataclass(frozen=True, eq=False)
class Answers:
    """A part of a corpus, the number of its first sequence in the whole, and what was found for it."""

    batch: Corpus
    first: int
    decodings: Decodings
    certificates: bool = True  # whether they say more than that the best labels were found
    threads: int = 1
    limits: Limits = NO_LIMITS
    votes: Callable[[], NDArray[np.float64]] | None = None  # [T,Y], where no probabilities are behind scores

    @property
    def chain(self) -> Problems | None:
        """The problems, if all sequences have the same states."""
        problems = self.decodings.problems
        return problems if isinstance(problems, Problems) else None

    def n_best(self, n: int) -> list[Alternatives]:
        """The n best labellings of each sequence under the rules; fewer at a limit, or if there are fewer."""
        problems, hint = self.decodings.problems, self.decodings.states
        ranked = n_best_all(problems, n, self.limits, self.threads, hint, self.decodings.seconds)
        return [[(d.labels, d.score) for d in best if d.labels is not None] for best in ranked]

    def marginals(self) -> NDArray[np.float64]:
        """The probability of every label at every token, [T,Y].

        It is that under the rules, and one sentence is raised where there are too many for that; or the share
        of the votes, which rules do not change, if the model has nothing but votes.
        """
        if self.chain is None:
            assert self.votes is not None, "scores that are no logarithms of probabilities come with votes"
            return self.votes()
        limits = replace(FOR_SUMS, seconds=self.limits.seconds)
        return constrained_marginals_all(self.chain, limits, self.threads, self.first).node

    @property
    def stopped(self) -> NDArray[np.bool_]:
        """Which sequences took most of their time without a proof that their labels are the best, [N]."""
        return ~self.decodings.certified & (self.decodings.seconds >= MOST_OF * self.limits.seconds)

    @property
    def lattices(self) -> SpanProbabilities | None:
        """What gives segments their probabilities under the rules; None: nothing does."""
        if self.chain is None:
            return None
        return SpanProbabilities(self.chain, quick_limits(self.chain.potentials.n_states))

    def broken_without_rules(self) -> NDArray[np.int64]:
        """How many sequences would break each rule if there were no rules, [K]."""
        problems = self.decodings.problems
        if self.chain is None:
            labels = problems.without_rules(self.threads)
        else:
            labels = viterbi(self.chain.potentials, self.threads).labels
        return (problems.program.by_rule(problems.program.violations(labels)) > 0).sum(axis=0)

    def broken(self) -> NDArray[np.int64]:
        """How many sequences break each rule, [K]."""
        return (self.decodings.violations > 0).sum(axis=0)

    def check(self) -> None:
        """Raise with one sentence if a sequence has no labelling."""
        without = np.flatnonzero(np.isneginf(self.decodings.scores))
        if len(without):
            i = int(without[0])
            tokens = self.batch[i].tokens if self.batch.columns else []
            raise InfeasibleError(_why_none(self.decodings[i], self.first + i, tokens))


def _why_none(found: Decoding, number: int, tokens: list[str]) -> str:
    """Which sequence has no labelling, why, and what to do."""
    shown = f", {' '.join(tokens[:SHOWN_TOKENS])!r}" if tokens else ""
    sequence = f"sequence {number} (from 0{shown})"
    if not found.problem.program.rules:
        return (
            f"{sequence} has no legal labelling that keeps the forced or allowed labels; "
            "change them, or set legal=False"
        )
    if found.certificate.status is Status.INFEASIBLE:
        return explain_infeasible(found.problem, number, tokens)
    return (
        f"no labelling of {sequence} that keeps the hard rules was found, and none was proved impossible; "
        "raise the limit or choose the decoder auto"
    )
