"""Arguments and options that several commands share."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field
from typing import Annotated, Any, Literal, get_args

import typer

from conseq.cli.grouping import OPTION
from conseq.cli.reading import Reading
from conseq.options import RuleOptions

READING, MODEL, TRAINING, DECODING, OUTPUT = "Reading", "Model", "Training", "Decoding", "Output"
"""Headings of the help."""

DataFormat = Literal["auto", "columns", "inline", "jsonl"]
InputFormat = Literal["auto", "columns", "inline", "jsonl", "text"]
OutputFormat = Literal["columns", "jsonl", "spans", "inline"]
Tokens = Literal["words", "whitespace", "characters"]
LabelScheme = Literal["auto", "plain", "iob1", "bio", "bioes"]
Decoder = Literal[
    "auto", "viterbi", "lazy", "dual", "messages", "ilp", "twostage", "beam", "wcsp", "enumerate"
]
"""The choices that options have; a test compares them with the tables that help must not import."""


REQUIRED = MISSING
"""In place of the default of an option that must be given."""


def option(default: Any, panel: str | None, metavar: Any, help: str, *names: str, **more: Any) -> Any:
    """An option as a field of a group or a parameter of a command (see `grouped`).

    panel      the heading of the help under which it stands
    metavar    how its value is called, or the choices (a `Literal`); None for a flag

    A default of None is not shown.
    """
    shown = "|".join(get_args(metavar)) or metavar
    described = typer.Option(*names, metavar=shown, help=help, rich_help_panel=panel, **more)
    return field(default=default, metadata={OPTION: described})


ModelFile = Annotated[str, typer.Argument(metavar="MODEL", help="A model file written by `conseq train`.")]

TrainData = Annotated[str, typer.Argument(metavar="TRAIN", help="Labelled data; `-` is standard input.")]

STANDARD = "-"
"""Standard input or output in place of a file."""

NewData = Annotated[
    str, typer.Argument(metavar="INPUT", help="Data to label; `-`, the default, is standard input.")
]


@dataclass(frozen=True)
class TrainReading(Reading):
    """How labelled data is to be read."""

    format: DataFormat = option(
        "auto", READING, DataFormat, "How the data is written: columns, text with <tags>, JSON lines."
    )
    columns: str | None = option(
        None, READING, "NAMES",
        "Names of the columns in order; `_` skips one, the last or `label` is the label. Default: "
        "word,label or word,pos,label or word,col2,…,label.",
    )  # fmt: skip
    tokens: Tokens | None = option(
        None, READING, Tokens, "How text is cut into tokens, in data that is not columns; words if not given."
    )
    scheme: LabelScheme = option(
        "auto", READING, LabelScheme, "How labels are written; auto looks at the data, iob1 becomes bio."
    )


FEATURES = option(
    None, MODEL, "PRESET|FILE",
    "chunk, ner, fields, letters or classic, or a file with one template per line, such as "
    "suffix(3)[0] or word[-1] & word[0].  [fields]",
)  # fmt: skip

FOLDS = option(
    RuleOptions.folds, MODEL, "N",
    "Rules are learned with N models, each trained without a part of TRAIN; 0: from DEV only.", min=0,
)  # fmt: skip

COLUMNS = option(
    None, READING, "NAMES",
    "Names of the columns in order, as in word,pos,label; `_` skips one. Default: as in training.",
)  # fmt: skip

TOKENS = option(None, READING, Tokens, "How text is cut into tokens. Without it: as in training, else words.")


@dataclass(frozen=True)
class NewReading:
    """How data to be labelled is to be read."""

    columns: str | None = COLUMNS
    text: bool = option(False, READING, None, "The input is plain text, one sequence per line.", "--text")
    tokens: Tokens | None = TOKENS

    def of(self, format: str = "auto") -> Reading:
        return Reading("text" if self.text else format, self.columns, self.tokens)


THREADS = option(None, OUTPUT, "N", "Threads; all processors if not given.", min=1)

AS_JSON = option(False, OUTPUT, None, "Print one JSON object and nothing else.", "--json")
