"""Probabilities under the chain: of a state at a token, and of a passage through sets of states.

Potentials ─→ marginals ─→ node[T,S], log_partition[N]
Potentials, i ─→ ChainPosterior (forward and backward of one sequence) ─→ span_probability, many times
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from conseq.decoders.chain.viterbi import chain_of, chunks
from conseq.dtypes import Bools, Floats
from conseq.errors import InfeasibleError, ScoreError
from conseq.kernels import sums
from conseq.potentials import Potentials
from conseq.threads import map_chunks


@dataclass(frozen=True, eq=False)
class Marginals:
    """node[t,s] = p(state s at token t), log_partition[n] = log Σ over labellings of exp(score)."""

    node: Floats  # [T,S]
    log_partition: Floats  # [N]


def marginals(potentials: Potentials, threads: int = 1) -> Marginals:
    """Marginals of every token of every sequence, by forward–backward.

    >>> marginals(Potentials.of(np.log([[0.25, 0.75]]))).node.round(6)
    array([[0.25, 0.75]])
    """
    chain = chain_of(potentials)
    node = np.empty(potentials.unary.shape)
    log_partition = np.empty(len(potentials))

    def work(first: int, last: int) -> None:
        sums.marginals(chain, first, last, node, log_partition)

    map_chunks(work, chunks(potentials, threads), threads)
    infeasible = np.flatnonzero(log_partition == -np.inf)
    if len(infeasible):
        raise _infeasible(int(infeasible[0]))
    return Marginals(node, log_partition)


@dataclass(frozen=True, eq=False)
class ChainPosterior:
    """Forward and backward messages of one sequence, from which spans get their probabilities."""

    potentials: Potentials  # of one sequence
    messages: sums.Messages

    @classmethod
    def of(cls, potentials: Potentials, i: int = 0) -> ChainPosterior:
        sequence = potentials[i]
        messages = sums.Messages(*sums.lattice(chain_of(sequence)))
        ends = messages.message[:, -1:].sum(axis=0) + sequence.unary[-1:]
        if len(ends) and ends.max() == -np.inf:
            raise _infeasible(i)
        return cls(sequence, messages)

    def span_probability(
        self, start: int, before: ArrayLike | None, inside: ArrayLike, after: ArrayLike | None
    ) -> float:
        """The probability that the labelling passes through the set `before` at token start−1, inside[k] at
        start + k for the L rows of `inside`, and `after` at start + L.

        Masks are bool[S], inside bool[L,S]. A neighbour that does not exist, or is None, imposes nothing.

        >>> fair = ChainPosterior.of(Potentials.of(np.zeros((3, 2))))
        >>> fair.span_probability(1, [True, False], [[False, True]], None)
        0.25
        """
        first, masks = span_masks(self.potentials.unary.shape, start, before, inside, after)
        if len(masks) == 0:
            return 1.0
        log_p = sums.passage(chain_of(self.potentials), self.messages, first, masks)
        return min(1.0, math.exp(log_p))


def span_masks(
    shape: tuple[int, int], start: int, before: ArrayLike | None, inside: ArrayLike, after: ArrayLike | None
) -> tuple[int, Bools]:
    """The first token that a span restricts, and one mask for it and each one after it, [M,S].

    shape is that of the sequence: tokens, states. The masks are those of `ChainPosterior.span_probability`.
    """
    length, size = shape
    rows = _mask("inside", inside, (np.shape(inside)[0], size))
    stop, first = start + len(rows), start
    if not 0 <= start <= stop <= length:
        raise ScoreError(f"the sequence has {length} tokens; a span from {start} to {stop} is not within it")
    if before is not None and start > 0:
        rows, first = np.vstack([_mask("before", before, (size,)), rows]), start - 1
    if after is not None and stop < length:
        rows = np.vstack([rows, _mask("after", after, (size,))])
    return first, rows


def _mask(name: str, values: ArrayLike, shape: tuple[int, ...]) -> Bools:
    mask = np.ascontiguousarray(values, dtype=bool)
    if mask.shape != shape:
        raise ScoreError(f"{name} has the shape {mask.shape}; give a mask of {shape}")
    return mask


def _infeasible(i: int) -> InfeasibleError:
    return InfeasibleError(
        f"sequence {i} (from 0) has no labelling: each meets a score of -inf; allow more states or steps"
    )
