"""Segments → labels.  list of `Span` + number of tokens → one label per token."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from conseq.errors import SchemaError
from conseq.schema.scheme import LETTER_FOR, OUTSIDE, Scheme
from conseq.schema.spans import Span

Row = list[Span | None]
"""The segment around each token at one level, [T]."""


def write_spans(spans: Iterable[Span], length: int, scheme: Scheme | str) -> list[str]:
    """One label per token such that reading them gives the spans back.

    >>> write_spans([Span(0, 2, "PER"), Span(2, 3, "PER")], 4, "bio")
    ['B-PER', 'I-PER', 'B-PER', 'O']
    >>> write_spans([Span(0, 3, "authors"), Span(1, 3, "authors/person", 1)], 3, "bio")
    ['B-authors', 'I-authors/B-person', 'I-authors/I-person']

    A segment of level k > 0 lies inside one of level k−1 whose type its own type continues.
    """
    scheme = Scheme.of(scheme)
    rows: defaultdict[int, Row] = defaultdict(lambda: [None] * length)  # by level
    labels = [OUTSIDE] * length
    for span in sorted(spans, key=lambda s: (s.level, s.start)):
        _check(span, length, scheme)
        parent = _parent(span, rows[span.level - 1]) if span.level else None
        touches = _place(span, rows[span.level])
        parts = _parts(span, span.type[len(parent.type) + 1 :] if parent else span.type, touches, scheme)
        if parent:
            above = labels[span.start : span.end]
            parts = [f"{outer}/{part}" for outer, part in zip(above, parts, strict=True)]
        labels[span.start : span.end] = parts
    return labels


def write_paths(spans: Iterable[Span], length: int) -> list[str]:
    """The type of the innermost segment around each token; touching segments of one type become one.

    >>> write_paths([Span(0, 3, "authors"), Span(1, 2, "authors/person", 1)], 4)
    ['authors', 'authors/person', 'authors', 'O']
    """
    labels = [OUTSIDE] * length
    for span in sorted(spans, key=lambda s: s.level):
        labels[span.start : span.end] = [span.type] * (span.end - span.start)
    return labels


def _shown(span: Span) -> str:
    return f"segment {span.type!r} of tokens {span.start}–{span.end - 1}"


def _check(span: Span, length: int, scheme: Scheme) -> None:
    if not 0 <= span.start < span.end <= length:
        raise SchemaError(
            f"segment {span.type!r} from {span.start} to {span.end} does not fit into {length} tokens; "
            "give 0 ≤ start < end ≤ length"
        )
    if span.level and scheme is not Scheme.BIO:
        raise SchemaError(f"{_shown(span)} is at level {span.level}, but scheme {scheme} has one; use bio")
    if scheme is Scheme.PLAIN and span.type in (OUTSIDE, ""):
        raise SchemaError(f"{_shown(span)} has the name of no segment; give another or use bio")


def _parent(span: Span, above: Row) -> Span:
    """The segment that encloses it at the level above."""
    parent = above[span.start]
    if parent is None or above[span.start : span.end].count(parent) < span.end - span.start:
        raise SchemaError(
            f"{_shown(span)} lies in no single segment of level {span.level - 1}; give that one as well"
        )
    if not span.type.startswith(parent.type + "/"):
        raise SchemaError(
            f"{_shown(span)} lies in {parent.type!r}; its type must be the full path, {parent.type}/…"
        )
    return parent


def _place(span: Span, row: Row) -> bool:
    """Put the segment into its level; whether it touches one of the same type before it."""
    other = next(filter(None, row[span.start : span.end]), None)
    if other is not None:
        raise SchemaError(
            f"{_shown(span)} overlaps {_shown(other)} at level {span.level}; labels can hold only one"
        )
    row[span.start : span.end] = [span] * (span.end - span.start)
    before = row[span.start - 1] if span.start else None
    return before is not None and before.type == span.type


def _parts(span: Span, name: str, touches: bool, scheme: Scheme) -> list[str]:
    """What the segment adds to the labels of its tokens."""
    length = span.end - span.start
    if scheme is not Scheme.PLAIN:
        return [f"{letter}-{name}" for letter in _letters(length, touches, scheme)]
    if touches:
        raise SchemaError(
            f"{_shown(span)} touches another {span.type!r}, which plain labels cannot keep apart; use bio"
        )
    return [name] * length


def _letters(length: int, touches: bool, scheme: Scheme) -> str:
    """The letters of a segment's tokens; all but the first touch a token of the same type: its own."""
    letter = LETTER_FOR[scheme]
    if length == 1:
        return letter[1 + 2 + 4 * touches]
    return letter[1 + 4 * touches] + letter[4] * (length - 2) + letter[2 + 4]
