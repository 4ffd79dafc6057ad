"""The objective of a linear-chain CRF and its gradient, fast.

    w ─expand─→ attributes[A, Y] ─score─→ rows[R, Y] ─score─→ scores[T, Y] ─forward, backward─→ residual[T, Y]
    residual[T, Y] ─spread─→ rows[R, Y] ─spread─→ attributes[A, Y] ─put─→ gradient

    f(w) = −Σ log p(y | x) + c2 ‖w‖²      (the L1 term belongs to the optimiser)

The sequences of a chunk are sorted by length and packed time step by time step, so that one step of the
recursion for all of them is one matrix product (`kernels/scaled.py`); in single precision where that loses
nothing, else in double. Data larger than memory is in shards, whose values and gradients add up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from conseq.kernels import linear, scaled
from conseq.kernels import rows as row_kernels
from conseq.kernels.vectors import LANES
from conseq.models.layout import Layout, Shard
from conseq.models.references import References
from conseq.models.trainer import Sample
from conseq.shelf import Arrays
from conseq.threads import balanced, map_chunks, run

CHUNK_BYTES, CHUNK_TOKENS = 1 << 19, 1 << 11
"""The size of a chunk, the unit of work: bytes of scores, so that they stay in the processor's cache, but not
fewer tokens than that: a step should have several sequences."""

SMALLEST = {np.dtype(np.float32): 1e-30, np.dtype(np.float64): 1e-290}
"""A scale below this has lost digits: the precision does not suffice.

Nor does it where β / scale is not finite. As long as it is, a number too small for the precision (below 1e-45
in single) can carry no more than 1e-45 · 3e38 of the probability, so none that matters was lost.
"""


def pack(
    offsets: NDArray[np.int64], tokens_each: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Cut the corpus into chunks of about `tokens_each` tokens and lay each chunk out step by step.

    Gives which token of the corpus stands at each packed place, [T], and `chunks`, `steps` and `last` as
    `Packed` has them.

    Neighbours stay together because rows are numbered in the order of the corpus: a chunk works on few of
    them, and they stay in the processor's cache.
    """
    lengths = np.diff(offsets)
    marks = np.searchsorted(offsets, np.arange(tokens_each, offsets[-1], tokens_each))
    empty = np.empty(0, dtype=np.int64)
    tokens, chunks, steps, lasts = [empty], [0], [np.zeros(1, dtype=np.int64)], [empty]
    for members in np.split(np.arange(len(lengths)), np.unique(marks)):
        order = members[np.argsort(-lengths[members], kind="stable")]
        order = order[lengths[order] > 0]
        if not len(order):
            continue
        size = lengths[order]
        active = np.searchsorted(-size, -np.arange(size[0]), side="left")
        tokens.append(np.concatenate([offsets[order[:n]] + t for t, n in enumerate(active)]))
        bounds = np.cumsum(np.append(steps[-1][-1], active))
        chunks.append(chunks[-1] + len(active))
        steps.append(bounds[1:])
        lasts.append(np.sort(bounds[size - 1] + np.arange(len(size))))
    return np.concatenate(tokens), np.array(chunks), np.concatenate(steps), np.concatenate(lasts)


class Sizes(NamedTuple):
    """What room a shard takes: tokens of its largest chunk, its rows, its attributes that have a vector."""

    chunk: int = 0
    rows: int = 0
    attributes: int = 0


@dataclass(frozen=True, eq=False)
class Packed:
    """A shard as the objective goes through it, C chunks of B blocks."""

    chunks: NDArray[np.int64]  # [C+1] chunk c has the blocks chunks[c] … chunks[c+1]−1
    steps: NDArray[np.int64]  # [B+1] block t has the packed places steps[t] … steps[t+1]−1
    last: NDArray[np.int64]  # [N] packed places of the last tokens, in order
    gold: NDArray[np.int32]  # [T] labels in packed order
    references: References

    @classmethod
    def of(cls, shard: Shard, layout: Layout, tokens_each: int) -> Packed:
        token, chunks, steps, last = pack(shard.offsets, tokens_each)
        found = References.of(shard.design, layout, token)
        return cls(chunks, steps, last, shard.labels[token], found)

    @property
    def sizes(self) -> Sizes:
        found = self.references
        largest = int(np.diff(self.steps[self.chunks]).max(initial=0))
        return Sizes(largest, len(found.rows), len(found.attribute))

    def chunk(self, c: int) -> tuple[int, int, NDArray[np.int64], NDArray[np.int64]]:
        """The packed places lo … hi−1 of a chunk; its blocks and its last tokens, counted from lo."""
        steps = self.steps[self.chunks[c] : self.chunks[c + 1] + 1]
        lo, hi = int(steps[0]), int(steps[-1])
        first, end = np.searchsorted(self.last, [lo, hi])
        return lo, hi, steps - lo, self.last[first:end] - lo

    def arrays(self) -> dict[str, NDArray]:
        """All there is to store."""
        own = {name: getattr(self, name) for name in ("chunks", "steps", "last", "gold")}
        return own | self.references.arrays()

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Packed:
        chunks, steps, last, gold = (arrays[name] for name in ("chunks", "steps", "last", "gold"))
        return cls(chunks, steps, last, gold, References.from_arrays(arrays))


