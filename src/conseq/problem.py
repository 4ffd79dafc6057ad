"""A problem: scores and constraints; and what a decoder answers.

    Potentials + constraints ─→ Problems (many sequences) ─→ Problem (one) ─→ decoder ─→ Decoding
    anything else that makes a Problem for each of many sequences is a ProblemBatch, too

    Problem.score(y) = model score − Σ penalty · violation         the single definition of the objective

Where states are not labels (`Potentials.label_of`), y are states.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conseq.constraints.base import Constraint, Rule
from conseq.constraints.primitives import Primitive
from conseq.constraints.program import Charge, Program
from conseq.constraints.relaxation import shifted
from conseq.corpus import Corpus
from conseq.errors import ScoreError
from conseq.kernels.rounding import rounding
from conseq.potentials import Potentials
from conseq.schema import Schema

TOLERANCE = 1e-7
"""A gap of at most this times (1 + |score|) is none; see `kernels/rounding.py` for large scores."""


class ProblemBatch(Protocol):
    """The problems of N sequences, T tokens in all, that share their rules but not always their states."""

    @property
    def program(self) -> Program: ...

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Sequence i owns the tokens offsets[i] … offsets[i+1]−1, [N+1]."""
        ...

    def __len__(self) -> int: ...

    def __getitem__(self, i: int) -> Problem: ...

    def labels(self, states: NDArray[np.int32]) -> NDArray[np.int32]:
        """The labels of the states of all tokens, [T] ─→ [T]; −1 (no labelling) stays −1."""
        ...


@dataclass(frozen=True, eq=False)
class Scored:
    """Scores, and the constraints that hold for each of their sequences."""

    potentials: Potentials
    program: Program
    first_token: int = 0  # where the first sequence begins in the program's corpus

    @property
    def schema(self) -> Schema:
        return self.program.schema

    @cached_property
    def with_local_constraints(self) -> Potentials:
        """The scores with the constraints charged that look at one step at a time, if there are any."""
        penalties = self.program.local_penalties
        if not penalties:
            return self.potentials
        return shifted(self.potentials, self.program, penalties, self.first_token)


@dataclass(frozen=True, eq=False)
class Problems(Scored):
    """The scores of N sequences, and the constraints that hold for each of them."""

    @classmethod
    def of(
        cls,
        potentials: Potentials,
        schema: Schema,
        constraints: Iterable[Constraint] = (),
        corpus: Corpus | None = None,
        until: float = np.inf,
    ) -> Problems:
        """Lower the constraints for these sequences; without a corpus they must not look at tokens.

        TooLate if the clock (`clock.now`) passes `until` before.
        """
        _check_fit(potentials, schema, corpus)
        tokens = Corpus({}, potentials.offsets) if corpus is None else corpus
        return cls(potentials, Program.of(constraints, schema, tokens, until))

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Sequence i owns the tokens offsets[i] … offsets[i+1]−1, [N+1]."""
        return self.potentials.offsets

    def labels(self, states: NDArray[np.int32]) -> NDArray[np.int32]:
        """The labels of the states of all tokens, [T] ─→ [T]; −1 (no labelling) stays −1."""
        return self.potentials.labels(states)

    def __len__(self) -> int:
        return len(self.potentials)

    def __getitem__(self, i: int) -> Problem:
        a, _ = self.potentials.bounds(i)
        problem = Problem(self.potentials[i], self.program, self.first_token + a)
        charged = vars(self).get("with_local_constraints")
        if charged is not None and charged is not self.potentials:  # found for all, and not for each again
            vars(problem)["with_local_constraints"] = charged[i].compact()
        return problem

    def __iter__(self) -> Iterator[Problem]:
        return (self[i] for i in range(len(self)))


@dataclass(frozen=True, eq=False)
class Problem(Scored):
    """The scores of one sequence and the constraints on it."""

    @property
    def charges(self) -> tuple[Charge, ...]:
        """The primitives with their penalties, [P]."""
        return self.program.charges

    @property
    def n_tokens(self) -> int:
        return self.potentials.n_tokens

    @property
    def n_states(self) -> int:
        return self.potentials.n_states

    @cached_property
    def label_of(self) -> NDArray[np.int32]:
        """The label of each state, [S]."""
        return self.potentials.state_labels

    def classes(self, primitive: Primitive) -> NDArray[np.int64]:
        """The class of each token for a primitive, [T]."""
        return self.program.classes(primitive, self.first_token, self.first_token + self.n_tokens)

    def violations(self, states: ArrayLike) -> NDArray[np.float64]:
        """How much a labelling violates each primitive, [P]."""
        labels = self.label_of[np.asarray(states, dtype=np.int64)]
        return self.program.violations(labels, np.array([0, len(labels)]), np.array([self.first_token]))[0]

    def score(self, states: ArrayLike, violations: NDArray[np.float64] | None = None) -> float:
        """The model's score minus the penalties paid; −inf if a hard constraint is broken.

        violations    of this labelling, [P], where they are known
        """
        known = self.violations(states) if violations is None else violations
        return self.potentials.score(states) - self.cost(known)

    @cached_property
    def lowest(self) -> float:
        """What every labelling scores at least, unless it is forbidden or breaks a hard constraint."""
        potentials = self.potentials
        steps = max(0, self.n_tokens - 1) * _least(potentials.pairwise)
        unary = potentials.unary
        tokens = float(np.min(unary, axis=1, where=unary > -np.inf, initial=0.0).sum())
        model = _least(potentials.start) + _least(potentials.end) + steps + tokens
        soft = [c for c in self.charges if 0 < c.penalty < np.inf]
        return model - sum(c.penalty * c.primitive.most(self.n_tokens) for c in soft)

    def cost(self, violations: NDArray[np.float64]) -> float:
        """Σ penalty · violation of one labelling's violations [P]."""
        return float(self.program.costs(violations[None])[0])


