"""The design matrix in two levels.

    token t ─→ row_of[t, g], one row per group of templates ─→ the attributes of that row

All templates of a group are functions of one key (the word, a POS trigram, …), so the attributes are stored
once per distinct key and not once per token. Attributes given per token (bags) are a group whose key is the
token itself. What is linear in the attributes can then be computed per row and gathered per token.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Design:
    """T tokens, G groups, R rows (distinct keys of all groups), A attributes."""

    row_of: NDArray[np.int32]  # [T, G] the row of each group
    indptr: NDArray[np.int64]  # [R+1] where the attributes of a row begin
    attr: NDArray[np.int32]  # [nnz] attribute ids
    value: NDArray[np.float32]  # [nnz] their values, 1 unless a bag says otherwise
    n_attributes: int

    @property
    def n_tokens(self) -> int:
        return self.row_of.shape[0]

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1

    def attributes(self, token: int) -> list[tuple[int, float]]:
        """The attributes of one token with their values, as a plain list."""
        found: list[tuple[int, float]] = []
        for row in self.row_of[token].tolist():
            at = slice(int(self.indptr[row]), int(self.indptr[row + 1]))
            found += zip(self.attr[at].tolist(), self.value[at].tolist(), strict=True)
        return found


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of one group: which row each token has, and the attributes of each row."""

    row_of: NDArray[np.int32]  # [T]
    indptr: NDArray[np.int64]  # [R_g + 1]
    attr: NDArray[np.int32]
    value: NDArray[np.float32]


def stack(groups: list[Rows], n_tokens: int, n_attributes: int) -> Design:
    """Number the rows of all groups through and lay the groups side by side."""
    row_of = np.empty((n_tokens, max(1, len(groups))), dtype=np.int32)
    if not groups:
        groups = [dense_rows(np.zeros(n_tokens, dtype=np.int32), np.empty((1, 0), dtype=np.int32))]
    rows, entries = 0, 0
    indptr = [np.zeros(1, dtype=np.int64)]
    for g, group in enumerate(groups):
        row_of[:, g] = group.row_of + rows
        indptr.append(group.indptr[1:] + entries)
        rows += len(group.indptr) - 1
        entries += len(group.attr)
    return Design(
        row_of,
        np.concatenate(indptr),
        np.concatenate([g.attr for g in groups]),
        np.concatenate([g.value for g in groups]),
        n_attributes,
    )


def dense_rows(row_of: NDArray[np.int32], table: NDArray[np.int32]) -> Rows:
    """Rows from a table attr[R_g, K] in which −1 means that the attribute is absent."""
    present = table >= 0
    indptr = np.concatenate([[0], np.cumsum(present.sum(axis=1))]).astype(np.int64)
    attr = np.ascontiguousarray(table[present], dtype=np.int32)
    return Rows(row_of, indptr, attr, np.ones(len(attr), dtype=np.float32))
