"""What every labeller can do, whatever model it has.

    corpus ─answers─→ Answers, batch by batch ─→ predict, decode, label, n best, probabilities, scores

A labeller says how it answers for a batch (`_answer`) and why (`_explained`); everything else is here.
"""

from __future__ import annotations

import copy
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from conseq import persist
from conseq.archive import unpacking
from conseq.constraints.base import Constraint
from conseq.constraints.language import Rules
from conseq.constraints.program import Program
from conseq.corpus import Corpus
from conseq.decoders.auto import decode_all
from conseq.decoders.base import NO_LIMITS, Decoder, Limits
from conseq.errors import ModelError
from conseq.estimator import Estimator, Group
from conseq.io.objects import corpus_from
from conseq.kernels import clock
from conseq.labelled import Labelled, TokenMarginals, label_corpus
from conseq.labeller.allowed import Allowed, allowed_mask, check_allowed
from conseq.labeller.answers import Alternatives, Answers
from conseq.labeller.explanation import TokenExplanation
from conseq.labeller.rules import rules_of
from conseq.labeller.training import TrainingData
from conseq.metrics import Report, evaluate_ids, score_ids
from conseq.options import RuleOptions
from conseq.potentials import Potentials
from conseq.problem import Decoding, Problems
from conseq.schema import Schema, Scheme, convert_column
from conseq.threads import threads_of

AnyLabeller = TypeVar("AnyLabeller", bound="Labeller")

BATCH = 100_000
"""Tokens decoded at a time, so that memory does not grow with the input."""


