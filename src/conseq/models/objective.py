"""The objective of a linear-chain CRF and its gradient, fast.

    w ─expand─→ rows[R, Y] ─gather─→ scores[T, Y] ─forward, backward─→ residual[T, Y]
    residual[T, Y] ─collect─→ rows[R, Y] ─push─→ gradient

    f(w) = −Σ log p(y | x) + c2 ‖w‖²      (the L1 term belongs to the optimiser)

The sequences of a chunk are sorted by length and packed time step by time step, so that one step of the
recursion for all of them is one matrix product (`kernels/scaled.py`); in single precision where that loses
nothing, else in double.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from conseq.features.design import Design
from conseq.kernels import rows as row_kernels
from conseq.kernels import scaled
from conseq.kernels.vectors import LANES
from conseq.models.layout import Layout, Observed, move_counts
from conseq.threads import run

CHUNK = 1 << 15
"""About so many tokens make a chunk, the unit of work of a thread."""

SMALLEST = {np.dtype(np.float32): 1e-30, np.dtype(np.float64): 1e-290}
"""A scale below this has lost digits: the precision does not suffice.

Nor does it where β / scale is not finite. As long as it is, a number too small for the precision (below 1e-45
in single) can carry no more than 1e-45 · 3e38 of the probability, so none that matters was lost.
"""


@dataclass(frozen=True, eq=False)
class Chunk:
    """Packed tokens lo … hi−1; block t is steps[t] … steps[t+1]−1, counted from lo."""

    lo: int
    hi: int
    steps: NDArray[np.int64]


class Scratch(threading.local):
    """Room for one chunk, of each thread its own: small enough to stay in the processor's cache."""

    def __init__(self, tokens: int, width: int, precision: np.dtype) -> None:
        self.scores = np.empty((tokens, width), precision)
        self.alpha = np.empty((tokens, width), precision)
        self.scale = np.empty(tokens, precision)


@dataclass(frozen=True, eq=False)
class Packing:
    """Tokens in packed order."""

    token: NDArray[np.int64]  # [T] which token of the corpus stands at each packed place
    last: NDArray[np.int64]  # [N] packed places of the last tokens, in order
    chunks: tuple[Chunk, ...]


def pack(offsets: NDArray[np.int64]) -> Packing:
    """Cut the corpus into chunks of neighbouring sequences and lay each chunk out step by step.

    Neighbours stay together because rows are numbered in the order of the corpus: a chunk works on few of
    them, and they stay in the processor's cache.
    """
    lengths = np.diff(offsets)
    marks = np.searchsorted(offsets, np.arange(CHUNK, offsets[-1], CHUNK))
    empty = np.empty(0, dtype=np.int64)
    tokens, lasts, chunks, lo = [empty], [empty], [], 0
    for members in np.split(np.arange(len(lengths)), np.unique(marks)):
        order = members[np.argsort(-lengths[members], kind="stable")]
        order = order[lengths[order] > 0]
        if not len(order):
            continue
        size = lengths[order]
        active = np.searchsorted(-size, -np.arange(size[0]), side="left")
        tokens.append(np.concatenate([offsets[order[:n]] + t for t, n in enumerate(active)]))
        steps = np.concatenate([[0], np.cumsum(active)])
        lasts.append(np.sort(lo + steps[size - 1] + np.arange(len(size))))
        chunks.append(Chunk(lo, lo + int(steps[-1]), steps))
        lo += int(steps[-1])
    return Packing(np.concatenate(tokens), np.concatenate(lasts), tuple(chunks))


