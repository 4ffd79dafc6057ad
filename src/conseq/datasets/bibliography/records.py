"""What is cited: a random state → `Record` (a kind of publication and the values of its fields).

The kinds are a table: which fields each has, and how often.  The regularities of a bibliography come from
here: only articles have a journal, only conference papers and chapters a booktitle, a thesis has its school.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from random import Random

from conseq.datasets.bibliography import venues
from conseq.datasets.bibliography.phrases import MAIN_TITLES, SUBJECTS, Setting, title, write
from conseq.datasets.people import Person, people
from conseq.datasets.template import draw
from conseq.datasets.words import phrasing
from conseq.datasets.words import venues as words

ALWAYS = 1.0


@dataclass(frozen=True)
class Record:
    """One publication: people, date and pages as such, everything else as text."""

    kind: str
    texts: Mapping[str, str]
    authors: tuple[Person, ...] = ()
    editors: tuple[Person, ...] = ()
    date: date | None = None
    pages: tuple[int, int] | None = None
    """The first and the last."""


Maker = Callable[[Setting], str]


@dataclass(frozen=True)
class Kind:
    """A kind of publication: its weight among all, and how often each field is there."""

    weight: int
    shares: Mapping[str, float]
    makers: Mapping[str, Maker] = field(default_factory=dict)
    """Where the kind makes a text otherwise than `MAKERS`."""
    edited: float = 0.0
    """How often editors stand in the authors' place."""
    since: int = 1955
    """The earliest year."""


def _doi(at: Setting) -> str:
    word = at.rng.choice(at.subject.fields).split()[0][:6]
    return f"10.{at.rng.randrange(1000, 9999)}/{word}.{at.year}.{at.rng.randrange(100, 99999)}"


def _url(at: Setting) -> str:
    host = at.rng.choice(at.subject.heads).split()[-1]
    path = at.rng.choice(("", "/paper.pdf", "/index.html"))
    return f"{at.rng.choice(('http', 'https'))}://{host}.example.{at.rng.choice(('org', 'edu', 'net'))}{path}"


def _eprint(at: Setting) -> str:
    if at.rng.random() < 0.5:
        return _url(at)
    return f"arXiv:{at.year % 100:02d}{at.rng.randrange(1, 13):02d}.{at.rng.randrange(1000, 20000)}"


MAKERS: dict[str, Maker] = {
    "title": lambda at: title(at, at.rng.choice(MAIN_TITLES)),
    "journal": venues.journal,
    "booktitle": lambda at: write(at, words.CONFERENCES),
    "series": lambda at: write(at, words.SERIES),
    "volume": lambda at: str(
        at.rng.randrange(1, 60) if at.rng.random() < 0.92 else at.rng.randrange(60, 2000)
    ),
    "number": lambda at: str(at.rng.randrange(1, 13)),
    "publisher": lambda at: draw(at.rng, words.PUBLISHERS),
    "location": venues.location,
    "institution": lambda at: write(at, words.SCHOOLS),
    "thesis": lambda at: draw(at.rng, words.THESES),
    "report": lambda at: write(at, words.REPORTS),
    "note": lambda at: write(at, words.NOTES),
    "doi": _doi,
    "url": _url,
}
"""How each text is made."""

_PAPER = {"author": ALWAYS, "title": ALWAYS, "date": 0.96}

KINDS: dict[str, Kind] = {
    "article": Kind(
        34,
        _PAPER | {"journal": ALWAYS, "volume": 0.9, "number": 0.45, "pages": 0.88, "note": 0.04, "doi": 0.2},
    ),
    "conference": Kind(
        28,
        _PAPER
        | {"booktitle": ALWAYS, "editor": 0.2, "series": 0.12, "volume": 0.8, "pages": 0.7}
        | {"location": 0.45, "publisher": 0.35, "note": 0.03, "doi": 0.08},
    ),
    "chapter": Kind(
        11,
        _PAPER
        | {"booktitle": ALWAYS, "editor": 0.85, "series": 0.15, "volume": 0.7, "pages": 0.75}
        | {"location": 0.6, "publisher": 0.9, "note": 0.03},
        {"booktitle": lambda at: write(at, words.COLLECTIONS)},
    ),
    "book": Kind(
        9,
        _PAPER | {"publisher": ALWAYS, "location": 0.7, "series": 0.2, "volume": 0.6, "note": 0.15},
        {"title": lambda at: title(at, phrasing.BOOK_TITLES), "note": lambda at: write(at, words.BOOK_NOTES)},
        edited=0.15,
    ),
    "thesis": Kind(
        6, _PAPER | {"thesis": ALWAYS, "institution": ALWAYS, "location": 0.3, "note": 0.04, "url": 0.06}
    ),
    "report": Kind(
        7,
        _PAPER | {"report": ALWAYS, "institution": ALWAYS, "location": 0.25, "note": 0.04, "url": 0.1},
        {"institution": lambda at: write(at, words.LABORATORIES)},
    ),
    "web": Kind(
        5,
        _PAPER | {"note": 0.6, "url": ALWAYS},
        {"note": lambda at: write(at, words.WEB_NOTES), "url": _eprint},
        since=1995,
    ),
}

NEEDS = {"number": ("volume",), "volume": ("journal", "series")}
"""A field on the left stands only where one on the right does."""

_KIND_NAMES = tuple(name for name, kind in KINDS.items() for _ in range(kind.weight))


def record(rng: Random) -> Record:
    """One publication.

    >>> made = record(Random(2))
    >>> made.kind, made.texts['title']
    ('article', 'Ask not for whom the query planners wait')
    """
    name = rng.choice(_KIND_NAMES)
    kind = KINDS[name]
    at = Setting(rng, draw(rng, SUBJECTS), min(2025, int(rng.triangular(kind.since, 2026, 2008))))
    present = _present(rng, kind)
    makers = {**MAKERS, **kind.makers}
    edited = rng.random() < kind.edited
    return Record(
        name,
        {key: make(at) for key, make in makers.items() if key in present},
        () if edited else people(rng),
        people(rng, most=4) if edited or "editor" in present else (),
        _date(at) if "date" in present else None,
        _pages(rng) if "pages" in present else None,
    )


def _present(rng: Random, kind: Kind) -> set[str]:
    """The fields of one publication of a kind."""
    present = {key for key, share in kind.shares.items() if rng.random() < share}
    for key in ("volume", "number"):
        if not present.intersection(NEEDS[key]):
            present.discard(key)
    return present


def _date(at: Setting) -> date:
    month = at.rng.randrange(1, 13)
    return date(at.year, month, at.rng.randrange(1, 29))


def _pages(rng: Random) -> tuple[int, int]:
    first = rng.randrange(1, 900)
    return first, first + rng.randrange(0, 40)
