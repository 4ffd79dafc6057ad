"""What every decoder is: options as fields, and one method from a problem to an answer with a certificate."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conseq.errors import ConseqError
from conseq.kernels.rounding import rounding
from conseq.problem import Decoding, Problem


@dataclass(frozen=True)
class Limits:
    """When to stop and give the best labelling so far with its gap.

    seconds       for one sequence
    iterations    rounds of a decoder that repeats
    states        product states kept, or labellings looked at, for one sequence
    nodes         nodes of the tree of an integer program; 0: `auto` tries none
    """

    seconds: float = np.inf
    iterations: int = 1000
    states: int = 1_000_000
    nodes: float = np.inf

    def __post_init__(self) -> None:
        for field_ in fields(self):
            value = getattr(self, field_.name)
            if not value >= 0:
                raise ConseqError(f"the limit of {field_.name} is {value}; give a number of at least 0")


NO_LIMITS = Limits()


class Decoder(Protocol):
    """Finds a labelling of high score and an upper bound on all scores.

    Any constraints may be given. A decoder that cannot handle one leaves it out, which can only raise the
    bound, and scores its labelling with it; so the certificate is right all the same.
    """

    name: ClassVar[str]

    def decode(
        self, problem: Problem, *, limits: Limits = NO_LIMITS, hint: ArrayLike | None = None
    ) -> Decoding:
        """The answer for one sequence. A hint is a labelling (states) that may be good."""
        ...


@dataclass
class Best:
    """The best labelling met so far and the least upper bound proved so far."""

    problem: Problem
    states: np.ndarray | None = None
    score: float = -np.inf
    bound: float = np.inf
    begun: float = field(default_factory=time.perf_counter)

    def offer(self, states: ArrayLike | None) -> float:
        """Keep the labelling (None: there is none) if it is better; its score."""
        if states is None:
            return -np.inf
        score = self.problem.score(states)
        if score > self.score:
            self.states, self.score = np.array(states, dtype=np.int32), score
        return score

    def prove(self, bound: float) -> None:
        """No labelling scores more than `bound`; if all would have to score more, there is none."""
        self.bound = min(self.bound, bound)
        if self.states is None and self.bound < self.problem.lowest - 1e-6 * (1 + abs(self.problem.lowest)):
            self.bound = -np.inf

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.begun

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


def violated(problem: Problem, states: ArrayLike) -> list[int]:
    """The primitives that a labelling violates and pays for, except those that the scores charge step by
    step."""
    return problem.program.nonlocal_violated(problem.violations(states)).tolist()


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
