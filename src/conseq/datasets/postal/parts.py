"""The parts of an address: a random state → names of streets, towns, shops; numbers, boxes and zip codes."""

from __future__ import annotations

from random import Random

from conseq.datasets.people import invented_surname, person
from conseq.datasets.template import draw
from conseq.datasets.words import ordinal, people, places, streets, venues

STATE_OF = {short: (name, digit) for short, digit, name in (entry.split(" ", 2) for entry in places.STATES)}
"""Abbreviation of a state → its name, and the first digit of its zip codes."""

HONORIFICS = ("",) * 5 + streets.HONORIFICS
SHOP_ENDS = ("",) * 4 + streets.SHOP_ENDS
"""What may stand before a person's name and after that of a shop."""


def house_number(rng: Random) -> str:
    """A house number, mostly three or four digits, sometimes a half or a letter."""
    number = str(rng.randrange(1, rng.choice((100, 1000, 10000, 10000, 20000))))
    x = rng.random()
    return f"{number} 1/2" if x < 0.02 else f"{number}{rng.choice('ABC')}" if x < 0.05 else number


def street_name(rng: Random) -> str:
    """The name of a street without its type: a word, a number, a person, a state.

    >>> [street_name(Random(i)) for i in range(3)]
    ['Swan Station', 'Valley', 'Willow City']
    """
    x = rng.random()
    if x < 0.58:
        return draw(rng, streets.STREET_NAMES)
    if x < 0.72:
        return numbered_street(rng)
    if x < 0.84:
        return rng.choice(people.SURNAMES) if rng.random() < 0.5 else invented_surname(rng)
    return f"{rng.choice(places.TOWN_STARTS)} {rng.choice(places.TOWN_WORDS)}"


def numbered_street(rng: Random) -> str:
    """42nd, Fifth."""
    u = rng.random()
    k = 1 + int(120 * u * u)
    if k <= len(venues.ORDINALS) and rng.random() < 0.4:
        return venues.ORDINALS[k - 1]
    return ordinal(k)


def town(rng: Random) -> tuple[str, str]:
    """A town and its state: a real pair, or a town that could be anywhere."""
    if rng.random() < 0.55:
        name, _, state = draw(rng, places.TOWNS).rpartition(" ")
        return name, state
    x = rng.random()
    if x < 0.45:
        name = rng.choice(places.TOWN_STARTS) + rng.choice(places.TOWN_TAILS)
    elif x < 0.75:
        name = f"{rng.choice(places.TOWN_STARTS)} {rng.choice(places.TOWN_WORDS)}"
    else:
        name = f"{rng.choice(places.TOWN_LEADS)} {rng.choice(people.SURNAMES)}"
    return name, rng.choice(tuple(STATE_OF))


def zip_code(rng: Random, state: str) -> str:
    """Five digits that fit the state, sometimes nine."""
    code = f"{STATE_OF[state][1]}{rng.randrange(10000):04d}"
    return f"{code}-{rng.randrange(1, 10000):04d}" if rng.random() < 0.12 else code


def recipient(rng: Random) -> str:
    """A person or a business."""
    x = rng.random()
    if x < 0.35:
        who = person(rng)
        return f"{rng.choice(HONORIFICS)} {who.given[0]} {who.surname}".strip()
    if x < 0.5:
        return rng.choice(streets.SHOPS)
    owner = draw(rng, streets.SHOP_OWNERS) if x < 0.8 else f"{rng.choice(people.SURNAMES)}'s"
    return f"{owner} {draw(rng, streets.SHOP_TRADES)} {rng.choice(SHOP_ENDS)}".strip()


def unit(rng: Random) -> str:
    """The number of an apartment or suite."""
    number = str(rng.randrange(1, rng.choice((10, 40, 900, 2400))))
    letter = rng.choice("ABCDEF")
    return rng.choice((number, number, number, letter, number + letter, f"{letter}-{number}"))


def box_number(rng: Random) -> str:
    """The number of a box."""
    return str(rng.randrange(1, rng.choice((100, 1000, 10000, 100000))))
