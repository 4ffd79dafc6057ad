"""The best path through a lattice that counters and automata read along with, by product states.

    graph, rest[B], amounts[E,R], sums, automata that read, floor
        ─→ product states (node of the lattice, totals, states of the automata), in the order of positions

A product state is kept only if a labelling through it may reach the floor:

    score of its best prefix + rest (the most the lattice can add) + what the sums can add at most
        − the minimum remaining cost of the automata ≥ floor

which is an admissible heuristic, so of the many product states only those near the best labelling are ever
made; hashing finds them.

Edges add to *totals*, of which sums are made: x = Σ coefficient · total costs penalty · max(0, x − limit).
With a multiplier λ the gains have λ · x taken off (`lattice_dual.py`), and the sum gives it back:

    f(x) = λ·x − penalty · max(0, x − limit)

is settled at the end. It is greatest at x = limit; a sum that can only rise cannot come back to it from
above, one that can only fall not from below.

Axes: B nodes, E edges and I steps of the lattice, R totals, K sums, M automata, L tokens.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from conseq.kernels.compiled import Array, helper, kernel
from conseq.kernels.lattice import Graph
from conseq.kernels.lattice_dual import FALLS, LIMIT, MULTIPLIER, PENALTY, RISES
from conseq.kernels.violations import Sums


class Machines(NamedTuple):
    """Automata and what they read on a lattice."""

    begins: Array  # [E+1], the steps of each edge
    read: Array  # [I,M], the symbols
    heads: Array  # [M,6]: ·, ·, where arcs begin, symbols, first state, where states begin
    penalties: Array  # [M]
    arcs: Array
    cost: Array
    least: Array  # the least violation that is still charged in each state


class States(NamedTuple):
    """Product states; the last row is scratch."""

    place: Array  # [·], the node of the lattice
    parent: Array  # [·]
    edge: Array  # [·], the edge of the lattice that leads here from the parent
    next: Array  # [·], the next state in the order of positions, or −1
    score: Array  # [·], of the best prefix
    bound: Array  # [·], the most that the sums can add
    cost: Array  # [·], the minimum remaining cost of the automata
    memory: Array  # [·,R+M], the totals and the automata's states


@helper
def worth(sums: Sums, k: int, memory: Array, row: int, final: bool) -> float:
    """f(x) of sum k if it is final; else the most it can become."""
    x = 0
    for i in range(sums.rows[k], sums.rows[k + 1]):
        x += sums.terms[i, 0] * memory[row, sums.terms[i, 1]]
    limit, multiplier = sums.limits[k, LIMIT], sums.limits[k, MULTIPLIER]
    above = x > limit
    if not final and sums.limits[k, FALLS if above else RISES] > 0:
        return multiplier * limit
    return multiplier * x - (sums.limits[k, PENALTY] * (x - limit) if above else 0.0)


@helper
def settle(sums: Sums, memory: Array, row: int, final: bool) -> float:
    """What all sums are worth."""
    total = 0.0
    for k in range(len(sums.limits)):
        total += worth(sums, k, memory, row, final)
    return total


@helper(inline="always")
def chains(sums: Sums, totals: int) -> tuple[Array, Array, Array]:
    """The terms of each total, last[r], before[last[r]], … until −1; the sum that each is a term of."""
    last, before, sum_of = np.full(totals, -1), sums.terms[:, 0].copy(), sums.terms[:, 0].copy()
    for k in range(len(sums.limits)):
        for i in range(sums.rows[k], sums.rows[k + 1]):
            r = sums.terms[i, 1]
            before[i], last[r], sum_of[i] = last[r], i, k
    return last, before, sum_of


@helper(inline="always")
def rise(
    sums: Sums,
    chained: tuple[Array, Array, Array],
    amounts: Array,
    edge: int,
    memory: Array,
    a: int,
    b: int,
    seen: Array,
    stamp: int,
) -> float:
    """How much more the sums can become with memory[b], after the edge, than with memory[a], before it.

    Only sums of a total that the edge adds to can change. `seen` marks with the stamp those counted already.
    """
    last, before, sum_of = chained
    change = 0.0
    for r in range(len(last)):
        i = last[r] if amounts[edge, r] != 0 else -1
        while i >= 0:
            k = sum_of[i]
            if seen[k] != stamp:
                seen[k] = stamp
                change += worth(sums, k, memory, b, False) - worth(sums, k, memory, a, False)
            i = before[i]
    return change


@helper
def remaining_cost(machines: Machines, memory: Array, row: int) -> float:
    """The least that the automata with this memory still charge."""
    charged = 0.0
    before = memory.shape[1] - len(machines.heads)
    for m in range(len(machines.heads)):
        charge = machines.least[machines.heads[m, 5] + memory[row, before + m]]
        if charge > 0:
            charged += machines.penalties[m] * charge
    return charged


@helper(inline="always")
def advance(machines: Machines, amounts: Array, edge: int, memory: Array, a: int, b: int) -> float:
    """memory[b] = memory[a] after an edge; what the automata charge on it."""
    totals = amounts.shape[1]
    for r in range(totals):
        memory[b, r] = memory[a, r] + amounts[edge, r]
    charged = 0.0
    for m in range(len(machines.heads)):
        state = memory[a, totals + m]
        for i in range(machines.begins[edge], machines.begins[edge + 1]):
            arc = machines.heads[m, 2] + state * machines.heads[m, 3] + machines.read[i, m]
            state = machines.arcs[arc]
            if machines.cost[arc] > 0:
                charged += machines.penalties[m] * machines.cost[arc]
        memory[b, totals + m] = state
    return charged


@helper
def key_of(place: int, memory: Array, row: int) -> int:
    """A number that product states seldom share."""
    key = place * 40503
    for m in range(memory.shape[1]):
        key = (key * 31 + memory[row, m] + 7) & 0x3FFFFFFFFFFF
    return key ^ (key >> 17)


@helper(inline="always")
def slot_of(table: Array, key: int, place: int, states: States, row: int) -> int:
    """Where in the hash table the product state (place, memory[row]) stands, or could be put."""
    slot = key & (len(table) - 1)
    while table[slot] > 0:
        state = table[slot]
        same, m = states.place[state] == place, 0
        while same and m < states.memory.shape[1]:
            same = states.memory[state, m] == states.memory[row, m]
            m += 1
        if same:
            break
        slot = (slot + 1) & (len(table) - 1)
    return slot


@helper(inline="always")
def begin(states: States, sums: Sums, totals: int, machines: Machines) -> bool:
    """Make product state 0, the root; whether anything can come of it."""
    memory = states.memory
    for m in range(memory.shape[1]):
        memory[0, m] = 0 if m < totals else machines.heads[m - totals, 4]
    states.place[0], states.parent[0], states.score[0], states.next[0] = 0, -1, 0.0, -1
    states.bound[0], states.cost[0] = settle(sums, memory, 0, False), remaining_cost(machines, memory, 0)
    return states.bound[0] > -np.inf and states.cost[0] < np.inf


@helper(inline="always")
def append(states: States, tails: Array, position: int, state: int, scratch: int) -> None:
    """Put a new product state, with the memory of the scratch row, last among those up to its position."""
    for m in range(states.memory.shape[1]):
        states.memory[state, m] = states.memory[scratch, m]
    before = position
    while tails[before] < 0:
        before -= 1
    states.next[state], states.next[tails[before]] = states.next[tails[before]], state
    tails[position] = state


@kernel
def search(
    graph: Graph,
    position: Array,
    rest: Array,
    amounts: Array,
    sums: Sums,
    machines: Machines,
    floor: float,
    states: States,
    table: Array,
) -> tuple[Array, float, int]:
    """The best path that reaches the floor, as edges, its value, and the number of product states.

    position[B]    the tokens before each node
    amounts[E,R]   what each edge adds to each total
    states         room for product states; state 0 is the root
    table          a hash table for twice as many or more, of a power of 2 of free slots (0)

    The path is empty if no labelling reaches the floor, with the value −inf; or if there was no room, with a
    value that no labelling that reaches the floor exceeds. (One loop: what it calls is small, and splitting
    it would hand a dozen arrays back and forth.)
    """
    room, sink, totals = len(states.place) - 1, len(rest) - 1, amounts.shape[1]
    count, tried, best, last, value = 1, 0, -1, -1, -np.inf
    chained, seen = chains(sums, totals), np.zeros(len(sums.limits), dtype=np.int64)
    tails = np.full(position[sink] + 1, -1)
    source = tails[0] = 0 if begin(states, sums, totals, machines) else -1
    while source >= 0:
        node = states.place[source]
        for e in range(graph.first[node], graph.first[node + 1]):
            target = graph.targets[e]
            reach = states.score[source] + graph.gains[e] + rest[target]
            if reach + states.bound[source] - states.cost[source] < floor or reach == -np.inf:
                continue
            score = states.score[source] + graph.gains[e]
            score -= advance(machines, amounts, e, states.memory, source, room)
            if target == sink:
                score += settle(sums, states.memory, room, True)
                if score > value and score >= floor:
                    best, last, value = source, e, score
                continue
            key = key_of(target, states.memory, room)
            slot = slot_of(table, key, target, states, room)
            state = table[slot]
            if state > 0:
                bound, cost = states.bound[state], states.cost[state]
            else:
                tried += 1
                more = rise(sums, chained, amounts, e, states.memory, source, room, seen, tried)
                bound = states.bound[source] + more
                cost = remaining_cost(machines, states.memory, room)
            reach = score + rest[target] + bound - cost
            if reach < floor or reach == -np.inf:
                continue
            if state == 0:
                if count == room:
                    value = open_bound(states, rest, source, value)
                    return np.empty(0, dtype=np.int64), value, count
                state, table[slot] = count, count
                states.place[state], states.score[state] = target, -np.inf
                states.bound[state], states.cost[state] = bound, cost
                append(states, tails, position[target], state, room)
                count += 1
            if score > states.score[state]:
                states.score[state], states.parent[state], states.edge[state] = score, source, e
        source = states.next[source]
    return walk_back(states, best, last), value, count


@helper(inline="always")
def open_bound(states: States, rest: Array, source: int, value: float) -> float:
    """The most that a labelling through a product state from `source` on may score, or one already met."""
    while source >= 0:
        reach = states.score[source] + rest[states.place[source]] + states.bound[source] - states.cost[source]
        value = max(value, reach)
        source = states.next[source]
    return value


@helper(inline="always")
def walk_back(states: States, state: int, last: int) -> Array:
    """The edges of the best path to a last product state and out of it; none if there is none (−1)."""
    length, at = 0, state
    while at >= 0:
        length += 1
        at = states.parent[at]
    path = np.empty(length, dtype=np.int64)
    for k in range(length - 1, -1, -1):
        path[k] = last
        last, state = states.edge[state], states.parent[state]
    return path
