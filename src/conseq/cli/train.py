"""`conseq train`: labelled data ─→ a model file.

What a type of model can be told, and what is done with it, stands in a module of its own (`MODELS`).
"""

from __future__ import annotations

import os
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from conseq.cli.clock import Clock, peak_mb
from conseq.cli.crf import CRFOptions
from conseq.cli.grouping import given_of, grouped
from conseq.cli.memory import MemoryOptions
from conseq.cli.options import (
    AS_JSON,
    MODEL,
    REQUIRED,
    STANDARD,
    THREADS,
    TRAINING,
    TrainData,
    TrainReading,
    option,
)
from conseq.cli.outcome import misused, say, told_if_interrupted
from conseq.cli.progress import training_line
from conseq.cli.reading import Reading, as_read
from conseq.cli.rules import LEARN, NONE, rule_file, say_oddities
from conseq.cli.show import show, show_facts, show_json, size
from conseq.cli.tuning import tune_on, tuned_sentence
from conseq.errors import counted

if TYPE_CHECKING:
    from conseq.corpus import Corpus
    from conseq.shards import Shards

MODELS: tuple[type[CRFOptions] | type[MemoryOptions], ...] = (CRFOptions, MemoryOptions)
"""The options of every type of model, which train it."""


ModelType = Literal["crf", "memory"]
"""A conditional random field, or a memory of all tokens."""


@dataclass(frozen=True)
class Task:
    """What is to be done, whatever the type of model."""

    data: str
    model: str
    reading: Reading
    rules: str | Path | None  # of a file, to be learned, or none
    tune: bool
    threads: int | None


@grouped
def train(
    *,
    ctx: typer.Context,
    data: TrainData,
    model: str = option(REQUIRED, MODEL, "OUT", "The model file to write.", "--model", "-m"),
    model_type: ModelType = option("crf", MODEL, ModelType, "The kind of model."),
    constraints: str = option(
        NONE, MODEL, f"none|{LEARN}|FILE",
        "Rules that labels obey: a file with one per line, or learn, which finds rules and penalties "
        "in the training data (see `conseq mine`).",
    ),
    crf: CRFOptions,
    reading: TrainReading,
    tune: bool = option(
        False, TRAINING, None,
        "First choose options on growing samples of TRAIN: preset, --c1 and --c2; for memory "
        "--metric, --weights, -k and --voting.", "--tune",
    ),
    memory: MemoryOptions,
    threads: int | None = THREADS,
    as_json: bool = AS_JSON,
) -> None:  # fmt: skip
    """Learn from labelled data and write a model.

    Ctrl-C ends training early and keeps what was learned so far.

    \b
    Examples:
      conseq train train.tsv --dev dev.tsv --features ner -m ner.model
      conseq train train.tsv --columns word,pos,label --template chunking.template -m chunk.model
      conseq train tagged.txt --format inline --c2 0.5 -m fields.model
      conseq train tagged.txt --constraints fields.rules -m fields.model
      conseq train train.tsv --constraints learn -m ruled.model
      conseq train train.tsv --algorithm ap --max-iterations 5 -m quick.model
      conseq train more.tsv --from ner.model --features ner -m better.model
      conseq train huge.tsv --shard-tokens 1000000 -m huge.model
      conseq train train.tsv --tune -m tuned.model
      conseq train letters.tsv --model-type memory --metric mvdm -k 5 -m phonemes.model
    """
    chosen: Any = {kind.model_type: kind for kind in (crf, memory)}[model_type]
    _refuse_others(ctx, type(chosen))
    rules = LEARN if constraints == LEARN else rule_file(constraints)
    task = Task(data, model, reading, rules, tune, threads)
    chosen.check(task)
    with told_if_interrupted(f" {chosen.unfinished}; no model was written"):
        check_writable(model, data, crf.dev)
        with training_line(*chosen.rounds) as line, ExitStack() as stack:
            clock = Clock()
            corpus, development = chosen.read(task, stack)
            seconds = {"read": clock.seconds()}
            labeller = chosen.labeller(task, corpus)
            tuned = {}
            if tune:
                trying = Clock()
                tuned = {"tuned": tune_on(labeller, corpus, line, chosen.names)}
                seconds["tune"] = trying.seconds()
            line.enter(chosen.begins)
            chosen.fit(labeller, corpus, development, line)
            labeller.input_ = as_read(corpus, task.reading)
            line.enter("writing the model")
            with told_if_interrupted(" after training; no model was written"):
                labeller.save(model)
    cut_short = chosen.cut_short(labeller, task)
    if cut_short is not None:
        say(cut_short)
    elif task.rules != LEARN:
        say_oddities(labeller)
    result = {**chosen.result(labeller), "peak_mb": peak_mb(), "model": model, **tuned}
    result["seconds"] = {**seconds, **labeller.report_.seconds, "total": (ctx.obj or clock).seconds()}
    if as_json:
        show_json(result)
    else:
        _show(result, corpus, chosen.facts(result))


def _refuse_others(ctx: typer.Context, chosen: type) -> None:
    """End if an option was given that only another type of model has."""
    for kind in MODELS:
        for name in given_of(ctx, kind) if kind is not chosen else ():
            misused(f"{name} is for --model-type {kind.model_type}; choose that, or leave it out")


class _Enough(Exception):
    pass


def check_writable(path: str, *inputs: str | None) -> None:
    """Raise at once if a file could not be written there in the end, or if it is one that is read."""
    from conseq.io import atomic_write

    if path == STANDARD:
        misused("the output is a file; give its name instead of -")
    read = [given for given in inputs if given is not None and os.path.exists(given)]
    if os.path.exists(path) and any(os.path.samefile(given, path) for given in read):
        misused(f"{path} is the data to learn from; give another file for the output")
    with suppress(_Enough), atomic_write(path):
        raise _Enough


def _show(result: dict[str, Any], corpus: Corpus | Shards, own: list[tuple[str, str]]) -> None:
    from conseq.shards import Shards

    sequences = corpus.n_sequences if isinstance(corpus, Shards) else len(corpus)
    held = [(sequences, "sequence"), (corpus.n_tokens, "token"), (result["labels"], "label")]
    facts = [
        ("data", ", ".join(counted(*kind) for kind in held)),
        *([("tuned", tuned_sentence(result["tuned"]))] if "tuned" in result else []),
        *own,
        ("time", _time(result["seconds"])),
        ("model", f"{result['model']} ({size(os.path.getsize(result['model']))})"),
    ]
    show_facts(facts, title="Trained.")
    show(f"\nNext: conseq label {result['model']} FILE", "dim")


def _time(seconds: dict[str, float]) -> str:
    """The seconds of the parts, as they add up to those of the whole.

    >>> _time({"read": 0.26, "features": 0.5, "train": 3.0, "total": 5.0})
    '5.0 s (read 0.3, features 0.5, train 3.0, start-up, compiling and writing 1.2)'
    """
    parts = {
        name: round(seconds[name], 1)
        for name in ("read", "tune", "features", "train", "rules")
        if name in seconds
    }
    rest = max(0.0, round(seconds["total"], 1) - sum(parts.values()))
    shown = [f"{name} {part:.1f}" for name, part in parts.items()]
    return f"{seconds['total']:.1f} s ({', '.join(shown)}, start-up, compiling and writing {rest:.1f})"
