"""Titles: a subject and a random state → a phrase in sentence case, plausible, now and then silly."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

from conseq.datasets.bibliography.names import FORMS
from conseq.datasets.bibliography.subjects import SUBJECTS, Subject
from conseq.datasets.people import invented_surname, person, surname
from conseq.datasets.template import draw, expand
from conseq.datasets.words import phrasing, places

_SENTENCE_START = re.compile(r"(^|[:?] )([^\W\d_])")
_WORD = re.compile(r"(?<![\w'-])[^\W\d_][\w'-]*")

REGION_OF = dict(entry.split(", ") for entry in places.REGIONS)
CITIES = tuple(REGION_OF)

MAIN_TITLES = (phrasing.PLAIN_TITLES,) * 5 + (phrasing.LONG_TITLES,) * 2 + (phrasing.WITTY_TITLES,) * 3
"""Ways of phrasing the title of a paper, as often as they are used."""


def modified(rng: Random, subject: Subject) -> str:
    """An adjective and a plural noun of a subject."""
    modifier = draw(rng, subject.modifiers)
    x = rng.random()
    if x < 0.07 and modifier.islower():
        modifier = rng.choice(phrasing.PREFIXES) + modifier
    elif x < 0.1:
        modifier = invented_surname(rng)
    return f"{modifier} {draw(rng, subject.heads)}"


def invented_place(rng: Random) -> str:
    """A country or region that does not exist, or a real city."""
    if rng.random() < 0.4:
        return rng.choice(CITIES)
    return rng.choice(places.INVENTED_STARTS) + rng.choice(places.INVENTED_ENDS)


def span_of_years(rng: Random) -> str:
    """Two years with a dash, which look like pages."""
    first = rng.randrange(1540, 1990)
    return f"{first}{rng.choice('-–')}{first + rng.randrange(2, 60)}"


SLOTS: dict[str, Callable[[Random, Subject], str]] = {
    "heads": lambda rng, subject: draw(rng, subject.heads),
    "mods": modified,
    "others": lambda rng, subject: draw(rng, draw(rng, SUBJECTS).heads),
    "method": lambda rng, subject: draw(rng, subject.methods),
    "field": lambda rng, subject: draw(rng, subject.fields),
    "quality": lambda rng, subject: draw(rng, phrasing.QUALITIES),
    "doing": lambda rng, subject: draw(rng, phrasing.DOINGS),
    "group": lambda rng, subject: draw(rng, phrasing.GROUPS),
    "count": lambda rng, subject: rng.choice(phrasing.COUNTS),
    "city": lambda rng, subject: rng.choice(CITIES),
    "place": lambda rng, subject: invented_place(rng),
    "year": lambda rng, subject: str(rng.randrange(1600, 2030)),
    "span": lambda rng, subject: span_of_years(rng),
    "surname": lambda rng, subject: surname(rng),
    "person": lambda rng, subject: FORMS["First M. Last"](person(rng)),
}


def title(rng: Random, subject: Subject) -> str:
    """The title of a paper.

    >>> title(Random(6), SUBJECTS[3])
    'How we learned to stop worrying and love parasitic beetles'
    """
    return _phrase(rng, subject, rng.choice(MAIN_TITLES))


def book_title(rng: Random, subject: Subject) -> str:
    """The title of a book: shorter."""
    return _phrase(rng, subject, phrasing.BOOK_TITLES)


def _phrase(rng: Random, subject: Subject, patterns: tuple[str, ...]) -> str:
    text = expand(rng.choice(patterns), lambda slot: SLOTS[slot](rng, subject))
    return sentence_case(text)


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
