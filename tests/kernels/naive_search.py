"""Plain twins of the search kernels (band, tighten, unfold, softdd), and random inputs for them.

A *way* is a list of edges from the root (−1) to the sink; everything is tried on all ways. Nothing here calls
conseq; `naive.py` has the chains and their labellings.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import naive
import naive_tally
import numpy as np

INF = np.inf


# ── the chain ───────────────────────────────────────────────────────────────────────────────────


def one_chain(seed: int, least: int = 1) -> naive.Chain:
    """A chain of at least so many tokens."""
    number = 10_000 * seed
    while True:
        for chain in naive.random_chains(number):
            if len(chain.unary) >= least and naive.labellings(chain):
                return chain
        number += 1


def beyond(chain: naive.Chain) -> np.ndarray:
    """best[L,S]: the most that labels after a token can add."""
    length, size = chain.unary.shape
    best = np.empty((length, size))
    best[-1] = chain.end
    for t in range(length - 2, -1, -1):
        step = chain.pairwise[chain.kind[t + 1]]
        for s in range(size):
            best[t, s] = max(step[s, j] + chain.unary[t + 1, j] + best[t + 1, j] for j in range(size))
    return best


def edges_through(chain: naive.Chain, floor: float) -> dict[tuple[int, int, int], float]:
    """The steps (t, state before, state) of the labellings of at least the floor, and what each adds; −1 is
    START and END."""
    found = {}
    for score, path in naive.labellings(chain):
        if score >= floor:
            for t, (before, after) in enumerate(pairwise((-1, *path, -1))):
                found[t, before, after] = step_gain(chain, t, before, after)
    return found


def step_gain(chain: naive.Chain, t: int, before: int, after: int) -> float:
    if after < 0:
        return float(chain.end[before])
    step = chain.start[after] if before < 0 else chain.pairwise[chain.kind[t], before, after]
    return float(step) + float(chain.unary[t, after])


def floor_between(rng: np.random.Generator, scores: list[float]) -> float:
    """A floor halfway between two scores, so that rounding decides nothing; or below all."""
    distinct = sorted({round(score, 6) for score in scores})
    i = int(rng.integers(len(distinct)))
    return distinct[0] - 1 if i == 0 else (distinct[i - 1] + distinct[i]) / 2


# ── graphs, and what is read on their edges ─────────────────────────────────────────────────────


@dataclass
class Graph:
    """Nodes level by level as in `kernels/band.py`; dead ends occur."""

    levels: np.ndarray
    first: np.ndarray
    targets: np.ndarray
    gains: np.ndarray

    @property
    def n_nodes(self) -> int:
        return int(self.levels[-1])

    @property
    def length(self) -> int:
        return len(self.levels) - 1

    def ways(self) -> list[list[int]]:
        """The edges of every way from the root to the sink."""
        found, open_ = [], [(-1, [])]
        while open_:
            source, edges = open_.pop()
            if source == self.n_nodes:
                found.append(edges)
                continue
            for e in range(self.first[source + 1], self.first[source + 2]):
                open_.append((int(self.targets[e]), [*edges, e]))
        return found

    def nodes(self, way: list[int]) -> list[int]:
        return [int(self.targets[e]) for e in way[:-1]]

    def level_of(self, source: int) -> int:
        """The token that edges out of a source lead to; the length for edges to the sink."""
        return int(np.searchsorted(self.levels, source, side="right"))


def random_graph(rng: np.random.Generator) -> Graph:
    """Up to 4 tokens with 1 to 3 nodes each; now and then an edge of −inf."""
    length = int(rng.integers(1, 5))
    levels = np.concatenate([[0], np.cumsum(rng.integers(1, 4, length))])
    first, targets = [0], []
    for source in range(-1, int(levels[-1])):
        t = int(np.searchsorted(levels, source, side="right"))
        later = range(levels[t], levels[t + 1]) if t < length else [levels[-1]]
        targets += [node for node in later if rng.random() < 0.85]
        first.append(len(targets))
    gains = (
        rng.normal(0, 2, len(targets))
        if rng.random() < 0.7
        else rng.integers(-2, 3, len(targets)).astype(float)
    )
    gains[rng.random(len(gains)) < 0.03] = -INF
    return Graph(levels, np.array(first), np.array(targets, dtype=np.int64), gains)


def random_additions(rng: np.random.Generator, n_edges: int, counters: int) -> tuple[np.ndarray, np.ndarray]:
    """begins[E+1], added[·,2]; amounts are positive, no counter twice on an edge."""
    begins, added = [0], []
    for _ in range(n_edges):
        added += [(r, int(rng.integers(1, 3))) for r in range(counters) if rng.random() < 0.4]
        begins.append(len(added))
    return np.array(begins), np.array(added, dtype=np.int64).reshape(-1, 2)


def random_sums(rng: np.random.Generator, counters: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """rows, terms, shape (limit, penalty, multiplier 0, once, may rise, may fall)."""
    rows, terms, shape = [0], [], []
    for _ in range(rng.integers(0, 4) if counters else 0):
        used = rng.permutation(counters)[: rng.integers(1, counters + 1)]
        weights = rng.choice([-2, -1, 1, 1, 2], len(used))
        terms += list(zip(weights.tolist(), used.tolist(), strict=True))
        rows.append(len(terms))
        penalty = float(rng.choice([0.0, 0.7, 2.0, 2.0, 1e6, INF]))
        limit = float(rng.choice([-1.0, 0.0, 0.4, 1.0, 2.0]))
        shape.append([limit, penalty, 0.0, rng.random() < 0.3, (weights > 0).any(), (weights < 0).any()])
    return (
        np.array(rows),
        np.array(terms, dtype=np.int64).reshape(-1, 2),
        np.array(shape, dtype=np.float64).reshape(-1, 6),
    )


def totals(way: list[int], additions, sums) -> list[float]:
    """The sums along a way."""
    begins, added = (part.tolist() for part in additions)
    counts: dict[int, int] = {}
    for e in way:
        for counter, amount in added[begins[e] : begins[e + 1]]:
            counts[counter] = counts.get(counter, 0) + amount
    rows, terms, _ = (part.tolist() for part in sums)
    return [sum(w * counts.get(c, 0) for w, c in terms[a:b]) for a, b in pairwise(rows)]


def charged(x: list[float], shape: np.ndarray) -> float:
    """Σ penalty · violation of sums that come out as x."""
    cost = 0.0
    for value, (limit, penalty, _, once, *_) in zip(x, shape.tolist(), strict=True):
        if value > limit and penalty > 0:
            cost += penalty if once else penalty * (value - limit)
    return cost


def ceilings(shape: np.ndarray) -> np.ndarray:
    """The most that multipliers may be: the penalty, and 0 for soft sums that are charged once."""
    soft_once = (shape[:, 3] > 0) & np.isfinite(shape[:, 1])
    return np.where(soft_once, 0.0, shape[:, 1])


# ── automata ────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Machine:
    next: np.ndarray  # [Q,A]
    cost: np.ndarray  # [Q,A]
    start: int
    penalty: float

    def charged(self, symbols: list[int]) -> float:
        state, total = self.start, 0.0
        for symbol in symbols:
            total += float(self.cost[state, symbol])
            state = int(self.next[state, symbol])
        return self.penalty * total if total else 0.0


def random_machine(rng: np.random.Generator) -> Machine:
    states, symbols = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    cost = rng.integers(0, 3, (states, symbols)) * (rng.random((states, symbols)) < 0.4)
    penalty = float(rng.choice([0.0, 0.5, 1.5, 1e6, INF]))
    return Machine(
        rng.integers(0, states, (states, symbols)), cost.astype(float), int(rng.integers(states)), penalty
    )


def machine_arrays(machines: list[Machine]) -> tuple[np.ndarray, ...]:
    """heads, penalties, arcs, cost, least; `least` is 0, which is always right, if not tight."""
    heads, arcs, states = [], 0, 0
    for machine in machines:
        heads.append([0, 0, arcs, machine.next.shape[1], machine.start, states])
        arcs, states = arcs + machine.next.size, states + len(machine.next)
    return (
        np.array(heads, dtype=np.int64).reshape(-1, 6),
        np.array([machine.penalty for machine in machines]),
        np.concatenate([np.empty(0), *(machine.next.ravel() for machine in machines)]).astype(np.int32),
        np.concatenate([np.empty(0), *(machine.cost.ravel() for machine in machines)]),
        np.zeros(states),
    )


# ── Soft-DD ─────────────────────────────────────────────────────────────────────────────────────


def moves_of(tables: list[np.ndarray], masks: list[int], possible: np.ndarray, biased: bool):
    """bias[J,S], first, steps, amounts that say the same as the counters' tables [S+1,S+1] on possible steps.

    With `biased` what every possible step into a state counts is taken as its bias.
    """
    size = len(possible) - 1
    bias, first, steps, amounts = np.zeros((len(tables), size)), [0], [], []
    for j, (table, mask) in enumerate(zip(tables, masks, strict=True)):
        for before in range(size + 1) if mask < 0 else ():
            for after in range(size + 1):
                if biased and after < size:
                    into = [table[i, after] for i in range(size + 1) if possible[i, after]]
                    bias[j, after] = min(into, default=0)
                off = table[before, after] - (bias[j, after] if after < size else 0)
                if possible[before, after] and off:
                    steps.append(before * (size + 1) + after)
                    amounts.append(float(off))
        first.append(len(steps))
    return bias, np.array(first), np.array(steps, dtype=np.int64), np.array(amounts, dtype=np.float64)


def dual_value(chain: naive.Chain, label_of, tables, sums, limits, multipliers) -> float:
    """D(λ) = max_y (score(y) − Σ λ·x(y)) + Σ λ·limit over all labellings; the counters look at no tokens."""
    best = -INF
    for score, path in naive.labellings(chain):
        x = path_totals(path, label_of, tables, sums)
        best = max(best, score - sum(m * value for m, value in zip(multipliers, x, strict=True)))
    return best + sum(m * limit for m, limit in zip(multipliers, limits, strict=True))


def path_totals(path, label_of, tables, sums) -> list[float]:
    """The sums of a labelling given by states."""
    size = len(tables[0]) if tables else 0
    steps = naive_tally.steps_of([label_of[s] for s in path], size)
    counts = [sum(int(table[step]) for step in steps) for table in tables]
    rows, terms = sums[0].tolist(), sums[1].tolist()
    return [sum(w * counts[c] for w, c in terms[a:b]) for a, b in pairwise(rows)]
