"""Tests of tokens that mined rules may use: patterns by name, and the marks and words of the data itself.

A user adds to them: `Screen(tests={**TESTS, "isbn": Pattern("^97[89]")})`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from conseq.constraints.tokens import Pattern, TokenTest, Words
from conseq.corpus import Corpus

TESTS: Mapping[str, TokenTest] = {
    "year": Pattern(r"(?<!\d)(1[5-9]|20)\d\d(?!\d)"),
    "digit": Pattern(r"\d"),
    "number": Pattern(r"^\d+\W*$"),
    "range": Pattern(r"\d\s*[-–—]+\s*\d"),
    "capital": Pattern(r"^\W*[A-Z]"),
    "capitals": Pattern(r"^[A-Z][A-Z]+\W*$"),
    "lower": Pattern(r"^[a-z]"),
    "letter": Pattern(r"[A-Za-z]"),
    "word": Pattern(r"[A-Za-z]{4}"),
    "initial": Pattern(r"^[A-Z]\.?-?[A-Z]?\.?$"),
    "mark": Pattern(r"^\W+$"),
    "comma": Pattern(r",$"),
    "period": Pattern(r"\.$"),
    "colon": Pattern(r":$"),
    "semicolon": Pattern(r";$"),
    "opening": Pattern(r"^[(\[]"),
    "closing": Pattern(r"[)\]]\W?$"),
    "final": Pattern(r"[^\w(\[{<&/-]$"),
    "quote": Pattern("[\"“”‘’`]|''"),
    "hyphen": Pattern(r"[-–—]"),
    "and": Pattern(r"^(?i:and|&)$"),
    "in": Pattern(r"^(?i:in)\W*$"),
    "of": Pattern(r"^(?i:of|the|for|on|a|an)$"),
    "editor": Pattern(r"^\W*(?i:eds?|editors?|edited)\b"),
    "pages": Pattern(r"^(?i:pp?|pages?)\b"),
    "volume": Pattern(r"^(?i:vol|vols|volume)\b"),
    "issue": Pattern(r"^(?i:no|nr|number|issue)\b"),
    "month": Pattern(r"^(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"),
    "university": Pattern(r"^(?i:univ|dept|department|institut|school|college)"),
    "web": Pattern(r"^(?i:https?|www|url|doi|arxiv)"),
}
"""name ─→ test."""

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
