"""Reading data and models as the options say.

training, test data   ─→ Corpus
data to label         ─→ Corpora, batch by batch
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conseq.corpus import Corpus
    from conseq.io.source import Block
    from conseq.labeller import SequenceLabeller

AUTO, COLUMNS, INLINE, JSONL, TEXT = "auto", "columns", "inline", "jsonl", "text"
LABEL = "label"
_HEAD = 1 << 16


@dataclass(frozen=True)
class Reading:
    """How data is to be read; None: as usual, or as the model's training data was."""

    format: str = AUTO
    columns: str | Sequence[str] | None = None
    tokens: str | None = None
    scheme: str = AUTO

    def of_model(self, labeller: SequenceLabeller) -> Reading:
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
    from conseq.io import FORMATS, detect_format
    from conseq.io.source import load

    block = load(path)
    format = detect_format(block) if reading.format == AUTO else reading.format
    corpus = FORMATS[format].parse(block, **reading.options(format))
    if corpus.labels is None:
        raise DataError("there are no labels; give a last column with the label of each token", path=path)
    return corpus


def as_read(corpus: Corpus, reading: Reading) -> dict[str, Any]:
    """How the training data was read, for the model to remember."""
    given = reading.columns
    if isinstance(given, str):
        given = [name.strip() for name in given.split(",")]
    return {"columns": given or [*corpus.columns, LABEL], "tokens": reading.tokens}


def stream_input(
    source: str, reading: Reading, labeller: SequenceLabeller, *, partial: bool = False
) -> Iterator[Corpus]:
    """Data to label, batch by batch; labels in it may be missing."""
    from conseq.io import stream

    chosen = reading.of_model(labeller)
    format = detect(source) if chosen.format == AUTO else chosen.format
    options = chosen.options(format)
    if format == COLUMNS:
        options |= {"label": _label_column(chosen, labeller), "label_optional": True, "partial": partial}
    return stream(source, format, **options)


def _label_column(reading: Reading, labeller: SequenceLabeller) -> str | None:
    """The label column; None if just the model's own columns are named."""
    given = reading.columns or ()
    names = [name.strip() for name in given.split(",")] if isinstance(given, str) else list(given)
    return None if LABEL not in names and set(labeller.columns_) >= set(names) - {"_", "-"} else LABEL


def detect(source: str) -> str:
    """The format of a file by its name and beginning; a pipe holds columns."""
    from conseq.io import detect_format

    return detect_format(_head(source)) if os.path.isfile(source) else COLUMNS


def _head(path: str) -> Block:
    from conseq.io.source import Block, open_input, plain_chunks, whole_lines

    origin = open_input(path)
    try:
        chunk = next(plain_chunks(origin, _HEAD), b"")
    finally:
        origin.close()
    return Block(whole_lines(chunk), path)


def load_model(path: str, threads: int | None) -> SequenceLabeller:
    """A model, to be used with so many threads (None: all processors)."""
    from conseq.labeller import SequenceLabeller

    labeller = SequenceLabeller.load(path)
    labeller.threads = threads
    return labeller


def read_lines(path: str) -> list[str]:
    """The lines of a text file."""
    from conseq.io.source import decode, load

    return decode(load(path)).splitlines()
