"""The two-level design matrix at work: weights ↔ rows ↔ tokens.

    weights[F] ──expand──→ rows[R, Y] ──gather──→ scores[T, Y]                        (prediction)
    weights[F] ──expand──→ rows[R, Y], single weights ──score──→ scores[T, Y]         (training)
    gradient[F] ←──push──  rows[R, Y], single weights ←──spread── residual[T, Y]

Row r has the attributes attr[indptr[r]:indptr[r+1]] with as many values; attribute a has the features
feature[a]:feature[a+1], feature f fires for label[f]. In training Y is padded to a multiple of LANES, so
that there are full vectors only. Every kernel works on a range of its output, or on sums of its caller's own,
so threads never write to the same place.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from conseq.kernels.vectors import LANES, LINE, add, fill, load, prefetch, store

Array = NDArray[Any]

TOKENS_AHEAD, AHEAD = 8, 48
"""How far ahead memory is asked for: the rows of so many tokens, or so many of the rows and weights."""

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
def score(
    rows: Array,
    row_start: Array,
    row: Array,
    weights: Array,
    single_start: Array,
    single: Array,
    label: Array,
    scores: Array,
    lo: int,
    hi: int,
) -> None:
    """scores[t − lo] = Σ of the rows of token t and of its single weights at their labels; t in lo … hi−1."""
    width = U(scores.shape[1])
    source, target = rows.reshape(-1), scores.reshape(-1)
    rows_end, singles_end = U(row_start[hi]), U(single_start[hi])
    for t in range(U(lo), U(hi)):
        first, last = U(row_start[t]), U(row_start[t + U(1)])
        for k in range(first + U(AHEAD), min(last + U(AHEAD), rows_end)):
            prefetch(source, U(row[k]) * width)
            prefetch(source, U(row[k]) * width + U(LINE // 4))
        out = (t - U(lo)) * width
        for c in range(U(0), width, U(LANES)):
            sum = fill(source.dtype.type(0))
            for k in range(first, last):
                sum = add(sum, load(source, U(row[k]) * width + c))
            store(target, out + c, sum)
        first, last = U(single_start[t]), U(single_start[t + U(1)])
        for k in range(first + U(AHEAD), min(last + U(AHEAD), singles_end)):
            prefetch(weights, U(single[k]))
        for k in range(first, last):
            target[out + U(label[k])] += weights[U(single[k])]


@njit(cache=True, nogil=True)
def spread(
    residual: Array,
    row_start: Array,
    row: Array,
    single_start: Array,
    single: Array,
    label: Array,
    rows: Array,
    gradient: Array,
    lo: int,
    hi: int,
) -> None:
    """The reverse: residual[t − lo] is added to the rows of token t and, at their labels, to the gradient of
    its single weights, for t in lo … hi−1."""
    width = U(residual.shape[1])
    source, target = residual.reshape(-1), rows.reshape(-1)
    rows_end, singles_end = U(row_start[hi]), U(single_start[hi])
    for t in range(U(lo), U(hi)):
        first, last = U(row_start[t]), U(row_start[t + U(1)])
        for k in range(first + U(AHEAD), min(last + U(AHEAD), rows_end)):
            prefetch(target, U(row[k]) * width)
            prefetch(target, U(row[k]) * width + U(LINE // 4))
        out = (t - U(lo)) * width
        for k in range(first, last):
            start = U(row[k]) * width
            for c in range(U(0), width, U(LANES)):
                store(target, start + c, add(load(target, start + c), load(source, out + c)))
        first, last = U(single_start[t]), U(single_start[t + U(1)])
        for k in range(first + U(AHEAD), min(last + U(AHEAD), singles_end)):
            prefetch(gradient, U(single[k]))
        for k in range(first, last):
            gradient[U(single[k])] += source[out + U(label[k])]


@njit(cache=True, nogil=True)
def list_singles(
    row_of: Array,
    few: Array,
    indptr: Array,
    attr: Array,
    feature: Array,
    label_of: Array,
    single_start: Array,
    single: Array,
    label: Array,
) -> None:
    """The weights of the rows[R] that have `few`, token by token: which, and for which label."""
    place = 0
    for t in range(row_of.shape[0]):
        single_start[t] = place
        for g in range(row_of.shape[1]):
            r = row_of[t, g]
            if few[r]:
                for k in range(indptr[r], indptr[r + 1]):
                    for f in range(feature[attr[k]], feature[attr[k] + 1]):
                        single[place], label[place] = f, label_of[f]
                        place += 1
    single_start[row_of.shape[0]] = place


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
    """gradient[f] += Σ over the rows r of attribute a of value · rows[r, label[f]], for a in lo … hi−1."""
    width, source = U(rows.shape[1]), rows.reshape(-1)
    for a in range(U(lo), U(hi)):
        first, last = U(feature[a]), U(feature[a + U(1)])
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
