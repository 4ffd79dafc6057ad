"""`auto`: the cheapest way that certifies the answer, for one sequence or many.

    all sequences: Viterbi ─→ nothing violated: optimal, and that is most of them
    the others:    a few runs of Soft-DD, which give multipliers, a bound and often the optimum
    the rest:      product states of what is violated, near the bound only (`lattice/search.py`)
    the hardest:   annealing for a good labelling; messages that make chain and rules want the same labels and
                   guide beams (`messages/`); windows of the labelling solved anew; rules in the states of the
                   chain; a longer search; the ILP

Every step keeps the best labelling and the least bound; a limit gives these and their gap.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from conseq.corpus import gathered
from conseq.decoders.base import NO_LIMITS, Best, Decoder, Hint, Limits
from conseq.decoders.batch import Decodings
from conseq.decoders.beam import Beam
from conseq.decoders.chain.viterbi import Viterbi, chain_of, chunks
from conseq.decoders.chain_as_variables import ChainAsVariables
from conseq.decoders.dual import Dual
from conseq.decoders.enumeration import Enumerate
from conseq.decoders.ilp import ILP
from conseq.decoders.lattice.lattice import EDGES_PER_STATE
from conseq.decoders.lattice.tracked import Primitives
from conseq.decoders.lazy import Lazy, ShiftedChain, refine
from conseq.decoders.messages.absorbing import absorb
from conseq.decoders.messages.annealing import anneal
from conseq.decoders.messages.neighbourhoods import improve
from conseq.decoders.messages.search import MessagePassing, settle
from conseq.decoders.twostage import TwoStage
from conseq.errors import ConseqError
from conseq.kernels import chain, clock, softdd
from conseq.kernels.rounding import rounding
from conseq.potentials import Potentials
from conseq.problem import Decoding, Problem, Problems
from conseq.threads import map_chunks, run

FIRST_RUNS = 6
"""Runs of Soft-DD before product states are searched."""
SPREAD = 4.0
"""How far below the bound Soft-DD aims at first."""
SMALL_PROGRAM = 50_000
"""Steps of a chain for which the relaxation of the ILP is quick enough to be asked before a long search."""
LONG = 1_000_000
"""Steps of a chain beyond which the last steps are for sequences without any labelling."""
SHARE = 0.4
"""Of the time that is left, what each step may take, so that the next one has a turn."""
LARGER_SHARE = 0.7
"""The same for the step that settles most of what is left."""
SMALLER_SHARE = 0.2
"""The same for what makes labellings better, and proves nothing."""
FIRST_STATES, FIRST_SECONDS = 1 << 17, 0.2
"""Product states, edges of the lattice and seconds that the first search may take."""
FIRST_BEAMS = MessagePassing(widest=1 << 13)
"""Beams before rules are taken into the states of the chain."""
TOKENS_AT_ONCE = 20_000
"""Tokens of sequences that violate something which go through Soft-DD in one call."""


@dataclass(frozen=True)
class Auto:
    """Viterbi, product states, multipliers, ILP: as much as the sequence needs."""

    name: ClassVar[str] = "auto"

    def decode(self, problem: Problem, *, limits: Limits = NO_LIMITS, hint: Hint = None) -> Decoding:
        """The best labelling with its certificate."""
        problems = Problems(problem.potentials, problem.program, problem.first_token)
        decodings = Decodings.empty(problems)
        _decode_range(decodings, problems.with_local_constraints, limits, 0, 1, hint)
        return decodings[0]


DECODERS: dict[str, type[Decoder]] = {
    decoder.name: decoder
    for decoder in (
        Auto,
        Viterbi,
        Lazy,
        Dual,
        MessagePassing,
        ILP,
        TwoStage,
        Beam,
        ChainAsVariables,
        Enumerate,
    )
}
"""Every decoder by its name."""


def find_decoder(name: str | Decoder) -> Decoder:
    """The decoder of a name, with its default options."""
    if not isinstance(name, str) and hasattr(name, "decode"):
        return name
    if name not in DECODERS:
        raise ConseqError(f"there is no decoder {name!r}; choose one of {', '.join(DECODERS)}")
    return DECODERS[name]()


def decode_all(
    problems: Problems, decoder: str | Decoder = "auto", *, limits: Limits = NO_LIMITS, threads: int = 1
) -> Decodings[Problems]:
    """The answers for all sequences."""
    chosen = find_decoder(decoder)
    decodings = Decodings.empty(problems)
    if not isinstance(chosen, Auto):
        decode_each(decodings, np.arange(len(problems)), chosen, limits, threads)
        return decodings
    potentials = problems.with_local_constraints

    def work(first: int, last: int) -> None:
        _decode_range(decodings, potentials, limits, first, last)

    map_chunks(work, chunks(potentials, threads), threads)
    return decodings


def decode_each(
    decodings: Decodings,
    sequences: NDArray[np.int64],
    decoder: Decoder,
    limits: Limits = NO_LIMITS,
    threads: int = 1,
) -> None:
    """Fill in the answers for some sequences, each decoded by itself, whatever states it has."""

    def work(i: int) -> None:
        decodings.put(i, decoder.decode(decodings.problems[i], limits=limits))

    run([partial(work, i) for i in sequences.tolist()], threads)


def _decode_range(
    decodings: Decodings,
    potentials: Potentials,
    limits: Limits,
    first: int,
    last: int,
    hint: Hint = None,
) -> None:
    """Fill in the answers for the sequences first … last−1; local constraints are in the potentials."""
    begun = clock.now()
    violated = _viterbi(decodings, potentials, first, last)
    hard = first + np.flatnonzero(violated.any(axis=1))
    decodings.iterations[first:last] = 1
    decodings.seconds[first:last] = (clock.now() - begun) / max(1, last - first)
    if len(hard):
        solver = _SequenceSolver(decodings, potentials, limits, hint)
        for group in _groups(hard, potentials.lengths[hard]):
            solver.run(group, violated[group - first])
    part = slice(first, last)  # rounding may put a bound below the score that it bounds
    decodings.bounds[part] = np.maximum(decodings.bounds[part], decodings.scores[part])


def _viterbi(decodings: Decodings, potentials: Potentials, first: int, last: int) -> NDArray[np.bool_]:
    """Viterbi for a range of sequences; which primitives each violates that the scores do not know of, [N,P].

    Sequences that violate none are answered with this.
    """
    problems = decodings.problems
    program = problems.program
    chain.viterbi(chain_of(potentials), first, last, decodings.states, decodings.bounds)
    bounds = potentials.offsets[first : last + 1]
    a, b = int(bounds[0]), int(bounds[-1])
    labels = potentials.labels(decodings.states[a:b])
    violations = program.violations(labels, bounds - a, bounds[:-1] + problems.first_token)
    decodings.scores[first:last] = decodings.bounds[first:last]
    special = np.flatnonzero((violations > 0).any(axis=1) | (potentials.lengths[first:last] == 0))
    _rescore(decodings, first + special, violations[special])
    empty = first + np.flatnonzero(potentials.lengths[first:last] == 0)
    decodings.bounds[empty] = decodings.scores[empty]
    violations[empty - first] = 0
    return (violations > 0) & program.is_nonlocal


def _rescore(decodings: Decodings, sequences: NDArray[np.int64], violations: NDArray[np.float64]) -> None:
    """The scores of labellings that violate something, as `Problem.score` defines them."""
    problems = decodings.problems
    costs = problems.program.costs(violations)
    for i, cost in zip(sequences.tolist(), costs.tolist(), strict=True):
        if cost == np.inf:
            decodings.scores[i] = -np.inf
            continue
        a, b = problems.potentials.bounds(i)
        decodings.scores[i] = problems.potentials.score(decodings.states[a:b], i) - cost


def _groups(hard: NDArray[np.int64], lengths: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """The hard sequences in groups of a limited number of tokens."""
    number = np.cumsum(lengths) // TOKENS_AT_ONCE
    yield from np.split(hard, np.flatnonzero(np.diff(number)) + 1)


class _SequenceSolver:
    """Solves the sequences that Viterbi alone does not, with memory that they share."""

    def __init__(self, decodings: Decodings, potentials: Potentials, limits: Limits, hint: Hint) -> None:
        self.decodings = decodings
        self.potentials = potentials
        self.limits = limits
        self.hint = hint
        self.program = decodings.problems.program
        self.primitives = Primitives.of(self.program)

    def run(self, sequences: NDArray[np.int64], violated: NDArray[np.bool_]) -> None:
        """Answer each sequence; violated[·,P] is what its Viterbi labelling violates."""
        begun = clock.now()
        multipliers = self._tighten(sequences)
        closed = self._closed(sequences)
        self.decodings.seconds[sequences] += (clock.now() - begun) / len(sequences)
        for k in np.flatnonzero(~closed).tolist():
            self._solve(int(sequences[k]), violated[k], multipliers[k])

    def _closed(self, sequences: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Give the labellings of Soft-DD their scores; which are proved to be the best, [·]."""
        decodings, potentials = self.decodings, self.potentials
        found = sequences[decodings.scores[sequences] > -np.inf]
        bounds, tokens = gathered(potentials.offsets, found)
        labels = potentials.labels(decodings.states[tokens])
        starts = potentials.offsets[found] + decodings.problems.first_token
        _rescore(decodings, found, self.program.violations(labels, bounds, starts))
        scores = decodings.scores[sequences]
        with np.errstate(invalid="ignore"):
            near = decodings.bounds[sequences] <= scores + rounding(scores)
        return near & (scores > -np.inf) & (self.hint is None)

    def _tighten(self, sequences: NDArray[np.int64]) -> NDArray[np.float64]:
        """Soft-DD for each sequence, from its best labelling on; the multipliers it ends with, [·,K]."""
        decodings, program = self.decodings, self.program
        task = softdd.Task(
            chain_of(self.potentials),
            decodings.problems.first_token,
            program.arrays,
            np.where(program.is_nonlocal, program.penalties, 0.0),
            self.primitives.ceilings,
            self.primitives.effects(self.potentials),
            max(0, min(FIRST_RUNS, self.limits.iterations - 1)),
            SPREAD,
        )
        found = softdd.Found(decodings.states, decodings.bounds, decodings.scores)
        made = np.zeros(len(sequences), dtype=np.int64)
        multipliers = np.zeros((len(sequences), program.n_linear))
        softdd.softdd(task, sequences, found, made, multipliers)
        decodings.iterations[sequences] += made
        return multipliers

    def _solve(self, i: int, violated: NDArray[np.bool_], multipliers: NDArray[np.float64]) -> None:
        decodings = self.decodings
        a, b = self.potentials.bounds(i)
        problem = decodings.problems[i]
        best = Best(problem, begun=clock.now() - float(decodings.seconds[i]))
        if decodings.scores[i] > -np.inf:
            best.states, best.score = decodings.states[a:b].copy(), float(decodings.scores[i])
        best.offer(self.hint)
        best.prove(float(decodings.bounds[i]))
        share = self._share(best)
        soon = min(share.seconds, best.seconds + FIRST_SECONDS)
        little = replace(share, states=min(FIRST_STATES, share.states), seconds=soon)
        runs = self._search(i, best, violated, multipliers, little, 1)
        if not best.is_done(self.limits):
            runs += self._go_on(i, best, violated, multipliers)
        self._put(i, best, runs)

    def _go_on(
        self, i: int, best: Best, violated: NDArray[np.bool_], multipliers: NDArray[np.float64]
    ) -> float:
        """What takes longer, for a sequence that the first search did not settle; the Viterbi runs."""
        if self.limits.nodes == 0:
            return 0.0
        wanted = {*np.flatnonzero(violated).tolist(), *np.flatnonzero(multipliers).tolist()}
        is_long = best.problem.n_tokens * best.problem.n_states**2 > LONG
        if is_long:  # every step takes long, so these few have all the time
            runs = self._ask(best, Dual(), LARGER_SHARE)
        else:
            runs = self._ask(best, Dual(width=0), SMALLER_SHARE)  # passes are quick without sums
            runs += anneal(best, self._share(best, SMALLER_SHARE))
        share = self._share(best, LARGER_SHARE if is_long else SHARE)
        settled = settle(best, wanted, share, multipliers, FIRST_BEAMS)
        runs, multipliers = runs + settled.runs, settled.multipliers
        if is_long and best.states is not None:  # what follows would take minutes to close a small gap
            return runs
        runs += improve(best, self._share(best, SMALLER_SHARE))
        runs += absorb(best, settled.primitives, self._share(best, LARGER_SHARE))
        if best.states is None and best.problem.n_tokens * best.problem.n_states**2 <= SMALL_PROGRAM:
            runs += self._ask(best, ILP(relax=True))  # often shows that there is no labelling
        runs += self._search(i, best, violated, multipliers, self._share(best))
        self._ask(best, ILP(), 1.0)
        return runs

    def _share(self, best: Best, share: float = SHARE) -> Limits:
        """A share of what is left of the time."""
        return replace(self.limits, seconds=best.seconds + best.left(self.limits, share))

    def _ask(self, best: Best, decoder: Decoder, share: float = SHARE) -> float:
        """Another decoder, for a share of what is left of the time; its iterations."""
        if best.is_done(self.limits):
            return 0.0
        answer = decoder.decode(best.problem, limits=best.rest(self.limits, share), hint=best.states)
        best.offer(answer.states)
        best.prove(answer.certificate.bound)
        return answer.certificate.iterations

    def _search(
        self,
        i: int,
        best: Best,
        violated: NDArray[np.bool_],
        multipliers: NDArray[np.float64],
        limits: Limits,
        edges_per_state: float = EDGES_PER_STATE,
    ) -> float:
        """Product states of what is violated or has a multiplier; the Viterbi runs."""
        if best.is_done(self.limits):
            return 0.0
        active = violated.copy()
        active[: len(multipliers)] |= multipliers > 0
        potentials = self.potentials[i]
        chain = ShiftedChain(best.problem, potentials, multipliers)
        return refine(best, chain, np.flatnonzero(active).tolist(), limits, edges_per_state)

    def _put(self, i: int, best: Best, runs: float) -> None:
        decodings = self.decodings
        a, b = self.potentials.bounds(i)
        decodings.states[a:b] = -1 if best.states is None else best.states
        decodings.scores[i] = best.score
        decodings.bounds[i] = max(best.bound, best.score)
        decodings.iterations[i] += runs
        decodings.seconds[i] = best.seconds
