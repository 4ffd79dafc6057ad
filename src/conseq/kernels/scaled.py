"""Element-wise steps of the scaled forward–backward recursion over blocks of rows [n, Y].

The matrix products between them are left to BLAS (`conseq.models.objective`). Every kernel is serial,
releases the GIL and touches only the rows it is given.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[Any]


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def advance(block: Array, weights: Array, scale: Array) -> None:
    """block ← block · weights, each row divided by its sum, which goes to scale[n]."""
    for i in range(block.shape[0]):
        total = block[i, 0] * 0
        for y in range(block.shape[1]):
            block[i, y] *= weights[i, y]
            total += block[i, y]
        scale[i] = total
        inverse = 1 / total if total > 0 else total
        for y in range(block.shape[1]):
            block[i, y] *= inverse


@njit(cache=True, nogil=True)
def weigh(beta: Array, weights: Array, scale: Array, out: Array) -> None:
    """out = (beta / scale) · weights, row by row.

    The quotient is rounded first and to the precision of the arrays: where it is too large for that, `out` is
    not finite and tells so, even if the weight is 0.
    """
    one = scale.dtype.type(1)
    for i in range(beta.shape[0]):
        inverse = one / scale[i]
        for y in range(beta.shape[1]):
            out[i, y] = (beta[i, y] * inverse) * weights[i, y]


@njit(cache=True, nogil=True)
def subtract_gold(alpha: Array, beta: Array, gold: Array, lo: int, hi: int) -> None:
    """beta ← alpha · beta − 1 at the gold label: the residual p(y | x) − [y is gold] of each token."""
    for t in range(lo, hi):
        for y in range(beta.shape[1]):
            beta[t, y] *= alpha[t, y]
        beta[t, gold[t]] -= 1


@njit(cache=True, nogil=True)
def log_sum(scale: Array, lo: int, hi: int) -> float:
    """Σ log scale in double precision."""
    total = 0.0
    for t in range(lo, hi):
        total += np.log(np.float64(scale[t]))
    return total
