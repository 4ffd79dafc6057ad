"""Inline tags: reading, writing, and the place of every slip."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conseq.corpus import Corpus
from conseq.errors import DataError
from conseq.io import format_inline, read, stream


def of(text: str, **options: Any) -> Corpus:
    return read(io.BytesIO(text.encode()), "inline", **options)


@pytest.mark.parametrize(
    "line",
    [
        "<author> A. Cau </author> <title> Sets </title> 1990",
        "<author>A. Cau</author><title>Sets</title>1990",
    ],
)
def test_flat(line: str) -> None:
    corpus = of(line)
    assert corpus[0].tokens == ["A", ".", "Cau", "Sets", "1990"]
    assert corpus[0].labels == ["B-author", "I-author", "I-author", "B-title", "O"]
    assert of(line, scheme="plain")[0].labels == ["author", "author", "author", "title", "O"]
    text, characters = corpus[0].text, corpus[0].characters
    assert text is not None
    assert characters is not None
    assert [text[a:b] for a, b in characters] == corpus[0].tokens
    assert "<" not in text


def test_nested() -> None:
    line = "<authors><person><first>A.</first> Cau</person> and <person>Bo</person></authors>"
    assert of(line, tokens="whitespace")[0].labels == [
        "B-authors/B-person/B-first",
        "I-authors/I-person",
        "I-authors",
        "I-authors/B-person",
    ]


def test_nested_and_plain() -> None:
    """Plain labels are paths, keep no touching elements apart, and give the nesting back when written."""
    corpus = of("<a>x <b>y</b></a><a>z</a> <c></c>w", scheme="plain")
    assert corpus[0].labels == ["a", "a/b", "a", "O"]
    assert format_inline(corpus) == "<a>x <b>y</b>z</a> w\n"


def test_entities() -> None:
    corpus = of(
        "<x>R&amp;D &lt;b&gt; &#233;&#xE9; AT&T &amp;lt; &nosuch; &#x110000; a < b</x>", tokens="whitespace"
    )
    assert " ".join(corpus[0].tokens) == "R&D <b> éé AT&T &lt; &nosuch; &#x110000; a < b"


def test_blank_lines_and_lines_without_tokens_are_left_out() -> None:
    assert len(of("\n<a>x</a>\r\n \n<b></b>\n<a></a>y\n")) == 2


def test_no_tags_at_all() -> None:
    assert of("just text")[0].labels == ["O", "O"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ok\n<a>x", "input:2: column 1: <a> is not closed; add </a> to the line"),
        ("x <a>y <b>z</b>", "input:1: column 3: <a> is not closed"),
        ("x</a>", "input:1: column 2: </a> closes nothing; open it, or write &lt; for a plain <"),
        ("<a>x<b>y</a></b>", "input:1: column 9: </a> stands inside <b>; close b before it"),
        ("\n\n", "input: the file has no tokens"),
        ("<a>" * 20_000, "input:1: column 301: more than 100 elements inside each other"),
    ],
)
def test_errors(text: str, message: str) -> None:
    with pytest.raises(DataError, match=re.escape(message)):
        of(text)


def test_unknown_scheme() -> None:
    with pytest.raises(DataError, match="no scheme 'iob'; choose one of bio, plain"):
        of("x", scheme="iob")


text = st.text(alphabet="ab1 .,&<>;é#\u00a0", max_size=6)


@st.composite
def markup(draw: st.DrawFn, depth: int = 0) -> str:
    """Text with tags, well nested."""
    parts = [_escaped(draw(text))]
    for _ in range(draw(st.integers(0, 2 if depth < 2 else 0))):
        name = draw(st.sampled_from(["a", "b-c", "é"]))
        parts += [f" <{name}>{draw(markup(depth + 1))}</{name}>", _escaped(draw(text))]
    return "".join(parts)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


@given(
    lines=st.lists(markup(), min_size=1, max_size=3).map(lambda lines: ["<a>x</a>", *lines]),
    tokens=st.sampled_from(["words", "whitespace", "characters"]),
)
def test_round_trip(lines: list[str], tokens: str, contents: Any) -> None:
    first = of("\n".join(lines), tokens=tokens)
    again = of(format_inline(first), tokens=tokens)
    third = of(format_inline(again), tokens=tokens)
    assert contents(third) == contents(again)
    assert again.source is not None
    assert first.source is not None
    assert again.source.texts == first.source.texts
    if tokens == "characters":  # others may join two tokens that only an empty element kept apart
        assert contents(again) == contents(first)


words = st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1, max_size=4)
labels = st.sampled_from(["O", "B-a", "I-a", "B-b/B-c"])


@given(st.lists(st.lists(st.tuples(words, labels), min_size=1, max_size=5), min_size=1, max_size=3))
def test_round_trip_of_any_tokens(rows: list[list[tuple[str, str]]]) -> None:
    tokens = [[token for token, _ in row] for row in rows]
    corpus = Corpus.from_sequences(tokens, [[label for _, label in row] for row in rows])
    again = of(format_inline(corpus), tokens="whitespace")
    assert again.token_sequences() == tokens
    assert format_inline(again) == format_inline(corpus)


def test_line_breaks_inside_a_token_are_escaped() -> None:
    corpus = Corpus.from_sequences([["a\nb\r"]], [["B-x"]])
    assert format_inline(corpus) == "<x>a&#10;b&#13;</x>\n"


def test_a_label_that_cannot_be_a_tag() -> None:
    with pytest.raises(DataError, match="the label 'a b' cannot be a tag; rename it"):
        format_inline(Corpus.from_sequences([["x"]], [["B-a b"]]))


def test_stream(contents: Any) -> None:
    data = "<a>x</a> y\n\nz <b>w</b>\n"
    batches = list(stream(io.BytesIO(data.encode()), "inline", max_tokens=1))
    assert [batch.label_sequences() for batch in batches] == [[["B-a", "O"]], [["O", "B-b"]]]
    with pytest.raises(DataError, match="input:3: column 1: </b>"):
        list(stream(io.BytesIO(b"x\n\n</b>\n"), "inline", max_tokens=1))
