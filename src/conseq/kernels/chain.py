"""The best labelling of a chain (max-plus), sequence after sequence.

    Chain ─→ viterbi ─→ states[T], scores[N]

Axes: T tokens of all sequences end to end, S states, C kinds of step, N sequences, W = S rounded up
to a multiple of LANES. All scores are logarithms; −inf is forbidden and flows through every line.

The inner loops run over whole padded rows of 2-dimensional arrays without cutting views: a view in
numba counts references atomically, which cost more than the row's arithmetic when it was measured.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from conseq.kernels.compiled import Array, helper, kernel

LANES = 4
"""Rows are padded to a multiple of this; the loops over previous states take as many at a time."""


class Chain(NamedTuple):
    """The scores of N sequences, see `Potentials`; a kernel for one sequence takes that of one."""

    unary: Array  # [T,S]
    pairwise: Array  # [C,S,S]
    start: Array  # [S]
    end: Array  # [S]
    offsets: Array  # [N+1]
    kind: Array  # [T] or empty
    label_of: Array  # [S]


@helper
def larger(a: float, b: float) -> float:
    return a if a > b else b


@helper
def padded(size: int, lanes: int) -> int:
    """The size rounded up to a multiple of lanes."""
    return (size + lanes - 1) // lanes * lanes


@helper
def both_directions(pairwise: Array) -> Array:
    """[2C,W,W], −inf beyond S: the C matrices [from,to], then the same C as [to,from]."""
    kinds, size, _ = pairwise.shape
    width = padded(size, LANES)
    matrix = np.empty((2 * kinds, width, width))
    for c in range(kinds):
        for i in range(width):
            for j in range(width):
                inside = i < size and j < size
                matrix[c, i, j] = pairwise[c, i, j] if inside else -np.inf
                matrix[c + kinds, i, j] = pairwise[c, j, i] if inside else -np.inf
    return matrix


@helper
def forbidden(rows: int, width: int) -> Array:
    """[rows,width] of −inf."""
    array = np.empty((rows, width))
    for i in range(rows):
        for j in range(width):
            array[i, j] = -np.inf
    return array


@helper
def longest(offsets: Array, order: Array) -> int:
    """Tokens in the longest of these sequences."""
    length = 0
    for n in order:
        length = max(length, offsets[n + 1] - offsets[n])
    return length


@helper
def advance_max(delta: Array, matrix: Array, c: int, reach: Array, t: int) -> None:
    """reach[t,j] = max_i (delta[i] + matrix[c,i,j])."""
    width = len(delta)
    for j in range(width):
        reach[t, j] = -np.inf
    for i in range(0, width, LANES):
        a, b, d, e = delta[i], delta[i + 1], delta[i + 2], delta[i + 3]
        if larger(larger(a, b), larger(d, e)) == -np.inf:
            continue
        for j in range(width):
            ab = larger(a + matrix[c, i, j], b + matrix[c, i + 1, j])
            de = larger(d + matrix[c, i + 2, j], e + matrix[c, i + 3, j])
            reach[t, j] = larger(reach[t, j], larger(ab, de))


@helper
def trace(chain: Chain, a: int, b: int, reach: Array, states: Array) -> None:
    """Walk back from states[b−1], at every step to the lowest previous state that attains reach.

    The sums of `best_states` are repeated here bit for bit, so an exact comparison finds it, and no
    back-pointers need to be stored.
    """
    unary, matrix, kind = chain.unary, chain.pairwise, chain.kind
    size, kinds = unary.shape[1], len(matrix) // 2
    for t in range(b - 1, a, -1):
        j = states[t]
        c = kinds + (kind[t] if kind.size else 0)
        i = 0
        while i < size - 1:
            if (reach[t - a - 1, i] + unary[t - 1, i]) + matrix[c, j, i] == reach[t - a, j]:
                break
            i += 1
        states[t - 1] = i


@helper
def best_states(chain: Chain, a: int, b: int, delta: Array, reach: Array, states: Array) -> float:
    """The best states of the tokens a … b−1 and their score (Viterbi 1967); −1 and −inf if all are forbidden.

    reach[t,j] = max_i (delta_{t−1}[i] + pairwise[i,j]);   delta_t[j] = reach[t,j] + unary[t,j]

    reach[0] = start. Only reach is kept; delta[W] has −inf in its padding. Of last states that are equally
    good the lowest is taken. The pairwise scores of the chain are those of `both_directions`.
    """
    unary, kind, start, end = chain.unary, chain.kind, chain.start, chain.end
    size = len(start)
    for t in range(b - a):
        if t > 0:
            advance_max(delta, chain.pairwise, kind[a + t] if kind.size else 0, reach, t)
        else:
            for j in range(size):
                reach[0, j] = start[j]
        for j in range(size):
            delta[j] = reach[t, j] + unary[a + t, j]
    best, score = -1, -np.inf
    for j in range(size):
        if delta[j] + end[j] > score:
            best, score = j, delta[j] + end[j]
    for t in range(a, b):
        states[t] = best
    if best >= 0:
        trace(chain, a, b, reach, states)
    return score


@kernel
def viterbi(chain: Chain, first: int, last: int, states: Array, scores: Array) -> None:
    """Best states and their score for the sequences first … last−1.

    A sequence without a feasible labelling gets the score −inf and the states −1. Memory beyond the
    arguments: one row of W scores per token of the longest sequence.
    """
    unary, pairwise, start, end, offsets, kind, label_of = chain
    matrix = both_directions(pairwise)
    ready = Chain(unary, matrix, start, end, offsets, kind, label_of)
    reach = np.empty((longest(offsets, np.arange(first, last)), matrix.shape[1]))
    delta = forbidden(1, matrix.shape[1])[0]
    for n in range(first, last):
        a, b = offsets[n], offsets[n + 1]
        score = best_states(ready, a, b, delta, reach, states)
        scores[n] = score if b > a else 0.0
