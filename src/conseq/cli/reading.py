"""Reading data and models as the options say.

training, test data                      ─→ Corpus
data to label, training data on disk     ─→ Corpora, batch by batch
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conseq.corpus import Corpus
    from conseq.labeller import Labeller, SequenceLabeller
    from conseq.shards import Shards

AUTO, COLUMNS, INLINE, JSONL, TEXT = "auto", "columns", "inline", "jsonl", "text"
LABEL = "label"
NO_LABELS = "there are no labels; give a last column with the label of each token"
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

    def options(self, format: str, **of_columns: Any) -> dict[str, Any]:
        """The arguments of the reader of that format; `of_columns` are for columns alone."""
        if format == COLUMNS:
            return {"columns": self.columns, **of_columns}
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
    """The format of a file, and its corpus."""
    from conseq.io import FORMATS, detect_format
    from conseq.io.source import load

    block = load(path)
    format = detect_format(block) if reading.format == AUTO else reading.format
    return format, FORMATS[format].parse(block, **reading.options(format, **of_columns))


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
    chosen = reading.of_model(labeller)
    label = _label_column(chosen, labeller)
    return _streamed(source, chosen, label=label, label_optional=True, partial=partial)


def stream_labelled(path: str, reading: Reading) -> Iterator[Corpus]:
    """Corpora that have labels, batch by batch."""
    from conseq.errors import DataError

    for corpus in _streamed(path, reading):
        if corpus.labels is None:
            raise DataError(NO_LABELS, path=path)
        yield corpus


def _streamed(source: str, reading: Reading, **of_columns: Any) -> Iterator[Corpus]:
    """The batches of a source; 'auto' looks at its beginning."""
    from conseq.io import stream
    from conseq.io.source import open_input

    with closing(open_input(source)) as origin:
        format = reading.format
        if format == AUTO:
            format = _detected(origin.head(), source)
        yield from stream(origin, format, **reading.options(format, **of_columns))


def _detected(head: bytes, source: str) -> str:
    """The format of an input that begins so; a pipe is JSON lines if its first line begins an object."""
    from conseq.io import detect_format
    from conseq.io.source import Block, whole_lines

    if os.path.isfile(source):
        return detect_format(Block(whole_lines(head), source))
    return JSONL if _OBJECT.match(head) else COLUMNS


def _label_column(reading: Reading, labeller: Labeller) -> str | None:
    """The label column; None if just the model's own columns are named."""
    names = _names(reading)
    return None if LABEL not in names and set(labeller.columns_) >= set(names) - {"_", "-"} else LABEL


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
