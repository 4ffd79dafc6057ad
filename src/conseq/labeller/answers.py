"""What decoding found for a part of a corpus.

Corpus, what was found ─→ Answers: labels, n best, probabilities, or one sentence if a sequence has no labels
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from conseq.corpus import Corpus
from conseq.decoders.base import NO_LIMITS, Limits
from conseq.decoders.batch import Decodings, Found
from conseq.decoders.chain.local import with_local_constraints
from conseq.decoders.chain.nbest import nbest
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
from conseq.problem import Decoding, Status

Alternatives = list[tuple[list[str], float]]
"""Labellings with their scores, best first."""


class Answers(ABC):
    """A part of a corpus, the number of its first sequence in the whole, and what was found for it."""

    batch: Corpus
    first: int
    decodings: Found
    certificates: bool  # whether they say more than that Viterbi is exact

    @abstractmethod
    def n_best(self, n: int) -> list[Alternatives]:
        """The n best labellings of each sequence under the rules; fewer at a limit, or if there are fewer."""

    @abstractmethod
    def marginals(self) -> NDArray[np.float64]:
        """The probability of every label at every token under the rules, [T,Y]."""

    @property
    def lattices(self) -> SpanProbabilities | None:
        """What gives segments their probabilities under the rules; None: nothing does."""
        return None

    @abstractmethod
    def broken_without_rules(self) -> NDArray[np.int64]:
        """How many sequences would break each rule if there were no rules, [K]."""

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


@dataclass(frozen=True, eq=False)
class ChainAnswers(Answers):
    """Answers of a model whose sequences have one set of scores for all."""

    batch: Corpus
    first: int
    decodings: Decodings
    certificates: bool = True
    threads: int = 1
    limits: Limits = NO_LIMITS

    def n_best(self, n: int) -> list[Alternatives]:
        """The n best labellings of each sequence under the rules; fewer at a limit, or if there are fewer."""
        problems = self.decodings.problems
        if not problems.program.is_nonlocal.any():
            return self._n_best_of_chain(n)
        ranked = n_best_all(problems, n, self.limits, self.threads, hint=self.decodings.states)
        return [[(d.labels, d.score) for d in best if d.labels is not None] for best in ranked]

    def _n_best_of_chain(self, n: int) -> list[Alternatives]:
        """The same where the rules look at single steps only, so that they are part of the scores."""
        schema = self.decodings.problems.schema
        ranked = nbest(with_local_constraints(self.decodings.problems), n, self.threads)
        found = [[(schema.decode(ids), score) for ids, score in best] for best in ranked]
        for i in np.flatnonzero(self.batch.lengths == 0).tolist():  # which no step charges
            found[i] = [([], float(self.decodings.scores[i]))]
        return found

    def marginals(self) -> NDArray[np.float64]:
        """The probability of every label at every token under the rules, [T,Y].

        Raises with one sentence where there are too many rules for that.
        """
        problems = self.decodings.problems
        return constrained_marginals_all(problems, FOR_SUMS, self.threads, self.first).node

    @property
    def lattices(self) -> SpanProbabilities:
        """What gives segments their probabilities under the rules."""
        problems = self.decodings.problems
        return SpanProbabilities(problems, quick_limits(problems.potentials.n_states))

    def broken_without_rules(self) -> NDArray[np.int64]:
        """How many sequences would break each rule if there were no rules, [K]."""
        problems = self.decodings.problems
        labels = viterbi(problems.potentials, threads=self.threads).labels
        return (problems.program.by_rule(problems.program.violations(labels)) > 0).sum(axis=0)


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
