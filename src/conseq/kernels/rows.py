"""The design matrix in levels at work: weights ↔ attributes ↔ rows ↔ tokens.

    prediction   weights[F] ─expand─→ rows[R, Y] ─gather─→ scores[T, Y]
    training     weights[F] ─expand─→ attributes[A, Y] ─score─→ rows[R, Y] ─score─→ scores[T, Y]
                 gradient[F] ←─put─ attributes[A, Y] ←─spread─ rows[R, Y] ←─spread─ residual[T, Y]

Row r has the attributes attr[indptr[r]:indptr[r+1]] with as many values; attribute a has the features
feature[a]:feature[a+1], feature f fires for label[f]. In training what has few weights refers to those
weights themselves (`models/references.py`), and Y is padded to a multiple of LANES, so that there are full
vectors only. Every kernel works on a range of its output, or on sums of its caller's own, so threads never
write to the same place.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from conseq.kernels.compiled import Array, kernel
from conseq.kernels.vectors import LANES, LINE, add, fill, flat, load, multiply_add, prefetch, store

Values = Array | None

TOKENS_AHEAD, AHEAD = 8, 48
"""How far ahead memory is asked for: in tokens, whose rows are fetched, and in rows and weights."""

U = np.uint64
"""Unsigned, flat indices need no wrap-around check, and only then is the inner loop vectorised."""


class Terms(NamedTuple):
    """What each of N things (tokens, rows) is the sum of: vectors of a table, weights at their labels."""

    start: Array  # [N+1] the vectors of thing i are start[i] … start[i+1]−1
    vector: Array  # their numbers
    single_start: Array  # [N+1] and its single weights likewise
    single: Array  # places in the weight vector
    label: Array


@kernel
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
    width, target = U(rows.shape[1]), flat(rows)
    for r in range(U(lo), U(hi)):
        out = r * width
        for y in range(width):
            target[out + y] = 0
        for k in range(U(indptr[r]), U(indptr[r + U(1)])):
            a = U(attr[k])
            v = value[k]
            for f in range(U(feature[a]), U(feature[a + U(1)])):
                target[out + U(label[f])] += v * weights[f]


@kernel
def gather(rows: Array, row_of: Array, scores: Array, lo: int, hi: int) -> None:
    """scores[t] = Σ over the groups g of rows[row_of[t, g]], for t in lo … hi−1.

    Summed in the precision of the rows; scores may be double where rows are single.
    """
    width, groups, end = U(scores.shape[1]), U(row_of.shape[1]), U(hi)
    even = width - width % U(LANES)
    source, index, target = flat(rows), flat(row_of), flat(scores)
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
            rest = source[U(index[first]) * width + y]
            for g in range(first + U(1), first + groups):
                rest += source[U(index[g]) * width + y]
            target[out + y] = rest


@kernel
def score(
    terms: Terms,
    value: Values,
    single_value: Values,
    table: Array,
    weights: Array,
    out: Array,
    lo: int,
    hi: int,
) -> None:
    """out[i − lo] = Σ value · table[index] + Σ value · weights[single] at its label, for i in lo … hi−1.

    None: all values are 1.
    """
    index, single, label = terms.vector, terms.single, terms.label
    width = U(out.shape[1])
    source, target = flat(table), flat(out)
    end, singles_end = U(terms.start[hi]), U(terms.single_start[hi])
    for i in range(U(lo), U(hi)):
        first, last = U(terms.start[i]), U(terms.start[i + U(1)])
        for k in range(first + U(AHEAD), min(last + U(AHEAD), end)):
            prefetch(source, U(index[k]) * width)
            prefetch(source, U(index[k]) * width + U(LINE // 4))
        base = (i - U(lo)) * width
        for c in range(U(0), width, U(LANES)):
            sum = fill(source.dtype.type(0))
            for k in range(first, last):
                if value is None:
                    sum = add(sum, load(source, U(index[k]) * width + c))
                else:
                    sum = multiply_add(
                        source.dtype.type(value[k]), load(source, U(index[k]) * width + c), sum
                    )
            store(target, base + c, sum)
        first, last = U(terms.single_start[i]), U(terms.single_start[i + U(1)])
        for k in range(first + U(AHEAD), min(last + U(AHEAD), singles_end)):
            prefetch(weights, U(single[k]))
        for k in range(first, last):
            if single_value is None:
                target[base + U(label[k])] += weights[U(single[k])]
            else:
                target[base + U(label[k])] += single_value[k] * weights[U(single[k])]


@kernel
def spread(
    terms: Terms,
    value: Values,
    single_value: Values,
    given: Array,
    table: Array,
    gradient: Array,
    lo: int,
    hi: int,
) -> None:
    """The reverse: value · given[i − lo] is added to table[index], and at its label to gradient[single]."""
    index, single, label = terms.vector, terms.single, terms.label
    width = U(given.shape[1])
    source, target = flat(given), flat(table)
    end, singles_end = U(terms.start[hi]), U(terms.single_start[hi])
    for i in range(U(lo), U(hi)):
        first, last = U(terms.start[i]), U(terms.start[i + U(1)])
        for k in range(first + U(AHEAD), min(last + U(AHEAD), end)):
            prefetch(target, U(index[k]) * width)
            prefetch(target, U(index[k]) * width + U(LINE // 4))
        base = (i - U(lo)) * width
        for k in range(first, last):
            to = U(index[k]) * width
            for c in range(U(0), width, U(LANES)):
                if value is None:
                    sum = add(load(target, to + c), load(source, base + c))
                else:
                    sum = multiply_add(
                        source.dtype.type(value[k]), load(source, base + c), load(target, to + c)
                    )
                store(target, to + c, sum)
        first, last = U(terms.single_start[i]), U(terms.single_start[i + U(1)])
        for k in range(first + U(AHEAD), min(last + U(AHEAD), singles_end)):
            prefetch(gradient, U(single[k]))
        for k in range(first, last):
            if single_value is None:
                gradient[U(single[k])] += source[base + U(label[k])]
            else:
                gradient[U(single[k])] += single_value[k] * source[base + U(label[k])]


@kernel
def put(
    table: Array, attribute: Array, feature: Array, label: Array, gradient: Array, lo: int, hi: int
) -> None:
    """gradient[f] += table[i, label[f]] for the features f of attribute[i], for i in lo … hi−1."""
    width, source = U(table.shape[1]), flat(table)
    for i in range(U(lo), U(hi)):
        a = U(attribute[i])
        for f in range(U(feature[a]), U(feature[a + U(1)])):
            gradient[f] += source[i * width + U(label[f])]
