"""Venues: a subject, a year and a random state → the names of journals, conferences, schools, notes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from conseq.datasets.bibliography.names import FORMS
from conseq.datasets.bibliography.subjects import SUBJECTS, Subject
from conseq.datasets.bibliography.titles import CITIES, REGION_OF, invented_place, modified, title_case
from conseq.datasets.people import person, surname
from conseq.datasets.template import draw, expand
from conseq.datasets.words import ordinal
from conseq.datasets.words import venues as words

SHORT_WORDS = dict(entry.split() for entry in words.SHORT_WORDS)

USUAL_JOURNALS = 8
"""How many journals of each subject exist in every sample; others are made up on the spot."""
USUAL_SHARE = 0.75


@dataclass(frozen=True)
class Setting:
    """What all parts of one citation share."""

    rng: Random
    subject: Subject
    year: int


def _nth(at: Setting) -> str:
    k = at.rng.randrange(1, 40)
    if k <= len(words.ORDINALS) and at.rng.random() < 0.4:
        return words.ORDINALS[k - 1]
    return ordinal(k)


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
    "Field": lambda at: title_case(draw(at.rng, at.subject.fields)),
    "Field2": lambda at: title_case(draw(at.rng, draw(at.rng, SUBJECTS).fields)),
    "Topic": lambda at: title_case(modified(at.rng, at.subject)),
    "Topic2": lambda at: title_case(draw(at.rng, draw(at.rng, SUBJECTS).heads)),
    "City": lambda at: at.rng.choice(CITIES),
    "Place": lambda at: invented_place(at.rng),
    "Person": lambda at: FORMS["First M. Last"](person(at.rng)),
    "Surname": lambda at: surname(at.rng),
    "Society": lambda at: write(at, words.SOCIETIES),
    "School": lambda at: write(at, words.SCHOOLS),
    "scope": lambda at: write(at, words.SCOPES),
    "nth": _nth,
    "ACR": _acronym,
    "code": _code,
    "k": lambda at: str(at.rng.randrange(1, 900)),
    "year": lambda at: str(at.year),
    "year2": lambda at: str(at.year + at.rng.randrange(-30, 4)),
    "yy": lambda at: f"{at.year % 100:02d}",
    "day": lambda at: str(at.rng.randrange(1, 29)),
    "Month": lambda at: at.rng.choice(words.MONTHS),
    "Language": lambda at: at.rng.choice(words.LANGUAGES),
}


def write(at: Setting, patterns: tuple[str, ...]) -> str:
    """One of the patterns, its slots filled.

    >>> write(Setting(Random(1), SUBJECTS[3], 1999), ('Proceedings of the {nth} Conference on {Field}',))
    'Proceedings of the Fifth Conference on Zoology'
    """
    return expand(draw(at.rng, patterns), lambda slot: SLOTS[slot](at))


def _usual_journals(subject: Subject) -> tuple[str, ...]:
    """The journals of a subject that everybody knows: the same in every sample."""
    at = Setting(Random("".join(subject.fields)), subject, 2000)
    return tuple(write(at, words.JOURNALS) for _ in range(USUAL_JOURNALS))


_USUAL = {subject: _usual_journals(subject) for subject in SUBJECTS}


def journal(at: Setting) -> str:
    """A journal: one of the usual ones of the subject, a new one, or one with a name of its own."""
    x = at.rng.random()
    if x < USUAL_SHARE:
        return draw(at.rng, _USUAL[at.subject])
    if x < 0.92:
        return write(at, words.JOURNALS)
    return at.rng.choice(words.PROPER_JOURNALS)


def location(at: Setting) -> str:
    """A city, sometimes with its country or state."""
    city = at.rng.choice(CITIES)
    return f"{city}, {REGION_OF[city]}" if at.rng.random() < 0.3 else city


def abbreviate(name: str) -> str:
    """A journal's or conference's name in short.

    >>> abbreviate('International Journal of Computational Linguistics')
    'Int. J. Computat. Linguis.'
    """
    long = [word for word in name.split() if word.lower() not in ("of", "the", "on", "in", "for", "and")]
    return " ".join(map(_short_word, long)) if len(long) > 1 else name


def _short_word(word: str) -> str:
    known = SHORT_WORDS.get(word.lower())
    if known or len(word) < 8 or not word.isalpha():
        return known or word
    return word[: round(0.6 * len(word))].rstrip("aeiou") + "."
