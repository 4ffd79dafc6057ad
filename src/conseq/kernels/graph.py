"""Labellings as ways through a graph: the chain as a graph, its best ways, and sums over all ways.

    chain (unary, pairwise, start, end, kind), floor ─→ graph (levels, first, targets, gains)   (`unroll`)
    graph, n ─→ the edges of the n best ways                                                    (`best_ways`)
    graph    ─→ shares[E], log Z ─→ probabilities of nodes and of passages                      (`shares_of`)

Level 0 is the root, level t+1 the nodes of token t, level L+1 the sink. Nodes are numbered level by level;
those of level k are levels[k] … levels[k+1]−1. The edges of node i are first[i] … first[i+1]−1, and all lead
to the next level.

Axes: L tokens, S states, B nodes, E edges, n ranks.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[Any]
Graph = tuple[Array, Array, Array, Array]
Chain = tuple[Array, Array, Array, Array, Array]


# ── the chain as a graph ────────────────────────────────────────────────────────────────────────


@njit(nogil=True, cache=True)
def prefixes(chain: Chain) -> Array:
    """best[t,s] = the best score of tokens 0 … t with state s at t, [L,S]."""
    unary, pairwise, start, _, kind = chain
    length, size = unary.shape
    best = np.empty((length, size))
    for t in range(length):
        c = kind[t] if kind.size else 0
        for s in range(size):
            most = start[s] if t == 0 else -np.inf
            if t > 0:
                for r in range(size):
                    most = max(most, best[t - 1, r] + pairwise[c, r, s])
            best[t, s] = most + unary[t, s]
    return best


@njit(nogil=True, cache=True)
def suffixes(chain: Chain) -> Array:
    """best[t,s] = the most that what follows state s at token t can add, [L,S]."""
    unary, pairwise, _, end, kind = chain
    length, size = unary.shape
    best = np.empty((length, size))
    best[length - 1] = end
    for t in range(length - 2, -1, -1):
        c = kind[t + 1] if kind.size else 0
        for s in range(size):
            most = -np.inf
            for r in range(size):
                most = max(most, pairwise[c, s, r] + unary[t + 1, r] + best[t + 1, r])
            best[t, s] = most
    return best


@njit(nogil=True, cache=True)
def unroll(chain: Chain, floor: float, most_edges: int) -> tuple[Array, Array, Array, Array, Array]:
    """The graph of one sequence of at least one token, and the state of each node (−1 for root and sink).

    An edge is kept if the best labelling through it is feasible and reaches the floor. Where that makes more
    than `most_edges`, they are only counted.
    """
    length, size = chain[0].shape
    before, after = prefixes(chain), suffixes(chain)
    levels, place = np.empty(length + 3, dtype=np.int64), np.full((length, size), -1)
    states = np.full(length * size + 2, -1, dtype=np.int32)
    levels[0], levels[1] = 0, 1
    count = 1
    for t in range(length):
        for s in range(size):
            through = before[t, s] + after[t, s]
            if through >= floor and through > -np.inf:
                place[t, s], states[count] = count, s
                count += 1
        levels[t + 2] = count
    levels[length + 2] = count + 1
    first = np.zeros(count + 2, dtype=np.int64)
    connect(chain, levels, states, place, before, after, floor, first, np.empty(0, np.int64), np.empty(0))
    room = first[-1] if first[-1] <= most_edges else 0
    targets, gains = np.empty(room, dtype=np.int64), np.empty(room)
    if room:
        connect(chain, levels, states, place, before, after, floor, first, targets, gains)
    return levels, first, targets, gains, states[: count + 1]


@njit(nogil=True, cache=True)
def connect(
    chain: Chain,
    levels: Array,
    states: Array,
    place: Array,
    before: Array,
    after: Array,
    floor: float,
    first: Array,
    targets: Array,
    gains: Array,
) -> None:
    """Fill in `first`, and if there is room for them targets and gains."""
    unary, pairwise, start, end, kind = chain
    length, size = unary.shape
    n, sink = 0, levels[-2]
    for level in range(length + 1):
        c = kind[level] if level < length and kind.size else 0
        for node in range(levels[level], levels[level + 1]):
            score = before[level - 1, states[node]] if level > 0 else 0.0
            for s in range(size if level < length else 1):
                if level == length:
                    target, gain, rest = sink, end[states[node]], 0.0
                else:
                    step = pairwise[c, states[node], s] if level > 0 else start[s]
                    target, gain, rest = place[level, s], step + unary[level, s], after[level, s]
                reach = score + gain + rest
                if target < 0 or reach < floor or reach == -np.inf:
                    continue
                if len(targets):
                    targets[n], gains[n] = target, gain
                n += 1
            first[node + 1] = n
    first[sink + 1] = n


# ── best ways ───────────────────────────────────────────────────────────────────────────────────


@njit(nogil=True, cache=True)
def completions(graph: Graph, rest: Array, following: Array) -> None:
    """rest[B] = the most that can be gained from each node on, following[B] = the edge to take for it."""
    _, first, targets, gains = graph
    last = len(rest) - 1
    rest[last], following[last] = 0.0, -1
    for node in range(last - 1, -1, -1):
        best, edge = -np.inf, -1
        for e in range(first[node], first[node + 1]):
            value = gains[e] + rest[targets[e]]
            if value > best:
                best, edge = value, e
        rest[node], following[node] = best, edge


@njit(nogil=True, cache=True)
def shrink(values: Array, origins: Array, count: int, wanted: int) -> int:
    """Keep the `wanted` best of the first `count` candidates, in any order; how many there are then."""
    if count <= wanted:
        return count
    border = np.partition(values[:count], count - wanted)[count - wanted]
    above = 0
    for i in range(count):
        above += values[i] > border
    equal, kept = wanted - above, 0
    for i in range(count):
        if values[i] > border or (values[i] == border and equal > 0):
            equal -= values[i] == border
            values[kept] = values[i]
            origins[kept] = origins[i]
            kept += 1
    return kept


@njit(nogil=True, cache=True)
def best_ways(graph: Graph, rest: Array, following: Array, ways: Array, scores: Array) -> int:
    """Fill ways[n,L+1] (edges) and scores[n], best first, and return how many ways there were (at most n).

    A way is another one up to some place, then a different edge, then the best completion. So the next best
    way is always among the candidates (way, place, edge) that branch off a way found before, at a place after
    the one where that branched off itself:

        score = score of the way − rest[node] + gain of the edge + rest[its target]
    """
    _, first, targets, gains = graph
    n, steps = ways.shape
    room = 4 * n + 1024
    values, origins = np.empty(room), np.empty((room, 3), dtype=np.int64)
    values[0] = rest[0]
    origins[0] = -1
    count = 1 if rest[0] > -np.inf else 0
    found = 0
    while found < n and count > 0:
        top = 0
        for i in range(1, count):
            if values[i] > values[top]:
                top = i
        scores[found] = values[top]
        parent, place, edge = origins[top]
        count -= 1
        values[top] = values[count]
        origins[top] = origins[count]
        for k in range(place):
            ways[found, k] = ways[parent, k]
        node = 0
        if parent >= 0:
            ways[found, place] = edge
            node = targets[edge]
        for k in range(place + 1, steps):
            best = following[node]
            for e in range(first[node], first[node + 1]):
                value = scores[found] - rest[node] + gains[e] + rest[targets[e]]
                if e == best or value == -np.inf:
                    continue
                if count == room:
                    count = shrink(values, origins, count, n - found)
                values[count] = value
                origins[count, 0], origins[count, 1], origins[count, 2] = found, k, e
                count += 1
            ways[found, k] = best
            node = targets[best]
        found += 1
    return found


# ── sums over all ways ──────────────────────────────────────────────────────────────────────────


@njit(nogil=True, cache=True)
def shares_of(graph: Graph, shares: Array) -> float:
    """shares[e] = p(edge e | the way comes to its source) under p ∝ exp(sum of gains); returns log Z.

        Z[sink] = 1;   Z[i] = Σ_e exp(gain_e) · Z[target_e];   share_e = exp(gain_e) · Z[target_e] / Z[i]

    The logarithms of Z are kept with the maximum of each level at 0, so long sequences lose no digits.
    """
    levels, first, targets, gains = graph
    log_z = np.zeros(len(first) - 1)
    total = 0.0
    for level in range(len(levels) - 3, -1, -1):
        highest = -np.inf
        for node in range(levels[level], levels[level + 1]):
            log_z[node] = normalised(first[node], first[node + 1], targets, gains, log_z, shares)
            highest = max(highest, log_z[node])
        if highest == -np.inf:
            return highest
        for node in range(levels[level], levels[level + 1]):
            log_z[node] -= highest
        total += highest
    return total


@njit(nogil=True, cache=True)
def normalised(a: int, b: int, targets: Array, gains: Array, log_z: Array, shares: Array) -> float:
    """Fill in the shares of the edges a … b−1 of one node; the logarithm of what they add up to before."""
    highest, total = -np.inf, 0.0
    for e in range(a, b):
        highest = max(highest, gains[e] + log_z[targets[e]])
    if highest == -np.inf:
        shares[a:b] = 0.0
        return highest
    for e in range(a, b):
        shares[e] = math.exp(gains[e] + log_z[targets[e]] - highest)
        total += shares[e]
    for e in range(a, b):
        shares[e] /= total
    return highest + math.log(total)


@njit(nogil=True, cache=True)
def node_probabilities(graph: Graph, shares: Array, probability: Array) -> None:
    """probability[B] = p(the way passes the node), from the shares of the edges."""
    _, first, targets, _ = graph
    probability[:] = 0.0
    probability[0] = 1.0
    for node in range(len(probability)):
        for e in range(first[node], first[node + 1]):
            probability[targets[e]] += probability[node] * shares[e]


@njit(nogil=True, cache=True)
def passage(
    graph: Graph, states: Array, shares: Array, probability: Array, token: int, masks: Array
) -> float:
    """p(the way passes a state of masks[k] at token + k, for all k), masks[M,S] with M ≥ 1."""
    levels, first, targets, _ = graph
    a, b = levels[token + 1], levels[token + 2]
    here = np.zeros(b - a)
    for node in range(a, b):
        if masks[0, states[node]]:
            here[node - a] = probability[node]
    for k in range(1, len(masks)):
        c = levels[token + k + 2]
        there = np.zeros(c - b)
        for node in range(a, b):
            if here[node - a] > 0:
                for e in range(first[node], first[node + 1]):
                    if masks[k, states[targets[e]]]:
                        there[targets[e] - b] += here[node - a] * shares[e]
        a, b, here = b, c, there
    return float(here.sum())
