"""`conseq train`: labelled data ─→ a model file.

What a type of model can be told, and what is done with it, stands in a module of its own (`MODELS`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from conseq.cli.clock import Clock, peak_mb
from conseq.cli.crf import CRFOptions
from conseq.cli.grouping import given_of, grouped
from conseq.cli.memory import MemoryOptions
from conseq.cli.options import AS_JSON, MODEL, REQUIRED, THREADS, TRAINING, TrainData, TrainReading, option
from conseq.cli.outcome import INTERRUPTED, misused, say
from conseq.cli.progress import training_line
from conseq.cli.reading import Reading, as_read
from conseq.cli.rules import LEARN, NONE, say_oddities, training_rules
from conseq.cli.show import counted, show, show_facts, size
from conseq.cli.tuning import tune_on, tuned_sentence

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
    task = Task(data, model, reading, training_rules(constraints), tune, threads)
    chosen.check(task)
    with _told_if_interrupted(chosen.unfinished):
        check_writable(model)
        with training_line("F1", *chosen.rounds) as line, ExitStack() as stack:
            clock = Clock()
            corpus, development = chosen.read(task, stack)
            seconds = {"read": clock.seconds()}
            labeller = chosen.labeller(task, corpus)
            tuned = tune_on(labeller, corpus, line, chosen.names) if tune else None
            line.enter(chosen.begins)
            chosen.fit(labeller, corpus, development, line)
            labeller.input_ = as_read(corpus, task.reading)
            line.enter("writing the model")
            with _told_if_interrupted("after training"):
                labeller.save(model)
    cut_short = chosen.cut_short(labeller, task)
    if cut_short is not None:
        say(cut_short)
    elif task.rules != LEARN:
        say_oddities(labeller)
    result = {**chosen.result(labeller), "peak_mb": peak_mb(), "model": model}
    if tuned is not None:
        result["tuned"], seconds["tune"] = tuned.to_dict(), tuned.seconds
    result["seconds"] = {**seconds, **labeller.report_.seconds, "total": (ctx.obj or clock).seconds()}
    if as_json:
        print(json.dumps(result, ensure_ascii=False))
    else:
        _show(result, corpus, chosen.facts(result))


def _refuse_others(ctx: typer.Context, chosen: type) -> None:
    """End if an option was given that only another type of model has."""
    for kind in MODELS:
        for name in given_of(ctx, kind) if kind is not chosen else ():
            misused(f"{name} is for --model-type {kind.model_type}; choose that, or leave it out")


@contextmanager
def _told_if_interrupted(when: str) -> Iterator[None]:
    """Say that there is no model if the block is interrupted; training itself ends early instead."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"interrupted {when}; no model was written")
        raise typer.Exit(INTERRUPTED) from None


class _Enough(Exception):
    pass


def check_writable(path: str) -> None:
    """Raise at once if a file could not be written there in the end."""
    from conseq.io import atomic_write

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
