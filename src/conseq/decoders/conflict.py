"""Why there is no labelling: a smallest set of hard rules that cannot hold together.

    Problem ─→ smallest_conflict ─→ rules;  explain_infeasible ─→ one sentence

A conflict has a rule outside every set of rules that can hold together: it hits the complements of all such
sets. A smallest set that hits those known so far is either in conflict, and then a smallest conflict, or can
hold, which gives one more complement to hit (implicit hitting sets).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from conseq.constraints.base import Constraint
from conseq.constraints.program import Program
from conseq.decoders.base import NO_LIMITS, Decoder, Limits
from conseq.decoders.fronts import Reader
from conseq.decoders.ilp import ILP
from conseq.decoders.satisfy import Undecided, satisfy
from conseq.decoders.trellis import Trellis
from conseq.problem import Problem, Status
from conseq.solver import Assembly

SHOWN_TOKENS = 6
DEFAULT = ILP()
HASTY_NODES, NODES = 2_000, 50_000
"""Nodes of a plain search, after which the decoder is asked, or nobody where an answer is not needed."""
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
    if oracle.holding(()) is None:
        return []
    to_hit: list[frozenset[int]] = []
    while True:
        rules = smallest_hitting(to_hit)
        holding = oracle.holding(rules)
        if holding is None:
            return [problem.program.rules[r] for r in sorted(rules)]
        others = oracle.hard - oracle.grown(holding)
        if not others:
            return None
        to_hit.append(others)


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

    def holding(self, rules: Iterable[int], hasty: bool = False) -> frozenset[int] | None:
        """Hard rules that hold together and include the given ones; None if these cannot hold together.

        In haste the decoder is not asked.
        """
        chosen = set(rules)
        try:
            states = self._searched(chosen, HASTY_NODES if hasty else NODES)
        except Undecided:
            if hasty:
                raise
            states = self._decoded(chosen)
        if states is None:
            return None
        broken = self.problem.program.rule_of[self.problem.violations(states) > 0]
        return (self.hard - frozenset(broken.tolist())) | chosen  # rounding must not lose a chosen one

    def _searched(self, chosen: set[int], most_nodes: int) -> NDArray[np.int32] | None:
        readers = [reader for rule, reader in self._readers if rule in chosen]
        return satisfy(self._trellis, readers, most_nodes)

    def _decoded(self, chosen: set[int]) -> NDArray[np.int32] | None:
        program = self.problem.program
        charges = tuple(c for c in program.charges if c.rule in chosen)
        part = replace(self.problem, program=replace(program, charges=charges))
        found = self.decoder.decode(part, limits=self.limits)
        if found.certificate.status is Status.UNKNOWN:
            raise Undecided("whether the rules can hold together was not decided; raise the limits")
        return found.states

    @cached_property
    def _trellis(self) -> Trellis:
        return Trellis.of(self.problem.potentials)

    @cached_property
    def _readers(self) -> list[tuple[int, Reader]]:
        hard = [c for c in self.problem.charges if np.isinf(c.penalty)]
        return [(c.rule, Reader.of(self._trellis, self.problem, c)) for c in hard]

    def grown(self, rules: frozenset[int]) -> frozenset[int]:
        """A set around rules that hold together to which none can be added, as far as is decided in haste."""
        for rule in sorted(self.hard):
            if rule not in rules:
                with suppress(Undecided):
                    rules = self.holding(rules | {rule}, hasty=True) or rules
        return rules


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


def smallest_hitting(sets: Sequence[Set[int]]) -> set[int]:
    """A smallest set that has an element of each of these sets; none of them may be empty.

    >>> smallest_hitting([{1, 2}, {2, 3}, {2}])
    {2}
    """
    if not sets:
        return set()
    elements = np.array(sorted(set().union(*sets)))
    assembly = Assembly()
    columns = assembly.add_columns(np.full(len(elements), -1.0), integral=True)
    for members in sets:
        inside = columns[np.isin(elements, list(members))]
        assembly.add_rows(1.0, np.inf, np.zeros(len(inside), dtype=np.int64), inside, np.ones(len(inside)))
    values = assembly.solve().values
    assert values is not None, "the set of all elements hits every set"
    return set(elements[values > 0.5].tolist())


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
