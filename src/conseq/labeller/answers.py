"""What decoding found for a part of a corpus.

Corpus, Decodings ─→ Answers: labels, n best, probabilities, or one sentence if a sequence has no labels
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from conseq.corpus import Corpus
from conseq.decoders.batch import Decodings
from conseq.decoders.conflict import SHOWN_TOKENS, explain_infeasible
from conseq.decoders.marginals import marginals
from conseq.decoders.nbest import nbest
from conseq.decoders.relaxation import folded
from conseq.decoders.viterbi import viterbi
from conseq.errors import InfeasibleError
from conseq.potentials import Potentials
from conseq.problem import Decoding, Status

Alternatives = list[tuple[list[str], float]]
"""Labellings with their scores, best first."""


@dataclass(frozen=True, eq=False)
class Answers:
    """A part of a corpus, the number of its first sequence in the whole, and what was found for it."""

    batch: Corpus
    first: int
    decodings: Decodings
    threads: int = 1

    @cached_property
    def chain(self) -> Potentials:
        """The scores with the rules in them that look at single steps; confidences come from these.

        Rules that look further are not in them, nor in `n_best` and `marginals`.
        """
        return folded(self.decodings.problems)

    def n_best(self, n: int) -> list[Alternatives]:
        """The n best labellings of each sequence, under the rules that `chain` knows."""
        schema = self.decodings.problems.schema
        ranked = nbest(self.chain, n, self.threads)
        return [[(schema.decode(ids), score) for ids, score in best] for best in ranked]

    def marginals(self) -> NDArray[np.float64]:
        """The probability of every label at every token, [T,Y], under the rules that `chain` knows."""
        return marginals(self.chain, threads=self.threads).node

    def broken(self) -> NDArray[np.int64]:
        """How many sequences break each rule, [K]."""
        return (self.decodings.violations > 0).sum(axis=0)

    def broken_without_rules(self) -> NDArray[np.int64]:
        """How many sequences would break each rule if there were no rules, [K]."""
        problems = self.decodings.problems
        labels = viterbi(problems.potentials, threads=self.threads).labels
        return (problems.program.by_rule(problems.program.violations(labels)) > 0).sum(axis=0)

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
