"""Reading data and models as the options say.

training, test data                      ─→ Corpus
data to label, training data on disk     ─→ Corpora, batch by batch
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conseq.corpus import Corpus
    from conseq.io.source import Input, Origin
    from conseq.labeller import Labeller, SequenceLabeller
    from conseq.shards import Shards

AUTO, COLUMNS, INLINE, JSONL, TEXT = "auto", "columns", "inline", "jsonl", "text"
LABEL = "label"
NO_LABELS = "there are no labels; give a last column with the label of each token"
_HEAD = 1 << 16
_OBJECT = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"[^"\t]*"\s*:')
"""How JSON lines begin."""


@dataclass(frozen=True)
class Reading:
    """How data is to be read; None: as usual, or as the model's training data was."""

    format: str = AUTO
    columns: str | Sequence[str] | None = None
    tokens: str | None = None
    scheme: str = AUTO

    def of_model(self, labeller: Labeller) -> Reading:
        """The same, what is not given taken from how the model's training data was read."""
        known = labeller.input_
        columns = known.get("columns") or [*labeller.columns_, LABEL]
        scheme = str(labeller.source_scheme_)
        return Reading(self.format, self.columns or columns, self.tokens or known.get("tokens"), scheme)

    def options(self, format: str) -> dict[str, Any]:
        """The arguments of the reader of that format."""
        if format == COLUMNS:
            return {"columns": self.columns}
        tokens = {"tokens": self.tokens} if self.tokens else {}
        plain = {"scheme": "plain"} if format == INLINE and self.scheme == "plain" else {}
        return {**tokens, **plain}


def read_labelled(path: str, reading: Reading) -> Corpus:
    """A corpus that has labels."""
    from conseq.errors import DataError

    _, corpus = _read(path, reading)
    if corpus.labels is None:
        raise DataError(NO_LABELS, path=path)
    return corpus


def read_gold(path: str, reading: Reading) -> Corpus:
    """Test data; if its label column is missing, an error that says so."""
    from conseq.errors import DataError

    format, corpus = _read(path, reading, label_optional=True)
    if corpus.labels is None:
        missing = "the label column is missing" if format == COLUMNS else "there are no labels"
        expected = f" (expected: {', '.join(_names(reading))})" if format == COLUMNS else ""
        raise DataError(f"{missing}{expected}; evaluate needs labelled data", path=path)
    return corpus


def _read(path: str, reading: Reading, **of_columns: Any) -> tuple[str, Corpus]:
    """The format of a file, and its corpus; `of_columns` are arguments of the reader of columns alone."""
    from conseq.io import FORMATS, detect_format
    from conseq.io.source import load

    block = load(path)
    format = detect_format(block) if reading.format == AUTO else reading.format
    options = reading.options(format) | (of_columns if format == COLUMNS else {})
    return format, FORMATS[format].parse(block, **options)


def as_read(corpus: Corpus | Shards, reading: Reading) -> dict[str, Any]:
    """How the training data was read, for the model to remember."""
    return {"columns": _names(reading) or [*corpus.columns, LABEL], "tokens": reading.tokens}


def _names(reading: Reading) -> list[str]:
    """The names of the columns that are given."""
    given = reading.columns or ()
    return [name.strip() for name in given.split(",")] if isinstance(given, str) else list(given)


def stream_input(
    source: str, reading: Reading, labeller: Labeller, *, partial: bool = False
) -> Iterator[Corpus]:
    """Data to label, batch by batch; labels in it may be missing."""
    from conseq.io import stream

    chosen = reading.of_model(labeller)

    def batches(input: Input, format: str) -> Iterator[Corpus]:
        options = chosen.options(format)
        if format == COLUMNS:
            options |= {"label": _label_column(chosen, labeller), "label_optional": True, "partial": partial}
        return stream(input, format, **options)

    return _streamed(source, chosen.format, batches)


def stream_labelled(path: str, reading: Reading) -> Iterator[Corpus]:
    """Corpora that have labels, batch by batch."""
    from conseq.errors import DataError
    from conseq.io import stream

    def batches(input: Input, format: str) -> Iterator[Corpus]:
        return stream(input, format, **reading.options(format))

    for corpus in _streamed(path, reading.format, batches):
        if corpus.labels is None:
            raise DataError(NO_LABELS, path=path)
        yield corpus


def _streamed(
    source: str, format: str, batches: Callable[[Input, str], Iterator[Corpus]]
) -> Iterator[Corpus]:
    """The batches of a source in a format; 'auto' looks at its beginning."""
    from conseq.io.source import open_input

    if format != AUTO:
        yield from batches(source, format)
    elif os.path.isfile(source):
        yield from batches(source, _detect(source))
    else:
        with closing(_Pipe(open_input(source))) as pipe:
            yield from batches(pipe, pipe.format())  # type: ignore[arg-type]  # it is read from, no more


def _label_column(reading: Reading, labeller: Labeller) -> str | None:
    """The label column; None if just the model's own columns are named."""
    names = _names(reading)
    return None if LABEL not in names and set(labeller.columns_) >= set(names) - {"_", "-"} else LABEL


class _Pipe:
    """An input that can be read once only: its first line is looked at, and read again with the rest."""

    def __init__(self, origin: Origin) -> None:
        from conseq.io.source import plain_chunks

        self.origin, self.name = origin, origin.name
        self.chunks = plain_chunks(origin)

    def format(self) -> str:
        """JSON lines if the first line begins an object, else columns."""
        seen: list[bytes] = []
        for chunk in self.chunks:
            seen.append(chunk)
            if b"\n" in chunk or sum(map(len, seen)) >= _HEAD:
                break
        self.chunks = chain(seen, self.chunks)
        return JSONL if _OBJECT.match(b"".join(seen)) else COLUMNS

    def read(self, size: int = -1) -> bytes:
        """What is there, whatever its size; nothing at the end."""
        return next(self.chunks, b"")

    def close(self) -> None:
        self.origin.interrupt()
        self.origin.close()


def _detect(path: str) -> str:
    """The format of a file by its name and beginning."""
    from conseq.io import detect_format
    from conseq.io.source import Block, open_input, plain_chunks, whole_lines

    with closing(open_input(path)) as origin:
        chunk = next(plain_chunks(origin, _HEAD), b"")
    return detect_format(Block(whole_lines(chunk), path))


def load_model(path: str, threads: int | None) -> Labeller:
    """A model, to be used with `threads` threads (None: all processors)."""
    from conseq.labeller import load

    labeller = load(path)
    labeller.n_jobs = threads
    return labeller


def load_crf(path: str, threads: int | None, what_for: str) -> SequenceLabeller:
    """A model that must be a conditional random field."""
    from conseq.errors import ModelError
    from conseq.labeller import SequenceLabeller

    labeller = load_model(path, threads)
    if not isinstance(labeller, SequenceLabeller):
        raise ModelError(f"{path}: {what_for} needs a model of the type crf; this is {labeller.model_type}")
    return labeller


def read_lines(path: str) -> list[str]:
    """The lines of a text file."""
    from conseq.io.source import decode, load

    return decode(load(path)).splitlines()
