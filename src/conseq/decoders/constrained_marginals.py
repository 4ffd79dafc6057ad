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

import numpy as np

from conseq.decoders.base import Limits
from conseq.decoders.chain.marginals import ChainPosterior, Marginals, marginals
from conseq.decoders.lattice.lattice import EDGE, EDGES_PER_STATE, Lattice, TooManyStates
from conseq.decoders.lattice.posterior import Posterior
from conseq.decoders.lattice.reader import Reader
from conseq.dtypes import Bools
from conseq.errors import InfeasibleError
from conseq.problem import Problem, Problems
from conseq.threads import map_chunks

FOR_SUMS = Limits(states=200_000)
"""Product states of one sequence that sums may run over, unless other limits are given."""
QUICK_STEPS = 500_000
"""The steps between product states where an answer is welcome, but not worth waiting for: some 10 to 20 ms
for one sequence, and less to find that there is none."""


def constrained_posterior(
    problem: Problem, limits: Limits = FOR_SUMS, i: int = 0, quick: bool = False
) -> Posterior:
    """The distribution over the labellings of one sequence under all its rules.

    InfeasibleError if there is no labelling, TooManyStates if the limit does not suffice; messages call it
    sequence i.

    >>> from conseq.constraints import Segments
    >>> from conseq.potentials import Potentials
    >>> from conseq.schema import Schema
    >>> scores = Potentials.of(np.zeros((3, 2)))
    >>> problem = Problems.of(scores, Schema(["O", "x"], "plain"), [Segments("exactly", 1, "x")])[0]
    >>> constrained_posterior(problem).states[:, 1].round(6)  # xOO OxO OOx xxO Oxx xxx
    array([0.5     , 0.666667, 0.5     ])
    """
    try:
        posterior = Posterior.of(_product(problem, limits, quick))
    except TooManyStates:
        raise TooManyStates(
            f"sequence {i} (from 0): the rules make more than {limits.states:,} product states, the limit "
            f"for exact probabilities, or take more than {limits.seconds:g} s or {limits.memory:,g} MiB; "
            "give fewer rules, or none (--constraints none)"
        ) from None
    if posterior.log_partition == -np.inf:
        raise InfeasibleError(
            f"sequence {i} (from 0) has no labelling: each breaks a hard rule or meets a score of -inf; "
            "drop a hard rule or give it a penalty, or allow more states or steps"
        )
    return posterior


def constrained_marginals_all(
    problems: Problems, limits: Limits = FOR_SUMS, threads: int = 1, first: int = 0
) -> Marginals:
    """Marginals of every token of every sequence under the rules.

    `first` is the number that messages give to the first sequence, for problems that are part of more.
    """
    potentials = problems.with_local_constraints
    if not problems.program.is_nonlocal.any():
        found = marginals(potentials, threads)
        for i in np.flatnonzero(potentials.lengths == 0).tolist():  # which the chain takes for 0
            found.log_partition[i] = constrained_posterior(problems[i], limits, first + i).log_partition
        return found
    node, log_partition = np.empty(potentials.unary.shape), np.empty(len(problems))

    def work(i: int, _: int) -> None:
        a, b = potentials.bounds(i)
        found = constrained_posterior(problems[i], limits, first + i)
        node[a:b], log_partition[i] = found.states, found.log_partition

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

    def __getitem__(self, i: int) -> ChainPosterior | Posterior:
        potentials = self.problems.with_local_constraints  # of all, which makes those of each quick
        if not self.problems.program.is_nonlocal.any():
            return ChainPosterior.of(potentials, i)
        return constrained_posterior(self.problems[i], self.limits, i, quick=True)

    def forbid(self, steps: Bools) -> bool:
        """Whether no labelling takes any of some steps, [S+1,S+1]; START and END are the last."""
        scores = self.problems.with_local_constraints
        parts = (
            (scores.pairwise, steps[:-1, :-1]),
            (scores.start, steps[-1, :-1]),
            (scores.end, steps[:-1, -1]),
        )
        return all(bool(np.isneginf(scores[..., which]).all()) for scores, which in parts)


def quick_limits(n_states: int) -> Limits:
    """The product states that make about QUICK_STEPS steps, for chains of `n_states` states."""
    return Limits(states=QUICK_STEPS // n_states)


def _product(problem: Problem, limits: Limits, quick: bool) -> Lattice:
    """All labellings with all rules charged; first those that make the fewest product states alone."""
    if quick and problem.n_tokens * problem.n_states**2 > QUICK_STEPS:
        raise TooManyStates
    until = limits.until()

    def charged(lattice: Lattice, p: int) -> Lattice:
        return Reader.of(lattice, problem, problem.charges[p]).product(limits=limits, until=until)

    most_edges = min(EDGES_PER_STATE * limits.states, limits.room(EDGE))
    chain = Lattice.of(problem.with_local_constraints, len(problem.schema), most_edges=most_edges)
    alone, expected = [], float(chain.n_nodes)
    for p in range(len(problem.charges)):
        if not problem.program.is_nonlocal[p] and problem.n_tokens:
            continue  # in the scores; but a sequence without tokens has none
        lattice = charged(chain, p)
        if lattice.same_as(chain):
            continue
        alone.append((lattice.n_nodes, p, lattice))
        expected *= lattice.n_nodes / chain.n_nodes
        if quick and expected > limits.states:
            raise TooManyStates
    alone.sort(key=lambda entry: entry[:2])
    product = alone[0][2] if alone else chain
    for _, p, _ in alone[1:]:
        product = charged(product, p)
    return product
