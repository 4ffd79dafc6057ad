"""Arguments and options that several commands share."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import typer

from conseq.cli.reading import Reading
from conseq.options import RuleOptions

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


class Decoder(StrEnum):
    """How the best labels are found."""

    auto = "auto"
    viterbi = "viterbi"
    lazy = "lazy"
    dual = "dual"
    ilp = "ilp"
    twostage = "twostage"
    beam = "beam"
    wcsp = "wcsp"
    enumerate = "enumerate"


def one_of(choices: type[StrEnum]) -> str:
    return "|".join(choices)


def option(
    panel: str | None, metavar: str | type[StrEnum] | None, help: str, *names: str, **more: Any
) -> Any:
    """An option under a heading of the help; a default of None is not shown."""
    shown = one_of(metavar) if isinstance(metavar, type) else metavar
    return typer.Option(*names, metavar=shown, help=help, rich_help_panel=panel, **more)


ModelFile = Annotated[str, typer.Argument(metavar="MODEL", help="A model file written by `conseq train`.")]

TrainData = Annotated[str, typer.Argument(metavar="TRAIN", help="Labelled data; `-` is standard input.")]

STANDARD = "-"
"""Standard input or output in place of a file."""

NewData = Annotated[
    str, typer.Argument(metavar="INPUT", help="Data to label; `-`, the default, is standard input.")
]

AsText = Annotated[bool, option(READING, None, "The input is plain text, one sequence per line.", "--text")]


@dataclass(frozen=True)
class TrainReading:
    """How labelled data is to be read."""

    columns: Annotated[
        str | None,
        option(
            READING, "NAMES",
            "Names of the columns in order; `_` skips one, the last or `label` is the label. Default: "
            "word,label or word,pos,label or word,col2,…,label.",
        ),
    ] = None  # fmt: skip
    format: Annotated[
        DataFormat,
        option(READING, DataFormat, "How the data is written: columns, text with <tags>, JSON lines."),
    ] = DataFormat.auto
    tokens: Annotated[
        Tokens | None,
        option(
            READING, Tokens,
            "How text is cut into tokens, in data that is not columns; words if not given.",
        ),
    ] = None  # fmt: skip
    scheme: Annotated[
        LabelScheme,
        option(READING, LabelScheme, "How labels are written; auto looks at the data, iob1 becomes bio."),
    ] = LabelScheme.auto

    def reading(self) -> Reading:
        return Reading(self.format, self.columns, self.tokens, self.scheme)


FeaturesOption = Annotated[
    str | None,
    option(
        MODEL, "PRESET|FILE",
        "chunk, ner, fields, letters or classic, or a file with one template per line, such as "
        "suffix(3)[0] or word[-1] & word[0].  [fields]",
    ),
]  # fmt: skip

Folds = Annotated[
    int,
    option(
        MODEL, "N",
        "Rules are learned with N models, each trained without a part of TRAIN; 0: from DEV only.",
        min=0,
    ),
]  # fmt: skip
FOLDS = RuleOptions.folds

Columns = Annotated[
    str | None,
    option(
        READING, "NAMES",
        "Names of the columns in order, as in word,pos,label; `_` skips one. Default: as in training.",
    ),
]  # fmt: skip

TokensOption = Annotated[
    Tokens | None,
    option(READING, Tokens, "How text is cut into tokens. Without it: as in training, else words."),
]

ConstraintsOption = Annotated[
    str | None,
    option(
        DECODING, "none|FILE", "Rules to obey in place of the model's own: a file with one per line, or none."
    ),
]

DecoderOption = Annotated[
    Decoder | None,
    option(
        DECODING, Decoder,
        "How the best labels under the rules are found; auto takes the cheapest method that proves them "
        "best. Without it: as in the model, else auto.",
    ),
]  # fmt: skip

LimitOption = Annotated[
    float | None,
    option(
        DECODING, "SECONDS", "Time for one sequence, after which its best labels so far are taken.", min=0
    ),
]  # fmt: skip

Threads = Annotated[int | None, option(OUTPUT, "N", "Threads; all processors if not given.", min=1)]

AsJson = Annotated[bool, option(OUTPUT, None, "Print one JSON object and nothing else.", "--json")]
