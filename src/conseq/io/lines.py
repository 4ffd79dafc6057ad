"""Formats with one sequence per line.  `Block` ─line by line→ `Line`s ─→ Corpus with its source texts.

What plain text, inline tags and JSON lines share; each of them only says how one line is understood.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from conseq.corpus import WORD, Corpus, Source
from conseq.errors import DataError
from conseq.io.source import Block, Input
from conseq.io.stream import MAX_TOKENS, Cutter, stream_blocks

CUTTER = Cutter(end=b"\n", tidy=lambda lines: lines, size=lambda line: len(line) // 6 + 1)
"""How these formats are cut: at every line; a token has about six bytes."""


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


Reader = Callable[[str], Line | None]
"""How a format understands a line; None where there is no token in it."""


def parse_lines(block: Block, reader: Reader) -> Corpus:
    """The corpus in a block that holds a whole file."""
    corpus = _corpus(_understood(block, reader))
    if not len(corpus):
        raise no_tokens(block.path)
    return corpus


def stream_lines(source: Input, reader: Reader, max_tokens: int = MAX_TOKENS) -> Iterator[Corpus]:
    """The corpora of an endless input, each as soon as its lines are there."""
    found, path = False, ""
    for block in stream_blocks(source, CUTTER, max_tokens):
        path = block.path
        batch = _corpus(_understood(block, reader))
        if len(batch):
            found = True
            yield batch
    if not found:
        raise no_tokens(path)


def _understood(block: Block, reader: Reader) -> list[Line]:
    """All lines that have tokens; an error in one of them says where it is."""
    lines: list[Line] = []
    for number, text in block.text_lines():
        try:
            line = reader(text)
            if line is not None:
                _check_alike(line, lines[0] if lines else line)
                lines.append(line)
        except DataError as error:
            raise block.error(error.message, number) from None
    return lines


def _check_alike(line: Line, first: Line) -> None:
    """Raise if a line has no labels, text or column where the first has them, or the other way round."""
    if _said(line) != _said(first):
        raise DataError(
            f"this line has {_said(line)}, the first one {_said(first)}; give every sequence the same"
        )


def _said(line: Line) -> str:
    parts = {"labels": line.labels, "text": line.text, **line.columns}
    return ", ".join(["tokens", *(name for name, part in parts.items() if part is not None)])


def _corpus(lines: list[Line]) -> Corpus:
    first = lines[0] if lines else Line([])
    columns = {name: chain.from_iterable(line.columns[name] for line in lines) for name in first.columns}
    return Corpus.from_columns(
        {WORD: chain.from_iterable(line.tokens for line in lines), **columns},
        [len(line.tokens) for line in lines],
        None if first.labels is None else chain.from_iterable(line.labels or [] for line in lines),
        source=None if first.text is None else _source(lines),
    )


def _source(lines: list[Line]) -> Source:
    places = [place for line in lines for place in line.characters or []]
    texts = tuple(line.text or "" for line in lines)
    return Source(texts, np.array(places, dtype=np.int32).reshape(-1, 2))


def check_has_tokens(corpus: Corpus) -> None:
    """Raise if the corpus has attributes only, no column of tokens to write."""
    if not corpus.columns:
        raise DataError(
            "the corpus has no tokens, only attributes; make it from lists of strings to write it"
        )


def no_tokens(path: str) -> DataError:
    """The error for a file that has nothing but blank lines."""
    return DataError("the file has no tokens; give at least one line that is not blank", path=path)
