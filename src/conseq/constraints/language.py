"""The language of rules: a text that people read and edit ↔ constraints.

    text ─lines─→ scanner.scan ─pieces─→ grammar.read_rule ─→ Constraint
    constraints ─line(), penalty_text─→ format_constraints ─→ text
    text, path, rule, rules or lines ─→ as_constraints ─→ Constraints that fit the labels (`lines.py`)

One rule per line, each with its penalty, comments after #:

    at most 1 segment of author     penalty 4.2   # held 294/300
    token "Mr." is person           hard
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from conseq import constraints as library
from conseq.constraints import names, scanner, writing
from conseq.constraints.base import Constraint, Rule
from conseq.constraints.grammar import CONSTRAINTS
from conseq.constraints.lines import Language, parse_lines, text_of
from conseq.constraints.reader import Mention, at_column
from conseq.kept import kept
from conseq.schema import Schema
from conseq.schema.scheme import AUTO

Rules = str | os.PathLike[str] | Constraint | Iterable[Constraint | str] | None
"""None, a text in the language, the path of a rule file, a rule, or a list of rules and lines."""

_ALIGNED = 60
"""Penalties stand in one column after lines of up to this length."""


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
    return parse_lines(text, lambda line: _read_line(line, schema), path)


def read_constraints(path: str | Path, schema: Schema | None = None) -> list[Constraint]:
    """The rules of a file."""
    return parse_constraints(text_of(path), schema=schema, path=str(path))


def as_constraints(given: Rules, schema: Schema) -> tuple[Constraint, ...]:
    """Rules in any form as objects that fit the labels; a line in a list is numbered by its place, from 1.

    >>> schema = Schema(["O", "x", "y"], "plain")
    >>> [str(rule) for rule in as_constraints(["if x then y hard", library.NotBoth("y", "O")], schema)]
    ['if x then y  hard', 'not both y and O  hard']
    """
    language = Language(Constraint, partial(_parsed, schema), partial(_check_object, schema))
    return language.rules(given)


def format_constraints(constraints: Iterable[Rule], comments: Iterable[str] = ()) -> str:
    """A text that states the rules and reads back equal, with a comment behind each where some are given.

    >>> print(format_constraints(parse_constraints("legal bio\\nif thesis then school penalty 2")), end="")
    legal bio              hard
    if thesis then school  penalty 2
    >>> rules = parse_constraints("if thesis then school penalty 2")
    >>> print(format_constraints(rules, ["held 9/9"]), end="")
    if thesis then school  penalty 2  # held 9/9
    """
    written = [(constraint.line(), constraint.penalty_text) for constraint in constraints]
    width = max((len(line) for line, _ in written if len(line) <= _ALIGNED), default=0)
    lines = [f"{line.ljust(width)}  {penalty}" for line, penalty in written]
    remarks = list(comments)
    if remarks:
        width = max(len(line) for line in lines)
        lines = [f"{line.ljust(width)}  # {remark}" for line, remark in zip(lines, remarks, strict=True)]
    return "".join(f"{line}\n" for line in lines)


def _read_line(line: str, schema: Schema | None) -> Constraint | None:
    """The rule of a line, None if it is blank or a comment; it fits the schema, if one is given."""
    pieces = scanner.scan(line)
    if len(pieces) == 1:
        return None
    rule, mentions = CONSTRAINTS.read(pieces)
    if schema is not None:
        for mention in mentions:
            with at_column(mention.column):
                _check_mention(mention, schema)
        if not rule.varies:
            with at_column(pieces[0].column):
                rule.lower(schema, None)
    return rule


def _check_mention(mention: Mention, schema: Schema) -> None:
    if mention.slot == "segment":
        names.known_types(schema, mention.name)
    elif mention.slot == "label" and mention.name not in schema.labels:
        library.OnlySteps(((writing.START, mention.name),)).lower(schema, None)  # which knows what to say
    else:
        names.inside(schema, mention.name)


@kept
def _parsed(schema: Schema, text: str, path: str | None = None) -> tuple[Constraint, ...]:
    """Kept, for the same rules may be given for one short sequence after another."""
    return tuple(parse_constraints(text, schema=schema, path=path))


@kept
def _check_object(schema: Schema, rule: Constraint) -> None:
    """Raise if a rule made in Python does not fit the labels; kept for the same reason."""
    if rule.varies:  # it is lowered when its sequences are known
        names.inside(schema, *rule.names)
    else:
        rule.lower(schema, None)
