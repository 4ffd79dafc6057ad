"""The best path through a lattice that counters and automata read along with, by product states.

    graph, rest[B], additions, sums, automata that read, floor
        ─→ product states (node of the lattice, counts, states of the automata), in the order of positions

A product state is kept only if a labelling through it may reach the floor:

    score of its best prefix + rest (the most the lattice can add) + what the sums can add at most
        − the minimum remaining cost of the automata ≥ floor

which is an admissible heuristic, so of the many product states only those near the best labelling are ever
made; hashing finds them.

Counters are read by *sums*: x = Σ coefficient · count costs penalty · max(0, x − limit). With a multiplier λ
the gains have λ · x taken off (`lattice_dual.py`), and the sum gives it back:

    f(x) = λ·x − penalty · max(0, x − limit)

is settled at the end. It is greatest at x = limit; a sum that can only rise cannot come back to it from
above, one that can only fall not from below.

Axes: B nodes, E edges and I steps of the lattice, R counters, K sums, M automata, L tokens.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conseq.kernels.compiled import helper, kernel
from conseq.kernels.lattice import Graph
from conseq.kernels.lattice_dual import FALLS, LIMIT, MULTIPLIER, PENALTY, RISES, Additions
from conseq.kernels.violations import Sums

Array = NDArray[Any]

NOTHING, FULL = -1, -2
"""Instead of a best last state: no labelling reaches the floor; there is no room for a further state."""


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
    next: Array  # [·], the next state of the same position, or −1
    score: Array  # [·], of the best prefix
    bound: Array  # [·], the most that the sums can add
    cost: Array  # [·], the minimum remaining cost of the automata
    memory: Array  # [·,R+M], the counts and the automata's states


class Hashing(NamedTuple):
    """Product states by what they are; each array is as long as a power of 2."""

    table: Array
    stamps: Array  # entries with another stamp than that of the search are free
    keys: Array


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
def sums_of_counters(sums: Sums, counters: int) -> tuple[Array, Array]:
    """Which sums have each counter: first[R+1], which."""
    first = np.zeros(counters + 1, dtype=np.int64)
    for i in range(len(sums.terms)):
        first[sums.terms[i, 1] + 1] += 1
    for r in range(counters):
        first[r + 1] += first[r]
    which, filled = np.empty(len(sums.terms), dtype=np.int64), first.copy()
    for k in range(len(sums.rows) - 1):
        for i in range(sums.rows[k], sums.rows[k + 1]):
            which[filled[sums.terms[i, 1]]] = k
            filled[sums.terms[i, 1]] += 1
    return first, which


@helper(inline="always")
def rise(
    sums: Sums,
    having: tuple[Array, Array],
    additions: Additions,
    edge: int,
    memory: Array,
    a: int,
    b: int,
    seen: Array,
    stamp: int,
) -> float:
    """How much more the sums can become with memory[b], after the edge, than with memory[a], before it.

    Only sums of a counter that the edge adds to can change. `seen` marks with the stamp those counted
    already.
    """
    first, which = having
    change = 0.0
    for i in range(additions.begins[edge], additions.begins[edge + 1]):
        for j in range(first[additions.added[i, 0]], first[additions.added[i, 0] + 1]):
            k = which[j]
            if seen[k] != stamp:
                seen[k] = stamp
                change += worth(sums, k, memory, b, False) - worth(sums, k, memory, a, False)
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


@helper
def advance(machines: Machines, additions: Additions, edge: int, memory: Array, a: int, b: int) -> float:
    """memory[b] = memory[a] after an edge; what the automata charge on it."""
    counters = memory.shape[1] - len(machines.heads)
    for r in range(counters):
        memory[b, r] = memory[a, r]
    for i in range(additions.begins[edge], additions.begins[edge + 1]):
        memory[b, additions.added[i, 0]] += additions.added[i, 1]
    charged = 0.0
    for m in range(len(machines.heads)):
        state = memory[a, counters + m]
        for i in range(machines.begins[edge], machines.begins[edge + 1]):
            arc = machines.heads[m, 2] + state * machines.heads[m, 3] + machines.read[i, m]
            state = machines.arcs[arc]
            if machines.cost[arc] > 0:
                charged += machines.penalties[m] * machines.cost[arc]
        memory[b, counters + m] = state
    return charged


@helper
def key_of(place: int, memory: Array, row: int) -> int:
    """A number that product states seldom share."""
    key = place * 40503
    for m in range(memory.shape[1]):
        key = (key * 31 + memory[row, m] + 7) & 0x3FFFFFFFFFFF
    return key ^ (key >> 17)


@helper
def slot_of(hashing: Hashing, stamp: int, key: int, place: int, states: States, row: int) -> int:
    """Where in the hash table the product state (place, memory[row]) stands, or could be put."""
    slot = key & (len(hashing.table) - 1)
    while hashing.stamps[slot] == stamp:
        state = hashing.table[slot]
        same = hashing.keys[slot] == key and states.place[state] == place
        m = 0
        while same and m < states.memory.shape[1]:
            same = states.memory[state, m] == states.memory[row, m]
            m += 1
        if same:
            break
        slot = (slot + 1) & (len(hashing.table) - 1)
    return slot


@helper(inline="always")
def begin(states: States, sums: Sums, machines: Machines) -> bool:
    """Make product state 0, the root; whether anything can come of it."""
    memory = states.memory
    counters = memory.shape[1] - len(machines.heads)
    for m in range(memory.shape[1]):
        memory[0, m] = 0 if m < counters else machines.heads[m - counters, 4]
    states.place[0], states.parent[0], states.score[0], states.next[0] = 0, -1, 0.0, -1
    states.bound[0], states.cost[0] = settle(sums, memory, 0, False), remaining_cost(machines, memory, 0)
    return states.bound[0] > -np.inf and states.cost[0] < np.inf


@helper(inline="always")
def append(states: States, ends: Array, position: int, state: int, scratch: int) -> None:
    """Put a new product state, with the memory of the scratch row, last among those of its position."""
    for m in range(states.memory.shape[1]):
        states.memory[state, m] = states.memory[scratch, m]
    states.next[state] = -1
    if ends[position, 0] < 0:
        ends[position, 0] = state
    else:
        states.next[ends[position, 1]] = state
    ends[position, 1] = state


@kernel
def search(
    graph: Graph,
    position: Array,
    rest: Array,
    additions: Additions,
    sums: Sums,
    machines: Machines,
    floor: float,
    states: States,
    hashing: Hashing,
    stamp: int,
) -> tuple[int, int, float, int]:
    """The best last product state and the edge that it leaves by, the value, and the number of product
    states.

    position[B]   the tokens before each node

    The state is NOTHING if no labelling reaches the floor, with the value −inf; FULL if there was no room,
    with a value that no labelling that reaches the floor exceeds. Product state 0 is the root. `stamp` is
    new. (One loop: what it calls is small, and splitting it would hand a dozen arrays back and forth.)
    """
    room, sink = len(states.place) - 1, len(rest) - 1
    count, tried, best, last, value = 1, 0, NOTHING, -1, -np.inf
    if not begin(states, sums, machines):
        return best, last, value, count
    having = sums_of_counters(sums, states.memory.shape[1] - len(machines.heads))
    seen = np.zeros(len(sums.limits), dtype=np.int64)
    ends = np.empty((position[sink] + 1, 2), dtype=np.int64)
    for p in range(len(ends)):
        ends[p, 0] = -1
    ends[0, 0], ends[0, 1] = 0, 0
    for p in range(len(ends)):
        source = ends[p, 0]
        while source >= 0:
            node = states.place[source]
            for e in range(graph.first[node], graph.first[node + 1]):
                target = graph.targets[e]
                reach = states.score[source] + graph.gains[e] + rest[target]
                if reach + states.bound[source] - states.cost[source] < floor or reach == -np.inf:
                    continue
                score = states.score[source] + graph.gains[e]
                score -= advance(machines, additions, e, states.memory, source, room)
                if target == sink:
                    score += settle(sums, states.memory, room, True)
                    if score > value and score >= floor:
                        best, last, value = source, e, score
                    continue
                key = key_of(target, states.memory, room)
                slot = slot_of(hashing, stamp, key, target, states, room)
                state = hashing.table[slot] if hashing.stamps[slot] == stamp else -1
                if state >= 0:
                    bound, cost = states.bound[state], states.cost[state]
                else:
                    tried += 1
                    more = rise(sums, having, additions, e, states.memory, source, room, seen, tried)
                    bound = states.bound[source] + more
                    cost = remaining_cost(machines, states.memory, room)
                reach = score + rest[target] + bound - cost
                if reach < floor or reach == -np.inf:
                    continue
                if state < 0:
                    if count == room:
                        return FULL, -1, open_bound(states, rest, ends, p, source, value), count
                    state = count
                    hashing.stamps[slot], hashing.table[slot], hashing.keys[slot] = stamp, state, key
                    states.place[state], states.score[state] = target, -np.inf
                    states.bound[state], states.cost[state] = bound, cost
                    append(states, ends, position[target], state, room)
                    count += 1
                if score > states.score[state]:
                    states.score[state], states.parent[state], states.edge[state] = score, source, e
            source = states.next[source]
    return best, last, value, count


@helper(inline="always")
def open_bound(states: States, rest: Array, ends: Array, position: int, source: int, value: float) -> float:
    """The most that a labelling through a product state from `source` on may score, or one already met."""
    most = value
    for p in range(position, len(ends)):
        state = source if p == position else ends[p, 0]
        while state >= 0:
            reach = states.score[state] + rest[states.place[state]] + states.bound[state] - states.cost[state]
            most = max(most, reach)
            state = states.next[state]
    return most


@kernel
def walk_back(states: States, state: int, last: int, path: Array) -> int:
    """The edges of the best path to a last product state and out of it, path[·]; their number."""
    length, at = 1, state
    while states.parent[at] >= 0:
        length += 1
        at = states.parent[at]
    path[length - 1] = last
    for k in range(length - 2, -1, -1):
        path[k] = states.edge[state]
        state = states.parent[state]
    return length
