"""Text with inline tags ↔ corpora.  "<author>A. Cau,</author> <title>…" ↔ tokens, labels, plain text.

One sequence per line. A tag always ends a token; tags inside tags give hierarchical labels; what stands
outside all tags is O. `&lt;`, `&amp;` and their like stand for the characters they name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from html.entities import html5
from itertools import accumulate
from typing import NamedTuple

from conseq.corpus import Corpus, Sequence
from conseq.errors import DataError
from conseq.io.lines import Line, LineReader, check_has_tokens
from conseq.io.spans import simple_name, spans_of
from conseq.schema import Scheme, Span, write_paths, write_spans
from conseq.tokens import DEFAULT, Tokeniser, tokeniser

_NAME = r"[^\W\d][\w.:-]*"
TAG = re.compile(rf"<(/?)({_NAME})\s*>")
_ENTITY = re.compile(r"&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|(\w+));")
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\n": "&#10;", "\r": "&#13;"})

DEEPEST = 100
"""Elements inside each other, above which a line is taken for damaged."""

SCHEMES: dict[str, Callable[[Iterable[Span], int], list[str]]] = {
    "bio": partial(write_spans, scheme=Scheme.BIO),
    "plain": write_paths,
}
"""How the labels of a line are written; plain ones of nested tags are paths, "authors/person"."""


def inline_lines(*, tokens: str | Tokeniser = DEFAULT, scheme: str = "bio") -> LineReader:
    """How tagged text is understood; `tokens` names the tokeniser, `scheme` ('bio', 'plain') how labels are
    written.

    >>> line = inline_lines().understand("<author>A. Cau</author> , 1990")
    >>> line.tokens, line.labels
    (['A', '.', 'Cau', ',', '1990'], ['B-author', 'I-author', 'I-author', 'O', 'O'])
    """
    tokenise = tokeniser(tokens)
    if scheme not in SCHEMES:
        raise DataError(f"there is no scheme {scheme!r}; choose one of {', '.join(SCHEMES)}")
    labels_of = SCHEMES[scheme]

    def read(markup: str) -> Line | None:
        line = _Tagged(tokenise)
        line.read(markup)
        places = line.characters
        return (
            Line.of_text("".join(line.texts), places, labels_of(line.spans, len(places))) if places else None
        )

    return LineReader(read)


class _Open(NamedTuple):
    """An element whose last tag is still to come."""

    name: str
    path: str
    start: int  # its first token
    column: int  # of its first tag


@dataclass
class _Tagged:
    """A line of tagged text, read from left to right."""

    tokenise: Tokeniser
    texts: list[str] = field(default_factory=list)
    length: int = 0
    characters: list[tuple[int, int]] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)  # the closed elements that have tokens
    around: list[_Open] = field(default_factory=list)

    def read(self, markup: str) -> None:
        place = 0
        for tag in TAG.finditer(markup):
            self.add_text(markup[place : tag.start()])
            place = tag.end()
            (self.close if tag[1] else self.open)(tag[2], tag.start() + 1)
        self.add_text(markup[place:])
        if self.around:
            name, column = self.around[-1].name, self.around[-1].column
            raise DataError(f"column {column}: <{name}> is not closed; add </{name}> to the line")

    def add_text(self, escaped: str) -> None:
        text = unescape(escaped)
        if text and not text.isspace():
            self.characters += [(a + self.length, b + self.length) for a, b in self.tokenise(text)]
        self.texts.append(text)
        self.length += len(text)

    def open(self, name: str, column: int) -> None:
        if len(self.around) == DEEPEST:
            raise DataError(
                f"column {column}: more than {DEEPEST} elements inside each other; close some before <{name}>"
            )
        path = f"{self.around[-1].path}/{name}" if self.around else name
        self.around.append(_Open(name, path, len(self.characters), column))

    def close(self, name: str, column: int) -> None:
        names = [element.name for element in self.around]
        if name not in names:
            raise DataError(
                f"column {column}: </{name}> closes nothing; open it, or write &lt; for a plain <"
            )
        if name != names[-1]:
            raise DataError(
                f"column {column}: </{name}> stands inside <{names[-1]}>; close {names[-1]} before it"
            )
        element, end = self.around.pop(), len(self.characters)
        if element.start < end:
            self.spans.append(Span(element.start, end, element.path, len(self.around)))


def unescape(text: str) -> str:
    """The text with the characters that entities stand for; what names no character stays.

    >>> unescape("R&amp;D &#233; &#xe9; AT&T &nosuch;")
    'R&D é é AT&T &nosuch;'
    """
    return _ENTITY.sub(_character, text) if "&" in text else text


def _character(entity: re.Match[str]) -> str:
    decimal, hexadecimal, name = entity.groups()
    if name:
        return html5.get(f"{name};", entity[0])
    code = int(decimal) if decimal else int(hexadecimal, 16)
    valid = code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF
    return chr(code) if valid else entity[0]


def format_inline(corpus: Corpus) -> str:
    """The texts with the labels' segments in tags, a line each.

    >>> format_inline(Corpus.from_sequences([["R&D", "now"]], [["B-org", "O"]]))
    '<org>R&amp;D</org> now\\n'
    """
    check_has_tokens(corpus)
    rows = zip(corpus, spans_of(corpus), strict=True)
    return "".join(f"{_tagged(sequence, spans)}\n" for sequence, spans in rows)


def _tagged(sequence: Sequence, spans: list[Span]) -> str:
    before: dict[int, str] = {}
    after: dict[int, str] = {}
    for span in spans:
        name = simple_name(span)
        _check_name(name)
        before[span.start] = before.get(span.start, "") + f"<{name}>"
        after[span.end - 1] = f"</{name}>" + after.get(span.end - 1, "")
    text, places = _text_and_places(sequence)
    parts, end = [], 0
    for token, (start, stop) in enumerate(places):
        parts += [text[end:start].translate(_ESCAPES), before.get(token, "")]
        parts += [text[start:stop].translate(_ESCAPES), after.get(token, "")]
        end = stop
    return "".join([*parts, text[end:].translate(_ESCAPES)])


def _text_and_places(sequence: Sequence) -> tuple[str, list[tuple[int, int]]]:
    """The original text, or the tokens joined by blanks, and where each token stands in it."""
    if sequence.text is not None:
        return sequence.text, sequence.characters or []
    tokens = sequence.tokens
    ends = accumulate(len(token) + 1 for token in tokens)  # of each token and the blank behind it
    places = [(end - 1 - len(token), end - 1) for end, token in zip(ends, tokens, strict=True)]
    return " ".join(tokens), places


def _check_name(name: str) -> None:
    if not re.fullmatch(_NAME, name):
        raise DataError(
            f"the label {name!r} cannot be a tag; rename it to letters, digits and . : - _, a letter first"
        )
