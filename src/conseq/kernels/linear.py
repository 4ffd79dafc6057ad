"""Long vectors in one pass instead of several.

Sums are in double precision whatever the vectors are. What sums nothing rounds as NumPy does.
"""

from __future__ import annotations

import numpy as np

from conseq.kernels.compiled import Array, kernel

ANY_ORDER = {"reassoc", "contract"}
"""Sums may be taken in the order that suits the processor; it is the same in every run."""


@kernel(fastmath=ANY_ORDER)
def dot(a: Array, b: Array) -> float:
    """Σ a · b."""
    total = 0.0
    for i in range(a.size):
        total += np.float64(a[i]) * np.float64(b[i])
    return total


@kernel(fastmath=ANY_ORDER)
def add_dot(q: Array, factor: float, a: Array, b: Array) -> float:
    """q += factor · a; then Σ b · q."""
    total, share = 0.0, q.dtype.type(factor)
    for i in range(q.size):
        q[i] += share * a[i]
        total += np.float64(b[i]) * np.float64(q[i])
    return total


@kernel(fastmath=ANY_ORDER)
def add_scale_dot(q: Array, factor: float, a: Array, scale: Array, times: float, b: Array) -> float:
    """q = (q + factor · a) · scale · times; then Σ b · q."""
    total, share, all_of_it = 0.0, q.dtype.type(factor), q.dtype.type(times)
    for i in range(q.size):
        q[i] = (q[i] + share * a[i]) * scale[i] * all_of_it
        total += np.float64(b[i]) * np.float64(q[i])
    return total


@kernel(fastmath=ANY_ORDER)
def scaled_square(a: Array, scale: Array) -> float:
    """Σ scale · a²."""
    total = 0.0
    for i in range(a.size):
        total += np.float64(scale[i]) * np.float64(a[i]) * np.float64(a[i])
    return total


@kernel
def sum_times(a: Array, factor: float, b: Array, out: Array) -> None:
    """out = a + factor · b, rounded twice; `out` may be `a`."""
    for i in range(out.size):
        out[i] = a[i] + factor * b[i]
