"""What an attribute can look at: named values of a token.

    Source text such as `suffix(3)` or `lower(pos)` ─→ Source ─→ one string (or nothing) per token

Two kinds. A *derived* source is a function of one string of one column, so it is computed once per distinct
string. A *computed* source looks at the whole sequence (position, lexicons of several words) and gives a
column of its own. The tables `DERIVED` and `COMPUTED` have them all by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conseq.corpus import Column, Corpus, Offsets, counted, ends
from conseq.errors import TemplateError
from conseq.features import segmenter
from conseq.features.segmenter import ASPECTS, KINDS, capped, column_of, flags
from conseq.patterns import PatternError, searcher
from conseq.vocabulary import Vocabulary

Derive = Callable[[str], str | None]


class _ShapeTable(dict[int, str]):
    """Character → its class: X upper, x lower, d digit, anything else itself; filled as it is used."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if character.isupper():
            shape = "X"
        elif character.isdigit():
            shape = "d"
        elif character.isalpha():
            shape = "x"
        else:
            shape = character
        self[code] = shape
        return shape


_SHAPES = _ShapeTable()
_RUNS = re.compile(r"(.)\1+")
_DIGIT = re.compile(r"\d")
_ODD = re.compile(r"[\s()\[\]&,/'#]")


def shape(token: str) -> str:
    """The class of every character.

    >>> shape("McCallum-2003")
    'XxXxxxxx-dddd'
    """
    return token.translate(_SHAPES)


def short_shape(token: str) -> str:
    """The shape with runs of one class drawn together.

    >>> short_shape("McCallum-2003")
    'XxXx-d'
    """
    return _RUNS.sub(r"\1", token.translate(_SHAPES))


def digits(token: str) -> str | None:
    """The token with every digit as 0, if it has one.

    >>> digits("45-67"), digits("pages")
    ('00-00', None)
    """
    return _DIGIT.sub("0", token) if _DIGIT.search(token) else None


def _prefix(n: int) -> Derive:
    return lambda token: token[:n] if len(token) > n else None


def _suffix(n: int) -> Derive:
    return lambda token: token[-n:] if len(token) > n else None


def _match(pattern: str) -> Derive:
    try:
        found = searcher(pattern)
    except PatternError as error:
        raise TemplateError(str(error)) from None
    return lambda token: "1" if found(token) else None


@dataclass(frozen=True)
class Memory:
    """What sources must remember from training: words known well, and the lexicons by name."""

    known: frozenset[str] = frozenset()
    lexicons: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, corpora: Iterable[Corpus], lexicons: Mapping[str, Iterable[str]]) -> Memory:
        """Words seen more than once in training are known; lexicons are cut into words."""
        seen: set[str] = set()
        known: set[str] = set()
        for corpus in corpora:
            if not corpus.columns:
                break
            words, counts = counted(corpus.columns[corpus.token_column])
            known.update(word for word, n in zip(words, counts, strict=True) if n > 1 or word in seen)
            seen.update(words)
        entries = {
            name: tuple(dict.fromkeys(tuple(e.lower().split()) for e in lines if e.strip()))
            for name, lines in lexicons.items()
        }
        return cls(frozenset(known), entries)

    def to_dict(self) -> dict[str, Any]:
        return {
            "known": sorted(self.known),
            "lexicons": {n: [" ".join(e) for e in es] for n, es in self.lexicons.items()},
        }

    @classmethod
    def from_dict(cls, data: Mapping) -> Memory:
        lexicons = {n: tuple(tuple(e.split(" ")) for e in es) for n, es in data["lexicons"].items()}
        return cls(frozenset(data["known"]), lexicons)


def _positions(corpus: Corpus) -> Offsets:
    """Place of each token in its sequence, from 0."""
    return np.arange(corpus.n_tokens) - ends(corpus)[0]


def _left(corpus: Corpus) -> Offsets:
    """How many tokens each sequence still has, from each token on."""
    return ends(corpus)[1] - np.arange(corpus.n_tokens)


