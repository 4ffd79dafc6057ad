"""`kernels/index.py`: hash tables against Python's dict."""

from __future__ import annotations

import naive_rows as naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config

from conseq.kernels import index

MANY = 300 if config.DISABLE_JIT else 20_000
"""Codes of the tests that are about size."""

TOP = 2**62 - 1

codes = st.one_of(
    st.integers(-3, 12),
    st.integers(0, TOP),
    st.integers(TOP - 40, TOP),
    st.integers(-(2**62), -1),
    st.builds(lambda k, shift: k << shift, st.integers(0, 15), st.integers(20, 58)),
)
code_lists = st.lists(codes, max_size=60).map(lambda c: np.array(c, dtype=np.int64))


def patterns() -> dict[str, np.ndarray]:
    """Distinct codes that make a poor hash function pile them up."""
    n = np.arange(MANY, dtype=np.int64)
    found = {f"multiples of 2**{k}": n << k for k in (1, 8, 16, 20, 29, 31, 32, 40, 43, 47)}
    found["below 2**62"] = TOP - n
    found["from 0"] = n
    found["pairs of a million"] = (n % 100) * 1_000_000 + n // 100
    found["both halves alike"] = (n << 31) | n
    return found


@settings(deadline=None)
@given(code_lists)
def test_factorise_numbers_codes_in_order_of_first_sight(given_codes):
    ids, first = index.factorise(given_codes)
    assert (ids.tolist(), first.tolist()) == naive.factorise(given_codes.tolist())
    assert ids.dtype == first.dtype == np.int32


@settings(deadline=None)
@given(code_lists, code_lists)
def test_lookup_finds_exactly_the_codes_that_were_built(known, asked):
    known = np.unique(known[known >= 0])
    asked = np.concatenate([asked, known[::2]])
    found = index.lookup(asked, known, index.build(known))
    assert found.tolist() == naive.lookup(asked.tolist(), known.tolist())


@settings(deadline=None)
@given(st.lists(st.integers(0, TOP), min_size=1, max_size=30))
def test_no_code_below_two_to_the_62_overflows(given_codes):
    """Python's own integers never overflow, so the same function on them tells whether int64 did."""
    slot = getattr(index._slot, "py_func", index._slot)
    for code in given_codes:
        assert 0 <= slot(code, 2**62 - 1) == int(slot(np.int64(code), np.int64(2**62 - 1)))


@pytest.mark.parametrize("name", patterns())
def test_adversarial_codes_are_found_again_and_do_not_pile_up(name):
    known = patterns()[name]
    slots = index.build(known)
    assert index.lookup(known, known, slots).tolist() == list(range(len(known)))
    ids, first = index.factorise(np.concatenate([known, known[::-1]]))
    assert first.tolist() == list(range(len(known)))
    assert ids.tolist() == [*range(len(known)), *reversed(range(len(known)))]
    slot = getattr(index._slot, "py_func", index._slot)
    mask = len(slots) - 1
    home = slot(known, mask)
    place = np.empty(len(known), dtype=np.int64)
    place[slots[slots >= 0]] = np.flatnonzero(slots >= 0)
    steps = (place - home) & mask
    assert steps.mean() < 4, f"{steps.mean():.1f} slots are passed over per code"


def test_empty_and_negative_input():
    nothing = np.empty(0, dtype=np.int64)
    absent = np.array([-1, -7, -(2**62)])
    for given_codes in (nothing, absent):
        ids, first = index.factorise(given_codes)
        assert ids.tolist() == [-1] * len(given_codes)
        assert first.tolist() == []
    slots = index.build(nothing)
    assert index.lookup(np.array([-1, 0, 5]), nothing, slots).tolist() == [-1, -1, -1]
    assert index.lookup(nothing, nothing, slots).tolist() == []


def test_factorise_takes_any_integers_and_strides():
    given_codes = np.array([9, 1, 7, 2, 9, 3], dtype=np.int32)
    assert index.factorise(given_codes)[0].tolist() == [0, 1, 2, 3, 0, 4]
    assert index.factorise(given_codes[::2])[0].tolist() == [0, 1, 0]


def test_tables_stay_at_most_half_full():
    for n in (0, 1, 7, 8, 9, 16, 17, 1000):
        slots = index.build(np.arange(n, dtype=np.int64))
        assert len(slots) >= 2 * n
        assert (slots >= 0).sum() == n
        assert len(slots) & (len(slots) - 1) == 0
