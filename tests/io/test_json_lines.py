"""JSON lines: the three forms, the way back, and what is wrong on which line."""

from __future__ import annotations

import io
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conseq.corpus import Corpus
from conseq.errors import DataError
from conseq.io import format_jsonl, read, stream


def of(*records: Any, **options: Any) -> Corpus:
    lines = (record if isinstance(record, str) else json.dumps(record) for record in records)
    return read(io.BytesIO("\n".join(lines).encode()), "jsonl", **options)


def span(start: Any, end: Any, kind: Any = "a") -> dict[str, Any]:
    return {"start": start, "end": end, "type": kind}


def test_tokens_labels_and_columns() -> None:
    corpus = of(
        {
            "id": 7,
            "tokens": ["a", "b"],
            "pos": ["N", "V"],
            "labels": ["X", ""],
            "entities": [{}, {}],
            "n": [1, 2],
        },
        {"id": 8, "tokens": ["c"], "pos": ["N"], "labels": ["Y"], "more": ["of", "other", "length"]},
    )
    assert list(corpus.columns) == ["word", "pos"]
    assert corpus.token_sequences() == [["a", "b"], ["c"]]
    assert corpus.label_sequences() == [["X", ""], ["Y"]]


def test_spans_of_tokens() -> None:
    record = {"tokens": ["a", "b", "c"], "spans": [span(1, 2, "in"), span(0, 3, "out")]}
    assert of(record)[0].labels == ["B-out", "I-out/B-in", "I-out"]
    assert of({"tokens": ["a"], "entities": [span(0, 1)]}, spans="entities")[0].labels == ["B-a"]
    assert of({"tokens": ["a"], "spans": []})[0].labels == ["O"]
    assert of({"tokens": ["a"]}).labels is None


def test_spans_of_characters() -> None:
    corpus = of({"text": "Cau, A. 1990", "spans": [span(0, 7, "author"), span(8, 12, "year")]})
    assert corpus[0].tokens == ["Cau", ",", "A", ".", "1990"]
    assert corpus[0].labels == ["B-author", "I-author", "I-author", "I-author", "B-year"]
    assert corpus[0].characters == [(0, 3), (3, 4), (5, 6), (6, 7), (8, 12)]
    assert of({"text": "Cau, A."}, tokens="whitespace")[0].tokens == ["Cau,", "A."]


def test_tokens_and_text() -> None:
    corpus = of({"tokens": ["so", "so"], "text": "so, so", "spans": [span(1, 2)]})
    assert corpus[0].labels == ["O", "B-a"]
    assert corpus[0].characters == [(0, 2), (4, 6)]


FINE = {"tokens": ["a", "b"], "labels": ["X", "Y"]}


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ('{"tokens": ["a"', "column 16: this is not JSON (Expecting ',' delimiter); write one object"),
        ('["a"]', "this is a JSON list, not an object; write one object on each line"),
        ("[" * 100_000, "this is not JSON"),
        ('{"tokens": ' + "1" * 5000 + "}", "this is not JSON that can be read"),
        ({"tokens": ["a"], "labels": ["X", "Y"]}, '1 token but 2 in "labels"; give one per token'),
        ({"tokens": ["a"], "labels": [1]}, '"labels" is not a list of strings; give one string per token'),
        ({"tokens": "a b"}, '"tokens" is not a list of strings'),
        ({"tokens": [""]}, "a token is empty; leave it out"),
        ({"tokens": []}, "the sequence has no tokens; leave the line out"),
        ({"text": " "}, "the sequence has no tokens"),
        ({"words": ["a"]}, 'there are no tokens and no text; give "tokens" (a list) or "text" (a string)'),
        ({"text": 3}, "there are no tokens and no text"),
        ({"tokens": ["a"], "spans": [span(0, 2)]}, "a [0, 2) is empty or goes beyond the 1 tokens"),
        ({"tokens": ["a"], "spans": [span(0, 0)]}, "a [0, 0) is empty"),
        ({"tokens": list("abc"), "spans": [span(0, 2), span(1, 3)]}, "a [0, 2) and a [1, 3) cross"),
        ({"tokens": ["a"], "spans": [span("0", 1)]}, "is no span; give start and end (whole numbers)"),
        ({"tokens": ["a"], "spans": [span(False, True)]}, "is no span"),
        ({"tokens": ["a"], "spans": [[0, 1]]}, "[0, 1] is no span"),
        ({"tokens": ["a"], "spans": {}}, '"spans" is not a list'),
        ({"tokens": ["a"], "text": "b"}, "the token 'a' is not in the rest of the text"),
        (
            {"text": "abc d", "spans": [span(0, 2)]},
            "a [0, 2) 'ab' does not begin and end where tokens do; move",
        ),
        ({"text": "abc", "spans": [span(0, 9)]}, "a [0, 9) is empty or goes beyond the 3 characters"),
        (
            {"tokens": ["a"]},
            "this line has tokens, the first one tokens, labels; give every sequence the same",
        ),
    ],
)
def test_errors_name_the_line(record: Any, message: str) -> None:
    with pytest.raises(DataError, match="^input:3: .*" + re.escape(message)):
        of(FINE, "", record)


def test_a_column_must_be_there_everywhere() -> None:
    first = {"tokens": ["a"], "pos": ["N"]}
    with pytest.raises(DataError, match='input:2: "pos" is not a list of strings'):
        of(first, {"tokens": ["a"]})
    with pytest.raises(DataError, match='input:2: 2 tokens but 1 in "pos"'):
        of(first, {"tokens": ["a", "b"], "pos": ["N"]})


word = st.text(min_size=1, max_size=4, alphabet=st.characters(codec="utf-8"))
rows = st.lists(st.lists(st.tuples(word, word, word), min_size=1, max_size=4), min_size=1, max_size=4)


@given(rows=rows)
def test_round_trip(rows: list[list[tuple[str, str, str]]], contents: Any) -> None:
    words, tags, labels = zip(*(row for sequence in rows for row in sequence), strict=True)
    corpus = Corpus.from_columns({"word": words, "pos": tags}, map(len, rows), labels)
    assert contents(read(io.BytesIO(format_jsonl(corpus).encode()), "jsonl")) == contents(corpus)


@given(
    texts=st.lists(st.text(alphabet="ab .,'é\u00a0", max_size=9), min_size=1).filter(
        lambda t: "".join(t).strip()
    )
)
def test_round_trip_with_text(texts: list[str], contents: Any) -> None:
    corpus = read(io.BytesIO("\n".join(texts).encode()), "text")
    labels = [f"B-{'ab'[i % 2]}" if i % 3 else "O" for i in range(corpus.n_tokens)]
    corpus = corpus.with_labels(labels)
    for spans in (False, True):
        again = read(io.BytesIO(format_jsonl(corpus, spans=spans).encode()), "jsonl")
        assert contents(again) == contents(corpus)


def test_round_trip_of_spans_without_text() -> None:
    corpus = Corpus.from_sequences([["a b", "c"]], [["B-x/B-y", "I-x"]])
    text = format_jsonl(corpus, spans=True)
    assert json.loads(text)["spans"] == [span(0, 2, "x"), span(0, 1, "y")]
    assert read(io.BytesIO(text.encode()), "jsonl")[0].labels == ["B-x/B-y", "I-x"]


def test_stream() -> None:
    data = "\n".join(json.dumps({"tokens": [token]}) for token in "abc").encode()
    assert [b.token_sequences() for b in stream(io.BytesIO(data), "jsonl", max_tokens=1)] == [
        [["a"]],
        [["b"]],
        [["c"]],
    ]
