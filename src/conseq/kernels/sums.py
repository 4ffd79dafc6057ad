"""Sums over all labellings of a chain: forward, backward, marginals, in the log domain.

    Chain ─→ marginals ─→ node[T,S], log_partition[N]
    scores of one sequence ─→ lattice ─→ Messages ─→ passage ─→ log probability

Axes as in `chain.py`; L tokens of a sequence; the axis of 2 is LEFT, RIGHT. The message of a side to a
token is the logarithm of the sum over all labellings of the tokens on that side, up to a constant:

    left[0] = start,    left[t,j] = log Σ_i exp(left[t−1,i] + unary[t−1,i] − scale[t−1] + pairwise[i,j])
    p(y_t = j) ∝ exp(left[t,j] + unary[t,j] + right[t,j])

and right likewise from the other end. scale keeps the maximum of every vector at 0, so nothing overflows
and long sequences lose no digits.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from conseq.kernels.chain import LANES, Chain, both_directions, forbidden, larger, longest, padded
from conseq.kernels.compiled import Array, helper, kernel
from conseq.kernels.explog import exp, log

LEFT, RIGHT = 0, 1

TINY = 1e-280
"""exp flushes terms below 1e−307 to 0: against a sum of at least TINY they do not count."""


class Steps(NamedTuple):
    """Scores of steps as `advance` needs them; the last C kinds are the first C from right to left."""

    matrix: Array  # [2C,W,W] of `both_directions`
    top: Array  # [2C,W] top[c,j] = max_i matrix[c,i,j], 0 where all are −inf
    weights: Array  # [2C,W,W] exp(matrix[c,i,j] − top[c,j])


class Messages(NamedTuple):
    """What both sides say of the tokens of a sequence, at most L of them (formulas at the top)."""

    message: Array  # [2,L,S]
    scale: Array  # [2,L]


@helper
def room_for(length: int, size: int) -> Messages:
    return Messages(np.empty((2, length, size)), np.empty((2, length)))


@helper
def prepare(pairwise: Array) -> Steps:
    matrix = both_directions(pairwise)
    width = matrix.shape[1]
    top, weights = np.empty((len(matrix), width)), np.empty(matrix.shape)
    for c in range(len(matrix)):
        for j in range(width):
            highest = -np.inf
            for i in range(width):
                highest = larger(highest, matrix[c, i, j])
            top[c, j] = highest if highest > -np.inf else 0.0
        for i in range(width):
            for j in range(width):
                weights[c, i, j] = exp(matrix[c, i, j] - top[c, j])
    return Steps(matrix, top, weights)


@helper
def log_sum(x: Array, matrix: Array, c: int, j: int) -> float:
    """log Σ_i exp(x[i] + matrix[c,i,j]), for scores of any size."""
    highest, total = -np.inf, 0.0
    for i in range(matrix.shape[1]):
        highest = larger(highest, x[i] + matrix[c, i, j])
    if highest == -np.inf:
        return highest
    for i in range(matrix.shape[1]):
        if x[i] > -np.inf:
            total += math.exp(x[i] + matrix[c, i, j] - highest)
    return highest + math.log(total)


@helper(fastmath={"contract"})
def advance(x: Array, steps: Steps, c: int, size: int, p: Array, out: Array) -> None:
    """out[j] = log Σ_i exp(x[i] + matrix[i,j]) = top[j] + log Σ_i exp(x[i]) · weights[i,j].

    p is room for exp(x). An entry whose sum is below TINY, where terms may have been lost, is computed again
    by `log_sum`.
    """
    width, top, weights = len(x), steps.top, steps.weights
    for j in range(width):
        p[j] = exp(x[j])
        out[j] = 0.0
    for i in range(0, width, LANES):
        a, b, d, e = p[i], p[i + 1], p[i + 2], p[i + 3]
        if a + b + d + e == 0.0:
            continue
        for j in range(width):
            ab = a * weights[c, i, j] + b * weights[c, i + 1, j]
            de = d * weights[c, i + 2, j] + e * weights[c, i + 3, j]
            out[j] += ab + de
    lost = 0
    for j in range(width):
        value = log(out[j]) + top[c, j]
        lost += out[j] < TINY
        out[j] = -np.inf if out[j] < TINY else value
    if lost > width - size:
        for j in range(size):
            if out[j] == -np.inf:
                out[j] = log_sum(x, steps.matrix, c, j)


@helper
def normalise(x: Array) -> float:
    """Lower x so that its maximum is 0, and return what was subtracted (−inf if all of x is)."""
    # four running maxima, because one would wait for itself at every entry
    a, b, d, e = x[0], x[1], x[2], x[3]
    for i in range(LANES, len(x), LANES):
        a, b = larger(a, x[i]), larger(b, x[i + 1])
        d, e = larger(d, x[i + 2]), larger(e, x[i + 3])
    highest = larger(larger(a, b), larger(d, e))
    if highest > -np.inf:
        for j in range(len(x)):
            x[j] -= highest
    return highest


@helper
def sweep(chain: Chain, steps: Steps, a: int, b: int, work: Array, found: Messages) -> None:
    """The messages of both sides to the tokens a … b−1 (formulas at the top of the file).

    work[3,W] is room for vectors, with −inf in its padding.
    """
    unary, kind = chain.unary, chain.kind
    kinds, size = len(steps.matrix) // 2, unary.shape[1]
    message, scale, x, p, out = found.message, found.scale, work[0], work[1], work[2]
    for side in range(2):
        border = chain.start if side == LEFT else chain.end
        for k in range(b - a):
            t = k if side == LEFT else b - a - 1 - k
            if k > 0:
                c = kind[a + t + side] if kind.size else 0
                advance(x, steps, side * kinds + c, size, p, out)
            for j in range(size):
                message[side, t, j] = out[j] if k > 0 else border[j]
                x[j] = message[side, t, j] + unary[a + t, j]
            scale[side, t] = normalise(x)


@helper(fastmath={"contract", "reassoc"})
def exp_normalise(x: Array) -> float:
    """x ← exp(x) / Σ exp(x), and return log Σ exp(x) (if that is −inf, x ← 0)."""
    highest, total = normalise(x), 0.0
    for j in range(len(x)):
        x[j] = exp(x[j])
        total += x[j]
    if total == 0.0:
        return highest
    for j in range(len(x)):
        x[j] /= total
    return highest + math.log(total)


@kernel
def marginals(chain: Chain, first: int, last: int, node: Array, log_partition: Array) -> None:
    """Node marginals and log Z of the sequences first … last−1; log Z = −inf where nothing is feasible.

    log Z = Σ_{t < last} scale[LEFT,t] + log Σ_j exp(left[last,j] + unary[last,j] + right[last,j])
    """
    unary, offsets, size = chain.unary, chain.offsets, len(chain.start)
    steps, most = prepare(chain.pairwise), longest(offsets, np.arange(first, last))
    work = forbidden(3, steps.top.shape[1])
    found, x = room_for(most, size), work[1]
    message, scale = found.message, found.scale
    for n in range(first, last):
        a, b = offsets[n], offsets[n + 1]
        sweep(chain, steps, a, b, work, found)
        log_partition[n] = 0.0
        for t in range(b - a):
            for j in range(size):
                x[j] = message[LEFT, t, j] + unary[a + t, j] + message[RIGHT, t, j]
            for j in range(size, len(x)):
                x[j] = -np.inf
            total = exp_normalise(x)
            log_partition[n] += total if a + t == b - 1 else scale[LEFT, t]
            for j in range(size):
                node[a + t, j] = x[j]


@kernel
def lattice(chain: Chain) -> tuple[Array, Array]:
    """The fields of the messages of one sequence."""
    steps, (length, size) = prepare(chain.pairwise), chain.unary.shape
    found = room_for(length, size)
    sweep(chain, steps, 0, length, forbidden(3, steps.top.shape[1]), found)
    return found.message, found.scale


@kernel
def passage(chain: Chain, found: Messages, first: int, masks: Array) -> float:
    """log p(the labelling passes masks[k] at token first + k, for all k), from the messages of `lattice`.

    x[j] sums what reaches j from the left through the masks, in the units of left + unary − scale, so
    log p = log Σ_j exp(x[j] + right[j]) − log Σ_j exp(left[j] + unary[j] − scale + right[j]) at the end.
    """
    unary, kind, message, scale = chain.unary, chain.kind, found.message, found.scale
    size, last = masks.shape[1], first + len(masks) - 1
    room = forbidden(2, padded(size, LANES))
    x, y = room[0], room[1]
    for t in range(first, last + 1):
        for j in range(size):
            y[j] = -np.inf
            if masks[t - first, j]:
                c = kind[t] if kind.size else 0
                left = message[LEFT, t, j] if t == first else log_sum(x, chain.pairwise, c, j)
                y[j] = left + unary[t, j] - scale[LEFT, t]
        x, y = y, x
        if x.max() == -np.inf:  # no labelling passes
            return -np.inf
    for j in range(size):
        x[j] += message[RIGHT, last, j]
        y[j] = message[LEFT, last, j] + unary[last, j] - scale[LEFT, last] + message[RIGHT, last, j]
    return exp_normalise(x) - exp_normalise(y)
