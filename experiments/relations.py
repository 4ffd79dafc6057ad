"""Roth and Yih 2004: entities and relations decided together (tables 2 and 3, forced decisions, quality).

    conll04 ─→ 5 folds, same sentences in one ─→ classifiers, trained apart ─→ approaches ─→ F1, quality
    train, dev ─→ boundaries, types and relations in one problem ─→ target (relations_end_to_end.py)

Split `test`: cross-validation over all 1,441 sentences, as in the paper, and end to end on the 288 test
sentences. Split `dev`: the same without the test sentences; options were chosen there.

    basic         each variable for itself
    pipeline      the classifier of relations sees predicted types
    joint         both together, under all rules that the training data shows
    omniscient    each classifier sees the truth of the other's variables

`variants` has what lies between: a bonus for relations alone, the paper's constraints alone, other learners.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from conseq.dtypes import Ints
from conseq.entities import Sentence, Types, types_of
from conseq.io.sentences import read_sentences
from conseq.metrics.counts import Counts
from conseq.relations.learning import folds_of
from conseq.relations.mentions import Gold, Mentions
from experiments.common import Result, Say, markdown_table, percent
from experiments.machine import describe
from experiments.relations_end_to_end import end_to_end
from experiments.relations_trials import FORCED, Fold, Found, Part, proofs, solve_from_scratch, solved, times

FOLDER = "conll04"
FOLDS, QUICK_FOLDS, QUICK_SENTENCES, INNER = 5, 2, 300, 5
SCRATCH = 200
"""Sentences of which a program is built and solved from scratch."""

ENTITIES = {"person": "Peop", "organization": "Org", "location": "Loc"}
RELATIONS = {
    "located_in": "Located_In",
    "work_for": "Work_For",
    "orgbased_in": "OrgBased_In",
    "live_in": "Live_In",
    "kill": "Kill",
}
"""The paper's names ─→ those of the data."""
PAPER = {
    "basic": (89.3, 89.1, 77.9, 48.2, 46.4, 50.6, 48.3, 77.6),
    "pipeline": (89.3, 89.1, 77.9, 51.4, 47.5, 49.9, 50.6, 79.6),
    "joint": (90.2, 90.1, 80.1, 56.2, 52.0, 51.7, 51.6, 81.7),
    "omniscient": (94.2, 94.4, 90.8, 58.9, 58.4, 60.7, 58.8, 78.2),
}
"""F1 of the entities, then of the relations."""
PAPER_FORCED = 86.2


