"""Fersini et al. 2014, soft-constrained inference: rules learned from data (tables 5 to 7).

    data folder ─→ Task: train, target ─→ trials (`soft_ilp_trials.py`) ─→ rows ─→ tables, the paper's figures
                                             methods (`soft_ilp_methods.py`)

Split `dev` never touches test data: us50 and cora are cross-validated within train, conll2003 is measured on
dev. Split `test`: us50 and conll2003 on test, cora on dev and test together (200 citations, as in the paper).
Rules, τ, penalties and the kind of inference are chosen by cross-fitting within the training data alone.

    viterbi           the CRF alone
    adjacency, …      one family of rules, log-ratio costs, two-stage inference, τ chosen (1: Viterbi)
    five              the five families; two-stage, or score less penalties, whichever does better there
    clauses           rules from clauses by minimum-cost satisfiability alone
    learned           all families of `conseq.mining`, penalties by the perceptron, score less penalties
    all               all constraints: of five and learned what does better there

The paper's SemiCRF-Viterbi is left out until conseq has a semi-CRF.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from conseq.corpus import Corpus
from conseq.labeller.learning import split as folds_of
from experiments.common import (
    NONE,
    Result,
    Say,
    chance,
    markdown_table,
    paper_and_ours,
    percent,
    present,
    read_splits,
    rest,
    some,
)
from experiments.machine import describe
from experiments.soft_ilp_trials import (
    FOLDS,
    QUICK_SAMPLE,
    SAMPLE,
    Study,
    Trial,
    clause_report,
    ilp_report,
)

QUICK_FOLDS = 1
"""The number of folds that a quick run by cross-validation takes."""


@dataclass(frozen=True)
class Task:
    """A data set: the splits to measure on; without `dev` training data is cross-validated.

    A quick run takes `some` sequences at most.
    """

    features: tuple[str, ...]
    some: int
    test: tuple[str, ...]
    dev: tuple[str, ...] = ()
    columns: tuple[str, ...] = ("word", "label")

    def pairs(self, folder: Path, split: str, quick: bool) -> Iterator[tuple[Corpus, Corpus]]:
        """What to train on, and what to label."""
        (train,) = read_splits(folder, ["train"], self.columns)
        train = self._thinned(train, quick)
        if splits := self.test if split == "test" else self.dev:
            target = Corpus.joined(read_splits(folder, splits, self.columns))
            yield train, self._thinned(target, quick)
            return
        parts = folds_of(len(train), min(FOLDS, len(train)))
        for part in parts[:QUICK_FOLDS] if quick else parts:
            yield train.select(rest(len(train), part)), train.select(part)

    def _thinned(self, corpus: Corpus, quick: bool) -> Corpus:
        """Sequences evenly from all of the corpus for a quick run."""
        return some(corpus, self.some) if quick else corpus


TASKS: dict[str, Task] = {
    "us50": Task(("classic", "fields"), 150, ("test",)),
    "cora": Task(("classic", "fields"), 150, ("dev", "test")),
    "conll2003": Task(("classic",), 1_500, ("test",), ("dev",), ("word", "pos", "chunk", "label")),
}

PAPER: dict[str, dict[str, float]] = {
    "cora": {"five": 93.99, "all": 93.99},
    "conll2003": {"viterbi": 71.77, "five": 73.49, "all": 73.49},
}
"""Data set ─→ method ─→ accuracy. The paper does not say over which tokens of conll2003; those that are not O
come closest. The table of us50 is lost."""

PAPER_LABELS: dict[str, dict[str, dict[str, float]]] = {
    "cora": {
        "viterbi": {"author": 92.22, "title": 90.19, "booktitle": 90.20},
        "five": {"author": 95.19, "title": 95.31, "booktitle": 92.61},
        "all": {"author": 95.19, "title": 95.31, "booktitle": 92.61},
    }
}
"""Data set ─→ method ─→ label ─→ F1."""


def run(*, data: Path, split: str = "dev", quick: bool = False, say: Say = print) -> Result:
    """Run every method on every data set that is there."""
    found = present(data, list(TASKS))
    results = {name: _measure(name, Path(data) / name, split, quick, say) for name in found}
    return {"machine": describe(), "split": split, "quick": quick, **results}


def _measure(name: str, folder: Path, split: str, quick: bool, say: Say) -> Result:
    begun = time.perf_counter()
    task, rows, studies = TASKS[name], [], []
    pairs = list(task.pairs(folder, split, quick))
    for features in task.features:
        studies.append(Study(features, [Trial.of(features, train, target) for train, target in pairs]))
        rows += studies[-1].run(lambda line: say(f"{name}, {line}"))
    say(f"{name}: {time.perf_counter() - begun:.0f} s")
    return {
        "train": len(pairs[0][0]),
        "sequences": sum(len(target) for _, target in pairs),
        "rows": rows,
        "clauses": clause_report(studies[0].trials[0].chooser.evidence),
        "ilp": ilp_report(studies, QUICK_SAMPLE if quick else SAMPLE) if name == "cora" else None,
        "seconds": time.perf_counter() - begun,
    }


# ── for people ──────────────────────────────────────────────────────────────────────────────────

HEAD = (
    *("data", "features", "method", "paper", "accuracy", "not O", "micro F1", "macro F1", "p"),
    *("rules", "inference", "τ", "certified", "seconds"),
)


def table(result: Result) -> list[list[str]]:
    """One row per data set, features and method, the head first."""
    rows = [[name, *_cells(name, row)] for name in _sets(result) for row in result[name]["rows"]]
    return [list(HEAD), *rows]


def _sets(result: Result) -> list[str]:
    """The data sets of a result."""
    return [name for name in TASKS if name in result]


def _cells(name: str, row: Result) -> list[str]:
    paper = PAPER.get(name, {}).get(row["method"]) if row["features"] == "classic" else None
    return [
        row["features"],
        row["method"],
        *paper_and_ours(paper, row["accuracy"]),
        percent(row.get("accuracy_not_o")),
        percent(row["micro"]["f1"]),
        percent(row["macro"]["f1"]),
        chance(row["p"]),
        f"{row['rules']:.0f}",
        row["inference"],
        NONE if row["tau"] is None else f"{row['tau']:g}",
        f"{100 * row['certified']:.1f} %",
        f"{row['seconds']:.2f}",
    ]


def markdown(result: Result) -> str:
    """A section per data set: the rows, the labels that the paper speaks of, clauses, the integer program."""
    parts = [f"# Soft-constrained inference (Fersini et al. 2014), split {result['split']}"]
    for name in _sets(result):
        found = result[name]
        rows = [list(HEAD[1:]), *(_cells(name, row) for row in found["rows"])]
        parts += [f"## {name}", _caption(found), markdown_table(rows)]
        if name in PAPER_LABELS:
            parts.append(markdown_table(_label_rows(name, found)))
        parts += [line for line in (_clause_line(found["clauses"]), _ilp_line(found["ilp"])) if line]
    return "\n\n".join(parts) + "\n"


def _caption(found: Result) -> str:
    return f"{found['sequences']} sequences, trained on {found['train']}; {found['seconds']:.0f} s in all."


def _label_rows(name: str, found: Result) -> list[list[str]]:
    """F1 of single labels by the methods for which the paper has it."""
    rows = [["features", "method", "label", "paper F1", "F1"]]
    for row in found["rows"]:
        for label, paper in PAPER_LABELS[name].get(row["method"], {}).items():
            ours = row["labels"].get(label, {}).get("f1")
            rows.append([row["features"], row["method"], label, *paper_and_ours(paper, ours)])
    return rows


def _clause_line(clauses: Result) -> str:
    return (
        f"Clauses gave {clauses['rules']} rules; {clauses['both']} of them are among the "
        f"{clauses['families']} that the five families gave."
    )


def _ilp_line(ilp: Result | None) -> str:
    if ilp is None:
        return ""
    return (
        f"The plain integer program took {ilp['milliseconds']['ilp']:.0f} ms a sequence under {ilp['rules']} "
        f"rules, `auto` {ilp['milliseconds']['auto']:.3f} ms ({ilp['ratio']:.0f} ×, same scores: "
        f"{'yes' if ilp['same_scores'] else 'no'})."
    )
