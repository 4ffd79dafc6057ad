"""`conseq relations train`: sentences with entities and relations ─→ a model file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

import typer

from conseq.cli.clock import Clock, peak_mb
from conseq.cli.grouping import grouped
from conseq.cli.options import AS_JSON, MODEL, READING, REQUIRED, THREADS, TRAINING, TrainData, option
from conseq.cli.outcome import told_if_interrupted
from conseq.cli.progress import training_line
from conseq.cli.relations.options import SentenceReading
from conseq.cli.rules import LEARN, rule_file
from conseq.cli.show import percent, show, show_facts, show_json, size
from conseq.cli.train import check_writable
from conseq.errors import counted

if TYPE_CHECKING:
    from conseq.entities import Sentence
    from conseq.relations.labeller import RelationLabeller

Classifier = Literal["logistic", "winnow"]
Approach = Literal["joint", "basic", "pipeline"]
Boundaries = Literal["given", "predicted"]
Penalties = Literal["log-ratio", "perceptron", "svm"]

MOST_RULES = 12
"""Learned rules that are shown."""


@grouped
def train(
    *,
    ctx: typer.Context,
    data: TrainData,
    model: str = option(REQUIRED, MODEL, "OUT", "The model file to write.", "--model", "-m"),
    constraints: str = option(
        LEARN, MODEL, f"{LEARN}|none|FILE",
        "Rules that entities and relations obey: learned from TRAIN (which types a relation goes with, and "
        "what breaking that should cost), none, or a file with one per line.",
    ),
    classifier: Classifier = option("logistic", MODEL, Classifier, "What scores entities and pairs."),
    approach: Approach = option(
        "joint", MODEL, Approach,
        "joint decides entities and relations together; basic each by itself; pipeline first the entities, "
        "which then help with relations.",
    ),
    penalties: Penalties = option(
        "log-ratio", MODEL, Penalties, "How penalties of learned rules are found.",
    ),
    boundaries: Boundaries = option(
        "given", MODEL, Boundaries,
        "Whether sentences to be labelled come with the places of their entities, or these are found.",
    ),
    dev: str | None = option(None, READING, "DEV", "Sentences to measure the model with."),
    reading: SentenceReading,
    seed: int = option(0, TRAINING, "N", "Seed of the order of the data, and of folds.", min=0),
    threads: int | None = THREADS,
    as_json: bool = AS_JSON,
) -> None:  # fmt: skip
    """Learn from sentences with entities and relations, and write a model.

    \b
    Examples:
      conseq relations train train.jsonl -m news.model
      conseq relations train train.jsonl --dev dev.jsonl --boundaries predicted -m news.model
      conseq relations train corpus/ --input-format brat --constraints my.rules -m news.model
      conseq relations train train.jsonl --classifier winnow --constraints none -m plain.model
    """
    from conseq.relations.labeller import RelationLabeller

    rules = LEARN if constraints == LEARN else rule_file(constraints)
    with told_if_interrupted("; no model was written"):
        check_writable(model, data, dev)
        with training_line() as line:
            clock = Clock()
            sentences = reading.read_labelled(data)
            held_out = [] if dev is None else reading.read_labelled(dev)
            seconds, training = {"read": clock.seconds()}, Clock()
            line.enter("learning")
            labeller = RelationLabeller(
                classifier=classifier,
                approach=approach,
                boundaries=boundaries,
                constraints=rules,
                n_jobs=threads,
                penalties=penalties,
                random_state=seed,
            )
            labeller.fit(sentences, stage=line.enter)
            seconds["train"] = training.seconds()
            scores = None
            if held_out:
                line.enter("measuring")
                scores = labeller.evaluate(held_out).to_dict()
            line.enter("writing the model")
            labeller.save(model)
    seconds["total"] = (ctx.obj or clock).seconds()
    result = {**_counts(sentences), **_of_model(labeller), "development": scores}
    result |= {"peak_mb": peak_mb(), "model": model, "seconds": seconds}
    if as_json:
        show_json(result)
    else:
        _show(result)


def _counts(sentences: list[Sentence]) -> dict[str, int]:
    return {
        "sentences": len(sentences),
        "entities": sum(len(sentence.entities) for sentence in sentences),
        "relations": sum(len(sentence.relations) for sentence in sentences),
    }


def _of_model(labeller: RelationLabeller) -> dict[str, Any]:
    types = labeller.types_
    return {
        "types": {"entities": list(types.entities), "relations": list(types.relations)},
        "constraints": [str(rule) for rule in labeller.constraints_],
    }


def _show(result: dict[str, Any]) -> None:
    held = f"{counted(result['sentences'], 'sentence')}, {counted(result['relations'], 'relation')}"
    types = result["types"]
    facts = [
        ("data", held),
        ("entities", ", ".join(types["entities"])),
        ("relations", ", ".join(types["relations"])),
        ("rules", f"{len(result['constraints']):,}"),
    ]
    if result["development"] is not None:
        dev = result["development"]
        found = f"entities {percent(dev['entities']['f1'])} %, relations {percent(dev['relations']['f1'])} %"
        facts.append(("dev F1", found))
    facts += [
        ("time", f"{result['seconds']['total']:.1f} s"),
        ("model", f"{result['model']} ({size(os.path.getsize(result['model']))})"),
    ]
    show_facts(facts, title="Trained")
    rules = result["constraints"][:MOST_RULES]
    if rules:
        show()
        show("Rules", "bold")
        for line in rules:
            show(f"  {line}")
        if len(rules) < len(result["constraints"]):
            show(f"  … and {len(result['constraints']) - len(rules):,} more")
