"""Kinds of tokens, and what follows from them about a whole record (a citation, an address).

    token ─→ kind (year, initial, comma, volume, …)      by rules and small word lists
    kinds of a sequence ─→ how many of a kind come before and after each token
                        ─→ segments, cut at punctuation and before cue words ─→ aspects of each segment

Everything is a guess from the surface; training decides what a guess is worth. A token has one kind: the
first rule of `_RULES` that fits, else the list of `_WORDS` that has it, else a rule of `_LOOKS`, else `low`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from functools import lru_cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from conseq.corpus import Column, Corpus, ends
from conseq.dtypes import Ints
from conseq.errors import DataError
from conseq.vocabulary import Vocabulary

Flags = NDArray[np.bool_]

_UPPER = "A-ZÀ-ÖØ-Þ"

_RULES = {
    "url": r"(?i)https?:|www\.|\w@\w|\.(com|org|edu|html?|pdf)\b|^doi\b|\b10\.\d{4}",
    "preprint": r"(?i)arxiv|^\(?[a-z]+-[a-z]+/\d{5}",
    "label": r"^\[.+\]$",
    "year": r"^\W*(1[6-9]|20)\d\d[a-z]?\W*$",
    "range": r"^\W*[A-Z]?\d+\s*[-–—]+\s*[A-Z]?\d+\W*$",
    "number": r"^\W*\d+\W*$",
    "comma": r"^,$",
    "stop": r"^\.$",
    "colon": r"^:$",
    "semicolon": r"^;$",
    # After a word, or at the start: so no run of marks is gone through more than once.
    "quote": r"^[\"“”„‟«»]|(?<!\W)[^\w\"“”„‟«»]*[\"“”„‟«»]\W*$|^['‘’`]\W*$",
    "open": r"^[(\[{]$",
    "close": r"^[)\]}][.,;:]?$",
    "mark": r"^[^\w&]*$",
    "initial": rf"^[{_UPPER}](\.?-?[{_UPPER}])?\.?,?$",
}
"""kind → pattern; the first that is found in a token wins."""

_FILE = (files(__package__) / "words.toml").read_text(encoding="utf-8")
_WORDS: dict[str, str] = tomllib.loads(_FILE)
"""kind → its words, in lower case and without punctuation around them."""

_LOOKS = {"digit": r"\d", "upper": rf"^\W*[{_UPPER}]{{2,}}\W*$", "cap": rf"^\W*[{_UPPER}]"}
"""kind → pattern, for tokens that no rule and no list has."""

KINDS = (*_RULES, *_WORDS, *_LOOKS, "low")
"""What `kind` can answer."""

_FIRST = [(name, re.compile(pattern).search) for name, pattern in _RULES.items()]
_LAST = [(name, re.compile(pattern).search) for name, pattern in _LOOKS.items()]
_LISTED = {word: name for name, words in _WORDS.items() for word in words.split()}
_AROUND = ".,;:()[]\"'“”‘’`"


@lru_cache(maxsize=1 << 15)
def kind(token: str) -> str:
    """The kind of a token, one of `KINDS`; kept, for many sources ask for those of the same words.

    >>> [kind(token) for token in ["E.", "Proc.", "Cats", "of", "(1979),", "61--205", "cats"]]
    ['initial', 'meeting', 'cap', 'function', 'year', 'range', 'low']
    """
    for name, found in _FIRST:
        if found(token):
            return name
    listed = _LISTED.get(token.lower().strip(_AROUND))
    if listed:
        return listed
    return next((name for name, found in _LAST if found(token)), "low")


MANY = 3
"""Tokens of a kind are counted up to this number."""


def seen(corpus: Corpus, wanted: str, *_: object) -> Column:
    """How many tokens of a kind stand before each token in its sequence."""
    before = _running(_kinds(column_of(corpus)) == KINDS.index(wanted))
    first, _end = ends(corpus)
    return capped(before[:-1] - before[first], MANY)


def ahead(corpus: Corpus, wanted: str, *_: object) -> Column:
    """How many tokens of a kind stand after each token in its sequence."""
    before = _running(_kinds(column_of(corpus)) == KINDS.index(wanted))
    _first, end = ends(corpus)
    return capped(before[end] - before[1:], MANY)


def column_of(corpus: Corpus, name: str = "") -> Column:
    """The column of this name, or that of the tokens."""
    name = name or corpus.token_column
    if name not in corpus.columns:
        known = ", ".join(corpus.columns) or "none"
        raise DataError(f"the features need the column {name!r}; the input has: {known}")
    return corpus.columns[name]


def _kinds(tokens: Column) -> Ints:
    """The number of each token's kind in `KINDS`; a pattern is tried once per distinct token."""
    table = {name: i for i, name in enumerate(KINDS)}
    numbers = np.array([table[kind(token)] for token in tokens.vocabulary], dtype=np.int64)
    return numbers[tokens.ids]


