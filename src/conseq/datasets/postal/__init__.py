"""American addresses: (n, seed, noise) → parts → a form and a habit → labelled pieces → `Corpus`."""

from __future__ import annotations

from random import Random

from conseq.corpus import Corpus
from conseq.datasets.postal.forms import FORMS, HABITS, TOWN, Form, Habit, town
from conseq.datasets.rendering import generated
from conseq.datasets.template import Piece, fill

_FORMS = tuple(form for form in FORMS.values() for _ in range(form.weight))
_HABITS = tuple(habit for habit in HABITS for _ in range(habit.weight))


def addresses(n: int, seed: int = 0, noise: float = 0.1) -> Corpus:
    """`n` American addresses with plain labels, one per token, and their texts.

    Labels: Recipient, AddressNumber, StreetNamePreDirectional, StreetNamePreType, StreetName,
    StreetNamePostType, StreetNamePostDirectional, OccupancyType, OccupancyIdentifier, USPSBoxType, USPSBoxID,
    USPSBoxGroupType, USPSBoxGroupID, IntersectionSeparator, PlaceName, StateName, ZipCode; O for the commas
    between.  Another seed gives another sample with names of its own; the first addresses of a larger sample
    are those of a smaller one.

    >>> address = addresses(10, seed=1)[3]
    >>> address.text
    'Hana Hamid Main St. Mary Esther, FL 33691'
    >>> list(zip(address.tokens, address.labels))[2:7]  # doctest: +NORMALIZE_WHITESPACE
    [('Main', 'StreetName'), ('St', 'StreetNamePostType'), ('.', 'StreetNamePostType'), ('Mary', 'PlaceName'),
     ('Esther', 'PlaceName')]

    With noise 0 these hold of every address, in the language of constraints:

        at most 1 segment of X              for every X but the parts of street names
        at most 2 segments of StreetName    two only at an intersection
        no ZipCode before StateName
        no StreetName before AddressNumber
        if OccupancyIdentifier then OccupancyType
        if USPSBoxType then USPSBoxID
        not both AddressNumber and USPSBoxType
        not both AddressNumber and IntersectionSeparator
        count(StreetNamePostType) <= count(StreetName)
        count(StreetName) <= 1 + count(IntersectionSeparator)
    """
    return generated(_one, "addresses", n, seed, noise, "plain")


def _one(rng: Random, noise: float) -> list[Piece]:
    return write(rng.choice(_FORMS), rng.choice(_HABITS), rng)


def write(form: Form, habit: Habit, rng: Random) -> list[Piece]:
    """One address of a form in a habit."""
    texts: dict[str, str] = {}
    for make in (*form.makers, town):
        texts |= make(rng)
    values = {name: Piece(text, name.rstrip("23")) for name, text in texts.items()}
    return habit.write(fill(form.template, values) + fill(TOWN, values))