class Labeller(Estimator, ABC):
    """A learner of labels for sequences; what ends in _ is there once it is trained."""

    model_type: ClassVar[str]
    """What its model files are marked with."""

    decoder: str | Decoder
    limit: float | None
    scoring: str
    n_jobs: int | None
    constraints: Any
    rules: Group[RuleOptions] = Group(RuleOptions)
    schema_: Schema
    source_scheme_: Scheme  # in which the training data was written
    columns_: list[str]  # of the training data
    input_: dict[str, Any]  # how the data was read, for whoever reads more of it
    constraints_: tuple[Constraint, ...]
    learned_: Any  # rules and penalties learned in training, if any
    observer: Callable[[Answers], None] | None = None
    """Is given what decoding found, batch by batch."""

    @abstractmethod
    def fit(self, X: Any, y: Iterable[Sequence[str]] | None = None) -> Self:
        """Learn from labelled sequences."""

    @abstractmethod
    def _check_options(self) -> None:
        """Raise if an option cannot be used."""

    def untrained(self) -> Self:
        """A labeller with the same options and no rules, to be trained."""
        return type(self)(**{**self.get_params(), "constraints": None})

    def _begin(self, data: TrainingData, rules: Rules) -> None:
        """What `fit` does first: forget the old model, learn about the labels and columns, look at the rules.

        It raises if the rules name what the data has not.
        """
        vars(self).pop("model_", None)  # if this fails, the old weights must not meet the new labels
        self.schema_, self.source_scheme_ = data.schema, data.source
        self.columns_ = list(data.first.columns)
        self.input_ = {}
        self.learned_ = None
        self.constraints_ = rules_of(rules, self.schema_)
        Program.of(self.constraints_, self.schema_, data.first.select([0]))

    @abstractmethod
    def _answer(self, batch: Corpus, mask: NDArray[np.bool_] | None, first: int) -> Answers:
        """All that decoding found for a batch, of which `mask`[T,Y] says which labels are allowed."""

    @abstractmethod
    def _explained(self, found: Answers, most: int) -> Iterator[TokenExplanation]:
        """Why each token of a batch has its label."""

    @abstractmethod
    def archive(self) -> persist.Archive:
        """All that a model file holds."""

    @classmethod
    @abstractmethod
    def from_archive(cls, archive: persist.Archive) -> Self:
        """The labeller of a model file."""

    @property
    def n_threads(self) -> int:
        """The threads that it uses."""
        return threads_of(self.n_jobs)

    @property
    def classes_(self) -> list[str]:
        """The labels that it knows, once it is trained."""
        return list(self.schema_.labels)

    # ── labelling ───────────────────────────────────────────────────────────────────────────────

    def predict(self, X: Any, *, allowed: Allowed | None = None, partial: bool = False) -> list[list[str]]:
        """The best labels of each sequence.

        `allowed` restricts the labels of single tokens; with `partial` the labels that X already has are
        forced (an empty label is open).
        """
        self._check_fitted()
        corpus = corpus_from(X)
        return corpus.split(self.schema_.decode(self.predict_ids(corpus, allowed=allowed, partial=partial)))

    def predict_ids(
        self, corpus: Corpus, *, allowed: Allowed | None = None, partial: bool = False, first: int = 0
    ) -> NDArray[np.int32]:
        """The best label of each token as an id of the schema, [T].

        `first` is the number that messages give to the first sequence, for corpora that are part of one.
        """
        parts = [found.decodings.labels for found in self.answers(corpus, allowed, partial, first)]
        return np.concatenate([np.empty(0, dtype=np.int32), *parts])

    def decode(self, X: Any, *, allowed: Allowed | None = None, partial: bool = False) -> list[Decoding]:
        """The answer for each sequence: labels, score, certificate, violated rules.

        Where there are no labels, because the rules cannot hold together or a limit was met, `labels` is None
        and the certificate says which of the two; the other methods raise.
        """
        corpus = corpus_from(X)
        return [d for found in self._answers(corpus, allowed, partial, 0) for d in found.decodings]

    def predict_nbest(
        self, X: Any, n: int, *, allowed: Allowed | None = None, partial: bool = False
    ) -> list[Alternatives]:
        """The n best labellings of each sequence under the rules with their scores, best first.

        There are fewer where n do not exist, or where `limit` was met.
        """
        answers = self.answers(corpus_from(X), allowed, partial)
        return [best for found in answers for best in found.n_best(n)]

    def predict_marginals(
        self, X: Any, *, allowed: Allowed | None = None, partial: bool = False
    ) -> list[list[dict[str, float]]]:
        """The probability of every label at every token under the rules.

        A sequence on which the rules interact too much for exact sums is refused with one sentence.
        """
        results: list[list[dict[str, float]]] = []
        for found in self.answers(corpus_from(X), allowed, partial):
            node, names = found.marginals().tolist(), self.schema_.labels
            results += found.batch.split([dict(zip(names, row, strict=True)) for row in node])
        return results

    def label(
        self,
        X: Any,
        *,
        allowed: Allowed | None = None,
        partial: bool = False,
        confidences: bool = True,
        nbest: int = 0,
        marginals: bool = False,
        first: int = 0,
    ) -> Labelled:
        """Labelled sequences with their segments and how sure the model is of each segment under the rules.

        A confidence is None in a sequence on which the rules interact too much to find it exactly and soon.
        With `nbest` each has its n best labellings with scores, with `marginals` the probability of every
        label at every token. `first` is the number that messages give to the first sequence.
        """
        answers = self.answers(corpus_from(X), allowed, partial, first)
        return Labelled(s for found in answers for s in self._labelled(found, confidences, nbest, marginals))

    def _labelled(self, found: Answers, confidences: bool, n: int, with_marginals: bool) -> Labelled:
        lattices = found.lattices if confidences else None
        result = label_corpus(
            found.batch, found.decodings, self.schema_, lattices, found.certificates, self.n_threads
        )
        if n:
            best = found.n_best(n)
            result = Labelled(replace(s, nbest=b) for s, b in zip(result, best, strict=True))
        if with_marginals:
            node = found.batch.split(found.marginals())
            each = (TokenMarginals(self.schema_.labels, p) for p in node)
            result = Labelled(replace(s, marginals=p) for s, p in zip(result, each, strict=True))
        return result

    def answers(
        self, corpus: Corpus, allowed: Allowed | None = None, partial: bool = False, first: int = 0
    ) -> Iterator[Answers]:
        """The corpus batch by batch with all that decoding found; raises at a sequence without labels."""
        for found in self._answers(corpus, allowed, partial, first):
            found.check()
            yield found

    def _answers(
        self, corpus: Corpus, allowed: Allowed | None, partial: bool, first: int
    ) -> Iterator[Answers]:
        """The corpus batch by batch with all that decoding found."""
        self._check_fitted()
        check_allowed(corpus, allowed)
        for begin, batch in corpus.batches(BATCH):
            own = None if allowed is None else allowed[begin : begin + len(batch)]
            mask = allowed_mask(batch, self.schema_, own, partial, self.source_scheme_)
            found = self._answer(batch, mask, first + begin)
            if self.observer is not None:
                self.observer(found)
            yield found

    def explain(self, X: Any, most: int = 5) -> list[list[TokenExplanation]]:
        """Why each token of each sequence has its label: at most `most` reasons each.

        Of a conditional random field: the probability of labels, and the attributes and the step from the
        label before that speak most for the label, against the next likely one. Of a memory: the part of the
        neighbours that had each label, and the nearest of them.
        """
        corpus = corpus_from(X)
        flat = [token for found in self.answers(corpus) for token in self._explained(found, most)]
        return corpus.split(flat)

    @property
    def _plain(self) -> bool:
        """Whether one run of Viterbi finds the best labels of any sequence."""
        return not self.constraints_ and self.decoder in ("auto", "viterbi")

    @property
    def _limits(self) -> Limits:
        return NO_LIMITS if self.limit is None else Limits(seconds=self.limit)

    def _decoded(
        self,
        potentials: Potentials,
        batch: Corpus,
        mask: NDArray[np.bool_] | None,
        first: int,
        decoder: str | Decoder,
    ) -> Answers:
        """The answers by scores of labels, under the rules, with the labels that the mask allows."""
        begun, n = clock.now(), max(1, len(batch))
        allowed = potentials if mask is None else potentials.restricted(mask)
        problems = Problems.of(allowed, self.schema_, self.constraints_, batch, self._limits.until(n))
        limits = self._limits.after((clock.now() - begun) / n)
        found = decode_all(
            problems, "auto" if self._plain else decoder, limits=limits, threads=self.n_threads
        )  # Viterbi for all sequences at once, if it is plain
        return Answers(batch, first, found, not self._plain, self.n_threads, self._limits)

    def with_constraints(self, constraints: Rules) -> Self:
        """The same trained model under other rules, in place of those it has; this one keeps its own."""
        self._check_fitted()
        other = copy.copy(self)
        other.constraints_ = rules_of(constraints, self.schema_)
        other.constraints = other.constraints_ or None
        other.learned_ = None
        return other

    def _check_fitted(self) -> None:
        if not hasattr(self, "model_"):
            raise ModelError("the labeller is not trained yet; call fit, or load a model")

    # ── evaluation ──────────────────────────────────────────────────────────────────────────────

    def evaluate(self, X: Any, y: Iterable[Sequence[str]] | None = None) -> Report:
        """All scores on labelled sequences."""
        return evaluate_ids(*self._compared(X, y))

    def score(self, X: Any, y: Iterable[Sequence[str]] | None = None) -> float:
        """What `scoring` names on labelled sequences, from 0 to 1."""
        return score_ids(*self._compared(X, y), self.scoring)

    def _compared(
        self, X: Any, y: Iterable[Sequence[str]] | None
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64], Schema]:
        """The labels of sequences and those found for them, [T] each, their offsets, and the schema."""
        self._check_fitted()
        corpus = corpus_from(X, y)
        gold, schema = self.gold_ids(corpus)
        return gold, self.predict_ids(corpus), corpus.offsets, schema

    def gold_ids(self, corpus: Corpus) -> tuple[NDArray[np.int32], Schema]:
        """The labels of a corpus as ids [T], and the schema, which grows by labels that training lacked."""
        labels = corpus.full_labels()
        if self.source_scheme_ is Scheme.IOB1:
            labels = convert_column(labels, corpus.offsets, Scheme.IOB1, Scheme.BIO)
        schema = self.schema_.extended(labels.vocabulary)
        return schema.vocabulary.encode(labels.vocabulary)[labels.ids], schema

    # ── files ───────────────────────────────────────────────────────────────────────────────────

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file."""
        self._check_fitted()
        persist.save(path, self.archive())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model file."""
        return restored([cls], path)


def restored(kinds: Iterable[type[AnyLabeller]], path: str | os.PathLike[str]) -> AnyLabeller:
    """The labeller of a model file, which must be of one of these kinds."""
    archive = persist.load(path)
    known = {kind.model_type: kind for kind in kinds}
    with unpacking(archive):
        name = archive.field("model-type", str)
        if name not in known:
            raise ModelError(
                f"{path}: the model is of the type {name[:99]!r}; here goes {' or '.join(known)}"
            )
        labeller = known[name].from_archive(archive)
    return labeller  # noqa: RET504  # what is left over is noticed when the block ends
