"""Sums of counters, their multipliers, and the subgradient steps that every dual descent takes.

    D(λ) = max over labellings of (score − Σ_k λ_k · x_k) + Σ_k λ_k · limit_k,     0 ≤ λ_k ≤ upper_k

is an upper bound for every λ. Steps follow Polyak 1969: they would close the gap to a target if D were
linear. While D falls the target is moved further away; when it does not, steps are halved.

Axes: K sums, J counters.
"""

from __future__ import annotations

import numpy as np

from conseq.kernels import rounding
from conseq.kernels.compiled import Array, helper, kernel
from conseq.kernels.violations import Sums

PATIENCE = 3
"""Rounds without a better bound after which steps are halved."""

LEAST, STEP, SPREAD, IDLE, ROUNDS = 0, 1, 2, 3, 4
"""What `Descent` arrays hold: the least bound, the share of Polyak's step that is taken, how far below the
least bound the target lies at most, rounds without progress, rounds."""


@kernel
def descent(spread: float) -> Array:
    """The state of a descent that has not begun, which aims `spread` below the bound at first."""
    state = np.zeros(5)
    state[LEAST], state[STEP], state[SPREAD] = np.inf, 1.0, spread
    return state


@kernel
def note(state: Array, bound: float) -> bool:
    """Take note of the bound at the present point; whether it is the least so far."""
    if bound < state[LEAST] - rounding.in_kernels(bound):
        state[SPREAD] *= 2 if state[ROUNDS] > 0 else 1
        state[IDLE] = 0
    else:
        state[IDLE] += 1
    if state[IDLE] >= PATIENCE:
        state[STEP], state[SPREAD], state[IDLE] = state[STEP] / 2, state[SPREAD] / 2, 0
    state[ROUNDS] += 1
    better = bound < state[LEAST]
    state[LEAST] = min(state[LEAST], bound)
    return better


@kernel
def gap_to_close(state: Array, bound: float, reached: float) -> float:
    """How far the next step goes down, by Polyak's rule; `reached` is the best score known."""
    return state[STEP] * (bound - max(reached, state[LEAST] - state[SPREAD]))


@kernel
def move(multipliers: Array, excess: Array, upper: Array, gap: float) -> bool:
    """λ ← clip(λ + gap / ‖excess‖² · excess, 0, upper): whether there was anywhere to go.

    excess[K] = x − limit is the slope of −D. What the box blocks is left out of the norm.
    """
    size = 0.0
    for k in range(len(excess)):
        below = multipliers[k] <= 0 and excess[k] <= 0
        above = multipliers[k] >= upper[k] and excess[k] >= 0
        if not (below or above):
            size += excess[k] * excess[k]
    if size == 0:
        return False
    for k in range(len(excess)):
        moved = multipliers[k] + gap / size * excess[k]
        multipliers[k] = min(max(moved, 0.0), upper[k])
    return True


@helper
def dot(a: Array, b: Array) -> float:
    """Σ a · b."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@helper
def totals(sums: Sums, counts: Array, x: Array) -> None:
    """x[k] = Σ coefficient · count."""
    for k in range(len(x)):
        x[k] = 0.0
        for i in range(sums.rows[k], sums.rows[k + 1]):
            x[k] += sums.terms[i, 0] * counts[sums.terms[i, 1]]


@helper
def weigh(sums: Sums, multipliers: Array, base: Array, weights: Array) -> None:
    """weights[j] = Σ_k (λ_k − base_k) · coefficient of counter j."""
    for j in range(len(weights)):
        weights[j] = 0.0
    for k in range(len(multipliers)):
        if multipliers[k] != base[k]:
            for i in range(sums.rows[k], sums.rows[k + 1]):
                weights[sums.terms[i, 1]] += (multipliers[k] - base[k]) * sums.terms[i, 0]
