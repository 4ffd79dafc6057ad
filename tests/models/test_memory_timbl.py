"""`MemoryLearner` against TiMBL: the figures of its manual, and the program itself where it is installed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from benchmarks.memory import Race, rows_of, trigram_classes
from benchmarks.memory import timbl as run_timbl
from conseq.io import read
from conseq.io.instances import read_instances
from conseq.models.memory import MemoryLearner

DATA = Path(os.environ.get("CONSEQ_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")

needs_dimin = pytest.mark.skipif(not (DATA / "dimin").is_dir(), reason=f"no dimin in {DATA}")
needs_timbl = pytest.mark.skipif(shutil.which("timbl") is None, reason="timbl is not installed")

WEIGHTS = {"none": "nw", "gain-ratio": "gr", "information-gain": "ig", "chi-squared": "x2"}
MANUAL = {
    ("overlap", 1): (86.4, 96.7, 96.6, 96.6),
    ("overlap", 3): (73.1, 96.4, 96.8, 96.9),
    ("overlap", 5): (62.6, 95.4, 96.1, 96.1),
    ("mvdm", 1): (95.8, 96.3, 96.1, 96.2),
    ("mvdm", 3): (97.4, 97.6, 97.6, 97.6),
    ("mvdm", 5): (97.8, 97.7, 97.7, 97.7),
}
"""Per cent right on the diminutives, by weights in the order above."""


@pytest.fixture(scope="module")
def dimin() -> Race:
    train, test = (read_instances(DATA / "dimin" / f"{split}.tsv") for split in ("train", "test"))
    return Race(*train, *test)


@needs_dimin
@pytest.mark.parametrize(("metric", "k"), MANUAL)
def test_every_figure_of_the_manual(dimin, metric, k):
    found = [
        MemoryLearner(metric, weights, k).fit(dimin.rows, dimin.classes).score(dimin.queries, dimin.gold)
        for weights in WEIGHTS
    ]
    assert tuple(round(100 * share, 1) for share in found) == MANUAL[metric, k]


@needs_dimin
def test_the_default_counts_exact_matches_and_ties_as_the_manual_does(dimin):
    learner = MemoryLearner().fit(dimin.rows, dimin.classes)
    found = learner.classify(dimin.queries)
    right = np.array([learner.classes_[i] for i in found.winner]) == np.array(dimin.gold)
    assert right.sum() == 919
    assert (found.distance == 0).sum() == 39
    assert (found.tied.sum(), right[found.tied].sum()) == (5, 4)
    assert learner.model_.weights[[0, 11]] == pytest.approx([0.0248915356, 0.3253718142], rel=1e-8)


@needs_dimin
def test_igtree_has_the_figure_of_the_manual(dimin):
    learner = MemoryLearner(algorithm="igtree").fit(dimin.rows, dimin.classes)
    assert round(100 * learner.score(dimin.queries, dimin.gold), 1) == 96.6


# ── the program ─────────────────────────────────────────────────────────────────────────────────


def share_equal(race: Race, *options: str, **chosen) -> float:
    """How often both give the same class."""
    _, theirs = run_timbl(race, *options)
    ours = MemoryLearner(**chosen).fit(race.rows, race.classes).predict(race.queries)
    return float(np.mean([a == b for a, b in zip(ours, theirs, strict=True)]))


def race_on(name: str, columns: tuple[str, ...], shown: list[str], trigrams: bool, n: int, m: int) -> Race:
    """A part of the training sequences, and windows spread over the test sequences."""
    if not (DATA / name).is_dir():
        pytest.skip(f"no {name} in {DATA}")
    train, test = (
        read(DATA / name / f"{split}.tsv", "columns", columns=columns) for split in ("train", "test")
    )
    train = train.select(range(0, len(train), max(train.n_tokens // n, 1)))
    kinds = [trigram_classes(c) if trigrams else c.full_labels().strings() for c in (train, test)]
    step = test.n_tokens // m
    return Race(rows_of(train, shown), kinds[0], rows_of(test, shown)[::step], kinds[1][::step])


SETS = {
    "nettalk": (("letter", "stress", "label"), ["letter"], False, 15_000, 1000),
    "nettalk trigrams": (("letter", "stress", "label"), ["letter"], True, 7_000, 600),
    "conll2000": (("word", "pos", "label"), ["word", "pos"], False, 3_000, 200),
    "conll2000 trigrams": (("word", "pos", "label"), ["word", "pos"], True, 2_000, 200),
}


@needs_timbl
@pytest.mark.parametrize("name", SETS)
def test_windows_get_timbls_classes(name):
    race = race_on(name.split()[0], *SETS[name])
    for metric, letter in (("overlap", "O"), ("mvdm", "M")):
        for k in (1, 3, 5):
            assert share_equal(race, "-m", letter, "-k", str(k), distance=metric, k=k) >= 0.995
    for metric, letter in (("jensen-shannon", "S"), ("jeffrey", "J")):
        assert share_equal(race, "-m", letter, distance=metric) >= 0.995


@needs_timbl
@needs_dimin
@pytest.mark.parametrize(
    ("letters", "options"),
    [
        (("-w", "sv"), {"weights": "shared-variance"}),
        (("-d", "ID", "-k", "3"), {"voting": "inverse-distance", "k": 3}),
        (("-d", "ED:2:0.5", "-k", "3"), {"voting": "exponential-decay", "k": 3, "a": 2.0, "b": 0.5}),
        (("-d", "IL", "-k", "1"), {"voting": "inverse-linear", "k": 1}),
        (("-a", "IGTREE", "-w", "ig"), {"algorithm": "igtree", "weights": "information-gain"}),
        (("-m", "M", "-L", "5", "-k", "3"), {"distance": "mvdm", "threshold": 5, "k": 3}),
        (("-m", "M", "-L", "20"), {"distance": "mvdm", "threshold": 20}),
        (("-m", "S", "-k", "3"), {"distance": "jensen-shannon", "k": 3}),
        (("-m", "J", "-k", "3"), {"distance": "jeffrey", "k": 3}),
        (("-m", "O:M1-6"), {"distance": ["mvdm"] * 6 + ["overlap"] * 6}),
    ],
)
def test_further_options_give_timbls_classes(dimin, letters, options):
    assert share_equal(dimin, *letters, **options) == 1.0


@needs_timbl
@needs_dimin
def test_inverse_linear_gives_timbls_classes_one_query_at_a_time(dimin):
    """After a tie TiMBL 6.5 weighs the votes of all later queries wrongly, so it gets each by itself."""
    for i in range(0, 60, 4):
        race = Race(dimin.rows, dimin.classes, dimin.queries[i : i + 1], dimin.gold[i : i + 1])
        assert share_equal(race, "-d", "IL", "-k", "3", voting="inverse-linear", k=3) == 1.0


@needs_timbl
def test_numbers_give_timbls_classes():
    """Weights depend on the bins, distances on the ranges."""
    rng = np.random.default_rng(3)
    numbers = np.round(rng.normal(size=(900, 2)) ** 3, 3) + 0.0
    letters = rng.choice(list("abc"), 900)
    classes = np.where(numbers.sum(axis=1) > 1, "P", np.where(letters == "a", "Q", "R")).tolist()
    rows = [[str(x), str(y), str(z)] for (x, y), z in zip(numbers.tolist(), letters, strict=True)]
    race = Race(rows[:600], classes[:600], rows[600:], classes[600:])
    for k in (1, 3):
        metric = ["numeric", "numeric", "overlap"]
        assert share_equal(race, "-m", "O:N1,2", "-k", str(k), distance=metric, k=k) == 1.0
