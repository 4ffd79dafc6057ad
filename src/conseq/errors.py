"""Every error a user can cause: one sentence with the place and the remedy, never a traceback.

The command line prints `str(error)` and exits with 1; Python callers catch `ConseqError` or a kind of it.
"""

from __future__ import annotations

import re
from pathlib import Path

LONGEST_WORD, LONGEST_MESSAGE = 300, 2000
"""Characters of a run without spaces, and of a whole message, that are shown."""


def shortened(message: str) -> str:
    """A message whose long words are cut in the middle, as is the whole if it is still long.

    What users give (labels, tokens, file names) is quoted in messages and may have any length.

    >>> shortened("no label is called " + "x" * 100_000 + "; correct it")[-20:]
    'xxxxxxxx; correct it'
    """
    words = re.sub(rf"\S{{{LONGEST_WORD + 1},}}", lambda word: _cut(word[0], LONGEST_WORD), message)
    return _cut(words, LONGEST_MESSAGE)


def _cut(text: str, length: int) -> str:
    half = length // 2
    return text if len(text) <= length else f"{text[:half]}…{text[-half:]}"


def counted(number: int, noun: str) -> str:
    """A number of things.

    >>> counted(1, "token"), counted(1200, "token")
    ('1 token', '1,200 tokens')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


class ConseqError(Exception):
    """The base of all errors that conseq raises on purpose: names the place as far as it is known.

    Long names in its message are cut.
    """

    def __init__(
        self,
        message: str = "",
        *,
        path: str | Path | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        self.message = message
        self.path = None if path is None else str(path)
        self.line = line
        self.column = column
        numbers = {name: n for name, n in (("line", line), ("column", column)) if n is not None}
        if path is not None:
            place = ":".join(map(str, [path, *numbers.values()]))
        else:
            place = ", ".join(f"{name} {n}" for name, n in numbers.items())
        super().__init__(shortened(f"{place}: {message}" if place else message))


class DataError(ConseqError):
    """Input data cannot be read: names the file and the line where that is known.

    >>> str(DataError("the file is empty; give at least one sequence", path="a.tsv"))
    'a.tsv: the file is empty; give at least one sequence'
    >>> str(DataError("2 columns where the lines above have 3", path="a.tsv", line=7))
    'a.tsv:7: 2 columns where the lines above have 3'
    """


class SchemaError(ConseqError):
    """Labels do not fit their scheme (`B-` without a type, mixed schemes, an unknown label)."""


class TemplateError(ConseqError):
    """A feature template cannot be parsed or names something that does not exist."""


class ModelError(ConseqError):
    """A model file cannot be read or written, or does not fit the input."""


class ScoreError(ConseqError):
    """Scores are not usable: NaN, +inf, a shape that does not fit."""


class InfeasibleError(ConseqError):
    """No labelling satisfies what was demanded of a sequence."""


class RuleError(ConseqError):
    """A constraint cannot be read or does not fit the labels: names the file, line and column if known.

    >>> str(RuleError("there is no label 'autor'; did you mean 'author'?", line=3, column=8))
    "line 3, column 8: there is no label 'autor'; did you mean 'author'?"
    """
