"""`kernels/rows.py` against its reference on random designs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import naive_rows as naive
import numpy as np
import pytest

from conseq.kernels import rows as kernel
from conseq.kernels.vectors import LANES

SEEDS = range(12)
CLOSE = {np.float32: 2e-5, np.float64: 1e-12}


@dataclass
class Case:
    """A random two-level design with weights, as lists for the reference, as arrays for the kernels."""

    entries: list  # [R] of [(attribute, value)]
    labels_of: list  # [A] of [label]
    weights: np.ndarray  # [F]
    row_of: np.ndarray  # [T, G]
    width: int

    @classmethod
    def random(cls, seed, dtype=np.float64):
        rng = np.random.default_rng(seed)
        n_rows, n_attributes, groups = rng.integers([1, 1, 1], [9, 7, 4]).tolist()
        width = LANES * int(rng.integers(1, 3))
        entries = [
            [
                (int(rng.integers(n_attributes)), float(np.float32(rng.normal())))
                for _ in range(rng.integers(0, 5))
            ]
            for _ in range(n_rows)
        ]
        labels_of = [
            sorted(rng.choice(width, int(rng.integers(0, width)), False).tolist())
            for _ in range(n_attributes)
        ]
        weights = rng.normal(size=sum(map(len, labels_of))).astype(dtype)
        row_of = rng.integers(n_rows, size=(int(rng.integers(0, 12)), groups)).astype(np.int32)
        return cls(entries, labels_of, weights, row_of, width)

    @property
    def feature(self):
        return np.cumsum([0, *map(len, self.labels_of)])

    @property
    def label(self):
        return np.array([y for labels in self.labels_of for y in labels], dtype=np.int32)

    @property
    def indptr(self):
        return np.cumsum([0, *map(len, self.entries)])

    @property
    def attr(self):
        return np.array([a for row in self.entries for a, _ in row], dtype=np.int32)

    def value(self, dtype):
        return np.array([v for row in self.entries for _, v in row], dtype=dtype)

    @property
    def weight_of(self):
        flat = iter(self.weights.tolist())
        return [{y: next(flat) for y in labels} for labels in self.labels_of]


def in_pieces(seed, n):
    """Random cuts of 0 … n, some of them empty ranges, in random order."""
    rng = np.random.default_rng(seed)
    cuts = sorted([0, n, *rng.integers(0, n + 1, size=3).tolist()])
    pieces = list(pairwise(cuts))
    rng.shuffle(pieces)
    return pieces


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", SEEDS)
def test_expand_and_gather_equal_their_reference(seed, dtype):
    case = Case.random(seed, dtype)
    rows = np.full((len(case.entries), case.width), np.nan, dtype)
    table = (case.weights, case.feature, case.label, case.indptr, case.attr, case.value(dtype), rows)
    for lo, hi in in_pieces(seed, len(rows)):
        kernel.expand(*table, lo, hi)
    expected = naive.expand(case.weight_of, case.entries, case.width)
    np.testing.assert_allclose(rows, expected, CLOSE[dtype], CLOSE[dtype])
    scores = np.full((len(case.row_of), case.width), np.nan, dtype)
    for lo, hi in in_pieces(seed, len(scores)):
        kernel.gather(rows, case.row_of, scores, lo, hi)
    summed = naive.gather(rows.tolist(), case.row_of.tolist())
    np.testing.assert_allclose(scores, np.array(summed).reshape(scores.shape), CLOSE[dtype], CLOSE[dtype])


@pytest.mark.parametrize("width", [1, 7, 9, 22])
def test_gather_takes_any_width(width):
    rng = np.random.default_rng(width)
    rows, row_of = rng.normal(size=(5, width)), rng.integers(5, size=(30, 3)).astype(np.int32)
    scores = np.full((30, width), np.nan)
    kernel.gather(rows, row_of, scores, 0, 30)
    np.testing.assert_allclose(scores, naive.gather(rows.tolist(), row_of.tolist()))


@pytest.mark.parametrize("width", [1, 8, 13])
def test_rows_of_single_precision_add_up_to_scores_of_double(width):
    """The sums are those of single precision, to the last digit."""
    rng = np.random.default_rng(width)
    rows, row_of = rng.normal(size=(5, width)).astype(np.float32), rng.integers(5, size=(30, 3))
    single, double = np.empty((30, width), np.float32), np.empty((30, width))
    for scores in (single, double):
        kernel.gather(rows, row_of.astype(np.int32), scores, 0, 30)
    assert double.tolist() == single.tolist()


@dataclass
class Sums:
    """Random things, each a sum of vectors of a table and of single weights at labels."""

    table: np.ndarray
    weights: np.ndarray
    entries: list  # [N] of [(index, value)]
    singles: list  # [N] of [(place, label, value)]

    @classmethod
    def random(cls, seed, dtype, plain):
        rng = np.random.default_rng(seed)
        things, vectors, weights, width = *rng.integers([0, 1, 1], [70, 9, 30]).tolist(), LANES * 2

        def value():
            return 1.0 if plain else float(np.float32(rng.normal()))

        return cls(
            rng.normal(size=(vectors, width)).astype(dtype),
            rng.normal(size=weights).astype(dtype),
            [[(int(rng.integers(vectors)), value()) for _ in range(rng.integers(4))] for _ in range(things)],
            [
                [
                    (int(rng.integers(weights)), int(rng.integers(width)), value())
                    for _ in range(rng.integers(4))
                ]
                for _ in range(things)
            ],
        )

    def arrays(self, plain):
        """The terms and their values as kernels take them."""
        index, value = zip(*(pair for pairs in self.entries for pair in pairs), (0, 0.0), strict=True)
        single, label, amount = zip(*(one for ones in self.singles for one in ones), (0, 0, 0.0), strict=True)
        whole = [np.array(part[:-1], np.int32) for part in (index, single, label)]
        values = [None if plain else np.array(part[:-1], np.float32) for part in (value, amount)]
        starts = [np.cumsum([0, *map(len, parts)]) for parts in (self.entries, self.singles)]
        return kernel.Terms(starts[0], whole[0], starts[1], whole[1], whole[2]), *values


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", SEEDS)
def test_score_and_spread_equal_their_reference(seed, dtype, plain):
    case = Sums.random(seed, dtype, plain)
    terms = case.arrays(plain)
    shape = (len(case.entries), case.table.shape[1])
    out = np.full(shape, np.nan, dtype)
    for lo, hi in in_pieces(seed, shape[0]):
        kernel.score(*terms, case.table, case.weights, out[lo:hi], lo, hi)
    expected = naive.score(case.table.tolist(), case.entries, case.weights.tolist(), case.singles, shape[1])
    np.testing.assert_allclose(out, np.reshape(expected, shape), CLOSE[dtype], CLOSE[dtype])

    given = np.random.default_rng(seed).normal(size=shape).astype(dtype)
    table, gradient = np.zeros_like(case.table), np.zeros_like(case.weights)
    for lo, hi in in_pieces(seed, shape[0]):
        kernel.spread(*terms, given[lo:hi], table, gradient, lo, hi)
    sums, slopes = naive.spread(given.tolist(), case.entries, case.singles, table.shape, len(gradient))
    np.testing.assert_allclose(table, sums, CLOSE[dtype], 10 * CLOSE[dtype])
    np.testing.assert_allclose(gradient, slopes, CLOSE[dtype], 10 * CLOSE[dtype])


@pytest.mark.parametrize("seed", SEEDS)
def test_putting_is_the_transpose_of_expanding(seed):
    """⟨expand(w), table⟩ = ⟨w, put(table)⟩ whatever w and the table are."""
    case = Case.random(seed)
    n = len(case.labels_of)
    attribute = np.random.default_rng(seed).permutation(n).astype(np.int32)
    expanded = np.empty((n, case.width))
    given = (case.weights, case.feature, case.label, np.arange(n + 1), attribute, np.ones(n), expanded)
    kernel.expand(*given, 0, n)
    table, gradient = np.random.default_rng(seed).normal(size=expanded.shape), np.zeros(len(case.weights))
    for lo, hi in in_pieces(seed, n):
        kernel.put(table, attribute, case.feature, case.label, gradient, lo, hi)
    assert np.isclose((expanded * table).sum(), case.weights @ gradient)
