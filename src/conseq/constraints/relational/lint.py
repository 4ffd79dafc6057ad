"""What is odd about a set of rules about entities and relations, before anything is decided with them.

    rules (+ types) ─→ lint ─→ findings ─→ render ─→ sentences

unknown        a name that the types lack
duplicate      the same rule again
never          a rule that nothing can break
contradiction  hard rules that no sentence satisfies together
impossible     a relation that no pair can be in under the hard rules
redundant      a rule that nothing can break that keeps some hard rules

The last three are sought by an integer program over all sentences of a few entities, as many as the numbers
in the rules ask for, all ordered pairs being candidates. Rules that look at tokens or mentions of the same
thing are left out: they may have nothing to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np

from conseq.constraints.base import HARD
from conseq.constraints.conflict import conflicts
from conseq.constraints.lint import CONTRADICTION, NEVER, ROUNDS, UNKNOWN, Finding, duplicates, misfit, said
from conseq.constraints.relational import (
    Acyclic,
    ArgumentTypes,
    Clause,
    Degree,
    HowMany,
    Inverse,
    IsA,
    RelationCounts,
    RelationRule,
    Sums,
)
from conseq.constraints.relational.base import joined, one, pair_indicators, places, relation_number
from conseq.constraints.relational.language import check_names
from conseq.dtypes import Ints
from conseq.entities import Candidates, Types, all_pairs
from conseq.solver import Assembly, Outcome

REDUNDANT, IMPOSSIBLE = "redundant", "impossible"
MOST = 6
"""The most entities of the sentences that are looked at; rules whose numbers ask for more are left out."""
SECONDS = 2.0
"""For one question to the integer program; what is not answered by then is not claimed."""
BROKEN = -1
"""Stands among rules for the breaking of the one that is examined."""


def lint(rules: Iterable[RelationRule], types: Types | None = None) -> list[Finding]:
    """All that is odd about the rules. Without types, there are those that the rules name, and others.

    >>> from conseq.constraints.relational.language import parse_relation_rules
    >>> text = "kill(person, person) hard\\nkill(person or org, person) hard\\nexactly 1 kill penalty 2"
    >>> print(*lint(parse_relation_rules(text)))
    'kill(person or org, person)' is never broken where 'kill(person, person)' holds; remove it
    """
    rules = list(rules)
    known = types_named(rules) if types is None else types
    unknown = list(_unknown(rules, known))
    misfits = {i for finding in unknown for i in finding.rules}
    twice = duplicates(rules, regardless)
    again = {i for finding in twice for i in finding.rules[1:]}
    fit = {i: rule for i, rule in enumerate(rules) if i not in misfits | again and not rule.varies}
    space = Space.of(known, fit)
    never = [i for i in space.rules if space.cannot_be_broken(i)]
    sentences = (
        Finding(NEVER, (i,), f"{said([rules[i]])} cannot be broken; remove it or correct it") for i in never
    )
    return [*unknown, *twice, *sentences, *_together(rules, space, set(never))]


def types_named(rules: Sequence[RelationRule]) -> Types:
    """The types and relations that rules name, and one type more; a name that may be either is a relation if
    none of the rules says otherwise."""
    entities: dict[str, None] = {}
    others: dict[str, None] = {}
    for rule in rules:
        atoms = [literal.atom for literal in rule.literals] if isinstance(rule, Clause) else []
        if isinstance(rule, ArgumentTypes):
            entities |= dict.fromkeys((*rule.head, *rule.tail))
        entities |= dict.fromkeys(atom.name for atom in atoms if isinstance(atom, IsA))
        others |= dict.fromkeys(rule.names)
    return Types((*entities, "\0"), tuple(name for name in others if name not in entities))


def regardless(rule: RelationRule) -> RelationRule:
    """The rule regardless of its penalty, and of the order of names where that means nothing."""
    match rule:
        case ArgumentTypes(relation, head, tail):
            return ArgumentTypes(relation, tuple(sorted(head)), tuple(sorted(tail)))
        case Inverse(relation, inverse):
            return Inverse(*sorted((relation, inverse)))
    return replace(rule, penalty=HARD)


def _unknown(rules: Sequence[RelationRule], types: Types) -> Iterator[Finding]:
    for i, rule in enumerate(rules):
        message = misfit(check_names, types, rule)
        if message:
            yield Finding(UNKNOWN, (i,), f"{said([rule])} does not fit the types: {message}")


# ── rules together ──────────────────────────────────────────────────────────────────────────────


def _together(rules: Sequence[RelationRule], space: Space, never: set[int]) -> Iterator[Finding]:
    hard = {i: rule for i, rule in space.rules.items() if rule.is_hard and i not in never}
    contradictions = list(conflicts(hard, Holding(space, hard), ROUNDS))
    for found in contradictions:
        places, together = tuple(sorted(found)), " together" if len(found) > 1 else ""
        lines = said([rules[i] for i in places])
        message = f"no sentence with entities satisfies {lines}{together}; soften or remove one"
        yield Finding(CONTRADICTION, places, message)
    for i in set().union(*contradictions):
        del hard[i]
    yield from _impossible(space, hard)
    for i, rule in space.rules.items():
        others = {k: other for k, other in hard.items() if k != i}
        reasons = () if i in never else _reasons(space, others, rule)
        if reasons:
            hold = f"{said([rules[k] for k in reasons])} {'holds' if len(reasons) == 1 else 'hold'}"
            message = f"{said([rule])} is never broken where {hold}; remove it"
            yield Finding(REDUNDANT, (i, *reasons), message)
            hard.pop(i, None)  # nothing else is redundant because of it


def _impossible(space: Space, hard: dict[int, RelationRule]) -> Iterator[Finding]:
    """Relations that the hard rules leave to no pair; the rules to blame are examined no further."""
    for name in space.types.relations:
        reasons = _reasons(space, hard, HowMany("at most", 0, name))
        if reasons and not (len(reasons) == 1 and isinstance(hard[reasons[0]], HowMany)):
            message = f"no pair can be in {name!r} under {said([hard[k] for k in reasons])}; correct one"
            yield Finding(IMPOSSIBLE, reasons, message)
            for k in reasons:
                del hard[k]


def _reasons(space: Space, others: Mapping[int, RelationRule], rule: RelationRule) -> tuple[int, ...]:
    """A smallest set of other rules under which this one cannot be broken; none if it can."""
    holding = Holding(space, others, rule)
    if not others or holding.quickly({*others, BROKEN}) is not None:
        return ()
    found = next(conflicts({*others, BROKEN}, holding, ROUNDS), set())
    return tuple(sorted(found - {BROKEN})) if BROKEN in found else ()


@dataclass(frozen=True, eq=False)
class Holding:
    """Decides which rules can hold together in some sentence (`conflict.Oracle`); the number `BROKEN` among
    them says that another rule is broken in it."""

    space: Space
    rules: Mapping[int, RelationRule]
    broken: RelationRule | None = None

    def holding(self, items: Set[int]) -> Set[int] | None:
        kept = [self.rules[i] for i in sorted(items) if i != BROKEN]
        broken = self.broken if BROKEN in items else None
        return items if self.space.possible(kept, broken) else None

    quickly = holding  # it never takes long


# ── sentences of a few entities ─────────────────────────────────────────────────────────────────


@dataclass(frozen=True, eq=False)
class Space:
    """All sentences of up to `most` entities, and the rules that can be examined on them."""

    types: Types
    rules: dict[int, RelationRule]
    most: int

    @classmethod
    def of(cls, types: Types, rules: Mapping[int, RelationRule]) -> Space:
        """As many entities as the rules ask for."""
        needed = {i: entities_needed(rule) for i, rule in rules.items()}
        small = {i: rule for i, rule in rules.items() if needed[i] <= MOST}
        return cls(types, small, max((needed[i] for i in small), default=1))

    def cannot_be_broken(self, i: int) -> bool:
        """Whether no sentence violates a rule."""
        return not self.possible([], self.rules[i])

    def possible(self, kept: Sequence[RelationRule], broken: RelationRule | None) -> bool:
        """Whether some sentence keeps rules and breaks another; so, too, if that is not found out in time."""
        return any(self._possible(n, kept, broken) for n in range(self.most, 0, -1))

    def _possible(self, n: int, kept: Sequence[RelationRule], broken: RelationRule | None) -> bool:
        candidates = Candidates(n, all_pairs(n))
        program = _program(self.types, candidates)
        for rule in kept:
            rows = all_rows(rule, self.types, candidates)
            if len(rows.bound):
                program.add_rows(-np.inf, rows.bound, rows.row, rows.indicator, rows.weight)
        if broken is not None:
            rows = all_rows(broken, self.types, candidates)
            if not len(rows.bound):
                return False
            _break(program, rows)
        return program.solve(SECONDS).outcome is not Outcome.INFEASIBLE


def entities_needed(rule: RelationRule) -> int:
    """With how many entities a sentence can keep and break the rule in all ways that matter."""
    match rule:
        case HowMany(_, bound, _) | Degree(_, bound, _, _):
            return bound + 2
        case RelationCounts(left, _, right):
            weights = sum(abs(term.weight) for term in (*left.terms, *right.terms))
            return abs(left.constant - right.constant) + weights + 1
        case Clause():
            return len(rule.variables) + 1
    return 3


def all_rows(rule: RelationRule, types: Types, candidates: Candidates) -> Sums:
    """The rows of a rule, also those that it does not list by itself."""
    rows = rule.lower(types, candidates)
    if not isinstance(rule, Acyclic):
        return rows
    related = pair_indicators(types, candidates, relation_number(types, rule.relation))
    number = places(candidates)
    parts = [rows]
    for length in range(3, candidates.n_entities + 1):
        for first, *rest in permutations(range(candidates.n_entities), length):
            if first < min(rest):
                edges = related[number[[first, *rest], [*rest, first]]]
                parts.append(one([(1.0, edges)], length - 1))
    return joined(parts)


def _program(types: Types, candidates: Candidates) -> Assembly:
    """A column for each indicator; each entity has one type, each pair one relation or none."""
    sizes = [len(types.entities)] * candidates.n_entities
    sizes += [len(types.relations) + 1] * len(candidates.pairs)
    program = Assembly()
    columns = program.add_columns(np.zeros(sum(sizes)), integral=True)
    owner: Ints = np.repeat(np.arange(len(sizes)), sizes)
    program.add_rows(np.ones(len(sizes)), 1.0, owner, columns, np.ones(len(columns)))
    return program


def _break(program: Assembly, rows: Sums) -> None:
    """At least one of the rows, all of whose numbers are whole, is above its bound."""
    n = len(rows.bound)
    least = np.bincount(rows.row, np.minimum(rows.weight, 0.0), minlength=n)
    above = program.add_columns(np.zeros(n), integral=True)
    row = np.concatenate([rows.row, np.arange(n)])
    weight = np.concatenate([rows.weight, least - rows.bound - 1.0])
    program.add_rows(least, np.inf, row, np.concatenate([rows.indicator, above]), weight)
    program.add_rows(1.0, np.inf, np.zeros(n, dtype=np.int64), above, np.ones(n))
