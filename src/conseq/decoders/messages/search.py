"""`messages`: rules as automata that pass messages, and beams that know what each can still gain.

    Viterbi ─→ violated primitives ─→ pass, labelling ─→ violated by it? ─→ … as long as the gap shrinks
                                   ─→ passes, beam ─→ violated by its labelling? ─→ … ─→ wider beams

Where hundreds of rules interact, their product states have no room, and a bound that knows only
a few of them is too high to leave any out. Here each rule reads along for itself and is told, token by token,
what the others make of each label; rules that disagree most are joined. A beam that dropped nothing that
could have been better proves its labelling. Long texts get one beam, at last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from conseq.decoders.base import NO_LIMITS, Best, Hint, Limits
from conseq.decoders.chain.viterbi import first_answer
from conseq.decoders.lattice.search import lowered
from conseq.decoders.messages.shares import Shares
from conseq.dtypes import Floats
from conseq.kernels.rounding import rounding
from conseq.problem import Decoding, Problem

FIRST_PASSES = 2
"""Passes after primitives were taken in, before a beam shows what else is violated."""
LITTLE = 0.05
"""If passes close a smaller share of the gap, machines are joined."""
MUCH_LESS = 2
"""By how much violations may cost less, once a labelling is known, for machines to be made anew."""
MOST_TOKENS = 20_000
"""Tokens beyond which beams would take minutes to close a small gap."""
PATIENCE = 6
"""Passes in which the gap must shrink by this share for them to go on without a beam."""
PROGRESS = 0.05
SWEEPING = 0.9
"""Of the time that is left, what passes may take until then."""
LOST = 60
"""Passes without any labelling after which they end."""


@dataclass(frozen=True)
class MessagePassing:
    """Tree-reweighted message passing and beam search by turns.

    width      labellings that the first beam keeps
    widest     beams are widened up to this, twofold each time, as long as the gap stays

    >>> from conseq.constraints import Segments
    >>> from conseq.potentials import Potentials
    >>> from conseq.problem import Problems
    >>> from conseq.schema import Schema
    >>> scores = Potentials.of([[0.0, 3.0], [1.0, 0.0], [0.0, 2.0]])
    >>> rule = Segments("at most", 1, "A", penalty=5.0)
    >>> MessagePassing().decode(Problems.of(scores, Schema(["O", "A"], "plain"), [rule])[0])
    Decoding(A A A; score 5, OPTIMAL)
    """

    name: ClassVar[str] = "messages"

    width: int = 8
    widest: int = 1 << 16

    def decode(self, problem: Problem, *, limits: Limits = NO_LIMITS, hint: Hint = None) -> Decoding:
        """The best labelling and the least bound met within the limits."""
        best, wanted = first_answer(problem, hint)
        runs = 1.0 if problem.n_tokens else 0.0
        if wanted and not best.closed and limits.iterations > 1:
            runs = self._settle(best, set(wanted), limits)
        return best.decoding(iterations=runs)

    def _settle(self, best: Best, wanted: set[int], limits: Limits) -> float:
        """Improve the best labelling and the bound, with the violated primitives at first; all
        Viterbi runs."""
        return 1 + settle(best, wanted, limits, np.zeros(best.problem.program.n_linear), self).runs


class Settled(NamedTuple):
    """What it took."""

    runs: float  # of Viterbi
    multipliers: Floats  # those of the least bound, [R]
    primitives: set[int]  # those that were taken in


def settle(
    best: Best, wanted: set[int], limits: Limits, multipliers: Floats, options: MessagePassing
) -> Settled:
    """Make the labelling better and the bound lower, with some primitives at first.

    multipliers   of all sums, [R], to begin with; only those count whose sums are too large for machines
    """
    problem, search = best.problem, _Search(options, best, limits)
    sweep(best, search.shares, wanted, multipliers, limits)
    if problem.n_tokens <= MOST_TOKENS:
        search.run()
    elif not best.is_done(limits):
        search.look()
    runs = (search.work + search.shares.work) / (problem.n_tokens * problem.n_states**2)
    return Settled(runs, search.shares.least, search.shares.primitives)


class _Search:
    """Beams and passes by turns, each about as long as the other."""

    def __init__(self, options: MessagePassing, best: Best, limits: Limits) -> None:
        self.options, self.best, self.limits = options, best, limits
        self.shares = shares_of(best, limits)
        self.first_bound = self.shares.bound
        self.width, self.rounds = options.width, 0
        self.looked = 0.0  # work of the last beam
        self.work = 0.0  # of shares that were made anew

    def run(self) -> None:
        """Beams and passes by turns; takes in what labellings violate."""
        new: set[int] = set()
        if self.best.states is not None and self._most > self.shares.most:
            self._start_anew(new)
        while not self._is_over():
            self.rounds += 1
            if self.shares.add(new):
                self.width = self.options.width
                self._pass(FIRST_PASSES)
            else:
                self._pass()
            before = self.best.score
            new = self.look()
            if self.best.score > before:
                if not self._most <= self.shares.most <= MUCH_LESS * self._most:
                    self._start_anew(new)
            elif not new - self.shares.primitives:
                self.width *= 2

    def _is_over(self) -> bool:
        done = self.best.is_done(self.limits) or self.rounds >= self.limits.iterations
        return done or self.width > min(self.options.widest, self.shares.widest)

    def look(self) -> set[int]:
        """A beam; the primitives that its labelling violates."""
        begun = self.shares.work
        found = look(self.best, self.shares, self.width)
        self.looked = self.shares.work - begun
        return found

    def _pass(self, most: float = np.inf) -> None:
        """Pass messages for as long as the last beam took, or `most` times."""
        best, shares, passes = self.best, self.shares, 0
        begun, bound = shares.work, shares.bound
        while not best.is_done(self.limits) and passes < most:
            if not pass_messages(best, shares):
                return
            passes += 1
            if most == np.inf and shares.work - begun >= self.looked:
                break
        gap = bound - best.score if best.states is not None else 1 + abs(bound)
        if most == np.inf and bound - shares.bound < LITTLE * gap and not best.is_done(self.limits):
            shares.join(LITTLE * gap / 10, 2 * shares.work - begun + self.looked)

    @property
    def _most(self) -> float:
        """What a violation must cost to make any labelling worse than the best one."""
        return self.first_bound - self.best.score + 1

    def _start_anew(self, wanted: set[int]) -> None:
        """Machines are smaller where large costs need not be told apart; worth it for the first labelling."""
        self.work += self.shares.work
        known, least = wanted | self.shares.primitives, self.shares.least
        self.shares = Shares(self.best.problem, self._most, self.shares.until, self.limits)
        self.shares.add(known)
        self.shares.charge(least)
        self.width = self.options.width


def pass_messages(best: Best, shares: Shares) -> bool:
    """A pass, and what it proves; False if no labelling can be better than the best one."""
    able = shares.pass_messages(lowered(best.score))
    best.prove(shares.bound if able else best.score)
    return able


def look(best: Best, shares: Shares, width: int) -> set[int]:
    """A beam for something better than the best labelling; the primitives that what it finds violates."""
    floor = best.score + rounding(best.score) / 2 if best.score > -np.inf else -np.inf
    found = shares.beam(width, floor)
    best.prove(max(found.bound, floor))
    return set(best.offer(found.states))


def sweep(best: Best, shares: Shares, wanted: set[int], multipliers: Floats, limits: Limits) -> int:
    """Passes, and after each a labelling, whose violations are taken in, and a step of the multipliers; as
    long as that gets anywhere. The labellings made.

    multipliers   of all sums, [R], to begin with; `shares` ends with those of the least bound
    """
    gaps: list[float] = []
    shares.add(wanted)
    shares.begin(multipliers, 1.0 + min(abs(best.bound), best.bound - best.score))
    until = best.seconds + best.left(limits, SWEEPING)
    while not best.is_done(limits) and best.seconds < until and len(gaps) < limits.iterations:
        if not pass_messages(best, shares):
            break
        states = shares.labelling()
        shares.add(best.offer(states))
        gaps.append(best.bound - best.score)
        before = gaps[-1 - PATIENCE] if len(gaps) > PATIENCE else np.inf
        lost = best.states is None and len(gaps) >= LOST
        is_slow = gaps[-1] > (1 - PROGRESS) * before and shares.is_slow
        moved = states is not None and shares.step(states, best.score)
        if is_slow or lost or not (moved or shares.machines):
            break
    if shares.sums:
        shares.charge(shares.least)
    return len(gaps)


def shares_of(best: Best, limits: Limits, with_sums: bool = True) -> Shares:
    """Scores that nothing shares yet. No violation costs more than what a labelling would have to lose to be
    worse than the best one; if none is known, than few do."""
    problem = best.problem
    shares = Shares(problem, np.inf, best.begun + limits.seconds, limits, with_sums)
    if best.states is not None:
        shares.most = shares.bound - best.score + 1
    else:
        scores = problem.with_local_constraints
        parts = (scores.unary, scores.pairwise, scores.start, scores.end)
        largest = [np.abs(part[np.isfinite(part)]).max(initial=0.0) for part in parts]
        shares.most = 1 + 2 * (1 + problem.n_tokens) * float(sum(largest))
    return shares
