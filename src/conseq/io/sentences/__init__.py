"""Reading and writing sentences with entities and relations.  files, pipes ↔ `Sentence`s.

    JSON lines ─jsonl, spacy─┐
    text lines ─────────text─┼→ Sentence ─→ the same formats
    name.txt, name.ann ─brat─┘

`SENTENCE_FORMATS` has every format by its name.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from conseq.entities import Sentence
from conseq.errors import DataError
from conseq.io.atomic import Output, emit
from conseq.io.json_objects import json_object
from conseq.io.lines import LineReader
from conseq.io.sentences import jsonl, spacy
from conseq.io.sentences.brat import is_brat, read_brat, write_brat
from conseq.io.sentences.placing import sentence_of_text, text_and_places
from conseq.io.source import Block, Input, Origin, load, open_input, whole_lines
from conseq.io.stream import MAX_TOKENS, stream_blocks
from conseq.tokens import DEFAULT, Tokeniser, tokeniser

__all__ = [
    "BRAT",
    "SENTENCE_FORMATS",
    "format_sentences",
    "read_sentences",
    "stream_sentences",
    "write_sentences",
]

AUTO, BRAT = "auto", "brat"
_ENTS = re.compile(rb'"ents"\s*:')
_LIST = re.compile(rb"\s*\[\s*(?:[\{\]]|$)")


@dataclass(frozen=True)
class LineFormat:
    """A sentence on each line: how a line is understood, and how one is written."""

    understand: Callable[[str, Tokeniser], Sentence]
    line: Callable[[Sentence], str]

    def parse(self, block: Block, tokenise: Tokeniser) -> list[Sentence]:
        """The sentences of all lines; an error in one of them says where it is."""
        found = []
        for number, text in block.text_lines():
            try:
                found.append(self.understand(text, tokenise))
            except DataError as error:
                raise block.error(error.message, number) from None
        return found


def _of_objects(
    understand: Callable[[dict[str, Any], Tokeniser], Sentence],
    to_object: Callable[[Sentence], dict[str, Any]],
) -> LineFormat:
    return LineFormat(
        lambda line, tokenise: understand(json_object(line), tokenise),
        lambda sentence: json.dumps(to_object(sentence), ensure_ascii=False),
    )


def _of_text(line: str, tokenise: Tokeniser) -> Sentence:
    return sentence_of_text(line, tokenise(line))


SENTENCE_FORMATS: dict[str, LineFormat | None] = {
    "jsonl": _of_objects(jsonl.understand, jsonl.to_object),
    "spacy": _of_objects(spacy.understand, spacy.to_object),
    BRAT: None,  # of two files
    "text": LineFormat(_of_text, lambda sentence: text_and_places(sentence)[0].replace("\n", " ")),
}
"""Every format by its name."""


def read_sentences(source: Input, format: str = AUTO, *, tokens: str | Tokeniser = DEFAULT) -> list[Sentence]:
    """The sentences of a file, of standard input ('-') or of an open stream; 'auto' looks at what is there.

    tokens    how text is cut, where tokens are not given

    >>> import io
    >>> line = b'{"tokens": ["Ann", "left"], "entities": [{"type": "person", "start": 0, "end": 1}]}'
    >>> read_sentences(io.BytesIO(line))[0].entities
    (Entity(type='person', start=0, end=1),)
    """
    tokenise = tokeniser(tokens)
    _check(format)
    path = source if isinstance(source, (str, os.PathLike)) else None
    if format == BRAT or (format == AUTO and path is not None and is_brat(path)):
        if path is None or path == "-":
            raise DataError("brat's documents are two files each; name one of them, or their folder")
        found = read_brat(path, tokenise)
        return found if found else _none(os.fspath(path))
    block = load(source)
    block = _from_list(block) if _LIST.match(block.data) else block
    chosen = _line_format(_detected(block.data, block.path) if format == AUTO else format)
    return chosen.parse(block, tokenise) or _none(block.path)


def stream_sentences(
    source: Input | Origin,
    format: str = AUTO,
    *,
    tokens: str | Tokeniser = DEFAULT,
    max_tokens: int = MAX_TOKENS,
) -> Iterator[list[Sentence]]:
    """Sentences in batches of about `max_tokens`, as soon as they are there; brat's documents whole."""
    _check(format)
    if isinstance(source, (str, os.PathLike)) and (format == BRAT or (format == AUTO and is_brat(source))):
        yield read_sentences(source, BRAT, tokens=tokens)
        return
    tokenise = tokeniser(tokens)
    with closing(open_input(source)) as origin:
        head = whole_lines(origin.head())
        chosen = _line_format(_detected(head, origin.name) if format == AUTO else format)
        if _LIST.match(head):
            block = _from_list(Block(whole_lines(b"".join(origin.chunks)), origin.name))
            yield chosen.parse(block, tokenise) or _none(origin.name)
            return
        any_yet = False
        for block in stream_blocks(origin, LineReader.cutter, max_tokens):
            if found := chosen.parse(block, tokenise):
                any_yet = True
                yield found
        if not any_yet:
            _none(origin.name)


def format_sentences(sentences: Iterable[Sentence], format: str = "jsonl") -> str:
    """The lines of sentences, in a format that has lines."""
    _check(format)
    line = _line_format(format).line
    return "".join(f"{line(sentence)}\n" for sentence in sentences)


def write_sentences(sentences: Sequence[Sentence], target: Output, format: str = AUTO) -> None:
    """Write sentences to a path, '-' or a stream; 'auto' is brat by the name (.ann), else JSON lines.

    >>> write_sentences([Sentence(("Hi",))], "-")
    {"tokens": ["Hi"], "entities": [], "relations": []}
    """
    _check(format)
    is_path = isinstance(target, (str, os.PathLike)) and os.fspath(target) != "-"
    if format == BRAT or (format == AUTO and is_path and is_brat(target)):  # type: ignore[arg-type]
        if not isinstance(target, (str, os.PathLike)) or not is_path:
            raise DataError("brat's documents are two files each; name a file for them")
        write_brat(sentences, target)
        return
    emit(target, format_sentences(sentences, "jsonl" if format == AUTO else format))


def _check(format: str) -> None:
    if format != AUTO and format not in SENTENCE_FORMATS:
        known = ", ".join(SENTENCE_FORMATS)
        raise DataError(f"there is no format {format!r} of sentences with relations; choose one of {known}")


def _line_format(name: str) -> LineFormat:
    found = SENTENCE_FORMATS[name]
    if found is None:
        raise DataError("brat's documents are two files each; name one of them, or their folder")
    return found


def _detected(data: bytes, name: str) -> str:
    """The format of lines that begin so, in a file of that name."""
    first = data.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")[0]
    is_json = name.removesuffix(".gz").endswith((".json", ".jsonl"))
    if not is_json and not first.startswith((b"{", b"[")):
        return "text"
    return "spacy" if _ENTS.search(first) else "jsonl"


def _from_list(block: Block) -> Block:
    """A file that is one JSON list, as lines."""
    try:
        values = json.loads(block.data)
    except (ValueError, RecursionError):
        raise block.error("this is no JSON list that can be read; write one object on each line") from None
    lines = "".join(json.dumps(value) + "\n" for value in values)
    return Block(lines.encode(), block.path)


def _none(path: str) -> list[Sentence]:
    raise DataError("the file has no sentences; give at least one", path=path)
