"""What is odd about a set of rules, before anything is labelled with them.

rules (+ schema) ─→ lint ─→ findings ─→ render ─→ sentences

unknown        a name that the schema lacks, or a rule that does not fit it
duplicate      the same rule again
never          a rule that nothing can break
contradiction  hard rules that no labelling of any non-empty sequence satisfies together
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from conseq import constraints as library
from conseq.constraints import names, writing
from conseq.constraints.base import HARD, Constraint, Rule
from conseq.constraints.conflict import conflicts
from conseq.constraints.satisfiable import Row, Space, Together, impossible, not_empty, row_of
from conseq.errors import RuleError
from conseq.schema import Schema

Kind = TypeVar("Kind", bound=Rule)

UNKNOWN, DUPLICATE, NEVER, CONTRADICTION = "unknown", "duplicate", "never", "contradiction"
ROUNDS = 50
"""Sets of rules that are tried until contradictions need not be the smallest any more."""


@dataclass(frozen=True)
class Finding:
    """Something odd: its kind, the places of the rules concerned (from 0), and a sentence."""

    kind: str
    rules: tuple[int, ...]
    message: str

    def __str__(self) -> str:
        return self.message


def lint(rules: Iterable[Constraint], schema: Schema | None = None) -> list[Finding]:
    """All that is odd about the rules. Without a schema, each name is taken for a type by itself.

    >>> from conseq.constraints.language import parse_constraints
    >>> findings = lint(parse_constraints("at least 2 segments of a hard\\ncount(a) <= 1 hard"))
    >>> findings[0].kind, findings[0].rules
    ('contradiction', (0, 1))
    >>> print(findings[0])
    no sequence satisfies 'at least 2 segments of a' and 'count(a) <= 1' together; soften or remove one
    """
    rules = list(rules)
    unknown = [] if schema is None else list(_unknown(rules, schema))
    misfits = {i for finding in unknown for i in finding.rules}
    fitting = {i: rule for i, rule in enumerate(rules) if i not in misfits}
    mentioned = [name for rule in fitting.values() for name in rule.names]
    space = Space.of_names(mentioned) if schema is None else Space.of_schema(schema, mentioned)
    rows = {i: row for i, rule in fitting.items() if (row := row_of(rule, space)) is not None}
    hard = {i: row for i, row in rows.items() if rules[i].is_hard}
    return [
        *unknown,
        *duplicates(rules, regardless),
        *_never(fitting, rows, space),
        *_contradictions(rules, hard, space),
    ]


def render(findings: Iterable[Finding]) -> str:
    """The findings, one per line."""
    return "\n".join(f"{finding.kind}: {finding.message}" for finding in findings)


# ── names ───────────────────────────────────────────────────────────────────────────────────────


def _unknown(rules: Sequence[Constraint], schema: Schema) -> Iterator[Finding]:
    for i, rule in enumerate(rules):
        messages = [misfit(names.inside, schema, name) for name in dict.fromkeys(rule.names)]
        if not any(messages) and not rule.varies:
            messages = [misfit(rule.lower, schema, None)]
        for message in filter(None, messages):
            yield Finding(UNKNOWN, (i,), f"{said([rule])} does not fit the labels: {message}")


def misfit(check: Callable[..., object], *arguments: object) -> str:
    """What a check complains of, "" if nothing."""
    try:
        check(*arguments)
    except RuleError as error:
        return error.message
    return ""


# ── rules by themselves ─────────────────────────────────────────────────────────────────────────


def duplicates(rules: Sequence[Kind], regardless: Callable[[Kind], Kind]) -> list[Finding]:
    """Rules that are the same regardless of what does not matter."""
    places: dict[Kind, list[int]] = defaultdict(list)
    for i, rule in enumerate(rules):
        places[regardless(rule)].append(i)
    found = (same for same in places.values() if len(same) > 1)
    return [Finding(DUPLICATE, tuple(same), _sentence_on_same([rules[i] for i in same])) for same in found]


def regardless(rule: Constraint) -> Constraint:
    """The rule regardless of its penalty, and of the order of names where that means nothing."""
    match rule:
        case library.NotBoth(first, second):
            return library.NotBoth(*sorted((first, second)))
        case library.ExactlyOneOf(choices):
            return library.ExactlyOneOf(tuple(sorted(choices)))
    return replace(rule, penalty=HARD)


def _sentence_on_same(rules: Sequence[Rule]) -> str:
    soft = [rule.penalty for rule in rules if not rule.is_hard]
    if not soft:
        outcome = "all are hard, so one is enough"
    elif len(soft) < len(rules):
        outcome = "the hard one decides, and the penalties of the others never matter; keep the hard one"
    else:
        outcome = f"each counts, so the penalties add up to {writing.number(math.fsum(soft))}; keep one"
    return f"{said(rules[:1])} is stated {len(rules)} times: {outcome}"


def _never(rules: dict[int, Constraint], rows: dict[int, Row], space: Space) -> Iterator[Finding]:
    for i, rule in rules.items():
        if isinstance(rule, library.Share):
            unbreakable = rule.percent == (100 if rule.relation == "at most" else 0)
        else:
            unbreakable = i in rows and all(impossible(space, [broken]) for broken in rows[i].negations())
        if unbreakable:
            yield Finding(NEVER, (i,), f"{said([rule])} cannot be broken; remove it or correct it")


# ── rules together ──────────────────────────────────────────────────────────────────────────────


def _contradictions(rules: Sequence[Constraint], rows: dict[int, Row], space: Space) -> Iterator[Finding]:
    """Sets of rules that contradict each other, the smallest first; no rule is in two of them.

    They are sought with counts of moderate size, and proved for any counts once they are found.
    """
    most = 1000 + 10 * sum(row.size for row in rows.values())
    for found in conflicts(rows, Together(space, rows, most), ROUNDS):
        conflict = sorted(found)
        if impossible(space, [not_empty(space), *(rows[i] for i in conflict)]):
            lines, together = said([rules[i] for i in conflict]), " together" if len(conflict) > 1 else ""
            message = f"no sequence satisfies {lines}{together}; soften or remove one"
            yield Finding(CONTRADICTION, tuple(conflict), message)


def said(rules: Sequence[Rule]) -> str:
    """The lines of rules, in quotes."""
    *most, last = [f"'{rule.line()}'" for rule in rules]
    return f"{', '.join(most)} and {last}" if most else last