def _running(marked: Flags) -> Ints:
    """How many are marked before each place; T + 1 places."""
    return np.concatenate([[0], np.cumsum(marked)]).astype(np.int64)


def flags(marked: Flags) -> Column:
    """The value "1" where something holds, nothing elsewhere."""
    return Column(np.where(marked, 0, -1).astype(np.int32), Vocabulary(["1"]))


def capped(counts: Ints, most: int) -> Column:
    """Numbers from 0 on, the large ones as `most`."""
    return Column(np.minimum(counts, most).astype(np.int32), Vocabulary(map(str, range(most + 1))))


# ── segments ────────────────────────────────────────────────────────────────────────────────────────

_CUES = ("in", "editor", "pages", "volume", "issue", "thesis", "meeting", "url", "preprint")
"""A segment begins before a token of one of these kinds."""

_OPENING = re.compile(r"^[(\[{\"“]").search
_CLOSING = re.compile(r"[.,;:)\]}\"”]$").search
_WORDLESS = re.compile(r"^[^\w&]*$").search


def segment_starts(corpus: Corpus) -> Flags:
    """Which tokens begin a segment.

    The first of a sequence, what opens a bracket or a quotation, cue words, and what follows punctuation; but
    neither punctuation itself nor what follows an initial and its full stop.

    >>> corpus = Corpus.from_sequences(["E . West , Noise , Proc . ICML ( 1979 ) .".split()])
    >>> segment_starts(corpus).astype(int).tolist()
    [1, 0, 0, 0, 1, 0, 1, 0, 1, 1, 0, 0, 0]
    """
    tokens = column_of(corpus)
    kinds = _kinds(tokens)
    opening, closing, wordless = (_where(tokens, test) for test in (_OPENING, _CLOSING, _WORDLESS))
    first = np.arange(corpus.n_tokens) == ends(corpus)[0]
    initial = kinds == KINDS.index("initial")
    closing &= ~initial & ~((kinds == KINDS.index("stop")) & _shifted(initial) & ~first)
    cue = np.isin(kinds, [KINDS.index(name) for name in _CUES])
    return first | opening | ((_shifted(closing) | cue) & ~wordless)


def _where(tokens: Column, test: Callable[[str], object]) -> Flags:
    """Which tokens pass a test, made once per distinct token."""
    return np.array([bool(test(token)) for token in tokens.vocabulary], dtype=bool)[tokens.ids]


def _shifted(marked: Flags) -> Flags:
    """Whether the token before is marked."""
    return np.concatenate([np.zeros(1, dtype=bool), marked])[:-1]


BINS = np.array([0, 1, 2, 3, 4, 5, 6, 8, 11, 16, 26])
"""Lengths and distances are told apart only by the greatest of these that they reach."""

FAR = 9
"""Segments are counted up to this number."""


class _Segments:
    """The segments of a corpus: where each begins, starts[S], and which one each token is in, of[T]."""

    def __init__(self, corpus: Corpus) -> None:
        self.marked = segment_starts(corpus)
        self.starts = np.flatnonzero(self.marked)
        self.of = _running(self.marked)[1:] - 1
        self.first, self.end = ends(corpus)
        self.kinds = _kinds(column_of(corpus))

    def kind(self, step: int) -> Column:
        """The kind of the first token of the segment `step` further on, if the sequence has one."""
        wanted = self.of + step
        places = np.concatenate([self.starts, [-1]])[np.clip(wanted, -1, len(self.starts))]
        inside = (places >= self.first) & (places < self.end)
        ids = np.where(inside, self.kinds[places], -1)
        return Column(ids.astype(np.int32), Vocabulary(KINDS))


def _binned(values: Ints) -> Column:
    ids = np.searchsorted(BINS, values, side="right") - 1
    return Column(ids.astype(np.int32), Vocabulary(map(str, BINS.tolist())))


ASPECTS: dict[str, Callable[[_Segments], Column]] = {
    "start": lambda segments: flags(segments.marked),
    "index": lambda segments: capped(segments.of - segments.of[segments.first], FAR),
    "left": lambda segments: capped(segments.of[segments.end - 1] - segments.of, FAR),
    "since": lambda segments: _binned(np.arange(len(segments.of)) - segments.starts[segments.of]),
    "length": lambda segments: _binned(np.bincount(segments.of)[segments.of]),
    "kind": lambda segments: segments.kind(0),
    "previous": lambda segments: segments.kind(-1),
    "next": lambda segments: segments.kind(1),
}
"""name → its value at each token.

start: a segment begins here. index, left: segments before and after this one. since: tokens since it began.
length: its tokens. kind, previous, next: the kind of the first token of this, the previous, the next segment.
"""


def segment(corpus: Corpus, aspect: str, *_: object) -> Column:
    """An aspect of the segment each token is in."""
    return ASPECTS[aspect](_Segments(corpus))
