"""The n best labellings of one sequence: Viterbi with a sorted list of n scores per state.

    unary[L,S], pairwise[C,S,S], start[S], end[S], kind[L] or empty ─→ states[n,L], scores[n]

Axes: L tokens, S states, C kinds of step, n ranks. An entry of `back` is (previous state) · n + its rank.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from conseq.kernels.chain import Array, forbidden


@njit(nogil=True, cache=True)
def keep(values: Array, back: Array, t: int, j: int, value: float, origin: int) -> bool:
    """Insert value into the falling list values[j], after its equals; False if it is not among the best."""
    k = values.shape[1] - 1
    if not value > values[j, k]:
        return False
    while k > 0 and value > values[j, k - 1]:
        values[j, k] = values[j, k - 1]
        back[t, j, k] = back[t, j, k - 1]
        k -= 1
    values[j, k] = value
    back[t, j, k] = origin
    return True


@njit(nogil=True, cache=True)
def extend(delta: Array, pairwise: Array, c: int, t: int, reach: Array, back: Array) -> None:
    """reach[j] = the n best of delta[i,k] + pairwise[c,i,j] over all i, k; equals by lower i, then k."""
    size, n = delta.shape
    for j in range(size):
        for k in range(n):
            reach[j, k] = -np.inf
        for i in range(size):
            for k in range(n):
                if not keep(reach, back, t, j, delta[i, k] + pairwise[c, i, j], i * n + k):
                    break


@njit(nogil=True, cache=True)
def follow(back: Array, origin: int, n: int, states: Array, rank: int) -> None:
    """Write the path that ends in `origin` into states[rank]."""
    for t in range(states.shape[1] - 1, -1, -1):
        i, k = origin // n, origin % n
        states[rank, t] = i
        origin = back[t, i, k]


@njit(nogil=True, cache=True)
def nbest(
    unary: Array, pairwise: Array, start: Array, end: Array, kind: Array, states: Array, scores: Array
) -> int:
    """Fill states and scores, best first, and return how many feasible labellings there were (at most n).

    Equals are ordered by lower last state, then lower last state but one, and so on. L ≥ 1.
    """
    length, size = unary.shape
    n = len(scores)
    delta, reach, final = forbidden(size, n), forbidden(size, n), forbidden(1, n)
    back = np.zeros((length + 1, size, n), np.int32)
    for j in range(size):
        delta[j, 0] = start[j] + unary[0, j]
    for t in range(1, length):
        extend(delta, pairwise, kind[t] if kind.size else 0, t, reach, back)
        for j in range(size):
            for k in range(n):
                delta[j, k] = reach[j, k] + unary[t, j]
    for j in range(size):
        for k in range(n):
            if not keep(final, back[length:], 0, 0, delta[j, k] + end[j], j * n + k):
                break
    found = 0
    while found < n and final[0, found] > -np.inf:
        scores[found] = final[0, found]
        follow(back, back[length, 0, found], n, states, found)
        found += 1
    return found
