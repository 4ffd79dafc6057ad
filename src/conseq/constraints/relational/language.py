"""The language of rules about entities and relations: a text that people read and edit ↔ rules.

    text ─lines─→ scanner.scan ─pieces─→ grammar.RELATION_RULES ─→ RelationRule
    text, path, rule, rules or lines ─→ as_relation_rules ─→ RelationRules that fit the types

`format_constraints` (`constraints/language.py`) writes them as a text. One rule per line:

    work_for(person, organisation)              hard
    if located_in(a, b) then not located_in(b, a)   penalty 2.5
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from conseq.constraints import scanner
from conseq.constraints.lines import Language, parse_lines, text_of
from conseq.constraints.reader import Mention, at_column
from conseq.constraints.relational.base import RelationRule, entity_number, relation_number, unknown
from conseq.constraints.relational.grammar import RELATION_RULES
from conseq.entities import Candidates, Types

RelationRules = str | os.PathLike[str] | RelationRule | Iterable[RelationRule | str] | None
"""None, a text in the language, the path of a rule file, a rule, or a list of rules and lines."""

_EMPTY = Candidates(0, np.empty((0, 2), dtype=np.int64), np.empty((0, 2), dtype=np.int64), ())
"""A sentence without entities: every rule can be lowered for it if its names are known."""


def parse_relation_rules(
    text: str, types: Types | None = None, path: str | None = None
) -> list[RelationRule]:
    """The rules that a text states; with types, all names in them are checked.

    path    the file that errors should name

    >>> types = Types(("person", "city"), ("lives_in",))
    >>> rules = parse_relation_rules("lives_in(person, city)  hard\\nexactly 1 lives_in  penalty 2", types)
    >>> print(*rules, sep="; ")
    lives_in(person, city)  hard; exactly 1 lives_in  penalty 2
    """
    return parse_lines(text, lambda line: _read_line(line, types), path)


def read_relation_rules(path: str | Path, types: Types | None = None) -> list[RelationRule]:
    """The rules of a file."""
    return parse_relation_rules(text_of(path), types, str(path))


def as_relation_rules(given: RelationRules, types: Types) -> tuple[RelationRule, ...]:
    """Rules in any form as objects that fit the types; a line in a list is numbered by its place, from 1.

    >>> types = Types(("person",), ("knows",))
    >>> [str(rule) for rule in as_relation_rules(["knows is symmetric  hard"], types)]
    ['knows is symmetric  hard']
    """
    return Language(RelationRule, partial(_parsed, types), partial(check_names, types)).rules(given)


@lru_cache(maxsize=256)
def _parsed(types: Types, text: str, path: str | None = None) -> tuple[RelationRule, ...]:
    """Kept, for the same rules may be given for one sentence after another."""
    return tuple(parse_relation_rules(text, types, path))


def _read_line(line: str, types: Types | None) -> RelationRule | None:
    """The rule of a line, None if it is blank or a comment; it fits the types, if some are given."""
    pieces = scanner.scan(line)
    if len(pieces) == 1:
        return None
    rule, mentions = RELATION_RULES.read(pieces)
    if types is not None:
        for mention in mentions:
            with at_column(mention.column):
                _check_mention(mention, types)
        with at_column(pieces[0].column):
            check_names(types, rule)
    return rule


def _check_mention(mention: Mention, types: Types) -> None:
    if mention.slot == "entity":
        entity_number(types, mention.name)
    elif mention.slot == "relation":
        relation_number(types, mention.name)
    elif mention.name not in types.entities and mention.name not in types.relations:
        raise unknown(mention.name, "type or relation", [*types.entities, *types.relations])


def check_names(types: Types, rule: RelationRule) -> None:
    """Raise if a rule has a name that the types lack, or a type where a relation should be."""
    rule.lower(types, _EMPTY)
