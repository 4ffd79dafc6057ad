"""The best path of a lattice under some primitives, among those that reach a floor.

    lattice, primitives ─→ dual descent (multipliers) ─→ product states near the bound ─→ Found

The kernels do the work (`kernels/lattice_dual.py`, `product_search.py`); here they get their arrays, and
more room when they need some.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from conseq.decoders.base import NO_LIMITS, Limits
from conseq.decoders.lattice.lattice import Lattice
from conseq.decoders.lattice.reader import MOST_CELLS
from conseq.decoders.lattice.tracked import Primitives
from conseq.dtypes import Floats, Ints
from conseq.kernels import clock
from conseq.kernels import product_search as kernel
from conseq.kernels.lattice import added
from conseq.kernels.lattice_dual import MULTIPLIER, Dual, descend
from conseq.kernels.rounding import rounding
from conseq.problem import Problem

FIRST_ROOM = 1 << 12
DESCENT_ROUNDS = 30
"""Rounds of the dual descent on a small lattice; then product states go on from the best multipliers."""
DESCENT_EDGES = 60_000
"""Edges looked at in a descent on a large one, where there are at least six rounds."""
FIRST_DEPTH = 1.0
"""How far below the bound product states are kept at first."""
DEEPEST = 1e4
"""From this depth on, the floor is the only limit."""
STATE = 160
"""Bytes for a product state and its place in a table, without what it remembers."""
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


@dataclass
class LatticeSearch:
    """A search through one lattice.

    multipliers  of all sums of the program, [R]: the gains of the lattice are shifted by them
    floor        the lattice has all labellings of at least this score
    until        when to stop, by clock.now
    """

    lattice: Lattice
    problem: Problem
    multipliers: Floats
    floor: float = -np.inf
    until: float = np.inf

    def best(self, primitives: Sequence[int], known: float = -np.inf, limits: Limits = NO_LIMITS) -> Found:
        """The best path under these primitives, which include all sums that have a multiplier; `known` is a
        score that is reached."""
        lattice, every = self.lattice, Primitives.of(self.problem.program)
        tracked = every.select(primitives, lattice.n_tokens)
        cells = min(MOST_CELLS, limits.room(8))
        if lattice.n_edges * tracked.width > cells or clock.now() > self.until:
            return Found(None, np.inf, 0.0)
        sums, counters = tracked.sums, self.problem.program.arrays.counters
        amounts = added(lattice.steps, lattice.n_tokens, counters, tracked.totals, self.problem.first_token)
        rounds = max(6, min(DESCENT_ROUNDS, DESCENT_EDGES // max(1, lattice.n_edges)))
        left = descend(
            lattice.graph,
            amounts,
            sums,
            self.multipliers[tracked.settled],
            (self.floor, known, SPREAD),
            rounds if len(sums.limits) else 1,
            lattice.n_tokens,
        )
        dual = Dual(*left)
        bound, score, work = dual.bound, dual.score, float(lattice.n_edges * (dual.rounds + 1))
        met = dual.path if score > known else None
        better = self.multipliers.copy()
        better[tracked.settled] = dual.multipliers
        better[every.ceilings == 0] = 0  # what looks at tokens can be shifted in a lattice only
        if bound < self.floor:
            return Found(None, -np.inf, work, met, better)
        sums_only = not len(tracked.machines)
        if sums_only and score >= bound - rounding(bound):
            return Found(met, bound, work)
        sums.limits[:, MULTIPLIER] = dual.multipliers
        floor = max(self.floor, known, score if sums_only else -np.inf)
        most_states = int(min(limits.states, limits.room(STATE + 8 * tracked.width, 0.5)))
        graph, machines = lattice.graph._replace(gains=dual.shifted), self._machines(every, tracked.machines)
        search = partial(kernel.search, graph, lattice.position, dual.rest, amounts, sums, machines)
        found = self._deepen(partial(self._unfold, search, tracked.width, most_states), bound, floor)
        return found._replace(work=found.work + work, met=met, multipliers=better)

    def _machines(self, every: Primitives, chosen: Ints) -> kernel.Machines:
        """The automata with the symbols that they read."""
        program, steps = self.problem.program, self.lattice.steps
        read = np.empty((len(steps.pair), len(chosen)), dtype=np.int64)
        for m, p in enumerate(chosen.tolist()):
            read[:, m] = self.lattice.reads(self.problem, program.charges[p].primitive)
        heads, penalties = every.heads[chosen - program.n_linear], program.penalties[chosen]
        automata = program.arrays.automata
        return kernel.Machines(steps.first, read, heads, penalties, automata.arcs, automata.cost, every.least)

    def _deepen(self, unfold: Callable[[float], Found], bound: float, floor: float) -> Found:
        """Product states near the bound first, then further and further down to the floor.

        Their number usually doubles with every step down, so that all searches together cost little more
        than the last one; where it does not, the steps get longer.
        """
        depth = step = FIRST_DEPTH
        work = last = 0.0
        while True:
            at = max(floor, bound - depth) if depth < DEEPEST else floor
            found = unfold(lowered(at))
            work += found.work
            if found.path is not None or at == floor:
                return found._replace(work=work)
            if not found.is_exhaustive or clock.now() > self.until:
                return found._replace(work=work, value=max(at, found.value))
            step *= 1 if found.work > 1.5 * last else 2 if found.work > last else 8
            depth, last = depth + step, found.work

    def _unfold(
        self, search: Callable[..., tuple[Ints, float, int]], width: int, most_states: int, floor: float
    ) -> Found:
        """Product states down to the floor, in as much room as they need and may take."""
        lattice, room, work = self.lattice, max(1, min(FIRST_ROOM, most_states)), 0
        while True:
            begun = clock.now()
            place, parent, edge, following = np.empty((4, room + 1), dtype=np.int64)
            score, highest, cost = np.empty((3, room + 1))
            memory = np.empty((room + 1, width), dtype=np.int64)
            states = kernel.States(place, parent, edge, following, score, highest, cost, memory)
            path, value, count = search(
                floor, states, np.zeros(1 << (2 * room + 1).bit_length(), dtype=np.int64)
            )
            work += count * (lattice.n_edges // max(1, lattice.n_nodes) + 1)
            if len(path):
                return Found(path, value, work)
            now = clock.now()
            growth = min(8.0, (self.until - now) / max(1e-9, now - begun))  # the time grows with the room
            if value == -np.inf or room >= most_states or growth < 2:
                return Found(None, value, work)
            room = min(int(growth * room), most_states)


def lowered(floor: float) -> float:
    """A little less than the floor, so that rounding does not cut off a labelling that reaches it."""
    return floor - rounding(floor) if floor > -np.inf else floor
