"""Arguments and options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from conseq.cli.outcome import misused

READING, MODEL, TRAINING, DECODING, OUTPUT = "Reading", "Model", "Training", "Decoding", "Output"
MEMORY = "Memory (--model-type memory)"
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
    """What learns: a conditional random field, or a memory of all tokens."""

    crf = "crf"
    memory = "memory"


class Inference(StrEnum):
    """What a memory-based model classifies tokens into: trigrams of labels, reconciled then, or labels."""

    csinf = "csinf"
    single = "single"


class Metric(StrEnum):
    overlap = "overlap"
    mvdm = "mvdm"
    jensen_shannon = "jensen-shannon"
    jeffrey = "jeffrey"


class FeatureWeights(StrEnum):
    gain_ratio = "gain-ratio"
    information_gain = "information-gain"
    chi_squared = "chi-squared"
    shared_variance = "shared-variance"
    none = "none"


class Voting(StrEnum):
    majority = "majority"
    inverse_distance = "inverse-distance"
    inverse_linear = "inverse-linear"
    exponential_decay = "exponential-decay"


class Search(StrEnum):
    ib1 = "ib1"
    igtree = "igtree"


class Algorithm(StrEnum):
    """How a model is trained."""

    lbfgs = "lbfgs"
    ap = "ap"
    adagrad = "adagrad"

    @property
    def round(self) -> str:
        """What it does again and again."""
        return "iteration" if self is Algorithm.lbfgs else "epoch"


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


ModelFile = Annotated[str, typer.Argument(metavar="MODEL", help="A model file written by `conseq train`.")]

TrainData = Annotated[str, typer.Argument(metavar="TRAIN", help="Labelled data; `-` is standard input.")]

STANDARD = "-"
"""Standard input or output in place of a file."""

NewData = Annotated[
    str, typer.Argument(metavar="INPUT", help="Data to label; `-`, the default, is standard input.")
]

AsText = Annotated[
    bool,
    typer.Option("--text", help="The input is plain text, a sequence a line.", rich_help_panel=READING),
]

TrainColumns = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help="Names of the columns in order; `_` skips one, the last or `label` is the label. Else: "
        "word,label or word,pos,label or word,col2,…,label.",
        rich_help_panel=READING,
        show_default=False,
    ),
]

TrainFormat = Annotated[
    DataFormat,
    typer.Option(
        metavar=one_of(DataFormat),
        help="How the data is written: columns, text with <tags>, JSON lines.",
        rich_help_panel=READING,
    ),
]

TrainTokens = Annotated[
    Tokens | None,
    typer.Option(
        metavar=one_of(Tokens),
        help="How text is cut into tokens, in data that is not columns; words if not given.",
        rich_help_panel=READING,
        show_default=False,
    ),
]

TrainScheme = Annotated[
    LabelScheme,
    typer.Option(
        metavar=one_of(LabelScheme),
        help="How labels are written; auto looks at the data, iob1 becomes bio.",
        rich_help_panel=READING,
    ),
]

FeaturesOption = Annotated[
    str | None,
    typer.Option(
        metavar="PRESET|FILE",
        help="chunk, ner, fields, letters or classic, or a file with one template a line, such as "
        "suffix(3)[0] or word[-1] & word[0].  [fields]",
        rich_help_panel=MODEL,
        show_default=False,
    ),
]

Folds = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=0,
        help="Rules are learned with so many models, each trained without a part of TRAIN; 0: from DEV only.",
        rich_help_panel=MODEL,
    ),
]

ShardTokens = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="For data larger than memory: keep it on disk, and no more than so many tokens in memory.",
        rich_help_panel=TRAINING,
        show_default=False,
    ),
]

Scratch = Annotated[
    str | None,
    typer.Option(
        metavar="FOLDER",
        help="Where --shard-tokens keeps the data until it is done; the model's folder unless given.",
        rich_help_panel=TRAINING,
        show_default=False,
    ),
]

Tune = Annotated[
    bool,
    typer.Option(
        "--tune",
        help="First choose options on growing samples of TRAIN: preset, --c1 and --c2; for memory "
        "--metric, --weights, -k and --voting.",
        rich_help_panel=TRAINING,
    ),
]

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

RULES = "none|FILE"

ConstraintsOption = Annotated[
    str | None,
    typer.Option(
        metavar=RULES,
        help="Rules to obey in place of the model's own: a file with one a line, or none.",
        rich_help_panel=DECODING,
        show_default=False,
    ),
]

DecoderOption = Annotated[
    Decoder | None,
    typer.Option(
        metavar=one_of(Decoder),
        help="How the best labels under the rules are found; auto takes the cheapest way that proves them "
        "best. Without it: as in the model, else auto.",
        rich_help_panel=DECODING,
        show_default=False,
    ),
]

LimitOption = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        min=0,
        help="Time for one sequence, after which its best labels so far are taken.",
        rich_help_panel=DECODING,
        show_default=False,
    ),
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


def memory_option(kind: type[StrEnum], help: str) -> Any:
    """An option of memory-based models that is one of a few names."""
    return typer.Option(metavar=one_of(kind), help=help, rich_help_panel=MEMORY)


InferenceOption = Annotated[
    Inference,
    memory_option(Inference, "Classify into trigrams of labels and reconcile them, or each token by itself."),
]
SharpnessOption = Annotated[
    float,
    typer.Option(
        metavar="X",
        help="With csinf, weights of predicted trigrams to this power; more trusts agreement more.",
        rich_help_panel=MEMORY,
    ),
]
MetricOption = Annotated[
    Metric,
    memory_option(Metric, "How far apart values are: equal or not, or by the labels they go with."),
]
WeightsOption = Annotated[
    FeatureWeights, memory_option(FeatureWeights, "What makes a feature count more than another.")
]
VotingOption = Annotated[Voting, memory_option(Voting, "How much the vote of a neighbour weighs.")]
SearchOption = Annotated[
    Search, memory_option(Search, "Exact search for neighbours, or a quick way down a tree.")
]
NeighboursOption = Annotated[
    int, typer.Option("-k", metavar="N", min=1, help="Nearest distances that vote.", rich_help_panel=MEMORY)
]
ThresholdOption = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=1,
        help="Values seen less often are equal or not, whatever the metric.",
        rich_help_panel=MEMORY,
    ),
]
WindowOption = Annotated[
    int,
    typer.Option(
        metavar="N", min=0, help="Tokens to the left and right that are seen.", rich_help_panel=MEMORY
    ),
]


CRF_ONLY = {"dev", "features", "template", "lexicon", "min_count", "folds"}
"""Options that a memory-based model makes no use of, besides those of training."""


def check_kind(ctx: typer.Context, kind: str) -> None:
    """End if an option was given that only the other kind of model has."""
    for option in ctx.command.params:
        source = ctx.get_parameter_source(option.name or "")
        if source is None or source.name != "COMMANDLINE":
            continue
        panel, other = getattr(option, "rich_help_panel", None), ""
        if panel == MEMORY:
            other = "memory"
        elif option.name in CRF_ONLY or (panel == TRAINING and option.name != "tune"):
            other = "crf"
        if other and other != kind:
            misused(f"{option.opts[0]} is for --model-type {other}; choose that, or leave it out")
