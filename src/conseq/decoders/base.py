"""What every decoder is: options as fields, and one method from a problem to an answer with a certificate."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields, replace
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conseq.errors import ConseqError
from conseq.kernels import clock
from conseq.kernels.rounding import rounding
from conseq.options import SECONDS
from conseq.problem import Decoding, Problem

GRACE = 0.1
"""Seconds in which rules may be made ready even where there is no time at all."""


@dataclass(frozen=True)
class Limits:
    """When to stop and give the best labelling so far with its gap.

    seconds       for one sequence, the time in which rules are made ready for it included
    iterations    rounds of a decoder that repeats
    states        product states kept, or labellings looked at, for one sequence
    nodes         nodes of the tree of an integer program; 0: `auto` ends after its search
    memory        MiB for the arrays that a search makes for one sequence; what would need more is not begun
    """

    seconds: float = SECONDS
    iterations: int = 1000
    states: int = 1_000_000
    nodes: float = np.inf
    memory: float = 2048.0

    def __post_init__(self) -> None:
        for field_ in fields(self):
            value = getattr(self, field_.name)
            if not value >= 0:
                raise ConseqError(f"the limit of {field_.name} is {value}; give a number of at least 0")

    def room(self, size: float, share: float = 0.25) -> float:
        """How many things of `size` bytes fit into a share of the memory."""
        return share * self.memory * 2**20 / size

    def after(self, seconds: float) -> Limits:
        """What is left of the limits once some seconds are gone."""
        return replace(self, seconds=max(0.0, self.seconds - seconds))

    def until(self, sequences: int = 1) -> float:
        """When `sequences` whose rules are made ready from now on have to be ready."""
        return clock.now() + GRACE + sequences * self.seconds


NO_LIMITS = Limits(seconds=np.inf)

Hint = ArrayLike | None
"""A labelling (states) that may be good; None: nothing is known."""


class Decoder(Protocol):
    """Finds a labelling of high score and an upper bound on all scores.

    Any constraints may be given. A decoder that cannot handle one leaves it out, which can only raise the
    bound, and scores its labelling with it; so the certificate is right all the same.
    """

    name: ClassVar[str]

    def decode(self, problem: Problem, *, limits: Limits = NO_LIMITS, hint: Hint = None) -> Decoding:
        """The answer for one sequence."""
        ...


@dataclass
class Best:
    """The best labelling met so far and the least upper bound proved so far."""

    problem: Problem
    states: np.ndarray | None = None
    score: float = -np.inf
    bound: float = np.inf
    begun: float = field(default_factory=clock.now)

    def offer(self, states: ArrayLike | None) -> list[int]:
        """Keep the labelling (None: there is none) if it is better; what it violates, as `violated` has
        it."""
        if states is None:
            return []
        violations = self.problem.violations(states)
        score = self.problem.score(states, violations)
        if score > self.score:
            self.states, self.score = np.array(states, dtype=np.int32), score
        return self.problem.program.nonlocal_violated(violations).tolist()

    def prove(self, bound: float) -> None:
        """No labelling scores more than `bound`; if all would have to score more, there is none."""
        self.bound = min(self.bound, bound)
        if self.states is None and self.bound < self.problem.lowest - 1e-6 * (1 + abs(self.problem.lowest)):
            self.bound = -np.inf

    @property
    def seconds(self) -> float:
        return clock.now() - self.begun

    def left(self, limits: Limits, share: float = 1.0) -> float:
        """A share of the seconds that are left."""
        return share * max(0.0, limits.seconds - self.seconds)

    def rest(self, limits: Limits, share: float = 1.0) -> Limits:
        """The limits with a share of the seconds that are left, for another decoder."""
        return replace(limits, seconds=self.left(limits, share))

    @property
    def closed(self) -> bool:
        """Whether nothing can be better by more than rounding."""
        return self.states is not None and self.bound <= self.score + rounding(self.score)

    @property
    def settled(self) -> bool:
        """Whether the answer is final: an optimum, or the proof that there is no labelling."""
        return self.closed or self.bound == -np.inf

    def is_done(self, limits: Limits) -> bool:
        """Whether the answer is final or the time is up."""
        return self.settled or self.seconds >= limits.seconds

    def decoding(self, iterations: float) -> Decoding:
        return Decoding.of(self.problem, self.states, self.bound, iterations=iterations, seconds=self.seconds)


def violations_of(problem: Problem, labellings: NDArray[np.int32]) -> NDArray[np.float64]:
    """How much each of many labellings [n,T] of one sequence violates each primitive, [n,P]."""
    n, length = labellings.shape
    labels, bounds = problem.label_of[labellings].reshape(-1), np.arange(n + 1) * length
    return problem.program.violations(labels, bounds, np.full(n, problem.first_token))


def bring_in(first: Iterable[int], solve: Callable[[list[int]], Iterable[int] | None], rounds: int) -> int:
    """Solve under the primitives that were violated so far until an answer violates no other; the rounds.

    Penalties are ≥ 0, so leaving primitives out can only raise the optimum: an answer that is best under
    some of them and violates no other is best under all. `solve` takes the primitives brought in, and gives
    those that its answer violates, or None to give up.
    """
    active: list[int] = []
    wanted: Iterable[int] | None = first
    for done in range(rounds):
        new = [] if wanted is None else sorted(set(wanted).difference(active))
        if not new:
            return done
        active += new
        wanted = solve(list(active))
    return rounds
