"""Dual decomposition on a lattice (Soft-DD): multipliers for the sums, an upper bound, the best labelling
met.

    graph, additions, sums ─→ multipliers[K], the least upper bound, the best path met

    D(λ) = max over paths of Σ gain − Σ_k λ_k·x_k, plus Σ_k λ_k·limit_k,     0 ≤ λ_k ≤ penalty_k

Axes: E edges, R counters, K sums, B nodes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conseq.kernels import rounding
from conseq.kernels.compiled import helper, kernel
from conseq.kernels.lattice import Graph, completions
from conseq.kernels.multipliers import STEP, descent, dot, gap_to_close, move, note, totals, weigh
from conseq.kernels.violations import Sums

Array = NDArray[Any]

SHORTEST = 1e-3
"""Steps shorter than this share of Polyak's are not worth a round."""

LIMIT, PENALTY, MULTIPLIER, RISES, FALLS = 0, 1, 2, 3, 4
"""The columns of the `limits` of sums on a lattice: the multiplier that the gains are shifted by, and
whether the sum may rise and fall."""


class Additions(NamedTuple):
    """What edge e adds to counters: added[begins[e]:begins[e+1]], rows (counter, amount)."""

    begins: Array
    added: Array


class Dual(NamedTuple):
    """Where a dual descent on a lattice begins, and what it leaves."""

    base: Array  # [K], the multipliers that the gains are shifted by already
    multipliers: Array  # [K], at first where to start, then those of the least bound
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
def shift(gains: Array, additions: Additions, weights: Array, shifted: Array) -> None:
    """shifted[e] = gains[e] − Σ_r weights[r] · what edge e adds to counter r."""
    for e in range(len(shifted)):
        off = 0.0
        for i in range(additions.begins[e], additions.begins[e + 1]):
            off += weights[additions.added[i, 0]] * additions.added[i, 1]
        shifted[e] = gains[e] - off


@helper
def follow(graph: Graph, following: Array, additions: Additions, path: Array, counts: Array) -> float:
    """Walk the best path from the root: its edges, its counts, and its gain."""
    for r in range(len(counts)):
        counts[r] = 0
    node, gained, k = 0, 0.0, 0
    while following[node] >= 0:
        e = following[node]
        gained += graph.gains[e]
        for i in range(additions.begins[e], additions.begins[e + 1]):
            counts[additions.added[i, 0]] += additions.added[i, 1]
        node = graph.targets[e]
        path[k] = e
        k += 1
    for rest in range(k, len(path)):
        path[rest] = -1
    return gained


@kernel
def descend(
    graph: Graph,
    additions: Additions,
    n_counters: int,
    sums: Sums,
    aims: tuple[float, float, float],
    iterations: int,
    dual: Dual,
) -> tuple[float, float, int]:
    """The least upper bound, the score of the best path met (−inf: none), and the iterations made.

    aims    floor: the lattice has all labellings of at least this score; known: a score that is reached;
    spread:
            how far below the bound to aim at first
    """
    floor, known, spread = aims
    limits, ceilings, zeros = (
        np.zeros(len(sums.limits)),
        np.zeros(len(sums.limits)),
        np.zeros(len(sums.limits)),
    )
    x, excess, trial = np.zeros(len(limits)), np.zeros(len(limits)), np.zeros(len(limits))
    for k in range(len(limits)):
        limits[k], ceilings[k], trial[k] = sums.limits[k, LIMIT], sums.limits[k, PENALTY], dual.multipliers[k]
    following = np.empty(len(dual.rest), dtype=np.int64)
    counts, weights = np.zeros(n_counters), np.zeros(n_counters)
    path = np.empty(len(dual.path), dtype=np.int64)
    score, done, state = -np.inf, 0, descent(spread)
    moved = Graph(graph.first, graph.targets, dual.shifted)
    bound = np.inf
    while done < iterations:
        weigh(sums, trial, dual.base, weights)
        shift(graph.gains, additions, weights, dual.shifted)
        completions(moved, dual.rest, following)
        done += 1
        if dual.rest[0] == -np.inf:
            bound = -np.inf
            break
        gained = follow(graph, following, additions, path, counts)
        totals(sums, counts, x)
        value, gained = dual.rest[0] + dot(trial, limits), gained + dot(dual.base, x)
        if gained - charge(x, sums.limits) > score:
            score = gained - charge(x, sums.limits)
            for k in range(len(path)):
                dual.path[k] = path[k]
        if note(state, value):
            bound = value
            for k in range(len(trial)):
                dual.multipliers[k] = trial[k]
        reached = max(score, known)
        if bound < floor or bound <= reached + rounding.in_kernels(bound) or state[STEP] < SHORTEST:
            break
        for k in range(len(x)):
            excess[k] = x[k] - limits[k]
        if not move(trial, excess, zeros, ceilings, gap_to_close(state, value, reached)):
            break
    weigh(sums, dual.multipliers, dual.base, weights)
    shift(graph.gains, additions, weights, dual.shifted)
    completions(moved, dual.rest, following)
    return bound, score, done
