"""Multipliers for the sums over a band (Soft-DD): dual decomposition on a small graph.

    band, additions, sums ─→ multipliers[K], the least upper bound, the best labelling met

    D(λ) = max over ways of Σ gain − Σ_k λ_k·x_k, plus Σ_k λ_k·limit_k,     0 ≤ λ_k ≤ penalty_k

Steps go by Polyak's rule (`multipliers.move`) and are halved when D does not fall.

Axes: E edges, R counters, K sums, B nodes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from conseq.kernels.band import complete
from conseq.kernels.multipliers import PATIENCE, dot, move, values, weigh

Array = NDArray[Any]

SHORTEST = 1e-3
"""Steps shorter than this share of Polyak's are not worth a round."""


@njit(nogil=True, cache=True)
def charge(x: Array, shape: Array) -> float:
    """Σ penalty · violation."""
    total = 0.0
    for k in range(len(x)):
        if x[k] > shape[k, 0]:
            total += shape[k, 1] if shape[k, 3] > 0 else shape[k, 1] * (x[k] - shape[k, 0])
    return total


@njit(nogil=True, cache=True)
def shift(gains: Array, additions: tuple[Array, Array], weights: Array, shifted: Array) -> None:
    """shifted[e] = gains[e] − Σ_r weights[r] · what edge e adds to counter r."""
    begins, added = additions
    for e in range(len(shifted)):
        off = 0.0
        for i in range(begins[e], begins[e + 1]):
            off += weights[added[i, 0]] * added[i, 1]
        shifted[e] = gains[e] - off


@njit(nogil=True, cache=True)
def ceilings_of(shape: Array) -> Array:
    """How far multipliers may rise: to the penalty; not at all for soft sums that are charged once."""
    ceilings = np.empty(len(shape))
    for k in range(len(shape)):
        ceilings[k] = 0.0 if shape[k, 3] > 0 and shape[k, 1] < np.inf else shape[k, 1]
    return ceilings


@njit(nogil=True, cache=True)
def follow(
    targets: Array,
    following: Array,
    gains: Array,
    additions: tuple[Array, Array],
    n_nodes: int,
    way: Array,
    counts: Array,
) -> float:
    """Walk the best way from the root: its nodes, its counts, and its gain."""
    begins, added = additions
    for r in range(len(counts)):
        counts[r] = 0
    source, gained, t = -1, 0.0, 0
    while source < n_nodes:
        e = following[source + 1]
        gained += gains[e]
        for i in range(begins[e], begins[e + 1]):
            counts[added[i, 0]] += added[i, 1]
        source = targets[e]
        if source < n_nodes:
            way[t] = source
            t += 1
    return gained


@njit(nogil=True, cache=True)
def tighten(
    band: tuple[Array, Array, Array],
    n_nodes: int,
    additions: tuple[Array, Array],
    n_counters: int,
    sums: tuple[Array, Array, Array],
    floor: float,
    known: float,
    spread: float,
    iterations: int,
    base: Array,
    multipliers: Array,
    shifted: Array,
    rest: Array,
    way: Array,
) -> tuple[float, float, int]:
    """The least upper bound, the score of the best labelling met (−inf: none), and the iterations made.

    band       first, targets, gains;   additions: begins, added (`band.additions`)
    sums       rows, terms, shape (limit, penalty, ·, once, …)
    floor      the band has all labellings of at least this score
    known      a score that is reached;   spread: how far below the bound to aim at first
    base       the multipliers that the gains are shifted by already, [K]
    fills in   multipliers[K] (at first where to start) that give the bound, the gains shifted[E] and the
               rest[B+2] for them, and the nodes of the best way
    """
    first, targets, gains = band
    shape = sums[2]
    limits, ceilings = shape[:, 0].copy(), ceilings_of(shape)
    following = np.empty(n_nodes + 2, dtype=np.int64)
    counts, weights = np.zeros(n_counters), np.zeros(n_counters)
    x, trial = np.zeros(len(shape)), multipliers.copy()
    path = np.empty(len(way), dtype=np.int64)
    bound, score, step, idle, done = np.inf, -np.inf, 1.0, 0, 0
    while done < iterations:
        weigh(sums, trial, base, weights)
        shift(gains, additions, weights, shifted)
        complete(first, targets, shifted, n_nodes, rest, following)
        done += 1
        if rest[0] == -np.inf:
            bound = -np.inf
            break
        gained = follow(targets, following, gains, additions, n_nodes, path, counts)
        values(sums, counts, x)
        value, gained = rest[0] + dot(trial, limits), gained + dot(base, x)
        if gained - charge(x, shape) > score:
            score = gained - charge(x, shape)
            way[:] = path
        if value < bound - 1e-9 * (1 + abs(value)):
            spread, idle = 2 * spread if done > 1 else spread, 0
        else:
            idle += 1
        if value < bound:
            bound = value
            multipliers[:] = trial
        reached = max(score, known)
        if bound < floor or bound <= reached + 1e-9 * (1 + abs(bound)):
            break
        if idle >= PATIENCE:
            step, spread, idle = step / 2, spread / 2, 0
        if step < SHORTEST or not move(
            trial, x, limits, ceilings, step * (value - max(reached, bound - spread))
        ):
            break
    weigh(sums, multipliers, base, weights)
    shift(gains, additions, weights, shifted)
    complete(first, targets, shifted, n_nodes, rest, following)
    return bound, score, done