class ChainObjective:
    """f(w) and its gradient for fixed training data; the arrays are allocated once."""

    def __init__(
        self,
        design: Design,
        labels: NDArray[np.int32],
        offsets: NDArray[np.int64],
        layout: Layout,
        observed: Observed,
        *,
        c2: float = 0.0,
        threads: int = 1,
        precision: type[np.floating] = np.float32,
    ) -> None:
        self.layout, self.observed, self.c2, self.threads = layout, observed, c2, threads
        self.design = design
        self.packing = pack(offsets)
        self.gold = labels[self.packing.token]
        self.gold_moves = move_counts(labels, offsets, layout.n_labels)
        self.row_of = np.ascontiguousarray(design.row_of[self.packing.token])
        self.by_row = _transposed(
            np.arange(len(self.row_of) + 1) * self.row_of.shape[1], self.row_of.ravel(), design.n_rows
        )
        self.by_attribute = _transposed(design.indptr, design.attr, design.n_attributes)
        self.evaluations = 0
        self._allocate(precision)

    def _allocate(self, precision: type[np.floating]) -> None:
        self.precision = np.dtype(precision)
        self.width = -(-self.layout.n_labels // LANES) * LANES
        shape = (len(self.row_of), self.width)
        self.rows = np.empty((self.design.n_rows, self.width), self.precision)
        self.beta = np.empty(shape, self.precision)
        largest = max((c.hi - c.lo for c in self.packing.chunks), default=0)
        self.scratch = Scratch(largest, self.width, self.precision)
        self.value = self.design.value.astype(self.precision, copy=False)
        entry = self.by_attribute[2]
        self.attribute_value = self.value[entry]

    def __call__(self, weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """f(w) and ∇f(w)."""
        self.evaluations += 1
        value, gradient = self._likelihood(weights)
        if not np.isfinite(value) and self.precision != np.float64:
            self._allocate(np.float64)
            value, gradient = self._likelihood(weights)
        if self.c2:
            value += self.c2 * float(weights @ weights)
            gradient += 2 * self.c2 * weights
        return value, gradient

    def _likelihood(self, weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Σ (log Z(x) − score of the gold labels) and its gradient.

        Both terms are large and nearly equal, so each chunk sums their small differences; the transitions of
        the gold labels are added here, from the same rounded matrix that the chunks use.
        """
        layout, dtype = self.layout, self.precision
        pairwise, start, end = layout.chain(weights)
        moves = self._padded(np.exp(pairwise - pairwise.max(initial=-np.inf)))
        self._expand(np.ascontiguousarray(layout.state(weights), dtype=dtype))
        chain = (moves, np.ascontiguousarray(moves.T), start.astype(dtype), end.astype(dtype))
        parts = run([lambda c=c: self._chunk(c, *chain) for c in self.packing.chunks], self.threads)  # type: ignore[misc]
        whole = [part for part in parts if part is not None]
        if len(whole) < len(parts):
            return np.inf, np.zeros(layout.size)
        n = layout.n_labels
        square = moves[:n, :n].astype(np.float64)
        pairs = sum((part[1] for part in whole), np.zeros(pairwise.shape)) * square
        gradient = np.empty(layout.size)
        self._push(gradient)
        opening = [self.beta[c.lo : c.lo + c.steps[1]] for c in self.packing.chunks]
        starts = np.concatenate([self.beta[:0], *opening]).sum(axis=0, dtype=np.float64)[:n]
        ends = self.beta[self.packing.last].sum(axis=0, dtype=np.float64)[:n]
        layout.put_chain(gradient, pairs, starts, ends)
        a, b, _, _ = layout.bounds
        gradient[a:b] -= self.observed.events[a:b]
        return float(sum(part[0] for part in whole) - self._gold_score(square)), gradient

    def _gold_score(self, square: NDArray[np.float64]) -> float:
        """Σ log M over the transitions of the gold labels, −inf if M has lost digits there."""
        seen = self.gold_moves > 0
        if square[seen].min(initial=1.0) < np.finfo(self.precision).tiny:
            return -np.inf
        return float(self.gold_moves[seen] @ np.log(square[seen]))

    def _padded(self, square: NDArray) -> NDArray:
        out = np.zeros((self.width, self.width), dtype=self.precision)
        out[: len(square), : len(square)] = square
        return out

    def _expand(self, state: NDArray) -> None:
        layout, design = self.layout, self.design
        arguments = (state, layout.feature, layout.label, design.indptr, design.attr, self.value, self.rows)
        self._over(design.indptr, lambda lo, hi: row_kernels.expand(*arguments, lo, hi))

    def _push(self, gradient: NDArray[np.float64]) -> None:
        """From the residual of the tokens to the gradient of the state weights."""
        tokens, token, _ = self.by_row
        self._over(tokens, lambda lo, hi: row_kernels.collect(self.beta, tokens, token, self.rows, lo, hi))
        indptr, row, _ = self.by_attribute
        arguments = (
            self.rows,
            indptr,
            row,
            self.attribute_value,
            self.layout.feature,
            self.layout.label,
            gradient,
        )
        self._over(indptr, lambda lo, hi: row_kernels.push(*arguments, lo, hi))

    def _over(self, indptr: NDArray[np.int64], work: Callable[[int, int], None]) -> None:
        """Run work(lo, hi) over ranges of rows with about equally many entries."""
        pieces = 1 if self.threads == 1 else 4 * self.threads
        marks = np.searchsorted(indptr, np.linspace(0, indptr[-1], pieces + 1)[1:-1])
        cuts = [0, *marks.tolist(), len(indptr) - 1]
        run([lambda i=i: work(cuts[i], cuts[i + 1]) for i in range(pieces)], self.threads)  # type: ignore[misc]

    def _chunk(
        self, chunk: Chunk, moves: NDArray, back: NDArray, start: NDArray, end: NDArray
    ) -> tuple[float, NDArray] | None:
        """Scores, forward and backward of one chunk; beta is left as the residual.

        Gives Σ (log Z − gold score) without transitions, and Σ over steps of α_{t−1}ᵀ (β_t · exp score_t /
        scale_t), or None if digits were lost.
        """
        lo, hi, n = chunk.lo, chunk.hi, self.layout.n_labels
        size = hi - lo
        scores, alpha, scale = (
            x[:size] for x in (self.scratch.scores, self.scratch.alpha, self.scratch.scale)
        )
        gold, beta = self.gold[lo:hi], self.beta[lo:hi]
        row_kernels.gather(self.rows, self.row_of[lo:hi], scores, 0, size)
        scores[: chunk.steps[1], :n] += start
        scores[self._last(chunk), :n] += end
        gap = scaled.lower_by_max(scores, gold, n, 0, size)
        np.exp(scores, out=scores)
        scaled.forward(chunk.steps, scores, moves, n, alpha, scale)
        if not scale.min() > SMALLEST[self.precision]:
            return None
        pairs = np.zeros_like(moves)
        scaled.backward(chunk.steps, scores, back, n, alpha, scale, gold, beta, pairs)
        if not (np.isfinite(pairs[:n, :n]).all() and np.isfinite(beta[: chunk.steps[1]]).all()):
            return None
        return gap + scaled.log_sum(scale, 0, size), pairs[:n, :n].astype(np.float64)

    def _last(self, chunk: Chunk) -> NDArray[np.int64]:
        """The last tokens of the chunk's sequences, counted from its first."""
        last = self.packing.last
        return last[np.searchsorted(last, chunk.lo) : np.searchsorted(last, chunk.hi)] - chunk.lo


def _transposed(
    indptr: NDArray[np.int64], column: NDArray[np.int32], n_columns: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Bounds by column, and the row and entry of each."""
    starts = np.zeros(n_columns + 1, dtype=np.int64)
    row, entry = np.empty(len(column), np.int32), np.empty(len(column), np.int64)
    row_kernels.transpose(indptr, column, starts, row, entry)
    return starts, row, entry
