"""How much each feature tells about the class.

    values of a feature, classes ─→ Table: how often each value goes with each class ─→ a weight

    information gain  H(C) − Σ_v p(v) H(C | v)        gain ratio  information gain / H(V)
    chi-squared  Σ_vc (E − O)² / E = N (Σ_vc O² / (n_v n_c) − 1)
    shared variance  chi-squared / (N · (min(|C|, |V|) − 1))

Quinlan 1993; White and Liu 1994. Numbers are first put into 20 bins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BINS = 20


@dataclass(frozen=True, eq=False)
class Table:
    """How often each value goes with each class, without the zeros, by value and then class."""

    value: NDArray[np.int32]
    cls: NDArray[np.int32]
    count: NDArray[np.float64]
    values: NDArray[np.float64]  # [V] how often each value was seen
    classes: NDArray[np.float64]  # [C] how often each class was seen

    @classmethod
    def of(cls, values: NDArray, classes: NDArray, n_values: int, n_classes: int) -> Table:
        """Count the values of one feature.

        >>> table = Table.of(np.array([0, 0, 1]), np.array([0, 1, 1]), 2, 2)
        >>> table.value.tolist(), table.cls.tolist(), table.count.tolist()
        ([0, 0, 1], [0, 1, 1], [1.0, 1.0, 1.0])
        """
        pairs, count = np.unique(values.astype(np.int64) * n_classes + classes, return_counts=True)
        return cls(
            (pairs // n_classes).astype(np.int32),
            (pairs % n_classes).astype(np.int32),
            count.astype(np.float64),
            np.bincount(values, minlength=n_values).astype(np.float64),
            np.bincount(classes, minlength=n_classes).astype(np.float64),
        )

    @property
    def shares(self) -> NDArray[np.float64]:
        """p(class | value) of each entry."""
        return self.count / self.values[self.value]


def entropy(counts: NDArray[np.float64]) -> float:
    """In bits.

    >>> entropy(np.array([2.0, 2.0, 0.0]))
    1.0
    """
    p = counts[counts > 0] / counts.sum()
    return float(-(p * np.log2(p)).sum())


def information_gain(table: Table) -> float:
    n = table.values.sum()
    share = table.shares
    within = -(table.count / n * np.log2(share)).sum()
    return max(entropy(table.classes) - float(within), 0.0)


def gain_ratio(table: Table) -> float:
    spread = entropy(table.values)
    return information_gain(table) / spread if spread > 0 else 0.0


def chi_squared(table: Table) -> float:
    expected = table.values[table.value] * table.classes[table.cls]
    return max(float(table.values.sum() * ((table.count**2 / expected).sum() - 1)), 0.0)


def shared_variance(table: Table) -> float:
    smaller = min(np.count_nonzero(table.values), np.count_nonzero(table.classes))
    return chi_squared(table) / (table.values.sum() * (smaller - 1)) if smaller > 1 else 0.0


def unweighted(table: Table) -> float:
    return 1.0


WEIGHTS: Mapping[str, Callable[[Table], float]] = {
    "none": unweighted,
    "gain-ratio": gain_ratio,
    "information-gain": information_gain,
    "chi-squared": chi_squared,
    "shared-variance": shared_variance,
}
"""By name: what a feature weighs."""


def binned(numbers: NDArray[np.float64]) -> NDArray[np.int32]:
    """The bin of each number: the distinct numbers in order, cut into bins of equal size, larger ones first.

    >>> binned(np.array([1.0, 5.0, 1.0, 9.0])).tolist()
    [0, 1, 0, 2]
    """
    values, place = np.unique(numbers, return_inverse=True)
    parts = np.array_split(np.empty(len(values)), BINS)
    return np.repeat(np.arange(BINS, dtype=np.int32), [len(part) for part in parts])[place]
