"""How far apart two values of a feature are.

    ids[N,F], classes[N], distance of each feature ─→ measure_of ─→ Measure for the kernels
    Table ─→ alike ─→ which values cannot be told apart by their classes
    Measure, ids[M,F] ─→ asking ─→ Queries for the kernels

Where values differ as their classes do, those with the same share of each class are as good as one value;
merging them makes instances equal that were not, and the search shorter. Those that remain are numbered so
that values with similar shares have the same bit in the masks of the tree, which makes its bounds tight.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from conseq.kernels import neighbours
from conseq.kernels.instances import BITS
from conseq.kernels.neighbours import Measure, Queries
from conseq.models.memory.weights import Table
from conseq.threads import map_chunks
from conseq.vocabulary import UNSEEN

DISTANCES = {
    "overlap": neighbours.OVERLAP,
    "mvdm": neighbours.VALUES,
    "jensen-shannon": neighbours.SHANNON,
    "jeffrey": neighbours.JEFFREY,
    "numeric": neighbours.NUMBERS,
}
"""By name: overlap, modified value difference, two divergences, and difference of numbers."""

TABULATED = 128
"""Features with this number of values or fewer get a table of all value differences."""
ROUNDING = 1e-12
"""How wrong a sum of distances may be, as a share of the largest distance."""


def by_classes(kinds: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Which features have values that differ as the classes do that go with them."""
    return (kinds != neighbours.OVERLAP) & (kinds != neighbours.NUMBERS)


def alike(table: Table, threshold: int = 1) -> NDArray[np.int32]:
    """For each value the number of its group: values of a group have the same share of each class.

    >>> table = Table.of(np.array([0, 1, 1, 2]), np.array([0, 0, 0, 1]), 3, 2)
    >>> alike(table).tolist(), alike(table, threshold=2).tolist()
    ([0, 0, 1], [0, 1, 2])

    A value seen less often than the threshold is like no other; one that was never seen has no group, −1.
    Groups are ordered by the class that has the largest share, then by that share, and numbered so that those
    next to each other have the same bit.
    """
    bounds = np.concatenate([[0], np.cumsum(np.bincount(table.value, minlength=len(table.values)))]).tolist()
    shares, classes = table.shares, table.cls
    groups: dict[object, int] = {}
    leading: list[tuple[int, float]] = []
    found = np.full(len(table.values), UNSEEN, dtype=np.int32)
    rare = (table.values < threshold).tolist()
    for value in np.flatnonzero(table.values).tolist():
        own = slice(bounds[value], bounds[value + 1])
        key = value if rare[value] else (classes[own].tobytes(), shares[own].tobytes())
        found[value] = groups.setdefault(key, len(groups))
        if found[value] == len(leading):
            top = bounds[value] + int(np.argmax(shares[own]))
            leading.append((int(classes[top]), float(shares[top])))
    return np.append(_numbers(leading), np.int32(UNSEEN))[found]


def _numbers(leading: list[tuple[int, float]]) -> NDArray[np.int32]:
    """Numbers for things in such an order that neighbours in it have the same remainder modulo BITS.

    >>> _numbers([(place, 0.0) for place in range(65)])[:5].tolist()
    [0, 63, 1, 64, 2]
    """
    order = sorted(range(len(leading)), key=leading.__getitem__)
    slots = np.arange(len(leading), dtype=np.int32)
    numbers = np.empty_like(slots)
    numbers[order] = slots[np.argsort(slots % BITS, kind="stable")]
    return numbers


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
    differ = by_classes(kinds)
    for f, kind in enumerate(kinds):
        if kind == neighbours.NUMBERS and numbers is not None:
            number[start[f] + rows[:, f]] = numbers[:, f]
        elif differ[f]:
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
    small = by_classes(kinds) & (sizes <= TABULATED)
    areas = sizes[small] ** 2
    square = np.full(len(sizes), -1, dtype=np.int64)
    square[small] = np.cumsum(areas) - areas
    measure = Measure(
        kinds, weight, start, bounds, cls, share, number,
        square, np.zeros(areas.sum()), ROUNDING * float(weight.sum()),
    )  # fmt: skip
    for f in np.flatnonzero(small).tolist():
        neighbours.tabulate(measure, f)
    return measure


def asking(
    measure: Measure, ids: NDArray[np.int32], numbers: NDArray[np.float64], threads: int = 1
) -> Queries:
    """Queries with what each of their values is at least away from others."""
    seen = by_classes(measure.kind) & (ids >= 0)
    places, floor = np.unique((ids + measure.start[:-1])[seen], return_inverse=True)
    which = np.full(ids.shape, -1, dtype=np.int32)
    which[seen] = floor
    feature = np.digitize(places, measure.start) - 1
    least = np.empty((len(places), BITS))

    def work(first: int, last: int) -> None:
        neighbours.floors(measure, feature, places, first, last, least)

    pieces = min(threads, max(len(places), 1))
    map_chunks(work, np.linspace(0, len(places), pieces + 1).astype(np.int64), threads)
    return Queries(ids, numbers, which, least)
