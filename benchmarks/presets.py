"""How good the presets are on public data: train on train, measure on dev and test, nothing tuned per set.

data folders ─→ one model each, default options ─→ accuracy, span F1, seconds
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conseq import io
from conseq.corpus import Corpus
from conseq.errors import DataError
from conseq.labeller import SequenceLabeller
from experiments.machine import describe

SPLITS = ("dev", "test")


@dataclass(frozen=True)
class Task:
    """A data set, the preset for it and the names of its columns."""

    preset: str
    columns: tuple[str, ...] = ("word", "label")


TASKS: dict[str, Task] = {
    "conll2000": Task("chunk", ("word", "pos", "label")),
    "conll2003": Task("ner", ("word", "pos", "chunk", "label")),
    "conll2002-dutch": Task("ner", ("word", "pos", "label")),
    "jnlpba": Task("ner"),
    "umass_citation": Task("fields"),
    "cora": Task("fields"),
    "us50": Task("fields"),
}


def run(*, data: Path, quick: bool = False, say: Callable[[str], None] = print) -> dict[str, Any]:
    """Train and measure on every set that is there; `quick` takes the small ones only."""
    names = [name for name in TASKS if (Path(data) / name).is_dir()]
    if not names:
        raise DataError(
            f"there is none of {', '.join(TASKS)} in {data}; name the folder of data sets with --data"
        )
    rows = []
    for name in names[-3:] if quick else names:
        rows.append(_measure(name, TASKS[name], Path(data) / name))
        say(f"{name}: trained in {rows[-1]['seconds']:.1f} s")
    return {"machine": describe(), "rows": rows}


def _measure(name: str, task: Task, folder: Path) -> dict[str, Any]:
    train = read(folder, "train", task)
    if train is None:
        raise DataError(f"there is no train.tsv in {folder}")
    begun = time.perf_counter()
    labeller = SequenceLabeller(task.preset).fit(train)
    row: dict[str, Any] = {
        "data": name,
        "preset": task.preset,
        "seconds": time.perf_counter() - begun,
        "labels": len(labeller.schema_),
        "iterations": labeller.report_.training.iterations,
        "c2": labeller.c2,
    }
    for split in SPLITS:
        corpus = read(folder, split, task)
        if corpus is not None:
            report = labeller.evaluate(corpus)
            row[split] = {"accuracy": report.accuracy, "span_f1": report.span.total.f1}
    return row


def file_of(folder: Path, split: str) -> Path | None:
    """The file of a split, packed or not, if it is there."""
    paths = (folder / f"{split}{suffix}" for suffix in (".tsv", ".tsv.gz"))
    return next((path for path in paths if path.is_file()), None)


def read(folder: Path, split: str, task: Task) -> Corpus | None:
    """A split of a data set, if it is there."""
    path = file_of(folder, split)
    return None if path is None else io.read(path, "columns", columns=task.columns)


def table(result: dict[str, Any]) -> list[list[str]]:
    """One row per data set, the head first."""
    rows = [["data", "preset", "labels", "training (s)", "dev F1", "test F1", "test accuracy"]]
    for row in result["rows"]:
        dev, test = row.get("dev"), row.get("test")
        rows.append(
            [
                row["data"],
                row["preset"],
                str(row["labels"]),
                f"{row['seconds']:.1f}",
                f"{100 * dev['span_f1']:.2f}" if dev else "–",
                f"{100 * test['span_f1']:.2f}" if test else "–",
                f"{100 * test['accuracy']:.2f}" if test else "–",
            ]
        )
    return rows
