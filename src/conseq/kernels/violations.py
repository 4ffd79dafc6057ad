"""How much labellings violate the primitives of a program, labelling after labelling.

    labels[·] (end to end), bounds[N+1], first_token[N] ─→ violations[N,P]

Axes: N labellings, Y labels, J counters, R sums, M automata, P = R + M primitives.
Counters that a step moves are listed per pair of labels, so that hundreds of them cost a look-up per step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from conseq.kernels.compiled import Array, helper, kernel
from conseq.kernels.index import first_from


class Counters(NamedTuple):
    """Which counters a step from one label to another moves, and by how much."""

    pairs: Array  # [(Y+1)²+1], where the moves of each step begin
    moves: Array  # [·,3]: counter, amount, mask or −1
    masks: Array  # [·,T], the tokens at which a counter counts


class Sums(NamedTuple):
    """Weighted sums of counters."""

    rows: Array  # [R+1], where the terms of each sum begin
    terms: Array  # [·,2]: coefficient, counter
    limits: Array  # [R,2]: bound, and what each token adds to it


class Automata(NamedTuple):
    """Deterministic automata, end to end.

    At the tokens that an automaton does not read it stays in its state and charges nothing; END it always
    reads.
    """

    machines: Array  # [M,5]: a reading or −1 (all tokens, in class 0), where steps and arcs begin, symbols,
    # first state
    readings: Array  # [·+1], where the tokens of each reading begin
    tokens: Array  # the tokens that are read, ascending in each reading
    classes: Array  # the classes of these tokens
    steps: Array  # the symbol of each class and step
    arcs: Array  # the state after each symbol in each state
    cost: Array  # the violation that is charged there


class Ground(NamedTuple):
    """The primitives of a program, ground on its corpus; `size` is Y + 1."""

    size: int
    counters: Counters
    sums: Sums
    automata: Automata


@helper
def count(
    labels: Array, a: int, b: int, first_token: int, size: int, counters: Counters, counts: Array
) -> None:
    """counts[j] = Σ over the steps of labels[a:b] of what they add to counter j."""
    pairs, moves, masks = counters.pairs, counters.moves, counters.masks
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


@helper
def limit_of(sums: Sums, r: int, length: int) -> float:
    """The bound of sum r for sequences of a length, rounded as Linear.limit does."""
    return np.floor((sums.limits[r, 0] + sums.limits[r, 1] * length) * 1e9 + 0.5) / 1e9


@helper
def exceed(counts: Array, length: int, sums: Sums, violations: Array, n: int) -> None:
    """violations[n,r] = how far Σ weight · count is beyond its bound."""
    rows, terms = sums.rows, sums.terms
    for r in range(len(sums.limits)):
        total = 0
        for k in range(rows[r], rows[r + 1]):
            total += terms[k, 0] * counts[terms[k, 1]]
        beyond = total - limit_of(sums, r, length)
        violations[n, r] = beyond if beyond > 0 else 0.0


@helper
def read(labels: Array, a: int, b: int, first_token: int, size: int, automata: Automata, m: int) -> float:
    """The charges of automaton m."""
    row, first_step, first_arc = automata.machines[m, 0], automata.machines[m, 1], automata.machines[m, 2]
    width, state = automata.machines[m, 3], automata.machines[m, 4]
    k, last, end = 0, b - a, size - 1
    if row >= 0:
        stop = automata.readings[row + 1]
        k = first_from(automata.tokens, automata.readings[row], stop, first_token)
        last = first_from(automata.tokens, k, stop, first_token + b - a)
    charged = 0.0
    while k <= last:
        i, kind = b, 0
        if k < last:
            i = a + k if row < 0 else a + automata.tokens[k] - first_token
            kind = 0 if row < 0 else automata.classes[k]
        before, label = labels[i - 1] if i > a else end, labels[i] if i < b else end
        symbol = automata.steps[first_step + (kind * size + before) * size + label]
        arc = first_arc + state * width + symbol
        charged += automata.cost[arc]
        state = automata.arcs[arc]
        k += 1
    return charged


@helper(inline="always")
def judge(
    labels: Array, a: int, b: int, first_token: int, ground: Ground, counts: Array, violations: Array, n: int
) -> None:
    """Fill counts and violations[n] for labels[a:b]: first the sums, then the automata."""
    count(labels, a, b, first_token, ground.size, ground.counters, counts)
    exceed(counts, b - a, ground.sums, violations, n)
    for m in range(len(ground.automata.machines)):
        violations[n, len(ground.sums.limits) + m] = read(
            labels, a, b, first_token, ground.size, ground.automata, m
        )


@kernel
def violations_of(
    labels: Array, bounds: Array, first_token: Array, ground: Ground, first: int, last: int, violations: Array
) -> None:
    """Fill violations[first:last]. A labelling of −1 violates nothing."""
    most = 0
    for i in range(len(ground.sums.terms)):
        most = max(most, ground.sums.terms[i, 1])
    counts = np.zeros(most + 1, dtype=np.int64)
    for n in range(first, last):
        a, b = bounds[n], bounds[n + 1]
        if b > a and labels[a] < 0:
            for p in range(violations.shape[1]):
                violations[n, p] = 0.0
            continue
        judge(labels, a, b, first_token[n], ground, counts, violations, n)
