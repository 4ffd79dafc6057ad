"""Tests of tokens that mined rules may use: patterns by name, and the marks and words of the data itself.

A user adds to them: `Screen(tests={**TESTS, "isbn": Pattern("^97[89]")})`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from importlib.resources import files

import numpy as np

from conseq.constraints.tokens import Pattern, TokenTest, Words
from conseq.corpus import Corpus

_FILE = (files(__package__) / "token_tests.toml").read_text(encoding="utf-8")
TESTS: Mapping[str, TokenTest] = {name: Pattern(found) for name, found in tomllib.loads(_FILE).items()}
"""name ─→ test, from `token_tests.toml`."""

MOST_MARKS = 12
"""How many of the most frequent marks are looked at."""


def frequent_tokens(corpus: Corpus, least: int, words: int = 0) -> list[Words]:
    """The marks (tokens without letters and digits) that occur at least `least` times, each by itself, and
    the `words` most frequent other words; the usual ones first.

    >>> corpus = Corpus.from_sequences([["a", ",", "b", ",", "a", "."]])
    >>> frequent_tokens(corpus, 2), frequent_tokens(corpus, 1, words=1)[-1]
    ([Words(words=frozenset({','}))], Words(words=frozenset({'a'})))
    """
    if not corpus.columns:
        return []
    column = corpus.columns[corpus.token_column]
    counts = np.bincount(column.ids, minlength=len(column.vocabulary))
    usual = sorted((-int(n), word) for n, word in zip(counts, column.vocabulary, strict=True) if n >= least)
    marks = [word for n, word in usual if n < 0 and re.fullmatch(r"[^\w\s]+", word)]
    others = [word for n, word in usual if n < 0 and not re.fullmatch(r"[^\w\s]+", word)]
    return [Words(frozenset({word})) for word in (*marks[:MOST_MARKS], *others[:words])]
