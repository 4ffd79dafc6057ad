"""A graph read by an automaton: the product of both, as small as it can be, as a graph again.

    graph, read[E], automaton ─→ explore (pairs of node and state) ─→ merge (pairs with one future) ─→ rebuild

Graphs are those of `graph.py`. Two states of the automaton at the same node are merged if from there on the
same edges are charged the same, up to a constant that is charged beforehand; pairs from which the sink cannot
be reached vanish. So an automaton that cannot tell the ways of the graph apart leaves the graph as it was.

    charge of an edge = price · weight[q, symbol];    weight = inf: the edge must not be taken in this state
    owed[i] = the least weight that pair i still has to pay; what is charged on an edge from i to j is
        weight + owed[j] − owed[i]

An automaton is (arcs[Q,A], weight[Q,A], start, price). Axes: B nodes, E edges, I pairs, Q states, A symbols.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[Any]
Graph = tuple[Array, Array, Array, Array]
Automaton = tuple[Array, Array, int, float]
Pairs = tuple[Array, Array, Array]  # begins[B+1], memory[I] (states), reached[I] (best scores up to there)
Reading = tuple[Array, Array, Array, Array, Array, Array, Array]
"""targets, read, arcs, weight, table (see `enter`), same, owed"""

SAME = 1e-12
"""Weights that differ by no more are the same."""


@njit(nogil=True, cache=True)
def explore(graph: Graph, rest: Array, read: Array, automaton: Automaton, floor: float, pairs: Pairs) -> int:
    """Fill in the pairs that a way of at least `floor` may come to; their number, −1 if there is no room.

    rest[B] is the most that the graph can add after each node, without this automaton.
    """
    levels, first, targets, gains = graph
    arcs, weight, start, price = automaton
    begins, memory, reached = pairs
    begins[0], begins[1], memory[0], reached[0] = 0, 1, start, 0.0
    count, size = 1, len(arcs)
    best = np.full((widest(levels), size), -np.inf)
    for level in range(len(levels) - 2):
        a, b, c = levels[level], levels[level + 1], levels[level + 2]
        low, high = size, -1
        for node in range(a, b):
            for i in range(begins[node], begins[node + 1]):
                for e in range(first[node], first[node + 1]):
                    score = reached[i] + gains[e] - price * weight[memory[i], read[e]]
                    total = score + rest[targets[e]]
                    if total < floor or total == -np.inf:
                        continue
                    q, there = arcs[memory[i], read[e]], targets[e] - b
                    best[there, q] = max(best[there, q], score)
                    low, high = min(low, q), max(high, q)
        for node in range(b, c):
            for q in range(low, high + 1):
                if best[node - b, q] > -np.inf:
                    if count == len(memory):
                        return -1
                    memory[count], reached[count] = q, best[node - b, q]
                    best[node - b, q] = -np.inf
                    count += 1
            begins[node + 1] = count
    return count


@njit(nogil=True, cache=True)
def widest(levels: Array) -> int:
    """The most nodes of a level."""
    most = 0
    for k in range(len(levels) - 1):
        most = max(most, levels[k + 1] - levels[k])
    return most


@njit(nogil=True, cache=True)
def enter(levels: Array, level: int, pairs: Pairs, present: bool, table: Array) -> None:
    """table[node of the level, q] = the number of the pair; or −1 again if not `present`."""
    begins, memory, _ = pairs
    for node in range(levels[level], levels[level + 1]):
        for i in range(begins[node], begins[node + 1]):
            table[node - levels[level], memory[i]] = i if present else -1


@njit(nogil=True, cache=True)
def look(q: int, a: int, b: int, base: int, reading: Reading, k: int, leads: Array, weights: Array) -> None:
    """Fill in row k for state q at a node with the edges a … b−1: the pair (as merged) that each leads to, or
    −1, and its weight with what is owed there. `base` is the first node of the level they lead to.
    """
    targets, read, arcs, weight, table, same, owed = reading
    for e in range(a, b):
        leads[k, e - a], weights[k, e - a] = -1, 0.0
        w = weight[q, read[e]]
        if w < np.inf:
            j = table[targets[e] - base, arcs[q, read[e]]]
            if j >= 0 and same[j] >= 0:
                leads[k, e - a], weights[k, e - a] = same[j], w + owed[j]


@njit(nogil=True, cache=True)
def rows_for(first: Array, begins: Array) -> tuple[Array, Array]:
    """Room for what `look` finds, for all pairs of any node."""
    degree, most = 0, 0
    for node in range(len(first) - 1):
        degree = max(degree, first[node + 1] - first[node])
        most = max(most, begins[node + 1] - begins[node])
    return np.empty((most, degree), dtype=np.int64), np.empty((most, degree))


@njit(nogil=True, cache=True)
def merge(
    graph: Graph, read: Array, automaton: Automaton, floor: float, pairs: Pairs, same: Array, owed: Array
) -> None:
    """same[I] = the first pair of the same node and future, −1 for a pair that leads nowhere; owed[I]."""
    levels, first, targets, gains = graph
    arcs, weight, _, price = automaton
    begins, memory, reached = pairs
    table = np.full((widest(levels), len(arcs)), -1)
    reading = (targets, read, arcs, weight, table, same, owed)
    leads, weights = rows_for(first, begins)
    best, marks = np.empty(len(same)), np.zeros(len(leads), dtype=np.int64)
    sink = levels[-2]
    for i in range(begins[sink], begins[sink + 1]):
        same[i], owed[i], best[i] = begins[sink], 0.0, 0.0
    for level in range(len(levels) - 3, -1, -1):
        base = levels[level + 1]
        enter(levels, level + 1, pairs, True, table)
        for node in range(levels[level], base):
            a, b, begin = first[node], first[node + 1], begins[node]
            for i in range(begin, begins[node + 1]):
                look(memory[i], a, b, base, reading, i - begin, leads, weights)
                least, most = np.inf, -np.inf
                for e in range(a, b):
                    j, w = leads[i - begin, e - a], weights[i - begin, e - a]
                    if j >= 0:
                        least, most = min(least, w), max(most, gains[e] - price * w + best[j])
                same[i], owed[i] = -1, 0.0
                if most > -np.inf and reached[i] + most >= floor:
                    owed[i] = least if node > 0 else 0.0  # the root has no edge before it to charge it on
                    best[i] = most + price * owed[i]
                    same[i] = begin + twin_of(i - begin, b - a, owed[i], leads, weights, marks, same, begin)
        enter(levels, level + 1, pairs, False, table)


@njit(nogil=True, cache=True)
def twin_of(
    k: int, degree: int, owed: float, leads: Array, weights: Array, marks: Array, same: Array, begin: int
) -> int:
    """The first pair of the node with the same future as its k-th, or k itself; takes what is owed off row k.

    marks[k] is a number that rows which differ seldom share.
    """
    mark = 7
    for d in range(degree):
        weights[k, d] = weights[k, d] - owed if leads[k, d] >= 0 else 0.0
        mark = (mark * 65599 + leads[k, d] * 31 + np.int64(np.rint(weights[k, d] * 1024))) & 0x3FFFFFFFFFFF
    marks[k] = mark
    for h in range(k):
        if same[begin + h] != begin + h or marks[h] != mark:
            continue
        equal = True
        for d in range(degree):
            if leads[h, d] != leads[k, d] or abs(weights[h, d] - weights[k, d]) > SAME:
                equal = False
                break
        if equal:
            return h
    return k


@njit(nogil=True, cache=True)
def number_pairs(levels: Array, pairs: Pairs, same: Array, number: Array, new_levels: Array) -> int:
    """number[I] = the new node of each pair that stays, −1 for the others; how many stay."""
    begins = pairs[0]
    count = 0
    for level in range(len(levels) - 1):
        for i in range(begins[levels[level]], begins[levels[level + 1]]):
            number[i] = -1
            if same[i] == i:
                number[i] = count
                count += 1
        new_levels[level + 1] = count
    return count


@njit(nogil=True, cache=True)
def rebuild(
    graph: Graph, read: Array, automaton: Automaton, pairs: Pairs, same: Array, owed: Array
) -> tuple[Array, Array, Array, Array, Array]:
    """The product: levels, first, targets, gains, and the node of the old graph behind each new one."""
    levels, first, targets, gains = graph
    arcs, weight, _, price = automaton
    begins, memory, _ = pairs
    number, new_levels = np.empty(len(same), dtype=np.int64), np.zeros(len(levels), dtype=np.int64)
    count, n_edges, n = number_pairs(levels, pairs, same, number, new_levels), 0, 0
    for node in range(len(first) - 1):
        for i in range(begins[node], begins[node + 1]):
            n_edges += first[node + 1] - first[node] if number[i] >= 0 else 0
    nodes, new_first = np.empty(count, dtype=np.int64), np.zeros(count + 1, dtype=np.int64)
    new_targets, new_gains = np.empty(n_edges, dtype=np.int64), np.empty(n_edges)
    table = np.full((widest(levels), len(arcs)), -1)
    reading = (targets, read, arcs, weight, table, same, owed)
    leads, weights = rows_for(first, begins)
    for level in range(len(levels) - 2):
        enter(levels, level + 1, pairs, True, table)
        for node in range(levels[level], levels[level + 1]):
            a, b = first[node], first[node + 1]
            for i in range(begins[node], begins[node + 1]):
                if number[i] < 0:
                    continue
                nodes[number[i]] = node
                look(memory[i], a, b, levels[level + 1], reading, 0, leads, weights)
                for e in range(a, b):
                    if leads[0, e - a] >= 0:
                        new_targets[n] = number[leads[0, e - a]]
                        new_gains[n] = gains[e] - price * (weights[0, e - a] - owed[i])
                        n += 1
                new_first[number[i] + 1] = n
        enter(levels, level + 1, pairs, False, table)
    if count:
        nodes[count - 1], new_first[count] = len(first) - 2, n
    return new_levels, new_first, new_targets[:n].copy(), new_gains[:n].copy(), nodes
