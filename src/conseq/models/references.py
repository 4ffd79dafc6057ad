"""What the tokens of training data refer to: rows in full, and single weights.

    Design, Layout ─→ References: token t ─→ its rows[·] and its single weights[·], each with its label

A row is worth having where it has many weights. Most rows belong to rare words and pairs of words and have
one or two: their tokens refer to those weights themselves. The rows that are left are so few that they stay
in the processor's cache.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from conseq.features.design import Design
from conseq.kernels import rows as row_kernels
from conseq.models.layout import Layout

FEW = 2
"""A row with so many weights, or fewer, is not made."""


@dataclass(frozen=True, eq=False)
class References:
    """T tokens, R rows."""

    row_start: NDArray[np.int64]  # [T+1]
    row: NDArray[np.int32]
    single_start: NDArray[np.int64]  # [T+1]
    single: NDArray[np.int32]  # places in the weight vector
    label: NDArray[np.int32]  # of each single weight
    indptr: NDArray[np.int64]  # [R+1] where the attributes of a row begin
    attr: NDArray[np.int32]
    value: NDArray[np.float32]

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1

    @classmethod
    def of(cls, design: Design, layout: Layout, tokens: NDArray[np.int64]) -> References:
        """For the tokens in this order."""
        row_of = design.row_of[tokens]
        weights = np.diff(layout.feature)[design.attr]
        sums = np.append(0, np.cumsum(weights))
        per_row = sums[design.indptr[1:]] - sums[design.indptr[:-1]]
        odd = np.append(0, np.cumsum(design.value != 1))  # single weights have no value
        few = (per_row <= FEW) & (odd[design.indptr[1:]] == odd[design.indptr[:-1]])
        kept = ~few[row_of]
        number = np.cumsum(~few) - 1
        row = number[row_of[kept]].astype(np.int32)
        row_start = np.append(0, np.cumsum(kept.sum(axis=1)))
        count = int(np.where(kept, 0, per_row[row_of]).sum())
        single_start = np.empty(len(row_of) + 1, dtype=np.int64)
        single, label = np.empty(count, dtype=np.int32), np.empty(count, dtype=np.int32)
        row_kernels.list_singles(
            row_of, few, design.indptr, design.attr, layout.feature, layout.label, single_start, single, label
        )
        lengths = np.diff(design.indptr)
        entries = np.repeat(~few, lengths)
        indptr = np.append(0, np.cumsum(lengths[~few]))
        return cls(
            row_start, row, single_start, single, label, indptr, design.attr[entries], design.value[entries]
        )
