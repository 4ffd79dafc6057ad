"""Segments → labels.  list of `Span` + number of tokens → one label per token."""

from __future__ import annotations

from collections.abc import Iterable

from conseq.errors import SchemaError
from conseq.schema.scheme import LETTER_FOR, OUTSIDE, Scheme
from conseq.schema.spans import Span

Nest = list[Span]
"""The segments around one token, from the outermost in."""


def write_spans(spans: Iterable[Span], length: int, scheme: Scheme | str) -> list[str]:
    """One label per token such that reading them gives the spans back.

    >>> write_spans([Span(0, 2, "PER"), Span(2, 3, "PER")], 4, "bio")
    ['B-PER', 'I-PER', 'B-PER', 'O']
    >>> write_spans([Span(0, 3, "authors"), Span(1, 3, "authors/person", 1)], 3, "bio")
    ['B-authors', 'I-authors/B-person', 'I-authors/I-person']

    A segment of level k > 0 lies inside one of level k−1 whose type its own type continues.
    """
    scheme = Scheme.of(scheme)
    nests: list[Nest] = [[] for _ in range(length)]
    for span in sorted(spans, key=lambda s: (s.level, s.start)):
        _check(span, length, scheme)
        _place(span, nests)
    return [_label(nests, t, scheme) for t in range(length)]


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


def _place(span: Span, nests: list[Nest]) -> None:
    """Put the segment around its tokens, under the one that encloses it."""
    parent = next(iter(nests[span.start][span.level - 1 : span.level]), None) if span.level else None
    for nest in nests[span.start : span.end]:
        if len(nest) > span.level:
            raise SchemaError(
                f"{_shown(span)} overlaps {_shown(nest[-1])} at level {span.level}; labels can hold only one"
            )
        if span.level and (parent is None or nest[-1:] != [parent]):
            raise SchemaError(
                f"{_shown(span)} lies in no single segment of level {span.level - 1}; give that one as well"
            )
        nest.append(span)
    if parent and not span.type.startswith(parent.type + "/"):
        raise SchemaError(
            f"{_shown(span)} lies in {parent.type!r}; its type must be the full path, {parent.type}/…"
        )


def _label(nests: list[Nest], t: int, scheme: Scheme) -> str:
    before = nests[t - 1] if t else []
    above, parts = 0, []
    for span in nests[t]:
        touches = any(b.type == span.type for b in before[span.level : span.level + 1])
        parts.append(_part(span, span.type[above:], t, touches, scheme))
        above = len(span.type) + 1
    return "/".join(parts) or OUTSIDE


def _part(span: Span, name: str, t: int, touches: bool, scheme: Scheme) -> str:
    opens, closes = t == span.start, t == span.end - 1
    if scheme is not Scheme.PLAIN:
        return f"{LETTER_FOR[scheme][opens + 2 * closes + 4 * touches]}-{name}"
    if opens and touches:
        raise SchemaError(
            f"{_shown(span)} touches another {span.type!r}, which plain labels cannot keep apart; use bio"
        )
    return name
