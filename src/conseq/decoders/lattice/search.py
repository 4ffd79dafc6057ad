"""The best path of a lattice under some primitives, among those that reach a floor.

    lattice, primitives ─→ dual descent (multipliers) ─→ product states near the bound ─→ Found

The kernels do the work (`kernels/lattice_dual.py`, `product_search.py`); here they get their arrays, and
more room when they need some.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from conseq.decoders.lattice.lattice import Lattice
from conseq.decoders.lattice.tracked import Primitives, Tracked
from conseq.kernels import lattice as lattice_kernel
from conseq.kernels import lattice_dual as dual_kernel
from conseq.kernels import product_search as kernel
from conseq.kernels.lattice_dual import MULTIPLIER, Additions
from conseq.kernels.rounding import rounding
from conseq.problem import Problem

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FIRST_ROOM = 1 << 12
DESCENT_ROUNDS = 30
"""Rounds of the dual descent on a small lattice; then product states go on from the best multipliers."""
DESCENT_EDGES = 60_000
"""Edges looked at in a descent on a large one, where there are at least six rounds."""
FIRST_DEPTH = 1.0
"""How far below the bound product states are kept at first."""
DEEPEST = 1e4
"""From this depth on, the floor is the only limit."""
SPREAD = 16.0
"""How far below the bound the dual descent aims at first."""


class Found(NamedTuple):
    """The best path that reaches the floor. Without one `path` is None, and `value` is −inf, or an upper
    bound if the room did not suffice."""

    path: Ints | None  # edges
    value: float
    work: float  # edges looked at
    met: Ints | None = None  # another path, met on the way, that may be good
    multipliers: Floats | None = None  # [R], of all sums of the program: better ones than before

    @property
    def is_exhaustive(self) -> bool:
        return self.path is not None or self.value == -np.inf


class _Product(NamedTuple):
    """What product states are made of."""

    tracked: Tracked
    additions: Additions
    machines: kernel.Machines
    dual: dual_kernel.Dual


class Workspace:
    """Memory for product states that one thread uses again and again."""

    def __init__(self) -> None:
        self.room, self.stamp = -1, 0

    def fit(self, room: int, width: int) -> tuple[kernel.States, kernel.Hashing]:
        """Room for this many product states, which remember `width` numbers each."""
        self.stamp += 1
        if room > self.room:
            self.room = room
            self.integers, self.floats = np.empty((4, room + 1), dtype=np.int64), np.empty((3, room + 1))
            size = 1 << (2 * room + 1).bit_length()
            self.table, self.keys = np.empty((2, size), dtype=np.int64)
            self.stamps = np.zeros(size, dtype=np.int64)
        place, parent, edge, following = (row[: room + 1] for row in self.integers)
        score, bound, cost = (row[: room + 1] for row in self.floats)
        memory = np.empty((room + 1, width), dtype=np.int64)
        states = kernel.States(place, parent, edge, following, score, bound, cost, memory)
        return states, kernel.Hashing(self.table, self.stamps, self.keys)


@dataclass
class LatticeSearch:
    """A search through one lattice.

    floor        the lattice has all labellings of at least this score
    multipliers  of all sums of the program, [R]: the gains of the lattice are shifted by them
    until        when to stop, by time.perf_counter
    """

    lattice: Lattice
    problem: Problem
    primitives: Primitives
    floor: float
    multipliers: Floats
    workspace: Workspace
    until: float = np.inf

    @classmethod
    def of(cls, lattice: Lattice, problem: Problem, floor: float = -np.inf) -> LatticeSearch:
        """A search through all paths of a lattice that no multipliers shift."""
        primitives = Primitives.of(problem.program)
        return cls(lattice, problem, primitives, floor, primitives.no_multipliers, Workspace())

    def best(self, primitives: Sequence[int], known: float = -np.inf, most_states: int = 1_000_000) -> Found:
        """The best path under these primitives, which include all sums that have a multiplier; `known` is a
        score that is reached."""
        lattice = self.lattice
        tracked = self.primitives.select(primitives, lattice.n_tokens)
        additions, machines = self._read(tracked)
        sums, base = tracked.sums, self.multipliers[tracked.settled]
        dual = dual_kernel.Dual(
            base,
            base.copy(),
            np.empty(lattice.n_edges),
            np.empty(lattice.n_nodes),
            np.empty(lattice.n_tokens + 1, dtype=np.int64),
        )
        aims = (self.floor, known, SPREAD)
        rounds = max(6, min(DESCENT_ROUNDS, DESCENT_EDGES // max(1, lattice.n_edges)))
        bound, score, rounds = dual_kernel.descend(
            lattice.graph,
            additions,
            len(tracked.counters),
            sums,
            aims,
            rounds if len(sums.limits) else 1,
            dual,
        )
        work = float(lattice.n_edges * (rounds + 1))
        met = dual.path if score > known else None
        better = self.multipliers.copy()
        better[tracked.settled] = dual.multipliers
        better[self.primitives.ceilings == 0] = 0  # what looks at tokens can be shifted in a lattice only
        if bound < self.floor:
            return Found(None, -np.inf, work, met, better)
        sums_only = not len(tracked.heads)
        if sums_only and score >= bound - rounding(bound):
            return Found(met, bound, work)
        sums.limits[:, MULTIPLIER] = dual.multipliers
        floor = max(self.floor, known, score if sums_only else -np.inf)
        product = _Product(tracked, additions, machines, dual)
        found = self._deepen(product, bound, floor, most_states)
        return found._replace(work=found.work + work, met=met, multipliers=better)

    def _read(self, tracked: Tracked) -> tuple[Additions, kernel.Machines]:
        """What the edges add to the counters, and the automata with the symbols that they read."""
        lattice, problem = self.lattice, self.problem
        arrays, penalties = problem.program.arrays, problem.program.penalties
        masks, token = arrays.counters.masks, problem.first_token
        additions = lattice_kernel.additions(
            lattice.steps, lattice.n_tokens, tracked.counters, tracked.tables, masks, token
        )
        read = np.empty((len(lattice.steps.pair), len(tracked.machines)), dtype=np.int64)
        for m, p in enumerate(tracked.machines.tolist()):
            read[:, m] = lattice.reads(problem, problem.charges[p].primitive)
        machines = kernel.Machines(
            lattice.steps.first,
            read,
            tracked.heads,
            penalties[tracked.machines],
            arrays.automata.arcs,
            arrays.automata.cost,
            self.primitives.least,
        )
        return Additions(*additions), machines

    def _deepen(self, product: _Product, bound: float, floor: float, most_states: int) -> Found:
        """Product states near the bound first, then further and further down to the floor.

        Their number usually doubles with every step down, so that all searches together cost little more
        than the last one; where it does not, the steps get longer.
        """
        depth = step = FIRST_DEPTH
        work = last = 0.0
        while True:
            at = max(floor, bound - depth) if depth < DEEPEST else floor
            found = self._unfold(product, lowered(at), most_states)
            work += found.work
            if found.path is not None or at == floor:
                return found._replace(work=work)
            if not found.is_exhaustive or time.perf_counter() > self.until:
                return found._replace(work=work, value=max(at, found.value))
            step *= 1 if found.work > 1.5 * last else 2 if found.work > last else 8
            depth, last = depth + step, found.work

    def _unfold(self, product: _Product, floor: float, most_states: int) -> Found:
        """Product states down to the floor, in as much room as they need and may take."""
        lattice, room, work = self.lattice, max(1, min(FIRST_ROOM, most_states)), 0
        graph = lattice.graph._replace(gains=product.dual.shifted)
        while True:
            states, hashing = self.workspace.fit(room, product.tracked.width)
            state, last, value, count = kernel.search(
                graph,
                lattice.position,
                product.dual.rest,
                product.additions,
                product.tracked.sums,
                product.machines,
                floor,
                states,
                hashing,
                self.workspace.stamp,
            )
            work += count * (lattice.n_edges // max(1, lattice.n_nodes) + 1)
            if state >= 0:
                path = np.empty(lattice.n_tokens + 1, dtype=np.int64)
                return Found(path[: kernel.walk_back(states, state, last, path)], value, work)
            if state == kernel.NOTHING or room >= most_states:
                return Found(None, value, work)
            room = min(8 * room, most_states)


def lowered(floor: float) -> float:
    """A little less than the floor, so that rounding does not cut off a labelling that reaches it."""
    return floor - rounding(floor) if floor > -np.inf else floor
