"""Templates for the usual tasks, by name: `PRESETS["ner"]` ─→ templates.

The names `word`, `lower`, … look at the token column, whatever it is called. A preset that can use a second
column (`pos`, `chunk`) takes it where the data has it. The file `presets.toml` says what each is for.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from importlib.resources import files
from typing import NamedTuple

from conseq.errors import TemplateError
from conseq.features.sources import Source
from conseq.features.templates import Template, parse_templates


class Preset(NamedTuple):
    """Templates over the token column, over a second column {c}, and over each further one."""

    tokens: str
    second: str = ""
    further: str = ""


_FILE = (files(__package__) / "presets.toml").read_text(encoding="utf-8")
PRESETS = {name: Preset(**parts) for name, parts in tomllib.loads(_FILE).items()}
"""Every preset by its name."""


def preset(name: str, columns: Sequence[str]) -> tuple[Template, ...]:
    """The templates of a preset for data with these observed columns, the tokens first.

    >>> len(preset("chunk", ["word"])), len(preset("chunk", ["word", "pos"]))
    (7, 19)
    """
    if name not in PRESETS:
        raise TemplateError(f"there is no preset {name!r}; there are: {', '.join(PRESETS)}")
    tokens, second, further = PRESETS[name]
    shapes = [second] + [further] * len(columns)
    pairs = zip(shapes, columns[1:], strict=False)
    text = tokens + "".join(shape.format(c=Source("value", "", column)) for shape, column in pairs)
    return parse_templates(text.splitlines())
