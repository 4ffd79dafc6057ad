"""The race against TiMBL: the same instances, the same settings, the classes that both give.

    nettalk, conll2000 ─→ windows of 7 tokens ─→ files ─→ timbl ─→ its seconds, its classes ─────┐
                                       └──────→ MemoryLearner, 1 and 2 threads ─→ the same ─────┴→ ratios

The class of a window is the label of its middle, or a trigram: the labels before, in and after the middle.
TiMBL's seconds are those it prints for classifying, from reading its test file to writing its answers;
conseq's go from rows of strings to classes. Where TiMBL is slow, both classify the same sample.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.presets import file_of
from benchmarks.timing import best, timed
from conseq.corpus import Corpus
from conseq.errors import ConseqError, DataError
from conseq.io import read
from conseq.models.memory import MemoryLearner
from conseq.models.trigrams import TrigramClasses
from conseq.models.windows import BOUNDARY, windows
from experiments.machine import describe

REACH = 3
"""Tokens of a window on each side of its middle."""
OUTSIDE = "_"
"""Stands for tokens and labels beyond the ends of a sequence."""
THREADS = (2, 1)
METRICS = {"overlap": "O", "mvdm": "M"}
"""The metrics raced, and what TiMBL calls them."""
FURTHER = (3, 5)
"""Nearest distances for which classes are compared, too; the race is with the nearest alone."""
QUICK = 8
"""A quick run takes every so manieth training sequence."""
QUICK_SAMPLE = 500

Say = Callable[[str], None]
Result = dict[str, Any]
Rows = list[list[str]]


@dataclass(frozen=True)
class Task:
    """A data set: the names of its columns, those that windows show, and how many test windows are taken."""

    columns: tuple[str, ...]
    shown: tuple[str, ...]
    sample: int | None = None


TASKS = {
    "nettalk": Task(("letter", "stress", "label"), ("letter",)),
    "conll2000": Task(("word", "pos", "label"), ("word", "pos"), sample=1000),
}


def run(*, data: Path, quick: bool = False, say: Say = print, threads: tuple[int, ...] = THREADS) -> Result:
    """Race on the data sets that are there; `quick` takes an eighth of the training data, 500 windows."""
    version = peer_version()
    there = {name: task for name, task in TASKS.items() if _is_there(Path(data) / name)}
    if not there:
        raise DataError(
            f"there is none of {', '.join(TASKS)} (train.tsv and test.tsv) in {data}; "
            "name the folder of data sets with --data"
        )
    rows = []
    for name, task in there.items():
        train, test = (_read(Path(data) / name, split, task) for split in ("train", "test"))
        if quick:
            train = train.select(range(0, len(train), QUICK))
        sample = QUICK_SAMPLE if quick else task.sample
        for kind, classes_of in CLASSES.items():
            race = Race.of(train, test, task, classes_of, sample)
            for metric in METRICS:
                rows.append({"data": name, "classes": kind, **race.measure(metric, threads)})
                say(_line(rows[-1]))
    return {"machine": describe(), "quick": quick, "peers": {"timbl": version}, "rows": rows}


def peer_version() -> str:
    """TiMBL's version, if it is installed."""
    if shutil.which("timbl") is None:
        raise ConseqError("timbl is not installed; install it with: apt install timbl")
    answer = subprocess.run(["timbl", "-V"], capture_output=True, text=True, check=False)
    found = re.search(r"TiMBL (\S+)", answer.stdout + answer.stderr)
    return found[1] if found else "unknown"


def _is_there(folder: Path) -> bool:
    return all(file_of(folder, split) is not None for split in ("train", "test"))


def _read(folder: Path, split: str, task: Task) -> Corpus:
    path = file_of(folder, split)
    assert path is not None
    return read(path, "columns", columns=task.columns)


# ── instances ───────────────────────────────────────────────────────────────────────────────────


def rows_of(corpus: Corpus, shown: Sequence[str], reach: int = REACH) -> Rows:
    """A row for each token: for each column the values around it.

    >>> rows_of(Corpus.from_sequences([["a", "b"]]), ["word"], reach=1)
    [['_', 'a', 'b'], ['a', 'b', '_']]
    """
    found = windows(corpus, shown, reach, reach).strings()
    return [[value if value != BOUNDARY else OUTSIDE for value in row] for row in found]


def single_classes(corpus: Corpus) -> list[str]:
    return corpus.full_labels().strings()


def trigram_classes(corpus: Corpus) -> list[str]:
    """The labels before, at and after each token, joined by slashes."""
    classes, ids = TrigramClasses.of(corpus)
    names = [name.replace(" ", "/") for name in classes.names()]
    return [names[i] for i in ids.tolist()]


CLASSES: dict[str, Callable[[Corpus], list[str]]] = {"single": single_classes, "trigram": trigram_classes}


