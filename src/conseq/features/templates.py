"""Feature templates as data: text ─→ Template ─→ text.

A template is a conjunction of parts; a part is a source at an offset from the token:

    word[0]    suffix(3)[-1]    pos[-1] & pos[0]    match(/^\\d+$/)[1]    lower[-2..2] (five templates)

A name in single quotes is always a column, whatever its characters: 'lower'[0], suffix(2, 'POS tag')[0].
An attribute is a template with a value of each part, printed as `pos[-1] & pos[0]=DT|NN`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from conseq.errors import TemplateError
from conseq.features.sources import COMPUTED, DERIVED, NEEDS_ARGUMENT, Source, whole

_PATTERN = r"/(?:\\.|[^/\\])*/"
_QUOTED = r"'(?:[^']|'')+'"
_ARGUMENT = rf"(\s*+(?:{_PATTERN}|{_QUOTED})\s*+|[^()\[\]/',]*+)"  # possessive: there is one way to read it
_PART = re.compile(
    rf"\s*(?P<name>{_QUOTED}|[^\s()\[\]&,/']+)"
    rf"(?:\((?P<inside>{_ARGUMENT}(?:,{_ARGUMENT})*)\))?"
    r"\s*\[\s*(?P<low>[+-]?\d+)\s*(?:\.\.\s*(?P<high>[+-]?\d+)\s*)?\]\s*"
)
_COMMENT = re.compile(rf"(\\/|{_PATTERN}|{_QUOTED})|(?:^|\s)#.*")  # no pattern begins at an escaped slash

LONGEST = 20_000
"""Characters that the text of a template may have."""

FARTHEST = 1000
"""No template looks further from its token than this."""


@dataclass(frozen=True)
class Part:
    """A source looked at `offset` tokens away."""

    source: Source
    offset: int

    def __str__(self) -> str:
        return f"{self.source}[{self.offset}]"


@dataclass(frozen=True)
class Template:
    """A conjunction of parts."""

    parts: tuple[Part, ...]

    def __str__(self) -> str:
        return " & ".join(map(str, self.parts))

    @property
    def reach(self) -> int:
        """How far from the token the template looks."""
        return max(abs(part.offset) for part in self.parts)


def parse_templates(lines: str | Iterable[str | Template]) -> tuple[Template, ...]:
    """Templates from text, one per line (or item), without repetition; `#` starts a comment, a range makes
    several. What is a template already stays as it is.

    >>> [str(t) for t in parse_templates(["word[-1..1]", "pos[-1] & pos[0]"])]
    ['word[-1]', 'word[0]', 'word[1]', 'pos[-1] & pos[0]']
    >>> parse_templates(["sufix(3)[0"])
    Traceback (most recent call last):
    conseq.errors.TemplateError: template 1, column 1: 'sufix(3)[0' is not a template; write one like word[0]
    """
    items: Iterable[str | Template] = lines.splitlines() if isinstance(lines, str) else lines
    templates: dict[Template, None] = {}
    for number, item in enumerate(items, 1):
        found = [item] if isinstance(item, Template) else parse_template(item, number)
        templates.update(dict.fromkeys(found))
    return tuple(templates)


def parse_template(text: str, number: int = 1) -> list[Template]:
    """The templates of one line: none of a blank one, several of a range; errors name the line `number`."""
    if len(text) > LONGEST:
        raise TemplateError(f"template {number} has {len(text)} characters; use at most {LONGEST}")
    text = _COMMENT.sub(lambda found: found[1] or "", text)
    parts: list[list[Part]] = []
    place = 0
    while text.strip():
        found = _PART.match(text, place)
        if not found:
            raise TemplateError(
                f"template {number}, column {place + 1}: {text[place:].strip()!r} is not a template; "
                "write one like word[0]"
            )
        try:
            parts.append(_parts(found))
        except TemplateError as error:
            raise TemplateError(f"template {number}, column {found.start('name') + 1}: {error}") from None
        place = found.end()
        if place == len(text):
            break
        if text[place] != "&":
            raise TemplateError(f"template {number}, column {place + 1}: expected & before {text[place:]!r}")
        place += 1
    if len(parts) > 1 and any(len(p) > 1 for p in parts):
        raise TemplateError(f"template {number}: a range of offsets cannot be joined with &; write each out")
    return [Template(together) for together in zip(*parts, strict=True)]


def _parts(found: re.Match[str]) -> list[Part]:
    low = whole(found["low"])
    high = whole(found["high"]) if found["high"] else low
    if high < low:
        raise TemplateError(f"the range {low}..{high} is empty; write the lower offset first")
    check_offset(low)
    check_offset(high)
    source = _source(found)
    return [Part(source, offset) for offset in range(low, high + 1)]


def check_offset(offset: int) -> None:
    """Raise if a template looks too far away."""
    if abs(offset) > FARTHEST:
        raise TemplateError(f"the offset {offset} is too far; look at most {FARTHEST} tokens away")


def _source(found: re.Match[str]) -> Source:
    """`name(argument, column)`; a quoted name, or one that is no function, is a column."""
    name = found["name"]
    texts = re.findall(_ARGUMENT + "(?:,|$)", found["inside"])[:-1] if found["inside"] else []
    arguments = [text.strip() for text in texts]
    if name not in DERIVED and name not in COMPUTED:
        if arguments:
            known = ", ".join([*DERIVED, *COMPUTED])
            raise TemplateError(f"there is no attribute {name!r}; there are: {known}")
        return Source("value", "", _column(name))
    argument = ""
    if name in NEEDS_ARGUMENT:
        if not arguments or not arguments[0]:
            raise TemplateError(f"{name} needs {NEEDS_ARGUMENT[name]} in parentheses")
        argument = _argument(name, arguments.pop(0))
    if len(arguments) > (name in DERIVED) or any(a.startswith("/") for a in arguments):
        raise TemplateError(f"{name} cannot take {', '.join(arguments)!r}; {_takes(name)}")
    source = Source(name, argument, _column(arguments[0]) if arguments else "")
    source.check()
    return source


def _argument(name: str, text: str) -> str:
    if (name == "match") != text.startswith("/"):
        raise TemplateError(f"{name} needs {NEEDS_ARGUMENT[name]} in parentheses, not {text!r}")
    return text[1:-1] if name == "match" else text


def _takes(name: str) -> str:
    needs = [NEEDS_ARGUMENT[name]] if name in NEEDS_ARGUMENT else []
    may = ["the name of a column, if any"] if name in DERIVED else []
    return "it takes " + (" and ".join(needs + may) or "nothing")


def _column(name: str) -> str:
    if name.startswith("'"):
        return name[1:-1].replace("''", "'")
    return "" if name == "word" else name
