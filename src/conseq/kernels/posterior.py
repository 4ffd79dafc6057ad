"""Forward and backward over one sequence, scaled (Rabiner 1989): for weights that change before the next.

    scores[L, W] ─lower─→ weights ─forward─→ α[L, W], scale[L] ─backward─→ p(y | x)[L, W], pairs[W, W]

Y labels, rows padded to W, a multiple of LANES; the padding is 0 in scores and matrix. In double precision
and so that nothing is lost as long as transitions differ by less than 700. `kernels/scaled.py` does the same
for many sequences side by side.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from conseq.kernels.vectors import LANES, add, fill, load, multiply_add, store, times, total

Array = NDArray[Any]
Place = Any

U = np.uint64
"""Unsigned, flat indices (`Place`) need no wrap-around check."""


@njit(cache=True, nogil=True)
def padded(n_labels: int) -> int:
    """Y rounded up to a multiple of LANES."""
    return (n_labels + LANES - 1) // LANES * LANES


@njit(cache=True, nogil=True)
def exponential(pairwise: Array, matrix: Array, back: Array) -> float:
    """matrix[x, y] = exp(pairwise[0, x, y] − the largest), `back` its transpose; gives the largest."""
    n_labels, highest = pairwise.shape[1], pairwise[0, 0, 0]
    for x in range(n_labels):
        for y in range(n_labels):
            highest = max(highest, pairwise[0, x, y])
    for x in range(n_labels):
        for y in range(n_labels):
            matrix[x, y] = np.exp(pairwise[0, x, y] - highest)
            back[y, x] = matrix[x, y]
    return highest


@njit(cache=True, nogil=True)
def lower(scores: Array, length: int, n_labels: int) -> float:
    """scores[t] = exp(scores[t] − their largest), t < length; gives the sum of the largest."""
    sum = 0.0
    for t in range(length):
        highest = scores[t, 0]
        for y in range(1, n_labels):
            highest = max(highest, scores[t, y])
        for y in range(n_labels):
            scores[t, y] = np.exp(scores[t, y] - highest)
        sum += highest
    return sum


@njit(cache=True, nogil=True, error_model="numpy")
def forward(weights: Array, matrix: Array, length: int, n_labels: int, alpha: Array, scale: Array) -> float:
    """α_t = (α_{t−1} M) · weights_t, divided by its sum, scale[t]; gives Σ log scale."""
    width = U(weights.shape[1])
    given, table, out = weights.reshape(-1), matrix.reshape(-1), alpha.reshape(-1)
    for y in range(width):
        out[y] = 1.0 if y < U(n_labels) else 0.0
    log_scale = 0.0
    for t in range(U(length)):
        here = t * width
        if t > U(0):
            product(out, here - width, table, width, U(n_labels), out, here)
        sum = fill(0.0)
        for c in range(here, here + width, U(LANES)):
            part = times(load(out, c), load(given, c))
            store(out, c, part)
            sum = add(sum, part)
        scale[t] = total(sum)
        inverse = fill(1.0 / scale[t])
        for c in range(here, here + width, U(LANES)):
            store(out, c, times(load(out, c), inverse))
        log_scale += np.log(scale[t])
    return log_scale


@njit(cache=True, nogil=True, error_model="numpy")
def backward(
    weights: Array,
    back: Array,
    length: int,
    n_labels: int,
    alpha: Array,
    scale: Array,
    chances: Array,
    pairs: Array,
) -> None:
    """chances[t] = p(y | x); pairs += Σ α_{t−1}ᵀ (β_t · weights_t / scale_t); `back` is Mᵀ.

    β_{t−1} = M (β_t · weights_t / scale_t), 1 at the end of the sequence. `weights` is used up.
    """
    width = U(weights.shape[1])
    given, table, forth, out = weights.reshape(-1), back.reshape(-1), alpha.reshape(-1), chances.reshape(-1)
    end = U(length) * width
    for place in range(end - width, end):
        out[place] = 1.0
    for t in range(length - 1, 0, -1):
        here = U(t) * width
        inverse = fill(1.0 / scale[t])
        for c in range(here, here + width, U(LANES)):
            store(given, c, times(times(load(out, c), inverse), load(given, c)))
        product(given, here, table, width, U(n_labels), out, here - width)
    for c in range(U(0), end, U(LANES)):
        store(out, c, times(load(out, c), load(forth, c)))
    add_pairs(forth, given, U(length), width, U(n_labels), pairs.reshape(-1))


@njit(cache=True, nogil=True)
def product(
    source: Array, at: Place, matrix: Array, width: Place, inner: Place, target: Array, to: Place
) -> None:
    """target[to … to+W−1] = Σ over x < inner of source[at + x] · matrix[x]; all flat."""
    for c in range(U(0), width, U(LANES)):
        sum = fill(0.0)
        for x in range(inner):
            sum = multiply_add(source[at + x], load(matrix, x * width + c), sum)
        store(target, to + c, sum)


@njit(cache=True, nogil=True)
def add_pairs(
    alpha: Array, passed: Array, length: Place, width: Place, n_labels: Place, pairs: Array
) -> None:
    """pairs[x] += Σ over t ≥ 1 of alpha[t−1, x] · passed[t]; all flat."""
    for x in range(n_labels):
        for c in range(U(0), width, U(LANES)):
            sum = load(pairs, x * width + c)
            for t in range(U(1), length):
                sum = multiply_add(alpha[(t - U(1)) * width + x], load(passed, t * width + c), sum)
            store(pairs, x * width + c, sum)
