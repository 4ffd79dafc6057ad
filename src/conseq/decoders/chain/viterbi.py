"""The best labelling of a chain: Viterbi.

Potentials ─→ viterbi ─→ Paths: labels[T], scores[N]   many sequences, no constraints
Problem    ─→ Viterbi ─→ Decoding                      local constraints in the scores, the others left out
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from conseq.decoders.base import NO_LIMITS, Best, Hint, Limits
from conseq.dtypes import Floats, Ints, States
from conseq.kernels import chain as kernel
from conseq.kernels.chain import Chain
from conseq.potentials import Potentials
from conseq.problem import Decoding, Problem
from conseq.threads import balanced, map_chunks

CHUNKS = 4
"""Ranges of sequences per thread, so that a thread that was held up does not hold up all."""


@dataclass(frozen=True, eq=False)
class Paths:
    """One labelling per sequence, end to end; a sequence without a feasible one has −1 and the score −inf."""

    labels: States  # [T]
    scores: Floats  # [N]
    states: States  # [T]; the same as labels unless the potentials have `label_of`


def viterbi(potentials: Potentials, threads: int = 1) -> Paths:
    """The labelling of highest score of every sequence; of equal ones that with the lowest last state, then
    the lowest last state but one, and so on.

    >>> paths = viterbi(Potentials.of([[0.0, 1.0], [2.0, 0.0], [0.0, 0.5]], offsets=[0, 2, 3]))
    >>> paths.labels.tolist(), paths.scores.tolist()
    ([1, 0, 1], [3.0, 0.5])
    """
    chain = chain_of(potentials)
    states = np.empty(potentials.n_tokens, dtype=np.int32)
    scores = np.empty(len(potentials))

    def work(first: int, last: int) -> None:
        kernel.viterbi(chain, first, last, states, scores)

    map_chunks(work, chunks(potentials, threads), threads)
    return Paths(potentials.labels(states), scores, states)


def chain_of(potentials: Potentials) -> Chain:
    """The scores as kernels take them."""
    return Chain(*potentials.arrays(), potentials.state_labels)


def chunks(potentials: Potentials, threads: int) -> Ints:
    """Bounds of the ranges of sequences that are handed to the threads."""
    return balanced(potentials.offsets, 1 if threads == 1 else CHUNKS * threads)


def first_answer(problem: Problem, hint: Hint = None) -> tuple[Best, list[int] | None]:
    """The better of the hint and Viterbi's labelling under the local constraints, and what the latter
    violates.

    That is None where nothing is left to do: without tokens, and where the chain has no labelling.
    """
    best = Best(problem)
    if problem.n_tokens == 0:
        best.offer([])
        best.prove(best.score)
        return best, None
    best.offer(hint)
    paths = viterbi(problem.with_local_constraints)
    best.prove(float(paths.scores[0]))
    if best.bound == -np.inf:
        return best, None
    return best, best.offer(paths.states)


@dataclass(frozen=True)
class Viterbi:
    """One run of Viterbi. Optimal if its labelling breaks no constraint that looks beyond a step."""

    name: ClassVar[str] = "viterbi"

    def decode(self, problem: Problem, *, limits: Limits = NO_LIMITS, hint: Hint = None) -> Decoding:
        """The best labelling under the local constraints, scored under all."""
        best, _ = first_answer(problem)
        return best.decoding(iterations=1 if problem.n_tokens else 0)
