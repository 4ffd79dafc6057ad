"""Labelled sequences: segments cut out of the text, plain values, HTML for notebooks."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from conseq.constraints.language import parse_constraints
from conseq.corpus import Corpus, Source
from conseq.decoders.batch import Decodings
from conseq.labelled import (
    HUES,
    Labelled,
    LabelledSequence,
    LabelledSpan,
    TokenMarginals,
    hue,
    label_corpus,
)
from conseq.potentials import Potentials
from conseq.problem import Problems
from conseq.schema import Schema

TEXT = "By  A. Cau: <b>Sets</b> & more"
CHARACTERS = [(0, 2), (4, 6), (7, 10), (10, 11), (12, 23), (24, 25), (26, 30)]
TOKENS = [TEXT[a:b] for a, b in CHARACTERS]
LABELS = ["O", "B-author", "I-author", "O", "B-<title>", "I-<title>", "I-<title>"]
SCHEMA = Schema(["O", "B-author", "I-author", "B-<title>", "I-<title>"], "bio")


def decodings(labels: list[str], schema: Schema = SCHEMA, rules: str = "", bound: float = 1.5) -> Decodings:
    """The answer for one sequence: these labels, of score 1.5."""
    potentials = Potentials.of(np.zeros((len(labels), len(schema))))
    problems = Problems.of(potentials, schema, parse_constraints(rules, schema=schema))
    one = np.ones(1)
    return Decodings(problems, schema.encode(labels), 1.5 * one, bound * one, one, one)


@pytest.fixture
def sequence() -> LabelledSequence:
    source = Source((TEXT,), np.array(CHARACTERS, dtype=np.int32))
    corpus = Corpus.from_columns({"word": TOKENS}, [len(TOKENS)], source=source)
    [found] = label_corpus(corpus, decodings(LABELS), SCHEMA)
    return found


def test_segments_are_cut_out_of_the_original_text(sequence):
    assert [(s.start, s.end, s.type, s.text) for s in sequence.spans] == [
        (1, 3, "author", "A. Cau"),
        (4, 7, "<title>", "<b>Sets</b> & more"),
    ]
    assert sequence.score == 1.5
    assert sequence.text == TEXT


def test_without_a_text_tokens_are_joined_by_blanks():
    corpus = Corpus.from_sequences([TOKENS])
    [found] = label_corpus(corpus, decodings(LABELS), SCHEMA)
    assert found.text is None
    assert found.spans[0].text == "A. Cau"
    assert "".join(piece for piece, _ in found.pieces()).replace(" ", "") == "".join(TOKENS).replace(" ", "")


def test_pieces_cover_all_tokens_in_order(sequence):
    assert list(sequence.pieces()) == [
        ("By", None),
        ("A. Cau", "author"),
        (":", None),
        ("<b>Sets</b> & more", "<title>"),
    ]


def test_pieces_of_nested_segments_are_the_outermost():
    schema = Schema(["O", "B-a/B-b", "I-a"], "bio")
    corpus = Corpus.from_sequences([["x", "y", "z"]])
    [found] = label_corpus(corpus, decodings(["B-a/B-b", "I-a", "O"], schema), schema)
    assert [(s.type, s.level, s.text) for s in found.spans] == [("a", 0, "x y"), ("a/b", 1, "x")]
    assert list(found.pieces()) == [("x y", "a"), ("z", None)]


def test_plain_values(sequence):
    found = sequence.to_dict()
    assert list(found) == ["text", "tokens", "labels", "spans", "score", "certificate", "violations"]
    span = found["spans"][0]
    start, end = span.pop("characters")
    assert found["text"][start:end] == "A. Cau"
    assert span == {"start": 1, "end": 3, "type": "author", "text": "A. Cau", "confidence": None}
    assert json.loads(json.dumps(found)) == found


def test_certificates_and_violated_rules_in_plain_values():
    rules = (
        "at most 1 segment of author penalty 2\nno author before '<title>' penalty 1\nif author then O hard"
    )
    labels = ["B-author", "B-author", "B-author", "O"]
    for bound, status, gap in [(1.5, "OPTIMAL", 0.0), (2.0, "FEASIBLE", 0.5), (np.inf, "FEASIBLE", None)]:
        answer = decodings(labels, rules=rules, bound=bound)
        [found] = label_corpus(Corpus.from_sequences([list("abcd")]), answer, SCHEMA)
        assert found.violations == {"at most 1 segment of author": 2.0}
        plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert plain["violations"] == {"at most 1 segment of author": 2.0}
        assert plain["certificate"] == {
            "status": status,
            "bound": bound if np.isfinite(bound) else None,
            "gap": gap,
            "iterations": 1.0,
            "seconds": 1.0,
        }


def test_plain_values_without_a_certificate():
    corpus = Corpus.from_sequences([TOKENS])
    [found] = label_corpus(corpus, decodings(LABELS), SCHEMA, certificates=False)
    assert list(found.to_dict()) == ["tokens", "labels", "spans", "score"]


def test_probabilities_in_plain_values():
    marginals = TokenMarginals(("A", "B"), np.array([[0.25, 0.75], [1 / 3, 2 / 3]]))
    found = LabelledSequence(
        ["x", "y"],
        ["B", "B"],
        [LabelledSpan(0, 2, "B", "x y", confidence=0.12345678)],
        2.0,
        nbest=[(["B", "B"], 2.0), (["A", "B"], 1.0)],
        marginals=marginals,
    ).to_dict()
    assert found["spans"][0]["confidence"] == 0.123457
    assert found["nbest"] == [{"labels": ["B", "B"], "score": 2.0}, {"labels": ["A", "B"], "score": 1.0}]
    assert found["marginals"] == [{"A": 0.25, "B": 0.75}, {"A": 0.333333, "B": 0.666667}]
    assert marginals.of(["A", "B"]) == [0.25, 2 / 3]


class Texts(HTMLParser):
    """The text of some HTML, and the elements in it."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.text = ""
        self.elements: list[str] = []
        self.feed(markup)

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.elements.append(tag)


def test_html_shows_the_text_and_escapes_it(sequence):
    shown = Texts(sequence._repr_html_())
    assert set(shown.elements) == {"div", "span", "sub"}
    assert shown.elements.count("span") == 2
    assert "<b>Sets</b> & more <title>" in shown.text
    assert "A. Cau author" in shown.text


def test_html_of_many(sequence):
    both = Labelled([sequence, sequence])
    assert both._repr_html_() == 2 * sequence._repr_html_()


def test_colours_are_those_of_the_type_and_in_range(sequence):
    assert hue("author") == hue("author")
    assert len({hue(name) for name in map(str, range(200))}) == HUES
    assert all(0 <= hue(name) < 360 for name in map(str, range(200)))
    assert re.search(rf"hsl\({hue('author')},", sequence._repr_html_())


def test_cut_to_the_end_of_a_token():
    assert LabelledSequence(TOKENS, LABELS, [], 0.0, TEXT, CHARACTERS).cut(0, 3) == "By  A. Cau"
    assert LabelledSequence(TOKENS, LABELS, [], 0.0).cut(0, 3) == "By A. Cau"
