"""The best labelling under some primitives, among those within a band below an upper bound.

    chain of one sequence, floor ─→ Band ─→ tighten (multipliers) ─→ unfold (product states) ─→ Found

The kernels do the work (`kernels/band.py`, `tighten.py`, `unfold.py`); here they get their arrays, and more
room when they need some.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from conseq.decoders.readers import Readers, Selected
from conseq.kernels import band as kernel
from conseq.kernels import softdd, tighten, unfold
from conseq.potentials import Potentials
from conseq.problem import Problem

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Six = tuple[NDArray, NDArray, NDArray, NDArray, NDArray, NDArray]

FIRST_ROOM = 1 << 12
TIGHTENING = 30
"""Iterations of the multipliers; then the product states go on from the best ones."""
FIRST_DEPTH = 1.0
"""How far below the bound product states are kept at first."""
DEEPEST = 1e4
"""How far below it is as good as without end."""
SPREAD = 16.0
"""How far below the bound multipliers aim at least."""


class Found(NamedTuple):
    """The best labelling that reaches the floor. Without one `states` is None, and `value` is −inf, or an
    upper bound if the room did not suffice."""

    states: NDArray[np.int32] | None
    value: float
    work: float  # edges looked at
    met: NDArray[np.int32] | None = None  # another labelling, met on the way, that may be good
    multipliers: Floats | None = None  # [K], better ones than the search had

    @property
    def is_exhaustive(self) -> bool:
        return self.states is not None or self.value == -np.inf


class Readings(NamedTuple):
    """What counters and automata read on the edges of a band."""

    additions: tuple[NDArray, NDArray]
    read: NDArray[np.int16]


class Workspace:
    """Memory for product states that one thread uses again and again."""

    def __init__(self) -> None:
        self.room, self.stamp = -1, 0

    def fit(self, room: int) -> None:
        """Make room for so many product states."""
        self.stamp += 1
        if room <= self.room:
            return
        self.room = room
        self.places, self.parents = np.empty(room + 1, dtype=np.int64), np.empty(room + 1, dtype=np.int64)
        self.scores, self.hopes, self.dreads = (np.empty(room + 1) for _ in range(3))
        size = 1 << (2 * room + 1).bit_length()
        self.table = np.empty(size, dtype=np.int64)
        self.stamps, self.keys = np.zeros(size, dtype=np.int64), np.empty(size, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Band:
    """States and steps of the chain that labellings of at least `floor` pass through."""

    floor: float
    levels: Ints  # [L+1]
    states: NDArray[np.int32]  # [B]
    first: Ints  # [B+2]
    targets: Ints  # [E]
    gains: Floats  # [E]
    steps: Ints  # [E]

    @property
    def n_nodes(self) -> int:
        return len(self.states)

    @property
    def n_edges(self) -> int:
        return len(self.targets)


@dataclass
class Search:
    """The chain of one sequence with what its labels can add after each token."""

    problem: Problem
    potentials: Potentials  # of the sequence, with the local constraints in them
    chain: Six  # unary, pairwise, start, end, kind, label_of
    ahead: Floats  # [L,S]
    multipliers: Floats  # [K], of all sums of the program
    readers: Readers
    workspace: Workspace = field(default_factory=Workspace)
    until: float = np.inf  # when to stop, by time.perf_counter

    @classmethod
    def of(
        cls,
        problem: Problem,
        potentials: Potentials,
        multipliers: Floats | None = None,
        readers: Readers | None = None,
        workspace: Workspace | None = None,
    ) -> Search:
        """A search over these scores, which have the local constraints in them.

        With multipliers the search goes along scores that they shift, which bound the score of a labelling
        more tightly. Readers and workspace may be shared by searches of one thread.
        """
        readers = Readers.of(problem.program) if readers is None else readers
        given = readers.no_multipliers if multipliers is None else multipliers
        unary, pairwise, start, end, offsets, kind = potentials.arrays()
        if given.any():
            given_chain = (unary, pairwise, start, end)
            moves = readers.moves(potentials)
            unary, pairwise, start, end = softdd.shifted_chain(
                given_chain, problem.program.sums, moves, given
            )
        ahead = np.empty(unary.shape)
        kernel.beyond(unary, pairwise, end, offsets, kind, np.zeros(1, dtype=np.int64), ahead)
        chain = (unary, pairwise, start, end, kind, problem.label_of)
        return cls(problem, potentials, chain, ahead, given, readers, workspace or Workspace())

    def moved(self, multipliers: Floats) -> Search:
        """The same search along scores that other multipliers shift."""
        moved = Search.of(self.problem, self.potentials, multipliers, self.readers, self.workspace)
        moved.until = self.until
        return moved

    @cached_property
    def bound(self) -> float:
        """What no labelling exceeds, by the multipliers."""
        unary, _, start, *_ = self.chain
        return float((start + unary[0] + self.ahead[0]).max()) + self.constant

    @cached_property
    def constant(self) -> float:
        """What the multipliers give back at the limits: Σ λ · limit."""
        return float(self.multipliers @ self.readers.all_limits(len(self.ahead)))

    def band(self, floor: float, most_edges: int) -> Band | None:
        """The band of labellings of at least `floor`; None if it has too many edges."""
        length, size = self.ahead.shape
        most = (length - 1) * size * size + 2 * size
        room = min(max(64 * length, 1 << 12), most)
        while True:
            levels, first = np.empty(length + 1, dtype=np.int64), np.zeros(length * size + 2, dtype=np.int64)
            states = np.empty(length * size + size, dtype=np.int32)
            targets, steps = np.empty(room + size, dtype=np.int64), np.empty(room + size, dtype=np.int64)
            gains = np.empty(room + size)
            edges = kernel.cut(
                self.chain,
                self.ahead,
                floor - self.constant,
                len(self.problem.schema) + 1,
                levels,
                states,
                first,
                targets,
                gains,
                steps,
            )
            if edges >= 0:
                n = int(levels[-1])
                return Band(
                    floor, levels, states[:n], first[: n + 2], targets[:edges], gains[:edges], steps[:edges]
                )
            if room >= most_edges:
                return None
            room = min(8 * room, most_edges)

    def best(self, primitives: Sequence[int], band: Band, known: float, most_states: int) -> Found:
        """The best labelling under these primitives within the band; `known` is a score that is reached.

        The primitives include all sums that have a multiplier.
        """
        selected = self.readers.select(primitives, len(self.ahead))
        readings = self._readings(band, selected)
        shape, sums_only = selected.sums[2], not len(selected.automata[0])
        base = self.multipliers[selected.settled]
        multipliers, shifted = base.copy(), np.empty(band.n_edges)
        rest, way = np.empty(band.n_nodes + 2), np.empty(len(self.ahead), dtype=np.int64)
        bound, score, rounds = tighten.tighten(
            (band.first, band.targets, band.gains),
            band.n_nodes,
            readings.additions,
            len(selected.counting[0]),
            selected.sums,
            band.floor,
            known,
            SPREAD,
            self._rounds(band) if len(shape) else 1,
            base,
            multipliers,
            shifted,
            rest,
            way,
        )
        work = float(band.n_edges * (rounds + 1))
        met = band.states[way] if score > known else None
        better = self.multipliers.copy()
        better[selected.settled] = multipliers
        better[self.readers.ceilings == 0] = 0  # what looks at tokens can be shifted in a band only
        if bound < band.floor:
            return Found(None, -np.inf, work, met, better)
        if sums_only and score >= bound - 1e-9 * (1 + abs(bound)):
            return Found(met, bound, work)
        shape[:, 2] = multipliers
        floor = max(band.floor, known, score if sums_only else -np.inf)
        found = self._deepen(band, selected, readings, (shifted, rest), bound, floor, most_states)
        return found._replace(work=found.work + work, met=met, multipliers=better)

    def _rounds(self, band: Band) -> int:
        """Iterations of the multipliers: many on small bands, fewer where each of them costs much."""
        return max(6, min(TIGHTENING, 60_000 // max(1, band.n_edges)))

    def _readings(self, band: Band, selected: Selected) -> Readings:
        """What the edges of a band add to the counters, and the symbols that automata read on them."""
        counters, tables, masks = selected.counting
        heads, _, classes, alphabet, *_ = selected.automata
        size, token = len(self.problem.schema) + 1, self.problem.first_token
        shape = (band.levels, band.first, band.steps, band.n_nodes)
        additions = kernel.additions(*shape, counters, tables, masks, token)
        read = np.empty((band.n_edges, len(heads)), dtype=np.int16)
        if len(heads):
            kernel.symbols(*shape, heads, classes, alphabet, size * size, token, read)
        return Readings(additions, read)

    def _deepen(
        self,
        band: Band,
        selected: Selected,
        readings: Readings,
        shifted: tuple[Floats, Floats],
        bound: float,
        floor: float,
        most_states: int,
    ) -> Found:
        """Product states near the bound first, then further and further down to the floor.

        Their number usually doubles with every step down, so that all searches together cost little more than
        the last one; where it does not, the steps get longer.
        """
        depth = step = FIRST_DEPTH
        work = last = 0.0
        while True:
            at = max(floor, bound - depth) if depth < DEEPEST else floor
            found = self._unfold(band, selected, readings, shifted, lowered(at), most_states)
            work += found.work
            if found.states is not None or at == floor:
                return found._replace(work=work)
            if not found.is_exhaustive or time.perf_counter() > self.until:
                return found._replace(work=work, value=max(at, found.value))
            step *= 1 if found.work > 1.5 * last else 2 if found.work > last else 8
            depth, last = depth + step, found.work

    def _unfold(
        self,
        band: Band,
        selected: Selected,
        readings: Readings,
        shifted: tuple[Floats, Floats],
        floor: float,
        most_states: int,
    ) -> Found:
        heads, penalties, _, _, arcs, cost, least = selected.automata
        gains, rest = shifted
        space, room, work = self.workspace, max(1, min(FIRST_ROOM, most_states)), 0
        while True:
            space.fit(room)
            nodes = (space.places[: room + 1], space.parents, space.scores, space.hopes, space.dreads)
            node, value, count = unfold.unfold(
                (band.first, band.targets, gains),
                band.n_nodes,
                rest,
                readings.additions,
                selected.sums,
                readings.read,
                (heads, penalties, arcs, cost, least),
                floor,
                nodes,
                np.empty((room + 1, selected.width), dtype=np.int64),
                (space.table, space.stamps, space.keys),
                space.stamp,
            )
            work += count * (band.n_edges // max(1, band.n_nodes) + 1)
            if node >= 0:
                way = np.empty(len(self.ahead), dtype=np.int64)
                unfold.walk_back(node, space.places, space.parents, way)
                return Found(band.states[way], value, work)
            if node == unfold.NOTHING or room >= most_states:
                return Found(None, value, work)
            room = min(8 * room, most_states)


def lowered(floor: float) -> float:
    """A little less than the floor, so that rounding does not cut off a labelling that reaches it."""
    return floor - 1e-9 * (1 + abs(floor)) if floor > -np.inf else floor
