"""What a citation style is: an ordered list of field templates (see `template`) and a few habits.

One list serves all kinds of publication: a template whose fields are missing or already written is skipped.
Between two parts that were written stands the style's separator, unless the first ends with a space; a part
that begins with a parenthesis follows after a space.
"""

from __future__ import annotations

from dataclasses import dataclass

from conseq.datasets.bibliography.names import Names


@dataclass(frozen=True)
class Style:
    """The habits of one bibliography."""

    authors: Names
    editors: Names
    parts: tuple[str, ...]
    weight: int
    """How often the style is met, relative to the others."""
    separator: str = ". "
    end: str = "."
    roles: tuple[str, str] = ("ed.", "eds.")
    """What one editor and several editors are called."""
    case: str = "sentence"
    month: str = ""
    """How the month is written, 'long' or 'short'; empty if only the year is."""
    dash: str = "-"
    short: float = 0.1
    """How often journals and conferences are abbreviated."""
    markers: tuple[str, ...] = ()
    """Forms of a mark before the citation, such as [12]."""


THESIS = "{thesis}, {institution}[, {location}]"
REPORT = "{report}, {institution}[, {location}]"
PLACE_FIRST = "[{series}, vol. {volume}. ][{series}. ]{location}: {publisher}"
HOUSE_FIRST = "[{series}, volume {volume}. ][{series}. ]{publisher}[, {location}]"
"""Parts that many styles share."""
