"""Dual decomposition on a lattice (Soft-DD): multipliers for the sums, an upper bound, the best labelling
met.

    graph, amounts[E,R], sums ─→ multipliers[K], the least upper bound, the best path met

    D(λ) = max over paths of Σ gain − Σ_k λ_k·x_k, plus Σ_k λ_k·limit_k,     0 ≤ λ_k ≤ penalty_k

Axes: E edges, R totals that the sums are of, K sums, B nodes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from conseq.kernels import rounding
from conseq.kernels.compiled import Array, helper, kernel
from conseq.kernels.lattice import Graph, completions
from conseq.kernels.multipliers import STEP, descent, dot, gap_to_close, move, note, totals, weigh
from conseq.kernels.violations import Sums

SHORTEST = 1e-3
"""Steps shorter than this share of Polyak's are not worth a round."""

LIMIT, PENALTY, MULTIPLIER, RISES, FALLS = 0, 1, 2, 3, 4
"""The columns of the `limits` of sums on a lattice: the multiplier that the gains are shifted by, and
whether the sum may rise and fall."""


class Dual(NamedTuple):
    """What a dual descent on a lattice leaves."""

    bound: float  # the least upper bound
    score: float  # of the best path met; −inf: none
    rounds: int
    multipliers: Array  # [K], those of the least bound
    shifted: Array  # [E], the gains shifted by them
    rest: Array  # [B], the completions of these
    path: Array  # [L+1], the edges of the best path met, then −1


@helper
def charge(x: Array, limits: Array) -> float:
    """Σ penalty · violation."""
    total = 0.0
    for k in range(len(x)):
        if x[k] > limits[k, LIMIT]:
            total += limits[k, PENALTY] * (x[k] - limits[k, LIMIT])
    return total


@helper
def shift(gains: Array, amounts: Array, weights: Array, shifted: Array) -> None:
    """shifted[e] = gains[e] − Σ_r weights[r] · amounts[e,r]."""
    for e in range(len(shifted)):
        shifted[e] = gains[e]
    for r in range(len(weights)):
        if weights[r] != 0:
            for e in range(len(shifted)):
                shifted[e] -= weights[r] * amounts[e, r]


@helper
def follow(graph: Graph, following: Array, amounts: Array, path: Array, counts: Array) -> float:
    """Walk the best path from the root: its edges, its totals, and its gain."""
    for r in range(len(counts)):
        counts[r] = 0
    node, gained, k = 0, 0.0, 0
    while following[node] >= 0:
        e = following[node]
        gained += graph.gains[e]
        for r in range(len(counts)):
            counts[r] += amounts[e, r]
        node = graph.targets[e]
        path[k] = e
        k += 1
    for rest in range(k, len(path)):
        path[rest] = -1
    return gained


@kernel
def descend(
    graph: Graph,
    amounts: Array,
    sums: Sums,
    base: Array,
    aims: tuple[float, float, float],
    most_rounds: int,
    length: int,
) -> tuple[float, float, int, Array, Array, Array, Array]:
    """Lower the bound step by step, from the multipliers base[K] on, by which the gains are shifted already;
    the fields of a `Dual`.

    amounts what each edge adds to each total, [E,R]
    aims    floor: the lattice has all labellings of at least this score; known: a score that is reached;
            spread: how far below the bound to aim at first
    """
    floor, known, spread = aims
    limits, ceilings = sums.limits[:, LIMIT].copy(), sums.limits[:, PENALTY].copy()
    multipliers, trial, x = base.copy(), base.copy(), np.zeros(len(base))
    counts, weights = np.zeros(amounts.shape[1]), np.zeros(amounts.shape[1])
    rest, following = np.empty(len(graph.first) - 1), np.empty(len(graph.first) - 1, dtype=np.int64)
    path, best = np.empty(length + 1, dtype=np.int64), np.empty(length + 1, dtype=np.int64)
    bound, score, done, state = np.inf, -np.inf, 0, descent(spread)
    moved = Graph(graph.first, graph.targets, np.empty(len(graph.gains)))
    while done < most_rounds:
        weigh(sums, trial, base, weights)
        shift(graph.gains, amounts, weights, moved.gains)
        completions(moved, rest, following)
        done += 1
        if rest[0] == -np.inf:
            bound = -np.inf
            break
        gained = follow(graph, following, amounts, path, counts)
        totals(sums, counts, x)
        value, reached = rest[0] + dot(trial, limits), gained + dot(base, x) - charge(x, sums.limits)
        if reached > score:
            score, path, best = reached, best, path
        if note(state, value):
            bound, multipliers = value, trial.copy()
        reached = max(score, known)
        if bound < floor or bound <= reached + rounding.in_kernels(bound) or state[STEP] < SHORTEST:
            break
        for k in range(len(x)):
            x[k] -= limits[k]
        if not move(trial, x, ceilings, gap_to_close(state, value, reached)):
            break
    weigh(sums, multipliers, base, weights)
    shift(graph.gains, amounts, weights, moved.gains)
    completions(moved, rest, following)
    return bound, score, done, multipliers, moved.gains, rest, best
