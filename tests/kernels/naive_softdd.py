"""The reference for `kernels/softdd.py`: the effects of counters by their tables, and dual values by all
labellings."""

from __future__ import annotations

import naive
import naive_primitives
import naive_violations
import numpy as np

from conseq.kernels.softdd import Effects
from conseq.kernels.violations import Sums


def effects_of(tables: list[np.ndarray], possible: np.ndarray, biased: bool) -> Effects:
    """What says the same as the counters' tables [S+1,S+1] on possible steps.

    With `biased` what every possible step into a state counts is taken as its bias.
    """
    size = len(possible) - 1
    bias, first, steps, amounts = np.zeros((len(tables), size)), [0], [], []
    for j, table in enumerate(tables):
        for before, after in np.ndindex(size + 1, size + 1):
            if biased and after < size:
                into = [table[i, after] for i in range(size + 1) if possible[i, after]]
                bias[j, after] = min(into, default=0)
            off = table[before, after] - (bias[j, after] if after < size else 0)
            if possible[before, after] and off:
                steps.append(before * (size + 1) + after)
                amounts.append(float(off))
        first.append(len(steps))
    return Effects(bias, np.array(first), np.array(steps, dtype=np.int64), np.array(amounts, dtype=float))


def dual_value(chain: naive.Chain, label_of, tables, sums: Sums, limits, multipliers) -> float:
    """D(λ) = max_y (score(y) − Σ λ·x(y)) + Σ λ·limit over all labellings; the counters look at no tokens."""
    shifted = [
        score - multipliers @ path_totals(path, label_of, tables, sums)
        for score, path in naive.labellings(chain)
    ]
    return max(shifted, default=-np.inf) + float(multipliers @ limits)


def path_totals(path, label_of, tables, sums: Sums) -> np.ndarray:
    """The sums of a labelling given by states, [K]."""
    size = len(tables[0]) if tables else 0
    steps = naive_violations.steps_of([label_of[s] for s in path], size)
    return naive_primitives.weighted(
        sums, {j: sum(int(table[step]) for step in steps) for j, table in enumerate(tables)}
    )
