"""Text → tokens.  a string → [(start, end), …], such that text[start:end] is a token.

Every tokeniser keeps three promises: the tokens stand in order, they do not overlap, and together they
cover every character that is not white space. So a labelled token can always be shown in the original text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from itertools import groupby

from conseq.errors import DataError

Tokeniser = Callable[[str], list[tuple[int, int]]]
"""A function from a text to the (start, end) of its tokens."""

DEFAULT = "words"
"""The tokeniser where the user names none."""


def by_words(text: str) -> list[tuple[int, int]]:
    """Words, numbers and addresses whole, every other character by itself.

    >>> text = "A. O'Neil, well-known (1,234.5), 12(3):45-67. doi:10.1000/x(1), a@b.org"
    >>> [text[a:b] for a, b in by_words(text)]  # doctest: +NORMALIZE_WHITESPACE
    ['A', '.', "O'Neil", ',', 'well-known', '(', '1,234.5', ')', ',', '12', '(', '3', ')', ':', '45', '-',
     '67', '.', 'doi', ':', '10.1000/x(1', ')', ',', 'a@b.org']
    """
    return [match.span() for match in _words().finditer(text)]


def by_whitespace(text: str) -> list[tuple[int, int]]:
    """Whatever stands between white space.

    >>> by_whitespace(" A. Cau,  1990 ")
    [(1, 3), (4, 8), (10, 14)]
    """
    return [match.span() for match in _RUNS.finditer(text)]


def by_characters(text: str) -> list[tuple[int, int]]:
    """Every character by itself, for letter-level tasks.

    >>> by_characters("a b")
    [(0, 1), (2, 3)]
    """
    return [match.span() for match in _SINGLES.finditer(text)]


TOKENISERS: dict[str, Tokeniser] = {
    "words": by_words,
    "whitespace": by_whitespace,
    "characters": by_characters,
}
"""Every tokeniser by its name."""


def tokeniser(choice: str | Tokeniser = DEFAULT) -> Tokeniser:
    """The tokeniser of that name; a function is taken as it is."""
    if callable(choice):
        return choice
    if choice not in TOKENISERS:
        raise DataError(f"there is no tokeniser {choice!r}; choose one of {', '.join(TOKENISERS)}")
    return TOKENISERS[choice]


_RUNS = re.compile(r"\S+")
_SINGLES = re.compile(r"\S")

# Addresses end before closing punctuation. The bounds on an e-mail's parts (RFC 5321) keep a long run of
# letters and dots from being scanned once per token.
_ADDRESSES = r"""
    (?: (?:https?|ftp)://  |  www\.  |  10\.\d{4,9}/ )  [^\s<>"]* [^\s<>"'’”.,;:!?()\[\]{}]
  | [\w.+-]{1,64}+ @ [\w-]{1,63}+ (?: \. [\w-]{1,63}+ )+
"""
_NUMBERS = r"""
    \d{1,3} (?: ,\d{3} )+ (?!\d) (?: \.\d+ )?
  | \d+ (?: \.\d+ )+
"""
# A hyphen joins unless it stands between digits: page ranges (12-34) fall apart, COVID-19 does not.
_WORDS = r"""
    {letters} (?: (?: ['’_] | (?<!\d)- | -(?!\d) ) {letters} )*+
"""


@cache
def _words() -> re.Pattern[str]:
    letters = rf"[^\W_]++ (?: [{_marks()}]++ [^\W_]*+ )*+"
    return re.compile(f"{_ADDRESSES} | {_NUMBERS} | {_WORDS.format(letters=letters)} | \\S", re.VERBOSE)


@cache
def _marks() -> str:
    """Combining marks as ranges for a character class: `\\w` lacks them, words of many scripts need them."""
    marks = (i for i in range(0x300, 0x20000) if unicodedata.category(chr(i)).startswith("M"))
    return "\u00ad\u200c\u200d" + "".join(f"{chr(a)}-{chr(b)}" for a, b in _ranges(marks))


def _ranges(numbers: Iterator[int]) -> Iterator[tuple[int, int]]:
    """First and last of each run of consecutive numbers."""
    for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        members = [number for _, number in run]
        yield members[0], members[-1]
