"""Every error a user can cause: one sentence with the place and the remedy, never a traceback.

The command line prints `str(error)` and exits with 1; Python callers catch `ConseqError` or a kind of it.
"""

from __future__ import annotations

from pathlib import Path


class ConseqError(Exception):
    """The base of all errors that conseq raises on purpose."""


class DataError(ConseqError):
    """Input data cannot be read: names the file and the line where that is known.

    >>> str(DataError("the file is empty; give at least one sequence", path="a.tsv"))
    'a.tsv: the file is empty; give at least one sequence'
    >>> str(DataError("2 columns where the lines above have 3", path="a.tsv", line=7))
    'a.tsv:7: 2 columns where the lines above have 3'
    """

    def __init__(self, message: str, *, path: str | Path | None = None, line: int | None = None) -> None:
        self.message = message
        self.path = None if path is None else str(path)
        self.line = line
        place = "" if path is None else f"{path}:{line}: " if line is not None else f"{path}: "
        if path is None and line is not None:
            place = f"line {line}: "
        super().__init__(place + message)


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

    def __init__(
        self,
        message: str,
        *,
        path: str | Path | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        self.message = message
        self.path = None if path is None else str(path)
        self.line = line
        self.column = column
        numbers = [(name, n) for name, n in (("line", line), ("column", column)) if n is not None]
        if path is not None:
            place = ":".join([str(path), *(str(n) for _, n in numbers)])
        else:
            place = ", ".join(f"{name} {n}" for name, n in numbers)
        super().__init__(f"{place}: {message}" if place else message)
