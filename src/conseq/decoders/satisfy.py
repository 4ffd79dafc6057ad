"""Any labelling that breaks no hard rule, whatever its score: depth-first search that visits no node twice.

    Trellis, Readers of hard rules ─→ Tables ─→ satisfy ─→ states, or that there are none

A node is a state of the chain after some token with the states of all automata. It is left at once if one of
the automata by itself cannot come to an end from there (`Reader.least` is inf).

Axes: T tokens, E edges, M automata, R = Σ Q states of all automata one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from conseq.decoders.fronts import Reader
from conseq.decoders.trellis import Trellis
from conseq.errors import ConseqError

Ints = NDArray[np.int64]


class Undecided(ConseqError):
    """Whether rules can hold together was not found out within the limits."""


def satisfy(trellis: Trellis, readers: list[Reader], most_nodes: int) -> NDArray[np.int32] | None:
    """A path through the trellis that no reader charges inf for, [T]; None if there is none.

    Raises `Undecided` after so many nodes.
    """
    if len(trellis) == 0 or any(reader.least[0][-1, reader.start] == np.inf for reader in readers):
        return None
    return _search(Tables.of(trellis, readers), most_nodes)


@dataclass(frozen=True, eq=False)
class Tables:
    """What the automata do on each edge, by step."""

    trellis: Trellis
    first: list[Ints]  # T+1 times [S+2], where the edges out of each state begin within the step
    passes: list[NDArray[np.bool_]]  # T+1 times [R,E of the step], whether an automaton can go on from there
    following: list[Ints]  # T+1 times [R,E of the step], the state it is in then, as a row
    start: Ints  # [M], the rows of the first states

    @classmethod
    def of(cls, trellis: Trellis, readers: list[Reader]) -> Tables:
        rows = np.cumsum([0, *(len(reader.next) for reader in readers)])
        first, passes, following = [], [], []
        for t in range(trellis.n_tokens + 1):
            a, b = int(trellis.offsets[t]), int(trellis.offsets[t + 1])
            first.append(np.searchsorted(trellis.before[a:b], np.arange(trellis.n_states + 2)))
            after, goes, comes = trellis.after[a:b], [np.ones((0, b - a), dtype=bool)], [np.zeros((0, b - a))]
            for row, reader in zip(rows.tolist(), readers, strict=False):
                read = reader.symbols[a:b]
                states = reader.next[:, read]
                goes.append(reader.charged[:, read] + reader.least[t + 1][after, states] < np.inf)
                comes.append(states + row)
            passes.append(np.concatenate(goes))
            following.append(np.concatenate(comes).astype(np.int64))
        starts = [row + reader.start for row, reader in zip(rows.tolist(), readers, strict=False)]
        return cls(trellis, first, passes, following, np.array(starts, dtype=np.int64))

    def ways(self, t: int, state: int, memory: Ints) -> Ints:
        """The edges of step t (numbered within it) that every automaton passes; staying comes last."""
        a, b = self.first[t][state], self.first[t][state + 1]
        ways = a + np.flatnonzero(self.passes[t][memory, a:b].all(axis=0))
        stays = self.after(t, ways) == state
        return np.concatenate([ways[~stays], ways[stays]])

    def after(self, t: int, ways: Ints) -> Ints:
        return self.trellis.after[self.trellis.offsets[t] + ways]


def _search(tables: Tables, most_nodes: int) -> NDArray[np.int32] | None:
    length, outside = tables.trellis.n_tokens, tables.trellis.n_states
    path = np.empty(length + 1, dtype=np.int32)
    stack = [(-1, outside, tables.start)]  # the step that led there, the state, the automata
    seen: set[tuple[int, int, bytes]] = set()
    while stack:
        t, state, memory = stack.pop()
        key = (t, state, memory.tobytes())
        if key in seen:
            continue
        seen.add(key)
        if len(seen) > most_nodes:
            raise Undecided(f"no labelling was found among {most_nodes:,} nodes; raise the limits")
        if t >= 0:
            path[t] = state  # the stack is in depth-first order, so what stands before it is its way
        if t == length:
            return path[:-1]
        ways = tables.ways(t + 1, state, memory)
        for way, after in zip(ways.tolist(), tables.after(t + 1, ways).tolist(), strict=True):
            stack.append((t + 1, after, tables.following[t + 1][memory, way]))
    return None
