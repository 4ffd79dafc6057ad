"""Two stages: the model's best score, then the labelling near it that breaks the rules least.

stage 1    Z* = max_y s(y), the constraints left out
stage 2    min Σ penalty · violation over the band s(y) ≥ Z* − (1 − τ) · |Z*|; of equal costs the highest s(y)

(Fersini et al. 2014)

Problem ─→ Lattice of the band ─┬─→ Pareto fronts of the rules that matter ─┬─→ Decoding
                                └─→ integer program, solved twice          ─┘
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from conseq.constraints.primitives import Linear
from conseq.constraints.relaxation import shifted
from conseq.decoders.base import NO_LIMITS, Best, Hint, Limits, bring_in
from conseq.decoders.chain.viterbi import viterbi
from conseq.decoders.ilp import largest_flow
from conseq.decoders.lattice.lattice import Lattice, TooManyStates, most_edges
from conseq.decoders.lattice.pareto import Found, at_most, cheapest
from conseq.decoders.lattice.reader import MOST_CELLS, Reader
from conseq.decoders.lattice.rows import add_charge, add_flow
from conseq.dtypes import Floats
from conseq.errors import ConseqError
from conseq.kernels.rounding import rounding
from conseq.problem import TOLERANCE, Decoding, Problem
from conseq.solver import ENTRY, Answer, Assembly, Outcome

METHODS = ("auto", "search", "ilp")
EDGES = -1
"""Stands for the soft local constraints among the primitives that are brought in."""
LOOSE = 1e-6
"""Rows with scores and costs are loosened by this times (1 + their bound)."""


@dataclass(frozen=True)
class TwoStage:
    """The labelling of least cost among those whose model score is near the best.

    tau       how near: 1 allows the best score only and gives back Viterbi, 0 the widest band
    method    'search' (exact dynamic programming that brings in the rules that are violated), 'ilp', or
              'auto': the search, and the integer program where that needs more than `limits.states`

    A hard rule costs inf, so it must hold within the band. The objective is lexicographic, not
    `Problem.score`, and the certificate speaks of that objective: OPTIMAL says that no labelling in the band
    costs less, nor costs the same with a higher model score. If every labelling in the band breaks a hard
    rule the answer is UNKNOWN, for there may be others outside. `Decoding.score` is `Problem.score` as
    everywhere; the bound equals it where the status is OPTIMAL, and is Z* otherwise, which no labelling's
    score exceeds.

    >>> from conseq.potentials import Potentials
    >>> from conseq.problem import Problems
    >>> from conseq.schema import Schema
    >>> scores = Potentials.of([[1.0, 0.0], [0.0, 2.0]])
    >>> TwoStage(tau=0.9).decode(Problems.of(scores, Schema(["a", "b"], "plain"))[0])
    Decoding(a b; score 3, OPTIMAL)
    """

    tau: float = 0.95
    method: str = "auto"

    name: ClassVar[str] = "twostage"

    def __post_init__(self) -> None:
        if not 0 <= self.tau <= 1:
            raise ConseqError(f"tau is {self.tau}; give a number from 0 to 1")
        if self.method not in METHODS:
            raise ConseqError(f"there is no method {self.method!r}; give one of {', '.join(METHODS)}")

    def decode(self, problem: Problem, *, limits: Limits = NO_LIMITS, hint: Hint = None) -> Decoding:
        """The labelling of the second stage; within the limits the cheapest found."""
        band = Band(problem, limits=limits)
        best = viterbi(problem.potentials)
        band.bound = top = float(best.scores[0])
        if top > -np.inf:
            band.floor = top - (1 - self.tau) * abs(top) - rounding(top)  # a little more for rounding
            band.offer(best.states)
            band.offer(hint)
        try:
            proved = band.settled or band.lattice.is_empty
        except TooManyStates:
            return band.answer(proved=False)
        if not proved and self.method != "ilp":
            proved = search(band)
        if not proved and self.method != "search":
            proved = solve(band)
        return band.answer(proved)


@dataclass
class Band(Best):
    """The labellings of model score ≥ floor, and the best of them so far: `score` is the model's, and `bound`
    is Z*."""

    limits: Limits = NO_LIMITS
    floor: float = -np.inf
    cost: float = np.inf
    work: float = 1.0

    @cached_property
    def lattice(self) -> Lattice:
        """The labellings in the band that break no hard local constraint."""
        problem, charges = self.problem, enumerate(self.problem.charges)
        hard = {p: c.penalty for p, c in charges if c.primitive.is_local and np.isinf(c.penalty)}
        potentials = shifted(problem.potentials, problem.program, hard, problem.first_token)
        edges = most_edges(self.limits, self.left(self.limits))
        return Lattice.of(potentials, len(problem.schema), self.floor, edges)

    @property
    def settled(self) -> bool:
        """Whether no second stage is needed: there is at most one labelling, or the best costs nothing."""
        single = self.bound == -np.inf or self.problem.n_tokens == 0
        return single or (self.cost == 0 and self.score >= self.bound)

    def offer(self, states: ArrayLike | None) -> list[int]:
        """Keep the labelling if it is within the band and better than the one before; what it violates."""
        if states is None:
            return []
        violations = self.problem.violations(states)
        score, cost = self.problem.potentials.score(states), self.problem.cost(violations)
        if score >= self.floor and self.is_better(cost, score):
            self.states, self.cost, self.score = np.array(states, dtype=np.int32), cost, score
        return self.problem.program.nonlocal_violated(violations).tolist()

    def is_better(self, cost: float, score: float) -> bool:
        """Whether a labelling of this cost and score would be better than the best so far."""
        if cost == np.inf or cost > at_most(self.cost):
            return False
        return at_most(cost) < self.cost or score > self.score

    def edge_costs(self) -> Floats:
        """What the soft local constraints charge for each edge, [E]; the hard ones have no edges."""
        costs = np.zeros(self.lattice.n_edges)
        for charge in self.problem.charges:
            linear = charge.primitive
            if isinstance(linear, Linear) and linear.is_local and np.isfinite(charge.penalty):
                costs += charge.penalty * self.lattice.amounts(self.problem, linear)
        return costs

    def answer(self, proved: bool) -> Decoding:
        found = -np.inf if self.states is None else self.problem.score(self.states)
        single = self.problem.n_tokens == 0  # one labelling, which is its own bound
        if single or (proved and self.states is not None):
            self.bound = found
        return self.decoding(self.work)


# ── search ──────────────────────────────────────────────────────────────────────────────────────


def search(band: Band) -> bool:
    """Find the best labelling; whether it is proved."""
    readers: dict[int, Reader] = {}
    proved, least, limits = False, 0.0, band.limits

    def solve(active: list[int]) -> list[int] | None:
        nonlocal proved, least
        for p in active:
            if p not in readers:
                cells = band.lattice.n_edges * len(readers)
                if band.seconds >= limits.seconds or cells > min(MOST_CELLS, limits.room(8)):
                    return None
                readers[p] = _reader(band, p)
                if band.lattice.n_nodes * len(readers[p].next) > limits.room(8):
                    return None
        found = _rising(band, list(readers.values()), least)
        if not found.is_complete:
            return None
        if found.states is None or not band.is_better(found.cost, found.score):
            proved = True
            return None
        least, more = found.cost, band.offer(found.states)
        proved = not set(more) - readers.keys()
        return more

    bring_in([EDGES, *band.offer(band.states)], solve, limits.iterations)
    return proved


def _reader(band: Band, p: int) -> Reader:
    """Of a primitive; what the edges cost by themselves is read by an automaton of one state."""
    if p != EDGES:
        return Reader.of(band.lattice, band.problem, band.problem.charges[p])
    values, symbols = np.unique(band.edge_costs(), return_inverse=True)
    stay = np.zeros((1, len(values)), dtype=np.int64)
    return Reader(band.lattice, symbols.reshape(-1).astype(np.int64), stay, values[None], 0)


def _rising(band: Band, readers: list[Reader], least: float) -> Found:
    """The cheapest labelling, looked for under a low ceiling first, which keeps the fronts small."""
    ceiling = max(least, sum(float(reader.minimum_remaining[0, reader.start]) for reader in readers))
    limits, deadline = band.limits, band.begun + band.limits.seconds
    while True:
        highest = at_most(band.cost)
        ceiling = min(at_most(ceiling), highest)
        found = cheapest(band.lattice, readers, band.floor, ceiling, limits, deadline)
        band.work += 1
        if found.states is not None or not found.is_complete or found.cost > highest or found.cost == np.inf:
            return found
        ceiling = max(found.cost, 1.5 * ceiling)


# ── integer program ─────────────────────────────────────────────────────────────────────────────


def solve(band: Band) -> bool:
    """Find the best labelling by two integer programs, for the cost and then for the score; whether it is
    proved.

    The rows for the band and for the cost are looser than HiGHS' tolerances, for with tighter ones it has
    called feasible programs infeasible. A labelling that needs this is not taken, and nothing is proved then.
    """
    assembly, limits = Assembly(), band.limits
    edges = add_flow(assembly, band.lattice, -band.edge_costs())
    for charge in band.problem.charges:
        room = assembly.room(band.left(limits), limits.room(ENTRY, 0.5))
        if room < 0:
            return False
        if charge.penalty > 0 and not charge.primitive.is_local:
            added = add_charge(assembly, band.lattice, edges, band.problem, charge, room)
            if not added:
                return False
    _add_row(assembly, band.lattice.graph.gains, band.floor)
    answer = _run(band, assembly)
    if answer.outcome is not Outcome.SOLVED or not _meet(-band.cost, answer.bound):
        return answer.outcome is Outcome.INFEASIBLE and band.states is None
    _add_row(assembly, np.concatenate(assembly.gain), -band.cost)
    assembly.maximise(band.lattice.graph.gains)
    answer = _run(band, assembly)
    return answer.outcome is Outcome.SOLVED and _meet(band.score, answer.bound)


def _run(band: Band, assembly: Assembly) -> Answer:
    limits = band.limits
    room = limits.room(ENTRY, 0.5)
    answer = assembly.solve(band.left(limits), nodes=limits.nodes, most_entries=room)
    band.work += answer.nodes
    if answer.values is not None:
        band.offer(largest_flow(band.lattice, answer.values[: band.lattice.n_edges]))
    return answer


def _meet(value: float, bound: float) -> bool:
    return bound - value <= rounding(value, TOLERANCE)


def _add_row(assembly: Assembly, values: Floats, low: float) -> None:
    """The row Σ value · x ≥ low over the first columns, loosened by LOOSE."""
    columns = np.arange(len(values))
    low -= LOOSE * (1 + abs(low))
    assembly.add_rows(low, np.inf, np.zeros(len(values), dtype=np.int64), columns, values)
