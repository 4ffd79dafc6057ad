"""Probabilities under constraints: p(labelling) ∝ exp(Problem.score), where hard rules forbid.

    Problem  ─→ RuledLattice ─→ node[T,S], log_partition, span_probability (many times)
    Problems ─→ constrained_marginals_all ─→ Marginals
    Problems ─→ Lattices ─→ [i] a Lattice or RuledLattice, made when it is asked for

The sums run over the product states of all rules that can tell the labellings of a sequence apart, so they
are exact; where there are too many product states, one sentence says so. Local rules are in the scores and
cost nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conseq.decoders.base import Limits
from conseq.decoders.marginals import Lattice, Marginals, marginals, span_masks
from conseq.decoders.relaxation import folded
from conseq.decoders.ways import TooManyStates, Ways
from conseq.errors import InfeasibleError
from conseq.kernels import graph as kernel
from conseq.potentials import Potentials
from conseq.problem import Problem, Problems
from conseq.threads import map_chunks

Floats = NDArray[np.float64]

FOR_SUMS = Limits(states=200_000)
"""Product states of one sequence that sums may run over, unless other limits are given."""
QUICK_STEPS = 500_000
"""The steps between product states where an answer is welcome, but not worth waiting for: some 10 to 20 ms
for one sequence, and less to find that there is none."""


@dataclass(frozen=True, eq=False)
class RuledLattice:
    """All labellings of one sequence with their probabilities under the rules; the twin of `Lattice`."""

    ways: Ways
    shares: Floats  # [E], p(edge | its source)
    passing: Floats  # [B], p(node)
    shape: tuple[int, int]  # tokens, states
    log_partition: float

    @classmethod
    def of(cls, problem: Problem, limits: Limits = FOR_SUMS) -> RuledLattice:
        """Exact; InfeasibleError if there is no labelling, TooManyStates if the limit does not suffice."""
        return cls._of(problem, folded(problem), limits, 0)

    @classmethod
    def _of(
        cls, problem: Problem, potentials: Potentials, limits: Limits, i: int, quick: bool = False
    ) -> RuledLattice:
        if problem.n_tokens == 0:
            return cls._empty(problem, i)
        try:
            ways = _product(problem, potentials, limits.states, quick)
        except TooManyStates:
            raise _too_many(limits.states, i) from None
        shares, passing = np.empty(len(ways.targets)), np.empty(ways.n_nodes)
        log_partition = -np.inf if ways.is_empty else kernel.shares_of(ways.arrays, shares)
        if log_partition == -np.inf:
            raise _infeasible(i)
        kernel.node_probabilities(ways.arrays, shares, passing)
        return cls(ways, shares, passing, potentials.unary.shape, log_partition)

    @classmethod
    def _empty(cls, problem: Problem, i: int) -> RuledLattice:
        """Of a sequence without tokens, which has one labelling."""
        score = problem.score([])
        if score == -np.inf:
            raise _infeasible(i)
        levels, first = np.array([0, 1, 2]), np.array([0, 1, 1])
        ways = Ways(levels, first, np.array([1]), np.array([score]), np.array([-1, -1], dtype=np.int32))
        return cls(ways, np.ones(1), np.ones(2), (0, problem.n_states), score)

    @property
    def node(self) -> Floats:
        """node[t,s] = p(state s at token t), [T,S]."""
        node = np.zeros(self.shape)
        inner = slice(1, self.ways.n_nodes - 1)
        tokens = np.repeat(np.arange(self.shape[0]), np.diff(self.ways.levels[1:-1]))
        np.add.at(node, (tokens, self.ways.states[inner]), self.passing[inner])
        return node

    def span_probability(
        self, start: int, before: ArrayLike | None, inside: ArrayLike, after: ArrayLike | None
    ) -> float:
        """The probability that the labelling passes through the set `before` at token start−1, inside[k] at
        start + k for the L rows of `inside`, and `after` at start + L, as `Lattice.span_probability`.

        Masks are bool[S], inside bool[L,S]. A neighbour that does not exist, or is None, imposes nothing.
        """
        first, masks = span_masks(self.shape, start, before, inside, after)
        if not len(masks):
            return 1.0
        ways = self.ways
        return min(1.0, kernel.passage(ways.arrays, ways.states, self.shares, self.passing, first, masks))


def constrained_marginals(problem: Problem, limits: Limits = FOR_SUMS) -> Marginals:
    """p(state at token) of one sequence under all its rules, and log Σ exp(score).

    >>> from conseq.constraints import Segments
    >>> from conseq.schema import Schema
    >>> scores = Potentials.of(np.zeros((3, 2)))
    >>> problem = Problems.of(scores, Schema(["O", "x"], "plain"), [Segments("exactly", 1, "x")])[0]
    >>> constrained_marginals(problem).node[:, 1].round(6)  # xOO OxO OOx xxO Oxx xxx
    array([0.5     , 0.666667, 0.5     ])
    """
    return constrained_marginals_all(_alone(problem), limits)


def constrained_marginals_all(
    problems: Problems, limits: Limits = FOR_SUMS, threads: int = 1, first: int = 0
) -> Marginals:
    """Marginals of every token of every sequence under the rules.

    `first` is the number that messages give to the first sequence, for problems that are part of more.
    """
    potentials = folded(problems)
    if not problems.program.is_extra.any():
        found = marginals(potentials, threads)
        return Marginals(found.node, found.log_partition + _of_empty(problems))
    node, log_partition = np.empty(potentials.unary.shape), np.empty(len(problems))

    def work(i: int, _: int) -> None:
        a, b = potentials.bounds(i)
        lattice = RuledLattice._of(problems[i], potentials[i], limits, first + i)
        node[a:b], log_partition[i] = lattice.node, lattice.log_partition

    map_chunks(work, range(len(problems) + 1), threads)
    return Marginals(node, log_partition)


@dataclass(frozen=True, eq=False)
class Lattices:
    """Of every sequence, what gives spans their probabilities under the rules; made when asked for, not kept.

    [i] raises TooManyStates if the limit does not suffice. It is quick to: also where the rules, if each
    multiplied the states as it does alone, would make too many.
    """

    problems: Problems
    limits: Limits = FOR_SUMS

    def __len__(self) -> int:
        return len(self.problems)

    def __getitem__(self, i: int) -> Lattice | RuledLattice:
        if not self.problems.program.is_extra.any():
            return Lattice.of(self._potentials, i)
        return RuledLattice._of(self.problems[i], self._potentials[i], self.limits, i, quick=True)

    @cached_property
    def _potentials(self) -> Potentials:
        return folded(self.problems)


def quick_limits(n_states: int) -> Limits:
    """The product states that make about QUICK_STEPS steps with so many states of the chain."""
    return Limits(states=QUICK_STEPS // n_states)


def _product(problem: Problem, potentials: Potentials, most_states: int, quick: bool) -> Ways:
    """All labellings with all rules charged; first those that make the fewest product states alone."""
    if quick and problem.n_tokens * problem.n_states**2 > QUICK_STEPS:
        raise TooManyStates
    chain = Ways.of(potentials, -np.inf, most_states)
    alone, expected = [], float(chain.n_nodes)
    for p in np.flatnonzero(problem.program.is_extra).tolist():
        ways = chain.under(problem, p, -np.inf, most_states)
        if ways.same_as(chain):
            continue
        alone.append((ways.n_nodes, p, ways))
        expected *= ways.n_nodes / chain.n_nodes
        if quick and expected > most_states:
            raise TooManyStates
    if not alone:
        return chain
    alone.sort(key=lambda entry: entry[:2])
    product = alone[0][2]
    for _, p, _ in alone[1:]:
        product = product.under(problem, p, -np.inf, most_states)
    return product


def _of_empty(problems: Problems) -> Floats:
    """The scores of sequences without tokens, which the chain takes for 0, [N]."""
    scores = np.zeros(len(problems))
    for i in np.flatnonzero(problems.potentials.lengths == 0).tolist():
        scores[i] = problems[i].score([])
        if scores[i] == -np.inf:
            raise _infeasible(i)
    return scores


def _alone(problem: Problem) -> Problems:
    return Problems(problem.potentials, problem.program, problem.first_token)


def _infeasible(i: int) -> InfeasibleError:
    return InfeasibleError(
        f"sequence {i} (from 0) has no labelling: each breaks a hard rule or meets a score of -inf; "
        "drop a hard rule or give it a penalty, or allow more states or steps"
    )


def _too_many(most_states: int, i: int) -> TooManyStates:
    return TooManyStates(
        f"sequence {i} (from 0): the rules make more than {most_states:,} product states, the limit for "
        "exact probabilities; give fewer rules, or none (--constraints none)"
    )
