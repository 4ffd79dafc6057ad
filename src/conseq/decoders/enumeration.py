"""All labellings, one by one: the oracle that the other decoders are tested against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from conseq.decoders.base import NO_LIMITS, Best, Hint, Limits, violations_of
from conseq.dtypes import Floats, States
from conseq.errors import ConseqError
from conseq.problem import Decoding, Problem

BATCH = 1 << 14


@dataclass(frozen=True)
class Enumerate:
    """Scores every labelling. For small problems, and for tests."""

    name: ClassVar[str] = "enumerate"

    def decode(self, problem: Problem, *, limits: Limits = NO_LIMITS, hint: Hint = None) -> Decoding:
        """The best of all labellings; the first in lexicographic order among equals."""
        best = Best(problem)
        top = -np.inf
        for states in labellings(problem, limits):
            scores = all_scores(problem, states)
            winner = int(np.argmax(scores))
            if scores[winner] > top:
                top = float(scores[winner])
                best.offer(states[winner])
        best.prove(best.score)
        return best.decoding(iterations=1)


def labellings(problem: Problem, limits: Limits = NO_LIMITS) -> list[States]:
    """All labellings in lexicographic order, in pieces [n,T]."""
    size, length = problem.n_states, problem.n_tokens
    total = size**length
    if total > limits.states:
        raise ConseqError(
            f"{size} labels and {length} tokens make {total:,} labellings, more than the limit of "
            f"{limits.states:,}; use another decoder"
        )
    powers = size ** np.arange(length - 1, -1, -1, dtype=np.int64)
    pieces = np.array_split(np.arange(total, dtype=np.int64), -(-total // BATCH))
    return [(piece[:, None] // powers % size).astype(np.int32) for piece in pieces]


def all_scores(problem: Problem, states: States) -> Floats:
    """Problem.score of many labellings [n,T] of one sequence, [n]."""
    model = np.array([problem.potentials.score(row) for row in states])
    return model - problem.program.costs(violations_of(problem, states))
