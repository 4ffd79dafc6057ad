"""Counts and places of two names, against their reference on random arrays."""

from __future__ import annotations

import naive_pairs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conseq.kernels import pairs


def combined(counts: np.ndarray, bound: int) -> tuple[list, list]:
    size = counts.shape[1]
    sums = np.zeros((size, size, bound + 2), dtype=np.int64)
    differences = np.zeros((size, size, 2 * bound + 3), dtype=np.int64)
    pairs.combine(counts, sums, differences)
    return sums.tolist(), differences.tolist()


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_sums_and_differences_are_those_of_the_reference(data):
    size, n = data.draw(st.integers(0, 5)), data.draw(st.integers(0, 6))
    bound = data.draw(st.integers(0, 4))
    count = st.one_of(st.just(0), st.integers(0, 3), st.integers(0, 9))
    rows = [[data.draw(count) for _ in range(size)] for _ in range(n)]
    counts = np.array(rows, dtype=np.int64).reshape(n, size)
    assert combined(counts, bound) == naive_pairs.combine(rows, size, bound)


@pytest.mark.parametrize("seed", range(10))
def test_every_sequence_is_in_one_bin_of_every_pair(seed):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.7, (30, 6)).astype(np.int64)
    sums, differences = (np.array(part) for part in combined(counts, 3))
    above = np.triu(np.ones((6, 6), dtype=np.int64), 1)
    np.testing.assert_array_equal(sums.sum(axis=2), 30 * above)
    np.testing.assert_array_equal(differences.sum(axis=2), 30 * above)


def test_by_hand():
    sums, differences = combined(np.array([[0, 0], [2, 1], [9, 0], [0, 9]], dtype=np.int64), 2)
    assert sums[0][1] == [1, 0, 0, 3]  # 0 + 0; 2 + 1, 9 + 0 and 0 + 9 are cut at 3
    assert differences[0][1] == [1, 0, 0, 1, 1, 0, 1]  # −9 cut at −3, 0, 1, 9 cut at 3


def random_names(rng, lengths, size) -> list[list[int]]:
    """The names that each token is in: none, one, or several."""
    n_tokens = int(lengths.sum())
    return [np.flatnonzero(rng.random(size) < rng.choice([0.1, 0.5])).tolist() for _ in range(n_tokens)]


@pytest.mark.parametrize("seed", range(60))
def test_orders_are_those_of_the_reference(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(0, 5))
    lengths = rng.integers(0, 7, int(rng.integers(0, 6)))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    inside = random_names(rng, lengths, size)
    names = np.array([name for one in inside for name in one], dtype=np.int64)
    bounds = np.concatenate([[0], np.cumsum([len(one) for one in inside])]).astype(np.int64)
    places = naive_pairs.places(inside, offsets.tolist(), size)
    first, last = (np.array(part, dtype=np.int64).reshape(len(lengths), size) for part in places)
    earlier, later = np.zeros((size, size), dtype=np.int64), np.zeros((size, size), dtype=np.int64)
    pairs.orders(names, bounds, offsets, first, last, earlier, later)
    expected = naive_pairs.orders(inside, offsets.tolist(), size)
    assert (earlier.tolist(), later.tolist()) == expected


def test_a_token_is_at_itself_and_not_before_itself():
    earlier, later = np.zeros((1, 1), dtype=np.int64), np.zeros((1, 1), dtype=np.int64)
    place = np.array([[0]], dtype=np.int64)
    names, bounds, offsets = (np.array(x, dtype=np.int64) for x in ([0], [0, 1], [0, 1]))
    pairs.orders(names, bounds, offsets, place, place, earlier, later)
    assert (earlier.tolist(), later.tolist()) == ([[0]], [[1]])
