"""Labelled pieces of text → a corpus that knows its texts.

    pieces of N examples ─→ text, tokens, labels, characters of each ─→ Corpus (with Source)

A piece is a string and the name of the field it is, or None for what stands between fields.  Tokens are those
of `conseq.tokens.by_words`; no token reaches over two pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random

from conseq.corpus import Corpus
from conseq.datasets.noise import disturb
from conseq.datasets.template import Piece
from conseq.errors import DataError
from conseq.io.inline import SCHEMES
from conseq.io.lines import Line, corpus_of
from conseq.schema import Span
from conseq.tokens import by_words


def generated(
    make: Callable[[Random, float], list[Piece]], name: str, n: int, seed: int, noise: float, scheme: str
) -> Corpus:
    """`n` examples made with noise, one after the other, and then mistyped."""
    if n < 0:
        raise DataError(f"cannot make {n} examples; n must be 0 or more")
    if not 0 <= noise <= 1:
        raise DataError(f"noise {noise} is no share; give a number from 0 to 1")
    rng = Random(f"{name} {seed}")
    return to_corpus((disturb(make(rng, noise), rng, noise) for _ in range(n)), scheme)


def to_corpus(examples: Iterable[list[Piece]], scheme: str) -> Corpus:
    """The corpus of examples given as pieces; their labels are written as of inline tags.

    >>> corpus = to_corpus([[Piece('Owls, ', 'title'), Piece('1999', 'date')]], 'bio')
    >>> corpus[0].tokens, corpus[0].labels, corpus[0].text
    (['Owls', ',', '1999'], ['B-title', 'I-title', 'B-date'], 'Owls, 1999')
    """
    return corpus_of([_line(pieces, scheme) for pieces in examples])


def _line(pieces: list[Piece], scheme: str) -> Line:
    characters: list[tuple[int, int]] = []
    spans: list[Span] = []
    start = 0
    for text, field in pieces:
        first = len(characters)
        characters += [(start + a, start + b) for a, b in by_words(text)]
        if field is not None and len(characters) > first:
            spans.append(Span(first, len(characters), field))
        start += len(text)
    whole = "".join(text for text, _ in pieces).rstrip()
    return Line.of_text(whole, characters, SCHEMES[scheme](spans, len(characters)))
