"""The evidence that rules are learned from, along with a model.

    labelled corpus ─→ k folds, each scored by a labeller trained on the others ─┐
    development data, scored by the labeller itself ─────────────────────────────┴─→ Evidence

No labelled sequence is wasted: the labeller learns from all of them, and so do the rules, but no model scores
a sequence that it has learned from.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from conseq.corpus import Corpus
from conseq.errors import ConseqError
from conseq.labeller.training import training_labels
from conseq.mining.evidence import Evidence
from conseq.mining.recipe import Stage
from conseq.models.crf import Progress
from conseq.potentials import Potentials, join
from conseq.schema import Schema, Scheme
from conseq.shards import Shards

if TYPE_CHECKING:
    from conseq.labeller.core import SequenceLabeller

FOLDS, SEED = 5, 0

FitWatch = Callable[[Progress], None]
StageWatch = Callable[[Stage], None]


def gather(
    labeller: SequenceLabeller,
    corpus: Corpus | Shards,
    development: Corpus | None = None,
    *,
    watch: FitWatch | None = None,
    stage: StageWatch = lambda _: None,
) -> Evidence:
    """The evidence for rules in training data and development data; with the latter the labeller is trained.

    watch    called after each iteration of training on folds
    stage    called when something else begins
    """
    check(labeller, corpus, development)
    parts = []
    if labeller.folds and isinstance(corpus, Corpus):
        parts.append(cross_fitted(labeller, corpus, watch=watch, stage=stage))
    if development is not None:
        parts.append(evidence_of(labeller, development))
    return parts[0] if len(parts) == 1 else Evidence.joined(_alike(parts))


def check(labeller: SequenceLabeller, corpus: Corpus | Shards, development: Corpus | None) -> None:
    """Raise if rules cannot be learned so, before anything is trained."""
    if labeller.recipe is not None:
        labeller.recipe.check()
    if labeller.folds and isinstance(corpus, Shards):
        raise ConseqError(
            "folds are parts of data in memory, and this is on disk; set folds to 0 and give development "
            "data to learn rules from"
        )
    if not labeller.folds and development is None:
        raise ConseqError(
            "rules are learned from data that a model has not seen; set folds to 2 or more, or give "
            "development data"
        )


def evidence_of(labeller: SequenceLabeller, corpus: Corpus) -> Evidence:
    """Labelled sequences that the trained labeller has not seen, with its scores."""
    gold, schema = labeller.gold_ids(corpus)
    return Evidence.of(corpus, schema, gold, labeller.potentials(corpus), threads=labeller.n_threads)


def cross_fitted(
    labeller: SequenceLabeller,
    corpus: Corpus,
    folds: int | None = None,
    *,
    watch: FitWatch | None = None,
    stage: StageWatch = lambda _: None,
) -> Evidence:
    """Every sequence of labelled data with the scores of a labeller, of the same options, that has not seen
    it; the labeller given need not be trained."""
    folds = min(labeller.folds if folds is None else folds, len(corpus))
    if folds < 2:
        raise ConseqError(f"{folds} folds of {len(corpus)} sequences are too few; give 2 or more of both")
    labels, source = training_labels(corpus, labeller.scheme)
    schema = Schema(labels.vocabulary.names, Scheme.BIO if source is Scheme.IOB1 else source)
    scores, order = [], []
    for k, held_out in enumerate(split(len(corpus), folds), start=1):
        stage(Stage(f"training without part {k} of {folds}"))
        rest = np.setdiff1d(np.arange(len(corpus)), held_out)
        other = labeller.untrained().set_params(scheme=str(source))  # a part alone may look like another one
        other.fit(corpus.select(rest), watch=watch)
        if other.report_.training.status == "interrupted":
            raise KeyboardInterrupt
        scores.append(_among(other.potentials(corpus.select(held_out)), other.schema_, schema))
        order.append(held_out)
    potentials = join(scores).select(np.argsort(np.concatenate(order)))
    return Evidence.of(corpus, schema, labels.ids, potentials, threads=labeller.n_threads)


def split(n: int, folds: int, seed: int = SEED) -> list[NDArray[np.int64]]:
    """The numbers 0 … n−1 in so many parts of about the same size, at random."""
    order = np.random.default_rng(seed).permutation(n)
    return [np.sort(order[k::folds]) for k in range(folds)]


def _among(potentials: Potentials, known: Schema, schema: Schema) -> Potentials:
    """Scores over the labels that a model knows as scores over all; those that it does not are forbidden."""
    if known.labels == schema.labels:
        return potentials
    return potentials.among(schema.vocabulary.encode(known.labels), len(schema))


def _alike(parts: list[Evidence]) -> list[Evidence]:
    """The parts over the labels of all of them; every schema begins with those of the first."""
    schema = parts[0].schema
    for part in parts[1:]:
        schema = schema.extended(part.schema.labels)
    return [
        Evidence.of(
            p.corpus,
            schema,
            schema.vocabulary.encode(p.schema.labels)[p.gold],
            _among(p.potentials, p.schema, schema),
            threads=p.threads,
        )
        for p in parts
    ]
