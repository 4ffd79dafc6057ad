"""How much labellings violate the primitives of a program, labelling after labelling.

    labels[·] (end to end), bounds[N+1], first_token[N] ─→ violations[N,P]

Axes: N labellings, Y labels, J counters, R sums, M automata, P = R + M primitives.
Counters that a step moves are listed per pair of labels, so that hundreds of them cost a look-up per step.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[Any]


@njit(nogil=True, cache=True)
def count(
    labels: Array,
    a: int,
    b: int,
    first_token: int,
    size: int,
    pairs: Array,
    moves: Array,
    masks: Array,
    counts: Array,
) -> None:
    """counts[j] = Σ over the steps of labels[a:b] of what they add to counter j.

    moves[pairs[p]:pairs[p+1]] are the rows (counter, amount, mask or −1) for the step p = from · size + to.
    """
    end = size - 1
    before = end
    for j in range(len(counts)):
        counts[j] = 0
    for i in range(a, b + 1):
        label = labels[i] if i < b else end
        step = before * size + label
        for k in range(pairs[step], pairs[step + 1]):
            mask = moves[k, 2]
            if mask < 0 or (i < b and masks[mask, first_token + i - a]):
                counts[moves[k, 0]] += moves[k, 1]
        before = label


@njit(nogil=True, cache=True)
def limit_of(limits: Array, r: int, length: int) -> float:
    """The bound of sum r for so many tokens, rounded as Linear.limit does; limits[r] = bound, per token, …"""
    return np.floor((limits[r, 0] + limits[r, 1] * length) * 1e9 + 0.5) / 1e9


@njit(nogil=True, cache=True)
def exceed(
    counts: Array, length: int, rows: Array, terms: Array, limits: Array, violations: Array, n: int
) -> None:
    """violations[n,r] = how far Σ weight · count is beyond its bound."""
    for r in range(len(limits)):
        total = 0
        for k in range(rows[r], rows[r + 1]):
            total += terms[k, 0] * counts[terms[k, 1]]
        beyond = total - limit_of(limits, r, length)
        if beyond <= 0:
            violations[n, r] = 0.0
        else:
            violations[n, r] = 1.0 if limits[r, 2] > 0 else beyond


@njit(nogil=True, cache=True)
def read(
    labels: Array,
    a: int,
    b: int,
    first_token: int,
    size: int,
    machine: Array,
    classes: Array,
    steps: Array,
    arcs: Array,
    cost: Array,
) -> float:
    """The charges of one automaton. machine = (row of classes or −1, where steps begin, where arcs begin,
    symbols, first state)."""
    end = size - 1
    before = end
    state = machine[4]
    charged = 0.0
    for i in range(a, b + 1):
        label = labels[i] if i < b else end
        kind = classes[machine[0], first_token + i - a] if i < b and machine[0] >= 0 else 0
        symbol = steps[machine[1] + (kind * size + before) * size + label]
        arc = machine[2] + state * machine[3] + symbol
        charged += cost[arc]
        state = arcs[arc]
        before = label
    return charged


@njit(nogil=True, cache=True)
def judge(
    labels: Array,
    a: int,
    b: int,
    first_token: int,
    size: int,
    counters: tuple[Array, Array, Array],
    sums: tuple[Array, Array, Array],
    automata: tuple[Array, Array, Array, Array, Array],
    counts: Array,
    violations: Array,
    n: int,
) -> None:
    """Fill counts and violations[n] for labels[a:b]: first the sums, then the automata."""
    pairs, moves, masks = counters
    rows, terms, limits = sums
    machines, classes, steps, arcs, cost = automata
    count(labels, a, b, first_token, size, pairs, moves, masks, counts)
    exceed(counts, b - a, rows, terms, limits, violations, n)
    for m in range(len(machines)):
        violations[n, len(limits) + m] = read(
            labels, a, b, first_token, size, machines[m], classes, steps, arcs, cost
        )


@njit(nogil=True, cache=True)
def tally(
    labels: Array,
    bounds: Array,
    first_token: Array,
    size: int,
    counters: tuple[Array, Array, Array],
    sums: tuple[Array, Array, Array],
    automata: tuple[Array, Array, Array, Array, Array],
    first: int,
    last: int,
    violations: Array,
) -> None:
    """Fill violations[first:last]. A labelling of −1 violates nothing."""
    terms = sums[1]
    counts = np.zeros(terms[:, 1].max() + 1 if len(terms) else 1, dtype=np.int64)
    for n in range(first, last):
        a, b = bounds[n], bounds[n + 1]
        if b > a and labels[a] < 0:
            for p in range(violations.shape[1]):
                violations[n, p] = 0.0
            continue
        judge(labels, a, b, first_token[n], size, counters, sums, automata, counts, violations, n)
