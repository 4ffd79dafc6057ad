"""Sums and their multipliers: what Soft-DD on a chain (`softdd.py`) and on a band (`tighten.py`) share.

    sums = rows[K+1], terms[·,2] (coefficient, counter), …

Axes: K sums, J counters.
"""

from __future__ import annotations

from typing import Any

from numba import njit
from numpy.typing import NDArray

Array = NDArray[Any]

PATIENCE = 3
"""Rounds without a better bound after which steps are halved."""


@njit(nogil=True, cache=True)
def dot(a: Array, b: Array) -> float:
    """Σ a · b."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@njit(nogil=True, cache=True)
def values(sums: tuple[Array, Array, Array], counts: Array, x: Array) -> None:
    """x[k] = Σ coefficient · count."""
    rows, terms, _ = sums
    for k in range(len(x)):
        x[k] = 0.0
        for i in range(rows[k], rows[k + 1]):
            x[k] += terms[i, 0] * counts[terms[i, 1]]


@njit(nogil=True, cache=True)
def weigh(sums: tuple[Array, Array, Array], multipliers: Array, base: Array, weights: Array) -> None:
    """weights[j] = Σ_k (λ_k − base_k) · coefficient of counter j."""
    rows, terms, _ = sums
    for j in range(len(weights)):
        weights[j] = 0.0
    for k in range(len(multipliers)):
        if multipliers[k] != base[k]:
            for i in range(rows[k], rows[k + 1]):
                weights[terms[i, 1]] += (multipliers[k] - base[k]) * terms[i, 0]


@njit(nogil=True, cache=True)
def move(multipliers: Array, x: Array, limits: Array, ceilings: Array, gap: float) -> bool:
    """λ ← clip(λ + gap / ‖slope‖² · (x − limit), 0, ceiling): whether there was anywhere to go.

    This is Polyak's rule: the step closes the gap if the bound is linear there. What the box blocks is left
    out of the slope.
    """
    size = 0.0
    for k in range(len(x)):
        slope = x[k] - limits[k]
        if not ((multipliers[k] <= 0 and slope <= 0) or (multipliers[k] >= ceilings[k] and slope >= 0)):
            size += slope * slope
    if size == 0:
        return False
    for k in range(len(x)):
        moved = multipliers[k] + gap / size * (x[k] - limits[k])
        multipliers[k] = min(max(moved, 0.0), ceilings[k])
    return True
