"""Why there is no labelling: a smallest set of hard rules that cannot hold together.

    Problem ─→ smallest_conflict ─→ rules;  explain_infeasible ─→ one sentence

`constraints/conflict.py` says which sets of rules are tried; here is the oracle of what can hold together.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace

import numpy as np

from conseq.constraints.base import Constraint, Rule
from conseq.constraints.conflict import conflicts
from conseq.decoders.base import NO_LIMITS, Decoder, Limits
from conseq.decoders.ilp import ILP
from conseq.decoders.messages.search import MessagePassing
from conseq.dtypes import States
from conseq.errors import ConseqError
from conseq.kernels import clock
from conseq.potentials import Potentials
from conseq.problem import Decoding, Problem, Status

SHOWN_TOKENS = 6
DEFAULT = ILP()
HASTY, SEARCH = MessagePassing(widest=8), MessagePassing(widest=512)
"""Searches, after which nobody is asked where an answer is not needed, or the decoder."""
PATIENCE = Limits(seconds=20)
"""For finding out why there is no labelling."""


class Undecided(ConseqError):
    """Whether rules can hold together was not found out within the limits."""


def smallest_conflict(
    problem: Problem, decoder: Decoder = DEFAULT, limits: Limits = NO_LIMITS
) -> list[Constraint] | None:
    """The fewest hard rules that no labelling satisfies together with the −inf entries of the scores.

    None: there is a labelling that satisfies all of them. An empty list: no rule is to blame, for every
    labelling meets a score of −inf. The decoder is asked which rules can hold together where a plain search
    does not say; if the limits stop it before it knows, `Undecided` is raised.
    """
    oracle = Oracle(problem, decoder, limits)
    rules = next(conflicts(oracle.hard, oracle), None)
    return None if rules is None else [problem.program.rules[r] for r in sorted(rules)]


class Oracle:
    """Decides whether hard rules of a problem can hold together."""

    def __init__(self, problem: Problem, decoder: Decoder, limits: Limits) -> None:
        self.problem = replace(problem, potentials=_allowed(problem.potentials))
        self.decoder, self.limits = decoder, limits
        self.until = clock.now() + limits.seconds
        self.hard = frozenset(c.rule for c in problem.charges if np.isinf(c.penalty))

    def holding(self, items: Set[int]) -> frozenset[int] | None:
        """Hard rules that hold together and include the given ones; None if these cannot hold together."""
        for decoder in (SEARCH, self.decoder):
            found = self._decoded(items, decoder)
            if found.certificate.status is not Status.UNKNOWN:
                return self._satisfied(found.states, items)
        raise Undecided("whether the rules can hold together was not decided; raise the limits")

    def quickly(self, items: Set[int]) -> frozenset[int] | None:
        """The same without the decoder: None also where a short search does not find out."""
        return self._satisfied(self._decoded(items, HASTY).states, items)

    def _decoded(self, items: Set[int], decoder: Decoder) -> Decoding:
        seconds, program = self.until - clock.now(), self.problem.program
        if seconds <= 0:
            raise Undecided("which rules can hold together was not found out in time; raise the limits")
        penalties = [np.inf if rule in items else 0.0 for rule in range(len(program.rules))]
        part = replace(self.problem, program=program.with_penalties(penalties))
        return decoder.decode(part, limits=replace(self.limits, seconds=seconds))

    def _satisfied(self, states: States | None, items: Set[int]) -> frozenset[int] | None:
        """The hard rules that a labelling satisfies, the items included, which rounding may lose."""
        if states is None:
            return None
        broken = self.problem.program.rule_of[self.problem.violations(states) > 0]
        return (self.hard - frozenset(broken.tolist())) | items


def _allowed(scores: Potentials) -> Potentials:
    """The same with 0 for every finite score."""
    unary, pairwise, start, end = (
        np.where(np.isneginf(part), -np.inf, 0.0)
        for part in (scores.unary, scores.pairwise, scores.start, scores.end)
    )
    return replace(scores, unary=unary, pairwise=pairwise, start=start, end=end)


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
    return blamed(f"labelling of {sequence}", rules)


def blamed(answer: str, rules: Sequence[Rule]) -> str:
    """One sentence: no such answer satisfies these hard rules."""
    lines = "; ".join(rule.line() for rule in rules)
    if len(rules) == 1:
        return f"no {answer} satisfies the hard rule: {lines}; drop it or give it a penalty"
    return (
        f"no {answer} satisfies these {len(rules)} hard rules together: {lines}; "
        "drop one of them or give it a penalty"
    )
