"""How sure a score is.  tallies per sequence [N, 3] → sums over samples [S, 3] → interval, p-value.

Sequences are drawn with replacement (Efron and Tibshirani 1993).  Two systems are compared on the same
draws (Berg-Kirkpatrick et al. 2012), here in both directions: with d the difference
observed and d_s the one in sample s,

    p = (1 + #{s : |d_s − d| ≥ |d|}) / (1 + S)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from conseq.dtypes import Floats, Ints
from conseq.errors import DataError
from conseq.metrics.counts import Labellings, encode_all
from conseq.schema import AUTO, Schema, Scheme

BATCH = 1_000_000
"""Draws held in memory at a time."""

MOST_SAMPLES = 1_000_000
"""Samples that may be asked for; the interval hardly changes from some thousands on."""


class Interval(NamedTuple):
    """The ends of a confidence interval."""

    low: float
    high: float


@dataclass(frozen=True)
class Comparison:
    """Two systems' scores, second − first, and how likely chance alone gives as large a difference."""

    first: float
    second: float
    difference: float
    p_value: float
    interval: Interval  # of the difference, 95 %


def bootstrap(
    gold: Labellings,
    predicted: Labellings,
    scheme: Schema | Scheme | str = AUTO,
    *,
    samples: int = 1000,
    seed: int = 0,
    metric: str = "span_f1",
    level: float = 0.95,
) -> Interval:
    """The percentile interval of a metric (see METRICS) over resampled sequences.

    >>> gold = [["B-x", "O"], ["O", "B-x"], ["B-x", "I-x"]]
    >>> bootstrap(gold, gold)
    Interval(low=1.0, high=1.0)
    """
    (counts,) = encode_all(gold, predicted, scheme=scheme).counts(metric)
    values = f1_of(resample(counts, samples, seed))
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return Interval(low, high)


def paired_bootstrap(
    gold: Labellings,
    first: Labellings,
    second: Labellings,
    scheme: Schema | Scheme | str = AUTO,
    *,
    samples: int = 1000,
    seed: int = 0,
    metric: str = "span_f1",
) -> Comparison:
    """Compare two systems on the same sequences; a small p-value says the difference is no accident."""
    one, other = encode_all(gold, first, second, scheme=scheme).counts(metric)
    return compare_counts(one, other, samples=samples, seed=seed)


def compare_counts(first: Ints, second: Ints, *, samples: int = 1000, seed: int = 0) -> Comparison:
    """The same for the tallies of two systems, [N, 3]: correct, predicted and gold things of each unit."""
    a, b = (float(f1_of(counts.sum(axis=0))) for counts in (first, second))
    sums = resample(np.hstack([first, second]), samples, seed)
    drawn = f1_of(sums[:, 3:]) - f1_of(sums[:, :3])
    extreme = np.count_nonzero(np.abs(drawn - (b - a)) >= abs(b - a))
    low, high = np.quantile(drawn, [0.025, 0.975]).tolist()
    return Comparison(a, b, b - a, float((1 + extreme) / (1 + samples)), Interval(low, high))


def f1_of(sums: NDArray) -> Floats:
    """2·correct / (predicted + gold) of tallies [..., 3], 0 where both are 0."""
    whole = sums[..., 1] + sums[..., 2]
    return np.divide(2.0 * sums[..., 0], whole, out=np.zeros(whole.shape), where=whole > 0)


def resample(counts: Ints, samples: int, seed: int) -> Floats:
    """Sums of the tallies [N, K] over N sequences drawn with replacement, [samples, K]."""
    if not len(counts) or samples < 1:
        raise DataError(
            f"{len(counts)} sequences and {samples} samples leave nothing to draw; give at least one of each"
        )
    if samples > MOST_SAMPLES:
        raise DataError(f"{samples} samples are too many; ask for at most {MOST_SAMPLES:,}")
    rng = np.random.default_rng(seed)
    tallies = counts.astype(np.float64)
    return np.concatenate([times @ tallies for times in _draw(rng, samples, len(counts))])


def _draw(rng: np.random.Generator, samples: int, n: int) -> Iterator[Floats]:
    """How often each of n sequences is drawn, in batches of samples, [≤ BATCH/n, n]."""
    step = max(1, BATCH // n)
    for begin in range(0, samples, step):
        rows = min(step, samples - begin)
        drawn = rng.integers(0, n, size=(rows, n)) + np.arange(rows)[:, None] * n
        yield np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)
