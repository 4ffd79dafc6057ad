"""Addresses obey what addresses obey."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import groupby
from random import Random

import pytest

from conseq.corpus import Corpus, Sequence
from conseq.datasets import addresses
from conseq.datasets.postal import write
from conseq.datasets.postal.forms import FORMS, HABITS, STATE_OF, named_town

LABELS = frozenset(
    [
        *("Recipient", "AddressNumber", "StreetNamePreDirectional", "StreetNamePreType", "StreetName"),
        *("StreetNamePostType", "StreetNamePostDirectional", "OccupancyType", "OccupancyIdentifier"),
        *("USPSBoxType", "USPSBoxID", "USPSBoxGroupType", "USPSBoxGroupID", "IntersectionSeparator"),
        *("PlaceName", "StateName", "ZipCode", "O"),
    ]
)


def segments(sequence: Sequence) -> list[str]:
    """The runs of one label, in order."""
    return [label for label, _ in groupby(sequence.labels) if label != "O"]


def in_order(order: list[str], first: str, second: str) -> bool:
    """No `second` stands before a `first`."""
    return first not in order or second not in order[: order.index(first)]


Rule = Callable[[Counter[str], list[str]], bool]

HARD: dict[str, Rule] = {
    "at most 1 of each but street names": lambda count, order: all(
        n == 1 for label, n in count.items() if not label.startswith("StreetName")
    ),
    "2 streets only at a corner": lambda count, order: (
        count["StreetName"] <= 1 + count["IntersectionSeparator"]
    ),
    "the zip code after the state": lambda count, order: in_order(order, "StateName", "ZipCode"),
    "the number before the street": lambda count, order: in_order(order, "AddressNumber", "StreetName"),
    "occupancy has type and identifier": lambda count, order: (
        count["OccupancyType"] == count["OccupancyIdentifier"]
    ),
    "a box has type and number": lambda count, order: count["USPSBoxType"] == count["USPSBoxID"],
    "a rural route has a box": lambda count, order: count["USPSBoxGroupType"] <= count["USPSBoxType"],
    "not both number and box": lambda count, order: not (count["AddressNumber"] and count["USPSBoxType"]),
    "no number at a corner": lambda count, order: (
        not (count["AddressNumber"] and count["IntersectionSeparator"])
    ),
    "a street type has its street": lambda count, order: count["StreetNamePostType"] <= count["StreetName"],
    "a recipient comes first": lambda count, order: "Recipient" not in order[1:],
}


@pytest.fixture(scope="module")
def clean() -> Corpus:
    return addresses(2000, seed=11, noise=0.0)


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_hard_rules_hold(noise: float) -> None:
    """Noise touches the letters and commas of an address, never its parts."""
    read = [(s.text, Counter(segments(s)), segments(s)) for s in addresses(2000, seed=11, noise=noise)]
    broken = {
        name: [text for text, count, order in read if not rule(count, order)] for name, rule in HARD.items()
    }
    assert broken == {rule: [] for rule in HARD}


def test_all_labels_occur_and_no_others(clean: Corpus) -> None:
    assert set(clean.labels.vocabulary) == LABELS


SHARES = {
    "PlaceName": (0.93, 0.99),
    "StateName": (0.86, 0.94),
    "ZipCode": (0.8, 0.88),
    "Recipient": (0.2, 0.35),
    "USPSBoxType": (0.12, 0.22),
    "IntersectionSeparator": (0.05, 0.11),
    "OccupancyType": (0.12, 0.22),
}


@pytest.mark.parametrize("label", SHARES)
def test_parts_are_as_frequent_as_said(clean: Corpus, label: str) -> None:
    low, high = SHARES[label]
    assert low <= sum(label in s.labels for s in clean) / len(clean) <= high


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("habit", range(len(HABITS)))
def test_every_form_in_every_habit(form: str, habit: int) -> None:
    """The marks of the template are replaced; nothing is lost."""
    pieces = write(FORMS[form], HABITS[habit], Random(f"{form} {habit}"))
    assert all(";" not in piece.text for piece in pieces if piece.label is None)
    assert len([piece for piece in pieces if piece.label]) >= 2


def test_words_are_ambiguous(clean: Corpus) -> None:
    """The same word is a town, a street, a shop or a state: only the whole address tells."""
    seen: dict[str, set[str]] = {}
    for sequence in clean:
        for token, label in zip(sequence.tokens, sequence.labels, strict=True):
            seen.setdefault(token.lower(), set()).add(label)
    assert {"PlaceName", "StateName", "StreetName"} <= seen["washington"]
    assert {"StreetNamePostType", "PlaceName", "StreetName"} <= seen["st"]
    assert {"PlaceName", "StreetName", "Recipient"} <= seen["lake"]


def test_towns_lie_in_states() -> None:
    rng = Random(0)
    assert all(named_town(rng)[1] in STATE_OF for _ in range(500))
    assert len(STATE_OF) == 51
