"""Spans with simple names ↔ segments with full paths, and the labels in between."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conseq.corpus import Corpus
from conseq.errors import DataError
from conseq.io.spans import SimpleSpan, nest, simple_name, spans_of
from conseq.schema import Span, write_spans

TABLE: list[tuple[list[SimpleSpan], list[str]]] = [
    ([], ["O", "O", "O"]),
    ([(0, 1, "a"), (1, 3, "a")], ["B-a", "B-a", "I-a"]),
    ([(0, 3, "a"), (1, 2, "b")], ["B-a", "I-a/B-b", "I-a"]),
    ([(0, 3, "a"), (0, 1, "b"), (1, 3, "b")], ["B-a/B-b", "I-a/B-b", "I-a/I-b"]),
    ([(0, 2, "a"), (0, 2, "a"), (2, 3, "a")], ["B-a/B-a", "I-a/I-a", "B-a"]),
]


def read(labels: list[str]) -> list[SimpleSpan]:
    """The spans of one sequence of labels, as files give them."""
    (spans,) = spans_of(Corpus.from_sequences([labels], [labels]))
    return [(span.start, span.end, simple_name(span)) for span in spans]


@pytest.mark.parametrize(("spans", "labels"), TABLE)
def test_labels_and_back(spans: list[SimpleSpan], labels: list[str]) -> None:
    assert write_spans(nest(spans, 3), 3, "bio") == labels
    assert read(labels) == spans


def test_of_the_same_tokens_the_first_given_is_outer() -> None:
    assert nest([(0, 1, "out"), (0, 1, "in")], 1) == [Span(0, 1, "out"), Span(0, 1, "out/in", 1)]


@pytest.mark.parametrize(
    ("labels", "spans"),
    [
        (["I-a", "I-a", "I-b"], [(0, 2, "a"), (2, 3, "b")]),
        (["B-a/B-x", "B-a/I-x"], [(0, 1, "a"), (0, 1, "x"), (1, 2, "a"), (1, 2, "x")]),
        (["t", "t", "O", "t", "u"], [(0, 2, "t"), (3, 4, "t"), (4, 5, "u")]),
        (["t", "t/u", "t"], [(0, 3, "t"), (1, 2, "u")]),
        (["B-a", "", "I-a"], [(0, 1, "a"), (2, 3, "a")]),
    ],
)
def test_labels_that_are_not_strict_bio(labels: list[str], spans: list[SimpleSpan]) -> None:
    assert read(labels) == spans


def test_sequences_are_read_apart_and_those_without_labels_have_no_spans() -> None:
    tokens = [["x", "y"], ["z"]]
    assert spans_of(Corpus.from_sequences(tokens, [["O", "B-a"], ["I-a"]])) == [
        [Span(1, 2, "a")],
        [Span(0, 1, "a")],
    ]
    assert spans_of(Corpus.from_sequences(tokens)) == [[], []]
    assert spans_of(Corpus.from_sequences([], [])) == []


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 6), st.sampled_from("ab")), max_size=6))
def test_round_trip_of_any_spans_that_do_not_cross(spans: list[SimpleSpan]) -> None:
    try:
        segments = nest(spans, 6)
    except DataError:
        bad = [s for s in spans if s[0] >= s[1]]
        crossing = [(s, t) for s in spans for t in spans if s[0] < t[0] < s[1] < t[1]]
        assert bad or crossing
        return
    labels = write_spans(segments, 6, "bio")
    assert spans_of(Corpus.from_sequences([labels], [labels])) == [segments]
    assert sorted(read(labels)) == sorted(spans)


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ([(0, 2, "a"), (1, 3, "b")], r"the spans a \[0, 2\) and b \[1, 3\) cross; let one end before"),
        ([(0, 3, "a"), (0, 2, "b"), (1, 3, "c")], r"the spans b \[0, 2\) and c \[1, 3\) cross"),
        ([(1, 1, "a")], r"a \[1, 1\) is empty or goes beyond the 3 tokens"),
        ([(2, 4, "a")], "goes beyond the 3 tokens"),
        ([(-1, 1, "a")], "goes beyond"),
        ([(0, 1, "")], "cannot have the type ''"),
        ([(0, 1, "a/b")], "cannot have the type 'a/b'; give it a name without '/'"),
    ],
)
def test_errors(spans: list[SimpleSpan], message: str) -> None:
    with pytest.raises(DataError, match=message):
        nest(spans, 3)
