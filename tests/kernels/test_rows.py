"""`kernels/rows.py` against its twins on random designs."""

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
    """A random two-level design with weights, as lists (for the twins) and as arrays (for the kernels)."""

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


def by_column(indptr, column, n_columns):
    starts = np.zeros(n_columns + 1, dtype=np.int64)
    row, entry = np.full(len(column), -7, np.int32), np.full(len(column), -7, np.int64)
    kernel.transpose(indptr, column, starts, row, entry)
    return starts, row, entry


def in_pieces(seed, n):
    """Random cuts of 0 … n, some of them empty ranges, in random order."""
    rng = np.random.default_rng(seed)
    cuts = sorted([0, n, *rng.integers(0, n + 1, size=3).tolist()])
    pieces = list(pairwise(cuts))
    rng.shuffle(pieces)
    return pieces


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", SEEDS)
def test_expand_and_gather_equal_their_twins(seed, dtype):
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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", SEEDS)
def test_score_and_spread_equal_their_twins(seed, dtype):
    """Some rows in full, the single weights of the others."""
    case, rng = Case.random(seed, dtype), np.random.default_rng(seed)
    n_rows, n_tokens = len(case.entries), len(case.row_of)
    few = rng.random(n_rows) < 0.5
    kept = [[int(r) for r in rows if not few[r]] for rows in case.row_of]
    singles = [
        [(f, int(case.label[f])) for r in rows if few[r] for a, _ in case.entries[r]
         for f in range(case.feature[a], case.feature[a + 1])]
        for rows in case.row_of
    ]  # fmt: skip
    flat = [pair for pairs in singles for pair in pairs]
    start = np.full(n_tokens + 1, -7)
    single, label = np.full(len(flat), -7, np.int32), np.full(len(flat), -7, np.int32)
    table = (case.row_of, few, case.indptr, case.attr, case.feature, case.label, start, single, label)
    kernel.list_singles(*table)
    assert list(zip(single.tolist(), label.tolist(), strict=True)) == flat
    assert start.tolist() == np.cumsum([0, *map(len, singles)]).tolist()

    rows = rng.normal(size=(n_rows, case.width)).astype(dtype)
    refers = np.cumsum([0, *map(len, kept)]), np.array([r for rows in kept for r in rows], np.int32)
    scores = np.full((n_tokens, case.width), np.nan, dtype)
    for lo, hi in in_pieces(seed, n_tokens):
        kernel.score(rows, *refers, case.weights, start, single, label, scores[lo:hi], lo, hi)
    expected = naive.score(rows.tolist(), kept, case.weights.tolist(), singles, case.width)
    np.testing.assert_allclose(scores, np.reshape(expected, scores.shape), CLOSE[dtype], CLOSE[dtype])

    residual = rng.normal(size=scores.shape).astype(dtype)
    sums, gradient = np.zeros_like(rows), np.zeros_like(case.weights)
    for lo, hi in in_pieces(seed, n_tokens):
        kernel.spread(residual[lo:hi], *refers, start, single, label, sums, gradient, lo, hi)
    wanted, slopes = naive.spread(residual.tolist(), kept, singles, rows.shape, len(gradient))
    np.testing.assert_allclose(sums, wanted, CLOSE[dtype], CLOSE[dtype])
    np.testing.assert_allclose(gradient, slopes, CLOSE[dtype], CLOSE[dtype])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", SEEDS)
def test_push_adds_what_its_twin_gives(seed, dtype):
    case = Case.random(seed, dtype)
    rows = np.random.default_rng(seed).normal(size=(len(case.entries), case.width)).astype(dtype)
    gradient = np.ones(len(case.weights))
    starts, row, entry = by_column(case.indptr, case.attr, len(case.labels_of))
    value = case.value(dtype)[entry]
    for lo, hi in in_pieces(seed, len(case.labels_of)):
        kernel.push(rows, starts, row, value, case.feature, case.label, gradient, lo, hi)
    pushed = naive.push(rows.tolist(), case.entries, case.labels_of)
    np.testing.assert_allclose(gradient - 1, pushed, CLOSE[dtype], CLOSE[dtype])


@pytest.mark.parametrize("seed", SEEDS)
def test_pushing_is_the_transpose_of_expanding(seed):
    """⟨expand(w), rows⟩ = ⟨w, push(rows)⟩ whatever w and rows are."""
    case = Case.random(seed)
    rng = np.random.default_rng(seed)
    value = case.value(np.float64)
    expanded = np.empty((len(case.entries), case.width))
    table = (case.weights, case.feature, case.label, case.indptr, case.attr, value, expanded)
    kernel.expand(*table, 0, len(expanded))
    rows = rng.normal(size=expanded.shape)
    gradient = np.zeros(len(case.weights))
    starts, row, entry = by_column(case.indptr, case.attr, len(case.labels_of))
    arguments = (rows, starts, row, value[entry], case.feature, case.label, gradient)
    kernel.push(*arguments, 0, len(case.labels_of))
    assert np.isclose((expanded * rows).sum(), case.weights @ gradient)


@pytest.mark.parametrize("seed", SEEDS)
def test_transpose_lists_the_entries_by_column_in_order(seed):
    case = Case.random(seed)
    columns = [[a for a, _ in row] for row in case.entries]
    starts, row, entry = by_column(case.indptr, case.attr, len(case.labels_of))
    found = [
        list(zip(row[a:b].tolist(), entry[a:b].tolist(), strict=True)) for a, b in pairwise(starts.tolist())
    ]
    assert found == naive.transpose(columns, len(case.labels_of))
