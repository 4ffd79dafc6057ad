"""The best way through a band that counters and automata read along with, by product states.

    band (first, targets, gains), rest[B+2], additions, sums, read[E,M], automata, floor
        ─→ nodes: product states (node of the band, counts, states of the automata), token by token

A product state is kept only if a labelling through it may reach the floor:

    score of its best prefix + rest (the most that the band can add) + hope (that the readers can add) ≥ floor

So of the many product states only those near the best labelling are ever made; hashing finds them.

Counters are read by *sums*: x = Σ coefficient · count costs penalty · max(0, x − limit), or penalty if x >
limit at all. With a multiplier λ the gains have λ · x taken off (`tighten.py`), and the sum gives it back:

    f(x) = λ·x − penalty · max(0, x − limit)

is settled at the end. It is greatest at x = limit; a sum that can only rise cannot come back to it from
above, one that can only fall not from below.

Axes: B nodes and E edges of the band, R counters, K sums, M automata.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[Any]

NOTHING, FULL = -1, -2
"""Instead of a best last node: no labelling reaches the floor; there is no room for a further node."""


@njit(nogil=True, cache=True)
def worth(sums: tuple[Array, Array, Array], k: int, memory: Array, row: int, final: bool) -> float:
    """f(x) of sum k if it is final; else the most it can become.

    sums = rows[K+1], terms[·,2] (coefficient, counter), shape[K,6] (limit, penalty, multiplier, once, may
    rise, may fall).
    """
    rows, terms, shape = sums
    x = 0
    for i in range(rows[k], rows[k + 1]):
        x += terms[i, 0] * memory[row, terms[i, 1]]
    limit, penalty, multiplier = shape[k, 0], shape[k, 1], shape[k, 2]
    above = x > limit
    if not final and ((above and shape[k, 5] > 0) or (not above and shape[k, 4] > 0)):
        return multiplier * limit
    if above:
        return multiplier * x - (penalty if shape[k, 3] > 0 else penalty * (x - limit))
    return multiplier * x


@njit(nogil=True, cache=True)
def settle(sums: tuple[Array, Array, Array], memory: Array, row: int, final: bool) -> float:
    """What all sums are worth."""
    total = 0.0
    for k in range(len(sums[2])):
        total += worth(sums, k, memory, row, final)
    return total


@njit(nogil=True, cache=True)
def readers_of(sums: tuple[Array, Array, Array], counters: int) -> tuple[Array, Array]:
    """Which sums read each counter: first[R+1], which."""
    rows, terms, _ = sums
    first = np.zeros(counters + 1, dtype=np.int64)
    for i in range(len(terms)):
        first[terms[i, 1] + 1] += 1
    for r in range(counters):
        first[r + 1] += first[r]
    which, filled = np.empty(len(terms), dtype=np.int64), first.copy()
    for k in range(len(rows) - 1):
        for i in range(rows[k], rows[k + 1]):
            which[filled[terms[i, 1]]] = k
            filled[terms[i, 1]] += 1
    return first, which


@njit(nogil=True, cache=True)
def rise(
    sums: tuple[Array, Array, Array],
    reading: tuple[Array, Array],
    additions: tuple[Array, Array],
    edge: int,
    memory: Array,
    a: int,
    b: int,
    seen: Array,
    stamp: int,
) -> float:
    """How much more the sums are worth with memory[b] than with memory[a], before the edge.

    Only sums that read a counter which the edge adds to can change. `seen` marks with the stamp those that
    are counted already.
    """
    first, which = reading
    begins, added = additions
    change = 0.0
    for i in range(begins[edge], begins[edge + 1]):
        for j in range(first[added[i, 0]], first[added[i, 0] + 1]):
            k = which[j]
            if seen[k] != stamp:
                seen[k] = stamp
                change += worth(sums, k, memory, b, False) - worth(sums, k, memory, a, False)
    return change


@njit(nogil=True, cache=True)
def dread(automata: tuple[Array, Array, Array, Array, Array], memory: Array, row: int) -> float:
    """The least that the automata with this memory will still charge.

    automata = heads, penalties, arcs, cost, least; heads[m] = ·, ·, where its arcs begin, number of symbols,
    first state, where its states begin.
    """
    heads, penalties, _, _, least = automata
    charged = 0.0
    before = memory.shape[1] - len(heads)
    for m in range(len(heads)):
        charge = least[heads[m, 5] + memory[row, before + m]]
        if charge > 0:
            charged += penalties[m] * charge
    return charged


@njit(nogil=True, cache=True)
def advance(
    automata: tuple[Array, Array, Array, Array, Array],
    additions: tuple[Array, Array],
    read: Array,
    edge: int,
    memory: Array,
    a: int,
    b: int,
) -> float:
    """memory[b] = memory[a] after an edge; what the automata charge on it."""
    heads, penalties, arcs, cost, _ = automata
    begins, added = additions
    counters = memory.shape[1] - len(heads)
    for r in range(counters):
        memory[b, r] = memory[a, r]
    for i in range(begins[edge], begins[edge + 1]):
        memory[b, added[i, 0]] += added[i, 1]
    charged = 0.0
    for m in range(len(heads)):
        arc = heads[m, 2] + memory[a, counters + m] * heads[m, 3] + read[edge, m]
        memory[b, counters + m] = arcs[arc]
        if cost[arc] > 0:
            charged += penalties[m] * cost[arc]
    return charged


@njit(nogil=True, cache=True)
def key_of(place: int, memory: Array, row: int) -> int:
    """A number that product states seldom share."""
    key = place * 40503
    for m in range(memory.shape[1]):
        key = (key * 31 + memory[row, m] + 7) & 0x3FFFFFFFFFFF
    return key ^ (key >> 17)


@njit(nogil=True, cache=True)
def slot_of(
    hashing: tuple[Array, Array, Array],
    stamp: int,
    key: int,
    place: int,
    memory: Array,
    places: Array,
    row: int,
) -> int:
    """Where in the hash table the product state (place in the band, memory[row]) stands, or could be put."""
    table, stamps, keys = hashing
    slot = key & (len(table) - 1)
    while stamps[slot] == stamp:
        node = table[slot]
        same = keys[slot] == key and places[node] == place
        m = 0
        while same and m < memory.shape[1]:
            same = memory[node, m] == memory[row, m]
            m += 1
        if same:
            break
        slot = (slot + 1) & (len(table) - 1)
    return slot


@njit(nogil=True, cache=True)
def keep(
    nodes: tuple[Array, Array, Array, Array, Array],
    memory: Array,
    node: int,
    place: int,
    hope: float,
    fear: float,
) -> None:
    """A new product state with the memory of the scratch row; its score and parent come later."""
    places, _, scores, hopes, dreads = nodes
    places[node], scores[node], hopes[node], dreads[node] = place, -np.inf, hope, fear
    for m in range(memory.shape[1]):
        memory[node, m] = memory[len(places) - 1, m]


@njit(nogil=True, cache=True)
def begin(
    nodes: tuple[Array, Array, Array, Array, Array],
    memory: Array,
    sums: tuple[Array, Array, Array],
    automata: tuple[Array, Array, Array, Array, Array],
) -> bool:
    """Make product state 0, the root; whether anything can come of it."""
    places, parents, scores, hopes, dreads = nodes
    counters = memory.shape[1] - len(automata[0])
    for m in range(memory.shape[1]):
        memory[0, m] = 0 if m < counters else automata[0][m - counters, 4]
    places[0], parents[0], scores[0] = -1, -1, 0.0
    hopes[0], dreads[0] = settle(sums, memory, 0, False), dread(automata, memory, 0)
    return hopes[0] > -np.inf and dreads[0] < np.inf


@njit(nogil=True, cache=True)
def unfold(
    band: tuple[Array, Array, Array],
    n_nodes: int,
    rest: Array,
    additions: tuple[Array, Array],
    sums: tuple[Array, Array, Array],
    read: Array,
    automata: tuple[Array, Array, Array, Array, Array],
    floor: float,
    nodes: tuple[Array, Array, Array, Array, Array],
    memory: Array,
    hashing: tuple[Array, Array, Array],
    stamp: int,
) -> tuple[int, float, int]:
    """The best last product state, its value, and the number of product states.

    nodes      places in the band, parents, scores, hopes of the sums, dread of the automata; the last row is
               scratch
    memory     [·,R+M]: the counts and the automata's states
    hashing    table, stamps, keys, each as long as a power of 2; `stamp` is none of the stamps yet

    The node is NOTHING if no labelling reaches the floor, with the value −inf; FULL if there was no room,
    with a value that no labelling that reaches the floor exceeds. Product state 0 is the root.
    """
    first, targets, gains = band
    places, parents, scores, hopes, dreads = nodes
    table, stamps, keys = hashing
    room = len(places) - 1
    count, source, tried = 1, 0, 0
    best, value = NOTHING, -np.inf
    if not begin(nodes, memory, sums, automata):
        return best, value, count
    reading = readers_of(sums, memory.shape[1] - len(automata[0]))
    seen = np.zeros(len(sums[2]), dtype=np.int64)
    while source < count:
        for e in range(first[places[source] + 1], first[places[source] + 2]):
            target = targets[e]
            reach = scores[source] + gains[e] + rest[target + 1]
            if reach + hopes[source] - dreads[source] < floor or reach == -np.inf:
                continue
            score = scores[source] + gains[e]
            score -= advance(automata, additions, read, e, memory, source, room)
            if target == n_nodes:
                score += settle(sums, memory, room, True)
                if score > value and score >= floor:
                    best, value = source, score
                continue
            key = key_of(target, memory, room)
            slot = slot_of(hashing, stamp, key, target, memory, places, room)
            node = table[slot] if stamps[slot] == stamp else -1
            if node >= 0:
                hope, fear = hopes[node], dreads[node]
            else:
                tried += 1
                hope = hopes[source] + rise(sums, reading, additions, e, memory, source, room, seen, tried)
                fear = dread(automata, memory, room)
            reach = score + rest[target + 1] + hope - fear
            if reach < floor or reach == -np.inf:
                continue
            if node < 0:
                if count == room:
                    return FULL, ceiling(nodes, rest, source, count, value), count
                node = count
                stamps[slot], table[slot], keys[slot] = stamp, node, key
                keep(nodes, memory, node, target, hope, fear)
                count += 1
            if score > scores[node]:
                scores[node], parents[node] = score, source
        source += 1
    return best, value, count


@njit(nogil=True, cache=True)
def ceiling(
    nodes: tuple[Array, Array, Array, Array, Array], rest: Array, source: int, count: int, value: float
) -> float:
    """The most that a labelling through the product states from `source` on may score, or one already met."""
    places, _, scores, hopes, dreads = nodes
    most = value
    for node in range(source, count):
        most = max(most, scores[node] + rest[places[node] + 1] + hopes[node] - dreads[node])
    return most


@njit(nogil=True, cache=True)
def walk_back(node: int, places: Array, parents: Array, way: Array) -> None:
    """The nodes of the band along the best way to a last product state."""
    for t in range(len(way) - 1, -1, -1):
        way[t] = places[node]
        node = parents[node]
