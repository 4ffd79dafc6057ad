"""The best labelling of every sequence, without constraints: Viterbi.

Potentials ─→ Paths: labels[T], scores[N]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from conseq.kernels import chain
from conseq.potentials import Potentials
from conseq.threads import balanced, map_chunks

CHUNKS = 4
"""Ranges of sequences per thread, so that a thread that was held up does not hold up all."""


@dataclass(frozen=True, eq=False)
class Paths:
    """One labelling per sequence, end to end; a sequence without a feasible one has −1 and the score −inf."""

    labels: NDArray[np.int32]  # [T]
    scores: NDArray[np.float64]  # [N]
    states: NDArray[np.int32]  # [T]; the same as labels unless the potentials have `label_of`


def viterbi(potentials: Potentials, threads: int = 1) -> Paths:
    """The labelling of highest score of every sequence; of equal ones that with the lowest last state, then
    the lowest last state but one, and so on.

    >>> paths = viterbi(Potentials.of([[0.0, 1.0], [2.0, 0.0], [0.0, 0.5]], offsets=[0, 2, 3]))
    >>> paths.labels.tolist(), paths.scores.tolist()
    ([1, 0, 1], [3.0, 0.5])
    """
    arrays = potentials.arrays()
    states = np.empty(potentials.n_tokens, dtype=np.int32)
    scores = np.empty(len(potentials))

    def work(first: int, last: int) -> None:
        chain.viterbi(*arrays, first, last, states, scores)

    map_chunks(work, chunks(potentials, threads), threads)
    return Paths(potentials.labels(states), scores, states)


def chunks(potentials: Potentials, threads: int) -> NDArray[np.int64]:
    """Bounds of the ranges of sequences that are handed to the threads."""
    return balanced(potentials.offsets, 1 if threads == 1 else CHUNKS * threads)
