"""Formats with one sequence per line.  `Block` ─line by line→ `Line`s ─→ Corpus with its source texts.

What plain text, inline tags and JSON lines share; each of them only says how one line is understood.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain
from typing import ClassVar

import numpy as np

from conseq.corpus import WORD, Corpus, Source
from conseq.errors import DataError
from conseq.io.source import Block
from conseq.io.stream import Cutter


@dataclass(frozen=True)
class Line:
    """One sequence: its tokens, and what else the line says of them."""

    tokens: list[str]
    labels: list[str] | None = None
    text: str | None = None
    characters: list[tuple[int, int]] | None = None
    columns: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of_text(cls, text: str, characters: list[tuple[int, int]], labels: list[str] | None = None) -> Line:
        return cls([text[a:b] for a, b in characters], labels, text, characters)


@dataclass(frozen=True)
class LineReader:
    """Makes corpora of the lines that a format understands; of one without a token it makes None."""

    understand: Callable[[str], Line | None]

    cutter: ClassVar[Cutter] = Cutter(
        end=b"\n", tidy=lambda lines: lines, size=lambda line: len(line) // 6 + 1
    )
    """At every line; a token has about six bytes."""

    def whole(self, block: Block) -> Corpus:
        """The sequences of all lines; an error in one of them says where it is."""
        lines: list[Line] = []
        for number, text in block.text_lines():
            try:
                line = self.understand(text)
                if line is not None:
                    _check_alike(line, lines[0] if lines else line)
                    lines.append(line)
            except DataError as error:
                raise block.error(error.message, number) from None
        return corpus_of(lines)

    batch = whole


def _check_alike(line: Line, first: Line) -> None:
    """Raise if a line has no labels, text or column where the first has them, or the other way round."""
    if _said(line) != _said(first):
        raise DataError(
            f"this line has {_said(line)}, the first one {_said(first)}; give every sequence the same"
        )


def _said(line: Line) -> str:
    parts = {"labels": line.labels, "text": line.text, **line.columns}
    return ", ".join(["tokens", *(name for name, part in parts.items() if part is not None)])


def corpus_of(lines: list[Line]) -> Corpus:
    """The corpus of lines that all say the same kinds of things; where there are none, of labelled text."""
    first = lines[0] if lines else Line.of_text("", [], [])
    columns = {name: chain.from_iterable(line.columns[name] for line in lines) for name in first.columns}
    texts = tuple(line.text or "" for line in lines)
    places = [place for line in lines for place in line.characters or []]
    return Corpus.from_columns(
        {WORD: chain.from_iterable(line.tokens for line in lines), **columns},
        [len(line.tokens) for line in lines],
        None if first.labels is None else chain.from_iterable(line.labels or [] for line in lines),
        source=None if first.text is None else Source(texts, np.array(places, dtype=np.int32).reshape(-1, 2)),
    )


def check_has_tokens(corpus: Corpus) -> None:
    """Raise if the corpus has attributes only, no column of tokens to write."""
    if not corpus.columns:
        raise DataError(
            "the corpus has no tokens, only attributes; make it from lists of strings to write it"
        )
