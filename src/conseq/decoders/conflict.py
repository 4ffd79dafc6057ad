"""Why there is no labelling: a smallest set of hard rules that cannot hold together.

    Problem ─→ smallest_conflict ─→ rules;  explain_infeasible ─→ one sentence

`constraints/conflict.py` says which sets of rules are tried; here is the oracle of what can hold together.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from conseq.constraints.base import Constraint
from conseq.constraints.conflict import conflicts
from conseq.constraints.program import Program
from conseq.decoders.base import NO_LIMITS, Decoder, Limits
from conseq.decoders.ilp import ILP
from conseq.decoders.lattice.lattice import Lattice
from conseq.decoders.lattice.reader import Reader
from conseq.decoders.lattice.satisfy import Undecided, satisfy
from conseq.problem import Problem, Status

SHOWN_TOKENS = 6
DEFAULT = ILP()
HASTY_WIDTH, WIDTH = 100, 2_000
"""Of a plain search, after which nobody is asked where an answer is not needed, or the decoder."""
PATIENCE = Limits(seconds=10)
"""For each question that goes to the decoder."""


def smallest_conflict(
    problem: Problem, decoder: Decoder = DEFAULT, limits: Limits = NO_LIMITS
) -> list[Constraint] | None:
    """The fewest hard rules that no labelling satisfies together with the −inf entries of the scores.

    None: there is a labelling that satisfies all of them. An empty list: no rule is to blame, for every
    labelling meets a score of −inf. The decoder is asked which rules can hold together where a plain search
    does not say; if the limits stop it before it knows, `Undecided` is raised.
    """
    oracle = Oracle.of(problem, decoder, limits)
    rules = next(conflicts(oracle.hard, oracle), None)
    return None if rules is None else [problem.program.rules[r] for r in sorted(rules)]


@dataclass(frozen=True, eq=False)
class Oracle:
    """Decides whether rules can hold together."""

    problem: Problem  # all scores 0 or −inf
    decoder: Decoder
    limits: Limits
    hard: frozenset[int]  # the numbers of the hard rules that have primitives

    @classmethod
    def of(cls, problem: Problem, decoder: Decoder, limits: Limits) -> Oracle:
        hard = frozenset(c.rule for c in problem.charges if np.isinf(c.penalty))
        return cls(_without_scores(problem), decoder, limits, hard)

    def holding(self, items: Set[int]) -> frozenset[int] | None:
        """Hard rules that hold together and include the given ones; None if these cannot hold together."""
        try:
            return self._searched(items, WIDTH)
        except Undecided:
            return self._satisfied(self._decoded(items), items)

    def quickly(self, items: Set[int]) -> frozenset[int] | None:
        """The same without the decoder: None also where a short search does not find out."""
        try:
            return self._searched(items, HASTY_WIDTH)
        except Undecided:
            return None

    def _satisfied(self, states: NDArray[np.int32] | None, items: Set[int]) -> frozenset[int] | None:
        """The hard rules that a labelling satisfies, the items included, which rounding may lose."""
        if states is None:
            return None
        broken = self.problem.program.rule_of[self.problem.violations(states) > 0]
        return (self.hard - frozenset(broken.tolist())) | items

    def _searched(self, items: Set[int], width: int) -> frozenset[int] | None:
        readers = [reader for rule, reader in self._readers if rule in items]
        return self._satisfied(satisfy(self._lattice, readers, width), items)

    def _decoded(self, chosen: Set[int]) -> NDArray[np.int32] | None:
        program = self.problem.program
        charges = tuple(c for c in program.charges if c.rule in chosen)
        part = replace(self.problem, program=replace(program, charges=charges))
        found = self.decoder.decode(part, limits=self.limits)
        if found.certificate.status is Status.UNKNOWN:
            raise Undecided("whether the rules can hold together was not decided; raise the limits")
        return found.states

    @cached_property
    def _lattice(self) -> Lattice:
        return Lattice.of(self.problem.potentials, len(self.problem.schema))

    @cached_property
    def _readers(self) -> list[tuple[int, Reader]]:
        hard = [c for c in self.problem.charges if np.isinf(c.penalty)]
        return [(c.rule, Reader.of(self._lattice, self.problem, c)) for c in hard]


def _without_scores(problem: Problem) -> Problem:
    """The problem of this sequence alone, with 0 for every finite score."""
    scores = problem.potentials
    names = ("unary", "pairwise", "start", "end")
    flat: dict[str, NDArray] = {
        name: np.where(np.isneginf(getattr(scores, name)), -np.inf, 0.0) for name in names
    }
    return Problem(replace(scores, **flat), _one_sequence(problem))


def _one_sequence(problem: Problem) -> Program:
    corpus = problem.program.corpus
    fits = (corpus.offsets[:-1] == problem.first_token) & (corpus.lengths == problem.n_tokens)
    return replace(problem.program, corpus=corpus.select(np.flatnonzero(fits)[:1]))


def explain_infeasible(
    problem: Problem,
    number: int,
    tokens: Sequence[str] | None = None,
    decoder: Decoder = DEFAULT,
    limits: Limits = PATIENCE,
) -> str:
    """One sentence: which sequence (its number from 0, its first tokens) has no labelling, and why."""
    shown = "" if not tokens else f", {' '.join(tokens[:SHOWN_TOKENS])!r}"
    sequence = f"sequence {number} (from 0{shown})"
    try:
        rules = smallest_conflict(problem, decoder, limits)
    except Undecided:
        return f"no labelling of {sequence} that satisfies the hard rules was found; drop some of them"
    if rules is None:
        return f"no labelling of {sequence} was found, though there are some; try another decoder"
    if not rules:
        return f"{sequence} has no labelling: each meets a score of -inf; allow more labels or steps"
    lines = "; ".join(rule.line() for rule in rules)
    if len(rules) == 1:
        return f"no labelling of {sequence} satisfies the hard rule: {lines}; drop it or give it a penalty"
    return (
        f"no labelling of {sequence} satisfies these {len(rules)} hard rules together: {lines}; "
        "drop one of them or give it a penalty"
    )
