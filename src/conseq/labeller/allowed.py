"""Which labels each token may take: labels forced in the data, sets given by the user ─→ bool[T, Y]."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from conseq.corpus import Corpus
from conseq.dtypes import Bools
from conseq.errors import DataError, SchemaError
from conseq.schema import Schema, Scheme

Allowed = Sequence[Sequence[Iterable[str] | None] | None]
"""Per sequence and token the labels that are allowed; None allows all."""


def allowed_mask(
    corpus: Corpus, schema: Schema, allowed: Allowed | None, partial: bool, written: Scheme | None = None
) -> Bools | None:
    """Which labels each token may take, bool[T, Y]; None: all.

    With `partial` the labels of the corpus are forced, empty ones are open. `written` is their scheme if it
    is not the schema's: an I-X of IOB1 is B-X or I-X in BIO, whichever fits.
    """
    mask = None
    if partial and corpus.labels is not None:
        rows = [_meanings(label, schema, written or schema.scheme) for label in corpus.labels.vocabulary]
        mask = np.array(rows, dtype=bool).reshape(-1, len(schema))[corpus.labels.ids]
    if allowed is not None:
        mask = np.ones((corpus.n_tokens, len(schema)), dtype=bool) if mask is None else mask
        _restrict(mask, corpus, schema, allowed)
    return mask


def _meanings(label: str, schema: Schema, written: Scheme) -> Bools:
    """The labels of the schema that a forced label stands for, bool[Y]."""
    if not label:
        return np.ones(len(schema), dtype=bool)
    names = [label]
    if written is Scheme.IOB1 and schema.scheme is Scheme.BIO and label.startswith("I-"):
        names = [name for name in (label, "B" + label[1:]) if name in schema.vocabulary] or names
    return _any_of(names, schema)


def _any_of(names: list[str], schema: Schema) -> Bools:
    for label in names:
        if label and label not in schema.vocabulary:
            shown = ", ".join(schema.labels[:8]) + (" …" if len(schema) > 8 else "")
            raise SchemaError(f"the model does not know the label {label!r}; it knows: {shown}")
    return np.isin(np.arange(len(schema)), schema.vocabulary.encode(names))


def check_allowed(corpus: Corpus, allowed: Allowed | None) -> None:
    """Raise if they are not for as many sequences."""
    if allowed is not None and len(allowed) != len(corpus):
        raise DataError(f"{len(corpus)} sequences but allowed labels for {len(allowed)}; give one list each")


def _restrict(mask: Bools, corpus: Corpus, schema: Schema, allowed: Allowed) -> None:
    check_allowed(corpus, allowed)
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
                mask[start + t] &= _any_of(list(labels), schema)
