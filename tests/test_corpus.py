"""`corpus.py`: sequences in and out of flat columns, views, checks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conseq.corpus import Bags, Column, Corpus, Source
from conseq.errors import DataError
from conseq.vocabulary import Vocabulary

tokens = st.sampled_from(["a", "b", "c", ""])
labelled = st.lists(st.lists(st.tuples(tokens, st.sampled_from("XYZ")), max_size=4), max_size=6)


def apart(pairs):
    return [[t for t, _ in s] for s in pairs], [[y for _, y in s] for s in pairs]


def rich(sequences):
    """A corpus with everything: two columns, labels, bags and the texts the tokens stand in."""
    words, labels = apart(sequences)
    flat = [w for s in words for w in s]
    indptr = np.cumsum([0, *(i % 3 for i in range(len(flat)))])
    vocabulary = Vocabulary(["p", "q"])
    ids = np.arange(indptr[-1], dtype=np.int32) % 2
    bags = Bags(indptr, ids, np.arange(indptr[-1], dtype=np.float32), vocabulary)
    texts = tuple(" ".join(s) for s in words)
    characters = np.arange(2 * len(flat), dtype=np.int32).reshape(-1, 2)
    return Corpus.from_columns(
        {"form": flat, "place": [str(i) for i in range(len(flat))]},
        map(len, words),
        [y for s in labels for y in s],
        bags=bags,
        source=Source(texts, characters),
    )


def bag_of(bags, t):
    at = slice(bags.indptr[t], bags.indptr[t + 1])
    return bags.vocabulary.decode(bags.ids[at]), bags.values[at].tolist()


@settings(deadline=None)
@given(labelled)
def test_sequences_come_out_as_they_went_in(pairs):
    words, labels = apart(pairs)
    corpus = Corpus.from_sequences(words, labels)
    assert len(corpus) == len(words)
    assert corpus.n_tokens == sum(map(len, words))
    assert corpus.lengths.tolist() == [len(s) for s in words]
    assert corpus.token_sequences() == words == [s.tokens for s in corpus]
    assert corpus.label_sequences() == labels == [s.labels for s in corpus]
    assert [len(s) for s in corpus] == [len(s) for s in words]
    assert corpus.split(list(range(corpus.n_tokens))) == [list(range(*s.bounds)) for s in corpus]


@settings(deadline=None)
@given(labelled.filter(len), st.data())
def test_a_selection_is_the_corpus_of_those_sequences(pairs, data):
    corpus = rich(pairs)
    chosen = data.draw(st.lists(st.integers(-len(corpus), len(corpus) - 1), max_size=8))
    for given_indices in (chosen, np.array(chosen, dtype=np.int64), iter(chosen)):
        view = corpus.select(given_indices)
        assert len(view) == len(chosen)
        at = 0
        for i, sequence in zip(chosen, view, strict=True):
            original = corpus[i]
            assert sequence.tokens == original.tokens
            assert sequence.column("place") == original.column("place")
            assert sequence.labels == original.labels
            assert sequence.text == original.text
            assert sequence.characters == original.characters
            for t in range(*original.bounds):
                assert bag_of(view.bags, at) == bag_of(corpus.bags, t)
                at += 1
        view.check()
        assert view.n_tokens == at


def test_a_mask_selects_what_it_marks():
    corpus = Corpus.from_sequences([["a"], ["b", "c"], ["d"]])
    assert corpus.select(np.array([True, False, True])).token_sequences() == [["a"], ["d"]]
    assert corpus.select([False, True, False]).token_sequences() == [["b", "c"]]
    with pytest.raises(IndexError):
        corpus.select([3])


def test_sequences_are_reached_by_number():
    corpus = Corpus.from_sequences([["a"], ["b", "c"]])
    assert corpus[-1].tokens == ["b", "c"]
    assert corpus[-2].bounds == (0, 1)
    assert [s.index for s in corpus] == [0, 1]
    for beyond in (2, -3):
        with pytest.raises(IndexError, match=f"sequence {beyond} of 2"):
            corpus[beyond]


def test_what_is_not_there_is_none():
    (sequence,) = Corpus.from_sequences([["a"]])
    assert (sequence.labels, sequence.text, sequence.characters) == (None, None, None)
    with pytest.raises(DataError, match="the corpus has no labels; give a label column"):
        sequence.corpus.label_sequences()


def test_the_first_column_holds_the_tokens():
    corpus = Corpus.from_columns({"form": ["a", "b"], "word": ["X", "Y"]}, [2])
    assert corpus.token_column == "form"
    assert corpus[0].tokens == ["a", "b"]
    assert corpus[0].column("word") == ["X", "Y"]
    assert Corpus.from_sequences([["a"]], column="letter").token_column == "letter"
    assert Corpus.from_columns({}, [2]).token_column == "word"


def test_labels_can_be_exchanged():
    corpus = Corpus.from_sequences([["a"], ["b", "c"]], [["X"], ["Y", "X"]])
    assert corpus.with_labels(["Z", "", "Z"]).label_sequences() == [["Z"], ["", "Z"]]
    assert corpus.with_labels(None).labels is None
    assert corpus.label_sequences() == [["X"], ["Y", "X"]]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Corpus.from_columns({"word": ["a"]}, [2]), "column 'word' has 1 values for 2 tokens"),
        (lambda: Corpus.from_columns({"w": ["a"], "p": []}, [1]), "column 'p' has 0 values for 1 tokens"),
        (
            lambda: Corpus.from_columns({"w": ["a"]}, [1], ["X", "Y"]),
            "column 'label' has 2 values for 1 tokens",
        ),
        (lambda: Corpus.from_sequences([["a"]]).with_labels([]), "column 'label' has 0 values for 1 tokens"),
        (
            lambda: Corpus.from_sequences([["a"]], []),
            "1 sequences but labels for 0; give a list of labels each",
        ),
        (
            lambda: Corpus.from_sequences([["a"], ["b", "c"]], [["X"], ["Y"]]),
            r"sequence 1 \(from 0\) has 2 tokens and 1 labels; give one label per token",
        ),
        (
            lambda: Corpus.from_columns({}, [2], bags=Bags(*map(np.array, ([0, 0], [], [])), Vocabulary([]))),
            "the attributes are given for 1 of 2 tokens; give a list of attributes per token",
        ),
    ],
)
def test_what_does_not_fit_is_an_error(make, message):
    with pytest.raises(DataError, match=message):
        make()


def test_columns_share_their_vocabulary_when_cut():
    column = Column.of(["a", "b", "a"])
    assert column.take(np.array([2, 1])).strings() == ["a", "b"]
    assert column.take(np.array([1])).vocabulary is column.vocabulary
    assert column.strings(1) == ["b", "a"]
    assert column.strings(0, 2) == ["a", "b"]


def test_it_shows_its_size():
    corpus = Corpus.from_columns({"word": ["a"], "pos": ["b"]}, [1], ["X"])
    assert repr(corpus) == "Corpus(1 sequences, 1 tokens, word/pos, 1 labels)"
    assert repr(Corpus.from_sequences([])) == "Corpus(0 sequences, 0 tokens, word)"


def test_joined_corpora_keep_columns_labels_and_order():
    one = Corpus.from_columns({"word": ["a", "b"], "pos": ["N", "V"]}, [1, 1], ["x", "y"])
    two = Corpus.from_columns({"word": ["c"], "pos": ["N"]}, [1], ["x"])
    both = Corpus.joined([one, two])
    assert both.token_sequences() == [["a"], ["b"], ["c"]]
    assert both.columns["pos"].strings() == ["N", "V", "N"]
    assert both.label_sequences() == [["x"], ["y"], ["x"]]
    assert both.columns["word"].vocabulary.names == ("a", "b", "c")
    assert Corpus.joined([one, two.with_labels(None)]).labels is None
    assert Corpus.joined([one.select([1]), two, two]).token_sequences() == [["b"], ["c"], ["c"]]
