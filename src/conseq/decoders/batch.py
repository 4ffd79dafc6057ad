"""Many sequences decoded at once, their answers as arrays.

Problems ─→ decode_all ─→ Decodings: states[T], scores[N], bounds[N], iterations[N]; [i] is one Decoding
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from conseq.constraints.base import Constraint
from conseq.problem import TOLERANCE, Certificate, Decoding, Problems

Floats = NDArray[np.float64]


class Found(Protocol):
    """The answers for N sequences of T tokens, K rules; a sequence without a labelling scores −inf."""

    @property
    def rules(self) -> Sequence[Constraint]: ...

    @property
    def labels(self) -> NDArray[np.int32]: ...  # [T], −1 where there is no labelling

    @property
    def scores(self) -> Floats: ...  # [N]

    @property
    def iterations(self) -> Floats: ...  # [N]

    @property
    def certified(self) -> NDArray[np.bool_]: ...  # [N]

    @property
    def violations(self) -> Floats: ...  # [N,K]

    def __getitem__(self, i: int) -> Decoding: ...

    def __iter__(self) -> Iterator[Decoding]: ...


@dataclass(frozen=True, eq=False)
class Decodings:
    """The answers for N sequences. A sequence without a labelling has states of −1 and the score −inf."""

    problems: Problems
    states: NDArray[np.int32]  # [T]
    scores: Floats  # [N]
    bounds: Floats  # [N]
    iterations: Floats  # [N]
    seconds: Floats  # [N]

    @classmethod
    def empty(cls, problems: Problems) -> Decodings:
        """Arrays to be filled in: no labelling, nothing proved."""
        n, tokens = len(problems), problems.potentials.n_tokens
        scores, bounds = np.full(n, -np.inf), np.full(n, np.inf)
        return cls(problems, np.full(tokens, -1, dtype=np.int32), scores, bounds, np.zeros(n), np.zeros(n))

    def put(self, i: int, decoding: Decoding) -> None:
        """Fill in the answer for one sequence."""
        a, b = self.problems.potentials.bounds(i)
        if decoding.states is not None:
            self.states[a:b] = decoding.states
        self.scores[i] = decoding.score
        certificate = decoding.certificate
        self.bounds[i] = certificate.bound
        self.iterations[i], self.seconds[i] = certificate.iterations, certificate.seconds

    def __len__(self) -> int:
        return len(self.scores)

    def __getitem__(self, i: int) -> Decoding:
        a, b = self.problems.potentials.bounds(i)
        found = bool(self.scores[i] > -np.inf)
        score = float(self.scores[i])
        certificate = Certificate.of(
            score if found else None,
            float(self.bounds[i]),
            float(self.iterations[i]),
            float(self.seconds[i]),
        )
        return Decoding(self.problems[i], self.states[a:b] if found else None, score, certificate)

    def __iter__(self) -> Iterator[Decoding]:
        return (self[i] for i in range(len(self)))

    @property
    def rules(self) -> Sequence[Constraint]:
        return self.problems.program.rules

    @cached_property
    def labels(self) -> NDArray[np.int32]:
        """The labels' ids of all tokens, −1 where there is no labelling, [T]."""
        return self.problems.potentials.labels(self.states)

    @cached_property
    def certified(self) -> NDArray[np.bool_]:
        """Which labellings are proved optimal, [N]."""
        with np.errstate(invalid="ignore"):
            gap = self.bounds - self.scores
        return (self.scores > -np.inf) & (gap <= TOLERANCE * (1 + np.abs(self.scores)))

    @cached_property
    def violations(self) -> Floats:
        """How much each sequence violates each rule, [N,K]."""
        program = self.problems.program
        return program.by_rule(program.violations(self.labels))
