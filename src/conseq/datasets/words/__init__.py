"""Word lists of the generators, written for them: a text block in → a tuple of words or phrases.

Every list is a plain tuple in a fixed order, so that a seeded draw gives the same word everywhere.
"""

from __future__ import annotations


def words(block: str) -> tuple[str, ...]:
    """The words of a block, cut at white space.

    >>> words('oak elm  ash')
    ('oak', 'elm', 'ash')
    """
    return tuple(block.split())


def phrases(block: str) -> tuple[str, ...]:
    """The phrases of a block, cut at semicolons and line ends.

    >>> phrases('hash tables; file systems')
    ('hash tables', 'file systems')
    """
    cut = block.replace("\n", ";").split(";")
    return tuple(stripped for phrase in cut if (stripped := phrase.strip()))


def ordinal(k: int) -> str:
    """A number with its ending.

    >>> [ordinal(k) for k in (1, 12, 23)]
    ['1st', '12th', '23rd']
    """
    ending = "th" if k // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(k % 10, "th")
    return f"{k}{ending}"
