"""Reading and writing data.  files, pipes ↔ `Corpus`.

    path, '-', stream ─source→ Block ─parse→ Corpus ─format→ text ─atomic→ file
                        └─stream→ Blocks ─→ Corpora, batch by batch

Each format is a row of `FORMATS`; `read`, `stream` and `write` look it up there.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from conseq.corpus import Corpus
from conseq.errors import DataError
from conseq.io.atomic import Output, atomic_write, emit
from conseq.io.columns import Batch, ColumnReader, format_columns
from conseq.io.inline import TAG, format_inline, inline_lines
from conseq.io.jsonl import format_jsonl, json_lines
from conseq.io.lines import LineReader
from conseq.io.source import Block, Input, Origin, load
from conseq.io.stream import MAX_TOKENS, stream_blocks
from conseq.io.text import format_text, text_lines

__all__ = [
    "AUTO",
    "FORMATS",
    "Batch",
    "Format",
    "Input",
    "Output",
    "atomic_write",
    "detect_format",
    "emit",
    "format_columns",
    "format_inline",
    "format_jsonl",
    "format_text",
    "read",
    "stream",
    "write",
]

AUTO = "auto"


@dataclass(frozen=True)
class Format:
    """How one format is read and written.

    reader    what its options make: it knows how an endless input is cut into blocks, and makes corpora of
              blocks that hold a `whole` file or a `batch` of sequences
    """

    reader: Callable[..., ColumnReader | LineReader]
    format: Callable[..., str]

    def parse(self, block: Block, **options: Any) -> Corpus:
        """The corpus in a block that holds a whole file."""
        return next(_with_tokens([block], self.reader(**options).whole))

    def stream(
        self, source: Input | Origin, *, max_tokens: int = MAX_TOKENS, **options: Any
    ) -> Iterator[Corpus]:
        """The corpora of an input, each of about `max_tokens` and as soon as it is there."""
        reader = self.reader(**options)
        return _with_tokens(stream_blocks(source, reader.cutter, max_tokens), reader.batch)


def _with_tokens(blocks: Iterable[Block], corpus_of: Callable[[Block], Corpus | None]) -> Iterator[Corpus]:
    """The corpora of blocks that have tokens; an error if none has."""
    found, path = False, ""
    for block in blocks:
        path = block.path
        if corpus := corpus_of(block):
            found = True
            yield corpus
    if not found:
        raise DataError("the file has no tokens; give at least one line that is not blank", path=path)


FORMATS: dict[str, Format] = {
    "columns": Format(ColumnReader, format_columns),
    "inline": Format(inline_lines, format_inline),
    "jsonl": Format(json_lines, format_jsonl),
    "text": Format(text_lines, format_text),
}
"""Every format by its name."""

_SUFFIXES = {".jsonl": "jsonl", ".json": "jsonl"}
_OBJECT = re.compile(r'\s*\{\s*["}]')
_LINES_LOOKED_AT = 50


def read(source: Input, format: str = AUTO, **options: Any) -> Corpus:
    """Read a corpus; 'auto' looks at the name and the first lines.

    Options are those of the format:

    columns         columns  their names in order (or one string with commas); None: they are numbered
                    label  the name of the label column (the last if none has it); None: there are no labels
                    label_optional  a file with one column fewer than named is one without labels
                    partial  labels may be empty, and a last cell that is empty may lack its tab
    inline          tokens  the tokeniser    scheme  how labels are written, 'bio' or 'plain'
    jsonl           tokens  the tokeniser for texts    spans  the key that holds the spans
    text            tokens  the tokeniser

    >>> import io
    >>> read(io.BytesIO(b"<title> On Sets </title>"))
    Corpus(1 sequences, 2 tokens, word, 2 labels)
    """
    chosen = None if format == AUTO else _chosen(format, options)  # before anything is read
    block = load(source)
    chosen = chosen or _chosen(detect_format(block), options)
    return chosen.parse(block, **options)


def stream(
    source: Input | Origin, format: str = "columns", *, max_tokens: int = MAX_TOKENS, **options: Any
) -> Iterator[Corpus]:
    """Read corpora of about `max_tokens` each, as soon as they are there; further options as for `read`."""
    return _chosen(format, options).stream(source, max_tokens=max_tokens, **options)


def write(corpus: Corpus, target: Output, format: str = AUTO, **options: Any) -> None:
    """Write a corpus to a path, '-' or a stream; 'auto' is JSON lines or columns, by the name.

    >>> write(Corpus.from_sequences([["A", "cat"]], [["O", "B-x"]]), "-", "inline")
    A <x>cat</x>
    """
    name = _by_suffix(target) or "columns" if format == AUTO else format
    emit(target, _chosen(name).format(corpus, **options))


def _chosen(name: str, options: Iterable[str] = ()) -> Format:
    """The format of a name, which is to be read with these options."""
    if name not in FORMATS:
        raise DataError(f"there is no format {name!r}; choose one of {', '.join(FORMATS)}")
    known = inspect.signature(FORMATS[name].reader).parameters
    for option in options:
        if option not in known:
            raise DataError(f"the format {name} has no option {option!r}; it has {', '.join(known)}")
    return FORMATS[name]


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
