"""How the time of training grows: seconds of one evaluation of the objective and its gradient.

    corpus ─┬→ a quarter, a half, all of it
            ├→ labels split into 1, 2, 4, 8 finer ones        ─→ Design ─→ ChainObjective ─→ seconds, ratios
            └→ 0, 10, 20 more templates of the word itself

conseq alone, at random weights, the quickest of several; the problems of a row above take turns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.timing import timed
from conseq.corpus import Column, Corpus
from conseq.features import FeatureExtractor, parse_templates, preset
from conseq.models.layout import Shard, observe_all
from conseq.models.objective import ChainObjective
from conseq.models.trainer import Sample
from conseq.vocabulary import Vocabulary

SHARES = (4, 2, 1)
"""Every fourth sequence, every second one, all."""
SPLITS = (1, 2, 4, 8)
ADDED = (0, 10, 20)
BUILDS, TIMES = 3, 7
"""Each problem is built so often, and evaluated so often each time."""
SPREAD = 0.1
"""Standard deviation of the weights: small enough for single precision."""

WORD_TEMPLATES = (
    "lower[0]", "shape[0]", "suffix(2)[0]", "suffix(3)[0]", "prefix(2)[0]",
    "prefix(3)[0]", "short-shape[0]", "suffix(1)[0]", "prefix(1)[0]", "digits[0]",
    "suffix(4)[0]", "prefix(4)[0]", "length[0]", "suffix(5)[0]", "prefix(5)[0]",
    "kind[0]", "match(/-/)[0]", "match(/^[A-Z]/)[0]", "match(/[.]$/)[0]", "match(/^[A-Z]+$/)[0]",
)  # fmt: skip
"""What the word alone determines, to be added to the chunking templates."""

Say = Callable[[str], None]
Row = dict[str, Any]


def measure(corpus: Corpus, threads: int, say: Say = print) -> dict[str, Any]:
    """Seconds per evaluation as data, labels and attributes grow; ratios are of the last to the first."""
    rows = {
        "data": rebuilt(lambda: [problem(_every(corpus, n), threads) for n in SHARES]),
        "labels": rebuilt(lambda: [problem(finer(corpus, n), threads) for n in SPLITS]),
        "attributes": rebuilt(lambda: [problem(corpus, threads, n) for n in ADDED]),
    }
    ratios = {name: found[-1]["seconds"] / found[0]["seconds"] for name, found in rows.items()}
    said = ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())
    say(f"an evaluation takes this many times as long, from least to most: {said}")
    return {"threads": threads, **rows, "ratios": ratios}


def problem(corpus: Corpus, threads: int, added: int = 0) -> tuple[Row, Callable[[], Any]]:
    """The size of a problem, and one evaluation."""
    labels = corpus.full_labels()
    templates = preset("chunk", list(corpus.columns)) + parse_templates(WORD_TEMPLATES[:added])
    extractor, design = FeatureExtractor.learn(corpus, templates)
    given = (design, labels.ids, corpus.offsets)
    layout, observed = observe_all([Shard(*given)], len(labels.vocabulary), boundaries=False)
    weights = np.random.default_rng(0).normal(scale=SPREAD, size=layout.size)
    objective = ChainObjective(Sample([Shard(*given)], layout, observed), c2=1.0, threads=threads)
    size = {
        "sequences": len(corpus),
        "tokens": corpus.n_tokens,
        "labels": len(labels.vocabulary),
        "templates": len(templates),
        "attributes": extractor.n_attributes,
        "weights": layout.size,
    }
    return size, lambda: objective(weights)


Problems = Sequence[tuple[Row, Callable[[], Any]]]


def rebuilt(build: Callable[[], Problems]) -> list[Row]:
    """The quickest of several builds: how fast arrays are depends on where the system puts them."""
    found = [taking_turns(build()) for _ in range(BUILDS)]
    return [min(rows, key=lambda row: row["seconds"]) for rows in zip(*found, strict=True)]


def taking_turns(problems: Problems) -> list[Row]:
    """The sizes with the seconds of the quickest evaluation; all meet the same moods of the machine."""
    with threadpool_limits(1, user_api="blas"):
        for _, evaluate in problems:
            evaluate()
        rounds = [[timed(evaluate)[0] for _, evaluate in problems] for _ in range(TIMES)]
    quickest = map(min, *rounds)
    return [{**size, "seconds": taken} for (size, _), taken in zip(problems, quickest, strict=True)]


def _every(corpus: Corpus, n: int) -> Corpus:
    return corpus.select(range(0, len(corpus), n))


def finer(corpus: Corpus, n: int) -> Corpus:
    """Each label split into n by the word it stands at, so that most attributes see no more labels.

    >>> two = finer(Corpus.from_sequences([["a", "b"]], [["x", "x"]]), 2)
    >>> two.label_sequences()
    [['x/0', 'x/1']]
    """
    labels = corpus.full_labels()
    ids = labels.ids * n + corpus.columns[corpus.token_column].ids % n
    names = Vocabulary([f"{name}/{k}" for name in labels.vocabulary for k in range(n)])
    return replace(corpus, labels=Column(ids.astype(np.int32), names))
