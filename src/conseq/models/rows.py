"""Rows of attributes, however they are given, for classifiers of single rows.

Design, or a matrix [M,A] (dense or scipy's) ─→ design_of ─→ Design ─→ matrix_of ─→ scipy's csr_array
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from conseq.corpus import gathered
from conseq.dtypes import Floats, Ints
from conseq.errors import DataError
from conseq.features.design import Design


def design_of(rows: Any, n_attributes: int | None = None) -> Design:
    """A design, or a matrix of numbers with a row each, as a design.

    n_attributes    how many it should have; None: any number


    >>> design_of([[0, 2.0], [1, 0]]).attributes(0)
    [(1, 2.0)]
    """
    if isinstance(rows, Design):
        found = rows
    else:
        matrix = csr_array(rows if issparse(rows) else np.atleast_2d(np.asarray(rows, dtype=np.float64)))
        matrix.eliminate_zeros()
        if not np.isfinite(matrix.data).all():
            raise DataError("the rows have a number that is not finite; give finite ones")
        own = np.arange(matrix.shape[0], dtype=np.int32)[:, None]
        found = Design(
            own,
            matrix.indptr.astype(np.int64),
            matrix.indices.astype(np.int32),
            matrix.data.astype(np.float32),
            int(matrix.shape[1]),
        )
    if n_attributes is not None and found.n_attributes != n_attributes:
        raise DataError(
            f"the rows have {found.n_attributes} attributes and the classifier was trained with "
            f"{n_attributes}; give those of training"
        )
    return found


def flat(design: Design) -> tuple[Ints, NDArray[np.int32], NDArray[np.float32]]:
    """The attributes of each row with those of all its groups: indptr [M+1], attributes, values."""
    groups = design.row_of.shape[1]
    bounds, places = gathered(design.indptr, design.row_of.reshape(-1))
    return np.ascontiguousarray(bounds[::groups]), design.attr[places], design.value[places]


def matrix_of(design: Design) -> csr_array:
    """A design as a sparse matrix [M,A], for classifiers of other libraries."""
    indptr, attr, value = flat(design)
    matrix = csr_array((value, attr, indptr), shape=(design.n_tokens, design.n_attributes))
    matrix.sum_duplicates()
    return matrix


def classes_of(
    labels: Sequence[Any] | NDArray[Any], classes: Sequence[Any] | None
) -> tuple[list[Any], NDArray[np.int32]]:
    """The classes, sorted unless they are given, and the number of each label."""
    names = list(labels.tolist() if isinstance(labels, np.ndarray) else labels)
    known = sorted(set(names)) if classes is None else list(classes)
    if not known:
        raise DataError("there are no labels to learn from; give one for each row")
    number = {name: k for k, name in enumerate(known)}
    missing = next((name for name in names if name not in number), None)
    if missing is not None:
        raise DataError(f"the label {missing!r} is none of the classes {', '.join(map(str, known))}")
    return known, np.array([number[name] for name in names], dtype=np.int32)


def log_shares(scores: Floats) -> Floats:
    """Logarithms of shares, by softmax: scores [M,K] less log Σ exp(scores).

    >>> np.exp(log_shares(np.array([[1.0, 1.0]]))).tolist()
    [[0.5, 0.5]]
    """
    shifted = scores - scores.max(axis=1, keepdims=True, initial=-np.inf)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
