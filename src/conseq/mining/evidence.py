"""What rules are learned from: labelled sequences and the scores of a model that has not learned from them.

    corpus + gold labels + Potentials ─→ Evidence ─→ predicted labels; what either of them breaks

Axes: T tokens, N sequences, Y labels, K rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conseq.constraints.base import Constraint
from conseq.constraints.program import Program
from conseq.corpus import Corpus, gathered
from conseq.decoders.chain.viterbi import viterbi
from conseq.dtypes import Floats, Ids
from conseq.errors import DataError
from conseq.potentials import Potentials, join
from conseq.schema import Schema


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
