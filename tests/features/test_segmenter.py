"""`features/segmenter.py`: kinds of tokens, counts and segments on cases worked out by hand."""

from __future__ import annotations

import time

import pytest

from conseq.corpus import Corpus
from conseq.errors import TemplateError
from conseq.features import FeatureExtractor, parse_templates
from conseq.features.segmenter import _LISTED, _WORDS, ASPECTS, KINDS, kind
from conseq.features.sources import COMPUTED, Memory

EXAMPLES = {
    "url": ["http://a.org/b", "www.lpga.com", "me@mit.edu", "doi:10.1000/182"],
    "preprint": ["arXiv:1003.5752", "(astro-ph/9708164)"],
    "label": ["[30]", "[She93]"],
    "year": ["1979", "(1979),", "2003a.", "1699"],
    "range": ["61--205", "449–476.", "S3-S9"],
    "number": ["12", "(4)", "39:", "1500", "2100"],
    "comma": [","],
    "stop": ["."],
    "colon": [":"],
    "semicolon": [";"],
    "quote": ['"', "“Higher", 'trees,"', "''", "``"],
    "open": ["(", "["],
    "close": [")", "),"],
    "mark": ["", "--", "...", "/"],
    "initial": ["E.", "E", "J.-P.", "Ø.", "W.,"],
    "and": ["and", "&"],
    "editor": ["(eds.)", "Editors,"],
    "journal": ["Rev.", "letters"],
    "thesis": ["Ph.D.", "thesis,"],
    "place": ["U.S.A.", "London:"],
    "digit": ["D43", "A57", "3d"],
    "upper": ["ICML", "(ÅÄÖ)"],
    "cap": ["Montroll", "Überblick", "McGee"],
    "low": ["stochastic", "東京", "ångström"],
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_kinds_of_tokens(name):
    assert {token: kind(token) for token in EXAMPLES[name]} == dict.fromkeys(EXAMPLES[name], name)


def test_every_word_is_in_one_list_and_no_rule_hides_it():
    assert len(_LISTED) == sum(len(words.split()) for words in _WORDS.values())
    assert {word: kind(word) for word in _LISTED} == _LISTED
    assert len(set(KINDS)) == len(KINDS)


def column(text, corpus):
    """The values of a source over a corpus, one list per sequence."""
    wanted = parse_templates([f"{text}[0]"])[0].parts[0].source
    found = COMPUTED[wanted.name](corpus, wanted.argument, Memory())
    return corpus.split([None if i < 0 else found.vocabulary[i] for i in found.ids.tolist()])


def marks(text, tokens):
    """One character per token of one sequence, between others that must not matter; - is nothing."""
    around = [["1979", "E"], [".", "1979", ","]]
    corpus = Corpus.from_sequences([around[0], tokens.split(), [], around[1]])
    return "".join(value or "-" for value in column(text, corpus)[1])


@pytest.mark.parametrize(
    ("text", "tokens", "expected"),
    [
        ("seen(year)", "West 1979 , 1980", "0011"),
        ("ahead(year)", "West 1979 , 1980", "2110"),
        ("seen(year)", "1 2 3", "000"),
        ("seen(comma)", ", , , , , ,", "012333"),
        ("ahead(comma)", ", , , , , ,", "333210"),
        ("seen(in)", "a in b In: c", "00112"),
    ],
)
def test_tokens_of_a_kind_are_counted_on_either_side(text, tokens, expected):
    assert marks(text, tokens) == expected


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        ("E. West, Noise. Springer, 1979.", "1-111"),
        ("E . West , Noise . Springer , 1979 .", "1---1-1-1-"),
        ("Noise in Proc . ( 1979 )", "111-1--"),
        ('West , " On noise , " Nature', "1-11--11"),
        (". West", "11"),
        (", , a", "1-1"),
        ("a & b , & c", "1---1-"),
        ("no marks here", "1--"),
    ],
)
def test_segments_begin_after_punctuation_and_before_cues(tokens, expected):
    assert marks("segment(start)", tokens) == expected


SEGMENTED = "[7] West , Noise in cold glass , pp . 3-9"


@pytest.mark.parametrize(
    ("aspect", "expected"),
    [
        ("start", [1, 1, None, 1, 1, None, None, None, 1, None, 1]),
        ("index", [0, 1, 1, 2, 3, 3, 3, 3, 4, 4, 5]),
        ("left", [5, 4, 4, 3, 2, 2, 2, 2, 1, 1, 0]),
        ("since", [0, 0, 1, 0, 0, 1, 2, 3, 0, 1, 0]),
        ("length", [1, 2, 2, 1, 4, 4, 4, 4, 2, 2, 1]),
        ("kind", ["label", *["cap"] * 3, *["in"] * 4, *["pages"] * 2, "range"]),
        ("previous", [None, *["label"] * 2, "cap", *["cap"] * 4, *["in"] * 2, "pages"]),
        ("next", ["cap", *["cap"] * 2, "in", *["pages"] * 4, *["range"] * 2, None]),
    ],
)
def test_aspects_of_segments(aspect, expected):
    wanted = [None if value is None else str(value) for value in expected]
    for around in ([], [["a", ","]]):
        corpus = Corpus.from_sequences([*around, SEGMENTED.split(), [], ["b"]])
        assert column(f"segment({aspect})", corpus)[len(around)] == wanted


def test_long_segments_and_many_segments_are_drawn_together():
    corpus = Corpus.from_sequences([["a"] * 30, ["a,"] * 12])
    long, many = column("segment(since)", corpus)[0], column("segment(index)", corpus)[1]
    assert long == [*"0123456", "6", *["8"] * 3, *["11"] * 5, *["16"] * 10, *["26"] * 4]
    assert many == [*"0123456789", "9", "9"]


SOURCES = ["seen(low)", "ahead(low)", *(f"segment({aspect})" for aspect in ASPECTS)]


@pytest.mark.parametrize("text", SOURCES)
def test_nothing_gives_nothing(text):
    assert column(text, Corpus.from_sequences([])) == []
    assert column(text, Corpus.from_sequences([[], []])) == [[], []]
    assert len(column(text, Corpus.from_sequences([["", "\u200b", "\U0001f600"]]))[0]) == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seen(yaer)[0]", r"seen\(yaer\) needs a kind of token: url, preprint"),
        ("ahead(3)[0]", r"ahead\(3\) needs a kind of token"),
        ("segment(stat)[0]", r"segment\(stat\) needs an aspect of segments: start, index"),
        ("segment[0]", "segment needs an aspect in parentheses"),
    ],
)
def test_what_there_is_not_is_an_error_that_says_what_there_is(text, message):
    with pytest.raises(TemplateError, match=message):
        parse_templates([text])


def test_a_long_sequence_takes_linear_time():
    corpus = Corpus.from_sequences([SEGMENTED.split() * 10_000])
    begun = time.perf_counter()
    FeatureExtractor.learn(corpus, [f"{text}[0]" for text in SOURCES])
    assert time.perf_counter() - begun < 5


@pytest.mark.parametrize("mark", ['"', "'", "``", "[", "-", "1-", "a-", "&", "”’", "- "])
@pytest.mark.parametrize("ends", ["", "a"])
def test_the_kind_of_a_very_long_token_is_found_at_once(mark, ends):
    start = time.perf_counter()
    kind(mark * (300_000 // len(mark)) + ends)
    assert time.perf_counter() - start < 5
