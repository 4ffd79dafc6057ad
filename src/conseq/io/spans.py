"""Spans as files give them ↔ `schema.Span`.  (0, 3, "authors"), (1, 2, "person") ↔ authors, authors/person.

Files know simple names only; which span lies in which follows from their tokens.
Tokens are counted from 0 and `end` is the token after the last.
"""

from __future__ import annotations

from collections.abc import Iterable

from conseq.corpus import Corpus
from conseq.errors import DataError
from conseq.schema import Span, read_freely

LEVEL = "/"

SimpleSpan = tuple[int, int, str]
"""The tokens start … end − 1 and the name of what they are, without what is around it."""


def nest(spans: Iterable[SimpleSpan], length: int) -> list[Span]:
    """The spans with their full paths, outer before inner; an error if one is out of range or two cross.

    Of two spans over the same tokens the first given is the outer one.

    >>> nest([(0, 2, "person"), (0, 3, "authors")], 4)
    [Span(start=0, end=3, type='authors', level=0), Span(start=0, end=2, type='authors/person', level=1)]
    """
    found: list[Span] = []
    around: list[Span] = []
    for start, end, name in sorted(spans, key=lambda span: (span[0], -span[1])):
        _check(start, end, name, length)
        while around and around[-1].end <= start:
            around.pop()
        if around and around[-1].end < end:
            outer = shown(around[-1].start, around[-1].end, simple_name(around[-1]))
            raise DataError(
                f"the spans {outer} and {shown(start, end, name)} cross; let one end before the other "
                "begins, or put one inside the other"
            )
        path = f"{around[-1].type}{LEVEL}{name}" if around else name
        around.append(Span(start, end, path, len(around)))
        found.append(around[-1])
    return found


def _check(start: int, end: int, name: str, length: int) -> None:
    if not 0 <= start < end <= length:
        raise DataError(
            f"the span {shown(start, end, name)} is empty or goes beyond the {length} tokens; "
            "count tokens from 0, and let `end` be the one after the last"
        )
    if not name or LEVEL in name:
        raise DataError(f"a span cannot have the type {name!r}; give it a name without {LEVEL!r}")


def shown(start: int, end: int, name: str) -> str:
    """A span as errors name it."""
    return f"{name} [{start}, {end})"


def simple_name(span: Span) -> str:
    """The last name on the span's path.

    >>> simple_name(Span(0, 2, "authors/person", 1))
    'person'
    """
    return span.type.rpartition(LEVEL)[2]


def spans_of(corpus: Corpus) -> list[list[Span]]:
    """The spans of each sequence, outer before inner; none where there are no labels."""
    if corpus.labels is None:
        return [[] for _ in corpus]
    return read_freely(corpus.labels.ids, corpus.labels.vocabulary, corpus.offsets)