class Status(Enum):
    """What a decoder knows of its answer."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Certificate:
    """How good an answer is: no labelling scores more than `bound`.

    iterations    Viterbi runs, where one over S product states counts as (S/Y)²; a decoder that has no such
                  runs counts its own steps
    """

    status: Status
    bound: float
    gap: float
    iterations: float
    seconds: float

    @classmethod
    def of(
        cls, score: float | None, bound: float, iterations: float, seconds: float, infeasible: bool = False
    ) -> Certificate:
        """The status that a score (None: no labelling was found) and an upper bound prove."""
        if score is None:
            status = Status.INFEASIBLE if infeasible or bound == -np.inf else Status.UNKNOWN
            bound = -np.inf if status is Status.INFEASIBLE else bound
            return cls(status, bound, np.inf if status is Status.UNKNOWN else 0.0, iterations, seconds)
        bound = max(bound, score)
        gap = bound - score
        closed = gap <= rounding(score, TOLERANCE)
        return cls(Status.OPTIMAL if closed else Status.FEASIBLE, bound, gap, iterations, seconds)


class Violations(dict[Rule, float]):
    """Rules that a labelling violates ─→ by how much; 0 for every other rule."""

    def __missing__(self, rule: Rule) -> float:
        return 0.0


@dataclass(frozen=True, eq=False)
class Decoding:
    """A decoder's answer for one sequence. Without a labelling `states` and `labels` are None."""

    problem: Problem
    states: NDArray[np.int32] | None
    score: float
    certificate: Certificate
    n_best: Sequence[Decoding] = ()

    @classmethod
    def of(
        cls,
        problem: Problem,
        states: ArrayLike | None,
        bound: float,
        *,
        iterations: float = 1.0,
        seconds: float = 0.0,
        infeasible: bool = False,
    ) -> Decoding:
        """The answer with its score; a labelling that breaks a hard constraint is none."""
        score = -np.inf if states is None else problem.score(states)
        found = None if states is None or score == -np.inf else np.asarray(states, dtype=np.int32)
        certificate = Certificate.of(None if found is None else score, bound, iterations, seconds, infeasible)
        return cls(problem, found, score, certificate)

    @cached_property
    def labels(self) -> list[str] | None:
        """The names of the labels, one per token."""
        if self.states is None:
            return None
        return self.problem.schema.decode(self.problem.label_of[self.states])

    @cached_property
    def violations(self) -> Violations:
        """The rules that the labelling violates and how much."""
        if self.states is None:
            return Violations()
        program = self.problem.program
        amounts = program.by_rule(self.problem.violations(self.states)[None])[0]
        return Violations({program.rules[k]: float(amounts[k]) for k in np.flatnonzero(amounts)})

    def __repr__(self) -> str:
        shown = "no labelling" if self.labels is None else " ".join(self.labels[:12])
        more = " …" if self.labels is not None and len(self.labels) > 12 else ""
        status = self.certificate.status.name
        gap = f", gap {self.certificate.gap:.3g}" if status == "FEASIBLE" else ""
        return f"Decoding({shown}{more}; score {self.score:.6g}, {status}{gap})"


def _least(scores: NDArray) -> float:
    """The least of the scores that are not forbidden, or 0 if all are."""
    return float(np.min(scores, where=scores > -np.inf, initial=0.0))


def _check_fit(potentials: Potentials, schema: Schema, corpus: Corpus | None) -> None:
    states = potentials.label_of
    if states is None and potentials.n_states != len(schema):
        raise ScoreError(
            f"the scores are for {potentials.n_states} labels and {len(schema)} labels are named; "
            "give one column of scores per label"
        )
    if states is not None and len(states) and states.max() >= len(schema):
        raise ScoreError(f"a state has the label {states.max()}; there are {len(schema)}, from 0")
    if corpus is not None and not np.array_equal(corpus.offsets, potentials.offsets):
        raise ScoreError(
            f"there are scores for {potentials.n_tokens} tokens in {len(potentials)} sequences, and "
            f"{corpus.n_tokens} tokens in {len(corpus)}; give a row of scores per token"
        )
