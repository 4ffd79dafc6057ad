"""`conseq train --model-type memory`: labelled data ─→ a model that remembers it."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import typer

from conseq.cli.clock import Clock, peak_mb
from conseq.cli.outcome import misused
from conseq.cli.progress import training_line
from conseq.cli.reading import Reading, as_read, read_labelled
from conseq.cli.rules import LEARN, say_oddities, training_rules
from conseq.cli.show import counted, show, show_facts, size
from conseq.cli.tuning import tune_on, tuned_sentence

if TYPE_CHECKING:
    from conseq.corpus import Corpus


@dataclass(frozen=True)
class MemoryOptions:
    """What `MemoryLabeller` is told."""

    inference: str
    sharpness: float
    metric: str
    weights: str
    k: int
    voting: str
    algorithm: str
    threshold: int
    window: int
    scheme: str
    threads: int | None


def remember(
    ctx: typer.Context,
    data: str,
    reading: Reading,
    options: MemoryOptions,
    constraints: str,
    tune: bool,
    model: str,
    as_json: bool,
) -> None:
    """Read, choose options if wanted, remember, write, show."""
    rules = training_rules(constraints)
    if rules == LEARN:
        misused("--constraints learn is for --model-type crf; give a file of rules")
    with training_line("F1", None, "step") as line:
        clock = Clock()
        corpus = read_labelled(data, reading)
        read = clock.seconds()
        from conseq.labeller.memory import MemoryLabeller

        labeller = MemoryLabeller(**asdict(options), constraints=rules)
        tuned = tune_on(labeller, corpus, line) if tune else None
        line.enter("remembering")
        labeller.fit(corpus)
        labeller.input_ = as_read(corpus, reading)
        line.enter("writing the model")
        labeller.save(model)
    say_oddities(labeller)
    report = labeller.report_
    seconds = {"read": read, **report.seconds, "total": (ctx.obj or clock).seconds()}
    result: dict[str, Any] = {
        "iterations": 0, "evaluations": 0, "objective": None, "features": len(report.weights),
        "attributes": sum(map(len, labeller.windows_.vocabularies)), **report.to_dict(), "peak_mb": peak_mb(),
        "model": model, "seconds": seconds,
    }  # fmt: skip
    if tuned is not None:
        result["tuned"], seconds["tune"] = tuned.to_dict(), tuned.seconds
    if as_json:
        print(json.dumps(result, ensure_ascii=False))
    else:
        _show(result, corpus)


def _show(result: dict[str, Any], corpus: Corpus) -> None:
    held = [(len(corpus), "sequence"), (corpus.n_tokens, "token"), (result["labels"], "label")]
    heaviest = sorted(result["weights"].items(), key=lambda item: -item[1])[:5]
    kept = f"{result['distinct']:,} different windows, {result['classes']:,} classes"
    tuned = [("tuned", tuned_sentence(result["tuned"]))] if "tuned" in result else []
    show_facts(
        [
            ("data", ", ".join(counted(*kind) for kind in held)),
            *tuned,
            ("memory", kept),
            ("weights", ", ".join(f"{name} {weight:.3f}" for name, weight in heaviest) + " …"),
            ("time", f"{result['seconds']['total']:.1f} s"),
            ("model", f"{result['model']} ({size(os.path.getsize(result['model']))})"),
        ],
        title="Trained.",
    )
    show(f"\nNext: conseq label {result['model']} FILE", "dim")
