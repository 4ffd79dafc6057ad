"""Labels that the data or the user demands become masks over tokens and labels."""

from __future__ import annotations

import numpy as np
import pytest

from conseq.corpus import Corpus
from conseq.errors import DataError, SchemaError
from conseq.labeller.allowed import allowed_mask
from conseq.schema import Schema, Scheme

SCHEMA = Schema(["O", "B-X", "I-X", "B-Y"], "bio")


def corpus(*labels: str) -> Corpus:
    return Corpus.from_sequences([["w"] * len(labels)], [list(labels)])


def test_nothing_demanded_is_no_mask() -> None:
    assert allowed_mask(corpus("O", "B-X"), SCHEMA, None, partial=False) is None


def test_forced_labels_and_open_ones() -> None:
    mask = allowed_mask(corpus("B-X", "", "O"), SCHEMA, None, partial=True)
    assert mask is not None
    assert mask.tolist() == [[False, True, False, False], [True] * 4, [True, False, False, False]]


def test_an_inner_label_of_iob1_may_begin_a_segment() -> None:
    mask = allowed_mask(corpus("I-X", "I-Y", "B-X"), SCHEMA, None, partial=True, written=Scheme.IOB1)
    assert mask is not None
    assert [np.flatnonzero(row).tolist() for row in mask] == [[1, 2], [3], [1]]


def test_allowed_sets_and_forced_labels_meet() -> None:
    allowed = [[{"O", "B-X"}, None]]
    mask = allowed_mask(corpus("", "B-Y"), SCHEMA, allowed, partial=True)
    assert mask is not None
    assert [np.flatnonzero(row).tolist() for row in mask] == [[0, 1], [3]]


@pytest.mark.parametrize(
    ("labels", "allowed", "error", "says"),
    [
        (("B-Z",), None, SchemaError, "does not know the label 'B-Z'; it knows: O, B-X"),
        (("O",), [[["Q"]]], SchemaError, "does not know the label 'Q'"),
        (("O",), [], DataError, "1 sequences but allowed labels for 0"),
        (("O", "O"), [[None]], DataError, "has 2 tokens, allowed labels for 1"),
    ],
)
def test_what_does_not_fit_is_said(labels, allowed, error, says) -> None:
    with pytest.raises(error, match=says):
        allowed_mask(corpus(*labels), SCHEMA, allowed, partial=True)
