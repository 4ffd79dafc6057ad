"""Arguments and options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

READING, MODEL, TRAINING, DECODING, OUTPUT = "Reading", "Model", "Training", "Decoding", "Output"
"""Headings of the help."""


class DataFormat(StrEnum):
    """How data is written; auto looks at the name and the first lines."""

    auto = "auto"
    columns = "columns"
    inline = "inline"
    jsonl = "jsonl"


class InputFormat(StrEnum):
    """The formats of data that may lack labels."""

    auto = "auto"
    columns = "columns"
    inline = "inline"
    jsonl = "jsonl"
    text = "text"


class OutputFormat(StrEnum):
    """How labelled sequences are written."""

    columns = "columns"
    jsonl = "jsonl"
    spans = "spans"
    inline = "inline"


class Tokens(StrEnum):
    """How text is cut into tokens."""

    words = "words"
    whitespace = "whitespace"
    characters = "characters"


class LabelScheme(StrEnum):
    """How labels are written."""

    auto = "auto"
    plain = "plain"
    iob1 = "iob1"
    bio = "bio"
    bioes = "bioes"


class ModelType(StrEnum):
    crf = "crf"


class Algorithm(StrEnum):
    lbfgs = "lbfgs"


class Constraints(StrEnum):
    none = "none"


class Decoder(StrEnum):
    auto = "auto"
    viterbi = "viterbi"


def one_of(choices: type[StrEnum]) -> str:
    return "|".join(choices)


ModelFile = Annotated[str, typer.Argument(metavar="MODEL", help="A model file written by `conseq train`.")]

Columns = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help="Names of the columns in order, as in word,pos,label; `_` skips one. Else as in training.",
        rich_help_panel=READING,
        show_default=False,
    ),
]

TokensOption = Annotated[
    Tokens | None,
    typer.Option(
        metavar=one_of(Tokens),
        help="How text is cut into tokens. Without it: as in training, else words.",
        rich_help_panel=READING,
        show_default=False,
    ),
]

ConstraintsOption = Annotated[
    Constraints,
    typer.Option(metavar=one_of(Constraints), help="Rules to obey.", rich_help_panel=DECODING),
]

DecoderOption = Annotated[
    Decoder,
    typer.Option(metavar=one_of(Decoder), help="How the best labels are found.", rich_help_panel=DECODING),
]

Threads = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Threads; all processors if not given.",
        rich_help_panel=OUTPUT,
        show_default=False,
    ),
]

AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON object and nothing else.", rich_help_panel=OUTPUT)
]