def _position(corpus: Corpus, argument: str, *_: object) -> Column:
    """In which of n equal parts of the sequence the token stands; n is the argument."""
    bins = _number("position", argument)
    lengths = np.repeat(corpus.lengths, corpus.lengths)
    return capped(_positions(corpus) * bins // lengths, bins - 1)


def _lexicon(corpus: Corpus, name: str, memory: Memory) -> Column:
    """B at the first and I at the further words of each longest match, ignoring case."""
    if name not in memory.lexicons:
        raise TemplateError(f"the lexicon {name!r} is not given; name its file with --lexicon {name}=FILE")
    column = column_of(corpus)
    words, levels = _trie(memory.lexicons[name])
    ids = words.encode(s.lower() for s in column.vocabulary)[column.ids]
    left = _left(corpus)
    longest = np.zeros(corpus.n_tokens, dtype=np.int64)
    node = np.zeros(corpus.n_tokens, dtype=np.int64)
    for depth, (edges, ending) in enumerate(levels):
        ahead = np.minimum(np.arange(corpus.n_tokens) + depth, corpus.n_tokens - 1)
        codes = np.where((node >= 0) & (left > depth) & (ids[ahead] >= 0), node * len(words) + ids[ahead], -1)
        place = np.minimum(np.searchsorted(edges, codes), len(edges) - 1)
        node = np.where(edges[place] == codes, place, -1)
        longest[(node >= 0) & ending[place]] = depth + 1
    return Column(_mark(longest), Vocabulary(["B", "I"]))


def _trie(entries: tuple[tuple[str, ...], ...]) -> tuple[Vocabulary, list[tuple[NDArray, NDArray]]]:
    """The words, and per depth the sorted edge codes (parent · words + word) with whether an entry ends."""
    words = Vocabulary(dict.fromkeys(w for e in entries for w in e))
    levels: list[tuple[NDArray, NDArray]] = []
    alive = [(entry, 0) for entry in entries]
    while alive:
        depth = len(levels)
        coded = [(node * len(words) + words.find(entry[depth]), entry) for entry, node in alive]
        edges = np.unique(np.array([code for code, _ in coded], dtype=np.int64))
        ends = np.zeros(len(edges), dtype=bool)
        nodes = np.searchsorted(edges, [code for code, _ in coded]).tolist()
        for (_, entry), node in zip(coded, nodes, strict=True):
            ends[node] |= len(entry) == depth + 1
        levels.append((edges, ends))
        alive = [(e, n) for (_, e), n in zip(coded, nodes, strict=True) if len(e) > depth + 1]
    return words, levels


def _mark(longest: NDArray[np.int64]) -> NDArray[np.int32]:
    """Match lengths at their first token → 0 (B) and 1 (I), −1 outside; an earlier match goes first."""
    marks = np.full(len(longest), -1, dtype=np.int32)
    free = 0
    for t in np.flatnonzero(longest).tolist():
        if t >= free:
            free = t + int(longest[t])
            marks[t] = 0
            marks[t + 1 : free] = 1
    return marks


DERIVED: dict[str, Callable[[str, Memory], Derive]] = {
    "value": lambda _argument, _memory: lambda token: token,
    "lower": lambda _argument, _memory: str.lower,
    "shape": lambda _argument, _memory: shape,
    "short-shape": lambda _argument, _memory: short_shape,
    "digits": lambda _argument, _memory: digits,
    "length": lambda _argument, _memory: lambda token: str(min(len(token), 12)),
    "prefix": lambda argument, _memory: _prefix(_number("prefix", argument)),
    "suffix": lambda argument, _memory: _suffix(_number("suffix", argument)),
    "match": lambda argument, _memory: _match(argument),
    "kind": lambda _argument, _memory: segmenter.kind,
    "unknown": lambda _argument, memory: lambda token: None if token in memory.known else "1",
}
"""name → (argument, memory) → function of one string."""

COMPUTED: dict[str, Callable[[Corpus, str, Memory], Column]] = {
    "first": lambda corpus, *_: flags(_positions(corpus) == 0),
    "last": lambda corpus, *_: flags(_left(corpus) == 1),
    "bias": lambda corpus, *_: flags(np.ones(corpus.n_tokens, dtype=bool)),
    "position": _position,
    "lexicon": _lexicon,
    "seen": segmenter.seen,
    "ahead": segmenter.ahead,
    "segment": segmenter.segment,
}
"""name → function of (corpus, argument, memory) that gives a column."""

NEEDS_ARGUMENT = {
    "prefix": "a number",
    "suffix": "a number",
    "match": "a /pattern/",
    "position": "a number",
    "lexicon": "a name",
    "seen": "a kind of token",
    "ahead": "a kind of token",
    "segment": "an aspect",
}


def whole(digits: str) -> int:
    """The number that digits, with or without a sign, stand for; of very many the first, which are too large.

    >>> whole("-0012"), whole("9" * 10_000)
    (-12, 999999999999)
    """
    size = int(digits.lstrip("+-").lstrip("0")[:12] or "0")
    return -size if digits.startswith("-") else size


def _number(name: str, argument: str) -> int:
    if not argument.isdecimal() or whole(argument) < 1:
        raise TemplateError(f"{name}({argument}) needs a positive number, such as {name}(3)")
    return whole(argument)


CHOICES = {
    "seen": ("a kind of token", KINDS),
    "ahead": ("a kind of token", KINDS),
    "segment": ("an aspect of segments", tuple(ASPECTS)),
}
"""Computed sources whose argument is one of a few → what these are."""


def _spell_column(name: str) -> str:
    """As `parse_templates` reads it: in quotes if it could be taken for something else."""
    odd = name in DERIVED or name in COMPUTED or name == "word" or _ODD.search(name)
    return "'" + name.replace("'", "''") + "'" if odd else name


@dataclass(frozen=True)
class Source:
    """A named value of a token, such as `suffix(3)`, `lower(pos)` or `match(/^[A-Z]$/)`."""

    name: str
    argument: str = ""
    column: str = ""  # empty: the token column of the corpus

    def __str__(self) -> str:
        column = _spell_column(self.column)
        if self.name == "value":
            return column or "word"
        argument = f"/{self.argument}/" if self.name == "match" else self.argument
        inside = ",".join(x for x in (argument, column) if x)
        return f"{self.name}({inside})" if inside else self.name

    def check(self) -> None:
        """Raise if the argument cannot be used."""
        what, known = CHOICES.get(self.name, ("", (self.argument,)))
        if self.argument not in known:
            raise TemplateError(f"{self.name}({self.argument}) needs {what}: {', '.join(known)}")
        if self.name == "position":
            _number(self.name, self.argument)
        elif self.name in DERIVED:
            DERIVED[self.name](self.argument, Memory())

    @property
    def computed(self) -> bool:
        return self.name in COMPUTED

    @property
    def raw(self) -> bool:
        """Whether this is a column's own value, of which all derived sources of the column are functions."""
        return self.name == "value"

    def raw_column(self, corpus: Corpus, memory: Memory) -> Column:
        """The column that the source is a function of; what is computed is one by itself."""
        if self.computed:
            return COMPUTED[self.name](corpus, self.argument, memory)
        return column_of(corpus, self.column)

    def derive(self, strings: Iterable[str], memory: Memory) -> list[str | None]:
        """The value for each distinct string of the raw column."""
        return list(strings if self.computed else map(DERIVED[self.name](self.argument, memory), strings))
