"""`conseq label`: a model and data ─→ labelled data, sequence by sequence as it arrives."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing, nullcontext
from typing import Any

from conseq.cli.compiling import told
from conseq.cli.grouping import grouped
from conseq.cli.options import (
    DECODING,
    OUTPUT,
    READING,
    STANDARD,
    THREADS,
    InputFormat,
    ModelFile,
    NewData,
    NewReading,
    OutputFormat,
    option,
)
from conseq.cli.outcome import misused, say, visible
from conseq.cli.reading import load_model, stream_input
from conseq.cli.rules import Decoding, limit_noted
from conseq.cli.show import Palette, console, on_terminal
from conseq.cli.writing import FORMATS, Wanted, show_spans


@grouped
def label(
    *,
    model: ModelFile,
    data: NewData = STANDARD,
    reading: NewReading,
    input_format: InputFormat = option(
        "auto", READING, InputFormat,
        "How the input is written; auto looks at a file's name and beginning, a pipe holds columns "
        "or JSON lines.",
    ),
    partial: bool = option(
        False, DECODING, None, "Labels that the input has are kept, empty ones are filled in.", "--partial"
    ),
    decoding: Decoding,
    format: OutputFormat = option(
        "columns", OUTPUT, OutputFormat,
        "columns: the input's columns and the label as the last one; jsonl: an object per sequence; "
        "spans: a line per segment (sequence, start, end, type, confidence, text; counted from 0), or "
        "coloured text on a terminal; inline: text with <tags>.",
    ),
    nbest: int | None = option(
        None, OUTPUT, "N", "The N best labellings of each sequence, with their scores.", min=1
    ),
    marginals: bool = option(
        False, OUTPUT, None, "The probability of the label of each token.", "--marginals"
    ),
    output: str = option(
        STANDARD, OUTPUT, "FILE",
        "Write to this file, not to standard output; completely or not at all.",
        "--output", "-o", show_default=False,
    ),
    threads: int | None = THREADS,
) -> None:  # fmt: skip
    """Label new data.

    The input has the columns of the training data, with or without the label; labels are ignored unless
    --partial says to keep them. Each sequence is answered as soon as it is complete. With --format jsonl
    every answer has a certificate, which says whether its labels are proved to be the best ones.

    \b
    Examples:
      conseq label ner.model new.tsv > labelled.tsv
      echo "A. Cau, On Sets, 1990" | conseq label fields.model --text --format spans
      conseq label fields.model citations.txt --text --format jsonl -o citations.jsonl
      conseq label ner.model half-labelled.tsv --partial
      conseq label fields.model new.tsv --constraints fields.rules --format jsonl
    """
    from conseq.io.atomic import atomic_write_packed

    wanted = {"partial": partial, "nbest": nbest or 0, "marginals": marginals}
    if (nbest or marginals) and format not in ("columns", "jsonl"):
        misused("--nbest and --marginals go with --format columns or jsonl")
    if reading.text and input_format not in ("auto", "text"):
        misused(f"--text and --input-format {input_format} were both given; choose one")
    labeller = decoding.of_model(load_model(model, threads))
    if data == STANDARD and sys.stdin is not None and sys.stdin.isatty():
        tokens = "one token per line, a blank line after each sequence"
        say(f"reading from the terminal: {'one sequence per line' if reading.text else tokens}; Ctrl-D ends")
    batches = stream_input(data, reading.of(input_format), labeller, partial=partial)
    with told(), limit_noted(labeller), closing(batches):  # type: ignore[type-var]  # a generator
        if format == "spans" and output == STANDARD and on_terminal():
            _show_coloured(labeller, batches, wanted)
            return
        write = FORMATS[format]
        done, shown = 0, output == STANDARD and on_terminal()
        opened = nullcontext(sys.stdout.buffer) if output == STANDARD else atomic_write_packed(output)
        with opened as file:
            for batch in batches:
                answer = write(labeller, batch, wanted, done)
                file.write((visible(answer) if shown else answer).encode())
                file.flush()
                done += len(batch)


def _show_coloured(labeller: Any, batches: Iterator[Any], wanted: Wanted) -> None:
    screen = console()
    palette = Palette(type for type in labeller.schema_.types() if "/" not in type)
    screen.print(palette.legend(), end="\n\n")
    done = 0
    for batch in batches:
        show_spans(screen, palette, labeller, batch, wanted, done)
        done += len(batch)
