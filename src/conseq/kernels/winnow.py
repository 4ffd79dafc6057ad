"""Winnow: linear units with positive weights that grow and shrink by factors.

    rows, labels, order[M] ─→ learn ─→ weights[A,K], with their sums over all updates
    rows, weights[A,K] ─→ activations[M,K]

Littlestone 1988; Roth 1998 (a network of units, one for each class, that is sparse: a unit has weights for
the attributes that its class was seen with).
"""

from __future__ import annotations

from typing import NamedTuple

from conseq.kernels.compiled import Array, helper, kernel


class Data(NamedTuple):
    """Rows m with the attributes attr[indptr[m]:indptr[m+1]]."""

    indptr: Array  # [M+1]
    attr: Array
    value: Array


class Rates(NamedTuple):
    """A unit fires above the threshold 1; it learns where it is not beyond it by `margin`."""

    promotion: float
    demotion: float
    margin: float


@helper
def activation(data: Data, weights: Array, row: int, unit: int) -> float:
    """Σ value · weight over the attributes of a row."""
    total = 0.0
    for place in range(data.indptr[row], data.indptr[row + 1]):
        total += data.value[place] * weights[data.attr[place], unit]
    return total


@kernel
def allocate(data: Data, labels: Array, weight: float, weights: Array) -> None:
    """Give each unit a weight for the attributes that its class is seen with."""
    for row in range(labels.size):
        for place in range(data.indptr[row], data.indptr[row + 1]):
            weights[data.attr[place], labels[row]] = weight


@kernel
def learn(data: Data, labels: Array, order: Array, rates: Rates, weights: Array) -> int:
    """An epoch, ─→ how many times a unit was changed."""
    changes = 0
    for i in range(order.size):
        row = order[i]
        for unit in range(weights.shape[1]):
            total = activation(data, weights, row, unit)
            if unit == labels[row]:
                if total > 1.0 + rates.margin:
                    continue
                factor = rates.promotion
            else:
                if total < 1.0 - rates.margin:
                    continue
                factor = rates.demotion
            changes += 1
            for place in range(data.indptr[row], data.indptr[row + 1]):
                weights[data.attr[place], unit] *= factor
    return changes


@kernel
def activations(data: Data, weights: Array, found: Array) -> None:
    """What each unit says of each row, [M,K]."""
    for row in range(found.shape[0]):
        for unit in range(found.shape[1]):
            found[row, unit] = activation(data, weights, row, unit)
