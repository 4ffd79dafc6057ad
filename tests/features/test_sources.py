"""`features/sources.py`: every source on cases worked out by hand."""

from __future__ import annotations

import pytest

from conseq.corpus import Corpus
from conseq.errors import DataError, TemplateError
from conseq.features import FeatureExtractor
from conseq.features.sources import COMPUTED, DERIVED, NEEDS_ARGUMENT, Memory, Source

CASES = {
    "value": [("McCallum", "McCallum"), ("", "")],
    "lower": [("McCALLUM", "mccallum"), ("ÄÖß", "äöß"), ("12", "12")],
    "shape": [
        ("McCallum-2003", "XxXxxxxx-dddd"),
        ("Ångström", "Xxxxxxxx"),
        ("A.B.", "X.X."),
        ("“quoted”", "“xxxxxx”"),
        ("東京", "xx"),
        ("", ""),
    ],
    "short-shape": [
        ("McCallum-2003", "XxXx-d"),
        ("USA", "X"),
        ("...", "."),
        ("a--b", "x-x"),
        ("aXXa", "xXx"),
        ("", ""),
    ],
    "digits": [("45-67", "00-00"), ("pages", None), ("p3", "p0"), ("2003a", "0000a")],
    "length": [("a", "1"), ("twelve chars", "12"), ("thirteen char", "12"), ("", "0")],
    "prefix(2)": [("abc", "ab"), ("ab", None), ("a", None)],
    "suffix(3)": [("walking", "ing"), ("ing", None), ("éèêë", "èêë")],
    r"match(/^\d{4}$/)": [("2003", "1"), ("200", None), ("x2003", None)],
    "match(/[,.]/)": [("a,b", "1"), (".", "1"), ("ab", None)],
    "kind": [("1979", "year"), ("Vol.", "volume"), ("Ångström", "cap"), ("", "mark"), ("東京", "low")],
    "unknown": [("twice", None), ("once", "1"), ("never", "1")],
}


def source(text: str) -> Source:
    from conseq.features import parse_templates

    return parse_templates([f"{text}[0]"])[0].parts[0].source


@pytest.mark.parametrize("text", CASES)
def test_derived_sources(text):
    memory = Memory(known=frozenset({"twice"}))
    tokens, values = zip(*CASES[text], strict=True)
    found = Source("value") if text == "value" else source(text)
    assert found.derive(tokens, memory) == list(values)


def test_every_derived_source_has_a_case():
    assert {text.split("(")[0] for text in CASES} == set(DERIVED)


def column(text, corpus, lexicons=None):
    """The values of a computed source over a corpus, one list per sequence."""
    wanted = source(text)
    memory = Memory.of([corpus], lexicons or {})
    found = COMPUTED[wanted.name](corpus, wanted.argument, memory)
    return corpus.split([None if i < 0 else found.vocabulary[i] for i in found.ids.tolist()])


SEQUENCES = [["a", "b", "c"], [], ["d"], ["e", "f", "g", "h", "i", "j"]]
COMPUTED_CASES = {
    "first": [["1", None, None], [], ["1"], ["1", *[None] * 5]],
    "last": [[None, None, "1"], [], ["1"], [*[None] * 5, "1"]],
    "bias": [["1"] * 3, [], ["1"], ["1"] * 6],
    "position(2)": [["0", "0", "1"], [], ["0"], ["0", "0", "0", "1", "1", "1"]],
    "position(10)": [["0", "3", "6"], [], ["0"], ["0", "1", "3", "5", "6", "8"]],
}


@pytest.mark.parametrize("text", COMPUTED_CASES)
def test_computed_sources(text):
    assert column(text, Corpus.from_sequences(SEQUENCES)) == COMPUTED_CASES[text]
    assert column(text, Corpus.from_sequences([])) == []


def test_every_computed_source_has_a_case():
    elsewhere = {"lexicon", "seen", "ahead", "segment"}  # the last three: test_segmenter.py
    assert {text.split("(")[0] for text in COMPUTED_CASES} | elsewhere == set(COMPUTED)
    assert set(NEEDS_ARGUMENT) <= set(DERIVED) | set(COMPUTED)


LEXICON = ["New York", "New York City", "york", "San  Francisco Bay", "los angeles", "a b a c", " ", ""]


@pytest.mark.parametrize(
    ("tokens", "marks"),
    [
        ("in New York today", "-BI-"),
        ("New York City", "BII"),
        ("NEW yOrK CITY", "BII"),
        ("New York New York City", "BIBII"),
        ("York York", "BB"),
        ("New Jersey", "--"),
        ("San Francisco", "--"),
        ("San Francisco Bay", "BII"),
        ("the Los Angeles", "-BI"),
        ("a b a b a c", "--BIII"),
        ("a b a c a b", "BIII--"),
        ("City", "-"),
    ],
)
def test_lexicon_marks_longest_matches_from_left_to_right(tokens, marks):
    words = tokens.split()
    expected = [None if m == "-" else m for m in marks]
    for around in ([], [["New"], ["York", "City"]]):
        corpus = Corpus.from_sequences([*around[:1], words, *around[1:]])
        assert column("lexicon(places)", corpus, {"places": LEXICON})[len(around[:1])] == expected


def test_lexicon_matches_never_cross_the_end_of_a_sequence():
    corpus = Corpus.from_sequences([["to", "New"], ["York", "City"], [], ["los"], ["angeles"]])
    found = column("lexicon(places)", corpus, {"places": LEXICON})
    assert found == [[None, None], ["B", None], [], [None], [None]]


def test_empty_lexicons_mark_nothing():
    corpus = Corpus.from_sequences([["a", "b"]])
    assert column("lexicon(none)", corpus, {"none": []}) == [[None, None]]
    assert column("lexicon(none)", Corpus.from_sequences([]), {"none": ["a"]}) == []


def test_a_lexicon_that_was_not_given_is_an_error():
    corpus = Corpus.from_sequences([["a"]])
    with pytest.raises(TemplateError, match="the lexicon 'places' is not given; name its file"):
        FeatureExtractor.learn(corpus, ["lexicon(places)[0]"])


def test_a_column_that_the_data_lacks_is_an_error():
    corpus = Corpus.from_columns({"form": ["a"], "tag": ["b"]}, [1])
    with pytest.raises(DataError, match="need the column 'pos'; the input has: form, tag"):
        FeatureExtractor.learn(corpus, ["pos[0]"])
    bare = Corpus.from_columns({}, [2])
    for template in ("word[0]", "lower[0]", "lexicon(x)[0]", "seen(year)[0]", "segment(start)[0]"):
        with pytest.raises(DataError, match="need the column 'word'; the input has: none"):
            FeatureExtractor.learn(bare, [template], lexicons={"x": ["a"]})


def test_memory_knows_the_words_seen_more_than_once():
    corpus = Corpus.from_sequences([["a", "b", "a"], ["c", "b"]])
    assert Memory.of([corpus], {}).known == {"a", "b"}
    assert Memory.of([corpus.select([0])], {}).known == {"a"}
    assert Memory.of([Corpus.from_columns({}, [3])], {}).known == set()


def test_memory_survives_as_data():
    corpus = Corpus.from_sequences([["a", "b", "a"]])
    memory = Memory.of([corpus], {"places": LEXICON, "none": []})
    assert Memory.from_dict(memory.to_dict()) == memory
    assert memory.lexicons["places"][0] == ("new", "york")
