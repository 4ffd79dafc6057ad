"""What a labeller learns from, and the report of how it went.

labelled corpus, or Shards ─→ TrainingData ─→ labels without unused ones, in a scheme that decoding knows
                                    └─features─→ FeatureExtractor, shards for a model
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, get_type_hints

import numpy as np
from numpy.typing import NDArray

from conseq.corpus import Column, Corpus
from conseq.errors import ConseqError, DataError
from conseq.features import FeatureExtractor, Template, parse_templates, preset
from conseq.features.design import Design
from conseq.models.crf import ALGORITHMS, TrainingReport
from conseq.models.layout import Shard
from conseq.models.trainer import Trainer
from conseq.optimise.lbfgs import LBFGS
from conseq.options import Training
from conseq.schema import Schema, Scheme, convert_column
from conseq.shards import Shards
from conseq.shelf import Shelf
from conseq.vocabulary import Vocabulary

MANY_LABELS = 500
"""More labels than this, and than one per five tokens, are a column of something else."""


@dataclass(frozen=True)
class FitReport:
    """How a model came about: what training says, and the seconds of each part."""

    training: TrainingReport
    seconds: Mapping[str, float]  # as threads not known of a model from a file
    labels: int
    threads: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, without the history of every iteration."""
        training = {k: v for k, v in asdict(self.training).items() if k not in ("history", "seconds")}
        return {**training, "seconds": dict(self.seconds), "labels": self.labels, "threads": self.threads}

    def stored(self) -> dict[str, Any]:
        """What a model file says: all but time and threads, so that the same training gives the same file."""
        found = {name: self.to_dict()[name] for name in self.hints()}
        lost = [k for k, value in found.items() if isinstance(value, float) and not math.isfinite(value)]
        return found | dict.fromkeys(lost)

    @classmethod
    def hints(cls) -> dict[str, Any]:
        """The types of what is stored."""
        known = get_type_hints(TrainingReport)
        kept = {name: hint for name, hint in known.items() if name not in ("history", "seconds")}
        return {**kept, "objective": float | None, "labels": int}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> FitReport:
        """The inverse of `to_dict`, and of `stored`; the history stays lost."""
        seconds = data.get("seconds", {})
        found = {f.name: data[f.name] for f in fields(TrainingReport) if f.name in data}
        found["seconds"] = seconds.get("train", 0.0)
        if found["objective"] is None:
            found["objective"] = math.nan
        return cls(TrainingReport(**found), seconds, data["labels"], data.get("threads", 0))


def options_of(algorithm: Any) -> set[str]:
    """The options that an algorithm of the CRF has."""
    if algorithm not in ALGORITHMS:
        raise ConseqError(f"there is no algorithm {algorithm!r}; choose one of {', '.join(ALGORITHMS)}")
    return {field.name for field in fields(ALGORITHMS[algorithm])}  # type: ignore[arg-type]


def optimiser_for(training: Training) -> LBFGS | Trainer:
    """The algorithm that is named, with those options that it has."""
    name, known = training.algorithm, options_of(training.algorithm)
    if training.c1 and "c1" not in known:
        raise ConseqError(
            f"c1 is {training.c1}, but the algorithm {name} has no L1 norm; set c1 to 0, or choose lbfgs"
        )
    given = asdict(training).items()
    return ALGORITHMS[name](
        **{option: value for option, value in given if option in known and value is not None}
    )


def templates_for(features: str | Iterable[str | Template], corpus: Corpus) -> tuple[Template, ...]:
    """The templates of a preset, or those given; none for a corpus whose tokens bring their attributes."""
    if not corpus.columns:
        return ()
    return preset(features, list(corpus.columns)) if isinstance(features, str) else parse_templates(features)


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Labelled corpora, one in memory or several on disk; IOB1 is turned into BIO."""

    corpora: list[Corpus] | Shards
    labels: Vocabulary  # without unused ones
    source: Scheme  # that they were written in

    @classmethod
    def of(cls, given: Corpus | Shards, scheme: str) -> TrainingData:
        corpora = [given] if isinstance(given, Corpus) else given
        if not given.n_tokens:
            raise DataError("there is nothing to learn from: the training data has no tokens")
        used: dict[str, None] = {}
        for corpus in corpora:
            used.update(dict.fromkeys(_used(corpus).vocabulary))
        if len(used) > max(MANY_LABELS, given.n_tokens // 5):
            raise DataError(
                f"{len(used):,} different labels for {given.n_tokens:,} tokens; is this the label column? "
                "Name the columns in their order (--columns)"
            )
        sequences = (s for corpus in corpora for s in corpus.label_sequences()) if scheme == "auto" else None
        source = Schema.infer(Vocabulary(used), scheme, sequences).scheme
        if source is Scheme.IOB1:
            used = dict.fromkeys(name for corpus in corpora for name in _as_bio(corpus).vocabulary)
        return cls(corpora, Vocabulary(used), source)

    @property
    def schema(self) -> Schema:
        """The labels as decoding knows them."""
        return Schema(self.labels.names, Scheme.BIO if self.source is Scheme.IOB1 else self.source)

    @property
    def first(self) -> Corpus:
        """The first corpus: what columns there are, and some tokens."""
        return next(iter(self.corpora))

    @property
    def shelf(self) -> Shelf | None:
        """Where training may keep things; None: in memory."""
        return self.corpora.shelf if isinstance(self.corpora, Shards) else None

    def ids(self, corpus: Corpus) -> NDArray[np.int32]:
        """The labels of one of the corpora."""
        labels = _as_bio(corpus) if self.source is Scheme.IOB1 else _used(corpus)
        return self.labels.encode(labels.vocabulary)[labels.ids]

    def features(
        self, templates: tuple[Template, ...], **options: Any
    ) -> tuple[FeatureExtractor, Iterable[Shard]]:
        """Attributes by these templates, and the data as a model learns from it."""
        if isinstance(self.corpora, Shards):
            extractor = FeatureExtractor.learn_all(self.corpora, templates, **options)
            return extractor, _ShardsOnDisk(self, extractor.designs(self.corpora))
        corpus = self.first
        extractor, design = FeatureExtractor.learn(corpus, templates, **options)
        return extractor, [Shard(design, self.ids(corpus), corpus.offsets)]


@dataclass(frozen=True, eq=False)
class _ShardsOnDisk:
    """What a model learns from, made anew whenever it is gone through."""

    data: TrainingData
    designs: Iterable[Design]

    def __iter__(self) -> Iterator[Shard]:
        for corpus, design in zip(self.data.corpora, self.designs, strict=True):
            yield Shard(design, self.data.ids(corpus), corpus.offsets)


def _used(corpus: Corpus) -> Column:
    """The labels without unused ones."""
    given = corpus.full_labels()
    used = np.unique(given.ids)
    vocabulary = Vocabulary(given.vocabulary[i] for i in used.tolist())
    return Column(np.searchsorted(used, given.ids).astype(np.int32), vocabulary)


def _as_bio(corpus: Corpus) -> Column:
    return convert_column(_used(corpus), corpus.offsets, Scheme.IOB1, Scheme.BIO)
