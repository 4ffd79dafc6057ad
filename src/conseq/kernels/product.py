"""A lattice read by an automaton: the product of both, as small as it can be, as a lattice again.

    graph, steps, read[I], automaton ─→ explore (pairs of node and state) ─→ merge (pairs with one future) ─→
    rebuild

Two states of the automaton at the same node are merged if from there on the same edges are charged the same,
up to a constant that is charged beforehand; pairs from which the sink cannot be reached vanish, and so do
edges with a gain of −inf. So an automaton that cannot tell the paths of the lattice apart leaves the lattice
as it was.

    cost of an edge = Σ over its steps of cost[q, symbol];   inf: it must not be taken
    owed[i] = the least that pair i still has to pay; what is charged on an edge from i to j is
        cost + owed[j] − owed[i]

Axes: B nodes, E edges, I steps, P pairs, Q states, A symbols.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from conseq.kernels.chain import forbidden
from conseq.kernels.compiled import Array, helper, kernel
from conseq.kernels.index import place_of
from conseq.kernels.lattice import Graph

SAME = 1e-12
"""Costs that differ by no more than this times (1 + cost) are the same."""


class Machine(NamedTuple):
    """A lattice and an automaton: the symbols that it reads on edge e are read[begins[e]:begins[e+1]]."""

    graph: Graph
    begins: Array  # [E+1]
    read: Array  # [I]
    arcs: Array  # [Q,A], the next state
    cost: Array  # [Q,A]
    start: int


class Pairs(NamedTuple):
    """A node and a state of the automaton; those of a node stand side by side, states rising."""

    begins: Array  # [B+1]
    memory: Array  # [P], the states
    reached: Array  # [P], the best scores up to there
    same: Array  # [P], the first pair of the same node and future, −1 for a pair that leads nowhere
    owed: Array  # [P], see above

    @classmethod
    def room_for(cls, n_nodes: int, count: int) -> Pairs:
        """What is not filled in takes no memory."""
        memory, same, begins = (np.empty(size, dtype=np.int64) for size in (count, count, n_nodes + 1))
        return cls(begins, memory, np.empty(count), same, np.empty(count))

    def part(self, count: int) -> Pairs:
        """The first ones."""
        return Pairs(self.begins, *(column[:count] for column in self[1:]))


@helper
def step_over(machine: Machine, q: int, e: int) -> tuple[int, float]:
    """The state after an edge, and the cost of it."""
    cost = 0.0
    for i in range(machine.begins[e], machine.begins[e + 1]):
        cost += machine.cost[q, machine.read[i]]
        q = machine.arcs[q, machine.read[i]]
    return q, cost


@kernel
def explore(machine: Machine, rest: Array, floor: float, window: int, pairs: Pairs) -> int:
    """Fill in the pairs that a path of at least `floor` may come to; their number, −1 if there is no room.

    rest[B] is the most that the lattice can add after each node, without this automaton. Of the
    best scores by (node, state) only those of `window` nodes are kept at a time: a power of 2 that is more
    than the number of an edge's target ever exceeds that of its source by.
    """
    graph = machine.graph
    size, last = len(machine.arcs), len(graph.first) - 2
    best = forbidden(window, size)
    best[0, machine.start] = 0.0
    count = 0
    for node in range(last + 1):
        row = node & (window - 1)
        pairs.begins[node] = count
        for q in range(size):
            if best[row, q] == -np.inf:
                continue
            if count == len(pairs.memory):
                return -1
            pairs.memory[count], pairs.reached[count] = q, best[row, q]
            best[row, q] = -np.inf
            count += 1
        for i in range(pairs.begins[node], count):
            for e in range(graph.first[node], graph.first[node + 1]):
                target = graph.targets[e]
                q, cost = step_over(machine, pairs.memory[i], e)
                score = pairs.reached[i] + graph.gains[e] - cost
                total = score + rest[target]
                if total >= floor and total > -np.inf:
                    there = target & (window - 1)
                    best[there, q] = max(best[there, q], score)
    pairs.begins[last + 1] = count
    return count


@helper
def look(machine: Machine, pairs: Pairs, q: int, node: int) -> tuple[Array, Array]:
    """For state q at a node: the pair (as merged) that each edge leads to, or −1, and its cost with what is
    owed there."""
    graph, same = machine.graph, pairs.same
    a, b = graph.first[node], graph.first[node + 1]
    leads, costs = np.empty(b - a, dtype=np.int64), np.empty(b - a)
    for e in range(a, b):
        leads[e - a], costs[e - a] = -1, 0.0
        after, cost = step_over(machine, q, e)
        if cost < np.inf and graph.gains[e] > -np.inf:
            target = graph.targets[e]
            j = place_of(pairs.memory, pairs.begins[target], pairs.begins[target + 1], after)
            if j >= 0 and same[j] >= 0:
                leads[e - a], costs[e - a] = same[j], cost + pairs.owed[j]
    return leads, costs


@kernel
def merge(machine: Machine, floor: float, pairs: Pairs) -> None:
    """Fill in `same` and `owed`."""
    graph, same, owed = machine.graph, pairs.same, pairs.owed
    last = len(graph.first) - 2
    best = np.empty(len(same))
    for i in range(pairs.begins[last], pairs.begins[last + 1]):
        same[i], owed[i], best[i] = pairs.begins[last], 0.0, 0.0
    for node in range(last - 1, -1, -1):
        begin, end = pairs.begins[node], pairs.begins[node + 1]
        degree = graph.first[node + 1] - graph.first[node]
        leads, costs = np.empty((end - begin, degree), dtype=np.int64), np.empty((end - begin, degree))
        marks = np.zeros(end - begin, dtype=np.int64)
        for i in range(begin, end):
            to, paid = look(machine, pairs, pairs.memory[i], node)
            least, most = np.inf, -np.inf
            for d in range(degree):
                leads[i - begin, d], costs[i - begin, d] = to[d], paid[d]
                if to[d] >= 0:
                    gain = graph.gains[graph.first[node] + d] - paid[d]
                    least, most = min(least, paid[d]), max(most, gain + best[to[d]])
            same[i], owed[i] = -1, 0.0
            if most > -np.inf and pairs.reached[i] + most >= floor:
                owed[i] = least if node > 0 else 0.0  # the root has no edge before it to charge it on
                best[i] = most + owed[i]
                same[i] = begin + first_alike(i - begin, owed[i], leads, costs, marks, same, begin)


@helper(inline="always")
def first_alike(
    k: int, owed: float, leads: Array, costs: Array, marks: Array, same: Array, begin: int
) -> int:
    """The first pair of the node with the same future as its k-th, or k itself; takes what is owed off row k.

    marks[k] is a number that rows which differ seldom share.
    """
    mark = 7
    for d in range(leads.shape[1]):
        costs[k, d] = costs[k, d] - owed if leads[k, d] >= 0 else 0.0
        mark = (mark * 65599 + leads[k, d] * 31 + np.int64(np.rint(costs[k, d] * 1024))) & 0x3FFFFFFFFFFF
    marks[k] = mark
    for h in range(k):
        if same[begin + h] != begin + h or marks[h] != mark:
            continue
        equal = True
        for d in range(leads.shape[1]):
            if leads[h, d] != leads[k, d] or abs(costs[h, d] - costs[k, d]) > SAME * (1 + abs(costs[k, d])):
                equal = False
                break
        if equal:
            return h
    return k


@kernel
def rebuild(
    machine: Machine, pairs: Pairs, kept: Array, nodes: Array, most_edges: int
) -> tuple[Array, Array, Array, Array]:
    """The product of the pairs that are kept, at these nodes: first, the pairs that edges lead to, gains, and
    the old edge behind each new one."""
    graph, owed = machine.graph, pairs.owed
    first, n = np.zeros(len(kept) + 1, dtype=np.int64), 0
    targets, edges = np.empty(most_edges, dtype=np.int64), np.empty(most_edges, dtype=np.int64)
    gains = np.empty(most_edges)
    for k in range(len(kept)):
        leads, costs = look(machine, pairs, pairs.memory[kept[k]], nodes[k])
        for d in range(len(leads)):
            if leads[d] >= 0:
                edges[n], targets[n] = graph.first[nodes[k]] + d, leads[d]
                gains[n] = graph.gains[edges[n]] - (costs[d] - owed[kept[k]])
                n += 1
        first[k + 1] = n
    return first, targets[:n], gains[:n], edges[:n]


@kernel
def minimum_remaining(machine: Machine) -> Array:
    """least[B,Q] = the least that the automaton in state q at a node still charges on a path to the sink; inf
    where there is none."""
    graph, begins, read = machine.graph, machine.begins, machine.read
    last = len(graph.first) - 2
    least = np.empty((last + 1, len(machine.arcs)))
    for node in range(last, -1, -1):
        for q in range(least.shape[1]):
            best = 0.0 if node == last else np.inf
            for e in range(graph.first[node], graph.first[node + 1]):
                after, paid = q, 0.0
                for i in range(begins[e], begins[e + 1]):  # `step_over`, which costs a third more here
                    paid += machine.cost[after, read[i]]
                    after = machine.arcs[after, read[i]]
                best = min(best, paid + least[graph.targets[e], after])
            least[node, q] = best
    return least
