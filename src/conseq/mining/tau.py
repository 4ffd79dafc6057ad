"""How far below the best score two-stage inference may go, chosen on evidence (Fersini et al. 2014).

Evidence, rules ─→ labels for each τ of a grid ─→ the τ whose labels score best
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from conseq.constraints.base import Constraint
from conseq.decoders.auto import decode_all
from conseq.decoders.twostage import TwoStage
from conseq.metrics import score_ids
from conseq.mining.evidence import LIMITS, Evidence
from conseq.problem import Problems

GRID = (1.0, 0.999, 0.998, 0.995, 0.99, 0.98, 0.95, 0.9)
"""From Viterbi's labels alone to a wide band below their score."""


def choose_tau(
    evidence: Evidence,
    rules: Sequence[Constraint],
    *,
    grid: Sequence[float] = GRID,
    metric: str = "span_f1",
    watch: Callable[[float, float], None] = lambda _tau, _score: None,
) -> float:
    """The τ with the best score, of equal ones the highest; `watch` is told each τ and its score.

    Sequences whose labels break no rule stay as they are for every τ, so only the others are decoded.
    """
    touched = (evidence.broken_by_model(rules) > 0).any(axis=1)
    part, tokens = evidence.select(np.flatnonzero(touched)), np.repeat(touched, evidence.corpus.lengths)
    problems = Problems.of(part.potentials, part.schema, rules, part.corpus)
    best, chosen = -1.0, 1.0
    for tau in sorted(grid, reverse=True):
        labels = evidence.predicted.copy()
        if tau < 1 and len(part):
            decoder = TwoStage(tau, "search")  # the integer program would take long where rules interact
            found = decode_all(problems, decoder, limits=LIMITS, threads=evidence.threads).labels
            labels[tokens] = np.where(found < 0, labels[tokens], found)
        score = score_ids(evidence.gold, labels, evidence.corpus.offsets, evidence.schema, metric)
        watch(tau, score)
        if score > best:
            best, chosen = score, tau
    return chosen
