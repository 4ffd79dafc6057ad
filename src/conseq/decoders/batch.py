"""Many sequences decoded at once, their answers as arrays.

Problems ─→ decode_all ─→ Decodings: states[T], scores[N], bounds[N], iterations[N]; [i] is one Decoding
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np

from conseq.constraints.base import Constraint
from conseq.dtypes import Bools, Floats, States
from conseq.kernels.rounding import rounding
from conseq.problem import TOLERANCE, Certificate, Decoding, ProblemBatch

Batch = TypeVar("Batch", bound=ProblemBatch)


@dataclass(frozen=True, eq=False)
class Decodings(Generic[Batch]):
    """The answers for N sequences. A sequence without a labelling has states of −1 and the score −inf."""

    problems: Batch
    states: States  # [T]
    scores: Floats  # [N]
    bounds: Floats  # [N]
    iterations: Floats  # [N]
    seconds: Floats  # [N]

    @classmethod
    def empty(cls, problems: Batch) -> Decodings[Batch]:
        """Arrays to be filled in: no labelling, nothing proved."""
        n, tokens = len(problems), int(problems.offsets[-1])
        scores, bounds = np.full(n, -np.inf), np.full(n, np.inf)
        return cls(problems, np.full(tokens, -1, dtype=np.int32), scores, bounds, np.zeros(n), np.zeros(n))

    def put(self, i: int, decoding: Decoding) -> None:
        """Fill in the answer for one sequence."""
        a, b = self.problems.offsets[i : i + 2].tolist()
        self.states[a:b] = -1 if decoding.states is None else decoding.states
        self.scores[i] = decoding.score
        certificate = decoding.certificate
        self.bounds[i] = certificate.bound
        self.iterations[i], self.seconds[i] = certificate.iterations, certificate.seconds

    def __len__(self) -> int:
        return len(self.scores)

    def __getitem__(self, i: int) -> Decoding:
        if not -len(self) <= i < len(self):
            raise IndexError(f"sequence {i} of {len(self)}")
        a, b = self.problems.offsets[i % len(self) :][:2].tolist()
        states = self.states[a:b] if self.scores[i] > -np.inf else None
        return Decoding(self.problems[i], states, float(self.scores[i]), self.certificate(i))

    def certificate(self, i: int) -> Certificate:
        """How good the answer for one sequence is."""
        score = float(self.scores[i]) if self.scores[i] > -np.inf else None
        return Certificate.of(score, float(self.bounds[i]), float(self.iterations[i]), float(self.seconds[i]))

    def __iter__(self) -> Iterator[Decoding]:
        return (self[i] for i in range(len(self)))

    @property
    def rules(self) -> Sequence[Constraint]:
        return self.problems.program.rules

    @cached_property
    def labels(self) -> States:
        """The labels' ids of all tokens, −1 where there is no labelling, [T]."""
        return self.problems.labels(self.states)

    @cached_property
    def certified(self) -> Bools:
        """Which labellings are proved optimal, [N]."""
        with np.errstate(invalid="ignore"):
            gap = self.bounds - self.scores
        return (self.scores > -np.inf) & (gap <= rounding(self.scores, TOLERANCE))

    @cached_property
    def violations(self) -> Floats:
        """How much each sequence violates each rule, [N,K]."""
        program = self.problems.program
        return program.by_rule(program.violations(self.labels))
