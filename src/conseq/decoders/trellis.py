"""The trellis of one sequence as a list of edges: a labelling is a path from START to END.

    Potentials ─→ Trellis: step[E], before[E], after[E], score[E], ahead[E], through[E]

Edge e belongs to step t of 0 … T and leads from one state to another; the index S stands for START before
step 0 and for END after step T. Edges of score −inf are left out, and so are those that no path from START to
END takes. Edges are ordered by step, then by the state before it.

Axes: T tokens, S states, E edges.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from conseq.constraints.primitives import Primitive
from conseq.potentials import Potentials
from conseq.problem import Problem

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Trellis:
    """The edges that labellings can take.

    >>> trellis = Trellis.of(Potentials.of([[0.0, 1.0], [2.0, -np.inf]]))
    >>> trellis.before.tolist(), trellis.after.tolist(), trellis.through.tolist()
    ([2, 2, 0, 1, 0], [0, 1, 0, 0, 2], [2.0, 3.0, 2.0, 3.0, 3.0])
    """

    n_tokens: int
    n_states: int
    step: Ints  # [E]
    before: Ints  # [E]
    after: Ints  # [E]
    score: Floats  # [E]
    ahead: Floats  # [E], the best score from the state after the edge to END
    through: Floats  # [E], the best score of a labelling that takes the edge

    @classmethod
    def of(cls, potentials: Potentials, least: float = -np.inf) -> Trellis:
        """The edges of one sequence; only those that labellings of score ≥ `least` take."""
        length, size = potentials.unary.shape
        scores = _step_scores(potentials)
        forward, backward = _forward(scores), _backward(scores)
        pieces = []
        for t, score in enumerate(scores):
            through = forward[t][:, None] + score + backward[t][None, :]
            before, after = np.nonzero((through > -np.inf) & (through >= least))
            places = np.full(len(before), t), before, after
            pieces.append((*places, score[before, after], backward[t][after], through[before, after]))
        step, before, after, *scored = (np.concatenate(column) for column in zip(*pieces, strict=True))
        before = np.where(step == 0, size, before)
        after = np.where(step == length, size, after)
        return cls(length, size, step, before, after, *scored)

    def __len__(self) -> int:
        return len(self.step)

    @property
    def best(self) -> float:
        """The score of the best labelling; −inf if there is none."""
        return float(self.through.max(initial=-np.inf))

    @cached_property
    def offsets(self) -> Ints:
        """Where the edges of each step begin, [T+2]."""
        return np.searchsorted(self.step, np.arange(self.n_tokens + 2))

    def reads(self, problem: Problem, primitive: Primitive) -> Ints:
        """What a primitive reads on each edge (an amount or a symbol), [E]."""
        classes = np.append(problem.classes(primitive), 0)  # the step to END belongs to no token
        labels = np.append(problem.label_of, len(problem.schema)).astype(np.int64)
        read: Ints = primitive.steps[classes[self.step], labels[self.before], labels[self.after]]
        return read

    def longest(self, amounts: NDArray) -> float:
        """The largest sum of amounts [E] along a path."""
        reached = np.full(self.n_states + 1, -np.inf)
        reached[self.n_states] = 0.0
        for a, b in zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True):
            further = np.full(self.n_states + 1, -np.inf)
            np.maximum.at(further, self.after[a:b], reached[self.before[a:b]] + amounts[a:b])
            reached = further
        return float(reached[self.n_states])


def _step_scores(potentials: Potentials) -> list[Floats]:
    """The scores of the edges of each step: [1,S], then [S,S] each, at last [S,1]; [1,1] without tokens."""
    if potentials.n_tokens == 0:
        return [np.zeros((1, 1))]
    unary = np.asarray(potentials.unary, dtype=np.float64)
    kind = np.zeros(len(unary), dtype=np.int64) if potentials.kind is None else potentials.kind
    inner = [potentials.pairwise[kind[t]] + unary[t] for t in range(1, len(unary))]
    return [(potentials.start + unary[0])[None, :], *inner, potentials.end[:, None]]


def _forward(scores: list[Floats]) -> list[Floats]:
    """The best scores from START to the states before each step."""
    reached = [np.zeros(1)]
    for score in scores[:-1]:
        reached.append((reached[-1][:, None] + score).max(axis=0))
    return reached


def _backward(scores: list[Floats]) -> list[Floats]:
    """The best scores from the states after each step to END."""
    left = [np.zeros(1)]
    for score in scores[:0:-1]:
        left.append((score + left[-1][None, :]).max(axis=1))
    return left[::-1]
