"""`potentials.py`: what is accepted, what is refused and how the sentence names the place."""

from __future__ import annotations

import numpy as np
import pytest

from conseq.errors import ScoreError
from conseq.potentials import Potentials

INF = np.inf


def example(**changes) -> Potentials:
    """Two sequences of 2 and 3 tokens, 2 states, 2 kinds of step."""
    given = {
        "unary": np.arange(10.0).reshape(5, 2),
        "pairwise": [[[0.0, 1.0], [2.0, 3.0]], [[10.0, 20.0], [30.0, 40.0]]],
        "start": [0.5, 0.25],
        "end": [100.0, 200.0],
        "offsets": [0, 2, 5],
        "kind": [0, 1, 0, 0, 1],
    }
    return Potentials.of(**{**given, **changes})


def test_score_sums_every_term_once():
    potentials = example()
    assert potentials.score([1, 0]) == 0.25 + 1 + 30 + 2 + 100
    assert potentials.score([0, 1, 1], i=1) == 0.5 + 4 + 1 + 7 + 40 + 9 + 200
    assert example(start=None, end=None, pairwise=None, kind=None).score([1, 0]) == 3.0


def test_one_sequence_is_a_view():
    potentials = example()
    one = potentials[1]
    assert len(one) == 1
    assert one.score([0, 1, 1]) == potentials.score([0, 1, 1], i=1)
    assert np.shares_memory(one.unary, potentials.unary)
    assert potentials[-1].n_tokens == 3
    assert [part.n_tokens for part in potentials] == [2, 3]
    with pytest.raises(IndexError):
        potentials[2]


def test_forbidden_scores_and_empty_sequences():
    potentials = example(end=[-INF, 0.0])
    assert potentials.score([0, 0]) == -INF
    assert Potentials.of(np.empty((0, 2)), end=[-INF, -INF]).score([]) == 0.0


def test_restricted_keeps_scores_and_type_where_allowed():
    potentials = example(unary=np.arange(10, dtype=np.float32).reshape(5, 2))
    allowed = np.ones((5, 2), dtype=bool)
    allowed[1, 0] = False
    restricted = potentials.restricted(allowed)
    assert restricted.unary.dtype == np.float32
    assert restricted.score([1, 0]) == -INF
    assert restricted.score([1, 1]) == potentials.score([1, 1])
    assert potentials.score([1, 0]) > -INF


def test_with_legal_masks_steps_and_both_ends():
    legal = example().with_legal([[True, False], [True, True]], [True, True], [True, False])
    assert legal.score([0, 0]) == example().score([0, 0])
    assert legal.score([0, 1, 0], i=1) == -INF
    assert legal.score([1, 1]) == -INF
    assert example().with_legal(np.ones((2, 2)), [False, True], [True, True]).score([0, 0]) == -INF


def test_types():
    assert example(unary=np.zeros((5, 2), dtype=np.float32)).unary.dtype == np.float32
    assert example(unary=np.zeros((5, 2), dtype=np.int64)).unary.dtype == np.float64
    assert example(unary=np.zeros((2, 5)).T).unary.flags.c_contiguous
    assert example(pairwise=np.zeros((2, 2)), kind=None).pairwise.shape == (1, 2, 2)


def test_labels_of_states():
    potentials = example(label_of=[7, 8])
    assert potentials.labels(np.array([1, 0, -1], dtype=np.int32)).tolist() == [8, 7, -1]
    assert example().labels(np.array([1, -1], dtype=np.int32)).tolist() == [1, -1]


def unary_with(value: float) -> np.ndarray:
    unary = np.zeros((5, 2))
    unary[2, 1] = value
    return unary


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"unary": unary_with(np.nan)},
            r"token 0 of sequence 1 \(both from 0\) for state 1: the score is nan",
        ),
        ({"unary": unary_with(INF)}, "token 0 of sequence 1 .* the score is inf; give a number, or -inf"),
        ({"pairwise": [[0.0, 0.0], [INF, 0.0]], "kind": None}, r"pairwise\[0, 1, 0\]: the score is inf"),
        ({"start": [np.nan, 0.0]}, r"start\[0\]: the score is nan"),
        ({"end": [0.0, np.inf]}, r"end\[1\]: the score is inf"),
        ({"unary": np.zeros(3)}, r"unary has the shape \(3,\); give tokens by states"),
        ({"unary": np.zeros((3, 0))}, "with at least one state"),
        ({"unary": [[1.0], [1.0, 2.0]]}, "unary is not an array of numbers"),
        ({"unary": [["a", "b"]]}, "unary is not an array of numbers"),
        (
            {"pairwise": np.zeros((3, 3))},
            r"pairwise has the shape \(1, 3, 3\); give \(1, 2, 2\) to fit unary",
        ),
        ({"pairwise": np.zeros(3)}, r"pairwise has the shape \(3,\)"),
        ({"pairwise": np.zeros((0, 2, 2))}, "pairwise has no kind of step"),
        ({"start": np.zeros(3)}, r"start has the shape \(3,\); give \(2,\) to fit unary"),
        ({"offsets": [0, 4]}, "offsets must rise from 0 to the 5 tokens of unary"),
        ({"offsets": [0, 3, 2, 5]}, "offsets must rise"),
        ({"offsets": []}, "offsets must rise"),
        ({"kind": [0, 1, 2, 0, 0]}, "kind has 0 to 2; give numbers from 0 to 1"),
        ({"kind": [0, 1]}, r"kind has the shape \(2,\); give \(5,\)"),
        ({"label_of": [0, -1]}, "label_of has -1 to 0; give numbers from 0"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_sentence(changes, sentence):
    with pytest.raises(ScoreError, match=sentence):
        example(**changes)


@pytest.mark.parametrize(
    ("states", "sentence"),
    [
        ([0], r"sequence 0 \(from 0\) has 2 tokens"),
        ([0, 2], "states 0 to 2; give 0 to 1"),
        ([-1, 0], "-1 to 0"),
    ],
)
def test_a_labelling_that_does_not_fit(states, sentence):
    with pytest.raises(ScoreError, match=sentence):
        example().score(states)


def test_masks_that_do_not_fit():
    with pytest.raises(ScoreError, match=r"allowed has the shape \(2, 2\)"):
        example().restricted(np.ones((2, 2)))
