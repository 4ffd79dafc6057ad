"""The reference for what sums of counters and automata charge, and random ones.

Of conseq there are only the types that hold the arrays; nothing here calls its code.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from conseq.kernels.violations import Sums

INF = np.inf


# ── counters and sums ───────────────────────────────────────────────────────────────────────────


def random_amounts(rng: np.random.Generator, n_edges: int, counters: int) -> np.ndarray:
    """What each edge adds to each counter, [E,R]: often nothing, never less."""
    amounts = np.zeros((n_edges, counters), dtype=np.int64)
    for place in np.ndindex(amounts.shape):
        if rng.random() < 0.4:
            amounts[place] = rng.integers(1, 3)
    return amounts


def random_sums(rng: np.random.Generator, counters: int) -> Sums:
    """Up to three sums; limits[K,5]: limit, penalty, multiplier (0), may rise, may fall."""
    rows, terms, limits = [0], [], []
    for _ in range(rng.integers(0, 4) if counters else 0):
        used = rng.permutation(counters)[: rng.integers(1, counters + 1)]
        weights = rng.choice([-2, -1, 1, 1, 2], len(used))
        terms += list(zip(weights.tolist(), used.tolist(), strict=True))
        rows.append(len(terms))
        penalty = float(rng.choice([0.0, 0.7, 2.0, 2.0, 1e6, INF]))
        limit = float(rng.choice([-1.0, 0.0, 0.4, 1.0, 2.0]))
        limits.append([limit, penalty, 0.0, (weights > 0).any(), (weights < 0).any()])
    return Sums(
        np.array(rows),
        np.array(terms, dtype=np.int64).reshape(-1, 2),
        np.array(limits, dtype=np.float64).reshape(-1, 5),
    )


def random_multipliers(rng: np.random.Generator, sums: Sums) -> np.ndarray:
    """Between 0 and the penalties; in some cases all 0."""
    return np.minimum(rng.exponential(1, len(sums.limits)), sums.limits[:, 1]) * (rng.random() < 0.6)


def totals(path: list[int], amounts: np.ndarray, sums: Sums) -> np.ndarray:
    """The sums along the edges of a path, [K]."""
    return weighted(sums, dict(enumerate(amounts[path].sum(axis=0).tolist())))


def weighted(sums: Sums, counts: dict[int, int]) -> np.ndarray:
    """Σ coefficient · count of each sum, [K]."""
    terms = sums.terms.tolist()
    rows = pairwise(sums.rows.tolist())
    return np.array([sum(w * counts.get(c, 0) for w, c in terms[a:b]) for a, b in rows], dtype=float)


def charged(x: np.ndarray, sums: Sums) -> float:
    """Σ penalty · violation of sums that come out as x."""
    cost = 0.0
    for value, (limit, penalty, *_) in zip(x.tolist(), sums.limits.tolist(), strict=True):
        if value > limit and penalty > 0:
            cost += penalty * (value - limit)
    return cost


# ── automata ────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Automaton:
    """What costs is penalty · cost."""

    arcs: np.ndarray  # [Q,A]
    cost: np.ndarray  # [Q,A]
    start: int
    penalty: float

    @property
    def charges(self) -> np.ndarray:
        """penalty · cost, where 0 · inf is 0, [Q,A]."""
        charges = np.zeros(self.cost.shape)
        paid = self.cost > 0
        charges[paid] = self.penalty * self.cost[paid]
        return charges

    def charged(self, symbols: list[int], state: int | None = None) -> float:
        """What is charged for symbols that are read from a state on."""
        state, total, charges = self.start if state is None else state, 0.0, self.charges
        for symbol in symbols:
            total += float(charges[state, symbol])
            state = int(self.arcs[state, symbol])
        return total

    def after(self, symbols: list[int], state: int) -> int:
        for symbol in symbols:
            state = int(self.arcs[state, symbol])
        return state


def random_automaton(rng: np.random.Generator, n_symbols: int = 3) -> Automaton:
    """Up to four states; costs are whole numbers, so that equal sums are equal to the last bit."""
    shape = int(rng.integers(1, 5)), n_symbols
    cost = rng.integers(0, 3, shape) * (rng.random(shape) < 0.4).astype(float)
    penalty = float(rng.choice([0.5, 0.5, 1.5, 1.5, 2.0**20, INF]))
    return Automaton(rng.integers(0, shape[0], shape), cost, int(rng.integers(shape[0])), penalty)
