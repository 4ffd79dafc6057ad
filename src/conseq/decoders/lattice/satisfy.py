"""Any labelling that breaks no hard rule, whatever its score: depth-first search that visits no node twice.

    Lattice, Readers of hard rules ─→ satisfy ─→ states, or that there are none

A node is one of the lattice with the states of all automata. It is left at once if one of the automata by
itself cannot come to an end from there (its minimum remaining cost is inf).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from conseq.decoders.lattice.lattice import Lattice, Reader
from conseq.errors import ConseqError


class Undecided(ConseqError):
    """Whether rules can hold together was not found out within the limits."""


def satisfy(lattice: Lattice, readers: Sequence[Reader], most_nodes: int) -> NDArray[np.int32] | None:
    """The states of a path that no reader charges inf for, [L]; None if there is none.

    Raises `Undecided` after this many nodes.
    """
    if lattice.is_empty or any(reader.minimum_remaining[0, reader.start] == np.inf for reader in readers):
        return None
    path: list[int] = []
    stack = [(0, -1, 0, tuple(reader.start for reader in readers))]  # depth, edge, node, automata
    seen: set[tuple[int, tuple[int, ...]]] = set()
    while stack:
        depth, edge, node, memory = stack.pop()
        path[max(0, depth - 1) :] = [edge][
            : min(1, depth)
        ]  # the order is depth first: what is before it led here
        if (node, memory) in seen:
            continue
        seen.add((node, memory))
        if node == lattice.n_nodes - 1:
            return lattice.states_of(np.array(path))
        if len(seen) > most_nodes:
            raise Undecided(f"no labelling was found among {most_nodes:,} nodes; raise the limits")
        stack += [(depth + 1, *step) for step in _steps(lattice, readers, node, memory)]
    return None


def _steps(
    lattice: Lattice, readers: Sequence[Reader], node: int, memory: tuple[int, ...]
) -> list[tuple[int, int, tuple[int, ...]]]:
    """The edges from a node that every automaton passes, with where they lead; those that stay in the same
    label come last, so that they are tried first."""
    a, b = lattice.graph.first[node : node + 2].tolist()
    edges = np.arange(a, b)
    targets, passes = lattice.graph.targets[a:b], np.ones(b - a, dtype=bool)
    columns = []
    for reader, state in zip(readers, memory, strict=True):
        after, charged = reader.over(np.full(b - a, state), edges)
        passes &= charged + reader.minimum_remaining[targets, after] < np.inf
        columns.append(after)
    pair = lattice.steps.pair[lattice.steps.first[a:b]]
    stays = pair // (lattice.n_labels + 1) == pair % (lattice.n_labels + 1)
    order = np.concatenate([np.flatnonzero(passes & ~stays), np.flatnonzero(passes & stays)])
    states = np.array(columns, dtype=np.int64).reshape(len(columns), b - a)[:, order].T.tolist()
    return [
        (a + i, target, tuple(after))
        for i, target, after in zip(order.tolist(), targets[order].tolist(), states, strict=True)
    ]
