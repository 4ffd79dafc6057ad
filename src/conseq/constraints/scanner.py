"""One line of the language, cut into its pieces.  text ─→ [Piece(kind, text, value, column)]

Whatever is wrong with a piece in itself (a quote that is not closed, a character that means nothing) is said
here; what may follow what is the business of `grammar.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from conseq.constraints.writing import ESCAPES, begins_name, within_name
from conseq.errors import RuleError

WORD, NAME, TOKEN, PATTERN, NUMBER, SYMBOL, STOP = range(7)
"""The kinds of pieces: bare, in single quotes, in double quotes, between slashes, …, the end of the line."""


@dataclass(frozen=True)
class Piece:
    """A piece of a line: as it was written, what it means, and where it begins (counted from 1)."""

    kind: int
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
_BETWEEN = {
    "'": (NAME, "name", re.compile(r"'(?:\\.|''|[^'\\])*+'", re.DOTALL)),
    '"': (TOKEN, "token", re.compile(r'"(?:\\.|[^"\\])*+"', re.DOTALL)),
    "/": (PATTERN, "pattern", re.compile(r"/(?:\\.|[^/\\])*+/", re.DOTALL)),
}
_ESCAPE = re.compile(r"\\.|''", re.DOTALL)


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
    if line[at] in _BETWEEN:
        return _between(line, at)
    if begins_name(line[at]):
        end = at + 1
        while end < len(line) and within_name(line[end]) and not line.startswith("->", end):
            end += 1
        return Piece(WORD, line[at:end], line[at:end], at + 1)
    for kind, expression in ((NUMBER, _NUMBER), (SYMBOL, _SYMBOL)):
        if found := expression.match(line, at):
            return Piece(kind, found[0], _SAME.get(found[0], found[0]), at + 1)
    raise RuleError(
        f"the character {line[at]!r} means nothing here; names with odd characters stand in single quotes",
        column=at + 1,
    )


def _between(line: str, at: int) -> Piece:
    """What stands between quotes or slashes."""
    quote = line[at]
    kind, called, expression = _BETWEEN[quote]
    found = expression.match(line, at)
    if found is None:
        raise RuleError(f"the {called} is not closed; end it with {quote}", column=at + 1)
    value = _ESCAPE.sub(lambda escape: _escaped(escape, quote, at + 2), found[0][1:-1])
    return Piece(kind, found[0], value, at + 1)


def _escaped(escape: re.Match[str], quote: str, first: int) -> str:
    """What an escape stands for in a text that begins at the column `first`."""
    letter = escape[0][1]
    if letter == quote:
        return letter
    if quote == "/" or escape[0] == "''":  # in a pattern all but the slash stay as they are
        return escape[0]
    if letter not in ESCAPES:
        column = first + escape.start()
        raise RuleError(f"'\\{letter}' means nothing in quotes; write \\\\ for a backslash", column=column)
    return ESCAPES[letter]
