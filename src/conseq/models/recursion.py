"""Forward and backward over many sequences at once, scaled (Rabiner 1989).

    exp scores[n, Y] in packed order ─forward─→ α[n, Y], scale[n] ─backward─→ β[n, Y], Σ of pairs[Y, Y]

Block t (rows steps[t] … steps[t+1]−1) holds the t-th token of every sequence that has one, longest first; so
the first rows of block t−1 are the predecessors of block t, and a step is one matrix product.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from conseq.kernels import scaled

Steps = Sequence[int]


class Scratch(threading.local):
    """Room for one chunk, of each thread its own: small enough to stay in the processor's cache."""

    def __init__(self, tokens: int, width: int, precision: np.dtype) -> None:
        self.scores = np.empty((tokens, width), precision)
        self.alpha = np.empty((tokens, width), precision)
        self.scale = np.empty(tokens, precision)


def forward(
    steps: Steps, scores: NDArray, moves: NDArray, n_labels: int, alpha: NDArray, scale: NDArray
) -> None:
    """α_t ∝ (α_{t−1} M) · exp score_t, scaled to sum to 1; columns beyond n_labels are padding."""
    first = slice(steps[0], steps[1])
    alpha[first] = 1
    alpha[first, n_labels:] = 0
    scaled.advance(alpha[first], scores[first], scale[first])
    for t in range(1, len(steps) - 1):
        before, a, b = steps[t - 1], steps[t], steps[t + 1]
        np.matmul(alpha[before : before + b - a], moves, out=alpha[a:b])
        scaled.advance(alpha[a:b], scores[a:b], scale[a:b])


def backward(
    steps: Steps, scores: NDArray, moves: NDArray, alpha: NDArray, scale: NDArray, beta: NDArray
) -> NDArray:
    """β_{t−1} = M (β_t · exp score_t / scale_t), 1 at the end; α_t · β_t are the marginals.

    Gives Σ over steps of α_{t−1}ᵀ (β_t · exp score_t / scale_t) and leaves that factor in scores.
    """
    pairs = np.zeros_like(moves)
    back = np.ascontiguousarray(moves.T)
    beta[:] = 1
    for t in range(len(steps) - 2, 0, -1):
        before, a, b = steps[t - 1], steps[t], steps[t + 1]
        scaled.weigh(beta[a:b], scores[a:b], scale[a:b], scores[a:b])
        previous = slice(before, before + b - a)
        pairs += alpha[previous].T @ scores[a:b]
        np.matmul(scores[a:b], back, out=beta[previous])
    return pairs
