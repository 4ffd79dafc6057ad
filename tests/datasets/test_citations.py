"""Citations obey what bibliographies obey: always where said so, nearly always under noise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

import pytest

from conseq.corpus import Corpus, Sequence
from conseq.datasets import citations
from conseq.datasets.bibliography.records import KINDS, MAKERS, record
from conseq.datasets.bibliography.styles import STYLES
from conseq.datasets.bibliography.writing import CASES, MONTH_FORMS, write
from conseq.datasets.rendering import to_corpus
from conseq.datasets.template import Piece

FIELDS = frozenset(
    [
        *("author", "editor", "title", "booktitle", "journal", "series", "volume", "number", "pages", "date"),
        *("publisher", "location", "institution", "thesis", "report", "note", "doi", "url", "marker"),
    ]
)


def segments(sequence: Sequence) -> list[str]:
    """The fields of a citation in order."""
    return [label[2:] for label in sequence.labels if label.startswith("B-")]


def no_title_before_author(order: list[str]) -> bool:
    return "author" not in order or "title" not in order[: order.index("author")]


Rule = Callable[[Counter[str], list[str]], bool]

HARD: dict[str, Rule] = {
    "at most 1 segment of each": lambda count, order: max(count.values()) == 1,
    "exactly 1 segment of title": lambda count, order: count["title"] == 1,
    "author or editor": lambda count, order: count["author"] + count["editor"] >= 1,
    "no title before author": lambda count, order: no_title_before_author(order),
    "not both journal and booktitle": lambda count, order: not (count["journal"] and count["booktitle"]),
    "if thesis then institution": lambda count, order: count["thesis"] <= count["institution"],
    "if report then institution": lambda count, order: count["report"] <= count["institution"],
    "if number then volume": lambda count, order: count["number"] <= count["volume"],
    "volume of something": lambda count, order: count["volume"] <= count["journal"] + count["series"],
    "pages of something": lambda count, order: count["pages"] <= count["journal"] + count["booktitle"],
    "editor of something": lambda count, order: count["editor"] <= count["booktitle"] + count["publisher"],
    "not both thesis and publisher": lambda count, order: not (count["thesis"] and count["publisher"]),
    "not both journal and publisher": lambda count, order: not (count["journal"] and count["publisher"]),
    "the marker comes first": lambda count, order: "marker" not in order[1:],
}


@pytest.fixture(scope="module")
def clean() -> Corpus:
    return citations(2000, seed=11, noise=0.0)


def broken_by(corpus: Corpus) -> dict[str, list[str]]:
    """The texts that break each rule."""
    read = [(s.text, Counter(segments(s)), segments(s)) for s in corpus]
    return {
        name: [text for text, count, order in read if not rule(count, order)] for name, rule in HARD.items()
    }


def test_hard_rules_always_hold_without_noise(clean: Corpus) -> None:
    assert broken_by(clean) == {rule: [] for rule in HARD}


def test_hard_rules_nearly_always_hold_with_noise() -> None:
    """Penalties are learned from exceptions, so there must be a few."""
    broken = {rule: len(texts) / 2000 for rule, texts in broken_by(citations(2000, seed=11)).items()}
    assert max(broken.values()) < 0.03
    assert broken["exactly 1 segment of title"] > 0
    assert broken["author or editor"] > 0
    assert broken["if thesis then institution"] > 0


SHARES = {
    "author": (0.97, 1.0),
    "date": (0.93, 0.99),
    "journal": (0.28, 0.42),
    "booktitle": (0.32, 0.46),
    "editor": (0.1, 0.22),
    "thesis": (0.03, 0.1),
    "report": (0.03, 0.12),
    "pages": (0.45, 0.65),
}


@pytest.mark.parametrize("field", SHARES)
def test_fields_are_as_frequent_as_said(clean: Corpus, field: str) -> None:
    low, high = SHARES[field]
    assert low <= sum(field in segments(s) for s in clean) / len(clean) <= high


def test_all_fields_occur_and_no_others(clean: Corpus) -> None:
    assert {field for s in clean for field in segments(s)} == FIELDS


@pytest.mark.parametrize("noise", [0.0, 0.1, 1.0])
def test_labels_are_legal_bio(noise: float) -> None:
    for sequence in citations(500, seed=12, noise=noise):
        for before, label in zip(["O", *sequence.labels], sequence.labels, strict=False):
            assert label == "O" or label[:2] in ("B-", "I-")
            if label.startswith("I-"):
                assert before[2:] == label[2:], sequence.text


def test_values_are_clean(clean: Corpus) -> None:
    """Cues such as `In`, `pp.`, quotes and brackets stand outside the fields."""
    for sequence in clean:
        for token, label in zip(sequence.tokens, sequence.labels, strict=True):
            if label.endswith("-pages"):
                assert token.isdigit() or token in "-–", sequence.text
            if label == "B-booktitle":
                assert token not in ("In", "in")
            if label.endswith("-title"):
                assert token not in "“”"


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_style_writes_every_kind(style: str, kind: str) -> None:
    """Title, people and what makes the kind are there; tokens cut from the text are the values again."""
    rng = Random(f"{style} {kind}")
    made = next(r for r in (record(rng) for _ in range(1000)) if r.kind == kind)
    pieces = write(made, STYLES[style], rng)
    labels = {piece.label for piece in pieces}
    assert {"title", "author" if made.authors else "editor"} <= labels
    assert labels & {"journal", "booktitle", "publisher", "thesis", "report", "url"}
    assert _cut_out(pieces) == [piece.text for piece in pieces if piece.label]


def _cut_out(pieces: list[Piece]) -> list[str]:
    """The text of each segment, found again through the corpus."""
    (sequence,) = to_corpus([pieces], "bio")
    spans: list[list[int]] = []
    for (start, end), label in zip(sequence.characters, sequence.labels, strict=True):
        if label.startswith("B-"):
            spans.append([start, end])
        elif label.startswith("I-"):
            spans[-1][1] = end
    return [sequence.text[start:end] for start, end in spans]


def test_tables_name_what_exists() -> None:
    """Shares and styles refer to makers, cases and months by name."""
    for kind in KINDS.values():
        assert set(kind.shares) <= {*MAKERS, "author", "editor", "date", "pages"}
        assert set(kind.makers) <= set(MAKERS)
    for style in STYLES.values():
        assert style.case in CASES
        assert style.month in ("", *MONTH_FORMS)
        assert style.weight > 0


def test_no_two_marks_in_a_row(clean: Corpus) -> None:
    for sequence in clean:
        for slip in ("..", ",,", ",.", ". .", ", ,", "?.", "?,", "( ", " )", " ,", " .", "  ", "()"):
            assert slip not in sequence.text.replace("...", ""), sequence.text
