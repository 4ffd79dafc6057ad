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
