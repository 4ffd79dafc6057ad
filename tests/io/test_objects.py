"""Python objects as corpora: strings, attribute lists, attribute dicts, corpora, sequences of them."""

from __future__ import annotations

import numpy as np
import pytest

from conseq.corpus import Corpus
from conseq.errors import DataError
from conseq.io.objects import corpus_from


def bags(corpus: Corpus) -> list[dict[str, float]]:
    """The attributes of each token."""
    found = corpus.bags
    return [
        {found.vocabulary[found.ids[k]]: float(found.values[k]) for k in range(a, b)}
        for a, b in zip(found.indptr[:-1], found.indptr[1:], strict=True)
    ]


@pytest.mark.parametrize(
    "sequences",
    [
        [["a", "cat"], ["sat"]],
        (("a", "cat"), ("sat",)),
        iter([iter(["a", "cat"]), iter(["sat"])]),
        [np.array(["a", "cat"]), np.array(["sat"])],
    ],
)
def test_strings_in_any_container(sequences):
    corpus = corpus_from(sequences, [["DT", "NN"], ["VB"]])
    assert corpus.token_sequences() == [["a", "cat"], ["sat"]]
    assert corpus.label_sequences() == [["DT", "NN"], ["VB"]]
    assert corpus.bags is None


def test_dicts_of_attributes():
    token = {"word": "cat", "upper": False, "n": 3, "in": {"town": True, "tag": "x"}, "of": ["a", "b"]}
    corpus = corpus_from([[token], [{}]])
    first, second = bags(corpus)
    ones = ["word:cat", "in:town", "in:tag:x", "of:a", "of:b"]
    assert first == {**dict.fromkeys(ones, 1.0), "upper": 0.0, "n": 3.0}
    assert second == {}
    assert corpus.columns == {}
    assert corpus.lengths.tolist() == [1, 1]


def test_sets_are_taken_in_order():
    [found] = bags(corpus_from([[{"of": {"b", "a", "c"}}]]))
    assert list(found) == ["of:a", "of:b", "of:c"]


def test_lists_of_attributes():
    corpus = corpus_from([[["bias", "w=a"], ["bias"]], [("w=b",)]], [["X", "Y"], ["X"]])
    assert bags(corpus) == [{"bias": 1.0, "w=a": 1.0}, {"bias": 1.0}, {"w=b": 1.0}]
    assert corpus.label_sequences() == [["X", "Y"], ["X"]]


def test_a_corpus_stays_as_it_is():
    corpus = Corpus.from_sequences([["a"], ["b", "c"]], [["X"], ["Y", "Z"]])
    assert corpus_from(corpus) is corpus
    other = corpus_from(corpus, [["A"], ["B", "C"]])
    assert other.label_sequences() == [["A"], ["B", "C"]]
    assert corpus.label_sequences() == [["X"], ["Y", "Z"]]


def test_sequences_of_a_corpus_are_a_corpus():
    corpus = Corpus.from_sequences([["a"], ["b", "c"], ["d"]], [["X"], ["Y", "Z"], ["X"]])
    found = corpus_from([corpus[2], corpus[1]])
    assert found.token_sequences() == [["d"], ["b", "c"]]
    assert found.label_sequences() == [["X"], ["Y", "Z"]]
    assert corpus_from([corpus[0]], [["W"]]).label_sequences() == [["W"]]


@pytest.mark.parametrize("nothing", [[], [[]], [[], []]])
def test_nothing(nothing):
    corpus = corpus_from(nothing, nothing)
    assert len(corpus) == len(nothing)
    assert corpus.n_tokens == 0


@pytest.mark.parametrize(
    ("sequences", "labels", "says"),
    [
        (
            ["a cat"],
            None,
            r"sequence 0 \(from 0\) is a string; .* such as \['a', 'cat'\]",
        ),
        ([["a"], "b"], None, r"sequence 1 \(from 0\) is a string"),
        (
            [["a", 3]],
            None,
            r"token 1 of sequence 0 \(both from 0\) is a int, .* are strings",
        ),
        ([[{}], ["a"]], None, "is a str, the tokens before it are dicts"),
        ([[1, 2]], None, "a token is a int; give strings"),
        ([["a"]], [["X", "Y"]], "1 tokens and 2 labels"),
        ([[{"a": 1}]], [["X", "Y"]], "1 tokens and 2 labels"),
        ([["a"]], [], "1 sequences but labels for 0"),
        ([[{"a": float("nan")}]], None, "not a finite number"),
        ([[{"a": float("inf")}]], None, "not a finite number"),
        ([[{"a": None}]], None, "the attribute 'a' has the value None; give a number or a string"),
        ([[{"a": object}]], None, "give a number or a string"),
    ],
)
def test_what_is_no_corpus(sequences, labels, says):
    with pytest.raises(DataError, match=says):
        corpus_from(sequences, labels)
