"""Variables and rows over their indicators, from the definitions: dicts, loops, every answer tried."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np

from conseq.kernels.indicators import Rows, Variables


def random_rows(seed: int, most_variables: int = 4) -> tuple[Variables, Rows]:
    """Few variables and groups of rows, hard and soft, some charged together; weights may be fractions."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 4, rng.integers(1, most_variables + 1))
    starts = np.append(0, np.cumsum(sizes)).astype(np.int64)
    gains = np.round(rng.normal(0, 2, starts[-1]), int(rng.integers(0, 3)))
    if rng.random() < 0.3:
        gains[rng.random(len(gains)) < 0.2] = -np.inf
    n_groups, n_rows = int(rng.integers(1, 4)), int(rng.integers(0, 6))
    first, indicator = [0], []
    for _ in range(n_rows):
        indicator += sorted(rng.permutation(starts[-1])[: rng.integers(1, 5)].tolist())
        first.append(len(indicator))
    rows = Rows(
        np.array(first, dtype=np.int64),
        np.array(indicator, dtype=np.int64),
        rng.choice([-2.0, -1.0, 1.0, 1.0, 1.0, 2.0, 0.5, 0.0], len(indicator)),
        rng.integers(-1, 3, n_rows).astype(float),
        rng.integers(0, n_groups, n_rows),
        rng.choice([np.inf, 0.0, 0.5, 1.7, 3.0], n_groups),
        rng.integers(0, 2, n_groups),
    )
    return Variables(starts, np.repeat(np.arange(len(sizes)), sizes), gains), rows


def beyond(rows: Rows, k: int, values: np.ndarray) -> float:
    """How far a row is beyond its bound."""
    entries = range(rows.first[k], rows.first[k + 1])
    return sum(rows.weight[e] for e in entries if rows.indicator[e] in values) - rows.bound[k]


def score(variables: Variables, rows: Rows, values: np.ndarray, counted: set[int] | None = None) -> float:
    """Gains less penalties, of all rows or only of those that count."""
    total = float(variables.gains[values].sum())
    for g, penalty in enumerate(rows.penalty):
        own = [k for k in range(len(rows.bound)) if rows.group[k] == g and (counted is None or k in counted)]
        amounts = [max(0.0, beyond(rows, k, values)) for k in own]
        amount = max(amounts, default=0.0) if rows.together[g] else sum(amounts)
        total -= penalty * amount if amount > 0 else 0.0
    return total


def answers(variables: Variables) -> list[np.ndarray]:
    """Every choice of an indicator for each variable."""
    return [np.array(one) for one in product(*(range(a, b) for a, b in pairwise(variables.starts.tolist())))]


def best(variables: Variables, rows: Rows, counted: set[int] | None = None) -> float:
    return max(score(variables, rows, values, counted) for values in answers(variables))


def groups_of_variables(variables: Variables, rows: Rows, active: set[int]) -> list[set[int]]:
    """The variables in sets that the active rows connect; rows charged together connect, too."""
    links = []
    for k in active:
        entries = range(rows.first[k], rows.first[k + 1])
        links.append({int(variables.owner[rows.indicator[e]]) for e in entries})
    for g in np.flatnonzero(rows.together):
        links.append(
            set().union(*(link for k, link in zip(active, links, strict=False) if rows.group[k] == g))
        )
    sets = [{v} for v in range(len(variables.starts) - 1)]
    for link in links:
        touched = [one for one in sets if one & link]
        sets = [one for one in sets if not one & link] + ([set().union(*touched)] if touched else [])
    return sorted(sets, key=min)
