"""Python objects as a corpus: what a user has in hand ─→ Corpus.

A sequence is a list of tokens; a token is a string, a list of attributes, or a dict of attributes as
python-crfsuite takes them ({"word": "cat", "bias": 1.0, "shape": {"upper": False}}).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Sequence as Seq
from itertools import chain
from typing import Any

import numpy as np

from conseq.corpus import Bags, Corpus, Sequence, check_lengths
from conseq.errors import DataError
from conseq.vocabulary import Vocabulary


def corpus_from(sequences: Any, labels: Iterable[Seq[str]] | None = None) -> Corpus:
    """A corpus from a Corpus, or from lists of token strings, attribute lists or attribute dicts.

    >>> corpus_from([["a", "cat"]], [["DT", "NN"]])
    Corpus(1 sequences, 2 tokens, word, 2 labels)
    >>> corpus_from([[{"word": "a", "bias": 1.0}]]).bags.vocabulary.names
    ('word:a', 'bias')
    """
    given = None if labels is None else [list(y) for y in labels]
    if isinstance(sequences, Corpus):
        if given is None:
            return sequences
        check_lengths([range(n) for n in sequences.lengths.tolist()], given)
        return sequences.with_labels(chain.from_iterable(given))
    sequences = list(sequences)
    if sequences and all(isinstance(s, Sequence) and s.corpus is sequences[0].corpus for s in sequences):
        return corpus_from(sequences[0].corpus.select(s.index for s in sequences), given)
    tokens = [_as_list(s, i) for i, s in enumerate(sequences)]
    first = next((t for s in tokens for t in s), "")
    if isinstance(first, str):
        _check_kind(tokens, str, "strings")
        return Corpus.from_sequences(tokens, given)
    if given is not None:
        check_lengths(tokens, given)
    flat = None if given is None else chain.from_iterable(given)
    return Corpus.from_columns({}, [len(s) for s in tokens], flat, bags=_bags(tokens, first))


def _as_list(sequence: Any, index: int) -> list[Any]:
    if isinstance(sequence, str):
        raise DataError(
            f"sequence {index} (from 0) is a string; give a list of tokens, such as {sequence.split()[:3]}"
        )
    return list(sequence)


def _check_kind(tokens: list[list[Any]], kind: type, name: str) -> None:
    for i, sequence in enumerate(tokens):
        for t, token in enumerate(sequence):
            if not isinstance(token, kind):
                raise DataError(
                    f"token {t} of sequence {i} (both from 0) is a {type(token).__name__}, "
                    f"the tokens before it are {name}; give one kind"
                )


def _bags(tokens: list[list[Any]], first: Any) -> Bags:
    if isinstance(first, Mapping):
        _check_kind(tokens, Mapping, "dicts")
        items = [list(_items(token)) for s in tokens for token in s]
        names = [[name for name, _ in item] for item in items]
        values = np.fromiter((v for item in items for _, v in item), dtype=np.float32)
    elif isinstance(first, Iterable):
        _check_kind(tokens, Iterable, "lists of attributes")
        names = [list(token) for s in tokens for token in s]
        values = np.ones(sum(map(len, names)), dtype=np.float32)
    else:
        raise DataError(
            f"a token is a {type(first).__name__}; give strings, lists of attributes or dicts of attributes"
        )
    if not np.isfinite(values).all():
        raise DataError("an attribute has a value that is not a finite number; leave it out or give a number")
    vocabulary, ids = Vocabulary.build(chain.from_iterable(names))
    indptr = np.concatenate([[0], np.cumsum([len(n) for n in names])]).astype(np.int64)
    return Bags(indptr, ids, values, vocabulary)


def _items(token: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """(attribute, value) pairs: numbers are values, strings are joined to their key."""
    for key, value in token.items():
        if isinstance(value, str):
            yield f"{key}:{value}", 1.0
        elif isinstance(value, Mapping):
            yield from ((f"{key}:{name}", v) for name, v in _items(value))
        elif isinstance(value, (list, tuple, set, frozenset)):
            items = sorted(value) if isinstance(value, (set, frozenset)) else value
            yield from ((f"{key}:{item}", 1.0) for item in items)
        else:
            try:
                yield key, float(value)
            except (TypeError, ValueError):
                raise DataError(
                    f"the attribute {key!r} has the value {value!r}; give a number or a string"
                ) from None