def run(*, data: Path, split: str = "test", quick: bool = False, say: Say = print) -> Result:
    """Cross-validation with boundaries given, proofs and times, and end to end."""
    begun = time.perf_counter()
    train, dev, test = (
        read_sentences(Path(data) / FOLDER / f"{name}.jsonl") for name in ("train", "dev", "test")
    )
    everything = [*train, *dev, *test] if split == "test" else [*train, *dev]
    if quick:
        everything = everything[:: max(1, len(everything) // QUICK_SENTENCES)]
    found = _cross_validated(everything, quick, say)
    pool, target = ([*train, *dev], test) if split == "test" else (train, dev)
    if quick:
        pool, target = pool[::4], target[::4]
    say("end to end")
    return {
        "machine": describe(),
        "split": split,
        "quick": quick,
        "sentences": len(everything),
        **found,
        "end_to_end": end_to_end(pool, target, quick),
        "seconds": time.perf_counter() - begun,
    }


# ── boundaries given ────────────────────────────────────────────────────────────────────────────


def _cross_validated(sentences: Sequence[Sentence], quick: bool, say: Say) -> Result:
    types = types_of(sentences)
    numbers = folds_of(sentences, QUICK_FOLDS if quick else FOLDS)
    tally = _Tally(types)
    shares: dict[str, list[Any]] = {}
    each, scratch, sames = [], [], []
    for k in range(int(numbers.max()) + 1):
        begun = time.perf_counter()
        rest, own = (np.flatnonzero(mask).tolist() for mask in (numbers != k, numbers == k))
        train, test = (Part([sentences[i] for i in part], types, "full") for part in (rest, own))
        fold = Fold(train, test, 2 if quick else INNER)
        _approaches(fold, tally, quick)
        paper = fold.paper
        for given, under in ((paper, ""), (fold.joint, "_all_rules")):
            for name, found in proofs(given).items():
                shares.setdefault(f"{name}{under}", []).extend(found)
        some = paper[:: max(1, FOLDS * len(paper) // SCRATCH)]
        solve_from_scratch(some[0])
        each.append(times(paper, lambda problem: problem.solve()))
        sames.append(times(some, lambda problem: problem.solve()))
        scratch.append(times(some, solve_from_scratch))
        say(f"fold {k}: {time.perf_counter() - begun:.0f} s")
    milliseconds = np.concatenate(each)
    return {
        "approaches": {name: tally.report(name) for name in PAPER},
        "variants": {
            name: tally.report(name) for name in tally.found if name not in PAPER and "/" not in name
        },
        **{f"forced{under}": _forced(tally, under) for under in ("", "_all_rules")},
        **{name: float(np.mean(found)) for name, found in shares.items()},
        "milliseconds": {
            "median": float(np.median(milliseconds)),
            "p99": float(np.percentile(milliseconds, 99)),
        },
        "speedup_over_milp": float(np.concatenate(scratch).sum() / np.concatenate(sames).sum()),
    }


def _forced(tally: _Tally, under: str) -> Result:
    """F1 of each relation, free and forced."""
    return {
        name: {how: tally.f1(f"{own}/{how}{under}", own) for how in FORCED} for name, own in RELATIONS.items()
    }


def _approaches(fold: Fold, tally: _Tally, quick: bool) -> None:
    """Every approach on the test sentences of a fold."""
    tally.begin(fold.test.mentions, fold.test.gold)
    tally.add("basic", fold.apart())
    tally.add("basic, bonus", fold.apart(weights=fold.bonus(fold.crossed, ())))
    for name, found in zip(
        ("pipeline", "pipeline, bonus", "pipeline, true types"), fold.pipeline(), strict=True
    ):
        tally.add(name, found)
    tally.add("joint, paper's constraints", solved(fold.paper))
    weights = fold.bonus(fold.crossed, fold.signatures)
    tally.add(
        "joint, paper's constraints, bonus", solved(fold.test.problems(fold.scores, fold.signatures, weights))
    )
    tally.add("joint", solved(fold.joint))
    tally.add("omniscient", fold.omniscient())
    for own in RELATIONS.values():
        for given, under in ((fold.paper, ""), (fold.joint, "_all_rules")):
            for how, found in fold.forced(own, given).items():
                tally.add(f"{own}/{how}{under}", found)
    if quick:
        return
    for learner in ("perceptron", "svm"):
        tally.add(f"joint, penalties by {learner}", fold.by_learner(learner))
    winnow = Fold(fold.train, fold.test, fold.folds, "winnow")
    tally.add("basic, Winnow", winnow.apart())
    tally.add("joint, Winnow", solved(winnow.joint))
    parts = [Part(part.sentences, part.types, "paper") for part in (fold.train, fold.test)]
    paper = Fold(parts[0], parts[1], fold.folds)
    tally.add("basic, paper's features", paper.apart())
    tally.add("joint, paper's features", solved(paper.joint))


class _Tally:
    """What approaches found, fold after fold, beside what is right."""

    def __init__(self, types: Types) -> None:
        self.types = types
        self.gold: list[tuple[Ints, Ints]] = []
        self.ends: list[Ints] = []  # of each fold's pairs, among all entities
        self.found: dict[str, list[Found]] = {}
        self.entities = 0

    def begin(self, mentions: Mentions, gold: Gold) -> None:
        self.gold.append((gold.entities, gold.relations))
        self.ends.append(mentions.pairs + self.entities)
        self.entities += len(gold.entities)

    def add(self, name: str, found: Found) -> None:
        self.found.setdefault(name, []).append(found)

    def _both(self, name: str) -> tuple[tuple[Ints, Ints], tuple[Ints, Ints]]:
        """Types and relations, right and found."""
        kinds, relations = zip(*self.gold, strict=True)
        own = self.found[name]
        return (np.concatenate(kinds), np.concatenate([one.kinds for one in own])), (
            np.concatenate(relations),
            np.concatenate([one.relations for one in own]),
        )

    def f1(self, name: str, relation: str) -> float:
        """Of a relation, among the pairs that were decided."""
        _, (right, found) = self._both(name)
        decided = found >= 0
        return float(_score(right[decided], found[decided], self.types.relations.index(relation) + 1)["f1"])

    def report(self, name: str) -> Result:
        """Precision, recall and F1 of each type, their mean F1, quality, share of incoherent relations."""
        (kinds, kinds_found), (right, found) = self._both(name)
        entities = {
            called: _score(kinds, kinds_found, self.types.entities.index(own))
            for called, own in ENTITIES.items()
        }
        relations = {
            called: _score(right, found, self.types.relations.index(own) + 1)
            for called, own in RELATIONS.items()
        }
        ends = np.concatenate(self.ends)
        active = found > 0
        correct = active & (found == right)
        fitting = (kinds_found == kinds)[ends].all(axis=1)
        misfits = self._misfits(kinds_found, found, ends)[active]
        return {
            "entities": {**entities, "macro_f1": _mean(entities)},
            "relations": {**relations, "macro_f1": _mean(relations)},
            "quality": float((correct & fitting).sum() / max(1, correct.sum())),
            "incoherent": float(misfits.mean()) if len(misfits) else 0.0,
        }

    def _misfits(self, kinds: Ints, relations: Ints, ends: Ints) -> Ints:
        """1 for pairs whose types the gold data never shows with their relation, 0 for others, [P]."""
        (gold_kinds, _), (gold, _) = self._both("basic")
        known = set(zip(gold.tolist(), *gold_kinds[ends].T.tolist(), strict=True))
        shown = zip(relations.tolist(), *kinds[ends].T.tolist(), strict=True)
        return np.array([triple[0] > 0 and triple not in known for triple in shown], dtype=np.int64)


def _score(gold: Ints, found: Ints, number: int) -> dict[str, float]:
    there, said = gold == number, found == number
    counts = Counts(int((there & said).sum()), int(said.sum()), int(there.sum()))
    return {"precision": counts.fractions.precision, "recall": counts.fractions.recall, "f1": counts.f1}


def _mean(scores: dict[str, dict[str, float]]) -> float:
    return float(np.mean([one["f1"] for one in scores.values()]))


# ── for people ──────────────────────────────────────────────────────────────────────────────────

PROOFS = {
    "certified": "certified optimal, %",
    "as_highs": "same score as HiGHS, %",
    "integral": "relaxation integral, %",
    "rounding_legal": "rounding the relaxation is legal, %",
}
"""Share ─→ how it is shown."""
HEAD = ["approach", *ENTITIES, "entities", *RELATIONS, "relations", "quality", "incoherent"]


def table(result: Result) -> list[list[str]]:
    """F1 of every approach, the paper's below ours, the head first."""
    rows = [list(HEAD)]
    for name, report in {**result["approaches"], **result["variants"]}.items():
        rows.append(_row(name, report))
        if name in PAPER:
            rows.append(_paper_row(name))
    return rows


def _row(name: str, report: Result) -> list[str]:
    cells = [name]
    for part, columns in (("entities", ENTITIES), ("relations", RELATIONS)):
        cells += [percent(report[part][column]["f1"], 1) for column in columns]
        cells.append(percent(report[part]["macro_f1"], 1))
    return [*cells, percent(report["quality"], 1), percent(report["incoherent"], 1)]


def _paper_row(name: str) -> list[str]:
    figures = PAPER[name]
    first, second = figures[: len(ENTITIES)], figures[len(ENTITIES) :]
    cells = [*first, float(np.mean(first)), *second, float(np.mean(second))]
    quality = "100" if name == "joint" else "–"
    return [f"{name}, paper", *(f"{cell:.1f}" for cell in cells), quality, "–"]


def markdown(result: Result) -> str:
    """All tables."""
    ends = result["end_to_end"]
    return "\n\n".join(
        [
            f"Cross-validation over {result['sentences']:,} sentences, boundaries given; F1 in per cent.",
            markdown_table(table(result)),
            "Forced decisions: F1 of a relation in the sentences that have it.",
            markdown_table(_forced_table(result)),
            "The decisions under the paper's constraints and under all rules:",
            markdown_table(_facts(result)),
            f"End to end, {ends['trained_on']:,} sentences for training and {ends['sentences']:,} to label:",
            markdown_table(_ends_table(ends)),
        ]
    )


def _forced_table(result: Result) -> list[list[str]]:
    ways = ("free", "exactly 1", "at least 1")
    rows = [["relation", "paper", *ways, *(f"all rules, {way}" for way in ways)]]
    for name in RELATIONS:
        under = [result[part][name] for part in ("forced", "forced_all_rules")]
        cells = [percent(scores[how], 1) for scores in under for how in FORCED]
        rows.append([name, f"{PAPER_FORCED}" if name == "kill" else "–", *cells])
    return rows


def _facts(result: Result) -> list[list[str]]:
    rows = [["figure", "paper's constraints", "all rules"]]
    for name, says in PROOFS.items():
        rows.append([says, *(percent(result[f"{name}{under}"]) for under in ("", "_all_rules"))])
    took = result["milliseconds"]
    rows.append(["milliseconds a sentence, median", f"{took['median']:.3f}", "–"])
    rows.append(["milliseconds a sentence, 99th percentile", f"{took['p99']:.3f}", "–"])
    rows.append(["times faster than a MILP from scratch", f"{result['speedup_over_milp']:.0f}", "–"])
    return rows


def _ends_table(ends: Result) -> list[list[str]]:
    rows = [["what", "strict F1"]]
    for part, types in (("entity_f1", "entities"), ("relation_f1", "relations")):
        rows.append([f"{types}, all", percent(ends[part], 1)])
        rows += [[name, percent(f1, 1)] for name, f1 in ends[types].items()]
    rows.append(["incoherent relations, %", percent(ends["incoherent"], 1)])
    rows.append(["certified optimal, %", percent(ends["certified"], 1)])
    rows.append(["milliseconds a sentence", f"{ends['milliseconds']:.1f}"])
    return rows
