"""The n best labellings of one sequence: Viterbi with a sorted list of n scores per state.

    unary[L,S], pairwise[C,S,S], start[S], end[S], kind[L] or empty ─→ states[n,L], scores[n]

Axes: L tokens, S states, C kinds of step, n ranks. An entry of `back` is (previous state) · n + its rank.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from conseq.kernels.chain import Array, forbidden


@njit(nogil=True, cache=True)
def merge(values: Array, shift: Array, best: Array, back: Array, heads: Array) -> None:
    """best[r], r < n: the n highest of values[i,k] + shift[i], falling; equals by lower i, then k.

    Every values[i] falls, so the next one is the head of one of the S lists; heads[S] is room for them.
    back[r] = i · n + k says where it came from.
    """
    size, n = values.shape
    heads[:] = 0
    best[:] = -np.inf
    for r in range(n):
        top, home = -np.inf, -1
        for i in range(size):
            if heads[i] < n and values[i, heads[i]] + shift[i] > top:
                top, home = values[i, heads[i]] + shift[i], i
        if home < 0:
            break
        best[r] = top
        back[r] = home * n + heads[home]
        heads[home] += 1


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
    heads = np.zeros(size, np.int64)
    for j in range(size):
        delta[j, 0] = start[j] + unary[0, j]
    for t in range(1, length):
        c = kind[t] if kind.size else 0
        for j in range(size):
            merge(delta, pairwise[c, :, j], reach[j], back[t, j], heads)
        for j in range(size):
            for k in range(n):
                delta[j, k] = reach[j, k] + unary[t, j]
    merge(delta, end, final[0], back[length, 0], heads)
    found = 0
    while found < n and final[0, found] > -np.inf:
        scores[found] = final[0, found]
        follow(back, back[length, 0, found], n, states, found)
        found += 1
    return found
