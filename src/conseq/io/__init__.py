"""Reading and writing data.  files, pipes ↔ `Corpus`.

    path, '-', stream ─source→ Block ─parse→ Corpus ─format→ text ─atomic→ file
                        └─stream→ Blocks ─→ Corpora, batch by batch

Each format is a row of `FORMATS`; `read`, `stream` and `write` look it up there.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from conseq.corpus import Corpus
from conseq.errors import DataError
from conseq.io.atomic import Output, atomic_write, emit
from conseq.io.columns import (
    Batch,
    format_columns,
    parse_columns,
    read_columns,
    stream_columns,
    write_columns,
)
from conseq.io.inline import TAG, format_inline, parse_inline, read_inline, stream_inline, write_inline
from conseq.io.jsonl import format_jsonl, parse_jsonl, read_jsonl, stream_jsonl, write_jsonl
from conseq.io.source import Block, Input, load
from conseq.io.text import format_text, parse_text, read_text, stream_text, write_text

__all__ = [
    "AUTO",
    "FORMATS",
    "Batch",
    "Format",
    "Input",
    "Output",
    "atomic_write",
    "detect_format",
    "format_columns",
    "format_inline",
    "format_jsonl",
    "format_text",
    "read",
    "read_columns",
    "read_inline",
    "read_jsonl",
    "read_text",
    "stream",
    "stream_columns",
    "stream_inline",
    "stream_jsonl",
    "stream_text",
    "write",
    "write_columns",
    "write_inline",
    "write_jsonl",
    "write_text",
]

AUTO = "auto"


@dataclass(frozen=True)
class Format:
    """How one format is read at once, read in batches, and written."""

    parse: Callable[..., Corpus]
    stream: Callable[..., Iterator[Corpus]]
    format: Callable[..., str]


FORMATS: dict[str, Format] = {
    "columns": Format(parse_columns, stream_columns, format_columns),
    "inline": Format(parse_inline, stream_inline, format_inline),
    "jsonl": Format(parse_jsonl, stream_jsonl, format_jsonl),
    "text": Format(parse_text, stream_text, format_text),
}
"""Every format by its name."""

_SUFFIXES = {".jsonl": "jsonl", ".json": "jsonl"}
_OBJECT = re.compile(r'\s*\{\s*["}]')
_LINES_LOOKED_AT = 50


def read(source: Input, format: str = AUTO, **options: Any) -> Corpus:
    """Read a corpus; 'auto' looks at the name and the first lines. Options are those of the format.

    >>> import io
    >>> read(io.BytesIO(b"<title> On Sets </title>"))
    Corpus(1 sequences, 2 tokens, word, 2 labels)
    """
    if format != AUTO:
        _check_options(format, options)  # before anything is read
    block = load(source)
    name = detect_format(block) if format == AUTO else format
    _check_options(name, options)
    return _chosen(name).parse(block, **options)


def stream(source: Input, format: str = "columns", **options: Any) -> Iterator[Corpus]:
    """Read corpora batch by batch, each as soon as it is there; options are those of the format."""
    return _chosen(format).stream(source, **options)


def write(corpus: Corpus, target: Output, format: str = AUTO, **options: Any) -> None:
    """Write a corpus to a path, '-' or a stream; 'auto' is JSON lines or columns, by the name.

    >>> write(Corpus.from_sequences([["A", "cat"]], [["O", "B-x"]]), "-", "inline")
    A <x>cat</x>
    """
    name = _by_suffix(target) or "columns" if format == AUTO else format
    emit(target, _chosen(name).format(corpus, **options))


def _chosen(name: str) -> Format:
    if name not in FORMATS:
        raise DataError(f"there is no format {name!r}; choose one of {', '.join(FORMATS)}")
    return FORMATS[name]


def _check_options(name: str, options: dict[str, Any]) -> None:
    known = list(inspect.signature(_chosen(name).parse).parameters)[1:]
    for option in options:
        if option not in known:
            raise DataError(f"the format {name} has no option {option!r}; it has {', '.join(known)}")


def detect_format(block: Block) -> str:
    """The format of a file, by its name, else by its first lines.

    >>> detect_format(Block(b'{"tokens": ["a"]}\\n', "x")), detect_format(Block(b"a NN\\n", "x"))
    ('jsonl', 'columns')
    """
    by_suffix = _by_suffix(block.path)
    if by_suffix:
        return by_suffix
    lines = (line.decode(errors="replace") for _, line in block.lines() if line.strip())
    first = list(islice(lines, _LINES_LOOKED_AT))
    if first and _OBJECT.match(first[0]):
        return "jsonl"
    return "inline" if any(map(_has_tags, first)) else "columns"


def _by_suffix(target: Input | Output) -> str | None:
    if not isinstance(target, (str, os.PathLike)):
        return None
    suffix = os.path.splitext(os.fspath(target).removesuffix(".gz"))[1]
    return _SUFFIXES.get(suffix.lower())


def _has_tags(line: str) -> bool:
    """Whether a tag is opened and closed in the line (cells between tabs are columns all the same)."""
    tags = [(tag[1], tag[2]) for tag in TAG.finditer(line)] if "\t" not in line else []
    return any(slash and ("", name) in tags for slash, name in tags)
