"""The n best labellings of every sequence, without constraints.

Potentials, n ─→ per sequence a list of (labels[L], score), best first
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from conseq.kernels import nbest as kernel
from conseq.potentials import Potentials
from conseq.threads import map_chunks

Labelling = tuple[NDArray[np.int32], float]


def nbest(potentials: Potentials, n: int, threads: int = 1) -> list[list[Labelling]]:
    """The n labellings of highest score of every sequence, best first, all different (as states).

    A sequence with fewer feasible labellings gives them all. Equals are ordered as `viterbi` chooses.

    >>> [(labels.tolist(), score) for labels, score in nbest(Potentials.of([[0.0, 1.0], [3.0, 0.0]]), 3)[0]]
    [([1, 0], 4.0), ([0, 0], 3.0), ([1, 1], 1.0)]
    """
    if n < 1:
        raise ValueError(f"n is {n}; ask for 1 labelling or more")
    return map_chunks(lambda i, _: _one(potentials[i], n), range(len(potentials) + 1), threads)


def _one(sequence: Potentials, n: int) -> list[Labelling]:
    length = sequence.n_tokens
    if length == 0:
        return [(np.empty(0, dtype=np.int32), 0.0)]
    unary, pairwise, start, end, _, kind = sequence.arrays()
    n = min(n, sequence.n_states ** min(length, 63))
    states, scores = np.empty((n, length), dtype=np.int32), np.empty(n)
    found = kernel.nbest(unary, pairwise, start, end, kind, states, scores)
    return [(sequence.labels(states[k]), float(scores[k])) for k in range(found)]
