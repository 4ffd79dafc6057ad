"""Phrases: a subject, a year, a random state → titles, names of venues, notes; plausible, at times silly."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from conseq.datasets.bibliography.names import FORMS
from conseq.datasets.people import invented_surname, person, surname
from conseq.datasets.template import draw, expand
from conseq.datasets.words import ordinal, phrasing, places, read, sections, venues

_SENTENCE_START = re.compile(r"(^|[:?] )([^\W\d_])")
_WORD = re.compile(r"(?<![\w'-])[^\W\d_][\w'-]*")

REGION_OF = dict(entry.split(", ") for entry in places.REGIONS)
CITIES = tuple(REGION_OF)

MAIN_TITLES = (phrasing.PLAIN_TITLES,) * 5 + (phrasing.LONG_TITLES,) * 2 + (phrasing.WITTY_TITLES,) * 3
"""Ways of phrasing the title of a paper, as often as they are used."""


@dataclass(frozen=True)
class Subject:
    """One field of study: what it is called, what it writes about and how."""

    fields: tuple[str, ...]
    modifiers: tuple[str, ...]
    heads: tuple[str, ...]
    methods: tuple[str, ...]


_LISTS = [words for _, words in sections(read("subjects.txt"))]

SUBJECTS = tuple(Subject(*_LISTS[i : i + 4]) for i in range(0, len(_LISTS), 4))
"""Fields of study, from `words/subjects.txt`; titles and venues draw from these."""


@dataclass(frozen=True)
class Setting:
    """What all parts of one citation share."""

    rng: Random
    subject: Subject
    year: int


def modified(at: Setting) -> str:
    """An adjective and a plural noun of a subject."""
    modifier = draw(at.rng, at.subject.modifiers)
    x = at.rng.random()
    if x < 0.07 and modifier.islower():
        modifier = at.rng.choice(phrasing.PREFIXES) + modifier
    elif x < 0.1:
        modifier = invented_surname(at.rng)
    return f"{modifier} {draw(at.rng, at.subject.heads)}"


def _place(at: Setting) -> str:
    """A country or region that does not exist, or a real city."""
    if at.rng.random() < 0.4:
        return at.rng.choice(CITIES)
    return at.rng.choice(places.INVENTED_STARTS) + at.rng.choice(places.INVENTED_ENDS)


def _span(at: Setting) -> str:
    """Two years with a dash, which look like pages."""
    first = at.rng.randrange(1540, 1990)
    return f"{first}{at.rng.choice('-–')}{first + at.rng.randrange(2, 60)}"


def _acronym(at: Setting) -> str:
    letters = "".join(word[0].upper() for word in draw(at.rng, at.subject.fields).split() if word != "of")
    return at.rng.choice(("IC", "EC", "W", "AC", "S", "N")) + letters + at.rng.choice(("", "S", "A"))


def _code(at: Setting) -> str:
    letters = at.rng.choice(("TR", "CS", "LAB", "RR", "TM", "ECO", "X"))
    number = f"{at.rng.randrange(1, 100):02d}"
    return at.rng.choice(
        (f"{letters}-{at.year % 100:02d}-{number}", f"{letters}{number}", f"{at.year}/{number}")
    )


SLOTS: dict[str, Callable[[Setting], str]] = {
    "heads": lambda at: draw(at.rng, at.subject.heads),
    "mods": modified,
    "others": lambda at: draw(at.rng, draw(at.rng, SUBJECTS).heads),
    "method": lambda at: draw(at.rng, at.subject.methods),
    "field": lambda at: draw(at.rng, at.subject.fields),
    "field2": lambda at: draw(at.rng, draw(at.rng, SUBJECTS).fields),
    "quality": lambda at: draw(at.rng, phrasing.QUALITIES),
    "doing": lambda at: draw(at.rng, phrasing.DOINGS),
    "group": lambda at: draw(at.rng, phrasing.GROUPS),
    "count": lambda at: at.rng.choice(phrasing.COUNTS),
    "city": lambda at: at.rng.choice(CITIES),
    "place": _place,
    "past": lambda at: str(at.rng.randrange(1600, 2030)),
    "span": _span,
    "surname": lambda at: surname(at.rng),
    "person": lambda at: FORMS["First M. Last"](person(at.rng)),
    "Society": lambda at: write(at, venues.SOCIETIES),
    "School": lambda at: write(at, venues.SCHOOLS),
    "scope": lambda at: write(at, venues.SCOPES),
    "nth": lambda at: ordinal(at.rng.randrange(1, 40), at.rng),
    "ACR": _acronym,
    "code": _code,
    "k": lambda at: str(at.rng.randrange(1, 900)),
    "year": lambda at: str(at.year),
    "year2": lambda at: str(at.year + at.rng.randrange(-30, 4)),
    "yy": lambda at: f"{at.year % 100:02d}",
    "day": lambda at: str(at.rng.randrange(1, 29)),
    "Month": lambda at: at.rng.choice(venues.MONTHS),
    "Language": lambda at: at.rng.choice(venues.LANGUAGES),
}
"""What may stand in braces; {Field} is {field} in title case, and so are others with a capital."""


def _filled(at: Setting, pattern: str) -> str:
    def make(slot: str) -> str:
        return SLOTS[slot](at) if slot in SLOTS else title_case(SLOTS[slot.lower()](at))

    return expand(pattern, make)


def write(at: Setting, patterns: tuple[str, ...]) -> str:
    """One of the patterns, its slots filled.

    >>> write(Setting(Random(1), SUBJECTS[3], 1999), ('Proceedings of the {nth} Conference on {Field}',))
    'Proceedings of the Fifth Conference on Zoology'
    """
    return _filled(at, draw(at.rng, patterns))


def title(at: Setting, patterns: tuple[str, ...]) -> str:
    """One of the patterns of titles, all of them equally often, in sentence case.

    >>> title(Setting(Random(1), SUBJECTS[3], 1999), ('how we learned to love {mods}',))
    'How we learned to love invasive beetles'
    """
    return sentence_case(_filled(at, at.rng.choice(patterns)))


def sentence_case(text: str) -> str:
    """Capitals at the start and after a colon or question mark.

    >>> sentence_case('owls: a life')
    'Owls: A life'
    """
    return _SENTENCE_START.sub(lambda match: match[1] + match[2].upper(), text)


def title_case(text: str) -> str:
    """Capitals on all words but the small ones.

    >>> title_case('the fate of night-active owls in Rome: A life')
    'The Fate of Night-active Owls in Rome: A Life'
    """
    return sentence_case(_WORD.sub(lambda match: _capital(match[0]), text))


def _capital(word: str) -> str:
    return word if word in phrasing.SMALL_WORDS else word[0].upper() + word[1:]
