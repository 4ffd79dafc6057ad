"""The best labels by constraint satisfaction inference (Canisius et al. 2006), sequence after sequence.

    gains[T,3,3,3], offsets[N+1] ─→ solve ─→ places[T], totals[N]

gains[t,i,j,k] is the weight of what the tokens t−2, t−1, t newly satisfy with the labels number i, j, k of
those proposed for them, −inf if there is no label number k. Beyond the ends there is one label, number 0.
Axes: T tokens of all sequences end to end, N sequences.
"""

from __future__ import annotations

import numpy as np

from conseq.kernels.compiled import Array, kernel


@kernel
def solve(gains: Array, offsets: Array, places: Array, totals: Array) -> None:
    """The numbers of the labels of the largest weight, and that weight:

    best_t[j,k] = max_i (best_{t−1}[i,j] + gains[t,i,j,k])

    Of equal ones the last token takes the label of the lowest number, then the last but one, and so on.
    """
    best, before = np.empty((3, 3)), np.empty((3, 3))
    back = np.empty((len(gains), 3, 3), dtype=np.int8)
    for n in range(len(totals)):
        best[:] = -np.inf
        best[0, 0] = 0.0
        for t in range(offsets[n], offsets[n + 1]):
            best, before = before, best
            for j in range(3):
                for k in range(3):
                    best[j, k], back[t, j, k] = -np.inf, 0
                    for i in range(3):
                        weight = before[i, j] + gains[t, i, j, k]
                        if weight > best[j, k]:
                            best[j, k], back[t, j, k] = weight, i
        j, k = 0, 0
        for y in range(3):
            for x in range(3):
                if best[x, y] > best[j, k]:
                    j, k = x, y
        totals[n] = best[j, k]
        for t in range(offsets[n + 1] - 1, offsets[n] - 1, -1):
            places[t] = k
            j, k = back[t, j, k], j
