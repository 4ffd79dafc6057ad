"""Anzaroot et al. 2014, Soft-DD: soft constraints with learned penalties on citations (tables 1 to 3).

    pool of labelled citations ─→ one CRF ───────────────────────┐
          └─→ folds, each scored without it ─→ rules, penalties ─┴─→ target citations ─→ F1, certificates

Split `dev`: the pool is train, the target dev. Split `test`: the pool is train and dev, the target test. The
CRF, the rules, their penalties and the number of passes come from the pool alone.

    viterbi     nothing at all               only-one, hierarchical, pairwise    the paper's templates
    none        legal BIO only               all, all-hard                       all three, soft and hard
    best        `conseq train --constraints learn`: more of them, and "if … then", "not both"

The paper keeps rules of importance 2.75. Where penalties are learned a low bar is better, so every row has
that of the default recipe: on halves of the cross-fitted train and dev the paper's templates, as soft rules,
cut errors by 7 % with a bar of 2.75, 11 % with 2, and 12 % with the default 1.2.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conseq.constraints.base import HARD, Constraint
from conseq.corpus import Corpus
from conseq.decoders.auto import decode_all
from conseq.decoders.base import Limits
from conseq.decoders.batch import Decodings
from conseq.decoders.chain.viterbi import viterbi
from conseq.decoders.dual import Dual
from conseq.labeller import SequenceLabeller
from conseq.labeller.learning import cross_fitted
from conseq.metrics import Report, evaluate_ids, sequence_counts
from conseq.metrics.resampling import compare_counts
from conseq.mining import COUNTS, Learned, Recipe, learn_from
from conseq.mining.report import RuleReport
from conseq.potentials import Potentials
from conseq.problem import Problems
from conseq.schema import Schema
from experiments.common import Result, Say, markdown_table, read_splits, some
from experiments.machine import describe

FOLDER = "umass_citation"
STOPS = (1, 2, 5, 10, 1000)
"""Iterations of Soft-DD after which table 2 stops."""
QUICK_POOL, QUICK_TARGET, QUICK_FOLDS, QUICK_ITERATIONS = 240, 120, 3, 40
SHOWN_LABELS = 8

PAPER: dict[str, tuple[float, float | None, int | None]] = {
    "viterbi": (94.0, None, None),
    "none": (94.44, None, None),
    "only-one": (94.62, 0.0, 3),
    "hierarchical": (94.55, 0.5625, 16),
    "pairwise": (95.23, 0.4319, 609),
    "all": (95.39, 0.3296, 628),
    "all-hard": (94.60, 0.0, 628),
}
"""Row ─→ field F1, share of zero penalties, number of constraints, as the paper has them."""
PAPER_STOPS = {
    1: (94.44, 76.29, 1.0),
    2: (95.07, 83.38, 1.24),
    5: (95.12, 95.91, 1.61),
    10: (95.39, 99.18, 1.73),
}
"""Iterations ─→ F1, converged in percent, mean iterations."""


RECIPES: dict[str, Recipe] = {
    **{family: Recipe(families=(family,)) for family in COUNTS},
    "all": Recipe(families=COUNTS),
    "best": Recipe(),
}
"""Row ─→ how its rules are learned."""


def run(*, data: Path, split: str = "dev", quick: bool = False, say: Say = print) -> Result:
    """All rows of table 1, the stops of table 2, the labels of table 3."""
    begun = time.perf_counter()
    pool, target = _corpora(Path(data), split, quick)
    labeller = SequenceLabeller("fields", max_iterations=QUICK_ITERATIONS if quick else None)
    labeller.fit(pool)
    say(f"trained on {len(pool):,} citations in {time.perf_counter() - begun:.0f} s")
    evidence = cross_fitted(labeller, pool, QUICK_FOLDS if quick else None, stage=lambda s: say(s.name))
    task = Task.of(labeller, target)
    rows = [task.row("viterbi", task.without_legality()), task.row("none", task.plain)]
    learned = {}
    for name, recipe in RECIPES.items():
        learned[name], seconds = _timed(learn_from, evidence, recipe)
        rows.append(task.soft_row(name, learned[name], seconds))
        say(f"{name}: F1 {100 * rows[-1]['f1']:.2f} with {len(learned[name].rules)} rules")
        if name == "all":
            rows.append(task.hard_row("all-hard", learned[name]))
    best = task.decoded(learned["best"].constraints)
    return {
        "machine": describe(),
        "split": split,
        "quick": quick,
        "pool": len(pool),
        "target": len(target),
        "rows": rows,
        "early_stopping": [task.stopped(learned["all"].constraints, k) for k in STOPS],
        "certified": float(best.certified.mean()),
        "viterbi_runs": float(best.iterations.mean()),
        "labels": task.gains(best.labels),
        "rules": [rule.to_dict() for rule in learned["best"].rules],
        "seconds": time.perf_counter() - begun,
    }


def _corpora(data: Path, split: str, quick: bool) -> tuple[Corpus, Corpus]:
    """What is learned from and what is measured on."""
    train, dev, test = read_splits(data / FOLDER, ("train", "dev", "test"))
    pool, target = (train, dev) if split == "dev" else (Corpus.joined([train, dev]), test)
    if quick:
        return some(pool, QUICK_POOL), some(target, QUICK_TARGET)
    return pool, target


def _timed(learn: Callable[..., Learned], *given: Any) -> tuple[Learned, float]:
    begun = time.perf_counter()
    return learn(*given), time.perf_counter() - begun


@dataclass(frozen=True, eq=False)
class Task:
    """The target citations, with the scores of the one CRF."""

    labeller: SequenceLabeller
    corpus: Corpus
    gold: NDArray[np.int32]
    schema: Schema
    potentials: Potentials
    plain: NDArray[np.int32]  # [T], the best legal labels

    @classmethod
    def of(cls, labeller: SequenceLabeller, corpus: Corpus) -> Task:
        gold, schema = labeller.gold_ids(corpus)
        potentials = labeller.potentials(corpus)
        return cls(labeller, corpus, gold, schema, potentials, viterbi(potentials).labels)

    def without_legality(self) -> NDArray[np.int32]:
        """The best labels, legal or not."""
        free = self.labeller.with_constraints(None)
        free.legal = False
        return viterbi(free.potentials(self.corpus)).labels

    def decoded(self, rules: Sequence[Constraint]) -> Decodings:
        problems = Problems.of(self.potentials, self.labeller.schema_, rules, self.corpus)
        return decode_all(problems, threads=self.labeller.n_threads)

    def report(self, labels: NDArray[np.int32]) -> Report:
        return evaluate_ids(self.gold, labels, self.corpus.offsets, self.schema)

    def row(self, name: str, labels: NDArray[np.int32]) -> Result:
        """The scores of a row, and how likely chance alone gives as large a difference to legal Viterbi."""
        report = self.report(labels)
        offsets, schema = self.corpus.offsets, self.schema
        both = [sequence_counts(self.gold, ids, offsets, schema) for ids in (self.plain, labels)]
        against = compare_counts(*both)
        return {
            "constraints": name,
            "f1": report.span.total.f1,
            "leaf_f1": report.span_leaf.total.f1,
            "accuracy": report.accuracy,
            "count": 0,
            "zero": None,
            "p": None if name == "none" else against.p_value,
        }

    def soft_row(self, name: str, learned: Learned, seconds: float) -> Result:
        found = self.decoded(learned.constraints)
        return {
            **self.row(name, found.labels),
            "count": learned.judged,
            "zero": learned.zero,
            "candidates": learned.candidates,
            "certified": float(found.certified.mean()),
            "viterbi_runs": float(found.iterations.mean()),
            "seconds": seconds,
        }

    def hard_row(self, name: str, learned: Learned) -> Result:
        """The same rules as hard ones, also those whose penalty was learned to be 0; where they leave no
        labelling, the labels without rules stand."""
        found = self.decoded(
            [replace(r, penalty=HARD) for r in (*learned.constraints, *learned.without_penalty)]
        )
        labels = np.where(found.labels < 0, self.plain, found.labels)
        return {
            **self.row(name, labels),
            "count": learned.judged,
            "zero": 0.0,
            "infeasible": int(np.isneginf(found.scores).sum()),
        }

    def stopped(self, rules: Sequence[Constraint], iterations: int) -> Result:
        """Soft-DD, stopped after this number of Viterbi runs."""
        problems = Problems.of(self.potentials, self.labeller.schema_, rules, self.corpus)
        limits = Limits(iterations=iterations)
        found = decode_all(problems, Dual(width=0), limits=limits, threads=self.labeller.n_threads)
        return {
            "iterations": iterations,
            "f1": self.report(found.labels).span.total.f1,
            "converged": float(found.certified.mean()),
            "mean_iterations": float(found.iterations.mean()),
            "most_iterations": float(found.iterations.max()),
        }

    def gains(self, labels: NDArray[np.int32]) -> list[Result]:
        """The types of segments, those that gain most first."""
        both = RuleReport(self.report(self.plain), self.report(labels), None, (), 0, len(self.corpus))
        return [{**one._asdict(), "gain": one.gain} for one in both.labels if one.gain]


# ── for people ──────────────────────────────────────────────────────────────────────────────────

HEAD = [
    *("constraints", "paper F1", "F1", "leaf F1", "p", "paper number", "number", "paper zero", "zero"),
    *("certified", "Viterbi runs"),
]


def table(result: Result) -> list[list[str]]:
    """Table 1, the head first."""
    return [list(HEAD), *(_cells(row) for row in result["rows"])]


def _cells(row: Result) -> list[str]:
    f1, zero, number = PAPER.get(row["constraints"], (None, None, None))
    return [
        row["constraints"],
        "–" if f1 is None else f"{f1:.2f}",
        f"{100 * row['f1']:.2f}",
        f"{100 * row['leaf_f1']:.2f}",
        "–" if row["p"] is None else f"{row['p']:.3f}",
        "–" if number is None else str(number),
        str(row["count"]),
        *("–" if share is None else f"{100 * share:.0f} %" for share in (zero, row["zero"])),
        f"{100 * row['certified']:.1f} %" if "certified" in row else "–",
        f"{row['viterbi_runs']:.2f}" if "viterbi_runs" in row else "–",
    ]


def markdown(result: Result) -> str:
    """All three tables."""
    stops = [["iterations", "paper F1", "F1", "paper converged", "converged", "paper mean", "mean", "most"]]
    for stop in result["early_stopping"]:
        paper = PAPER_STOPS.get(stop["iterations"])
        shown = ["–"] * 3 if paper is None else [f"{x:.2f}" for x in paper]
        ours = [f"{100 * stop['f1']:.2f}", f"{100 * stop['converged']:.2f}", f"{stop['mean_iterations']:.2f}"]
        pairs = [cell for pair in zip(shown, ours, strict=True) for cell in pair]
        stops.append([str(stop["iterations"]), *pairs, f"{stop['most_iterations']:.0f}"])
    labels = [["label", "F1 without rules", "with the best", "segments"]]
    for one in result["labels"][:SHOWN_LABELS]:
        labels.append(
            [one["type"], f"{100 * one['before']:.1f}", f"{100 * one['after']:.1f}", str(one["support"])]
        )
    return "\n\n".join(
        [
            f"Pool: {result['pool']:,} citations; measured on {result['target']:,} of {result['split']}.",
            markdown_table(table(result)),
            "Soft-DD stopped early (row `all`):",
            markdown_table(stops),
            "Labels that gain most (row `best`):",
            markdown_table(labels),
        ]
    )
