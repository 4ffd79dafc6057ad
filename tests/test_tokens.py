"""Tokenisers: their three promises on any text, and how usual text is cut."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conseq.errors import DataError
from conseq.tokens import TOKENISERS, tokeniser


def cut(text: str, choice: str = "words") -> list[str]:
    return [text[a:b] for a, b in tokeniser(choice)(text)]


texts = st.one_of(
    st.text(),
    st.text(alphabet="aé1 .,-'’_@/:<>()\t\u0301नि"),
    st.lists(
        st.sampled_from(["http://", "www.", "10.1234/", "a@b.c", "1,234", "A.", ")", " ", "-", "x"])
    ).map("".join),
)


@pytest.mark.parametrize("name", TOKENISERS)
@given(text=texts)
def test_tokens_are_in_order_and_cover_all_but_white_space(name: str, text: str) -> None:
    spans = tokeniser(name)(text)
    ends = [0, *(end for _, end in spans)]
    assert all(end <= start < stop for end, (start, stop) in zip(ends, spans, strict=False))
    covered = {i for a, b in spans for i in range(a, b)}
    assert covered == {i for i, character in enumerate(text) if not character.isspace()}


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("A. Cau, B. de Jong", ["A", ".", "Cau", ",", "B", ".", "de", "Jong"]),
        ("don't l’eau well-known", ["don't", "l’eau", "well-known"]),
        ("'quoted'", ["'", "quoted", "'"]),
        ("1,234.5 and 3.14", ["1,234.5", "and", "3.14"]),
        ("12(3), 45-67", ["12", "(", "3", ")", ",", "45", "-", "67"]),
        ("1990,1991a", ["1990", ",", "1991a"]),
        ("1,2345", ["1", ",", "2345"]),
        ("COVID-19 19-year-old", ["COVID-19", "19-year-old"]),
        ("snake_case _x_", ["snake_case", "_", "x", "_"]),
        (
            "see http://a.org/x?y=1, (www.b.nl).",
            ["see", "http://a.org/x?y=1", ",", "(", "www.b.nl", ")", "."],
        ),
        ("doi:10.1016/S0140-6736(05)67889-0.", ["doi", ":", "10.1016/S0140-6736(05)67889-0", "."]),
        ("<a.b+c@d-e.co.uk>", ["<", "a.b+c@d-e.co.uk", ">"]),
        ("नमस्ते cafe\u0301 Żółć", ["नमस्ते", "cafe\u0301", "Żółć"]),
        ("...!?", [".", ".", ".", "!", "?"]),
        ("", []),
    ],
)
def test_words(text: str, tokens: list[str]) -> None:
    assert cut(text) == tokens


def test_whitespace_and_characters() -> None:
    assert cut(" A. Cau,\u00a0x ", "whitespace") == ["A.", "Cau,", "x"]
    assert cut("a b", "characters") == ["a", "b"]


@pytest.mark.parametrize("unit", ["a.", "a@", "1,", "a-", "10.1234/)", "http://)", "1,234", "\u0301"])
def test_long_runs_take_linear_time(unit: str) -> None:
    started = time.perf_counter()
    tokeniser()(unit * 20_000)
    assert time.perf_counter() - started < 2


def test_unknown_name_and_own_function() -> None:
    with pytest.raises(DataError, match="no tokeniser 'word'; choose one of words, whitespace, characters"):
        tokeniser("word")
    assert tokeniser(lambda text: [(0, len(text))])("abc") == [(0, 3)]