# ── both sides ──────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, eq=False)
class Race:
    """Instances to learn from and instances to classify."""

    rows: Rows
    classes: list[str]
    queries: Rows
    gold: list[str]

    @classmethod
    def of(
        cls,
        train: Corpus,
        test: Corpus,
        task: Task,
        classes_of: Callable[[Corpus], list[str]],
        sample: int | None,
    ) -> Race:
        """Windows of two corpora; a sample of the second is spread evenly over it."""
        queries, gold = rows_of(test, task.shown), classes_of(test)
        step = 1 if sample is None else max(len(queries) // sample, 1)
        return cls(
            rows_of(train, task.shown), classes_of(train), queries[::step][:sample], gold[::step][:sample]
        )

    def measure(self, metric: str, threads: Sequence[int]) -> Result:
        """Instances per second of both, and how many classes are the same."""
        learner = MemoryLearner(distance=metric)
        building, _ = timed(lambda: learner.fit(self.rows, self.classes))
        learner.predict(self.queries[:2])
        peer_seconds, theirs = timbl(self, "-m", METRICS[metric])
        ours = {n: best(partial(learner.set_params(n_jobs=n).predict, self.queries)) for n in threads}
        n, found = len(self.queries), ours[threads[0]][1]
        equal = _equal(found, theirs)
        further = {str(k): self._equal_with(metric, k) / n for k in FURTHER}
        return {
            "metric": metric,
            "features": len(self.rows[0]),
            "instances": len(self.rows),
            "n_classes": len(set(self.classes)),
            "queries": n,
            "build_seconds": building,
            "timbl_per_second": n / peer_seconds,
            "conseq_per_second": {str(t): n / seconds for t, (seconds, _) in ours.items()},
            "ratios": {str(t): peer_seconds / seconds for t, (seconds, _) in ours.items()},
            "equal": equal,
            "equal_share": equal / n,
            "equal_shares": {"1": equal / n, **further},
            "accuracy": _equal(found, self.gold) / n,
        }

    def _equal_with(self, metric: str, k: int) -> int:
        """How many classes are the same if the k nearest distances vote."""
        _, theirs = timbl(self, "-m", METRICS[metric], "-k", str(k))
        learner = MemoryLearner(distance=metric, k=k).fit(self.rows, self.classes)
        return _equal(learner.predict(self.queries), theirs)


def _equal(ours: Sequence[str], theirs: Sequence[str]) -> int:
    return sum(a == b for a, b in zip(ours, theirs, strict=True))


def timbl(race: Race, *options: str) -> tuple[float, list[str]]:
    """The seconds that TiMBL takes to classify, as it prints them, and its classes."""
    with tempfile.TemporaryDirectory() as folder:
        train, test, out = (Path(folder) / name for name in ("train", "test", "out"))
        _write(train, race.rows, race.classes)
        _write(test, race.queries, race.gold)
        files = ["-f", str(train), "-t", str(test), "-o", str(out)]
        command = ["timbl", *files, "-F", "Columns", *options]
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
        seconds = re.search(r"Seconds taken: ([\d.]+)", answer.stdout + answer.stderr)
        if seconds is None or not out.is_file():
            raise ConseqError(f"timbl gave no answer ({answer.stderr.strip()[-200:]}); run it by hand")
        lines = out.read_text(encoding="utf-8").splitlines()
    width = len(race.rows[0])
    return float(seconds[1]), [line.split()[width + 1] for line in lines]


def _write(path: Path, rows: Rows, classes: Sequence[str]) -> None:
    lines = ("\t".join([*row, name]) for row, name in zip(rows, classes, strict=True))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


# ── for people ──────────────────────────────────────────────────────────────────────────────────


def _line(row: Result) -> str:
    threads, ratio = next(iter(row["ratios"].items()))
    return (
        f"{row['data']}, {row['classes']} classes, {row['metric']}: {ratio:.0f} × TiMBL with {threads} "
        f"threads, {row['equal']} of {row['queries']} classes equal"
    )


def table(result: Result) -> list[list[str]]:
    """One row per race, the head first; speeds in instances per second."""
    threads = list(result["rows"][0]["ratios"])
    head = ["data", "classes", "metric", "instances", "queries", "TiMBL/s"]
    rows = [[*head, *(f"conseq/s, threads {n}" for n in threads), "equal classes, k = 1, 3, 5", "accuracy"]]
    for row in result["rows"]:
        rows.append(
            [
                row["data"],
                f"{row['n_classes']:,} {row['classes']}",
                row["metric"],
                f"{row['instances']:,}",
                f"{row['queries']:,}",
                f"{row['timbl_per_second']:,.0f}",
                *(f"{row['conseq_per_second'][n]:,.0f} ({row['ratios'][n]:.1f} ×)" for n in threads),
                ", ".join(f"{100 * share:.2f}" for share in row["equal_shares"].values()) + " %",
                f"{100 * row['accuracy']:.2f} %",
            ]
        )
    return rows
