"""Rules of any sort in any form that users give them in: a text, a path, a rule, or rules and lines.

text, path, rule, rules or lines ─→ Language.rules ─→ rules that fit
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from conseq.constraints.base import Rule
from conseq.errors import RuleError

Kind = TypeVar("Kind", bound=Rule)


@dataclass(frozen=True)
class Language(Generic[Kind]):
    """How rules of a sort are read.

    kind     their class
    parse    a text, and the path it comes from, ─→ the rules that it states
    check    raises if a rule made in Python does not fit
    """

    kind: type[Any]  # Kind, which may be abstract
    parse: Callable[[str, str | None], tuple[Kind, ...]]
    check: Callable[[Kind], None]

    def rules(self, given: Any) -> tuple[Kind, ...]:
        """Rules in any form as objects that fit; a line in a list is numbered by its place, from 1."""
        if given is None:
            return ()
        if isinstance(given, str):
            return self._of_text(given)
        if isinstance(given, os.PathLike):
            return self.parse(text_of(Path(given)), os.fspath(given))
        items = [given] if isinstance(given, self.kind) else given
        if not isinstance(items, Iterable):
            kind = type(given).__name__
            raise RuleError(
                f"constraints is of type {kind}; give a text of rules, a path, or a list of rules"
            )
        return tuple(rule for number, item in enumerate(items, 1) for rule in self._of_item(item, number))

    def _of_text(self, text: str) -> tuple[Kind, ...]:
        try:
            return self.parse(text, None)
        except RuleError:
            if "\n" not in text and os.path.isfile(text):
                raise RuleError(f"{text!r} is a file, not a rule; give pathlib.Path({text!r})") from None
            raise

    def _of_item(self, item: Any, number: int) -> tuple[Kind, ...]:
        """The rule that stands at this place of a list; none for a blank line."""
        if isinstance(item, self.kind):
            self._check(item)
            return (item,)
        if not isinstance(item, str):
            given, wanted = type(item).__name__, self.kind.__name__
            raise RuleError(f"a rule is of type {given}; give a {wanted} or a line", line=number)
        try:
            return self.parse(item, None)
        except RuleError as error:
            raise RuleError(error.message, line=number, column=error.column) from None

    def _check(self, rule: Kind) -> None:
        try:
            self.check(rule)
        except RuleError as error:
            raise RuleError(f"{error.message} (rule: {rule.line()})") from None


def parse_lines(text: str, read: Callable[[str], Kind | None], path: str | None = None) -> list[Kind]:
    """The rules that the lines of a text state; errors know their line."""
    rules = []
    for number, line in enumerate(text.split("\n"), start=1):
        try:
            rule = read(line)
        except RuleError as error:
            raise RuleError(error.message, path=path, line=number, column=error.column) from None
        if rule is not None:
            rules.append(rule)
    return rules


def text_of(path: str | Path) -> str:
    """The text of a file of rules."""
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        reason = error.strerror or str(error)
        raise RuleError(f"the rules cannot be read ({reason}); check the path", path=path) from None
    except UnicodeDecodeError as error:
        raise RuleError(f"the file is not UTF-8 at byte {error.start}; convert it", path=path) from None
