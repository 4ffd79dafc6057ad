"""The two-level design matrix at work: weights ↔ rows ↔ tokens.

    weights[F] ──expand──→ rows[R, Y] ──gather──→ scores[T, Y]
    gradient[F] ←──push──  rows[R, Y] ←──collect── residual[T, Y]

Row r has the attributes attr[indptr[r]:indptr[r+1]] with as many values; attribute a has the features
feature[a]:feature[a+1], feature f fires for label[f]. Y is padded to a multiple of LANES so that the
compiler can use full vectors. Every kernel works on a range of its output, so threads never write to
the same place and the result does not depend on their number.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[Any]

LANES = 8

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
    width, groups = U(scores.shape[1]), U(row_of.shape[1])
    source, index, target = rows.reshape(-1), row_of.reshape(-1), scores.reshape(-1)
    for t in range(U(lo), U(hi)):
        out = t * width
        start = U(index[t * groups]) * width
        for y in range(width):
            target[out + y] = source[start + y]
        for g in range(U(1), groups):
            start = U(index[t * groups + g]) * width
            for y in range(width):
                target[out + y] += source[start + y]


@njit(cache=True, nogil=True)
def collect(residual: Array, indptr: Array, token: Array, rows: Array, lo: int, hi: int) -> None:
    """rows[r] = Σ over the tokens t of row r of residual[t], for r in lo … hi−1."""
    width = U(residual.shape[1])
    source, target = residual.reshape(-1), rows.reshape(-1)
    for r in range(U(lo), U(hi)):
        out = r * width
        for y in range(width):
            target[out + y] = 0
        for k in range(indptr[r], indptr[r + U(1)]):
            start = U(token[k]) * width
            for y in range(width):
                target[out + y] += source[start + y]


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
