"""The estimator.  fit: corpus ─→ features ─→ CRF;  predict: corpus ─→ scores ─→ rules, decoder ─→ labels."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Self

import numpy as np

from conseq import persist
from conseq.constraints.language import Rules
from conseq.constraints.program import Program
from conseq.corpus import Corpus
from conseq.decoders.allowed import Allowed, allowed_mask
from conseq.decoders.base import Decoder
from conseq.decoders.batch import Decodings
from conseq.decoders.choose import decode_all
from conseq.decoders.twostage import TwoStage
from conseq.decoders.viterbi import viterbi
from conseq.errors import DataError
from conseq.metrics import score_ids
from conseq.features import FeatureExtractor, Template
from conseq.features.design import Design
from conseq.io.objects import corpus_from
from conseq.labeller import learning, saving
from conseq.labeller.answers import Answers, ChainAnswers
from conseq.labeller.base import BATCH, Labeller
from conseq.labeller.explanation import Reason, TokenExplanation, largest
from conseq.labeller.learning import FOLDS, gather
from conseq.labeller.rules import LEARN, rules_of
from conseq.labeller.training import (
    FitReport,
    TrainingData,
    check_options,
    optimiser_for,
    templates_for,
)
from conseq.mining.recipe import Learned, Recipe, Stage, learn_rules
from conseq.mining.tau import choose_tau
from conseq.models.crf import CRF, ChainModel, Progress, WarmStart
from conseq.potentials import Potentials
from conseq.problem import Problems
from conseq.schema import Schema, Scheme
from conseq.shards import Shards
from conseq.vocabulary import Vocabulary


class SequenceLabeller(Labeller):
    """Learns to label sequences with a conditional random field, and labels new ones.

    >>> X, y = [["Ann", "sleeps"], ["Bob", "runs"]], [["B-PER", "O"], ["B-PER", "O"]]
    >>> labeller = SequenceLabeller(features="ner", threads=1).fit(X, y)
    >>> labeller.predict([["Cleo", "sleeps"]])
    [['B-PER', 'O']]
    >>> careful = labeller.with_constraints("at least 2 segments of PER  hard")
    >>> careful.predict([["Cleo", "sleeps"]])
    [['B-PER', 'B-PER']]

    features      a preset (chunk, ner, fields, letters, classic) or a list of templates; attributes given per
                  token need none
    algorithm     lbfgs, ap (averaged perceptron; without c2) or adagrad (stochastic gradients)
    c1, c2        weights of the L1 and the squared L2 norm; c1 for lbfgs only
    max_iterations, delta, period    when training stops (CRFsuite's meaning); for ap and adagrad iterations
                  are epochs, 10 and 20 unless given
    seed          of the order in which ap and adagrad see the sequences
    min_count     attributes seen less often are left out
    scheme        auto, plain, iob1, bio or bioes; iob1 becomes bio inside
    legal         decode legal label sequences only
    constraints   rules that labels obey: a text in the language of rules, the path of a rule file, a list of
                  rules or lines, or None; "learn": rules and prices are learned from the training data; a
                  trained model gets others by `with_constraints`
    recipe        how rules are learned (`conseq.mining.Recipe`); None: the usual way
    folds         models trained without a part of the data, so that rules are learned from data that a model
                  has not seen; 0: rules are learned from development data alone
    decoder       how the best labels are found: auto, viterbi, lazy, dual, ilp, twostage, beam, wcsp,
                  enumerate; or a decoder with its options, of which a model file keeps the name; the band of
                  twostage is chosen where rules are learned
    limit         seconds for one sequence, after which the best labels so far are taken; None: no limit
    transitions, boundaries    weights for neighbouring labels, and for the first and last one
    lexicons      name → entries, for the attribute lexicon(name)
    metric        what `score` and development data measure: span_f1, span_strict_f1, span_leaf_f1, accuracy,
                  sequence_accuracy
    threads       None: all processors
    """

    model_type = "crf"

    def __init__(
        self,
        features: str | Iterable[str | Template] = "fields",
        *,
        algorithm: str = "lbfgs",
        c1: float = 0.0,
        c2: float = 0.1,
        max_iterations: int | None = None,
        delta: float = 1e-5,
        period: int = 10,
        seed: int = 0,
        min_count: int = 1,
        scheme: str = "auto",
        legal: bool = True,
        constraints: Rules = None,
        recipe: Recipe | None = None,
        folds: int = FOLDS,
        decoder: str | Decoder = "auto",
        limit: float | None = None,
        transitions: bool = True,
        boundaries: bool = True,
        lexicons: Mapping[str, Iterable[str]] | None = None,
        metric: str = "span_f1",
        threads: int | None = None,
    ) -> None:
        self.features = features
        self.algorithm = algorithm
        self.c1 = c1
        self.c2 = c2
        self.max_iterations = max_iterations
        self.delta = delta
        self.period = period
        self.seed = seed
        self.min_count = min_count
        self.scheme = scheme
        self.legal = legal
        self.constraints = constraints
        self.recipe = recipe
        self.folds = folds
        self.decoder = decoder
        self.limit = limit
        self.transitions = transitions
        self.boundaries = boundaries
        self.lexicons = lexicons
        self.metric = metric
        self.threads = threads

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
        check_options(self.get_params())
        vars(self).pop("model_", None)  # if this fails, the old weights must not meet the new labels
        given = X if isinstance(X, Shards) else corpus_from(X, y)
        data = TrainingData.of(given, self.scheme)
        self.schema_ = Schema(data.labels.names, Scheme.BIO if data.source is Scheme.IOB1 else data.source)
        self.source_scheme_ = data.source
        learns = isinstance(self.constraints, str) and self.constraints == LEARN
        if learns:
            learning.check(self, given, development)
        self.learned_: Learned | None = None
        self.tau_: float | None = None
        self.constraints_ = rules_of(None if learns else self.constraints, self.schema_)
        Program.of(
            self.constraints_, self.schema_, data.first.select([0])
        )  # raises if they need other columns
        begun = time.perf_counter()
        templates = templates_for(self.features, data.first)
        self.columns_ = list(data.first.columns)
        self.input_: dict[str, Any] = {}  # how the data was read, for whoever reads more of it
        extractor, shards = data.features(templates, min_count=self.min_count, lexicons=self.lexicons)
        if not extractor.n_attributes:
            raise DataError("no attribute occurs often enough to be learned from; lower min_count")
        featured = time.perf_counter()
        model, training = self._crf().fit_all(
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
            self.learned_ = learn_rules(evidence, self.recipe, stage)
            self.constraints_ = tuple(self.learned_.constraints)
            if self.decoder == TwoStage.name:
                stage(Stage("choosing how far below the best score to go"))
                self.tau_ = choose_tau(evidence, self.constraints_, metric=self.metric)
        seconds = {**self.report_.seconds, "rules": time.perf_counter() - begun}
        self.report_ = replace(self.report_, seconds=seconds)

    def weights_for(self, extractor: FeatureExtractor, schema: Schema) -> WarmStart:
        """Its weights as a starting point for another model, as far as that has the same features."""
        self._check_fitted()
        attributes = Vocabulary(self.extractor_.names()).encode(extractor.names())
        labels = self.schema_.vocabulary.encode(schema.labels)
        return WarmStart(self.model_, attributes.astype(np.int64), labels.astype(np.int64))

    def _crf(self) -> CRF:
        optimiser = optimiser_for(self.get_params())
        return CRF(optimiser, self.transitions, self.boundaries, self.n_threads)

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
            return score_ids(gold, found.labels, development.offsets, schema, self.metric)

        return score

    # ── labelling ───────────────────────────────────────────────────────────────────────────────

    def _answers(
        self, corpus: Corpus, allowed: Allowed | None, partial: bool, first: int
    ) -> Iterator[Answers]:
        if allowed is not None and len(allowed) != len(corpus):
            raise DataError(
                f"{len(corpus)} sequences but allowed labels for {len(allowed)}; give one list each"
            )
        for begin, batch in corpus.batches(BATCH):
            potentials = self.potentials(batch, allowed=_slice(allowed, begin, batch), partial=partial)
            problems = Problems.of(potentials, self.schema_, self.constraints_, batch)
            found = self._decodings(problems)
            yield ChainAnswers(batch, first + begin, found, not self._plain, self.n_threads, self._limits)

    def _decodings(self, problems: Problems) -> Decodings:
        decoder = "auto" if self._plain else self._decoder  # which is Viterbi then, for all sequences at once
        return decode_all(problems, decoder, limits=self._limits, threads=self.n_threads)

    @property
    def _decoder(self) -> str | Decoder:
        """The decoder; a two-stage one goes as far below the best score as was best on the evidence."""
        if self.decoder == TwoStage.name and self.tau_ is not None:
            return TwoStage(self.tau_)
        return self.decoder

    @property
    def _plain(self) -> bool:
        """Whether one run of Viterbi finds the best labels of any sequence."""
        return not self.constraints_ and self.decoder in ("auto", "viterbi")

    def potentials(self, X: Any, *, allowed: Allowed | None = None, partial: bool = False) -> Potentials:
        """The scores of all labellings of the sequences, illegal ones forbidden."""
        self._check_fitted()
        corpus = corpus_from(X)
        self._check_columns(corpus)
        design = self.extractor_.design(corpus)
        potentials = self._legal(self.model_.potentials(design, corpus.offsets, threads=self.n_threads))
        mask = allowed_mask(corpus, self.schema_, allowed, partial, self.source_scheme_)
        return potentials if mask is None else potentials.restricted(mask)

    def explain(self, X: Any, most: int = 5) -> list[list[TokenExplanation]]:
        """For every token the probability of labels, and the attributes and the step from the label before
        that speak most for its label, against the next likely one."""
        self._check_fitted()
        corpus = corpus_from(X)
        flat = [token for found in self.answers(corpus) for token in self._explained(found, most)]
        return corpus.split(flat)

    def _explained(self, found: Answers, most: int) -> Iterator[TokenExplanation]:
        batch, names = found.batch, self.schema_.labels
        tokens = batch.columns[batch.token_column].strings() if batch.columns else [""] * batch.n_tokens
        chances, labels = found.marginals(), found.decodings.labels
        design = self.extractor_.design(batch)
        opening = set(batch.offsets[:-1].tolist())
        for t, label in enumerate(labels.tolist()):
            others = np.where(np.arange(len(names)) == label, -1.0, chances[t])
            before = None if t in opening else int(labels[t - 1])
            reasons = self._reasons(design, t, before, label, int(others.argmax()))
            likely = largest(chances[t].tolist(), names)
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

    def _check_columns(self, corpus: Corpus) -> None:
        if len(self.extractor_.bag) and corpus.bags is None:
            raise DataError(
                "the model was trained on attributes per token; give lists or dicts of attributes"
            )

    def _scored_by(self) -> str:
        return self.metric

    def archive(self) -> persist.Archive:
        """All that a model file holds."""
        return saving.packed(self)

    @classmethod
    def from_archive(cls, archive: persist.Archive) -> SequenceLabeller:
        """The labeller of a model file."""
        return saving.restored(cls, archive)


def _slice(allowed: Allowed | None, first: int, batch: Corpus) -> Allowed | None:
    return None if allowed is None else allowed[first : first + len(batch)]
