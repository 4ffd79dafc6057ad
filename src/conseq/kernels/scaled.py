"""Forward and backward over many sequences at once, scaled (Rabiner 1989).

    scores[n, Y], packed ─lower_by_max, exp─→ weights ─forward─→ α, scale[n] ─backward─→ residual, pairs

Block t (rows steps[t] … steps[t+1]−1) holds the t-th token of every sequence that has one, longest first; so
the first rows of block t−1 are the predecessors of block t, and a step is a product of a block and the matrix
of transitions. Rows are padded to full vectors; the padding of weights is whatever, that of `moves` is 0.
Every kernel is serial, releases the GIL and touches only the rows it is given.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conseq.kernels.compiled import helper, kernel
from conseq.kernels.vectors import LANES, add, fill, flat, load, multiply_add, store, times, total

Array = NDArray[Any]
Place = Any

U = np.uint64
"""Unsigned, flat indices (`Place`) need no wrap-around check."""


@kernel
def lower_by_max(scores: Array, gold: Array, n_labels: int, lo: int, hi: int) -> float:
    """scores[t] −= max of its first n_labels entries, so that exp cannot overflow.

    Gives Σ over t of (max − the score of the gold label), summed in double precision from small differences.
    """
    total = 0.0
    for t in range(lo, hi):
        top = scores[t, 0]
        for y in range(1, n_labels):
            top = max(top, scores[t, y])
        for y in range(n_labels):
            scores[t, y] -= top
        total -= np.float64(scores[t, gold[t]])
    return total


@kernel(error_model="numpy")
def forward(steps: Array, weights: Array, moves: Array, n_labels: int, alpha: Array, scale: Array) -> None:
    """α_t = (α_{t−1} M) · weights_t, divided by its sum, which goes to scale[n]; α_0 = weights_0 likewise."""
    width = U(weights.shape[1])
    given, matrix, out = flat(weights), flat(moves), flat(alpha)
    zero, one = given.dtype.type(0), given.dtype.type(1)
    for t in range(steps.size - 1):
        first, end = U(steps[t]), U(steps[t + 1])
        if t == 0:
            for i in range(first, end):
                for y in range(width):
                    out[i * width + y] = one if y < U(n_labels) else zero
        else:
            product(out, U(steps[t - 1]), matrix, width, U(n_labels), out, first, end - first)
        for i in range(first, end):
            sum = fill(zero)
            for c in range(i * width, i * width + width, U(LANES)):
                part = times(load(out, c), load(given, c))
                store(out, c, part)
                sum = add(sum, part)
            scale[i] = total(sum)
            inverse = fill(one / scale[i])
            for c in range(i * width, i * width + width, U(LANES)):
                store(out, c, times(load(out, c), inverse))


@kernel(error_model="numpy")
def backward(
    steps: Array,
    weights: Array,
    back: Array,
    n_labels: int,
    alpha: Array,
    scale: Array,
    gold: Array,
    residual: Array,
    pairs: Array,
) -> None:
    """residual = p(y | x) − [y is gold] of each token; pairs[Y, Y] += Σ α_{t−1}ᵀ (β_t · weights_t / scale_t).

    β_{t−1} = M (β_t · weights_t / scale_t), 1 at the end of a sequence; α · β are the marginals. `back` is
    Mᵀ: rows are multiplied from the left. The quotient β / scale is rounded first and to the precision of
    the arrays: where it is too large for that, `pairs` or the first residuals are not finite and tell so.
    `weights` is used up.
    """
    width, count = U(weights.shape[1]), steps.size - 1
    given, matrix, forth = flat(weights), flat(back), flat(alpha)
    out, sums = flat(residual), flat(pairs)
    one = given.dtype.type(1)
    goes_on = U(0)  # how many sequences of the block have a next token
    for t in range(count - 1, -1, -1):
        first, end = U(steps[t]), U(steps[t + 1])
        for place in range((first + goes_on) * width, end * width):
            out[place] = one
        goes_on = end - first
        if t > 0:
            for i in range(first, end):
                inverse = fill(one / scale[i])
                for c in range(i * width, i * width + width, U(LANES)):
                    store(given, c, times(times(load(out, c), inverse), load(given, c)))
            before = U(steps[t - 1])
            add_pairs(forth, before, given, first, end - first, width, U(n_labels), sums)
            product(given, first, matrix, width, U(n_labels), out, before, end - first)
        for i in range(first, end):
            for c in range(i * width, i * width + width, U(LANES)):
                store(out, c, times(load(out, c), load(forth, c)))
            out[i * width + U(gold[i])] -= one


@helper
def product(
    source: Array,
    first: Place,
    matrix: Array,
    width: Place,
    inner: Place,
    target: Array,
    to: Place,
    count: Place,
) -> None:
    """target[to + i] = Σ over x < inner of source[first + i, x] · matrix[x], for i < count; all flat.

    Eight rows at a time, so that each vector of the matrix is loaded once for all of them.
    """
    zero = fill(source.dtype.type(0))
    whole = count - count % U(8)
    for i in range(U(0), whole, U(8)):
        a = (first + i) * width
        b, c, d = a + width, a + U(2) * width, a + U(3) * width
        e, f, g, h = a + U(4) * width, a + U(5) * width, a + U(6) * width, a + U(7) * width
        for column in range(U(0), width, U(LANES)):
            sa, sb, sc, sd, se, sf, sg, sh = zero, zero, zero, zero, zero, zero, zero, zero
            for x in range(inner):
                row = load(matrix, x * width + column)
                sa, sb = multiply_add(source[a + x], row, sa), multiply_add(source[b + x], row, sb)
                sc, sd = multiply_add(source[c + x], row, sc), multiply_add(source[d + x], row, sd)
                se, sf = multiply_add(source[e + x], row, se), multiply_add(source[f + x], row, sf)
                sg, sh = multiply_add(source[g + x], row, sg), multiply_add(source[h + x], row, sh)
            out = (to + i) * width + column
            store(target, out, sa)
            store(target, out + width, sb)
            store(target, out + U(2) * width, sc)
            store(target, out + U(3) * width, sd)
            store(target, out + U(4) * width, se)
            store(target, out + U(5) * width, sf)
            store(target, out + U(6) * width, sg)
            store(target, out + U(7) * width, sh)
    for i in range(whole, count):
        a = (first + i) * width
        for column in range(U(0), width, U(LANES)):
            sa = zero
            for x in range(inner):
                sa = multiply_add(source[a + x], load(matrix, x * width + column), sa)
            store(target, (to + i) * width + column, sa)


@helper
def add_pairs(
    left: Array,
    first: Place,
    right: Array,
    second: Place,
    count: Place,
    width: Place,
    inner: Place,
    sums: Array,
) -> None:
    """sums[x] += Σ over i < count of left[first + i, x] · right[second + i], for x < inner in eights."""
    for x in range(U(0), inner, U(8)):
        for column in range(U(0), width, U(LANES)):
            out = x * width + column
            sa, sb, sc, sd = (
                load(sums, out),
                load(sums, out + width),
                load(sums, out + U(2) * width),
                load(sums, out + U(3) * width),
            )
            se, sf, sg, sh = (
                load(sums, out + U(4) * width),
                load(sums, out + U(5) * width),
                load(sums, out + U(6) * width),
                load(sums, out + U(7) * width),
            )
            for i in range(count):
                row, at = load(right, (second + i) * width + column), (first + i) * width + x
                sa, sb = multiply_add(left[at], row, sa), multiply_add(left[at + U(1)], row, sb)
                sc, sd = multiply_add(left[at + U(2)], row, sc), multiply_add(left[at + U(3)], row, sd)
                se, sf = multiply_add(left[at + U(4)], row, se), multiply_add(left[at + U(5)], row, sf)
                sg, sh = multiply_add(left[at + U(6)], row, sg), multiply_add(left[at + U(7)], row, sh)
            store(sums, out, sa)
            store(sums, out + width, sb)
            store(sums, out + U(2) * width, sc)
            store(sums, out + U(3) * width, sd)
            store(sums, out + U(4) * width, se)
            store(sums, out + U(5) * width, sf)
            store(sums, out + U(6) * width, sg)
            store(sums, out + U(7) * width, sh)


@kernel
def log_sum(scale: Array, lo: int, hi: int) -> float:
    """Σ log scale in double precision."""
    total = 0.0
    for t in range(lo, hi):
        total += np.log(np.float64(scale[t]))
    return total
