"""Parts of addresses, forms of address and habits of writing.

part   a random state → values by name; a name is that of a label, or this and a digit
form   a template over the names, and the makers of its parts
habit  what stands at a line's end (`;` in the template) and before the state (`,`), and the letters' case

The digit is 2 at the second street of an intersection, 2 and 3 at occupancy types that stand directly before
and after their identifier (#4, 2nd Floor).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from conseq.datasets.people import invented_surname, person
from conseq.datasets.template import Piece, draw
from conseq.datasets.words import ordinal, people, places, streets

Values = dict[str, str]
Maker = Callable[[Random], Values]

_STREET = "[{StreetNamePreDirectional} ]{StreetName}[ {StreetNamePostType}][ {StreetNamePostDirectional}]"
_ROUTE = "[{StreetNamePreDirectional} ]{StreetNamePreType} {StreetName}[ {StreetNamePostDirectional}]"
_SECOND = "[{StreetNamePreDirectional2} ]{StreetName2}[ {StreetNamePostType2}]"
_TIGHT_UNIT = "[; {OccupancyType2}{OccupancyIdentifier}][; {OccupancyIdentifier} {OccupancyType3}]"
_UNIT = "[; {OccupancyType} {OccupancyIdentifier}]" + _TIGHT_UNIT
_BOX = "{USPSBoxType} {USPSBoxID}"
_TO_NUMBER = "[{Recipient}; ]{AddressNumber} "
TOWN = "[; {PlaceName}][, {StateName}][ {ZipCode}]"

STATE_OF = {short: (name, digit) for short, digit, name in (entry.split(" ", 2) for entry in places.STATES)}
"""Abbreviation of a state → its name, and the first digit of its zip codes."""

HONORIFICS = ("",) * 5 + streets.HONORIFICS
SHOP_ENDS = ("",) * 4 + streets.SHOP_ENDS
"""What may stand before a person's name and after that of a shop."""


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
    return ordinal(1 + int(120 * u * u), rng)


def _form(rng: Random, words: tuple[str, ...]) -> str:
    """One of the forms of a word, such as Street/St/St."""
    return rng.choice(draw(rng, words).split("/"))


def some_recipient(rng: Random) -> Values:
    """A recipient, in one address of four."""
    return recipient(rng) if rng.random() < 0.25 else {}


def recipient(rng: Random) -> Values:
    """A person or a business."""
    return {"Recipient": _name(rng)}


def _name(rng: Random) -> str:
    x = rng.random()
    if x < 0.35:
        who = person(rng)
        return f"{rng.choice(HONORIFICS)} {who.given[0]} {who.surname}".strip()
    if x < 0.5:
        return rng.choice(streets.SHOPS)
    owner = draw(rng, streets.SHOP_OWNERS) if x < 0.8 else f"{rng.choice(people.SURNAMES)}'s"
    return f"{owner} {draw(rng, streets.SHOP_TRADES)} {rng.choice(SHOP_ENDS)}".strip()


def number(rng: Random) -> Values:
    """A house number, mostly three or four digits, sometimes with a half or a letter."""
    digits = str(rng.randrange(1, rng.choice((100, 1000, 10000, 10000, 20000))))
    x = rng.random()
    end = " 1/2" if x < 0.02 else rng.choice("ABC") if x < 0.05 else ""
    return {"AddressNumber": digits + end}


def street(rng: Random) -> Values:
    """A street with its type and directions."""
    x = rng.random()
    if x < 0.04:
        return {"StreetName": rng.choice(streets.BARE_STREETS)}
    values = {"StreetName": street_name(rng)}
    if x < 0.94:
        values["StreetNamePostType"] = _form(rng, streets.STREET_TYPES)
    if rng.random() < 0.28:
        values["StreetNamePreDirectional"] = _form(rng, streets.DIRECTIONS)
    elif rng.random() < 0.1:
        values["StreetNamePostDirectional"] = _form(rng, streets.DIRECTIONS)
    return values


def second_street(rng: Random) -> Values:
    """The street at the corner, and what stands between."""
    values = {f"{name}2": text for name, text in street(rng).items()}
    return values | {"IntersectionSeparator": rng.choice(("&", "&", "and", "and", "at", "@"))}


