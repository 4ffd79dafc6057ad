"""The two-level design matrix at work: weights ↔ rows ↔ tokens.

    weights[F] ──expand──→ rows[R, Y] ──gather──→ scores[T, Y]
    gradient[F] ←──push──  rows[R, Y] ←──collect── residual[T, Y]

Row r has the attributes attr[indptr[r]:indptr[r+1]] with as many values; attribute a has the features
feature[a]:feature[a+1], feature f fires for label[f]. In training Y is padded to a multiple of LANES, so
that there are full vectors only. Every kernel works on a range of its output, so threads never write to
the same place and the result does not depend on their number.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from conseq.kernels.vectors import LANES, LINE, add, fill, load, prefetch, store

Array = NDArray[Any]

TOKENS_AHEAD, ENTRIES_AHEAD = 8, 32
"""How far ahead memory is asked for: the rows of so many tokens, the tokens of so many entries."""

U = np.uint64
"""Unsigned, flat indices need no wrap-around check, and only then is the inner loop vectorised."""


@njit(cache=True, nogil=True)
def expand(
    weights: Array,
    feature: Array,
    label: Array,
    indptr: Array,
    attr: Array,
    value: Array,
    rows: Array,
    lo: int,
    hi: int,
) -> None:
    """rows[r, y] = Σ over attributes a of row r of value · weight(a, y), for r in lo … hi−1."""
    width, target = U(rows.shape[1]), rows.reshape(-1)
    for r in range(U(lo), U(hi)):
        out = r * width
        for y in range(width):
            target[out + y] = 0
        for k in range(U(indptr[r]), U(indptr[r + U(1)])):
            a = U(attr[k])
            v = value[k]
            for f in range(U(feature[a]), U(feature[a + U(1)])):
                target[out + U(label[f])] += v * weights[f]


@njit(cache=True, nogil=True)
def gather(rows: Array, row_of: Array, scores: Array, lo: int, hi: int) -> None:
    """scores[t] = Σ over the groups g of rows[row_of[t, g]], for t in lo … hi−1."""
    width, groups, end = U(scores.shape[1]), U(row_of.shape[1]), U(hi)
    even = width - width % U(LANES)
    source, index, target = rows.reshape(-1), row_of.reshape(-1), scores.reshape(-1)
    for t in range(U(lo), end):
        if t + U(TOKENS_AHEAD) < end:
            soon = (t + U(TOKENS_AHEAD)) * groups
            for g in range(soon, soon + groups):
                prefetch(source, U(index[g]) * width)
                prefetch(source, U(index[g]) * width + U(LINE // 4))
        first, out = t * groups, t * width
        for c in range(U(0), even, U(LANES)):
            sum = load(source, U(index[first]) * width + c)
            for g in range(first + U(1), first + groups):
                sum = add(sum, load(source, U(index[g]) * width + c))
            store(target, out + c, sum)
        for y in range(even, width):
            target[out + y] = source[U(index[first]) * width + y]
            for g in range(first + U(1), first + groups):
                target[out + y] += source[U(index[g]) * width + y]


@njit(cache=True, nogil=True)
def collect(residual: Array, indptr: Array, token: Array, rows: Array, lo: int, hi: int) -> None:
    """rows[r] = Σ over the tokens t of row r of residual[t], for r in lo … hi−1; full vectors only."""
    width, end = U(residual.shape[1]), U(indptr[hi])
    source, target = residual.reshape(-1), rows.reshape(-1)
    for r in range(U(lo), U(hi)):
        first, last = U(indptr[r]), U(indptr[r + U(1)])
        for k in range(first + U(ENTRIES_AHEAD), min(last + U(ENTRIES_AHEAD), end)):
            prefetch(source, U(token[k]) * width)
            prefetch(source, U(token[k]) * width + U(LINE // 4))
        for c in range(U(0), width, U(LANES)):
            sum = fill(source.dtype.type(0))
            for k in range(first, last):
                sum = add(sum, load(source, U(token[k]) * width + c))
            store(target, r * width + c, sum)


@njit(cache=True, nogil=True)
def push(
    rows: Array,
    indptr: Array,
    row: Array,
    value: Array,
    feature: Array,
    label: Array,
    gradient: Array,
    lo: int,
    hi: int,
) -> None:
    """gradient[f] = Σ over the rows r of attribute a of value · rows[r, label[f]], for a in lo … hi−1."""
    width, source = U(rows.shape[1]), rows.reshape(-1)
    for a in range(U(lo), U(hi)):
        first, last = U(feature[a]), U(feature[a + U(1)])
        for f in range(first, last):
            gradient[f] = 0
        for k in range(U(indptr[a]), U(indptr[a + U(1)])):
            start = U(row[k]) * width
            v = value[k]
            for f in range(first, last):
                gradient[f] += v * source[start + U(label[f])]


@njit(cache=True, nogil=True)
def transpose(indptr: Array, column: Array, starts: Array, row: Array, entry: Array) -> None:
    """The entries of a compressed matrix by column.

    starts[n_columns+1] comes in zero and leaves as the columns' bounds; row[k] and entry[k] say where the
    k-th entry by column stands in the matrix by row.
    """
    for k in range(column.size):
        starts[column[k] + 1] += 1
    for c in range(1, starts.size):
        starts[c] += starts[c - 1]
    for r in range(indptr.size - 1):
        for k in range(indptr[r], indptr[r + 1]):
            place = starts[column[k]]
            starts[column[k]] += 1
            row[place] = r
            entry[place] = k
    for c in range(starts.size - 1, 0, -1):
        starts[c] = starts[c - 1]
    starts[0] = 0
