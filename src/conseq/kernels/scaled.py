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

from conseq.kernels.compiled import Array, helper, kernel
from conseq.kernels.vectors import LANES, add, fill, flat, load, multiply_add, store, times, total

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
            before, labels = U(steps[t - 1]) * width, U(n_labels)
            product(out, before, width, U(1), matrix, U(0), width, labels, out, first, end - first, False)
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
    labels, eights = U(n_labels), U((n_labels + 7) // 8 * 8)  # the rows of `pairs` are padded as well
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
            before, n = U(steps[t - 1]), end - first
            product(forth, before * width, U(1), width, given, first, width, n, sums, U(0), eights, True)
            product(given, first * width, width, U(1), matrix, U(0), width, labels, out, before, n, False)
        for i in range(first, end):
            for c in range(i * width, i * width + width, U(LANES)):
                store(out, c, times(load(out, c), load(forth, c)))
            out[i * width + U(gold[i])] -= one


@helper
def product(
    source: Array,
    place: Place,
    row: Place,
    entry: Place,
    matrix: Array,
    first: Place,
    width: Place,
    inner: Place,
    target: Array,
    to: Place,
    count: Place,
    adds: bool,
) -> None:
    """target[to + i] = Σ over x < inner of source[place + i · row + x · entry] · matrix[first + x], for
    i < count, where it `adds` on top of what is there; all flat.

    Eight rows at a time, so that each vector of the matrix is loaded once for all of them.
    """
    zero = fill(source.dtype.type(0))
    whole = count - count % U(8)
    for i in range(U(0), whole, U(8)):
        a = place + i * row
        b, c, d = a + row, a + U(2) * row, a + U(3) * row
        e, f, g, h = a + U(4) * row, a + U(5) * row, a + U(6) * row, a + U(7) * row
        for column in range(U(0), width, U(LANES)):
            ta = (to + i) * width + column
            tb, tc, td = ta + width, ta + U(2) * width, ta + U(3) * width
            te, tf, tg, th = ta + U(4) * width, ta + U(5) * width, ta + U(6) * width, ta + U(7) * width
            sa, sb, sc, sd, se, sf, sg, sh = zero, zero, zero, zero, zero, zero, zero, zero
            if adds:
                sa, sb, sc, sd = load(target, ta), load(target, tb), load(target, tc), load(target, td)
                se, sf, sg, sh = load(target, te), load(target, tf), load(target, tg), load(target, th)
            for x in range(inner):
                factors, at = load(matrix, (first + x) * width + column), x * entry
                sa, sb = multiply_add(source[a + at], factors, sa), multiply_add(source[b + at], factors, sb)
                sc, sd = multiply_add(source[c + at], factors, sc), multiply_add(source[d + at], factors, sd)
                se, sf = multiply_add(source[e + at], factors, se), multiply_add(source[f + at], factors, sf)
                sg, sh = multiply_add(source[g + at], factors, sg), multiply_add(source[h + at], factors, sh)
            store(target, ta, sa)
            store(target, tb, sb)
            store(target, tc, sc)
            store(target, td, sd)
            store(target, te, se)
            store(target, tf, sf)
            store(target, tg, sg)
            store(target, th, sh)
    for i in range(whole, count):
        for column in range(U(0), width, U(LANES)):
            ta = (to + i) * width + column
            sa = load(target, ta) if adds else zero
            for x in range(inner):
                factors = load(matrix, (first + x) * width + column)
                sa = multiply_add(source[place + i * row + x * entry], factors, sa)
            store(target, ta, sa)


@kernel
def log_sum(scale: Array, lo: int, hi: int) -> float:
    """Σ log scale in double precision."""
    total = 0.0
    for t in range(lo, hi):
        total += np.log(np.float64(scale[t]))
    return total
