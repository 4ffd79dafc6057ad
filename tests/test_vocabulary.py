"""`vocabulary.py`: strings and their ids."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from conseq.vocabulary import UNSEEN, Vocabulary

strings = st.lists(st.sampled_from(["a", "b", "", "ä", "a b", "\n", "x" * 50]), max_size=20)


@settings(deadline=None)
@given(strings, strings)
def test_build_encode_and_decode(seen, asked):
    vocabulary, ids = Vocabulary.build(iter(seen))
    assert list(vocabulary) == list(dict.fromkeys(seen))
    assert ids.dtype == np.int32
    assert vocabulary.decode(ids) == vocabulary.decode(ids.tolist()) == seen
    found = vocabulary.encode(asked)
    assert found.dtype == np.int32
    assert found.tolist() == [list(vocabulary).index(s) if s in seen else UNSEEN for s in asked]
    assert [vocabulary.find(s) for s in asked] == found.tolist()
    assert [s in vocabulary for s in asked] == [s in seen for s in asked]


@settings(deadline=None)
@given(strings, strings)
def test_growing_keeps_the_old_ids(old, more):
    vocabulary, ids = Vocabulary.build(old)
    before = list(vocabulary)
    grown = vocabulary.extended(more)
    assert grown.decode(ids) == old
    assert set(grown) == {*old, *more}
    assert len(grown) == len(set(grown))
    assert list(vocabulary) == before


def test_looking_up_never_adds():
    vocabulary, _ = Vocabulary.build(["a"])
    vocabulary.encode(["b", "c"])
    assert "b" not in vocabulary
    assert vocabulary.find("b") == UNSEEN
    assert len(vocabulary) == 1


def test_equality_is_that_of_the_strings_in_order():
    assert Vocabulary(["a", "b"]) == Vocabulary.build(["a", "b", "a"])[0]
    assert hash(Vocabulary(["a", "b"])) == hash(Vocabulary(("a", "b")))
    assert Vocabulary(["a", "b"]) != Vocabulary(["b", "a"])
    assert Vocabulary(["a"]) != ["a"]


def test_it_shows_what_it_begins_with():
    assert repr(Vocabulary("abc")) == "Vocabulary(3: 'a', 'b', 'c')"
    assert repr(Vocabulary("abcde")) == "Vocabulary(5: 'a', 'b', 'c', 'd', …)"
    assert repr(Vocabulary([])) == "Vocabulary(0: )"
    assert Vocabulary("abc")[1] == "b"
