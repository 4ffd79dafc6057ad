"""Hash tables from non-negative int64 codes to dense int32 ids, by open addressing.

    factorise:  codes[n] ─→ ids[n] in order of first sight, first[u] the place where each was first seen
    build:      distinct codes[u] ─→ slots[size] (a power of two, at most half full; −1 = free)
    lookup:     codes[n] ─→ ids[n], −1 where a code is not in the table

Codes stay below 2**62; a negative code means "nothing here" and gets the id −1. What is sorted needs no
table (`place_of`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from conseq.kernels.compiled import Array, helper, kernel


@helper
def first_from(values: Array, low: int, high: int, wanted: int) -> int:
    """The first place among values[low:high], which rise, that holds this value or a larger one."""
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@helper
def place_of(values: Array, low: int, high: int, wanted: int) -> int:
    """Where a value stands among values[low:high], which rise; −1 if it does not."""
    place = first_from(values, low, high, wanted)
    return place if place < high and values[place] == wanted else -1


@helper(inline="always")
def _slot(code: int, mask: int) -> int:
    """Mixes both halves of a code; every product stays below 2**62, so nothing overflows."""
    mixed = (code & 0x7FFFFFFF) * 0x5851F42D + (code >> 31) * 0x2545F491
    return (mixed ^ (mixed >> 29) ^ (mixed >> 43)) & mask


@kernel
def _factorise(codes: Array, slots: Array, ids: Array, first: Array) -> int:
    mask = slots.size - 1
    n = 0
    for i in range(codes.size):
        code = codes[i]
        if code < 0:
            ids[i] = -1
            continue
        s = _slot(code, mask)
        while slots[s] >= 0 and codes[first[slots[s]]] != code:
            s = (s + 1) & mask
        if slots[s] < 0:
            slots[s] = n
            first[n] = i
            n += 1
        ids[i] = slots[s]
    return n


@kernel
def _lookup(codes: Array, known: Array, slots: Array, ids: Array) -> None:
    mask = slots.size - 1
    for i in range(codes.size):
        code = codes[i]
        found = -1
        if code >= 0:
            s = _slot(code, mask)
            while slots[s] >= 0 and known[slots[s]] != code:
                s = (s + 1) & mask
            found = slots[s]
        ids[i] = found


def _free_slots(n: int) -> NDArray[np.int32]:
    return np.full(1 << max(4, int(2 * n - 1).bit_length()), -1, dtype=np.int32)


def factorise(codes: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Dense ids in order of first sight, and the place where each id was first seen.

    >>> ids, first = factorise(np.array([70, 30, 70, -1, 5]))
    >>> ids.tolist(), first.tolist()
    ([0, 1, 0, -1, 2], [0, 1, 4])
    """
    codes = np.ascontiguousarray(codes, dtype=np.int64)
    ids = np.empty(codes.size, dtype=np.int32)
    first = np.empty(codes.size, dtype=np.int32)
    n = _factorise(codes, _free_slots(codes.size), ids, first)
    return ids, first[:n].copy()


def build(codes: NDArray[np.int64]) -> NDArray[np.int32]:
    """The slots of a table in which codes[i] has the id i; the codes must be distinct."""
    slots, (ids, first) = _free_slots(codes.size), np.empty((2, codes.size), dtype=np.int32)
    _factorise(codes, slots, ids, first)
    return slots


def lookup(codes: NDArray[np.int64], known: NDArray[np.int64], slots: NDArray[np.int32]) -> NDArray[np.int32]:
    """The id of each code in the table built from `known`, −1 where it has none."""
    ids = np.empty(codes.size, dtype=np.int32)
    _lookup(np.ascontiguousarray(codes, dtype=np.int64), known, slots, ids)
    return ids
