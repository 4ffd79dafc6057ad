"""People: random draws → `Person`, with a surname that others may share or that nobody has seen before."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from conseq.datasets.words import people as words

KNOWN_SHARE, DOUBLE_SHARE = 0.62, 0.08
"""Surnames from the list, surnames that are also other words; the rest is made of syllables."""
HOW_MANY = (1,) * 31 + (2,) * 30 + (3,) * 20 + (4,) * 10 + (5,) * 5 + (6,) * 3 + (8,)


@dataclass(frozen=True)
class Person:
    """Given names, surname with its particle, and a suffix or an empty string."""

    given: tuple[str, ...]
    surname: str
    suffix: str = ""

    @property
    def initials(self) -> list[str]:
        return [name[0] for name in self.given]


def surname(rng: Random) -> str:
    """A surname, often one that nobody else has.

    >>> [surname(Random(i)) for i in (1, 2, 5)]
    ['Bianchi', 'Dadell', 'Press']
    """
    x = rng.random()
    if x < KNOWN_SHARE:
        return rng.choice(words.SURNAMES)
    if x < KNOWN_SHARE + DOUBLE_SHARE:
        return rng.choice(words.DOUBLE_MEANING)
    return invented_surname(rng)


def invented_surname(rng: Random) -> str:
    """A surname of two or three syllables."""
    middle = rng.choice(words.SYLLABLE_MIDDLES) if rng.random() < 0.6 else ""
    return rng.choice(words.SYLLABLE_STARTS) + middle + rng.choice(words.SYLLABLE_ENDS)


def person(rng: Random) -> Person:
    """A person with one or two given names."""
    given = tuple(rng.choice(words.GIVEN) for _ in range(1 if rng.random() < 0.6 else 2))
    last = surname(rng)
    x = rng.random()
    if x < 0.06:
        last = f"{rng.choice(words.PARTICLES)} {last}"
    elif x < 0.1:
        last = f"{last}-{rng.choice(words.SURNAMES)}"
    return Person(given, last, rng.choice(words.SUFFIXES) if rng.random() < 0.01 else "")


def people(rng: Random, most: int = 8) -> tuple[Person, ...]:
    """One to `most` people, mostly few."""
    return tuple(person(rng) for _ in range(min(most, rng.choice(HOW_MANY))))
