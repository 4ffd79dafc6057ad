"""Forms of address and habits of writing.

    form   a template over the labels, and the makers of its values
    habit  what stands at a line's end (`;` in the template) and before the state (`,`), and the letters' case

A name with a digit is the second of its kind, at an intersection; Sign and After are occupancy types that
stand directly before and after their identifier (#4, 2nd Floor).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from conseq.datasets.postal import parts
from conseq.datasets.rendering import Piece
from conseq.datasets.template import draw
from conseq.datasets.words import streets

Values = dict[str, Piece]
Maker = Callable[[Random], Values]

_STREET = "[{StreetNamePreDirectional} ]{StreetName}[ {StreetNamePostType}][ {StreetNamePostDirectional}]"
_ROUTE = "[{StreetNamePreDirectional} ]{StreetNamePreType} {StreetName}[ {StreetNamePostDirectional}]"
_SECOND = "[{StreetNamePreDirectional2} ]{StreetName2}[ {StreetNamePostType2}]"
_TIGHT_UNIT = "[; {Sign}{OccupancyIdentifier}][; {OccupancyIdentifier} {After}]"
_UNIT = "[; {OccupancyType} {OccupancyIdentifier}]" + _TIGHT_UNIT
_TOWN = "[; {PlaceName}][, {StateName}][ {ZipCode}]"


def _labelled(values: dict[str, str]) -> Values:
    """Texts under the names of their labels."""
    return {label: Piece(text, label) for label, text in values.items()}


def _form(rng: Random, words: tuple[str, ...]) -> str:
    """One of the forms of a word, such as Street/St/St."""
    return rng.choice(draw(rng, words).split("/"))


def some_recipient(rng: Random) -> Values:
    """A recipient, in one address of four."""
    return recipient(rng) if rng.random() < 0.25 else {}


def recipient(rng: Random) -> Values:
    """A person or a business."""
    return _labelled({"Recipient": parts.recipient(rng)})


def number(rng: Random) -> Values:
    """A house number."""
    return _labelled({"AddressNumber": parts.house_number(rng)})


def street(rng: Random) -> Values:
    """A street with its type and directions."""
    x = rng.random()
    if x < 0.04:
        return _labelled({"StreetName": rng.choice(streets.BARE_STREETS)})
    values = {"StreetName": parts.street_name(rng)}
    if x < 0.94:
        values["StreetNamePostType"] = _form(rng, streets.STREET_TYPES)
    if rng.random() < 0.28:
        values["StreetNamePreDirectional"] = _form(rng, streets.DIRECTIONS)
    elif rng.random() < 0.1:
        values["StreetNamePostDirectional"] = _form(rng, streets.DIRECTIONS)
    return _labelled(values)


def second_street(rng: Random) -> Values:
    """The street at the corner, and what stands between."""
    values = {f"{name}2": piece for name, piece in street(rng).items()}
    sign = rng.choice(("&", "&", "and", "and", "at", "@"))
    return values | _labelled({"IntersectionSeparator": sign})


def route(rng: Random) -> Values:
    """A highway with its number, or an avenue with its letter."""
    values = {"StreetNamePreType": draw(rng, streets.HIGHWAYS), "StreetName": str(rng.randrange(1, 1000))}
    if rng.random() < 0.25:
        values = {"StreetNamePreType": rng.choice(streets.LETTERED), "StreetName": rng.choice("ABCDHJKMZ")}
    if rng.random() < 0.2:
        values[rng.choice(("StreetNamePreDirectional", "StreetNamePostDirectional"))] = rng.choice("NSEW")
    return _labelled(values)


def some_unit(rng: Random) -> Values:
    """An apartment or suite, in one address of four."""
    if rng.random() > 0.25:
        return {}
    kind = draw(rng, streets.OCCUPANCIES)
    if kind in ("Floor", "Fl") and rng.random() < 0.7:
        values = _labelled({"OccupancyIdentifier": parts.numbered_street(rng)})
        return values | {"After": Piece(kind, "OccupancyType")}
    values = _labelled({"OccupancyIdentifier": parts.unit(rng)})
    tight = kind == "#" and rng.random() < 0.7
    return values | {"Sign" if tight else "OccupancyType": Piece(kind, "OccupancyType")}


def box(rng: Random) -> Values:
    """A post office box."""
    return _labelled({"USPSBoxType": draw(rng, streets.BOXES), "USPSBoxID": parts.box_number(rng)})


def rural_route(rng: Random) -> Values:
    """A rural route and the box on it."""
    values = {"USPSBoxGroupType": draw(rng, streets.ROUTES), "USPSBoxGroupID": str(rng.randrange(1, 90))}
    return _labelled(values | {"USPSBoxType": "Box", "USPSBoxID": parts.box_number(rng)})


def town(rng: Random) -> Values:
    """Town, state and zip code, each of which may be missing."""
    name, state = parts.town(rng)
    values = {}
    if rng.random() < 0.96:
        values["PlaceName"] = name
    if rng.random() < 0.9:
        values["StateName"] = parts.STATE_OF[state][0] if rng.random() < 0.15 else state
    if rng.random() < 0.84:
        values["ZipCode"] = parts.zip_code(rng, state)
    return _labelled(values)


@dataclass(frozen=True)
class Form:
    """One kind of address."""

    weight: int
    template: str
    makers: tuple[Maker, ...]


FORMS: dict[str, Form] = {
    "street": Form(
        60,
        f"[{{Recipient}}; ]{{AddressNumber}} {_STREET}{_UNIT}{_TOWN}",
        (some_recipient, number, street, some_unit, town),
    ),
    "route": Form(
        9,
        f"[{{Recipient}}; ]{{AddressNumber}} {_ROUTE}{_UNIT}{_TOWN}",
        (some_recipient, number, route, some_unit, town),
    ),
    "box": Form(12, f"[{{Recipient}}; ]{{USPSBoxType}} {{USPSBoxID}}{_TOWN}", (some_recipient, box, town)),
    "rural": Form(
        5,
        f"[{{Recipient}}; ]{{USPSBoxGroupType}} {{USPSBoxGroupID}} {{USPSBoxType}} {{USPSBoxID}}{_TOWN}",
        (some_recipient, rural_route, town),
    ),
    "corner": Form(8, f"{_STREET} {{IntersectionSeparator}} {_SECOND}{_TOWN}", (street, second_street, town)),
    "landmark": Form(6, f"{{Recipient}}; {_STREET}{_TOWN}", (recipient, street, town)),
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
