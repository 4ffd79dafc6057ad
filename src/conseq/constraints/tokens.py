"""Tests of tokens that constraints may ask for: a word, a pattern, places, repeated words.

corpus ─→ test.mask(corpus) ─→ bool[T]: the tokens that pass

A test of words looks at each distinct word once, not at each token.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from conseq.corpus import Corpus
from conseq.dtypes import Ints
from conseq.errors import RuleError
from conseq.patterns import PatternError, Searcher, searcher

Mask = NDArray[np.bool_]


class TokenTest(Protocol):
    """Something that is true of some tokens. Equal tests have equal masks."""

    def mask(self, corpus: Corpus) -> Mask: ...

    def __hash__(self) -> int: ...


@dataclass(frozen=True)
class Words:
    """The token is one of these words, written exactly so.

    >>> Words(frozenset({"Mr.", "Dr."})).mask(Corpus.from_sequences([["Mr.", "X"]])).tolist()
    [True, False]
    """

    words: frozenset[str]

    def mask(self, corpus: Corpus) -> Mask:
        column = corpus.columns[token_column(corpus)]
        known = np.zeros(len(column.vocabulary), dtype=bool)
        places = (column.vocabulary.find(word) for word in self.words)
        known[[i for i in places if i >= 0]] = True
        return known[column.ids]


@dataclass(frozen=True)
class Pattern:
    """A regular expression is found somewhere in the token.

    >>> Pattern(r"\\d{4}").mask(Corpus.from_sequences([["(1998)", "98"]])).tolist()
    [True, False]
    """

    pattern: str

    @property
    def compiled(self) -> Searcher:
        try:
            return searcher(self.pattern)
        except PatternError as error:
            raise RuleError(str(error)) from None

    def mask(self, corpus: Corpus) -> Mask:
        column = corpus.columns[token_column(corpus)]
        found = np.fromiter(map(self.compiled, column.vocabulary), dtype=bool, count=len(column.vocabulary))
        return found[column.ids]


@dataclass(frozen=True)
class Places:
    """The token stands at one of these places of its sequence, counted from 0, or from −1 at the end.

    >>> Places((0, -1)).mask(Corpus.from_sequences([["a", "b", "c"], ["d"]])).tolist()
    [True, False, True, True]
    """

    places: tuple[int, ...]

    def mask(self, corpus: Corpus) -> Mask:
        mask = np.zeros(corpus.n_tokens, dtype=bool)
        within = (place for place in self.places if -corpus.n_tokens <= place < corpus.n_tokens)
        for place in within:
            at = (corpus.offsets[:-1] if place >= 0 else corpus.offsets[1:]) + place
            mask[at[(at >= corpus.offsets[:-1]) & (at < corpus.offsets[1:])]] = True
        return mask


@dataclass(frozen=True)
class Not:
    """The token does not pass a test.

    >>> Not(Places((0,))).mask(Corpus.from_sequences([["a", "b"]])).tolist()
    [False, True]
    """

    test: TokenTest

    def mask(self, corpus: Corpus) -> Mask:
        return ~self.test.mask(corpus)


@dataclass(frozen=True)
class After:
    """The token before it in its sequence passes a test.

    >>> After(Places((0, 1))).mask(Corpus.from_sequences([["a", "b", "c"], ["d"]])).tolist()
    [False, True, True, False]
    """

    test: TokenTest

    def mask(self, corpus: Corpus) -> Mask:
        passes = np.append(False, self.test.mask(corpus)[:-1])
        passes[corpus.offsets[:-1][corpus.lengths > 0]] = False
        return passes[: corpus.n_tokens]


@dataclass(frozen=True)
class Repeated:
    """The token belongs to the group with this number among the words that its sequence repeats.

    Groups are numbered from 0 in the order of their first tokens; only tokens that pass `among` count.

    >>> Repeated(1).mask(Corpus.from_sequences([["a", "b", "a", "b", "c"]])).tolist()
    [False, True, False, True, False]
    """

    group: int
    among: TokenTest | None = None

    def mask(self, corpus: Corpus) -> Mask:
        mask = np.zeros(corpus.n_tokens, dtype=bool)
        mask[passing(self, corpus)] = True
        return mask

    @staticmethod
    def count(corpus: Corpus, among: TokenTest | None = None) -> int:
        """The most groups that a sequence of the corpus has."""
        return len(repeated_groups(corpus, among).first) - 1


def passing(test: TokenTest, corpus: Corpus) -> Ints:
    """The tokens that pass a test, in order."""
    if not isinstance(test, Repeated):
        return np.flatnonzero(test.mask(corpus))
    groups = repeated_groups(corpus, test.among)  # a mask for each would grow as tokens times groups
    return groups.tokens[slice(*groups.first[test.group : test.group + 2])]


class Groups(NamedTuple):
    """Groups of tokens, one after the other."""

    first: Ints  # [G+1], where each group begins
    tokens: Ints


_GROUPS: WeakKeyDictionary[Corpus, dict[TokenTest | None, Groups]] = WeakKeyDictionary()


def repeated_groups(corpus: Corpus, among: TokenTest | None) -> Groups:
    """The tokens of the words that sequences repeat; found once for a corpus.

    Group g has the tokens of the group with this number in each sequence.
    """
    known = _GROUPS.setdefault(corpus, {})
    if among not in known:
        known[among] = _repeated_groups(corpus, among)
    return known[among]


def _repeated_groups(corpus: Corpus, among: TokenTest | None) -> Groups:
    column = corpus.columns[token_column(corpus)]
    tokens = np.arange(corpus.n_tokens) if among is None else passing(among, corpus)
    sequence = np.repeat(np.arange(len(corpus)), corpus.lengths)[tokens]
    key = sequence * len(column.vocabulary) + column.ids[tokens]
    _, first, word, counts = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    repeated = np.flatnonzero(counts > 1)
    repeated = repeated[np.argsort(first[repeated])]  # by sequence, and there by the first token
    owner = sequence[first[repeated]]
    number = np.full(len(counts), -1, dtype=np.int64)
    number[repeated] = np.arange(len(repeated)) - np.searchsorted(owner, owner)
    group = number[word]
    order = np.argsort(group, kind="stable")
    sizes = np.bincount(group[group >= 0])
    first_of = np.cumsum(np.append(np.count_nonzero(group < 0), sizes))
    return Groups(first_of, tokens[order])


def token_column(corpus: Corpus) -> str:
    """The column that words are compared in."""
    if not corpus.columns:
        raise RuleError("a rule looks at tokens, and none are given; give the tokens along with the scores")
    return corpus.token_column
