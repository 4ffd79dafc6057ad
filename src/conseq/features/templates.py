"""Feature templates as data: text ─→ Template ─→ text.

A template is a conjunction of parts; a part is a source at an offset from the token:

    word[0]    suffix(3)[-1]    pos[-1] & pos[0]    match(/^\\d+$/)[1]    lower[-2..2] (five templates)

An attribute is a template with a value of each part, printed as `pos[-1] & pos[0]=DT|NN`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from conseq.errors import TemplateError
from conseq.features.sources import COMPUTED, DERIVED, NEEDS_ARGUMENT, Source

_PART = re.compile(
    r"\s*(?P<name>[^\s()\[\]&,/]+)"
    r"(?:\(\s*(?:/(?P<pattern>(?:\\.|[^/\\])*)/|(?P<inside>[^()\[\]/]*))\s*(?:,\s*(?P<column>[^()\[\]/,]+?)\s*)?\))?"
    r"\s*\[\s*(?P<low>[+-]?\d+)\s*(?:\.\.\s*(?P<high>[+-]?\d+)\s*)?\]\s*"
)


@dataclass(frozen=True)
class Part:
    """A source looked at `offset` tokens away."""

    source: Source
    offset: int

    def __str__(self) -> str:
        return f"{self.source}[{self.offset}]"

    @property
    def key(self) -> tuple[str, int]:
        """What the value is a function of."""
        return self.source.key, self.offset


@dataclass(frozen=True)
class Template:
    """A conjunction of parts."""

    parts: tuple[Part, ...]

    def __str__(self) -> str:
        return " & ".join(map(str, self.parts))

    @property
    def key(self) -> frozenset[tuple[str, int]]:
        return frozenset(part.key for part in self.parts)

    @property
    def reach(self) -> int:
        """How far from the token the template looks."""
        return max(abs(part.offset) for part in self.parts)


def parse_templates(lines: str | Iterable[str]) -> tuple[Template, ...]:
    """Templates from text, one a line (or an item); `#` starts a comment, a range makes several.

    >>> [str(t) for t in parse_templates(["word[-1..1]", "pos[-1] & pos[0]"])]
    ['word[-1]', 'word[0]', 'word[1]', 'pos[-1] & pos[0]']
    >>> parse_templates(["sufix(3)[0"])
    Traceback (most recent call last):
    conseq.errors.TemplateError: template 1, column 1: 'sufix(3)[0' is not a template; write one like word[0]
    """
    items = lines.splitlines() if isinstance(lines, str) else list(lines)
    templates: dict[Template, None] = {}
    for number, item in enumerate(items, 1):
        text = item if isinstance(lines, str) is False else _without_comment(item)
        if text.strip():
            templates.update(dict.fromkeys(_parse_line(text, number)))
    return tuple(templates)


def _without_comment(line: str) -> str:
    return re.sub(r"(^|\s)#.*", "", line)


def _parse_line(text: str, number: int) -> list[Template]:
    parts: list[list[Part]] = []
    place = 0
    while True:
        found = _PART.match(text, place)
        if not found:
            raise TemplateError(
                f"template {number}, column {place + 1}: {text[place:].strip()!r} is not a template; "
                "write one like word[0]"
            )
        parts.append(_parts(found, number))
        place = found.end()
        if place == len(text):
            break
        if text[place] != "&":
            raise TemplateError(f"template {number}, column {place + 1}: expected & before {text[place:]!r}")
        place += 1
    if len(parts) > 1 and any(len(p) > 1 for p in parts):
        raise TemplateError(f"template {number}: a range of offsets cannot be joined with &; write each out")
    if len(parts) == 1:
        return [Template((part,)) for part in parts[0]]
    return [Template(tuple(p[0] for p in parts))]


def _parts(found: re.Match[str], number: int) -> list[Part]:
    low = int(found["low"])
    high = int(found["high"]) if found["high"] else low
    if high < low:
        raise TemplateError(
            f"template {number}: the range {low}..{high} is empty; write the lower offset first"
        )
    source = _source(found)
    return [Part(source, offset) for offset in range(low, high + 1)]


def _source(found: re.Match[str]) -> Source:
    """`name(argument, column)`; a name that is no function is a column."""
    name, column = found["name"], found["column"] or ""
    argument = found["pattern"] if found["pattern"] is not None else (found["inside"] or "").strip()
    if "," in argument and found["pattern"] is None:
        argument, column = (x.strip() for x in argument.split(",", 1))
    if name not in DERIVED and name not in COMPUTED:
        if argument or column:
            known = ", ".join([*DERIVED, *COMPUTED])
            raise TemplateError(f"there is no attribute {name!r}; there are: {known}")
        return Source("value", "", "" if name == "word" else name)
    if name in NEEDS_ARGUMENT and not argument:
        raise TemplateError(f"{name} needs {NEEDS_ARGUMENT[name]} in parentheses")
    if name not in NEEDS_ARGUMENT:
        argument, column = "", column or argument
    if name == "match" and found["pattern"] is None:
        raise TemplateError(
            f"match needs a pattern between slashes, such as match(/^[A-Z]/), not {argument!r}"
        )
    return Source(name, argument, "" if column == "word" else column)
