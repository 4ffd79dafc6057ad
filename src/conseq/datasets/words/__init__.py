"""Word lists of the generators, written for them: a file of this folder → tuples of words or phrases by name.

A text file has a name in capitals before each list, and lines of the list under it. A list with semicolons is
cut at these and at line ends, others at white space. `#` begins a comment, on a line of its own or after a
name. Every list is a plain tuple in a fixed order, so that a seeded draw gives the same word everywhere.
"""

from __future__ import annotations

from importlib.resources import files
from random import Random
from types import SimpleNamespace


def sections(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """The lists of a text with their names, in order.

    >>> sections("TREES  # with leaves\\n  oak elm\\n  ash\\nTHINGS\\n  hash tables; file systems\\n")
    [('TREES', ('oak', 'elm', 'ash')), ('THINGS', ('hash tables', 'file systems'))]
    """
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith(" "):
            found[-1][1].append(line)
        elif line and not line.startswith("#"):
            found.append((line.split()[0], []))
    return [(name, _cut("\n".join(lines))) for name, lines in found]


def _cut(block: str) -> tuple[str, ...]:
    if ";" not in block:
        return tuple(block.split())
    cut = block.replace("\n", ";").split(";")
    return tuple(stripped for phrase in cut if (stripped := phrase.strip()))


def read(name: str) -> str:
    """The text of a file of this folder."""
    return (files(__name__) / name).read_text(encoding="utf-8")


news, people, phrasing, places, streets, venues = (
    SimpleNamespace(**dict(sections(read(f"{name}.txt"))))
    for name in ("news", "people", "phrasing", "places", "streets", "venues")
)


def ordinal(k: int, rng: Random) -> str:
    """A number with its ending, or the word for it, if there is one.

    >>> [ordinal(k, Random(1)) for k in (1, 112, 23)]
    ['First', '112th', '23rd']
    """
    if k <= len(venues.ORDINALS) and rng.random() < 0.4:
        return str(venues.ORDINALS[k - 1])
    ending = "th" if k // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(k % 10, "th")
    return f"{k}{ending}"
