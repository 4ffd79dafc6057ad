"""What constraint satisfaction inference found for a part of a corpus.

Predictions, rules ─→ TrigramAnswers: labels with certificates, shares as probabilities
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from conseq.constraints.base import Constraint
from conseq.constraints.program import Program
from conseq.corpus import Corpus
from conseq.decoders.auto import find_decoder
from conseq.decoders.base import NO_LIMITS, Decoder, Limits
from conseq.decoders.constrained_nbest import n_best_decodings
from conseq.labeller.answers import Alternatives, Answers
from conseq.models import csinf
from conseq.models.distributions import Distributions
from conseq.models.trigrams import Predictions, TrigramClasses
from conseq.problem import Decoding, Problem, Status
from conseq.schema import Schema


@dataclass(frozen=True, eq=False)
class TrigramAnswers(Answers):
    """Answers of a model that classifies tokens into trigrams of labels."""

    batch: Corpus
    first: int
    predictions: Predictions
    found: Distributions
    classes: TrigramClasses
    schema: Schema
    rules: Sequence[Constraint]
    allowed: NDArray[np.bool_] | None = None  # [T,Y], which labels tokens may take
    decoder: str | Decoder = "auto"
    threads: int = 1
    limits: Limits = NO_LIMITS

    @property
    def certificates(self) -> bool:  # type: ignore[override]  # a constant of others
        return bool(self.rules)

    @cached_property
    def decodings(self) -> Reconciled:  # type: ignore[override]  # made when it is asked for
        """With rules by a decoder of the core, without by dynamic programming for all sequences at once."""
        return Reconciled(self)

    def decoded(self, i: int) -> Decoding:
        """One sequence through the core; if rules leave none of the proposed labels, with all labels."""
        decoder = find_decoder(self.decoder)
        found = decoder.decode(self._problem(i), limits=self.limits)
        if found.certificate.status is Status.INFEASIBLE:
            found = decoder.decode(self._problem(i, any_label=True), limits=self.limits)
        return found

    def n_best(self, n: int) -> list[Alternatives]:
        """Of the labels that are proposed; of all, if rules leave none of those."""
        return [self._n_best_of(i, n) for i in range(len(self.batch))]

    def _n_best_of(self, i: int, n: int) -> Alternatives:
        ranked = n_best_decodings(self._problem(i), n, self.limits)
        ranked = ranked or n_best_decodings(self._problem(i, any_label=True), n, self.limits)
        return [(d.labels, d.score) for d in ranked if d.labels is not None]

    def _problem(self, i: int, any_label: bool = False) -> Problem:
        part, corpus = self.predictions.select(i), self.batch.select([i])
        a, b = self.batch.offsets[i : i + 2].tolist()
        allowed = None if self.allowed is None else self.allowed[a:b]
        (problem,) = csinf.problems(
            part, self.rules, schema=self.schema, corpus=corpus, any_label=any_label, allowed=allowed
        )
        return problem

    def marginals(self) -> NDArray[np.float64]:
        """The share of the votes for each label at each token, [T,Y]; rules do not change it."""
        shares = np.zeros((len(self.found), len(self.schema)))
        row = np.repeat(np.arange(len(self.found)), np.diff(self.found.indptr))
        np.add.at(shares, (row, self.classes.parts[self.found.cls, 1]), self.found.share)
        return shares

    def broken_without_rules(self) -> NDArray[np.int64]:
        return (self.violations_of(self.predictions.csinf(self.threads)) > 0).sum(axis=0)

    def violations_of(self, labels: NDArray[np.int32]) -> NDArray[np.float64]:
        """How much labels break each rule in each sequence, [N,K]."""
        program = Program.of(self.rules, self.schema, self.batch)
        return program.by_rule(program.violations(labels))


class Reconciled:
    """The labellings of all sequences of some answers."""

    def __init__(self, answers: TrigramAnswers) -> None:
        self.answers, self.rules = answers, answers.rules
        self.plain = not self.rules and answers.allowed is None
        n = len(answers.batch)
        if self.plain:
            self.labels, self.scores = answers.predictions.solve(answers.threads)
            self.iterations, self.certified = np.ones(n), np.ones(n, dtype=bool)
            self.violations = np.zeros((n, 0))
            return
        self._each = [answers.decoded(i) for i in range(n)]
        states = [(d.problem.label_of[d.states] if d.states is not None else None) for d in self._each]
        lengths = answers.batch.lengths.tolist()
        parts = [np.full(m, -1) if s is None else s for s, m in zip(states, lengths, strict=True)]
        self.labels = np.concatenate([np.empty(0), *parts]).astype(np.int32)
        self.scores = np.array([d.score for d in self._each])
        self.iterations = np.array([d.certificate.iterations for d in self._each])
        self.certified = np.array([d.certificate.status is Status.OPTIMAL for d in self._each], dtype=bool)
        self.violations = answers.violations_of(self.labels)

    def __getitem__(self, i: int) -> Decoding:
        if not self.plain:
            return self._each[i]
        predictions, (a, b) = self.answers.predictions, self.answers.batch.offsets[i : i + 2].tolist()
        (found,) = csinf.solved(predictions.select(i), self.labels[a:b], schema=self.answers.schema)
        return found

    def __iter__(self) -> Iterator[Decoding]:
        return (self[i] for i in range(len(self.scores)))
