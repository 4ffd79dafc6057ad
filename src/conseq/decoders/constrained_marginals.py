"""Probabilities under constraints: p(labelling) ∝ exp(Problem.score), where hard rules forbid.

    Problem  ─→ constrained_posterior ─→ Posterior: p(state at token), log-partition, span_probability
    Problems ─→ constrained_marginals_all ─→ Marginals
    Problems ─→ SpanProbabilities ─→ [i], of one sequence, made when it is asked for

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
from conseq.decoders.chain.marginals import ChainPosterior, Marginals, marginals, span_masks
from conseq.decoders.lattice.lattice import Lattice, Posterior, TooManyStates
from conseq.errors import InfeasibleError
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
class ConstrainedPosterior:
    """The distribution over the labellings of one sequence under the rules, p ∝ exp(Problem.score)."""

    posterior: Posterior

    @classmethod
    def of(cls, problem: Problem, limits: Limits = FOR_SUMS) -> ConstrainedPosterior:
        """Exact; InfeasibleError if there is no labelling, TooManyStates if the limit does not suffice."""
        return cls._of(problem, problem.with_local_constraints, limits, 0)

    @classmethod
    def _of(
        cls, problem: Problem, potentials: Potentials, limits: Limits, i: int, quick: bool = False
    ) -> ConstrainedPosterior:
        try:
            posterior = _product(problem, potentials, limits.states, quick).posterior
        except TooManyStates:
            raise _too_many(limits.states, i) from None
        if posterior.log_partition == -np.inf:
            raise _infeasible(i)
        return cls(posterior)

    @property
    def node(self) -> Floats:
        """node[t,s] = p(state s at token t), [T,S]."""
        return self.posterior.states

    @property
    def log_partition(self) -> float:
        return self.posterior.log_partition

    def span_probability(
        self, start: int, before: ArrayLike | None, inside: ArrayLike, after: ArrayLike | None
    ) -> float:
        """As `ChainPosterior.span_probability`."""
        lattice = self.posterior.lattice
        first, masks = span_masks((lattice.n_tokens, lattice.n_states), start, before, inside, after)
        return self.posterior.passage(first, masks) if len(masks) else 1.0


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
    potentials = problems.with_local_constraints
    if not problems.program.is_nonlocal.any():
        found = marginals(potentials, threads)
        return Marginals(found.node, found.log_partition + _of_empty(problems))
    node, log_partition = np.empty(potentials.unary.shape), np.empty(len(problems))

    def work(i: int, _: int) -> None:
        a, b = potentials.bounds(i)
        found = ConstrainedPosterior._of(problems[i], potentials[i], limits, first + i)
        node[a:b], log_partition[i] = found.node, found.log_partition

    map_chunks(work, range(len(problems) + 1), threads)
    return Marginals(node, log_partition)


@dataclass(frozen=True, eq=False)
class SpanProbabilities:
    """Of every sequence, what gives spans their probabilities under the rules; made when asked for, not kept.

    [i] raises TooManyStates if the limit does not suffice. It is quick to: also where the rules, if each
    multiplied the states as it does alone, would make too many.
    """

    problems: Problems
    limits: Limits = FOR_SUMS

    def __len__(self) -> int:
        return len(self.problems)

    def __getitem__(self, i: int) -> ChainPosterior | ConstrainedPosterior:
        if not self.problems.program.is_nonlocal.any():
            return ChainPosterior.of(self._potentials, i)
        return ConstrainedPosterior._of(self.problems[i], self._potentials[i], self.limits, i, quick=True)

    @cached_property
    def _potentials(self) -> Potentials:
        return self.problems.with_local_constraints


def quick_limits(n_states: int) -> Limits:
    """The product states that make about QUICK_STEPS steps, for chains of `n_states` states."""
    return Limits(states=QUICK_STEPS // n_states)


def _product(problem: Problem, potentials: Potentials, most_states: int, quick: bool) -> Lattice:
    """All labellings with all rules charged; first those that make the fewest product states alone."""
    if quick and problem.n_tokens * problem.n_states**2 > QUICK_STEPS:
        raise TooManyStates
    chain = Lattice.of(potentials, len(problem.schema), most_states=most_states)
    alone, expected = [], float(chain.n_nodes)
    for p, charge in enumerate(problem.charges):
        if not problem.program.is_nonlocal[p] and problem.n_tokens:
            continue  # in the scores; but a sequence without tokens has none
        lattice = chain.under(chain.reader(problem, charge), most_states=most_states)
        if lattice.same_as(chain):
            continue
        alone.append((lattice.n_nodes, p, lattice))
        expected *= lattice.n_nodes / chain.n_nodes
        if quick and expected > most_states:
            raise TooManyStates
    alone.sort(key=lambda entry: entry[:2])
    product = alone[0][2] if alone else chain
    for _, p, _ in alone[1:]:
        reader = product.reader(problem, problem.charges[p])
        product = product.under(reader, most_states=most_states)
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
