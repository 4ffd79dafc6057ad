"""The n best labellings under constraints, each with a certificate.

Penalties are ≥ 0, so leaving constraints out can only raise scores: if the n best labellings under some of
the primitives violate none of the others, they are the n best under all.

    n best without rules ─→ violated? ─→ n best under what they violate ─→ violated? ─→ …

Only labellings that reach a floor are looked at: the score of the n-th best known, or a band below the best
that may exist, which is widened until n labellings are in it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from conseq.decoders.auto import Auto
from conseq.decoders.base import NO_LIMITS, Limits, bring_in, violations_of
from conseq.decoders.lattice.lattice import EDGES_PER_STATE, Lattice, TooManyStates, too_many
from conseq.decoders.lattice.reader import Reader
from conseq.decoders.lattice.search import lowered
from conseq.decoders.lazy import FIRST_BAND, WIDEN, WIDEST_BAND, ShiftedChain
from conseq.kernels.rounding import rounding
from conseq.potentials import Potentials
from conseq.problem import Decoding, Problem, ProblemBatch, Problems
from conseq.threads import map_chunks

States = NDArray[np.int32]
Floats = NDArray[np.float64]


def n_best_decodings(problem: Problem, n: int, limits: Limits = NO_LIMITS) -> list[Decoding]:
    """The n labellings of highest score, best first, all different (as states); fewer if there are fewer.

    The certificate of the k-th bounds the k-th best score: OPTIMAL means that it is proved to be the k-th
    best. No labelling at all, if that is proved, is an empty list. Where a limit leaves open whether there
    are more labellings, the last entry is one without states, of the status UNKNOWN.

    >>> from conseq.constraints import Segments
    >>> from conseq.schema import Schema
    >>> scores = Potentials.of([[0.0, 3.0], [1.0, 0.0], [0.0, 2.0]])
    >>> problem = Problems.of(scores, Schema(["O", "x"], "plain"), [Segments("at most", 1, "x")])[0]
    >>> [(d.labels, d.score, d.certificate.status.name) for d in n_best_decodings(problem, 2)]
    [(['x', 'x', 'x'], 5.0, 'OPTIMAL'), (['x', 'O', 'O'], 4.0, 'OPTIMAL')]
    """
    return _ranked(problem, problem.with_local_constraints, n, limits)


def n_best_all(
    problems: ProblemBatch, n: int, limits: Limits = NO_LIMITS, threads: int = 1, hint: States | None = None
) -> list[list[Decoding]]:
    """`n_best_decodings` of every sequence. A hint [T] is a labelling of each (−1: none) that may be good."""
    together = problems.with_local_constraints if isinstance(problems, Problems) else None

    def work(i: int, _: int) -> list[Decoding]:
        a, b = problems.offsets[i : i + 2].tolist()
        known = None if hint is None or (hint[a:b] < 0).any() else hint[a:b].astype(np.int32)
        problem = problems[i]
        potentials = problem.with_local_constraints if together is None else together[i]
        return _ranked(problem, potentials, n, limits, known)

    return map_chunks(work, range(len(problems) + 1), threads)


def _ranked(
    problem: Problem, potentials: Potentials, n: int, limits: Limits, hint: States | None = None
) -> list[Decoding]:
    if n < 1:
        raise ValueError(f"n is {n}; ask for 1 labelling or more")
    ranking = Ranking(problem, min(n, problem.n_states ** min(problem.n_tokens, 62)))
    if problem.n_tokens == 0:
        empty = np.empty((1, 0), dtype=np.int32)
        ranking.offer(empty)
        ranking.prove(ranking.scores, -np.inf)
        return ranking.decodings(0)
    if hint is not None:
        ranking.offer(hint[None])
    band = _Band(ranking, potentials, limits)
    wanted = band.solve([])
    if wanted is not None:
        bring_in(wanted, band.solve, limits.iterations)
    if not ranking.settled:
        rest = replace(limits, seconds=max(0.0, limits.seconds - ranking.seconds))
        answer = Auto().decode(problem, limits=rest)
        if answer.states is not None:
            ranking.offer(answer.states[None])
        ranking.bounds = np.minimum(ranking.bounds, answer.certificate.bound)
    return ranking.decodings(1 + band.rounds)


@dataclass
class Ranking:
    """The best labellings met so far, and upper bounds on the best, second best, … score."""

    problem: Problem
    n: int
    known: dict[bytes, States] = field(default_factory=dict)
    scores: Floats = field(default_factory=lambda: np.empty(0))  # of the known, falling
    bounds: Floats = field(init=False)  # [n]
    begun: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        self.bounds = np.full(self.n, np.inf)

    def offer(self, labellings: States) -> set[int]:
        """Keep the best n of these [·,L] and the known; what these violate, except local primitives."""
        if not len(labellings):
            return set()
        violations = violations_of(self.problem, labellings)
        best = {key: (score, self.known[key]) for key, score in zip(self.known, self.scores, strict=True)}
        for row, cost in zip(labellings, self.problem.program.costs(violations), strict=True):
            key = row.tobytes()
            if key not in best:
                best[key] = self.problem.potentials.score(row) - float(cost), row
        feasible = [(key, score, row) for key, (score, row) in best.items() if score > -np.inf]
        feasible.sort(key=lambda entry: -entry[1])
        self.known = {key: row for key, _, row in feasible[: self.n]}
        self.scores = np.array([score for _, score, _ in feasible[: self.n]])
        return set(self.problem.program.nonlocal_violated(violations.max(axis=0)).tolist())

    def prove(self, values: Floats, floor: float) -> None:
        """The best labellings under some primitives have these values; all others are below the floor."""
        bounds = np.full(self.n, floor)
        bounds[: len(values)] = values
        self.bounds = np.minimum(self.bounds, bounds)

    @property
    def floor(self) -> float:
        """What the n-th best labelling reaches for sure."""
        return float(self.scores[-1]) if len(self.scores) == self.n else -np.inf

    @property
    def settled(self) -> bool:
        """Whether it is proved which are the best n, or that there are no more."""
        count = len(self.scores)
        closed = self.bounds[:count] <= self.scores + rounding(self.scores)
        return bool(closed.all()) and bool((self.bounds[count:] == -np.inf).all())

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.begun

    def decodings(self, rounds: float) -> list[Decoding]:
        """The answers, and one without a labelling if there may be more than these."""
        seconds = self.seconds
        rows: list[States | None] = list(self.known.values())
        if len(rows) < self.n and self.bounds[len(rows)] > -np.inf:
            rows.append(None)
        return [
            Decoding.of(self.problem, row, float(bound), iterations=rounds, seconds=seconds)
            for row, bound in zip(rows, self.bounds, strict=False)
        ]


class _Band:
    """The labellings within a band below the bound, which grows until it has n of them."""

    def __init__(self, ranking: Ranking, potentials: Potentials, limits: Limits) -> None:
        self.ranking, self.limits = ranking, limits
        self.chain = ShiftedChain.of(ranking.problem, potentials)
        ranking.prove(np.full(ranking.n, self.chain.bound), self.chain.bound)
        self.lattice: Lattice | None = None
        self.charged: set[int] = set()  # the primitives in the lattice
        self.floor, self.width = -np.inf, FIRST_BAND
        self.rounds = 0

    def solve(self, active: list[int]) -> set[int] | None:
        """The n best labellings under the active primitives; what they violate, None where a limit is met."""
        ranking, limits = self.ranking, self.limits
        while self.rounds < limits.iterations and not ranking.settled and ranking.seconds < limits.seconds:
            try:
                lattice = self._charged(active)
            except TooManyStates:
                return None
            self.rounds += 1
            states, values = lattice.best(ranking.n)
            reached = values >= self.floor
            ranking.prove(values[reached], self.floor)
            wanted = ranking.offer(states[reached])
            complete = reached.sum() == ranking.n or self.floor <= lowered(ranking.floor)  # -inf included
            if complete or not wanted <= set(active):
                return wanted
            self.lattice = None
            self.width = WIDEN * self.width if self.width < WIDEST_BAND else np.inf
        return None

    def _charged(self, active: list[int]) -> Lattice:
        """The lattice of the band with all active primitives in it."""
        ranking, problem, most = self.ranking, self.ranking.problem, self.limits.states
        if self.lattice is None:
            self.floor = max(lowered(ranking.floor), lowered(float(ranking.bounds[0]) - self.width))
            n_labels, edges = len(problem.schema), EDGES_PER_STATE * most
            self.lattice = Lattice.above(self.chain.chain, self.chain.ahead, self.floor, n_labels, edges)
            self.charged = set()
            if self.lattice is None:
                raise too_many(most)
        self.floor = max(lowered(ranking.floor), self.floor)
        penalties = problem.program.penalties  # hard ones first, which leave the fewest labellings
        for p in sorted(set(active) - self.charged, key=lambda p: (penalties[p] < np.inf, p)):
            self.lattice = Reader.of(self.lattice, problem, problem.charges[p]).product(self.floor, most)
        self.charged.update(active)
        return self.lattice
