"""A tree over sorted instances: what shares its first values shares a path.

rows[U,F], distinct and sorted  ─→ build_tree ─→ Tree: node 0 is the root, children lie side by side

node i at depth d: the rows low[i]:high[i], all with the same first d values
                   its children child[i]:child[i+1], one for each next value, ascending
                   none if it holds few rows: those are looked at one by one
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conseq.kernels.compiled import helper, kernel

Array = NDArray[Any]


BITS = 63
"""Of a mask, which is never negative so."""


class Tree(NamedTuple):
    """Distinct instances in order, and the nodes above them."""

    rows: NDArray[np.int32]  # [U,F]
    value: NDArray[np.int32]  # [n] what the rows of a node have in the column before its depth
    child: NDArray[np.int32]  # [n+1]
    low: NDArray[np.int32]  # [n]
    high: NDArray[np.int32]  # [n]
    mask: NDArray[np.int64]  # [n,F] bit (value modulo BITS) is set for each value that rows of a node have
    pending: int  # nodes that wait at the same time, at most, in a search depth first


@helper
def _doubled(array: Array) -> Array:
    larger = np.empty(2 * array.size, dtype=array.dtype)
    for i in range(array.size):  # a slice would take seconds to compile
        larger[i] = array[i]
    return larger


@kernel
def _build(rows: Array, few: int) -> tuple[Array, Array, Array, Array, int]:
    size, n = 1024, 1
    value, child = np.zeros(size, dtype=np.int32), np.zeros(size + 1, dtype=np.int32)
    low, high = np.zeros(size, dtype=np.int32), np.zeros(size, dtype=np.int32)
    high[0] = rows.shape[0]
    pending, widest, depth, level_ends = 1, 0, 0, 1
    node = 0
    while node < n:
        if node == level_ends:
            pending, widest, depth, level_ends = pending + widest, 0, depth + 1, n
        child[node] = n
        if high[node] - low[node] > few:
            begun = low[node]
            for row in range(low[node] + 1, high[node] + 1):
                if row == high[node] or rows[row, depth] != rows[begun, depth]:
                    if n == value.size:
                        value, low, high, child = (
                            _doubled(value),
                            _doubled(low),
                            _doubled(high),
                            _doubled(child),
                        )
                    value[n], low[n], high[n] = rows[begun, depth], begun, row
                    begun = row
                    n += 1
            widest = max(widest, n - child[node])
        node += 1
    child[n] = n
    return value[:n].copy(), child[: n + 1].copy(), low[:n].copy(), high[:n].copy(), pending + widest


@helper
def bit_of(value: int) -> np.int64:
    """The bit of a mask that stands for a value."""
    return np.int64(1) << np.int64(value % BITS)


@kernel
def _masks(rows: Array, child: Array, low: Array, high: Array) -> Array:
    """Children come after their parent, so the last nodes are done first."""
    mask = np.zeros((low.size, rows.shape[1]), dtype=np.int64)
    for node in range(low.size - 1, -1, -1):
        if child[node] < child[node + 1]:
            for below in range(child[node], child[node + 1]):
                for f in range(rows.shape[1]):
                    mask[node, f] |= mask[below, f]
        else:
            for row in range(low[node], high[node]):
                for f in range(rows.shape[1]):
                    mask[node, f] |= bit_of(rows[row, f])
    return mask


def build_tree(rows: NDArray[np.int32], few: int = 4) -> Tree:
    """The tree over rows that are distinct and sorted by their columns, the first one first.

    >>> tree = build_tree(np.array([[0, 0], [0, 1], [1, 0]], dtype=np.int32), few=1)
    >>> tree.child.tolist(), tree.value.tolist(), tree.low.tolist(), tree.high.tolist()
    ([1, 3, 5, 5, 5, 5], [0, 0, 1, 0, 1], [0, 0, 2, 0, 1], [3, 2, 3, 1, 2])
    """
    value, child, low, high, pending = _build(rows, max(few, 1))
    return Tree(rows, value, child, low, high, _masks(rows, child, low, high), pending)
