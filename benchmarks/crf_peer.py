"""CRFsuite's side of the race: attributes as strings, training with the clock running, labelling.

    Design ─→ strings (`attribute_strings`) ┐
    columns ─→ strings (`crf_user`)         ┴─→ Given ─→ measure ─→ seconds, objectives; labels of test data

CRFsuite is given its best. Strings made of a Design are short, lack what training data has not shown, and are
ready before the clock runs; where they are made of columns, that is timed and written for speed.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.crf_user import PARAMETERS, attributes, padded
from benchmarks.timing import best, timed
from conseq.corpus import Corpus
from conseq.errors import ConseqError
from conseq.features import FeatureExtractor, Template
from conseq.features.design import Design

Items = list[list[str]] | list[dict[str, float]]
"""The attributes of each token of a sequence, by name, with their values where these are not all 1."""

COLUMNS, STRINGS = "columns", "strings"
"""Where CRFsuite begins when it labels raw data: at columns, or later, at strings that are ready."""


def package() -> Any:
    """python-crfsuite, or a sentence that says how to get it."""
    try:
        import pycrfsuite
    except ImportError:
        raise ConseqError(
            "the race needs python-crfsuite; install it with: pip install 'conseq[bench]'"
        ) from None
    return pycrfsuite


def attribute_strings(design: Design, offsets: NDArray[np.int64]) -> Iterator[Items]:
    """The attributes of a design as CRFsuite takes them, sequence by sequence: attribute 12 is "a12".

    The strings of a row are listed once; a token's list is that of its rows end to end.
    """
    names = [f"a{i}" for i in range(design.n_attributes)]
    flat: list[Any] = [names[i] for i in design.attr.tolist()]
    join: Callable[[Iterable[Any]], Any] = list
    if np.any(design.value != 1):
        flat, join = list(zip(flat, design.value.tolist(), strict=True)), dict
    rows = [flat[a:b] for a, b in pairwise(design.indptr.tolist())]
    for a, b in pairwise(offsets.tolist()):
        yield [join(chain.from_iterable(map(rows.__getitem__, own))) for own in design.row_of[a:b].tolist()]


@dataclass(frozen=True)
class Given:
    """What makes the attributes of the training and of the test data, and from where."""

    train: Callable[[], Iterable[Items]]
    test: Callable[[], Iterable[Items]]
    begins: str  # COLUMNS or STRINGS

    @classmethod
    def by_hand(cls, train: Corpus, test: Corpus) -> Given:
        """The chunking attributes, from the columns `word` and `pos`."""

        def maker(corpus: Corpus) -> Callable[[], Iterable[Items]]:
            columns = [(padded(s.column("word")), padded(s.column("pos"))) for s in corpus]
            return lambda: [attributes(w, p) for w, p in columns]

        return cls(maker(train), maker(test), COLUMNS)

    @classmethod
    def by_templates(cls, train: Corpus, test: Corpus, templates: Iterable[Template]) -> Given:
        """The attributes that conseq has, exactly."""
        extractor, design = FeatureExtractor.learn(train, templates)
        seen = extractor.design(test)
        return cls(
            lambda: attribute_strings(design, train.offsets),
            lambda: attribute_strings(seen, test.offsets),
            STRINGS,
        )


@dataclass(frozen=True)
class Trained:
    """How CRFsuite's training went, in wall-clock seconds since it began."""

    seconds: float  # until the weights were ready, the writing of the model left out
    curve: list[tuple[float, float]]  # (objective, seconds) after each iteration
    trials: list[int]  # evaluations of each iteration
    weights: int

    @property
    def evaluations(self) -> int:
        """Those of all iterations, and the one at the start."""
        return 1 + sum(self.trials)


@dataclass
class _Clock:
    begun: float = field(default_factory=time.perf_counter)
    iterations: list[float] = field(default_factory=list)
    ended: float | None = None

    def now(self) -> float:
        return time.perf_counter() - self.begun


def trainer_of(items: Iterable[Items], labels: list[list[str]], **parameters: Any) -> Any:
    """A trainer that has been given the data."""
    trainer = package().Trainer(algorithm="lbfgs", params={**PARAMETERS, **parameters}, verbose=False)
    for x, y in zip(items, labels, strict=True):
        trainer.append(x, y)
    return trainer


def train(trainer: Any, model: Path) -> Trained:
    """Train and write the model."""
    clock = _Clock()
    hear = trainer.message

    def message(line: str) -> None:
        hear(line)
        if line.startswith("Seconds required for this iteration"):
            clock.iterations.append(clock.now())
        elif line.startswith("Storing the model"):
            clock.ended = clock.now()

    trainer.message = message
    total, _ = timed(lambda: trainer.train(str(model)))
    log = trainer.logparser
    losses = [iteration["loss"] for iteration in log.iterations]
    return Trained(
        total if clock.ended is None else clock.ended,
        list(zip(losses, clock.iterations, strict=True)),
        [iteration["linesearch_trials"] for iteration in log.iterations],
        log.featgen_num_features,
    )


def per_evaluation(seconds: list[float], evaluations: list[int]) -> float:
    """Seconds of one evaluation, from the end of the first iteration to that of the last.

    `evaluations` are those that had been made at the end of each iteration.
    """
    if len(seconds) < 2:
        return seconds[-1] / evaluations[-1]
    return (seconds[-1] - seconds[0]) / (evaluations[-1] - evaluations[0])


def measure(
    given: Given, labels: list[list[str]], max_iterations: int | None = None
) -> tuple[dict[str, Any], list[list[str]]]:
    """What the race reports of CRFsuite, but for the quality of its labels, which are given, too."""
    limit = {} if max_iterations is None else {"max_iterations": max_iterations}
    seconds: dict[str, float] = {}
    if given.begins == COLUMNS:
        seconds["strings"], items = timed(given.train)
        seconds["append"], trainer = timed(lambda: trainer_of(items, labels, **limit))
        seconds["features"] = seconds["strings"] + seconds["append"]
        del items
    else:
        trainer = trainer_of(given.train(), labels, **limit)
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model"
        trained = train(trainer, model)
        del trainer
        seconds["train"] = trained.seconds
        clock = [s for _, s in trained.curve]
        seconds["per_evaluation"] = per_evaluation(clock, (1 + np.cumsum(trained.trials)).tolist())
        raw, test, predicted = _labelled(model, given)
    iterations = len(trained.curve)
    return {
        "seconds": {**seconds, "label_raw": raw, "label_given": test},
        "label_raw_from": given.begins,
        "objective": trained.curve[-1][0],
        "iterations": iterations,
        "evaluations": trained.evaluations,
        "max_iterations": max_iterations,
        "limited": max_iterations is not None and iterations >= max_iterations,
        "weights": trained.weights,
        "curve": trained.curve,
    }, predicted


def _labelled(model: Path, given: Given) -> tuple[float, float, list[list[str]]]:
    """Seconds of labelling raw data and data whose attributes CRFsuite has, and the labels."""
    crfsuite = package()
    tagger = crfsuite.Tagger()
    tagger.open(str(model))
    strings = list(given.test())
    make = given.test if given.begins == COLUMNS else (lambda: strings)
    raw, _ = best(lambda: [tagger.tag(x) for x in make()])
    ready = [crfsuite.ItemSequence(x) for x in strings]
    test, predicted = best(lambda: [tagger.tag(x) for x in ready])
    tagger.close()
    return raw, test, predicted
