"""Spans ↔ BIO labels, flat and nested."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conseq.errors import DataError
from conseq.io.spans import Span, bio_labels, nested, plain_labels, spans_of

TABLE = [
    ([], ["O", "O", "O"]),
    ([Span(0, 1, "a"), Span(1, 3, "a")], ["B-a", "B-a", "I-a"]),
    ([Span(0, 3, "a"), Span(1, 2, "b")], ["B-a", "I-a/B-b", "I-a"]),
    ([Span(0, 3, "a"), Span(0, 1, "b"), Span(1, 3, "b")], ["B-a/B-b", "I-a/B-b", "I-a/I-b"]),
    ([Span(0, 2, "a"), Span(0, 2, "a"), Span(2, 3, "a")], ["B-a/B-a", "I-a/I-a", "B-a"]),
]


@pytest.mark.parametrize(("spans", "labels"), TABLE)
def test_labels_and_back(spans: list[Span], labels: list[str]) -> None:
    assert bio_labels(spans, 3) == labels
    assert spans_of(labels) == spans


def test_the_same_tokens_twice_outer_first() -> None:
    assert bio_labels([Span(0, 1, "out"), Span(0, 1, "in")], 1) == ["B-out/B-in"]


@pytest.mark.parametrize(
    ("labels", "spans"),
    [
        (["I-a", "I-a", "I-b"], [Span(0, 2, "a"), Span(2, 3, "b")]),
        (["B-a/B-x", "B-a/I-x"], [Span(0, 1, "a"), Span(0, 1, "x"), Span(1, 2, "a"), Span(1, 2, "x")]),
        (["t", "t", "O", "t", "u"], [Span(0, 2, "t"), Span(3, 4, "t"), Span(4, 5, "u")]),
        (["B-a", "", "I-a"], [Span(0, 1, "a"), Span(2, 3, "a")]),
    ],
)
def test_labels_that_are_not_strict_bio(labels: list[str], spans: list[Span]) -> None:
    assert spans_of(labels) == spans


def test_plain() -> None:
    assert plain_labels([Span(0, 2, "a"), Span(1, 2, "b")], 3) == ["a", "a/b", "O"]


@given(st.lists(st.builds(Span, st.integers(0, 5), st.integers(1, 6), st.sampled_from("ab")), max_size=6))
def test_round_trip_of_any_spans_that_do_not_cross(spans: list[Span]) -> None:
    try:
        ordered = nested(spans, 6)
    except DataError:
        bad = [s for s in spans if s.start >= s.end]
        crossing = [(s, t) for s in spans for t in spans if s.start < t.start < s.end < t.end]
        assert bad or crossing
        return
    assert spans_of(bio_labels(spans, 6)) == ordered


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        (
            [Span(0, 2, "a"), Span(1, 3, "b")],
            r"the spans a \[0, 2\) and b \[1, 3\) cross; let one end before",
        ),
        ([Span(1, 1, "a")], r"a \[1, 1\) is empty or goes beyond the 3 tokens"),
        ([Span(2, 4, "a")], "goes beyond the 3 tokens"),
        ([Span(-1, 1, "a")], "goes beyond"),
        ([Span(0, 1, "")], "cannot have the type ''"),
        ([Span(0, 1, "a/b")], "cannot have the type 'a/b'; give it a name without '/'"),
    ],
)
def test_errors(spans: list[Span], message: str) -> None:
    with pytest.raises(DataError, match=message):
        bio_labels(spans, 3)
