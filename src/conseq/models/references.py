"""What adds up to what in training: tokens from rows, rows from attributes, both also from single weights.

    Design, Layout ─→ References: attributes ─rows─→ rows ─tokens─→ scores of tokens

A vector of one score per label is worth having where many of them are not 0. Most rows belong to rare words
and pairs of words and have a weight or two: their tokens refer to those weights themselves, and so do rows to
attributes that few labels have. The vectors that are left are so few that they stay in the processor's cache.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conseq.corpus import gathered
from conseq.dtypes import Ints
from conseq.features.design import Design
from conseq.kernels import rows as row_kernels
from conseq.models.layout import Layout
from conseq.shelf import Arrays

FEW, LABELS_PER = 2, 16
"""A row with FEW weights or fewer has few, and so has one with a weight for every LABELS_PER labels: adding a
vector costs more if there are many labels."""


@dataclass(frozen=True, eq=False)
class Terms:
    """What each of N things is the sum of: vectors of a table, and single weights at their labels."""

    start: Ints  # [N+1]
    index: NDArray[np.int32]
    value: NDArray[np.float32] | None  # None: all are 1
    single_start: Ints  # [N+1]
    single: NDArray[np.int32]  # places in the weight vector
    label: NDArray[np.int32]
    single_value: NDArray[np.float32] | None

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def given(self) -> tuple[row_kernels.Terms, Any, Any]:
        """As kernels take them: without the values, then these."""
        terms = row_kernels.Terms(self.start, self.index, self.single_start, self.single, self.label)
        return terms, self.value, self.single_value

    @property
    def sizes(self) -> Ints:
        """About how much work the things before each one are, [N+1]."""
        return self.start + self.single_start


@dataclass(frozen=True, eq=False)
class References:
    """R rows, A attributes that have a vector."""

    tokens: Terms  # of rows
    rows: Terms  # of attributes
    attribute: NDArray[np.int32]  # [A]

    @classmethod
    def of(cls, design: Design, layout: Layout, tokens: Ints) -> References:
        """For the tokens in this order."""
        few = max(FEW, layout.n_labels // LABELS_PER)
        weights = np.diff(layout.feature)  # of each attribute
        row = np.repeat(np.arange(design.n_rows), np.diff(design.indptr))  # of each entry
        per_row = np.bincount(row, weights[design.attr], minlength=design.n_rows)
        odd = np.bincount(row, design.value != 1, minlength=design.n_rows)  # tokens know no values
        kept = (per_row > few) | (odd > 0)
        wide = weights > few
        wide &= np.bincount(design.attr[kept[row]], minlength=len(weights)) > 0  # a shard lacks many
        return cls(
            _tokens(design, layout, tokens, kept, row),
            _rows(design, layout, kept, wide, row),
            np.flatnonzero(wide).astype(np.int32),
        )

    def arrays(self) -> dict[str, NDArray]:
        """All there is to store; a field that is None is left out."""
        terms = [("tokens", self.tokens), ("rows", self.rows)]
        found = {f"{name}.{key}": value for name, each in terms for key, value in vars(each).items()}
        found["attribute"] = self.attribute
        return {name: value for name, value in found.items() if value is not None}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> References:
        tokens, rows = (
            Terms(**{field.name: arrays.get(f"{name}.{field.name}") for field in fields(Terms)})  # type: ignore[arg-type]
            for name in ("tokens", "rows")
        )
        return cls(tokens, rows, arrays["attribute"])


def _tokens(design: Design, layout: Layout, tokens: Ints, kept: NDArray[np.bool_], row: Ints) -> Terms:
    """Tokens from the rows that are kept, and from the single weights of the others."""
    row_of = design.row_of[tokens]
    has = kept[row_of]
    number = (np.cumsum(kept) - 1).astype(np.int32)
    loose = ~kept[row]  # the entries of rows that are not made
    bounds, single = gathered(layout.feature, design.attr[loose])
    size = np.bincount(row[loose], np.diff(bounds), minlength=design.n_rows).astype(np.int32)
    _, places = gathered(_starts(size), row_of[~has])
    chosen = single[places].astype(np.int32)
    return Terms(
        _starts(has.sum(axis=1)),
        number[row_of[has]],
        None,
        _starts(size[row_of].sum(axis=1)),
        chosen,
        layout.label[chosen],
        None,
    )


def _rows(
    design: Design, layout: Layout, kept: NDArray[np.bool_], wide: NDArray[np.bool_], row: Ints
) -> Terms:
    """The rows that are kept, from attributes that have a vector and from single weights of the others."""
    entry = np.flatnonzero(kept[row])
    attribute, value = design.attr[entry], design.value[entry]
    place, size = (np.cumsum(kept) - 1)[row[entry]], int(kept.sum())
    has = wide[attribute]
    bounds, single = gathered(layout.feature, attribute[~has])
    lengths = np.diff(bounds)
    plain = bool((value == 1).all())
    return Terms(
        _starts(np.bincount(place[has], minlength=size)),
        (np.cumsum(wide) - 1)[attribute[has]].astype(np.int32),
        None if plain else value[has],
        _starts(np.bincount(place[~has], lengths, minlength=size)),
        single.astype(np.int32),
        layout.label[single],
        None if plain else np.repeat(value[~has], lengths),
    )


def _starts(sizes: NDArray) -> Ints:
    return np.append(0, np.cumsum(sizes.astype(np.int64)))
