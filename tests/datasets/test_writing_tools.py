"""The tools under the generators: templates, names, typing noise."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from conseq.datasets.bibliography.names import FORMS, Names
from conseq.datasets.bibliography.venues import abbreviate
from conseq.datasets.bibliography.writing import tidy
from conseq.datasets.noise import MISHAPS, disturb, weaken
from conseq.datasets.people import Person, surname
from conseq.datasets.template import Piece, draw, expand, fill

ADA = Person(("Ada", "Beatriz"), "van der Lund", "Jr.")
BO = Person(("Bo",), "Wu")


@pytest.mark.parametrize(
    ("template", "fields", "text"),
    [
        ("{a}", "a", "A"),
        ("{a}, {b}", "a", ""),
        ("{a}[, {b}]", "a", "A"),
        ("{a}[, {b}]", "ab", "A, B"),
        ("{a}[ ({b}[: {c}])]", "abc", "A (B: C)"),
        ("{a}[ ({b}[: {c}])]", "ac", "A"),
        ("[{b} ]{a}[ {b}]", "ab", "B A"),
    ],
)
def test_templates_leave_out_what_is_missing(template: str, fields: str, text: str) -> None:
    values = {name: Piece(name.upper(), name) for name in fields}
    pieces = fill(template, values)
    assert "".join(piece.text for piece in pieces) == text
    assert {piece.label for piece in pieces if piece.label}.isdisjoint(values)


def test_expand_asks_for_every_slot_anew() -> None:
    numbers = iter("12")
    assert expand("{x}+{x}", lambda name: next(numbers)) == "1+2"


def test_draw_reaches_all_and_prefers_the_first() -> None:
    rng = Random(0)
    counts = Counter(draw(rng, "abcde") for _ in range(2000))
    assert [letter for letter, _ in counts.most_common()] == list("abcde")


@pytest.mark.parametrize(
    ("form", "written"),
    [
        ("F. M. Last", "A. B. van der Lund, Jr."),
        ("F.M. Last", "A.B. van der Lund, Jr."),
        ("First M. Last", "Ada B. van der Lund, Jr."),
        ("Last, F. M.", "van der Lund, A. B., Jr."),
        ("Last, F.M.", "van der Lund, A.B., Jr."),
        ("Last, First M.", "van der Lund, Ada B., Jr."),
        ("Last FM", "van der Lund AB Jr."),
        ("LAST F.", "VAN DER LUND A."),
        ("Last", "van der Lund"),
    ],
)
def test_forms_of_a_name(form: str, written: str) -> None:
    assert FORMS[form](ADA) == written


def test_every_form_of_a_name_is_tested() -> None:
    (mark,) = (m for m in test_forms_of_a_name.pytestmark if m.name == "parametrize")
    assert {form for form, _ in mark.args[1]} == set(FORMS)


def test_lists_of_names() -> None:
    names = Names("Last", last=", and ", most=3)
    assert names.write([BO]) == "Wu"
    assert names.write([BO, BO]) == "Wu and Wu"
    assert names.write([BO, BO, BO]) == "Wu, Wu, and Wu"
    assert names.write([BO] * 4) == "Wu et al."


def test_most_surnames_of_another_sample_are_new_or_rare() -> None:
    first, second = ({surname(Random(f"{k} {i}")) for i in range(500)} for k in range(2))
    assert len(second - first) > 150


@pytest.mark.parametrize("change", MISHAPS)
@pytest.mark.parametrize("text", ["", "a", "Owls", "M. V. Lund, Jr.", "45--67", "https://owls.example.org/a"])
def test_no_mishap_empties_a_field(change: object, text: str) -> None:
    for seed in range(20):
        changed = change(text, Random(seed))  # type: ignore[operator]
        assert bool(changed) == bool(text)
        assert changed == changed.strip()


def test_noise_keeps_labels_and_the_space_between() -> None:
    pieces = [Piece("Owls at night", "title"), Piece(". In "), Piece("Zoo", "journal"), Piece(".")]
    for seed in range(50):
        disturbed = disturb(pieces, Random(seed), 1.0)
        assert [piece.label for piece in disturbed] == [piece.label for piece in pieces]
        assert disturbed[1].text.lower().strip(" .") == "in"


@pytest.mark.parametrize(
    ("before", "after"), [(", ", " "), ('." ', " "), (" (", " "), (":", " "), (" ", " ")]
)
def test_a_weak_separator_still_separates(before: str, after: str) -> None:
    assert weaken(before) == after


def test_tidy_drops_doubled_marks_only() -> None:
    assert tidy([Piece("J.", "author"), Piece(". ")]) == [Piece("J.", "author"), Piece(" ")]
    assert tidy([Piece("J.", "author"), Piece(", ")]) == [Piece("J.", "author"), Piece(", ")]
    assert tidy([Piece("a", "x"), Piece("("), Piece("b", "y")])[1] == Piece("(")


@pytest.mark.parametrize(
    ("name", "short"),
    [("Journal of Physics", "J. Physics"), ("Nimbus", "Nimbus"), ("Annals of Linguistics", "Ann. Linguis.")],
)
def test_abbreviations(name: str, short: str) -> None:
    assert abbreviate(name) == short
