"""The n best labellings under constraints, each with a certificate.

Penalties are ≥ 0, so leaving constraints out can only raise scores: if the n best labellings under some of
the primitives violate none of the others, they are the n best under all.

    n best without rules ─→ violated? ─→ n best under what they violate ─→ violated? ─→ …

Only labellings that reach a floor are looked at: the score of the n-th best known, or a band below the best
that may exist, which is widened until n labellings are in it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from conseq.decoders.auto import Auto
from conseq.decoders.base import NO_LIMITS, Limits, bring_in, violations_of
from conseq.decoders.chain.viterbi import viterbi
from conseq.decoders.lattice.lattice import EDGE, EDGES_PER_STATE, Lattice, TooManyStates
from conseq.decoders.lattice.reader import Reader
from conseq.decoders.lattice.search import lowered
from conseq.decoders.lazy import FIRST_BAND, WIDEN, WIDEST_BAND
from conseq.dtypes import Floats, States
from conseq.errors import ConseqError
from conseq.kernels import clock
from conseq.kernels.rounding import rounding
from conseq.problem import Decoding, Problem, ProblemBatch, Problems
from conseq.threads import map_chunks

MOST = 10_000
"""Labellings of a sequence that may be asked for: each is kept with its scores."""


FIRST_PATHS = 64
"""Labellings that are ranked at once; more, if that does not take too long."""
CELL = 40
"""Bytes for a token of a labelling and the edge that it takes."""


def n_best_decodings(
    problem: Problem, n: int, limits: Limits = NO_LIMITS, hint: States | None = None
) -> list[Decoding]:
    """The n labellings of highest score, best first, all different (as states); fewer if there are fewer.

    The certificate of the k-th bounds the k-th best score: OPTIMAL means that it is proved to be the k-th
    best. No labelling at all, if that is proved, is an empty list. Where a limit leaves open whether there
    are more labellings, the last entry is one without states, of the status UNKNOWN.

    >>> from conseq.constraints import Segments
    >>> from conseq.potentials import Potentials
    >>> from conseq.schema import Schema
    >>> scores = Potentials.of([[0.0, 3.0], [1.0, 0.0], [0.0, 2.0]])
    >>> problem = Problems.of(scores, Schema(["O", "x"], "plain"), [Segments("at most", 1, "x")])[0]
    >>> [(d.labels, d.score, d.certificate.status.name) for d in n_best_decodings(problem, 2)]
    [(['x', 'x', 'x'], 5.0, 'OPTIMAL'), (['x', 'O', 'O'], 4.0, 'OPTIMAL')]
    """
    if n < 1:
        raise ValueError(f"n is {n}; ask for 1 labelling or more")
    most = int(min(MOST, limits.room(CELL * (problem.n_tokens + 1))))
    if n > max(1, most):
        raise ConseqError(
            f"the {n} best labellings of {problem.n_tokens:,} tokens are too many; ask for at most {most:,}"
        )
    ranking = Ranking(problem, min(n, problem.n_states ** min(problem.n_tokens, 62)))
    if problem.n_tokens == 0:
        ranking.offer(np.empty((1, 0), dtype=np.int32))
        ranking.prove(ranking.scores, -np.inf)
        return ranking.decodings(0)
    if hint is not None:
        ranking.offer(hint[None])
    ranking.bounds[:] = viterbi(problem.with_local_constraints).scores[0]
    band = _Band(ranking, limits)
    bring_in(band.solve([]) or (), band.solve, limits.iterations)
    if not ranking.settled:
        answer = Auto().decode(problem, limits=limits.after(ranking.seconds))
        if answer.states is not None:
            ranking.offer(answer.states[None])
        ranking.bounds = np.minimum(ranking.bounds, answer.certificate.bound)
    return ranking.decodings(1 + band.rounds)


def n_best_all(
    problems: ProblemBatch,
    n: int,
    limits: Limits = NO_LIMITS,
    threads: int = 1,
    hint: States | None = None,
    spent: Floats | None = None,
) -> list[list[Decoding]]:
    """`n_best_decodings` of every sequence. A hint [T] is a labelling of each (−1: none) that may be good;
    `spent` are the seconds [N] that are gone already."""
    if isinstance(problems, Problems):
        _ = problems.with_local_constraints  # for all together, which is quicker than for each

    def work(i: int, _: int) -> list[Decoding]:
        a, b = problems.offsets[i : i + 2].tolist()
        known = None if hint is None or (hint[a:b] < 0).any() else hint[a:b].astype(np.int32)
        rest = limits if spent is None else limits.after(float(spent[i]))
        return n_best_decodings(problems[i], n, rest, known)

    return map_chunks(work, range(len(problems) + 1), threads)


@dataclass
class Ranking:
    """The best labellings met so far, and upper bounds on the best, second best, … score."""

    problem: Problem
    n: int
    known: dict[bytes, tuple[float, States]] = field(default_factory=dict)  # with their scores, falling
    bounds: Floats = field(init=False)  # [n]
    begun: float = field(default_factory=clock.now)

    def __post_init__(self) -> None:
        self.bounds = np.full(self.n, np.inf)

    def offer(self, labellings: States) -> set[int]:
        """Keep the best n of these [·,L] and the known; what these violate, except local primitives."""
        if not len(labellings):
            return set()
        violations = violations_of(self.problem, labellings)
        for row, cost in zip(labellings, self.problem.program.costs(violations), strict=True):
            key = row.tobytes()
            if key not in self.known:
                self.known[key] = self.problem.potentials.score(row) - float(cost), row
        ranked = sorted(self.known.items(), key=lambda entry: -entry[1][0])[: self.n]
        self.known = {key: found for key, found in ranked if found[0] > -np.inf}
        return set(self.problem.program.nonlocal_violated(violations.max(axis=0)).tolist())

    def prove(self, values: Floats, floor: float) -> None:
        """The best labellings under some primitives have these values; all others are below the floor."""
        bounds = np.full(self.n, floor)
        bounds[: len(values)] = values
        self.bounds = np.minimum(self.bounds, bounds)

    @property
    def scores(self) -> Floats:
        """Of the known, falling."""
        return np.array([score for score, _ in self.known.values()])

    @property
    def floor(self) -> float:
        """What the n-th best labelling reaches for sure."""
        return float(self.scores[-1]) if len(self.known) == self.n else -np.inf

    @property
    def settled(self) -> bool:
        """Whether it is proved which are the best n, or that there are no more."""
        count = len(self.known)
        closed = self.bounds[:count] <= self.scores + rounding(self.scores)
        return bool(closed.all()) and bool((self.bounds[count:] == -np.inf).all())

    @property
    def seconds(self) -> float:
        return clock.now() - self.begun

    def decodings(self, rounds: float) -> list[Decoding]:
        """The answers, and one without a labelling if there may be more than these."""
        seconds = self.seconds
        rows: list[States | None] = [row for _, row in self.known.values()]
        if len(rows) < self.n and self.bounds[len(rows)] > -np.inf:
            rows.append(None)
        return [
            Decoding.of(self.problem, row, float(bound), iterations=rounds, seconds=seconds)
            for row, bound in zip(rows, self.bounds, strict=False)
        ]


@dataclass
class _Band:
    """The labellings within a band below the bound, which grows until it has n of them."""

    ranking: Ranking
    limits: Limits
    width: float = FIRST_BAND
    floor: float = -np.inf
    lattice: Lattice | None = None
    charged: set[int] = field(default_factory=set)  # the primitives in the lattice
    rounds: int = 0

    def solve(self, active: list[int]) -> set[int] | None:
        """The n best labellings under the active primitives; what they violate, None where a limit is met."""
        ranking, limits = self.ranking, self.limits
        while self.rounds < limits.iterations and not ranking.settled and ranking.seconds < limits.seconds:
            try:
                lattice = self._charged(active)
            except TooManyStates:
                return None
            self.rounds += 1
            states, values, rest = self._best(lattice)
            reached = values >= self.floor
            ranking.prove(values[reached], max(self.floor, rest))
            wanted = ranking.offer(states[reached])
            if rest > self.floor:
                return None
            complete = reached.sum() == ranking.n or self.floor <= lowered(ranking.floor)  # -inf included
            if complete or not wanted <= set(active):
                return wanted
            self.lattice = None
            self.width = WIDEN * self.width if self.width < WIDEST_BAND else np.inf
        return None

    def _best(self, lattice: Lattice) -> tuple[States, Floats, float]:
        """As many of the n best paths as there is time for, their scores, and what no other path exceeds."""
        ranking, k = self.ranking, min(self.ranking.n, FIRST_PATHS)
        while True:
            begun = ranking.seconds
            states, values = lattice.best(k)
            if k == ranking.n or len(values) < k:
                return states, values, -np.inf
            now = ranking.seconds
            growth = min(
                8.0, (self.limits.seconds - now) / max(1e-9, now - begun)
            )  # the time for them grows like k
            if growth < 2:
                return states, values, float(values[-1])
            k = min(int(growth * k), ranking.n)

    def _charged(self, active: list[int]) -> Lattice:
        """The lattice of the band with all active primitives in it."""
        ranking, problem = self.ranking, self.ranking.problem
        if self.lattice is None:
            self.floor = max(lowered(ranking.floor), lowered(float(ranking.bounds[0]) - self.width))
            edges = min(EDGES_PER_STATE * self.limits.states, self.limits.room(EDGE))
            self.lattice = Lattice.of(problem.with_local_constraints, len(problem.schema), self.floor, edges)
            self.charged = set()
        self.floor = max(lowered(ranking.floor), self.floor)
        penalties = problem.program.penalties  # hard ones first, which leave the fewest labellings
        for p in sorted(set(active) - self.charged, key=lambda p: (penalties[p] < np.inf, p)):
            reader = Reader.of(self.lattice, problem, problem.charges[p])
            self.lattice = reader.product(self.floor, self.limits, ranking.begun + self.limits.seconds)
        self.charged.update(active)
        return self.lattice
