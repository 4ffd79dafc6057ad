"""`kernels/hashing.py` against Python's unbounded integers."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from conseq.kernels import hashing

PRIMES = 2_147_483_629, 2_147_483_587
OF_TEXT, OF_TUPLES = (1_103_515_245, 1_812_433_253), (1_664_525_003, 1_597_334_677)


def naive(values: list[tuple[int, int]], bases: tuple[int, int], begin: int = 0) -> int:
    """Both polynomials of pairs of numbers, side by side."""
    halves = []
    for half, (base, prime) in enumerate(zip(bases, PRIMES, strict=True)):
        total = begin
        for value in values:
            total = (total * base + value[half] + 1) % prime
        halves.append(total)
    return halves[0] << 31 | halves[1]


def test_the_moduli_are_primes():
    for prime in PRIMES:
        assert all(prime % d for d in range(2, int(prime**0.5) + 1))


@settings(deadline=None)
@given(st.text(max_size=20), st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=8))
def test_ranges_are_hashed_as_by_python(text, ranges):
    ranges = [(a, b) for a, b in ranges if b <= len(text)]
    characters = np.array([ord(c) for c in text], dtype=np.int64)
    start, end = (np.array([r[k] for r in ranges], dtype=np.int64) for k in (0, 1))
    hashes = np.empty(len(ranges), dtype=np.int64)
    hashing.hash_ranges(characters, start, end, hashes)
    wanted = [naive([(ord(c),) * 2 for c in text[a:b]], OF_TEXT) if b > a else -1 for a, b in ranges]
    assert hashes.tolist() == wanted
    assert all(-1 <= h < 2**62 for h in wanted)


@settings(deadline=None)
@given(
    st.lists(st.lists(st.one_of(st.just(-1), st.integers(0, 2**62 - 1)), min_size=3, max_size=3), max_size=5),
    st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=3), min_size=1, max_size=4),
    st.integers(0, 2000),
)
def test_tuples_are_coded_as_by_python(rows, templates, first):
    values = np.array(rows, dtype=np.int64).reshape(-1, 3)
    columns = np.array([line + [-1] * (3 - len(line)) for line in templates], dtype=np.int64)
    codes = np.empty((len(rows), len(templates)), dtype=np.int64)
    hashing.combine(values, columns, first, codes)
    for i, row in enumerate(rows):
        for k, line in enumerate(templates):
            taken = [row[c] for c in line]
            halves = [(value >> 31, value & 0x7FFFFFFF) for value in taken]
            wanted = -1 if min(taken) < 0 else naive(halves, OF_TUPLES, first + k + 1)
            assert codes[i, k] == wanted
