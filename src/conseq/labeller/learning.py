"""Rules learned along with a model, or for one, and the evidence that they are learned from.

    labelled corpus ─→ k folds, each scored by a labeller trained on the others ─┐
    development data, scored by the labeller itself ─────────────────────────────┴─→ Evidence

No labelled sequence is wasted: the labeller learns from all of them, and so do the rules, but no model scores
a sequence that it has learned from.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conseq.corpus import Corpus
from conseq.errors import ConseqError, ScoreError
from conseq.io.objects import corpus_from
from conseq.labeller.base import Labeller
from conseq.labeller.training import TrainingData
from conseq.mining.evidence import Evidence
from conseq.mining.recipe import Learned, Recipe, Stage, learn_from
from conseq.models.crf import Progress
from conseq.potentials import Potentials, join
from conseq.schema import AUTO, Schema, Scheme
from conseq.shards import Shards
from conseq.threads import threads_of

if TYPE_CHECKING:
    from conseq.labeller.core import SequenceLabeller

FitWatch = Callable[[Progress], None]
StageWatch = Callable[[Stage], None]


@overload
def learn_rules(
    model: SequenceLabeller,
    X: Any,
    y: Iterable[Sequence[str]] | None = None,
    *,
    development: Corpus | None = None,
    recipe: Recipe | None = None,
    folds: int | None = None,
    watch: FitWatch | None = None,
    stage: StageWatch = ...,
) -> Learned: ...
@overload
def learn_rules(
    model: Potentials | Sequence[ArrayLike],
    X: Any,
    y: Iterable[Sequence[str]] | None = None,
    *,
    labels: Iterable[str],
    scheme: Scheme | str = AUTO,
    recipe: Recipe | None = None,
    n_jobs: int | None = None,
    stage: StageWatch = ...,
) -> Learned: ...
def learn_rules(
    model: Any,
    X: Any,
    y: Iterable[Sequence[str]] | None = None,
    *,
    development: Corpus | None = None,
    labels: Iterable[str] | None = None,
    scheme: Scheme | str = AUTO,
    recipe: Recipe | None = None,
    folds: int | None = None,
    n_jobs: int | None = None,
    watch: FitWatch | None = None,
    stage: StageWatch = lambda _: None,
) -> Learned:
    """Rules and their penalties, from labelled sequences and what a model makes of them.

    model        a labeller, or scores of any model that has not learned from these sequences: [T,Y] each,
                 logarithms as `conseq.decode` takes them, or Potentials
    X, y         labelled sequences, as `SequenceLabeller.fit` takes them
    recipe       which kinds of rules, and how penalties are found; None: as the labeller says, or the default
    watch, stage    called after each iteration of training, and when something else begins

    Of a labeller: it is not changed and need not be trained, for others with its options are, each without a
    part of the data, which it then scores.
    folds        how many; None: as the labeller says; 0: rules are learned from development data alone
    development  more labelled sequences, which the labeller itself scores; trained on X, y if it is not yet

    Of scores:
    labels       the names of the columns, in order
    scheme       how they are written: plain, iob1, bio, bioes; auto looks at them
    n_jobs       threads; None or −1: all processors

    >>> X, y = [["a", "b", "a"]] * 6, [["A", "B", "B"]] * 6
    >>> scores = [[[0.0, -5.0], [-5.0, 0.0], [0.0, -1.0]]] * 6  # which would give A B A
    >>> learned = learn_rules(scores, X, y, labels=["A", "B"], recipe=Recipe(["only-one"]))
    >>> [rule.line() for rule in learned.constraints]
    ['at most 1 segment of A']

    `learned.constraints` go to `with_constraints` or `conseq.decode`, `learned.to_text()` is a rule file.
    """
    given = X if isinstance(X, Shards) else corpus_from(X, y)
    if not isinstance(model, Labeller):
        return learn_from(_scored(model, given, labels, scheme, threads_of(n_jobs)), recipe, stage)
    if labels is not None or n_jobs is not None:
        raise ConseqError("labels and n_jobs go with scores; a labeller has its own, so leave them out")
    if not hasattr(model, "potentials"):
        raise ConseqError(
            f"rules are learned for scores of labels, which {type(model).__name__} has not; "
            "give a SequenceLabeller, or scores"
        )
    asked: SequenceLabeller = copy.copy(model)  # type: ignore[assignment]
    asked.folds = asked.folds if folds is None else folds
    asked.recipe = asked.recipe if recipe is None else recipe
    return learn_from(gather(asked, given, development, watch=watch, stage=stage), asked.recipe, stage)


def gather(
    labeller: SequenceLabeller,
    corpus: Corpus | Shards,
    development: Corpus | None = None,
    *,
    watch: FitWatch | None = None,
    stage: StageWatch = lambda _: None,
) -> Evidence:
    """The evidence for rules in training data and development data.

    The latter needs a trained labeller: if it is not, one with its options is trained.
    watch    called after each iteration of training
    stage    called when something else begins
    """
    check(labeller, corpus, development)
    if development is not None and not hasattr(labeller, "model_"):
        labeller = _fitted(labeller, corpus, development=development, watch=watch)
    parts = []
    if labeller.folds and isinstance(corpus, Corpus):
        parts.append(cross_fitted(labeller, corpus, watch=watch, stage=stage))
    if development is not None:
        parts.append(evidence_of(labeller, development))
    return parts[0] if len(parts) == 1 else Evidence.joined(parts)


def _fitted(labeller: SequenceLabeller, corpus: Corpus | Shards, **options: Any) -> SequenceLabeller:
    """Another labeller with the same options, trained; what interrupts its training interrupts all."""
    other = labeller.untrained().fit(corpus, **options)
    if other.report_.training.status == "interrupted":
        raise KeyboardInterrupt
    return other


def check(labeller: SequenceLabeller, corpus: Corpus | Shards, development: Corpus | None) -> None:
    """Raise if rules cannot be learned so, before anything is trained."""
    folds = labeller.rules.folds  # which raises if that is no number of folds
    if labeller.recipe is not None:
        labeller.recipe.check()
    if folds and isinstance(corpus, Shards):
        raise ConseqError(
            "folds are parts of data in memory, and this is on disk; set folds to 0 and give development "
            "data to learn rules from"
        )
    if not folds and development is None:
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
    data = TrainingData.of(corpus, labeller.scheme)
    scores, order = [], []
    alike = labeller.untrained().set_params(scheme=str(data.source))  # a part alone may look like another one
    for k, held_out in enumerate(split(len(corpus), folds, labeller.random_state), start=1):
        stage(Stage(f"training without part {k} of {folds}"))
        rest = np.setdiff1d(np.arange(len(corpus)), held_out)
        other = _fitted(alike, corpus.select(rest), watch=watch)
        known = data.schema.vocabulary.encode(other.schema_.labels)
        scores.append(other.potentials(corpus.select(held_out)).among(known, len(data.schema)))
        order.append(held_out)
    potentials = join(scores).select(np.argsort(np.concatenate(order)))
    return Evidence.of(corpus, data.schema, data.ids(corpus), potentials, threads=labeller.n_threads)


def split(n: int, folds: int, random_state: int = 0) -> list[NDArray[np.int64]]:
    """The numbers 0 … n−1 in `folds` parts of about the same size, at random."""
    order = np.random.default_rng(random_state).permutation(n)
    return [np.sort(order[k::folds]) for k in range(folds)]


def _scored(
    scores: Potentials | Sequence[ArrayLike],
    corpus: Corpus | Shards,
    labels: Iterable[str] | None,
    scheme: Scheme | str,
    threads: int,
) -> Evidence:
    """Labelled sequences with the scores of some model."""
    if isinstance(corpus, Shards):
        raise ConseqError("rules for scores are learned from data in memory; give a corpus")
    if labels is None:
        raise ConseqError("scores are for labels without names; give the names of the columns, labels=[…]")
    schema = Schema.infer(labels, scheme)
    potentials = scores if isinstance(scores, Potentials) else _potentials(scores, corpus)
    if potentials.n_states != len(schema):
        raise ScoreError(
            f"there are scores for {potentials.n_states} labels and {len(schema)} labels are named; "
            "give one column of scores per label"
        )
    gold = corpus.full_labels()
    schema = schema.extended(gold.vocabulary)
    ids = schema.vocabulary.encode(gold.vocabulary)[gold.ids]
    return Evidence.of(corpus, schema, ids, potentials, threads=threads)


def _potentials(scores: Sequence[ArrayLike], corpus: Corpus) -> Potentials:
    """Scores [T,Y] of each sequence, as potentials without steps."""
    if len(scores) != len(corpus):
        raise ScoreError(
            f"there are scores for {len(scores)} sequences and labels for {len(corpus)}; give both for each"
        )
    arrays = [Potentials.of(one).unary for one in scores]
    for i, (one, length) in enumerate(zip(arrays, corpus.lengths.tolist(), strict=True)):
        if len(one) != length:
            raise ScoreError(
                f"sequence {i} (from 0) has {length} tokens and scores of the shape {one.shape}; "
                "give one row per token"
            )
    return Potentials.of(np.concatenate(arrays), offsets=corpus.offsets)
