"""What rules are learned from: labelled sequences and the scores of a model that has not learned from them.

    corpus + gold labels + Potentials ─→ Evidence ─→ predicted labels; what either of them breaks
                                                  ─→ lessons and scores for learners of penalties (`Examples`)

Axes: T tokens, N sequences, Y labels, K rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conseq.constraints.base import Constraint, Rule
from conseq.constraints.program import Program
from conseq.corpus import Corpus, gathered
from conseq.decoders.auto import decode_all
from conseq.decoders.base import Limits
from conseq.decoders.chain.viterbi import viterbi
from conseq.dtypes import Floats, Ids
from conseq.errors import DataError
from conseq.metrics import score_ids
from conseq.potentials import Potentials, join
from conseq.problem import Problems
from conseq.schema import Schema

LIMITS = Limits(states=5_000, nodes=0)
"""For one sequence while penalties are learned; where rules interact more, the best labels so far are taken.
No limit of time, so that the same data and seed give the same penalties."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """Labelled sequences, and how a model scores them.

    The model must not have learned from them: on its own training data it breaks hardly any rule. Labels that
    it does not know have the score −inf (`Evidence.of` sees to that).
    """

    corpus: Corpus
    schema: Schema
    gold: Ids  # [T]
    potentials: Potentials  # over the labels of the schema
    threads: int = field(default=1, kw_only=True)

    @classmethod
    def of(
        cls, corpus: Corpus, schema: Schema, gold: Ids, potentials: Potentials, *, threads: int = 1
    ) -> Evidence:
        """Evidence from the scores of a model that knows the first labels of the schema, or all of them."""
        if not np.array_equal(corpus.offsets, potentials.offsets):
            raise DataError(
                f"there are {len(corpus)} labelled sequences with {corpus.n_tokens} tokens, and scores for "
                f"{len(potentials)} with {potentials.n_tokens}; give a row of scores per token"
            )
        if potentials.n_states < len(schema):
            potentials = potentials.among(np.arange(potentials.n_states), len(schema))
        return cls(corpus, schema, gold, potentials, threads=threads)

    @classmethod
    def joined(cls, parts: Sequence[Evidence]) -> Evidence:
        """One piece of evidence from several, over the labels of the first and those that the others add."""
        schema = parts[0].schema
        for part in parts[1:]:
            schema = schema.extended(part.schema.labels)
        parts = [part.over(schema) for part in parts]
        corpus = Corpus.joined([part.corpus for part in parts])
        gold = np.concatenate([part.gold for part in parts])
        potentials = join([part.potentials for part in parts])
        return cls(corpus, schema, gold, potentials, threads=parts[0].threads)

    def over(self, schema: Schema) -> Evidence:
        """The same over a schema that has all of its labels; the model gives none of the others."""
        if schema.labels == self.schema.labels:
            return self
        place = schema.vocabulary.encode(self.schema.labels)
        potentials = self.potentials.among(place, len(schema))
        return replace(self, schema=schema, gold=place[self.gold], potentials=potentials)

    def __len__(self) -> int:
        return len(self.corpus)

    @cached_property
    def predicted(self) -> Ids:
        """The model's labels without any rules but legality, [T]."""
        return viterbi(self.potentials, self.threads).labels

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """The labels that the model can give to some token, [Y]."""
        return np.asarray((self.potentials.unary > -np.inf).any(axis=0), dtype=np.bool_)

    def select(self, sequences: ArrayLike) -> Evidence:
        """The evidence of some sequences, in this order."""
        chosen = np.arange(len(self))[np.asarray(sequences, dtype=np.int64)]
        corpus, potentials = self.corpus.select(chosen), self.potentials.select(chosen)
        _, tokens = gathered(self.corpus.offsets, chosen)
        return replace(self, corpus=corpus, gold=self.gold[tokens], potentials=potentials)

    def broken_by_gold(self, rules: Iterable[Constraint]) -> Floats:
        """How much the gold labels of each sequence violate each rule, [N,K]."""
        return self.broken_by(rules, self.gold)

    def broken_by_model(self, rules: Iterable[Constraint]) -> Floats:
        """How much the model's labels of each sequence violate each rule, [N,K]."""
        return self.broken_by(rules, self.predicted)

    def broken_by(self, rules: Iterable[Constraint], labels: Ids) -> Floats:
        """How much some labels of these sequences violate each rule, [N,K]."""
        program = Program.of(rules, self.schema, self.corpus)
        return program.by_rule(program.violations(labels))

    # ── what learners of penalties ask for (`Examples`, penalties.py) ───────────────────────────

    def start(self, n_rules: int) -> Floats:
        """The penalties before anything was learned, [K]."""
        return np.zeros(n_rules)

    def lesson(self, rules: Sequence[Constraint], margin: float) -> Lesson:
        """These sequences with the rules lowered; each wrong token has `margin` points more."""
        soft = [replace(rule, penalty=1.0) for rule in rules]  # a hard one has no penalty to learn
        program = Program.of(soft, self.schema, self.corpus)
        gold = program.by_rule(program.violations(self.gold))
        return Lesson(self._with_margin(margin), program, gold, self.threads)

    def _with_margin(self, margin: float) -> Potentials:
        if not margin:
            return self.potentials
        unary = self.potentials.unary + margin
        unary[np.arange(len(unary)), self.gold] -= margin
        return replace(self.potentials, unary=unary)

    def score(self, penalties: Floats, rules: Sequence[Constraint], metric: str) -> float:
        """The metric of the best labels under the rules with these penalties."""
        labels = self.labels_under(with_penalties(rules, penalties))
        return score_ids(self.gold, labels, self.corpus.offsets, self.schema, metric)

    def labels_under(self, rules: Sequence[Constraint]) -> Ids:
        """The best labels under rules, [T]."""
        problems = Problems.of(self.potentials, self.schema, rules, self.corpus)
        return decode_all(problems, limits=LIMITS, threads=self.threads).labels


@dataclass(frozen=True, eq=False)
class Lesson:
    """A batch of sequences: scores (with the margin), rules lowered once, what the gold labels violate."""

    potentials: Potentials
    program: Program
    gold: Floats  # [N,K]
    threads: int

    def __len__(self) -> int:
        return len(self.gold)

    def excess(self, penalties: Floats) -> Floats:
        """How much more than gold the best labels under these penalties violate each rule, [N,K]."""
        problems = Problems(self.potentials, self.program.with_penalties(penalties.tolist()))
        return decode_all(problems, limits=LIMITS, threads=self.threads).violations - self.gold


AnyRule = TypeVar("AnyRule", bound=Rule)


def with_penalties(rules: Sequence[AnyRule], penalties: Floats) -> list[AnyRule]:
    """The rules with these penalties, those of 0 left out."""
    pairs = zip(rules, penalties.tolist(), strict=True)
    return [replace(rule, penalty=penalty) for rule, penalty in pairs if penalty > 0]
