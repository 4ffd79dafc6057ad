"""Spans of tokens ↔ BIO labels.  [Span(start, end, type), …] ↔ ["B-author", "I-author", "O", …].

Spans inside spans give one level per depth: "B-authors/B-person", "I-authors/I-person", "I-authors".
Tokens are counted from 0 and `end` is the token after the last.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from conseq.errors import DataError

OUTSIDE = "O"
LEVEL = "/"


class Span(NamedTuple):
    """The tokens start … end − 1 are a `type`."""

    start: int
    end: int
    type: str


def bio_labels(spans: Iterable[Span], length: int) -> list[str]:
    """The labels of `length` tokens; of two spans over the same tokens the first given is the outer one.

    >>> bio_labels([Span(0, 3, "authors"), Span(0, 2, "person")], 4)
    ['B-authors/B-person', 'I-authors/I-person', 'I-authors', 'O']
    """
    paths: list[list[str]] = [[] for _ in range(length)]
    for span in nested(spans, length):
        for token in range(span.start, span.end):
            paths[token].append(("B-" if token == span.start else "I-") + span.type)
    return [LEVEL.join(path) or OUTSIDE for path in paths]


def plain_labels(spans: Iterable[Span], length: int) -> list[str]:
    """The types around each of `length` tokens, without B- and I-.

    >>> plain_labels([Span(0, 2, "title")], 3)
    ['title', 'title', 'O']
    """
    paths: list[list[str]] = [[] for _ in range(length)]
    for span in nested(spans, length):
        for token in range(span.start, span.end):
            paths[token].append(span.type)
    return [LEVEL.join(path) or OUTSIDE for path in paths]


SCHEMES = {"bio": bio_labels, "plain": plain_labels}
"""How spans are written as labels."""


def nested(spans: Iterable[Span], length: int) -> list[Span]:
    """The spans in order, outer before inner; an error if one is out of range or two cross."""
    ordered = sorted(spans, key=lambda span: (span.start, -span.end))
    around: list[Span] = []
    for span in ordered:
        _check(span, length)
        while around and around[-1].end <= span.start:
            around.pop()
        if around and around[-1].end < span.end:
            raise DataError(
                f"the spans {_shown(around[-1])} and {_shown(span)} cross; let one end before the other "
                "begins, or put one inside the other"
            )
        around.append(span)
    return ordered


def _check(span: Span, length: int) -> None:
    if not 0 <= span.start < span.end <= length:
        raise DataError(
            f"the span {_shown(span)} is empty or goes beyond the {length} tokens; "
            "count tokens from 0, and let `end` be the one after the last"
        )
    if not span.type or LEVEL in span.type:
        raise DataError(f"a span cannot have the type {span.type!r}; give it a name without {LEVEL!r}")


def _shown(span: Span) -> str:
    return f"{span.type} [{span.start}, {span.end})"


def spans_of(labels: Sequence[str]) -> list[Span]:
    """The spans that labels describe, outer before inner; the inverse of `bio_labels` and `plain_labels`.

    At level k a span begins at B-, at a new path, or where a higher level begins, as conlleval reads it.

    >>> spans_of(["B-a/B-b", "I-a/I-b", "I-a", "O", "c"])
    [Span(start=0, end=3, type='a'), Span(start=0, end=2, type='b'), Span(start=4, end=5, type='c')]
    """
    spans: list[Span] = []
    around: list[int] = []  # for each level the index of the span that is open there
    for token, label in enumerate([*labels, OUTSIDE]):
        path = [] if label in (OUTSIDE, "") else [_part(part) for part in label.split(LEVEL)]
        going_on = _common(path, [spans[i].type for i in around])
        for i in around[going_on:]:
            spans[i] = spans[i]._replace(end=token)
        del around[going_on:]
        for _, name in path[going_on:]:
            around.append(len(spans))
            spans.append(Span(token, token, name))
    return spans


def _part(part: str) -> tuple[bool, str]:
    """Whether a part of a label begins anew, and its type."""
    return part.startswith("B-"), part[2:] if part[:2] in ("B-", "I-") else part


def _common(path: list[tuple[bool, str]], types: list[str]) -> int:
    """How many levels of the open spans go on."""
    levels = 0
    for (begins, name), type_ in zip(path, types, strict=False):
        if begins or name != type_:
            break
        levels += 1
    return levels
