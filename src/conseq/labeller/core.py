"""The estimator.  fit: corpus ─→ features ─→ CRF;  predict: corpus ─→ scores ─→ rules, decoder ─→ labels."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from conseq import persist
from conseq.constraints.language import Rules
from conseq.corpus import Corpus
from conseq.decoders.auto import find_decoder
from conseq.decoders.base import Decoder
from conseq.decoders.chain.viterbi import viterbi
from conseq.decoders.twostage import TwoStage
from conseq.errors import DataError
from conseq.estimator import Group
from conseq.features import FeatureExtractor, Template
from conseq.features.design import Design
from conseq.features.saving import pack, unpack
from conseq.io.objects import corpus_from
from conseq.labeller import learning, saving
from conseq.labeller.allowed import Allowed, allowed_mask
from conseq.labeller.answers import Answers
from conseq.labeller.base import Labeller
from conseq.labeller.explanation import Reason, TokenExplanation, largest
from conseq.labeller.learning import gather
from conseq.labeller.rules import LEARN
from conseq.labeller.training import FitReport, TrainingData, optimiser_for, templates_for
from conseq.metrics import score_ids
from conseq.mining.recipe import Recipe, Stage, learn_from
from conseq.mining.tau import choose_tau
from conseq.models.crf import CRF, ChainModel, Progress, WarmStart
from conseq.options import RuleOptions, Training
from conseq.potentials import Potentials
from conseq.schema import Schema
from conseq.shards import Shards
from conseq.threads import threads_of
from conseq.vocabulary import Vocabulary

ELSEWHERE = ("features", "lexicons", "constraints", "recipe", "folds", "n_jobs")
"""Options that other parts of a model file hold, that belong to the machine, or that training alone needs."""


@dataclass(eq=False, repr=False)
class SequenceLabeller(Labeller):
    """Learns to label sequences with a conditional random field, and labels new ones.

    >>> X, y = [["Ann", "sleeps"], ["Bob", "runs"]], [["B-PER", "O"], ["B-PER", "O"]]
    >>> labeller = SequenceLabeller(features="ner", n_jobs=1).fit(X, y)
    >>> labeller.predict([["Cleo", "sleeps"]])
    [['B-PER', 'O']]
    >>> careful = labeller.with_constraints("at least 2 segments of PER  hard")
    >>> careful.predict([["Cleo", "sleeps"]])
    [['B-PER', 'B-PER']]

    features      a preset (chunk, ner, fields, letters, classic) or a list of templates; attributes given per
                  token need none
    lexicons      name → entries, for the attribute lexicon(name)
    scheme        auto, plain, iob1, bio or bioes; iob1 becomes bio inside
    scoring       what `score` and development data measure: span_f1, span_strict_f1, span_leaf_f1, accuracy,
                  sequence_accuracy
    n_jobs        threads; None or −1: all processors
    algorithm … boundaries    how it is trained: the fields of `conseq.Training`
    constraints … limit       rules, and how labels are found under them: the fields of `conseq.RuleOptions`
    training, rules           the same as objects: training=Training(c2=1.0)

    A trained model gets other rules by `with_constraints`. Of a decoder with options a model file keeps the
    name; the band of twostage is chosen where rules are learned.
    """

    model_type = "crf"

    features: str | Iterable[str | Template] = "fields"
    _: KW_ONLY
    lexicons: Mapping[str, Iterable[str]] | None = None
    scheme: str = "auto"
    scoring: str = "span_f1"
    n_jobs: int | None = None
    algorithm: str = Training.algorithm
    c1: float = Training.c1
    c2: float = Training.c2
    max_iterations: int | None = Training.max_iterations
    delta: float = Training.delta
    period: int = Training.period
    random_state: int = Training.random_state
    min_count: int = Training.min_count
    transitions: bool = Training.transitions
    boundaries: bool = Training.boundaries
    constraints: Rules = RuleOptions.constraints
    recipe: Recipe | None = RuleOptions.recipe
    folds: int = RuleOptions.folds
    legal: bool = RuleOptions.legal
    decoder: str | Decoder = RuleOptions.decoder
    limit: float | None = RuleOptions.limit
    training: Group[Training] = Group(Training)
    rules: Group[RuleOptions] = Group(RuleOptions)

    # ── training ────────────────────────────────────────────────────────────────────────────────

    def fit(
        self,
        X: Any,
        y: Iterable[Sequence[str]] | None = None,
        *,
        development: Corpus | None = None,
        warm: SequenceLabeller | None = None,
        watch: Callable[[Progress], None] | None = None,
        stage: Callable[[Stage], None] = lambda _: None,
    ) -> Self:
        """Learn from labelled sequences, or from `conseq.Shards`, which need not fit in memory.

        With `development` the iterate that scores best there is kept, otherwise the last. `warm` is a trained
        labeller whose weights are the starting point. `watch` is called after each iteration, `stage` at each
        step of learning rules. Interrupted while it learns rules, the labeller is trained and has none.
        """
        self._check_options()
        given = X if isinstance(X, Shards) else corpus_from(X, y)
        data = TrainingData.of(given, self.scheme)
        learns = isinstance(self.constraints, str) and self.constraints == LEARN
        if learns:
            learning.check(self, given, development)
        self._begin(data, None if learns else self.constraints)
        self.tau_: float | None = None
        begun = time.perf_counter()
        templates = templates_for(self.features, data.first)
        extractor, shards = data.features(templates, min_count=self.min_count, lexicons=self.lexicons)
        if not extractor.n_attributes:
            raise DataError("no attribute occurs often enough to be learned from; lower min_count")
        featured = time.perf_counter()
        crf = CRF(optimiser_for(self.training), self.transitions, self.boundaries, self.n_threads)
        model, training = crf.fit_all(
            shards,
            len(self.schema_),
            shelf=data.shelf,
            warm=None if warm is None else warm.weights_for(extractor, self.schema_),
            development=self._development_score(development, extractor),
            watch=watch,
        )
        self.model_, used = model.compact()
        self.extractor_ = extractor if used.all() else extractor.keep(used)
        seconds = {"features": featured - begun, "train": training.seconds}
        self.report_ = FitReport(training, seconds, len(self.schema_), self.n_threads)
        if learns and training.status != "interrupted":
            self._learn_rules(given, development, watch, stage)
        return self

    def _learn_rules(
        self,
        corpus: Corpus | Shards,
        development: Corpus | None,
        watch: Callable[[Progress], None] | None,
        stage: Callable[[Stage], None],
    ) -> None:
        begun = time.perf_counter()
        with suppress(KeyboardInterrupt):
            evidence = gather(self, corpus, development, watch=watch, stage=stage)
            self.learned_ = learn_from(evidence, self.recipe, stage)
            self.constraints_ = tuple(self.learned_.constraints)
            if self.decoder == TwoStage.name:
                stage(Stage("choosing how far below the best score to go"))
                self.tau_ = choose_tau(evidence, self.constraints_, metric=self.scoring)
        seconds = {**self.report_.seconds, "rules": time.perf_counter() - begun}
        self.report_ = replace(self.report_, seconds=seconds)

    def weights_for(self, extractor: FeatureExtractor, schema: Schema) -> WarmStart:
        """Its weights as a starting point for another model, as far as that has the same features."""
        self._check_fitted()
        attributes = Vocabulary(self.extractor_.names()).encode(extractor.names())
        labels = self.schema_.vocabulary.encode(schema.labels)
        return WarmStart(self.model_, attributes.astype(np.int64), labels.astype(np.int64))

    def _check_options(self) -> None:
        """Raise if an option cannot be used; the objects of options look at their own."""
        optimiser_for(self.training)
        find_decoder(self.rules.decoder)
        threads_of(self.n_jobs)

    def _development_score(
        self, development: Corpus | None, extractor: FeatureExtractor
    ) -> Callable[[ChainModel], float] | None:
        if development is None:
            return None
        gold, schema = self.gold_ids(development)
        design = extractor.design(development)

        def score(model: ChainModel) -> float:
            potentials = self._legal(model.potentials(design, development.offsets, threads=self.n_threads))
            found = viterbi(potentials, threads=self.n_threads)
            return score_ids(gold, found.labels, development.offsets, schema, self.scoring)

        return score

    # ── labelling ───────────────────────────────────────────────────────────────────────────────

    def _answer(self, batch: Corpus, mask: NDArray[np.bool_] | None, first: int) -> Answers:
        return self._decoded(self.potentials(batch), batch, mask, first, self._decoder)

    @property
    def _decoder(self) -> str | Decoder:
        """The decoder; a two-stage one goes as far below the best score as was best on the evidence."""
        if self.decoder == TwoStage.name and self.tau_ is not None:
            return TwoStage(self.tau_)
        return self.decoder

    def potentials(self, X: Any, *, allowed: Allowed | None = None, partial: bool = False) -> Potentials:
        """The scores of all labellings of the sequences, illegal ones forbidden."""
        self._check_fitted()
        corpus = corpus_from(X)
        if len(self.extractor_.bag) and corpus.bags is None:
            raise DataError(
                "the model was trained on attributes per token; give lists or dicts of attributes"
            )
        design = self.extractor_.design(corpus)
        potentials = self._legal(self.model_.potentials(design, corpus.offsets, threads=self.n_threads))
        mask = allowed_mask(corpus, self.schema_, allowed, partial, self.source_scheme_)
        return potentials if mask is None else potentials.restricted(mask)

    def _explained(self, found: Answers, most: int) -> Iterator[TokenExplanation]:
        batch, names = found.batch, self.schema_.labels
        tokens = batch.columns[batch.token_column].strings() if batch.columns else [""] * batch.n_tokens
        marginals, labels = found.marginals(), found.decodings.labels
        design = self.extractor_.design(batch)
        opening = set(batch.offsets[:-1].tolist())
        for t, label in enumerate(labels.tolist()):
            others = np.where(np.arange(len(names)) == label, -1.0, marginals[t])
            before = None if t in opening else int(labels[t - 1])
            reasons = self._reasons(design, t, before, label, int(others.argmax()))
            likely = largest(marginals[t].tolist(), names)
            yield TokenExplanation(tokens[t], names[label], likely, reasons[:most], len(reasons))

    def _reasons(
        self, design: Design, token: int, before: int | None, label: int, other: int
    ) -> list[Reason]:
        """What adds more to a label than to another one, the most first."""
        layout, weights = self.model_.layout, self.model_.weights
        gains: dict[int, float] = {}
        for attribute, value in design.attributes(token):
            own = slice(layout.feature[attribute], layout.feature[attribute + 1])
            of = dict(zip(layout.label[own].tolist(), weights[own].tolist(), strict=True))
            gains[attribute] = value * (of.get(label, 0.0) - of.get(other, 0.0))
        reasons = list(map(Reason, self.extractor_.names(gains), gains.values()))
        pairwise, start, _ = layout.chain(weights)
        row, text = (start, "at the start") if before is None else (pairwise[before], "after ")
        text += "" if before is None else self.schema_.labels[before]
        reasons.append(Reason(text, float(row[label] - row[other])))
        return sorted((r for r in reasons if r.weight > 0), key=lambda reason: -reason.weight)

    def _legal(self, potentials: Potentials) -> Potentials:
        if not self.legal or self.schema_.legal.all():
            return potentials
        schema = self.schema_
        return potentials.with_legal(schema.legal, schema.legal_start, schema.legal_end)

    # ── files ───────────────────────────────────────────────────────────────────────────────────

    def archive(self) -> persist.Archive:
        """All that a model file holds."""
        document = {**saving.common(self, ELSEWHERE), "tau": self.tau_, "report": self.report_.stored()}
        parts = {"features": pack(self.extractor_), "crf": persist.Archive({}, {}, self.model_.arrays())}
        return persist.combine(document, parts)

    @classmethod
    def from_archive(cls, archive: persist.Archive) -> SequenceLabeller:
        """The labeller of a model file."""
        extractor = unpack(archive.within("features"))
        options = saving.options_of(cls, archive, ELSEWHERE)
        labeller = cls([str(t) for t in extractor.templates], **options)
        lexicons = extractor.memory.lexicons
        labeller.lexicons = {name: [" ".join(e) for e in lexicons[name]] for name in lexicons} or None
        saving.restore_common(labeller, archive)
        labeller.tau_ = archive.field("tau", float | None)
        archive.check(labeller.tau_ is None or labeller.tau_ >= 0, "the field tau is negative")
        labeller.report_ = FitReport.from_dict(archive.table("report", FitReport.hints()))
        labeller.extractor_ = extractor
        labeller.model_ = ChainModel.from_archive(
            archive.within("crf"), len(labeller.schema_), extractor.n_attributes
        )
        return labeller
