"""Typing noise: labelled pieces in → the same pieces as a hurried person would have typed them.

The labels stay right; what suffers is the text: separators go missing, letters swap, case is wrong.  The
chance of each mishap is a fixed part of `noise`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

from conseq.datasets.template import Piece

_PUNCTUATION = re.compile(r"[^\w\s]")
_DASH = re.compile(r"(?<=\d)(?:--|[-–])(?=\d)")
_MANY_SPACES = re.compile(r"  +")

SEPARATOR_SHARE = 0.15
"""How often a separator loses its punctuation, as a part of the noise."""
FIELD_SHARE = 0.25
"""How often a field is mistyped, as a part of the noise."""
WHOLE_SHARE = 0.08
"""How often a whole example is in the wrong case, as a part of the noise."""


Mishap = Callable[[str, Random], str]


def _inside_a_word(change: Callable[[str, int], str]) -> Mishap:
    """A change at a letter with letters next to it, if one is found in three tries."""

    def mishap(text: str, rng: Random) -> str:
        for _ in range(3 if len(text) >= 4 else 0):
            i = rng.randrange(1, len(text) - 2)
            if text[i - 1 : i + 2].isalpha():
                return change(text, i)
        return text

    return mishap


swap_letters = _inside_a_word(lambda text, i: text[:i] + text[i + 1] + text[i] + text[i + 2 :])
"""Two neighbours inside a word change places."""

drop_letter = _inside_a_word(lambda text, i: text[:i] + text[i + 1 :])
"""A letter inside a word is missing."""

double_letter = _inside_a_word(lambda text, i: text[: i + 1] + text[i:])
"""A letter inside a word stands twice."""


def drop_punctuation(text: str, rng: Random) -> str:
    """Full stops and commas are missing (`M V Solodov`)."""
    if "/" in text:
        return text
    return _MANY_SPACES.sub(" ", text.replace(".", " ").replace(",", "")).strip() or text


def change_dash(text: str, rng: Random) -> str:
    """Another dash between numbers (`45-67`, `45--67`, `45–67`)."""
    return _DASH.sub(rng.choice(("-", "--", "–")), text)


def lower(text: str, rng: Random) -> str:
    """All small letters."""
    return text.lower()


def upper(text: str, rng: Random) -> str:
    """All capitals."""
    return text if "/" in text else text.upper()


MISHAPS: tuple[Mishap, ...] = (
    swap_letters,
    drop_letter,
    double_letter,
    swap_letters,
    drop_letter,
    drop_punctuation,
    change_dash,
    lower,
    upper,
)


def disturb(pieces: list[Piece], rng: Random, noise: float) -> list[Piece]:
    """The pieces with mishaps; `noise` 0 returns them as they are.

    >>> pieces = [Piece('Owls', 'title'), Piece('. '), Piece('1999', 'date')]
    >>> disturb(pieces, Random(0), 0.0) == pieces
    True
    >>> [piece.text for piece in disturb(pieces, Random(1), 1.0)]
    ['Ols', ' ', '1999']
    """
    if not noise:
        return pieces
    pieces = [_disturb_one(piece, rng, noise) for piece in pieces]
    pieces[:1] = [Piece(text.lstrip(), label) for text, label in pieces[:1]]
    if rng.random() < noise * WHOLE_SHARE:
        change = rng.choice((lower, lower, upper))
        pieces = [Piece(change(text, rng), label) for text, label in pieces]
    return pieces


def _disturb_one(piece: Piece, rng: Random, noise: float) -> Piece:
    if piece.label is None:
        return Piece(weaken(piece.text)) if rng.random() < noise * SEPARATOR_SHARE else piece
    if rng.random() < noise * FIELD_SHARE:
        return Piece(rng.choice(MISHAPS)(piece.text, rng), piece.label)
    return piece


def weaken(separator: str) -> str:
    """What is left of a separator without its punctuation: at least a space.

    >>> weaken('. In '), weaken(', ')
    (' In ', ' ')
    """
    return _MANY_SPACES.sub(" ", " " + _PUNCTUATION.sub(" ", separator) + " ")
