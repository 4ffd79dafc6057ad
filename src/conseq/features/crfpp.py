"""CRF++ template files: text + column names ─→ templates, and whether transitions are wanted.

U05:%x[-1,0]/%x[0,0]      a conjunction: column 0 at the previous token and at this one
B                          weights for pairs of neighbouring labels
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from conseq.errors import TemplateError
from conseq.features.sources import Source, whole
from conseq.features.templates import Part, Template, check_offset

_MACRO = re.compile(r"%x\[\s*([+-]?\d+)\s*,\s*(\d+)\s*\]")


@dataclass(frozen=True)
class CrfppTemplates:
    """What a CRF++ template file asks for."""

    templates: tuple[Template, ...]
    transitions: bool


def parse_crfpp(text: str, columns: Sequence[str], *, path: str | Path = "template") -> CrfppTemplates:
    """Read a CRF++ template file; `columns` are the names of the observed columns, the tokens first.

    >>> parsed = parse_crfpp("U00:%x[-1,0]/%x[0,1]\\nB", ["word", "pos"])
    >>> [str(t) for t in parsed.templates], parsed.transitions
    (['word[-1] & pos[0]'], True)
    """
    templates: dict[Template, None] = {}
    seen: dict[str, int] = {}
    transitions = False
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        place = f"{path}:{number}"
        if line[0] == "B":
            if "%" in line:
                raise TemplateError(
                    f"{place}: B lines that look at tokens are not supported; write a plain B"
                )
            transitions = True
        elif line[0] == "U":
            _refuse_shared_id(line, place, number, seen)
            templates[_template(line, columns, place)] = None
        else:
            raise TemplateError(f"{place}: a line starts with U or B, not {line[0]!r}")
    if not templates:
        raise TemplateError(f"{path}: no U line in the template file; write lines like U00:%x[0,0]")
    return CrfppTemplates(tuple(templates), transitions)


def _refuse_shared_id(line: str, place: str, number: int, seen: dict[str, int]) -> None:
    """CRF++ lets lines with one id share their weights; that is nearly always a slip."""
    name = _MACRO.sub("%x", line)
    offsets = _MACRO.findall(line)
    if name in seen and offsets:
        raise TemplateError(
            f"{place}: the same id as line {seen[name]} ({name.split(':')[0]!r}); give each line its own"
        )
    seen[name] = number


def _template(line: str, columns: Sequence[str], place: str) -> Template:
    rest = _MACRO.sub("", line)
    if "%" in rest:
        raise TemplateError(f"{place}: {line!r} has a macro that is not of the form %x[row,column]")
    parts = []
    for row, column in _MACRO.findall(line):
        if whole(column) >= len(columns):
            raise TemplateError(
                f"{place}: column {column} in {line!r}, but the data has only the columns 0 to "
                f"{len(columns) - 1} before the label"
            )
        try:
            check_offset(whole(row))
        except TemplateError as error:
            raise TemplateError(f"{place}: {error}") from None
        name = "" if whole(column) == 0 else columns[whole(column)]
        parts.append(Part(Source("value", "", name), whole(row)))
    return Template(tuple(parts) or (Part(Source("bias"), 0),))
