"""Which labels each token may take: labels forced in the data, sets given by the user ─→ bool[T, Y]."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from conseq.corpus import Corpus
from conseq.errors import DataError, SchemaError
from conseq.schema import Schema
from conseq.vocabulary import Vocabulary

Allowed = Sequence[Sequence[Iterable[str] | None] | None]
"""Per sequence and token the labels that are allowed; None allows all."""


def allowed_mask(
    corpus: Corpus, schema: Schema, allowed: Allowed | None, partial: bool
) -> NDArray[np.bool_] | None:
    """Which labels each token may take, bool[T, Y]; None: all."""
    mask = None
    if partial and corpus.labels is not None:
        known = schema.vocabulary.encode(corpus.labels.vocabulary)
        _check_known(corpus.labels.vocabulary, known, schema)
        rows = np.vstack([np.eye(len(schema), dtype=bool), np.ones((1, len(schema)), dtype=bool)])
        mask = rows[known[corpus.labels.ids]]
    if allowed is not None:
        mask = np.ones((corpus.n_tokens, len(schema)), dtype=bool) if mask is None else mask
        _restrict(mask, corpus, schema, allowed)
    return mask


def _check_known(labels: Vocabulary, ids: NDArray[np.int32], schema: Schema) -> None:
    for label, i in zip(labels, ids.tolist(), strict=True):
        if i < 0 and label:
            shown = ", ".join(schema.labels[:8]) + (" …" if len(schema) > 8 else "")
            raise SchemaError(f"the model does not know the label {label!r}; it knows: {shown}")


def _restrict(mask: NDArray[np.bool_], corpus: Corpus, schema: Schema, allowed: Allowed) -> None:
    if len(allowed) != len(corpus):
        raise DataError(f"{len(corpus)} sequences but allowed labels for {len(allowed)}; give one list each")
    for i, sequence in enumerate(allowed):
        start, stop = corpus[i].bounds
        if sequence is None:
            continue
        if len(sequence) != stop - start:
            raise DataError(
                f"sequence {i} (from 0) has {stop - start} tokens, allowed labels for {len(sequence)}"
            )
        for t, labels in enumerate(sequence):
            if labels is not None:
                names = list(labels)
                ids = schema.vocabulary.encode(names)
                _check_known(Vocabulary(names), ids, schema)
                mask[start + t] &= np.isin(np.arange(len(schema)), ids)
