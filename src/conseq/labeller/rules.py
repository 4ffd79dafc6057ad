"""What may be given as constraints: nothing, a text, a file, rules or lines ─→ rules that fit the labels."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from conseq.constraints import names
from conseq.constraints.base import Constraint
from conseq.constraints.language import parse_constraints, read_constraints
from conseq.constraints.program import lowered
from conseq.errors import ConseqError, RuleError
from conseq.schema import Schema

NONE, LEARN = "none", "learn"

Rules = str | os.PathLike[str] | Constraint | Iterable[Constraint | str] | None
"""None or "none", a text in the language, the path of a rule file, a rule, or a list of rules and lines."""


def rules_of(given: Rules, schema: Schema) -> tuple[Constraint, ...]:
    """The rules, checked against the labels.

    >>> rules_of("at most 1 segment of date  hard", Schema(["O", "B-date", "I-date"], "bio"))[0].line()
    'at most 1 segment of date'
    >>> rules_of("none", Schema(["O"], "plain"))
    ()
    """
    if given is None or given == NONE:
        return ()
    if isinstance(given, str):
        return tuple(_parsed(given, schema))
    if isinstance(given, os.PathLike):
        return tuple(read_constraints(Path(given), schema))
    items = [given] if isinstance(given, Constraint) else given
    if not isinstance(items, Iterable):
        kind = type(given).__name__
        raise ConseqError(f"constraints is of type {kind}; give a text of rules, a path, or a list of rules")
    return tuple(rule for number, item in enumerate(items, 1) for rule in _item(item, number, schema))


def _parsed(text: str, schema: Schema) -> list[Constraint]:
    if text == LEARN:
        raise ConseqError("constraints='learn' is not available yet; give rules, or the path of a rule file")
    try:
        return parse_constraints(text, schema=schema)
    except RuleError:
        if "\n" not in text and os.path.isfile(text):
            raise RuleError(f"{text!r} is a file, not a rule; give pathlib.Path({text!r})") from None
        raise


def _item(item: Any, number: int, schema: Schema) -> list[Constraint]:
    """The rule that stands at this place of a list, from 1."""
    if isinstance(item, Constraint):
        _check(item, schema)
        return [item]
    if not isinstance(item, str):
        raise RuleError(f"a rule is of type {type(item).__name__}; give a Constraint or a line", line=number)
    try:
        return parse_constraints(item, schema=schema)
    except RuleError as error:
        raise RuleError(error.message, line=number, column=error.column) from None


def _check(rule: Constraint, schema: Schema) -> None:
    """Raise if the rule does not fit the labels."""
    lowered((rule,), schema)
    if rule.varies:  # such a rule is lowered when its sequences are known
        for name in rule.names:
            names.inside(schema, name)
