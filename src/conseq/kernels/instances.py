"""A tree over sorted instances: what shares its first values shares a path.

rows[U,F], distinct and sorted  ─→ build_tree ─→ Tree: node 0 is the root, children lie side by side

node i at depth d: the rows low[i]:high[i], all with the same first d values
                   its children child[i]:child[i+1], one for each next value, ascending
                   none if it holds few rows: those are looked at one by one
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from conseq.kernels.compiled import Array, helper

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
def bit_of(value: int) -> np.int64:
    """The bit of a mask that stands for a value."""
    return np.int64(1) << np.int64(value % BITS)


def build_tree(rows: NDArray[np.int32], few: int = 4) -> Tree:
    """The tree over rows that are distinct and sorted by their columns, the first one first.

    >>> tree = build_tree(np.array([[0, 0], [0, 1], [1, 0]], dtype=np.int32), few=1)
    >>> tree.child.tolist(), tree.value.tolist(), tree.low.tolist(), tree.high.tolist()
    ([1, 3, 5, 5, 5, 5], [0, 0, 1, 0, 1], [0, 0, 2, 0, 1], [3, 2, 3, 1, 2])
    """
    new = np.arange(len(rows)) == 0  # whether the first values differ from those of the row before
    divided = np.ones(len(rows), dtype=bool)  # whether a node of this depth, with children, holds the row
    values, lows, sizes = [rows[:1, 0] * 0], [np.array([0])], [np.array([len(rows)])]
    numbers = []  # of the children, level by level
    for column in rows.T:
        large = sizes[-1] > max(few, 1)
        divided[divided] = np.repeat(large, sizes[-1])
        new[1:] |= column[1:] != column[:-1]
        begins, inner = new[divided], sizes[-1][large]
        numbers.append(np.zeros(len(large), dtype=np.int64))
        numbers[-1][large] = np.add.reduceat(begins, np.cumsum(inner) - inner, dtype=np.int64)
        lows.append(np.flatnonzero(divided & new))
        sizes.append(np.diff(np.append(np.flatnonzero(begins), len(begins))))
        values.append(column[lows[-1]])
    numbers.append(np.zeros(len(sizes[-1]), dtype=np.int64))
    low = np.concatenate(lows).astype(np.int32)
    high = (low + np.concatenate(sizes)).astype(np.int32)
    child = (1 + np.append(0, np.cumsum(np.concatenate(numbers)))).astype(np.int32)
    mask = _masks(rows, child, low, np.cumsum([0, *map(len, numbers)]).tolist())
    pending = 1 + sum(int(number.max(initial=0)) for number in numbers)
    return Tree(rows, np.concatenate(values), child, low, high, mask, pending)


def _masks(rows: Array, child: Array, low: Array, levels: list[int]) -> Array:
    """Those of nodes without children from their rows, then those of parents, the deepest first."""
    mask = np.empty((len(low), rows.shape[1]), dtype=np.int64)
    last = np.flatnonzero(np.diff(child) == 0)
    last = last[np.argsort(low[last])]
    bits = np.int64(1) << (rows % BITS).astype(np.int64)
    mask[last] = np.bitwise_or.reduceat(bits, low[last], axis=0)
    for begin, end in reversed(list(pairwise(levels))):
        parents = begin + np.flatnonzero(np.diff(child[begin : end + 1]))
        below = mask[child[begin] : child[end]]
        mask[parents] = np.bitwise_or.reduceat(below, child[parents] - child[begin], axis=0)
    return mask
