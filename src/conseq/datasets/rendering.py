"""Labelled pieces of text → a corpus that knows its texts.

    pieces of N examples ─→ text, tokens, labels, characters of each ─→ Corpus (with Source)

A piece is a string and the name of the field it is, or None for what stands between fields.  Tokens are those
of `conseq.tokens.by_words`; no token reaches over two pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from conseq.corpus import WORD, Corpus, Source
from conseq.errors import DataError
from conseq.tokens import by_words

OUTSIDE = "O"


class Piece(NamedTuple):
    """A stretch of text and the field it belongs to."""

    text: str
    label: str | None = None


Tagger = Callable[[str, bool], str]
"""(field, is it the first token of its piece) → label."""


def bio(field: str, first: bool) -> str:
    """The label of a token under BIO.

    >>> bio('title', True), bio('title', False)
    ('B-title', 'I-title')
    """
    return ("B-" if first else "I-") + field


def plain(field: str, first: bool) -> str:
    """The label of a token where labels are just the fields' names."""
    return field


def to_corpus(examples: Iterable[list[Piece]], tagger: Tagger) -> Corpus:
    """The corpus of examples given as pieces.

    >>> corpus = to_corpus([[Piece('Owls, ', 'title'), Piece('1999', 'date')]], bio)
    >>> corpus[0].tokens, corpus[0].labels, corpus[0].text
    (['Owls', ',', '1999'], ['B-title', 'I-title', 'B-date'], 'Owls, 1999')
    """
    tokens: list[str] = []
    labels: list[str] = []
    characters: list[tuple[int, int]] = []
    texts: list[str] = []
    lengths: list[int] = []
    for pieces in examples:
        before = len(tokens)
        texts.append("".join(piece.text for piece in pieces).rstrip())
        _append(pieces, tagger, tokens, labels, characters)
        lengths.append(len(tokens) - before)
    source = Source(tuple(texts), np.array(characters, dtype=np.int32).reshape(-1, 2))
    return Corpus.from_columns({WORD: tokens}, lengths, labels, source=source)


def _append(
    pieces: list[Piece],
    tagger: Tagger,
    tokens: list[str],
    labels: list[str],
    characters: list[tuple[int, int]],
) -> None:
    """Add the tokens of one example to the flat lists."""
    start = 0
    for text, field in pieces:
        first = True
        for a, b in by_words(text):
            tokens.append(text[a:b])
            labels.append(OUTSIDE if field is None else tagger(field, first))
            characters.append((start + a, start + b))
            first = False
        start += len(text)


def check_request(n: int, noise: float) -> None:
    """Raise unless n examples can be made with this noise."""
    if n < 0:
        raise DataError(f"cannot make {n} examples; n must be 0 or more")
    if not 0 <= noise <= 1:
        raise DataError(f"noise {noise} is no share; give a number from 0 to 1")