class Part:
    """What one thread works with: its chunks of a shard, room for one of them, and its sums."""

    def __init__(self, room: Sizes, layout: Layout, width: int, precision: np.dtype) -> None:
        self.chunks = range(0)
        self.scores, self.alpha, self.residual = (np.empty((room.chunk, width), precision) for _ in range(3))
        self.scale = np.empty(room.chunk, precision)
        self.all_rows = np.empty((room.rows, width), precision)
        self.all_attributes = np.empty((room.attributes, width), precision)
        self.singles = np.empty(layout.bounds[0], precision)
        self.pairs = np.empty((layout.n_labels, layout.n_labels))
        self.starts, self.ends = np.empty(layout.n_labels), np.empty(layout.n_labels)
        self.value = 0.0

    def take(self, chunks: range, sizes: Sizes) -> None:
        """Make ready for these chunks of a shard."""
        self.chunks = chunks
        self.rows, self.attributes = self.all_rows[: sizes.rows], self.all_attributes[: sizes.attributes]

    def clear(self) -> None:
        for sums in (self.rows, self.attributes, self.singles, self.pairs, self.starts, self.ends):
            sums.fill(0)
        self.value = 0.0


class ChainObjective:
    """f(w) and its gradient for fixed training data; the arrays are allocated once."""

    def __init__(
        self, sample: Sample, *, c2: float = 0.0, threads: int = 1, precision: type[np.floating] = np.float32
    ) -> None:
        self.layout, self.observed = sample.layout, sample.observed
        self.c2, self.threads = c2, threads
        self.width = -(-self.layout.n_labels // LANES) * LANES
        self.room = Sizes()
        self.shards = sample.keep(self._packed(sample.shards), Packed.from_arrays)
        self._allocate(precision)

    def _packed(self, shards: Iterable[Shard]) -> Iterator[Packed]:
        for shard in shards:
            packed = Packed.of(shard, self.layout, max(CHUNK_TOKENS, CHUNK_BYTES // (4 * self.width)))
            self.room = Sizes(*map(max, self.room, packed.sizes))
            yield packed

    def _allocate(self, precision: type[np.floating]) -> None:
        self.precision = np.dtype(precision)
        self.rows = np.empty((self.room.rows, self.width), self.precision)
        self.attributes = np.empty((self.room.attributes, self.width), self.precision)
        self.ones = np.ones(self.room.attributes, self.precision)
        self.parts = [Part(self.room, self.layout, self.width, self.precision) for _ in range(self.threads)]

    def __call__(self, weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """f(w) and ∇f(w)."""
        value, gradient = self._likelihood(weights)
        if not np.isfinite(value) and self.precision != np.float64:
            self._allocate(np.float64)
            value, gradient = self._likelihood(weights)
        if self.c2:
            value += self.c2 * float(weights @ weights)
            linear.sum_times(gradient, 2 * self.c2, weights, gradient)
        return value, gradient

    def _likelihood(self, weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Σ (log Z(x) − score of the gold labels) and its gradient.

        Both terms are large and nearly equal, so each chunk sums their small differences; the transitions of
        the gold labels are added here, from the same rounded matrix that the chunks use.
        """
        layout, dtype = self.layout, self.precision
        table, start, end = layout.chain(weights)
        moves = np.pad(np.exp(table - table.max(initial=-np.inf)), (0, self.width - len(table))).astype(dtype)
        state = np.ascontiguousarray(layout.state(weights), dtype=dtype)
        given = (state, moves, np.ascontiguousarray(moves.T), start.astype(dtype), end.astype(dtype))
        square = moves[: layout.n_labels, : layout.n_labels].astype(np.float64)
        value, gradient = -self._gold_score(square), np.empty(0)
        for packed in self.shards:
            part = self._shard(packed, square, *given)
            if part is None:
                return np.inf, np.zeros(layout.size)
            value += part[0]
            gradient = np.add(gradient, part[1], out=gradient) if gradient.size else part[1]
        a, b, _, _ = layout.bounds
        gradient[a:b] -= self.observed.events[a:b]
        return value, gradient

    def _shard(
        self, packed: Packed, square: NDArray[np.float64], *given: NDArray
    ) -> tuple[float, NDArray[np.float64]] | None:
        """What a shard adds to value and gradient; None if digits were lost."""
        layout, parts = self.layout, self.parts
        cuts = np.linspace(0, len(packed.chunks) - 1, len(parts) + 1).astype(np.int64).tolist()
        for part, (a, b) in zip(parts, pairwise(cuts), strict=True):
            part.take(range(a, b), packed.sizes)
        self._expand(packed.references, given[0])
        if not all(run([partial(self._work, part, packed, *given) for part in parts], self.threads)):
            return None
        gradient = np.empty(layout.size)
        self._push(packed.references, gradient)
        pairs, starts, ends = (
            sum(getattr(part, name) for part in parts) for name in ("pairs", "starts", "ends")
        )
        layout.put_chain(gradient, pairs * square, starts, ends)
        return sum(part.value for part in parts), gradient

    def _gold_score(self, square: NDArray[np.float64]) -> float:
        """Σ log M over the transitions of the gold labels, −inf if M has lost digits there."""
        a, b, _, _ = self.layout.bounds
        seen = square[*self.layout.moves.T]
        if seen.min(initial=1.0) < np.finfo(self.precision).tiny:
            return -np.inf
        return float(self.observed.events[a:b] @ np.log(seen))

    def _expand(self, found: References, state: NDArray) -> None:
        """From the state weights to the rows."""
        layout = self.layout
        each = np.arange(len(found.attribute) + 1)
        given = (state, layout.feature, layout.label, each, found.attribute, self.ones, self.attributes)
        self._over(each, lambda lo, hi: row_kernels.expand(*given, lo, hi))
        terms = (*found.rows.given, self.attributes, state)
        self._over(found.rows.sizes, lambda lo, hi: row_kernels.score(*terms, self.rows[lo:hi], lo, hi))

    def _push(self, found: References, gradient: NDArray[np.float64]) -> None:
        """From the sums of the parts to the gradient of the state weights."""
        layout, parts = self.layout, self.parts
        first, *others = parts

        def push(part: Part, lo: int, hi: int) -> None:
            for other in others:
                first.rows[lo:hi] += other.rows[lo:hi]
            sums = (part.attributes, part.singles)
            row_kernels.spread(*found.rows.given, first.rows[lo:hi], *sums, lo, hi)

        cuts = pairwise(balanced(found.rows.sizes, len(parts)).tolist())
        run([partial(push, part, *cut) for part, cut in zip(parts, cuts, strict=False)], self.threads)

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
        map_chunks(work, balanced(sizes, 1 if self.threads == 1 else 4 * self.threads), self.threads)

    def _work(self, part: Part, packed: Packed, *given: NDArray) -> bool:
        """The chunks of a part, added up; False if digits were lost."""
        part.clear()
        return all(self._chunk(part, packed, c, *given) for c in part.chunks)

    def _chunk(
        self,
        part: Part,
        packed: Packed,
        c: int,
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
        lo, hi, steps, closing = packed.chunk(c)
        n, opening, gold = self.layout.n_labels, slice(steps[1]), packed.gold[lo:hi]
        arrays = (part.scores, part.alpha, part.residual, part.scale)
        scores, alpha, residual, scale = (x[: hi - lo] for x in arrays)
        terms = packed.references.tokens.given
        row_kernels.score(*terms, self.rows, state, scores, lo, hi)
        if self.layout.starts.size:
            scores[opening, :n] += start
        if self.layout.ends.size:
            scores[closing, :n] += end
        gap = scaled.lower_by_max(scores, gold, n, 0, hi - lo)
        np.exp(scores, out=scores)
        scaled.forward(steps, scores, moves, n, alpha, scale)
        if not scale.min() > SMALLEST[self.precision]:
            return False
        pairs = np.zeros_like(moves)
        scaled.backward(steps, scores, back, n, alpha, scale, gold, residual, pairs)
        if not (np.isfinite(pairs[:n, :n]).all() and np.isfinite(residual[opening]).all()):
            return False
        row_kernels.spread(*terms, residual, part.rows, part.singles, lo, hi)
        part.value += gap + scaled.log_sum(scale, 0, hi - lo)
        part.pairs += pairs[:n, :n]
        part.starts += residual[opening, :n].sum(axis=0, dtype=np.float64)
        part.ends += residual[closing, :n].sum(axis=0, dtype=np.float64)
        return True
