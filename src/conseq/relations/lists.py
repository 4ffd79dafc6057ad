"""Names of places, titles and names of people, written for this package."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

LISTS = ("places", "titles", "names")


SHORT = 2
"""Entries of so few letters count as they are written: OR is a state, "or" is not."""


@cache
def entries(name: str) -> frozenset[str]:
    """The entries of a list, all but short ones in lower case, several words with a space between.

    >>> "new york" in entries("places"), "OR" in entries("places"), "or" in entries("places")
    (True, True, False)
    """
    text = (files("conseq.relations") / "words" / f"{name}.txt").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return frozenset(_form(entry.strip()) for line in lines for entry in line.split(";") if entry.strip())


def listed(text: str, name: str) -> bool:
    """Whether a list has a text.

    >>> listed("HAVANA", "places"), listed("Lt.", "titles"), listed("in", "places")
    (True, True, False)
    """
    return _form(text) in entries(name)


def _form(text: str) -> str:
    return text.lower() if len(text) > SHORT else text
