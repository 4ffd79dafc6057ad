"""Trials of Fersini et al. 2014: one CRF, every method on its scores, rows of figures.

    train ─→ CRF ─→ scores of the target ───────────────────┐
      └─→ folds, scored without them ─→ chosen Method ──────┴─→ labels ─→ rows

A run by cross-validation is several trials, whose labels are pooled before they are scored.
"""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from conseq.constraints.base import HARD
from conseq.corpus import Corpus
from conseq.decoders.auto import decode_all
from conseq.decoders.ilp import ILP
from conseq.labeller import SequenceLabeller
from conseq.labeller.learning import cross_fitted, evidence_of
from conseq.metrics import Report, evaluate
from conseq.mining import Evidence
from conseq.problem import Problems, Status
from conseq.schema import OUTSIDE
from experiments.common import Result, Say, p_values
from experiments.soft_ilp_methods import (
    FIVE,
    METHODS,
    SOFT,
    VITERBI,
    Chooser,
    Families,
    Method,
    clause_rules,
)

FOLDS = 5
THREADS = 1
SAMPLE, QUICK_SAMPLE = 10, 3
"""Sequences that the plain integer program is timed on."""
SAME = 1e-6

Labels = list[list[str]]


@dataclass(frozen=True, eq=False)
class Trial:
    """Training data with scores of models that have not seen it, and sequences to be labelled."""

    chooser: Chooser
    target: Evidence

    @classmethod
    def of(cls, features: str, train: Corpus, target: Corpus) -> Trial:
        labeller = SequenceLabeller(features, n_jobs=THREADS).fit(train)
        return cls(Chooser(cross_fitted(labeller, train, FOLDS)), evidence_of(labeller, target))

    def labels(self, ids: Any) -> Labels:
        """Label ids of the target's tokens as a list per sequence."""
        return self.target.corpus.split(self.target.schema.decode(ids))


@dataclass
class Outcome:
    """What one method did in one or more trials."""

    methods: list[Method] = field(default_factory=list)
    labels: Labels = field(default_factory=list)
    certified: list[bool] = field(default_factory=list)
    choosing: float = 0.0
    labelling: float = 0.0

    def add(self, trial: Trial, name: str) -> None:
        """Choose the method on the evidence of a trial, and label its target."""
        begun = time.perf_counter()
        method = trial.chooser.choose(METHODS[name])
        chosen = time.perf_counter()
        found = method.decode(trial.target)
        self.choosing += chosen - begun
        self.labelling += time.perf_counter() - chosen
        self.methods.append(method)
        self.labels += trial.labels(found.labels)
        self.certified += found.certified.tolist()

    def choice(self) -> Result:
        """What was chosen: the mean and the median over trials, and each of them."""
        taus = [1.0 if m.inference == VITERBI else m.tau for m in self.methods]
        bands = [tau for tau in taus if tau is not None]
        return {
            "rules": statistics.fmean(len(m.rules) for m in self.methods),
            "tau": statistics.median(bands) if len(bands) == len(taus) else None,
            "inference": Counter(m.inference for m in self.methods).most_common(1)[0][0],
            "trials": [
                {"rules": len(m.rules), "tau": tau, "inference": m.inference, "prices": m.penalties}
                for m, tau in zip(self.methods, taus, strict=True)
            ],
        }


@dataclass
class Study:
    """The trials of one data set with one kind of features."""

    features: str
    trials: list[Trial]
    outcomes: dict[str, Outcome] = field(default_factory=dict)

    def run(self, say: Say) -> list[Result]:
        """Every method in every trial; a row for each."""
        for name in METHODS:
            outcome = self.outcomes.setdefault(name, Outcome())
            for trial in self.trials:
                outcome.add(trial, name)
            say(f"{self.features}, {name}: {outcome.choosing:.1f} s to choose")
        gold = [labels for trial in self.trials for labels in trial.labels(trial.target.gold)]
        return [self._row(name, outcome, gold) for name, outcome in self.outcomes.items()]

    def _row(self, name: str, outcome: Outcome, gold: Labels) -> Result:
        scheme = self.trials[0].target.schema.scheme
        report = evaluate(gold, outcome.labels, scheme)
        base = self.outcomes[VITERBI].labels
        p = None if name == VITERBI else p_values(gold, base, outcome.labels, scheme)
        return {
            "features": self.features,
            "method": name,
            **figures(report, gold, outcome.labels),
            **outcome.choice(),
            "certified": float(np.mean(outcome.certified)),
            "p": p and p["accuracy"],
            "p_span_f1": p and p["span_f1"],
            "seconds": outcome.labelling,
            "seconds_choosing": outcome.choosing,
        }


def figures(report: Report, gold: Labels, predicted: Labels) -> Result:
    """Accuracy, and the scores of tokens; with O also the accuracy without tokens that are O in both."""
    result = {"accuracy": report.accuracy, "span_f1": report.span.total.f1, **report.token.to_dict()}
    if any(OUTSIDE in labels for labels in gold):
        result["accuracy_not_o"] = accuracy_not_o(gold, predicted)
    return result


def accuracy_not_o(gold: Labels, predicted: Labels) -> float:
    """The share of right tokens among those that are not O in the gold labels or the predicted ones.

    >>> accuracy_not_o([["O", "B-x", "O", "B-x"]], [["O", "B-x", "B-x", "O"]])
    0.3333333333333333
    """
    pairs = [pair for g, p in zip(gold, predicted, strict=True) for pair in zip(g, p, strict=True)]
    counted = [a == b for a, b in pairs if not a == b == OUTSIDE]
    return sum(counted) / max(1, len(counted))


# ── beside the rows ─────────────────────────────────────────────────────────────────────────────


def clause_report(evidence: Evidence) -> Result:
    """The rules that clauses gave, and how many of them, and of the rules of the families, are in both."""
    clauses = {replace(mined.rule, penalty=HARD): mined.family for mined in clause_rules(evidence)}
    families = {replace(c.rule, penalty=HARD) for c in Families(FIVE).candidates(evidence)}
    return {
        "rules": len(clauses),
        "by_family": dict(Counter(clauses.values())),
        "families": len(families),
        "both": len(families & clauses.keys()),
    }


def ilp_report(studies: Sequence[Study], sequences: int = SAMPLE) -> Result | None:
    """Milliseconds a sequence of the plain integer program and of `auto`, under the same soft rules."""
    found = [
        (trial, method)
        for study in studies
        for name, outcome in study.outcomes.items()
        for trial, method in zip(study.trials, outcome.methods, strict=True)
        if name in ("all", "learned") and method.inference == SOFT
    ]
    if not found:
        return None
    trial, method = found[-1]
    part = trial.target.select(np.linspace(0, len(trial.target) - 1, sequences).astype(np.int64))
    problems = Problems.of(part.potentials, part.schema, method.rules, part.corpus)
    decode_all(problems)  # what is kept about rules between calls is made here
    begun = time.perf_counter()
    quick = decode_all(problems)
    between = time.perf_counter()
    slow = [ILP(prune=False).decode(problem) for problem in problems]
    ended = time.perf_counter()
    auto, ilp = (1000 * s / len(part) for s in (between - begun, ended - between))
    optimal = all(one.certificate.status is Status.OPTIMAL for one in slow)
    gaps = [abs(a - b.score) <= SAME * (1 + abs(b.score)) for a, b in zip(quick.scores, slow, strict=True)]
    return {
        "sequences": len(part),
        "rules": len(method.rules),
        "milliseconds": {"ilp": ilp, "auto": auto},
        "ratio": ilp / auto,
        "same_scores": bool(all(gaps) and optimal),
    }
