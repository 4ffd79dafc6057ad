"""Segments → labels.  list of `Span` + number of tokens → one label per token."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

from conseq.errors import SchemaError
from conseq.schema.scheme import LETTER_FOR, OUTSIDE, UNLABELLED, Scheme
from conseq.schema.spans import Span


def write_spans(spans: Iterable[Span], length: int, scheme: Scheme | str) -> list[str]:
    """One label per token such that reading them gives the spans back.

    >>> write_spans([Span(0, 2, "PER"), Span(2, 3, "PER")], 4, "bio")
    ['B-PER', 'I-PER', 'B-PER', 'O']
    >>> write_spans([Span(0, 3, "authors"), Span(1, 3, "authors/person", 1)], 3, "bio")
    ['B-authors', 'I-authors/B-person', 'I-authors/I-person']

    A segment of level k > 0 lies inside one of level k−1 whose type its own type continues.
    """
    scheme = Scheme.of(scheme)
    ordered = sorted(spans, key=lambda s: (s.start, s.level))
    _check(ordered, length, scheme)
    labels = [OUTSIDE] * length
    around: list[Span] = []  # from the outermost in
    before: Span | None = None  # the last that was left; for a segment of level 0 the one before it
    for span in ordered:
        start, end, type, level = span
        while around and around[-1].end <= start:
            before = around.pop()
        if len(around) != level or (level and not _holds(around[-1], span)):
            raise _misplaced(span, around)
        if level:
            parts = _parts(type[len(around[-1].type) + 1 :], end - start, False, scheme)
            labels[start:end] = map("/".join, zip(labels[start:end], parts, strict=True))
        else:
            touches = before is not None and before.end == start and before.type == type
            labels[start:end] = _parts(type, end - start, touches, scheme)
        around.append(span)
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


def _check(spans: list[Span], length: int, scheme: Scheme) -> None:
    plain, flat = scheme is Scheme.PLAIN, scheme is not Scheme.BIO
    for span in spans:
        if not 0 <= span.start < span.end <= length:
            raise SchemaError(
                f"segment {span.type!r} from {span.start} to {span.end} does not fit into {length} tokens; "
                "give 0 ≤ start < end ≤ length"
            )
        if flat and span.level:
            raise SchemaError(
                f"{_shown(span)} is at level {span.level}, but scheme {scheme} has one; use bio"
            )
        if plain and span.type in (OUTSIDE, UNLABELLED):
            raise SchemaError(f"{_shown(span)} has the name of no segment; give another or use bio")
    for before, span in pairwise(spans if plain else ()):
        if before.end == span.start and before.type == span.type:
            raise SchemaError(
                f"{_shown(span)} touches another {span.type!r}, which plain labels cannot keep apart; use bio"
            )


def _holds(parent: Span, span: Span) -> bool:
    return span.end <= parent.end and span.type.startswith(parent.type + "/")


def _misplaced(span: Span, around: list[Span]) -> SchemaError:
    """What is wrong with a segment that does not continue those around it."""
    level = span.level
    if len(around) > level:
        return SchemaError(
            f"{_shown(span)} overlaps {_shown(around[level])} at level {level}; labels can hold only one"
        )
    if len(around) < level or around[-1].end < span.end:
        return SchemaError(
            f"{_shown(span)} lies in no single segment of level {level - 1}; give that one as well"
        )
    path = around[-1].type
    return SchemaError(f"{_shown(span)} lies in {path!r}; its type must be the full path, {path}/…")


def _parts(name: str, length: int, touches: bool, scheme: Scheme) -> Sequence[str]:
    """What a segment adds to the labels of its tokens; all but the first touch a token of its type."""
    if scheme is Scheme.PLAIN:
        return (name,) * length
    alone, first, inner, last = _letters(name, touches, scheme)
    return [alone] if length == 1 else [first, *[inner] * (length - 2), last]


@lru_cache(maxsize=1024)
def _letters(name: str, touches: bool, scheme: Scheme) -> tuple[str, str, str, str]:
    """The label of a segment's only token, of its first, of those between, and of its last."""
    letters = LETTER_FOR[scheme]
    places = 1 + 2 + 4 * touches, 1 + 4 * touches, 4, 2 + 4
    alone, first, inner, last = (f"{letters[place]}-{name}" for place in places)
    return alone, first, inner, last
