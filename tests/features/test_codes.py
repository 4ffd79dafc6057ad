"""`features/codes.py`: tuples as numbers, exact however many bits they need."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conseq.features import codes
from conseq.features.codes import TupleIndex

HUGE = 2**31 - 2


@st.composite
def tables(draw):
    """Tuples with −1 for absent values, the radix of each part, and limits that change how they are kept."""
    radices = draw(st.lists(st.sampled_from([1, 2, 5, 1000, 2**20, HUGE]), min_size=1, max_size=6))
    cell = [st.one_of(st.integers(-1, min(r - 1, 3)), st.integers(max(0, r - 3), r - 1)) for r in radices]
    rows = draw(st.lists(st.tuples(*cell), max_size=25))
    asked = draw(st.lists(st.tuples(*cell), max_size=10))
    limit = draw(st.sampled_from([1, 7, 10**4, codes.LIMIT]))
    direct = draw(st.sampled_from([0, 50, codes.DIRECT]))
    return radices, rows, [*asked, *rows[::2]], limit, direct


def parts(rows, radices):
    table = np.array(rows, dtype=np.int32).reshape(len(rows), len(radices))
    return [(np.ascontiguousarray(table[:, k]), r) for k, r in enumerate(radices)]


def numbered(rows):
    """Tuples without an absent value in order of first sight, and the id of each row."""
    whole = dict.fromkeys(row for row in rows if min(row) >= 0)
    place = {row: i for i, row in enumerate(whole)}
    return list(whole), [place.get(row, -1) for row in rows]


@settings(deadline=None)
@given(tables())
def test_tuples_get_ids_and_are_found_again(table):
    radices, rows, asked, limit, direct = table
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(codes, "LIMIT", limit)
        patch.setattr(codes, "DIRECT", direct)
        index, ids, first = TupleIndex.learn(parts(rows, radices))
        known, expected = numbered(rows)
        assert ids.tolist() == expected
        assert len(index) == len(known)
        assert index.values(np.arange(len(index))) == known
        place = {row: i for i, row in enumerate(known)}
        assert index.find(parts(asked, radices)).tolist() == [place.get(row, -1) for row in asked]
        assert [rows[i] for i in first] == known


@settings(deadline=None)
@given(tables(), st.randoms())
def test_keeping_some_numbers_them_anew_in_order(table, random):
    radices, rows, _, limit, direct = table
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(codes, "LIMIT", limit)
        patch.setattr(codes, "DIRECT", direct)
        index, _, _ = TupleIndex.learn(parts(rows, radices))
        known, _ = numbered(rows)
        wanted = np.array([random.random() < 0.5 for _ in known], dtype=bool)
        kept = index.keep(wanted)
        left = [row for row, keep in zip(known, wanted, strict=True) if keep]
        assert kept.values(np.arange(len(kept))) == left
        place = {row: i for i, row in enumerate(left)}
        assert kept.find(parts(rows, radices)).tolist() == [place.get(row, -1) for row in rows]


def test_more_than_62_bits_are_exact():
    """Six parts of 31 bits: 186 bits; tuples that differ in one bit of one part stay apart."""
    base = (HUGE - 1,) * 6
    rows = [base] + [tuple(v - (i == k) for i, v in enumerate(base)) for k in range(6)]
    index, ids, _ = TupleIndex.learn(parts(rows, [HUGE] * 6))
    assert ids.tolist() == list(range(7))
    assert len(index.prefixes) == 4
    assert index.values(ids) == rows
    assert index.find(parts([(0,) * 6, rows[3]], [HUGE] * 6)).tolist() == [-1, 3]