def route(rng: Random) -> Values:
    """A highway with its number, or an avenue with its letter."""
    values = {"StreetNamePreType": draw(rng, streets.HIGHWAYS), "StreetName": str(rng.randrange(1, 1000))}
    if rng.random() < 0.25:
        values = {"StreetNamePreType": rng.choice(streets.LETTERED), "StreetName": rng.choice("ABCDHJKMZ")}
    if rng.random() < 0.2:
        values[rng.choice(("StreetNamePreDirectional", "StreetNamePostDirectional"))] = rng.choice("NSEW")
    return values


def some_unit(rng: Random) -> Values:
    """An apartment or suite, in one address of four."""
    if rng.random() > 0.25:
        return {}
    kind = draw(rng, streets.OCCUPANCIES)
    if kind in ("Floor", "Fl") and rng.random() < 0.7:
        return {"OccupancyIdentifier": numbered_street(rng), "OccupancyType3": kind}
    digits = str(rng.randrange(1, rng.choice((10, 40, 900, 2400))))
    letter = rng.choice("ABCDEF")
    unit = rng.choice((digits, digits, digits, letter, digits + letter, f"{letter}-{digits}"))
    tight = kind == "#" and rng.random() < 0.7
    return {"OccupancyIdentifier": unit, "OccupancyType2" if tight else "OccupancyType": kind}


def box(rng: Random) -> Values:
    """A post office box."""
    return _box(draw(rng, streets.BOXES), rng)


def _box(kind: str, rng: Random) -> Values:
    return {"USPSBoxType": kind, "USPSBoxID": str(rng.randrange(1, rng.choice((100, 1000, 10000, 100000))))}


def rural_route(rng: Random) -> Values:
    """A rural route and the box on it."""
    group, number = draw(rng, streets.ROUTES), str(rng.randrange(1, 90))
    return {"USPSBoxGroupType": group, "USPSBoxGroupID": number} | _box("Box", rng)


def town(rng: Random) -> Values:
    """Town, state and zip code, each of which may be missing."""
    name, state = named_town(rng)
    values = {}
    if rng.random() < 0.96:
        values["PlaceName"] = name
    if rng.random() < 0.9:
        values["StateName"] = STATE_OF[state][0] if rng.random() < 0.15 else state
    if rng.random() < 0.84:
        code = f"{STATE_OF[state][1]}{rng.randrange(10000):04d}"
        values["ZipCode"] = f"{code}-{rng.randrange(1, 10000):04d}" if rng.random() < 0.12 else code
    return values


def named_town(rng: Random) -> tuple[str, str]:
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


@dataclass(frozen=True)
class Form:
    """One kind of address, all but the town that each ends with."""

    weight: int
    template: str
    makers: tuple[Maker, ...]


FORMS: dict[str, Form] = {
    "street": Form(60, _TO_NUMBER + _STREET + _UNIT, (some_recipient, number, street, some_unit)),
    "route": Form(9, _TO_NUMBER + _ROUTE + _UNIT, (some_recipient, number, route, some_unit)),
    "box": Form(12, "[{Recipient}; ]" + _BOX, (some_recipient, box)),
    "rural": Form(
        5, "[{Recipient}; ]{USPSBoxGroupType} {USPSBoxGroupID} " + _BOX, (some_recipient, rural_route)
    ),
    "corner": Form(8, _STREET + " {IntersectionSeparator} " + _SECOND, (street, second_street)),
    "landmark": Form(6, "{Recipient}; " + _STREET, (recipient, street)),
}
"""Every kind of address."""


@dataclass(frozen=True)
class Habit:
    """How somebody writes addresses."""

    weight: int
    line: str
    state: str
    case: Callable[[str], str] = str

    def write(self, pieces: list[Piece]) -> list[Piece]:
        """The pieces of a filled template as this person writes them."""
        marks = {"; ": self.line, ", ": self.state}
        return [
            Piece(marks.get(text, text) if label is None else self.case(text), label)
            for text, label in pieces
        ]


HABITS = (
    Habit(40, ", ", ", "),
    Habit(16, " ", ", "),
    Habit(12, ", ", " "),
    Habit(12, " ", " "),
    Habit(6, ", ", ", ", str.upper),
    Habit(8, " ", " ", str.upper),
    Habit(6, " ", " ", str.lower),
)
"""Ways of writing, from careful to hasty."""
