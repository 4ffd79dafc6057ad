"""One line of the language, cut into its pieces.  text ─→ [Piece(kind, text, value, column)]

Whatever is wrong with a piece in itself (a quote that is not closed, a character that means nothing) is said
here; what may follow what is the business of `grammar.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from conseq.constraints.writing import ESCAPES, begins_name, within_name
from conseq.errors import RuleError

WORD, NAME, TOKEN, PATTERN, NUMBER, SYMBOL, STOP = (
    "word",
    "name",
    "token",
    "pattern",
    "number",
    "symbol",
    "end",
)
"""The kinds of pieces: bare, in single quotes, in double quotes, between slashes, …, the end of the line."""


@dataclass(frozen=True)
class Piece:
    """A piece of a line: as it was written, what it means, and where it begins (counted from 1)."""

    kind: str
    text: str
    value: str
    column: int

    def __str__(self) -> str:
        """As errors mention it."""
        if self.kind == STOP:
            return "the end of the line"
        return self.text if self.kind in (NAME, TOKEN, PATTERN) else f"'{self.text}'"


_NUMBER = re.compile(r"(\d+(\.\d+)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_SYMBOL = re.compile(r"->|→|<=|>=|==|[≤≥=<>(),:%+*−-]")
_SAME = {"→": "->", "≤": "<=", "≥": ">=", "=": "==", "−": "-"}
_CLOSED_BY = {"'": (NAME, "name"), '"': (TOKEN, "token"), "/": (PATTERN, "pattern")}


def scan(line: str) -> list[Piece]:
    """The pieces of a line, the comment left out; the last one is the end.

    >>> [piece.text for piece in scan("if 'a b' then b  # because")]
    ['if', "'a b'", 'then', 'b', '']
    """
    pieces: list[Piece] = []
    at = 0
    while (at := _skip_spaces(line, at)) < len(line) and line[at] != "#":
        pieces.append(_piece(line, at))
        at += len(pieces[-1].text)
    return [*pieces, Piece(STOP, "", "", len(line[:at].rstrip()) + 1)]


def _skip_spaces(line: str, at: int) -> int:
    while at < len(line) and (line[at].isspace() or line[at] == "\ufeff"):
        at += 1
    return at


def _piece(line: str, at: int) -> Piece:
    if line[at] in _CLOSED_BY:
        return _between(line, at)
    if begins_name(line[at]):
        return _bare(line, at)
    for kind, expression in ((NUMBER, _NUMBER), (SYMBOL, _SYMBOL)):
        if found := expression.match(line, at):
            return Piece(kind, found[0], _SAME.get(found[0], found[0]), at + 1)
    raise RuleError(
        f"the character {line[at]!r} means nothing here; names with odd characters stand in single quotes",
        column=at + 1,
    )


def _bare(line: str, at: int) -> Piece:
    end = at
    while end < len(line) and within_name(line[end]) and not line.startswith("->", end):
        end += 1
    return Piece(WORD, line[at:end], line[at:end], at + 1)


def _between(line: str, start: int) -> Piece:
    """What stands between quotes or slashes."""
    quote = line[start]
    kind, called = _CLOSED_BY[quote]
    value, at = "", start + 1
    while at < len(line):
        if line[at] == "\\" and at + 1 < len(line):
            value += _escaped(line, at, quote)
            at += 2
        elif line.startswith("''", at) and quote == "'":
            value += "'"
            at += 2
        elif line[at] == quote:
            return Piece(kind, line[start : at + 1], value, start + 1)
        else:
            value += line[at]
            at += 1
    raise RuleError(f"the {called} is not closed; end it with {quote}", column=start + 1)


def _escaped(line: str, at: int, quote: str) -> str:
    """What a backslash and the next character stand for; in a pattern all but the slash stay as they are."""
    letter = line[at + 1]
    if letter == quote:
        return letter
    if quote == "/":
        return "\\" + letter
    if letter not in ESCAPES:
        raise RuleError(f"'\\{letter}' means nothing in quotes; write \\\\ for a backslash", column=at + 1)
    return ESCAPES[letter]
