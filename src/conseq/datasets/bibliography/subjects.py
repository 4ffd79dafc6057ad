"""Fields of study as word lists, from `words/subjects.txt`; titles and venues draw from these."""

from __future__ import annotations

from dataclasses import dataclass

from conseq.datasets.words import read, sections


@dataclass(frozen=True)
class Subject:
    """One field of study: what it is called, what it writes about and how."""

    fields: tuple[str, ...]
    modifiers: tuple[str, ...]
    heads: tuple[str, ...]
    methods: tuple[str, ...]


_LISTS = [words for _, words in sections(read("subjects"))]

SUBJECTS = tuple(Subject(*_LISTS[i : i + 4]) for i in range(0, len(_LISTS), 4))
