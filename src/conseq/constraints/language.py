"""The language of rules: a text that people read and edit ↔ constraints.

    text ─lines─→ scanner.scan ─pieces─→ grammar.read_rule ─→ Constraint
    constraints ─line(), price─→ format_constraints ─→ text

One rule a line, each with its price, comments after #:

    at most 1 segment of author     penalty 4.2   # held 294/300
    token "Mr." is person           hard
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from conseq import constraints as library
from conseq.constraints import names, scanner, writing
from conseq.constraints.base import Constraint
from conseq.constraints.grammar import Rule, read_rule
from conseq.constraints.reader import Mention
from conseq.errors import RuleError
from conseq.schema import Schema
from conseq.schema.scheme import AUTO

_ALIGNED = 60
"""Prices stand in one column after lines of up to this length."""


def parse_constraints(
    text: str,
    labels: Iterable[str] | None = None,
    *,
    scheme: str | None = None,
    schema: Schema | None = None,
    path: str | None = None,
) -> list[Constraint]:
    """The rules that a text states; with labels or a schema, all names in them are checked.

    scheme      how the labels are written; None looks at them
    path        the file that errors should name

    >>> rules = parse_constraints("if thesis then school  penalty 2.1  # as theses do", ["thesis", "school"])
    >>> print(rules[0])
    if thesis then school  penalty 2.1
    """
    if schema is None and labels is not None:
        schema = Schema.infer(labels, scheme or AUTO)
    constraints = []
    for number, line in enumerate(text.split("\n"), start=1):
        try:
            rule = _read_line(line, schema)
        except RuleError as error:
            raise RuleError(error.message, path=path, line=number, column=error.column) from None
        if rule is not None:
            constraints.append(rule.constraint)
    return constraints


def read_constraints(path: str | Path, schema: Schema | None = None) -> list[Constraint]:
    """The rules of a file."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        reason = error.strerror or str(error)
        raise RuleError(f"the rules cannot be read ({reason}); check the path", path=path) from None
    except UnicodeDecodeError as error:
        raise RuleError(f"the file is not UTF-8 at byte {error.start}; convert it", path=path) from None
    return parse_constraints(text, schema=schema, path=str(path))


def format_constraints(constraints: Iterable[Constraint]) -> str:
    """A text that states the rules and reads back equal.

    >>> print(format_constraints(parse_constraints("legal bio\\nif thesis then school penalty 2")), end="")
    legal bio              hard
    if thesis then school  penalty 2
    """
    written = [(constraint.line(), constraint.price) for constraint in constraints]
    width = max((len(line) for line, _ in written if len(line) <= _ALIGNED), default=0)
    return "".join(f"{line.ljust(width)}  {price}\n" for line, price in written)


def _read_line(line: str, schema: Schema | None) -> Rule | None:
    """The rule of a line, None if it is blank or a comment."""
    pieces = scanner.scan(line)
    if len(pieces) == 1:
        return None
    rule = read_rule(pieces)
    if schema is not None:
        _check(rule, schema, pieces[0].column)
    return rule


def _check(rule: Rule, schema: Schema, column: int) -> None:
    """Raises if the rule does not fit the schema: at the name that is to blame, if it is one."""
    for mention in rule.mentions:
        try:
            _check_mention(mention, schema)
        except RuleError as error:
            raise RuleError(error.message, column=mention.column) from None
    if rule.constraint.varies:
        return
    try:
        rule.constraint.lower(schema, None)
    except RuleError as error:
        raise RuleError(error.message, column=column) from None


def _check_mention(mention: Mention, schema: Schema) -> None:
    if mention.slot == "segment":
        names.known_types(schema, mention.name)
    elif mention.slot == "label" and mention.name not in schema.labels:
        library.OnlySteps(((writing.START, mention.name),)).lower(schema, None)  # which knows what to say
    else:
        names.inside(schema, mention.name)
