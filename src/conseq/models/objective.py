"""The objective of a linear-chain CRF and its gradient, fast.

    w ─expand─→ attributes[A, Y] ─score─→ rows[R, Y] ─score─→ scores[T, Y] ─forward, backward─→ residual[T, Y]
    residual[T, Y] ─spread─→ rows[R, Y] ─spread─→ attributes[A, Y] ─put─→ gradient

    f(w) = −Σ log p(y | x) + c2 ‖w‖²      (the L1 term belongs to the optimiser)

The sequences of a chunk are sorted by length and packed time step by time step, so that one step of the
recursion for all of them is one matrix product (`kernels/scaled.py`); in single precision where that loses
nothing, else in double.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from conseq.features.design import Design
from conseq.kernels import rows as row_kernels
from conseq.kernels import scaled
from conseq.kernels.vectors import LANES
from conseq.models.layout import Layout, Observed, move_counts
from conseq.models.references import References
from conseq.threads import map_chunks, run

CHUNK_BYTES, CHUNK_TOKENS = 1 << 19, 1 << 11
"""A chunk, the unit of work, has so many bytes of scores, so that they stay in the processor's cache, but not
fewer tokens than that: a step should have several sequences."""

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


@dataclass(frozen=True, eq=False)
class Packing:
    """Tokens in packed order."""

    token: NDArray[np.int64]  # [T] which token of the corpus stands at each packed place
    last: NDArray[np.int64]  # [N] packed places of the last tokens, in order
    chunks: tuple[Chunk, ...]


def pack(offsets: NDArray[np.int64], tokens_each: int) -> Packing:
    """Cut the corpus into chunks of about so many tokens and lay each chunk out step by step.

    Neighbours stay together because rows are numbered in the order of the corpus: a chunk works on few of
    them, and they stay in the processor's cache.
    """
    lengths = np.diff(offsets)
    marks = np.searchsorted(offsets, np.arange(tokens_each, offsets[-1], tokens_each))
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


class Part:
    """The chunks that one thread works on, one after the other, its room for one of them, and its sums."""

    def __init__(
        self, chunks: Sequence[Chunk], found: References, layout: Layout, width: int, precision: np.dtype
    ) -> None:
        self.chunks = chunks
        largest = max((chunk.hi - chunk.lo for chunk in chunks), default=0)
        self.scores, self.alpha, self.residual = (np.empty((largest, width), precision) for _ in range(3))
        self.scale = np.empty(largest, precision)
        self.rows = np.empty((len(found.rows), width), precision)
        self.attributes = np.empty((len(found.attribute), width), precision)
        self.singles = np.empty(layout.bounds[0], precision)
        self.pairs = np.empty((layout.n_labels, layout.n_labels))
        self.starts, self.ends = np.empty(layout.n_labels), np.empty(layout.n_labels)
        self.value = 0.0

    def clear(self) -> None:
        for sums in (self.rows, self.attributes, self.singles, self.pairs, self.starts, self.ends):
            sums.fill(0)
        self.value = 0.0


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
        self.width = -(-layout.n_labels // LANES) * LANES
        self.packing = pack(offsets, max(CHUNK_TOKENS, CHUNK_BYTES // (4 * self.width)))
        self.gold = labels[self.packing.token]
        self.gold_moves = move_counts(labels, offsets, layout.n_labels)
        self.references = References.of(design, layout, self.packing.token)
        self.evaluations = 0
        self._allocate(precision)

    def _allocate(self, precision: type[np.floating]) -> None:
        self.precision = np.dtype(precision)
        found, chunks = self.references, self.packing.chunks
        self.rows = np.empty((len(found.rows), self.width), self.precision)
        self.attributes = np.empty((len(found.attribute), self.width), self.precision)
        self.ones = np.ones(len(found.attribute), self.precision)
        cuts = np.linspace(0, len(chunks), self.threads + 1).astype(np.int64).tolist()
        self.parts = [
            Part(chunks[a:b], found, self.layout, self.width, self.precision) for a, b in pairwise(cuts)
        ]

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
        table, start, end = layout.chain(weights)
        moves = self._padded(np.exp(table - table.max(initial=-np.inf)))
        state = np.ascontiguousarray(layout.state(weights), dtype=dtype)
        self._expand(state)
        given = (state, moves, np.ascontiguousarray(moves.T), start.astype(dtype), end.astype(dtype))
        if not all(run([partial(self._work, part, *given) for part in self.parts], self.threads)):
            return np.inf, np.zeros(layout.size)
        square = moves[: layout.n_labels, : layout.n_labels].astype(np.float64)
        gradient = np.empty(layout.size)
        self._push(gradient)
        pairs, starts, ends = (
            sum((getattr(part, name) for part in self.parts[1:]), start=getattr(self.parts[0], name))
            for name in ("pairs", "starts", "ends")
        )
        layout.put_chain(gradient, pairs * square, starts, ends)
        a, b, _, _ = layout.bounds
        gradient[a:b] -= self.observed.events[a:b]
        return sum(part.value for part in self.parts) - self._gold_score(square), gradient

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
        """From the state weights to the rows."""
        layout, found = self.layout, self.references
        each = np.arange(len(found.attribute) + 1)
        given = (state, layout.feature, layout.label, each, found.attribute, self.ones, self.attributes)
        self._over(each, lambda lo, hi: row_kernels.expand(*given, lo, hi))
        terms = (*found.rows.entries, state, *found.rows.singles)
        self._over(
            found.rows.sizes,
            lambda lo, hi: row_kernels.score(self.attributes, *terms, self.rows[lo:hi], lo, hi),
        )

    def _push(self, gradient: NDArray[np.float64]) -> None:
        """From the sums of the parts to the gradient of the state weights."""
        found, layout, parts = self.references, self.layout, self.parts
        first, *others = parts

        def push(part: Part, lo: int, hi: int) -> None:
            for other in others:
                first.rows[lo:hi] += other.rows[lo:hi]
            sums = (part.attributes, part.singles)
            row_kernels.spread(first.rows[lo:hi], *found.rows.entries, *found.rows.singles, *sums, lo, hi)

        cuts = _cuts(found.rows.sizes, len(parts))
        run(
            [partial(push, part, *cut) for part, cut in zip(parts, pairwise(cuts), strict=True)], self.threads
        )

        def put(lo: int, hi: int) -> None:
            for other in others:
                first.attributes[lo:hi] += other.attributes[lo:hi]
            row_kernels.put(first.attributes, found.attribute, layout.feature, layout.label, gradient, lo, hi)

        np.copyto(gradient[: layout.bounds[0]], first.singles)
        for other in others:
            gradient[: layout.bounds[0]] += other.singles
        self._over(np.arange(len(found.attribute) + 1), put)

    def _over(self, sizes: NDArray[np.int64], work: Callable[[int, int], None]) -> None:
        """Run work(lo, hi) over ranges that are about equally much work."""
        map_chunks(work, _cuts(sizes, 1 if self.threads == 1 else 4 * self.threads), self.threads)

    def _work(self, part: Part, *given: NDArray) -> bool:
        """The chunks of a part, added up; False if digits were lost."""
        part.clear()
        return all(self._chunk(part, chunk, *given) for chunk in part.chunks)

    def _chunk(
        self,
        part: Part,
        chunk: Chunk,
        state: NDArray,
        moves: NDArray,
        back: NDArray,
        start: NDArray,
        end: NDArray,
    ) -> bool:
        """Scores, forward and backward of one chunk, added to the sums of the part.

        The value is Σ (log Z − gold score) without transitions; `pairs` are Σ over steps of α_{t−1}ᵀ (β_t ·
        exp score_t / scale_t).
        """
        lo, hi, n, found = chunk.lo, chunk.hi, self.layout.n_labels, self.references
        arrays = (part.scores, part.alpha, part.residual, part.scale)
        scores, alpha, residual, scale = (x[: hi - lo] for x in arrays)
        entries, singles = found.tokens.entries, found.tokens.singles
        row_kernels.score(self.rows, *entries, state, *singles, scores, lo, hi)
        opening, closing, gold = slice(chunk.steps[1]), self._last(chunk), self.gold[lo:hi]
        if self.layout.starts.size:
            scores[opening, :n] += start
        if self.layout.ends.size:
            scores[closing, :n] += end
        gap = scaled.lower_by_max(scores, gold, n, 0, hi - lo)
        np.exp(scores, out=scores)
        scaled.forward(chunk.steps, scores, moves, n, alpha, scale)
        if not scale.min() > SMALLEST[self.precision]:
            return False
        pairs = np.zeros_like(moves)
        scaled.backward(chunk.steps, scores, back, n, alpha, scale, gold, residual, pairs)
        if not (np.isfinite(pairs[:n, :n]).all() and np.isfinite(residual[opening]).all()):
            return False
        row_kernels.spread(residual, *entries, *singles, part.rows, part.singles, lo, hi)
        part.value += gap + scaled.log_sum(scale, 0, hi - lo)
        part.pairs += pairs[:n, :n]
        part.starts += residual[opening, :n].sum(axis=0, dtype=np.float64)
        part.ends += residual[closing, :n].sum(axis=0, dtype=np.float64)
        return True

    def _last(self, chunk: Chunk) -> NDArray[np.int64]:
        """The last tokens of the chunk's sequences, counted from its first."""
        last = self.packing.last
        return last[np.searchsorted(last, chunk.lo) : np.searchsorted(last, chunk.hi)] - chunk.lo


def _cuts(sizes: NDArray[np.int64], parts: int) -> list[int]:
    """Bounds of so many ranges of about equal size; sizes[i] is that of all before i."""
    marks = np.searchsorted(sizes, np.linspace(0, sizes[-1], parts + 1)[1:-1])
    return [0, *marks.tolist(), len(sizes) - 1]
