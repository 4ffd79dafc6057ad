"""Which features a model gets.  --features, --template, --lexicon ─→ templates."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from conseq.cli.outcome import misused
from conseq.cli.reading import read_lines
from conseq.errors import TemplateError

if TYPE_CHECKING:
    from conseq.features import Template

DEFAULT = "fields"


def chosen_features(
    features: str | None, template: str | None, lexicons: Mapping[str, object], columns: Sequence[str]
) -> dict[str, Any]:
    """The features for data with these columns, as arguments of a `SequenceLabeller`.

    A lexicon that no template uses gets templates of its own.
    """
    from conseq.features import parse_templates
    from conseq.features.crfpp import parse_crfpp

    if template is not None:
        parsed = parse_crfpp("\n".join(read_lines(template)), columns, path=template)
        return {"features": parsed.templates, "transitions": parsed.transitions, "boundaries": False}
    templates = _templates(features or DEFAULT, columns)
    used = {part.source.argument for t in templates for part in t.parts if part.source.name == "lexicon"}
    more = parse_templates([f"lexicon({name})[-1..1]" for name in lexicons if name not in used])
    return {"features": (*templates, *more)}


def _templates(choice: str, columns: Sequence[str]) -> tuple[Template, ...]:
    """The templates of a preset or of a file with one per line."""
    from conseq.features import parse_templates, preset
    from conseq.features.presets import PRESETS

    if choice in PRESETS:
        return preset(choice, columns)
    if not os.path.exists(choice):
        raise TemplateError(
            f"there is no preset and no file {choice!r}; name a file of templates, or one of the presets: "
            + ", ".join(PRESETS)
        )
    try:
        templates = parse_templates(read_lines(choice))
    except TemplateError as error:
        raise TemplateError(f"{choice}: {error}") from None
    if not templates:
        raise TemplateError(f"{choice}: the file has no templates; write one per line, such as word[0]")
    return templates


def read_lexicons(given: Sequence[str]) -> dict[str, list[str]]:
    """Name → entries, from NAME=FILE."""
    lexicons = {}
    for item in given:
        name, equals, path = item.partition("=")
        if not (name and equals and path):
            misused(f"--lexicon {item!r} is not of the form NAME=FILE")
        lexicons[name] = read_lines(path)
    return lexicons
