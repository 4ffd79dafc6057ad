"""Windows: what a classifier sees of a token, the values around it in some columns.

    Corpus, columns, left, right ─→ windows ─→ Windows: ids[T,F] ─→ a learner of symbols
                                                       one_hot() ─→ a linear learner

Axes: T tokens, F = columns × (left + 1 + right) features: the places of the first column from left to right,
then those of the next.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conseq.corpus import Corpus
from conseq.dtypes import Ids
from conseq.errors import DataError
from conseq.vocabulary import UNSEEN, Vocabulary

BOUNDARY = ""
"""The value beyond the ends of a sequence, which has the id 0; no token is the empty string."""


@dataclass(frozen=True, eq=False)
class Windows:
    """Rows of values around each token."""

    ids: Ids  # [T,F], −1 where the value is not in the vocabulary
    names: tuple[str, ...]  # [F], as letter[-1]
    vocabularies: tuple[Vocabulary, ...]  # [F], the same one for all places of a column

    def strings(self) -> list[list[str]]:
        """The values themselves, −1 as "?"."""
        columns = zip(self.ids.T, self.vocabularies, strict=True)
        texts = [[v[i] if i != UNSEEN else "?" for i in column.tolist()] for column, v in columns]
        return [list(row) for row in zip(*texts, strict=True)]

    def one_hot(self) -> Any:
        """A scipy CSR matrix of zeros and ones [T, Σ values]; what is not in the vocabulary has none."""
        from scipy.sparse import csr_matrix  # needed by few

        sizes = np.array([len(v) for v in self.vocabularies], dtype=np.int64)
        first = np.concatenate([[0], np.cumsum(sizes)])
        known = self.ids != UNSEEN
        columns = (self.ids + first[:-1])[known]
        indptr = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
        return csr_matrix((np.ones(len(columns)), columns, indptr), shape=(len(self.ids), int(first[-1])))


def windows(
    corpus: Corpus, columns: Iterable[str], left: int = 3, right: int = 3, like: Windows | None = None
) -> Windows:
    """The values of some columns from `left` tokens before each token to `right` after it.

    Test data is given the ids of the training data: windows(test, …, like=trained).

    >>> corpus = Corpus.from_sequences([["c", "a", "b"]], column="letter")
    >>> found = windows(corpus, ["letter"], 1, 1)
    >>> found.strings()
    [['', 'c', 'a'], ['c', 'a', 'b'], ['a', 'b', '']]
    >>> found.names, found.ids[0].tolist()
    (('letter[-1]', 'letter[0]', 'letter[1]'), [0, 1, 2])
    """
    chosen = [columns] if isinstance(columns, str) else list(columns)
    if min(left, right) < 0 or not chosen:
        raise DataError(
            f"a window of {left} tokens before and {right} after of {len(chosen)} columns; give numbers of "
            "at least 0 and at least one column"
        )
    places = range(-left, right + 1)
    names = tuple(f"{name}[{place}]" for name in chosen for place in places)
    if like is not None and like.names != names:
        raise DataError(
            f"the windows are {', '.join(names)}; those they should be like: {', '.join(like.names)}"
        )
    ids: list[Ids] = []
    vocabularies: list[Vocabulary] = []
    for c, name in enumerate(chosen):
        known = None if like is None else like.vocabularies[c * len(places)]
        values, vocabulary = _values(corpus, name, known)
        ids.extend(_shifted(values, corpus.offsets, place) for place in places)
        vocabularies.extend([vocabulary] * len(places))
    return Windows(np.ascontiguousarray(np.stack(ids, axis=1)), names, tuple(vocabularies))


def _values(corpus: Corpus, name: str, known: Vocabulary | None) -> tuple[Ids, Vocabulary]:
    """The ids of a column in a vocabulary that has the boundary first."""
    if name not in corpus.columns:
        raise DataError(f"there is no column {name!r}; choose among {', '.join(corpus.columns)}")
    column = corpus.columns[name]
    vocabulary = Vocabulary([BOUNDARY]).extended(column.vocabulary) if known is None else known
    return vocabulary.encode(column.vocabulary)[column.ids], vocabulary


def _shifted(values: Ids, offsets: NDArray[np.int64], place: int) -> Ids:
    """The value `place` tokens further, 0 beyond the ends of the sequence."""
    lengths = np.diff(offsets)
    token = np.arange(len(values)) + place
    inside = (token >= np.repeat(offsets[:-1], lengths)) & (token < np.repeat(offsets[1:], lengths))
    return np.where(inside, values[np.where(inside, token, 0)], 0).astype(np.int32) if len(values) else values
