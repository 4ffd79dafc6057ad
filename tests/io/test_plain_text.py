"""Plain text: a sequence a line, every token with its place."""

from __future__ import annotations

import gzip
import io
import os
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conseq.corpus import Corpus
from conseq.errors import DataError
from conseq.io import format_text, read, stream

line = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=20)
texts = st.lists(line, min_size=1, max_size=6).filter(
    lambda lines: any(text and not text.isspace() for text in lines) and not lines[0].startswith("\ufeff")
)


@given(lines=texts, tokens=st.sampled_from(["words", "whitespace", "characters"]))
def test_round_trip_and_places(lines: list[str], tokens: str, contents: Any) -> None:
    corpus = read(io.BytesIO("\n".join(lines).encode()), "text", tokens=tokens)
    kept = [text for text in lines if text and not text.isspace()]
    assert [sequence.text for sequence in corpus] == kept
    for sequence in corpus:
        assert [(sequence.text or "")[a:b] for a, b in sequence.characters or []] == sequence.tokens
    text = format_text(corpus)
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    assert contents(read(io.BytesIO((mark + text).encode()), "text", tokens=tokens)) == contents(corpus)


@pytest.mark.parametrize(
    "data",
    [
        b"a b\nc\n",
        b"a b\r\nc\r\n",
        b"\xef\xbb\xbfa b\nc",
        b"\n\na b\n \nc",
        gzip.compress(b"a b\nc\n", mtime=0),
    ],
)
def test_variants_are_equal(data: bytes, contents: Any) -> None:
    assert contents(read(io.BytesIO(data), "text")) == contents(read(io.BytesIO(b"a b\nc\n"), "text"))


@given(texts, st.integers(1, 9))
def test_stream_is_equal(lines: list[str], limit: int) -> None:
    data = "\n".join(lines).encode()
    whole = read(io.BytesIO(data), "text")
    batches = list(stream(io.BytesIO(data), "text", max_tokens=limit))
    assert [s.tokens for batch in batches for s in batch] == whole.token_sequences()
    assert [s.characters for batch in batches for s in batch] == [s.characters for s in whole]


def test_a_line_is_answered_at_once() -> None:
    end, begin = os.pipe()
    with open(end, "rb", buffering=0) as source, open(begin, "wb", buffering=0) as sink:
        batches = stream(source, "text")
        sink.write(b"Good night.\n")
        assert next(batches)[0].tokens == ["Good", "night", "."]
        sink.close()
        assert list(batches) == []


def test_without_the_original() -> None:
    assert format_text(Corpus.from_sequences([["a", "b"], ["c"]])) == "a b\nc\n"


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"", "the file is empty"), (b" \n\n", "the file has no tokens"), (b"a\n\xff\n", ":2: byte 0xff")],
)
@pytest.mark.parametrize("way", [read, lambda *given: list(stream(*given))])
def test_errors(data: bytes, message: str, way: Any) -> None:
    with pytest.raises(DataError, match=message):
        way(io.BytesIO(data), "text")
