"""The part of a chain that labellings of at least a given score pass through, as a graph.

    chain (unary, pairwise, start, end, kind, label_of), ahead[L,S], floor ─→ nodes and edges of the band

Node i stands for a state at a token. Nodes are numbered token by token; the root, before all tokens, is the
source −1, and the sink, after all tokens, has the number of nodes as its own. The edges of source i are
first[i+1] … first[i+2]−1. An edge is kept only if the best labelling through it reaches the floor:

    score of the best prefix + gain + ahead[t,s] ≥ floor

Axes: L tokens, S states, Y labels, B nodes, E edges. Index Y is START and END.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from conseq.kernels.chain import advance_max, both_ways

Array = NDArray[Any]


@njit(nogil=True, cache=True)
def beyond(
    unary: Array, pairwise: Array, end: Array, offsets: Array, kind: Array, chosen: Array, best: Array
) -> None:
    """best[t,s] = the most that labels after token t can add, given state s at t, for the chosen sequences.

    best[L−1,s] = end[s];   best[t,s] = max_j (pairwise[s,j] + unary[t+1,j] + best[t+1,j])

    The rows of the chosen sequences stand end to end in `best`.
    """
    matrix = both_ways(pairwise)
    kinds, width, size = len(pairwise), matrix.shape[1], len(end)
    gain = np.empty(width)
    row = np.empty((1, width))
    for j in range(size, width):
        gain[j] = -np.inf
    last = 0
    for n in chosen:
        a, b = offsets[n], offsets[n + 1]
        last += b - a
        for t in range(b - 1, a - 1, -1):
            out = last - (b - t)
            if t == b - 1:
                for s in range(size):
                    best[out, s] = end[s]
                continue
            for j in range(size):
                gain[j] = unary[t + 1, j] + best[out + 1, j]
            advance_max(gain, matrix, kinds + (kind[t + 1] if kind.size else 0), row, 0)
            for s in range(size):
                best[out, s] = row[0, s]


@njit(nogil=True, cache=True)
def cut(
    chain: tuple[Array, Array, Array, Array, Array, Array],
    ahead: Array,
    floor: float,
    size: int,
    levels: Array,
    states: Array,
    first: Array,
    targets: Array,
    gains: Array,
    steps: Array,
) -> int:
    """Fill in the band of one sequence of at least one token; the number of edges, −1 if there is no room.

    levels[L+1]   where the nodes of each token begin
    steps[E]      the step of an edge as before · size + label, size = Y + 1
    """
    unary, pairwise, start, end, kind, label_of = chain
    length, outside = len(unary), size - 1
    scores = np.empty(len(states))
    place = np.empty(len(start), dtype=np.int64)
    n_nodes, n_edges = 0, 0
    levels[0] = 0
    first[0] = 0
    for t in range(length):
        c = kind[t] if kind.size else 0
        for s in range(len(start)):
            place[s] = -1
        for source in range(levels[t - 1] if t > 0 else -1, levels[t] if t > 0 else 0):
            if n_edges + len(start) > len(targets) or n_nodes + len(start) > len(states):
                return -1
            score = scores[source] if t > 0 else 0.0
            before = label_of[states[source]] if t > 0 else outside
            for s in range(len(start)):
                gain = (pairwise[c, states[source], s] if t > 0 else start[s]) + unary[t, s]
                reach = score + gain + ahead[t, s]
                if reach < floor or reach == -np.inf:
                    continue
                if place[s] < 0:
                    place[s] = n_nodes
                    states[n_nodes], scores[n_nodes] = s, -np.inf
                    n_nodes += 1
                node = place[s]
                scores[node] = max(scores[node], score + gain)
                targets[n_edges], gains[n_edges], steps[n_edges] = node, gain, before * size + label_of[s]
                n_edges += 1
            first[source + 2] = n_edges
        levels[t + 1] = n_nodes
    for node in range(levels[length - 1], n_nodes):
        if n_edges == len(targets):
            return -1
        targets[n_edges], gains[n_edges] = n_nodes, end[states[node]]
        steps[n_edges] = label_of[states[node]] * size + outside
        n_edges += 1
        first[node + 2] = n_edges
    return n_edges


@njit(nogil=True, cache=True)
def complete(first: Array, targets: Array, gains: Array, n_nodes: int, rest: Array, following: Array) -> None:
    """rest[i+1] = the most that can be gained from source i on, following[i+1] = the edge to take for it.

    rest[n_nodes+1] = 0 for the sink; a source with no way to the sink has −inf and −1.
    """
    rest[n_nodes + 1] = 0.0
    for source in range(n_nodes - 1, -2, -1):
        best, edge = -np.inf, -1
        for e in range(first[source + 1], first[source + 2]):
            value = gains[e] + rest[targets[e] + 1]
            if value > best:
                best, edge = value, e
        rest[source + 1], following[source + 1] = best, edge


@njit(nogil=True, cache=True)
def additions(
    levels: Array,
    first: Array,
    steps: Array,
    n_nodes: int,
    counters: Array,
    tables: Array,
    masks: Array,
    token: int,
) -> tuple[Array, Array]:
    """What the edges add to the counters: begins[E+1], added[·,2] (counter, amount), edge after edge.

    counters[r] = row of tables, row of masks or −1; `token` is the place of the first token in the masks.
    """
    length = len(levels) - 1
    begins = np.zeros(len(steps) + 1, dtype=np.int64)
    added = np.empty((4 * len(steps) + 16, 2), dtype=np.int64)
    t, n = 0, 0
    for source in range(-1, n_nodes):
        while t < length and source >= levels[t]:
            t += 1
        for e in range(first[source + 1], first[source + 2]):
            if n + len(counters) > len(added):
                more = np.empty((2 * len(added) + len(counters), 2), dtype=np.int64)
                more[:n] = added[:n]
                added = more
            for r in range(len(counters)):
                amount = tables[counters[r, 0], steps[e]]
                mask = counters[r, 1]
                if amount != 0 and (mask < 0 or (t < length and masks[mask, token + t])):
                    added[n, 0], added[n, 1] = r, amount
                    n += 1
            begins[e + 1] = n
    return begins, added[:n]


@njit(nogil=True, cache=True)
def symbols(
    levels: Array,
    first: Array,
    steps: Array,
    n_nodes: int,
    heads: Array,
    classes: Array,
    alphabet: Array,
    n_steps: int,
    token: int,
    read: Array,
) -> None:
    """read[e,m] = the symbol that automaton m reads on edge e.

    heads[m] = row of classes or −1, where its symbols begin in `alphabet`, …; n_steps = (Y+1)².
    """
    length = len(levels) - 1
    t = 0
    for source in range(-1, n_nodes):
        while t < length and source >= levels[t]:
            t += 1
        for e in range(first[source + 1], first[source + 2]):
            for m in range(len(heads)):
                k = classes[heads[m, 0], token + t] if t < length and heads[m, 0] >= 0 else 0
                read[e, m] = alphabet[heads[m, 1] + k * n_steps + steps[e]]
