"""`shards.py`, `shelf.py`: what is written is there again, and a labeller learns the same from it."""

from __future__ import annotations

import numpy as np
import pytest

import conseq
from conseq import Corpus, SequenceLabeller, Shards
from conseq.corpus import Bags
from conseq.datasets import citations
from conseq.errors import ConseqError, DataError
from conseq.shelf import Shelf
from conseq.vocabulary import Vocabulary

DATA = citations(90, seed=3)


def in_batches(corpus, tokens):
    """Corpora with vocabularies of their own, as a stream of a file gives them."""
    for _, part in corpus.batches(tokens):
        columns = {name: column.strings() for name, column in part.columns.items()}
        yield Corpus.from_columns(columns, part.lengths, part.labels.strings(), bags=part.bags)


def sharded(corpus, folder, tokens=400):
    return Shards.write(in_batches(corpus, 150), folder, tokens)


def test_what_was_written_is_there_again(tmp_path):
    shards = sharded(DATA, tmp_path)
    corpora = list(shards)
    assert len(shards) == len(corpora) > 3
    assert all(corpus.n_tokens <= 400 for corpus in corpora)
    assert [s for corpus in corpora for s in corpus.token_sequences()] == DATA.token_sequences()
    assert [s for corpus in corpora for s in corpus.label_sequences()] == DATA.label_sequences()
    assert (shards.n_tokens, shards.n_sequences) == (DATA.n_tokens, len(DATA))
    used = list(dict.fromkeys(s for sequence in DATA.token_sequences() for s in sequence))
    assert list(corpora[-1].columns[DATA.token_column].vocabulary) == used


def test_attributes_with_values_are_kept(tmp_path):
    bags = Bags(
        np.array([0, 2, 3]), np.array([0, 1, 1], np.int32), np.array([1, 2, 0.5], np.float32),
        Vocabulary(["a", "b"]),
    )  # fmt: skip
    corpus = Corpus.from_columns({}, [2], ["x", "y"], bags=bags)
    (one,) = Shards.write([corpus, corpus], tmp_path)
    assert one.bags.vocabulary.decode(one.bags.ids) == ["a", "b", "b"] * 2
    assert one.bags.values.tolist() == [1, 2, 0.5] * 2
    assert one.bags.indptr.tolist() == [0, 2, 3, 5, 6]
    assert (
        SequenceLabeller(n_jobs=1).fit(Shards.write([corpus] * 5, tmp_path / "more", 4)).model_.weights.size
    )


@pytest.mark.parametrize("features", ["fields", "ner"])
def test_a_labeller_learns_from_shards_what_it_learns_from_all(tmp_path, features):
    options = {"features": features, "c2": 0.5, "n_jobs": 2}
    whole = SequenceLabeller(**options).fit(DATA)
    parts = SequenceLabeller(**options).fit(sharded(DATA, tmp_path))
    assert parts.schema_.labels == whole.schema_.labels
    assert parts.extractor_.names() == whole.extractor_.names()
    ours, theirs = parts.report_.training, whole.report_.training
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-3)
    other = citations(40, seed=4)
    assert parts.predict(other) == whole.predict(other)


@pytest.mark.parametrize("algorithm", ["ap", "adagrad"])
def test_online_algorithms_go_through_the_shards(tmp_path, algorithm):
    options = {"features": "fields", "algorithm": algorithm, "max_iterations": 8, "n_jobs": 1}
    one = SequenceLabeller(**options).fit(sharded(DATA, tmp_path / "one", 10**9))
    whole = SequenceLabeller(**options).fit(DATA)
    assert np.array_equal(one.model_.weights, whole.model_.weights)
    shards = sharded(DATA, tmp_path / "many")
    many, again = (SequenceLabeller(**options).fit(shards) for _ in range(2))
    assert np.array_equal(many.model_.weights, again.model_.weights)
    assert many.score(DATA) > 0.97


def test_iob1_is_read_over_all_shards(tmp_path):
    """The first part alone is BIO; in all of them together I- begins more segments than B- does."""
    labels = [["O", "B-x", "O"], *[["O", "I-x", "I-x"]] * 4, ["I-x", "B-x", "O"]]
    iob1 = Corpus.from_sequences([["a", "b", "c"]] * 6, labels)
    shards = Shards.write(in_batches(iob1, 3), tmp_path, 3)
    parts, whole = (SequenceLabeller(n_jobs=1).fit(data) for data in (shards, iob1))
    assert len(shards) == 6
    assert str(parts.source_scheme_) == str(whole.source_scheme_) == "iob1"
    assert parts.schema_.labels == whole.schema_.labels


def test_rules_come_from_development_data(tmp_path):
    shards, other = sharded(DATA, tmp_path), citations(60, seed=9)
    with pytest.raises(ConseqError, match="set folds to 0 and give development data"):
        SequenceLabeller(constraints="learn").fit(shards)
    options = {"constraints": "learn", "folds": 0, "max_iterations": 5, "n_jobs": 1}
    assert SequenceLabeller(**options).fit(shards, development=other).learned_ is not None


def test_a_missing_label_is_named_by_its_sequence(tmp_path):
    good = Corpus.from_sequences([["a"], ["b"]], [["x"], ["y"]])
    bad = Corpus.from_sequences([["a"], ["b"]], [["x"], [""]])
    with pytest.raises(DataError, match=r"sequence 3 \(from 0\) has a token without a label"):
        Shards.write([good, bad], tmp_path)


def test_columns_must_stay_the_same(tmp_path):
    one = Corpus.from_columns({"word": ["a"]}, [1], ["x"])
    two = Corpus.from_columns({"word": ["a"], "pos": ["b"]}, [1], ["x"])
    with pytest.raises(DataError, match="the columns change from word to word, pos"):
        Shards.write([one, two], tmp_path)


def test_nothing_to_learn_from(tmp_path):
    with pytest.raises(DataError, match="nothing to learn from"):
        SequenceLabeller().fit(Shards.write([], tmp_path))


def test_a_shelf_that_cannot_be_written_says_so(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ConseqError, match="needs room there"):
        Shelf(tmp_path / "file").put({"a": np.arange(3)})


@pytest.mark.parametrize("size", [0, 3, 5000])
def test_a_shelf_gives_arrays_that_can_be_written_to(tmp_path, size):
    shelf = Shelf(tmp_path)
    shelf.put({"a": np.arange(size), "b.c": np.zeros((2, 0), np.int32)})
    found = shelf.get(0)
    assert type(found["a"]) is np.ndarray
    found["a"] += 1
    assert shelf.get(0)["a"].tolist() == list(range(size))
    assert found["b.c"].shape == (2, 0)


def test_it_is_part_of_the_package():
    assert conseq.Shards is Shards
