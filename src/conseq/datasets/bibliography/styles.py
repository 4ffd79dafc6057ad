"""How it is written: the table of all citation styles; one is drawn for each citation.

A style is an ordered list of field templates (see `template`) and a few habits. One list serves all kinds of
publication: a template whose fields are missing or already written is skipped. Between two parts that were
written stands the style's separator, unless the first ends with a space; a part that begins with a
parenthesis follows after a space.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from conseq.datasets.bibliography.names import Names
from conseq.datasets.words import read


@dataclass(frozen=True)
class Style:
    """The habits of one bibliography."""

    weight: int
    """How often the style is met, relative to the others."""
    template: str
    """Its parts with | between them; ~ is a space at the end of one."""
    authors: Names
    other_editors: Names | None = None
    """How editors are written, if not as authors are."""
    separator: str = ". "
    end: str = "."
    roles: Sequence[str] = ("ed.", "eds.")
    """What one editor and several editors are called."""
    case: str = "sentence"
    month: str = ""
    """How the month is written, 'long' or 'short'; empty if only the year is."""
    dash: str = "-"
    short: float = 0.1
    """How often journals and conferences are abbreviated."""
    markers: Sequence[str] = ()
    """Forms of a mark before the citation, such as [12]."""

    @property
    def editors(self) -> Names:
        return self.other_editors or self.authors

    @cached_property
    def parts(self) -> tuple[str, ...]:
        whole = re.sub(r"\s*\n\s*", "", self.template)
        return tuple(part.strip().replace("~", " ") for part in whole.split("|"))

    @classmethod
    def of(cls, row: dict[str, Any]) -> Style:
        """A style as a table of the file has it."""
        people = {key: Names(**row.pop(key)) for key in ("authors", "other_editors") if key in row}
        return cls(**row, **people)  # type: ignore[arg-type]  # of these two keys only


STYLES = {name: Style.of(row) for name, row in tomllib.loads(read("styles.toml")).items()}
"""Every style by its name, from `words/styles.toml`."""
