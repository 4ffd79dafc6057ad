"""The plain reference for the chain kernels, the enumeration of all labellings, and random small problems.

Scores are nested lists or arrays; nothing here is fast, padded or scaled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import numpy as np
from numba import config

from conseq.kernels import chain as kernel

INF = math.inf

REPEATS = 15 if config.DISABLE_JIT else 60
"""Random problems per seed; interpreted kernels are a thousand times slower."""


@dataclass
class Chain:
    """One sequence: unary[L,S], pairwise[C,S,S], start[S], end[S], kind[L]."""

    unary: np.ndarray
    pairwise: np.ndarray
    start: np.ndarray
    end: np.ndarray
    kind: np.ndarray

    @property
    def size(self) -> int:
        return len(self.start)


def random_chains(seed: int, magnitude: float = 2.0) -> list[Chain]:
    """One to three sequences of the same model: 0 to 5 tokens, 1 to 5 states, 1 or 2 kinds of step.

    In a third of the cases all scores are whole numbers: many ties, and sums without rounding.
    """
    rng = np.random.default_rng(seed)
    size, kinds = int(rng.integers(1, 6)), int(rng.integers(1, 3))
    whole = rng.random() < 0.3

    def scores(*shape: int) -> np.ndarray:
        values = np.round(rng.normal(size=shape) * 2) if whole else rng.normal(size=shape) * magnitude
        return np.where(rng.random(shape) < rng.choice([0.0, 0.1, 0.4]), -INF, values)

    pairwise = scores(kinds, size, size)
    start, end = (scores(size) if rng.random() < 0.5 else np.zeros(size) for _ in range(2))
    chains = []
    for _ in range(rng.integers(1, 4)):
        length = int(rng.integers(0, 6 if size < 5 else 5))
        kind = rng.integers(0, kinds, size=length).astype(np.int32)
        chains.append(Chain(scores(length, size), pairwise, start, end, kind))
    return chains


def flat(chains: list[Chain]) -> kernel.Chain:
    """As the kernels take them; kind empty where it can be."""
    first = chains[0]
    kind = np.concatenate([c.kind for c in chains])
    return kernel.Chain(
        np.concatenate([c.unary for c in chains]),
        first.pairwise,
        first.start,
        first.end,
        np.cumsum([0, *(len(c.unary) for c in chains)]),
        kind if len(first.pairwise) > 1 else np.empty(0, np.int32),
        np.arange(first.size, dtype=np.int32),
    )


def score(chain: Chain, path: tuple[int, ...]) -> float:
    """start + unary + pairwise + … + end, from left to right."""
    if not path:
        return 0.0
    total = float(chain.start[path[0]]) + float(chain.unary[0, path[0]])
    for t in range(1, len(path)):
        total += float(chain.pairwise[chain.kind[t], path[t - 1], path[t]])
        total += float(chain.unary[t, path[t]])
    return total + float(chain.end[path[-1]])


def labellings(chain: Chain) -> list[tuple[float, tuple[int, ...]]]:
    """Every feasible labelling with its score; best first, equals by lower last states."""
    paths = product(range(chain.size), repeat=len(chain.unary))
    scored = [(score(chain, path), path) for path in paths]
    feasible = [(value, path) for value, path in scored if value > -INF]
    return sorted(feasible, key=lambda pair: (-pair[0], pair[1][::-1]))


def log_sum(values: list[float]) -> float:
    highest = max(values, default=-INF)
    if highest == -INF:
        return -INF
    return highest + math.log(math.fsum(math.exp(v - highest) for v in values))


def log_partition(chain: Chain) -> float:
    return log_sum([value for value, _ in labellings(chain)])


def passage(chain: Chain, first: int, masks: np.ndarray) -> float:
    """Probability of the labellings that are in masks[k] at token first + k, by enumeration."""
    all_paths = labellings(chain)
    through = [v for v, path in all_paths if all(mask[path[first + k]] for k, mask in enumerate(masks))]
    return math.exp(log_sum(through) - log_sum([v for v, _ in all_paths]))


def node(chain: Chain) -> np.ndarray:
    """Marginals [L,S] by enumeration; zeros if nothing is feasible."""
    result = np.zeros(chain.unary.shape)
    total = log_partition(chain)
    for value, path in labellings(chain):
        result[np.arange(len(path)), list(path)] += math.exp(value - total)
    return result


def viterbi(chain: Chain) -> tuple[list[int], float]:
    """The reference for `chain.viterbi`: textbook Viterbi with back-pointers."""
    length, size = chain.unary.shape
    if length == 0:
        return [], 0.0
    delta = [chain.start[j] + np.float64(chain.unary[0, j]) for j in range(size)]
    back = []
    for t in range(1, length):
        step = chain.pairwise[chain.kind[t]]
        back.append([max(range(size), key=lambda i, j=j: delta[i] + step[i, j]) for j in range(size)])
        delta = [delta[back[-1][j]] + step[back[-1][j], j] + chain.unary[t, j] for j in range(size)]
    final = [delta[j] + chain.end[j] for j in range(size)]
    path = [max(range(size), key=final.__getitem__)]
    if final[path[0]] == -INF:
        return [-1] * length, -INF
    best = final[path[0]]
    for pointers in reversed(back):
        path.insert(0, pointers[path[0]])
    return path, float(best)


def nbest(chain: Chain, n: int) -> list[tuple[list[int], float]]:
    """The reference for `nbest.nbest`: every state keeps its n best prefixes as whole paths."""
    length, size = chain.unary.shape
    lists = [[((j,), chain.start[j] + np.float64(chain.unary[0, j]))] for j in range(size)]
    for t in range(1, length):
        step = chain.pairwise[chain.kind[t]]
        longer = []
        for j in range(size):
            reached = [((*path, j), v + step[i, j]) for i in range(size) for path, v in lists[i]]
            reached.sort(key=lambda pair: -pair[1])
            longer.append([(path, v + chain.unary[t, j]) for path, v in reached[:n]])
        lists = longer
    ended = [(list(path), float(v + chain.end[j])) for j in range(size) for path, v in lists[j]]
    ended.sort(key=lambda pair: -pair[1])
    return [(path, v) for path, v in ended[:n] if v > -INF]


def messages(chain: Chain) -> tuple[np.ndarray, np.ndarray]:
    """The reference for `sums.sweep` for both sides: left[L,S] and right[L,S], not scaled. L ≥ 1."""
    length, size = chain.unary.shape
    left, right = np.empty((length, size)), np.empty((length, size))
    left[0], right[-1] = chain.start, chain.end
    for t in range(1, length):
        step, before = chain.pairwise[chain.kind[t]], left[t - 1] + chain.unary[t - 1]
        left[t] = [log_sum(list(before + step[:, j])) for j in range(size)]
    for t in range(length - 2, -1, -1):
        step, beyond = chain.pairwise[chain.kind[t + 1]], right[t + 1] + chain.unary[t + 1]
        right[t] = [log_sum(list(step[i] + beyond)) for i in range(size)]
    return left, right


def marginals(chain: Chain) -> tuple[np.ndarray, float]:
    """The reference for `sums.marginals`: node[L,S] and log Z from the messages."""
    length = len(chain.unary)
    if length == 0:
        return np.zeros(chain.unary.shape), 0.0
    left, right = messages(chain)
    both = left + chain.unary + right
    total = log_sum(list(both[-1]))
    if total == -INF:
        return np.zeros(chain.unary.shape), -INF
    return np.exp(both - np.array([log_sum(list(row)) for row in both])[:, None]), total
