"""How far apart two values of a feature are.

    ids[N,F], classes[N], metric of each feature ─→ measure_of ─→ Measure for the kernels
    Table ─→ alike ─→ which values cannot be told apart by their classes

Under modified value difference, values with the same share of each class are as good as one value; merging
them makes instances equal that were not, and the search shorter.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from conseq.kernels import neighbours
from conseq.kernels.neighbours import Measure
from conseq.models.memory.weights import Table

METRICS = {"overlap": neighbours.OVERLAP, "mvdm": neighbours.VALUES, "numeric": neighbours.NUMBERS}
"""By name: overlap, modified value difference, and difference of numbers."""

TABULATED = 128
"""Features with so many values or fewer get a table of all value differences."""
ROUNDING = 1e-12
"""How wrong a sum of distances may be, as a share of the largest distance."""


def alike(table: Table, threshold: int = 1) -> NDArray[np.int32]:
    """For each value the number of its group: values of a group have the same share of each class.

    >>> table = Table.of(np.array([0, 1, 1, 2]), np.array([0, 0, 0, 1]), 3, 2)
    >>> alike(table).tolist(), alike(table, threshold=2).tolist()
    ([0, 0, 1], [0, 1, 2])

    A value seen less often than the threshold is like no other.
    """
    bounds = np.concatenate([[0], np.cumsum(np.bincount(table.value, minlength=len(table.values)))]).tolist()
    shares, classes = table.shares, table.cls
    groups: dict[object, int] = {}
    found = np.empty(len(table.values), dtype=np.int32)
    rare = (table.values < threshold).tolist()
    for value in range(len(found)):
        own = slice(bounds[value], bounds[value + 1])
        key = value if rare[value] else (classes[own].tobytes(), shares[own].tobytes())
        found[value] = groups.setdefault(key, len(groups))
    return found


def measure_of(
    rows: NDArray[np.int32],
    classes: NDArray[np.int32],
    kinds: NDArray[np.int8],
    weight: NDArray[np.float64],
    numbers: NDArray[np.float64] | None,
    threshold: int = 1,
) -> Measure:
    """The measure over instances whose features are already in the order of the tree.

    Of values seen less often than the threshold nothing is known but whether they are equal.
    """
    sizes = rows.max(axis=0).astype(np.int64) + 1
    n_classes = int(classes.max()) + 1
    start = np.concatenate([[0], np.cumsum(sizes)])
    counts = np.zeros(start[-1] + 1, dtype=np.int64)
    number = np.zeros(start[-1] if numbers is not None else 0)
    cls, share = [np.zeros(0, dtype=np.int32)], [np.zeros(0)]
    for f, kind in enumerate(kinds):
        if kind == neighbours.NUMBERS and numbers is not None:
            number[start[f] + rows[:, f]] = numbers[:, f]
        elif kind == neighbours.VALUES:
            table = Table.of(rows[:, f], classes, int(sizes[f]), n_classes)
            known = table.values[table.value] >= threshold
            counts[start[f] + 1 : start[f + 1] + 1] = np.bincount(table.value[known], minlength=sizes[f])
            cls.append(table.cls[known])
            share.append(table.shares[known])
    return tabulated(
        kinds, weight, start, np.cumsum(counts), np.concatenate(cls), np.concatenate(share), number
    )


def tabulated(
    kinds: NDArray[np.int8],
    weight: NDArray[np.float64],
    start: NDArray[np.int64],
    bounds: NDArray[np.int64],
    cls: NDArray[np.int32],
    share: NDArray[np.float64],
    number: NDArray[np.float64],
) -> Measure:
    """A measure with tables of value differences where there are few values."""
    sizes = np.diff(start)
    small = (kinds == neighbours.VALUES) & (sizes <= TABULATED)
    areas = sizes[small] ** 2
    square = np.full(len(sizes), -1, dtype=np.int64)
    square[small] = np.cumsum(areas) - areas
    measure = Measure(
        kinds, weight, start, bounds, cls, share, number,
        square, np.zeros(areas.sum()), np.zeros(start[-1]), ROUNDING * float(weight.sum()),
    )  # fmt: skip
    for f in np.flatnonzero(small).tolist():
        neighbours.tabulate(measure, f)
    return measure
