"""Pictures: words, boxes and arcs stand apart; documents are well formed and hold nothing foreign."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conseq.datasets import news
from conseq.entities import Entity, Relation, Sentence
from conseq.relations.layout import GAP, MARGIN, fitted, lay_out, measure
from conseq.relations.picture import Picture

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = Sentence(
    ("<&>", "</svg>", "<script>alert(1)</script>", "\x00\x1b[31m", '"q"', "R&D", "x" * 500, "\ud800"),
    (Entity('a<b&"c', 0, 2), Entity("t", 2, 3), Entity("long_name" * 20, 5, 6)),
    (Relation('is <b> & "q"', 0, 1), Relation("r" * 300, 1, 2)),
    id="<id&>",
)


@st.composite
def sentences(draw: Any) -> Sentence:
    words = st.sampled_from(["a", "Rome", "名前", "مرحبا", "x" * 40, "<&>", "‑", "é́"])
    tokens = tuple(draw(st.lists(words, max_size=30)))
    starts = draw(st.lists(st.integers(0, len(tokens) - 1), max_size=8)) if tokens else []
    entities = tuple(
        Entity(
            draw(st.sampled_from(["person", "organisation", "o"])),
            s,
            min(len(tokens), s + draw(st.integers(1, 4))),
        )
        for s in starts
    )
    ends = st.tuples(*[st.integers(0, len(entities) - 1)] * 2).filter(lambda pair: pair[0] != pair[1])
    pairs = draw(st.lists(ends, max_size=12)) if len(entities) > 1 else []
    return Sentence(tokens, entities, tuple(Relation("kill", *pair) for pair in pairs))


@given(sentences(), st.sampled_from([200.0, 400.0, 900.0]))
def test_nothing_stands_upon_another(sentence: Sentence, width: float) -> None:
    layout = lay_out(sentence, width)
    assert len(layout.boxes) == len(sentence.entities)
    for row in range(len(layout.texts)):
        pieces = sorted((piece for piece in layout.pieces if piece.row == row), key=lambda piece: piece.x)
        for piece in pieces:
            assert piece.x >= MARGIN - 0.01
            assert piece.x + piece.width <= width - MARGIN + 0.01
        for left, right in pairwise(pieces):
            assert left.x + left.width + GAP <= right.x + 0.01
        arcs = [arc for arc in layout.arcs if arc.row == row]
        for i, arc in enumerate(arcs):
            for other in arcs[:i]:
                if arc.level == other.level:
                    (a, b, _), (c, d, _) = arc.reach(width), other.reach(width)
                    assert b <= c or d <= a
    assert layout.texts == sorted(layout.texts)


@given(sentences())
def test_every_relation_has_one_head_and_one_arrow(sentence: Sentence) -> None:
    layout = lay_out(sentence, 300.0)
    for i, relation in enumerate(sentence.relations):
        parts = [arc for arc in layout.arcs if arc.relation == i]
        (first,), (last,) = ([a for a in parts if a.head], [a for a in parts if a.tail])
        for arc, x, entity in ((first, first.ends[0], relation.head), (last, last.ends[1], relation.tail)):
            box = layout.boxes[entity]
            assert box.row == arc.row
            assert box.x <= x <= box.x + box.width
        assert len(parts) == abs(first.row - last.row) + 1


@given(st.lists(sentences(), max_size=3))
def test_documents_are_well_formed(given_: list[Sentence]) -> None:
    picture = Picture(given_)
    ElementTree.fromstring(picture.svg())
    assert picture.html().count("<figure>") == len(given_)


def texts(picture: Picture) -> list[str]:
    found = ElementTree.fromstring(picture.svg()).iter(f"{SVG}text")
    return [element.text or "" for element in found]


def test_all_words_and_types_are_there() -> None:
    sentence = news(3)[2]
    shown = texts(Picture([sentence], notes=[["breaks the rule: x"]]))
    words = " ".join(shown[len(sentence.entities) * 2 :])
    for entity in sentence.entities:
        assert entity.type in shown
        assert sentence.cut(entity.start, entity.end) in shown
    assert "work_for" in shown
    assert "a driver for" in words or ", a driver for" in shown
    assert "breaks the rule: x" in shown


def test_hostile_text_is_text() -> None:
    picture = Picture([HOSTILE])
    for document in (picture.svg(), picture.html()):
        assert "<script" not in document
        assert "\x1b" not in document
        document.encode()
    shown = texts(picture)
    assert "<&> </svg>" in shown
    assert 'is <b> & "q"' in shown
    assert any("…" in text for text in shown)


@pytest.mark.parametrize("document", [Picture(news(5)).svg(), Picture(news(5)).html()])
def test_documents_fetch_nothing_and_know_dark_and_light(document: str) -> None:
    assert re.findall(r"https?://[^\"]*", document.replace("http://www.w3.org/2000/svg", "")) == []
    assert not re.search(r"<script|<link|@import|url\(|<img|<foreignObject", document)
    assert "@media (prefers-color-scheme:dark)" in document


def test_colours_of_types_differ_and_stay() -> None:
    def colours(picture: Picture) -> list[str]:
        return re.findall(r"rect\.e\d+\{fill:(hsl\(\d+)", picture.svg().partition("@media")[0])

    sentences = news(20)
    assert len(set(colours(Picture(sentences)))) == 3
    only = [replace(s, entities=(Entity("person", 0, 1),), relations=()) for s in sentences[:1]]
    assert colours(Picture(only))[0] in colours(Picture(sentences))


def test_right_to_left() -> None:
    sentence = Sentence(("דוד", "גר", "בירושלים"), (Entity("person", 0, 1), Entity("place", 2, 3)))
    layout = lay_out(sentence, 900)
    assert layout.reversed
    assert layout.boxes[0].x > layout.boxes[1].x
    assert 'direction="rtl"' in Picture([sentence]).svg()


def test_texts_are_cut_in_the_middle() -> None:
    assert fitted("abc", 100) == "abc"
    cut = fitted("abcdefgh" * 20, 60)
    assert cut.startswith("abc")
    assert cut.endswith("gh")
    assert measure(cut) <= 60


def test_many_sentences_and_none() -> None:
    assert Picture([]).svg().startswith("<svg")
    assert Picture([Sentence(())]).svg().endswith("</svg>")
    assert Picture(news(1))._repr_html_().startswith("<div")
