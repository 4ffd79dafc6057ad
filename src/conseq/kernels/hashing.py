"""Texts and tuples as numbers below 2**62, the same on every machine and in every run.

    hash_ranges:  characters[n], start[m], end[m] ─→ hashes[m] of the characters start … end−1
    combine:      values[n,C], columns[K,W] ─→ codes[n,K], of the values in the columns of each template and
                  its number, which is `first` for the first of them

Two polynomials modulo primes near 2**31 side by side, h ← (h · base + c) mod p; every product stays below
2**63. A negative value means "nothing here", and a tuple that has one is −1.
"""

from __future__ import annotations

from conseq.kernels.compiled import Array, kernel


@kernel
def hash_ranges(characters: Array, start: Array, end: Array, hashes: Array) -> None:
    """The hash of each range; empty ones have −1."""
    for i in range(start.size):
        a, b = 0, 0
        for k in range(start[i], end[i]):
            a = (a * 1_103_515_245 + characters[k] + 1) % 2_147_483_629
            b = (b * 1_812_433_253 + characters[k] + 1) % 2_147_483_587
        hashes[i] = (a << 31) | b if end[i] > start[i] else -1


@kernel
def combine(values: Array, columns: Array, first: int, codes: Array) -> None:
    """The code of each row's values by each template, which has its columns first and then −1."""
    for i in range(values.shape[0]):
        for k in range(columns.shape[0]):
            a, b = first + k + 1, first + k + 1
            for w in range(columns.shape[1]):
                c = columns[k, w]
                if c < 0:
                    break
                value = values[i, c]
                if value < 0:
                    a = -1
                    break
                a = (a * 1_664_525_003 + (value >> 31) + 1) % 2_147_483_629
                b = (b * 1_597_334_677 + (value & 0x7FFFFFFF) + 1) % 2_147_483_587
            codes[i, k] = -1 if a < 0 else (a << 31) | b
