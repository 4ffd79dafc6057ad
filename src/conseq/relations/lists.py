"""Names of places, titles and names of people, written for this package."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

LISTS = ("places", "titles", "names")


@cache
def entries(name: str) -> frozenset[str]:
    """The entries of a list in lower case, several words with a space between.

    >>> "new york" in entries("places"), "lt." in entries("titles"), "mary" in entries("names")
    (True, True, True)
    """
    text = (files("conseq.relations") / "words" / f"{name}.txt").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return frozenset(entry.strip().lower() for line in lines for entry in line.split(";") if entry.strip())
