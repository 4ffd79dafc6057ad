"""`features/crfpp.py`: CRF++ template files, and what they mean on data."""

from __future__ import annotations

import pytest

from conseq.corpus import Corpus
from conseq.errors import TemplateError
from conseq.features import FeatureExtractor, parse_crfpp

CHUNKING = """
# Unigram
U00:%x[-2,0]
U01:%x[-1,0]
U02:%x[0,0]
U05:%x[-1,0]/%x[0,0]

U10:%x[-2,1]
U20:%x[-2,1]/%x[-1,1]/%x[ +0 , 1 ]

# Bigram
B
"""


def test_a_file_like_those_of_crfpp():
    parsed = parse_crfpp(CHUNKING, ["form", "pos"])
    assert parsed.transitions
    assert [str(t) for t in parsed.templates] == [
        "word[-2]",
        "word[-1]",
        "word[0]",
        "word[-1] & word[0]",
        "pos[-2]",
        "pos[-2] & pos[-1] & pos[0]",
    ]


@pytest.mark.parametrize(("line", "wanted"), [("B", True), ("B01", True), ("# B", False), ("", False)])
def test_transitions_are_asked_for_by_a_line_with_b(line, wanted):
    assert parse_crfpp(f"U00:%x[0,0]\n{line}", ["word"]).transitions == wanted


def test_a_line_without_macro_is_a_bias():
    assert [str(t) for t in parse_crfpp("U00\nU01:%x[0,0]", ["word"]).templates] == ["bias[0]", "word[0]"]


def test_column_names_that_are_also_functions_stay_columns():
    parsed = parse_crfpp("U1:%x[0,0]\nU2:%x[0,1]\nU3:%x[0,2]", ["lower", "lower", "first"])
    corpus = Corpus.from_columns({"form": ["A"], "lower": ["b"], "first": ["c"]}, [1])
    extractor, design = FeatureExtractor.learn(corpus, parsed.templates)
    names = extractor.names([a for a, _ in design.attributes(0)])
    assert names == ["word[0]=A", "'lower'[0]=b", "'first'[0]=c"]


def test_values_beyond_the_ends_are_numbered_as_in_crfpp():
    text = "U0:%x[-2,0]\nU1:%x[-1,0]/%x[1,1]\nU2:%x[2,0]\nU3:%x[-3,1]/%x[0,0]/%x[3,1]"
    corpus = Corpus.from_columns({"word": ["a", "b", "c"], "pos": ["X", "Y", "Z"]}, [2, 1])
    extractor, design = FeatureExtractor.learn(corpus, parse_crfpp(text, ["word", "pos"]).templates)
    found = [sorted(extractor.names([a for a, _ in design.attributes(t)])) for t in range(3)]
    assert found == [
        [
            "pos[-3] & word[0] & pos[3]=_B-3|a|_B+2",
            "word[-1] & pos[1]=_B-1|Y",
            "word[-2]=_B-2",
            "word[2]=_B+1",
        ],
        [
            "pos[-3] & word[0] & pos[3]=_B-2|b|_B+3",
            "word[-1] & pos[1]=a|_B+1",
            "word[-2]=_B-1",
            "word[2]=_B+2",
        ],
        [
            "pos[-3] & word[0] & pos[3]=_B-3|c|_B+3",
            "word[-1] & pos[1]=_B-1|_B+1",
            "word[-2]=_B-2",
            "word[2]=_B+2",
        ],
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "U00:%x[0,0]\nU01:%x[0,2]",
            "t:2: column 2 in 'U01:%x[0,2]', but the data has only the columns 0 to 1",
        ),
        ("U00:%x[0,0]\n\nX01:%x[0,0]", "t:3: a line starts with U or B, not 'X'"),
        ("U00:%x[0,0]\nB:%x[0,0]", "t:2: B lines that look at tokens are not supported; write a plain B"),
        ("U00:%x[0,0]\nU00:%x[1,0]", "t:2: the same id as line 1 ('U00'); give each line its own"),
        ("U:%x[0,0]\nU01:%x[0,0]\nU:%x[1,0]", "t:3: the same id as line 1 ('U'); give each line its own"),
        ("U00:%x[0,0", "t:1: 'U00:%x[0,0' has a macro that is not of the form %x[row,column]"),
        ("U00:%t[0,0]", "t:1: 'U00:%t[0,0]' has a macro that is not of the form %x[row,column]"),
        ("U00:%x[0,-1]", "t:1: 'U00:%x[0,-1]' has a macro that is not of the form %x[row,column]"),
        ("U00:%x[-5000,0]", "t:1: the offset -5000 is too far"),
        ("B\n# nothing else", "t: no U line in the template file; write lines like U00:%x[0,0]"),
        ("", "t: no U line in the template file; write lines like U00:%x[0,0]"),
    ],
)
def test_errors_are_sentences_with_the_line(text, message):
    with pytest.raises(TemplateError) as error:
        parse_crfpp(text, ["word", "pos"], path="t")
    assert str(error.value).startswith(message)


def test_conjunctions_may_share_an_id_with_a_shorter_line():
    """U00:a and U00:a/b are different strings in CRF++ as well."""
    parsed = parse_crfpp("U00:%x[0,0]\nU00:%x[0,0]/%x[1,0]", ["word"])
    assert len(parsed.templates) == 2
