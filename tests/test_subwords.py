"""Scores of words from scores of sub-words."""

from __future__ import annotations

import math

import numpy as np
import pytest

import conseq
from conseq import word_scores
from conseq.errors import ScoreError

POOL = {
    "first": lambda column: column[0],
    "last": lambda column: column[-1],
    "mean": lambda column: sum(column) / len(column),
    "sum": sum,
    "max": max,
}


def naive(logits, word_ids, how, log_softmax, n_words):
    """The definition, number by number."""
    result = []
    for word in range(n_words):
        rows = [row for row, owner in zip(logits.tolist(), word_ids, strict=True) if owner == word]
        if log_softmax:
            rows = [[x - math.log(sum(map(math.exp, row))) for x in row] for row in rows]
        result.append(
            [POOL[how](list(column)) for column in zip(*rows, strict=True)] or [0.0] * logits.shape[1]
        )
    return np.array(result)


def random_case(seed):
    """Logits and word ids with special tokens at both ends; some words have no sub-word."""
    rng = np.random.default_rng(seed)
    n_words, size = int(rng.integers(1, 6)), int(rng.integers(1, 5))
    word_ids = [None, *np.repeat(np.arange(n_words), rng.integers(0, 4, n_words)).tolist(), None]
    return rng.normal(0, 3, (len(word_ids), size)), word_ids, n_words


@pytest.mark.parametrize("how", POOL)
@pytest.mark.parametrize("log_softmax", [True, False])
def test_each_way_is_what_it_says(how, log_softmax):
    for seed in range(100):
        logits, word_ids, n_words = random_case(seed)
        found = word_scores(logits, word_ids, how, log_softmax, n_words, missing="zeros")
        wanted = naive(logits, word_ids, how, log_softmax, n_words)
        np.testing.assert_allclose(found, wanted, atol=1e-12, err_msg=f"seed {seed}")


@pytest.mark.parametrize("how", ["first", "last", "mean", "sum"])
def test_log_softmax_does_not_change_the_best_labels(how):
    for seed in range(50):
        logits, word_ids, n_words = random_case(seed)
        pairwise = np.random.default_rng(seed).normal(0, 2, (logits.shape[1],) * 2)
        with_it, without = (
            conseq.decode(word_scores(logits, word_ids, how, flag, n_words, "zeros"), pairwise).labels
            for flag in (True, False)
        )
        assert with_it == without, f"seed {seed}"


def test_a_padded_batch_gives_one_array_per_sequence():
    logits = np.arange(24, dtype=float).reshape(2, 4, 3)
    ids = [[None, 0, 1, None], [0, 0, None, None]]
    found = word_scores(logits, ids, log_softmax=False)
    assert [scores.tolist() for scores in found] == [logits[0, 1:3].tolist(), logits[1, :1].tolist()]
    as_numbers = word_scores(logits, np.array([[-100, 0, 1, -100], [0, 0, -1, -1]]), log_softmax=False)
    assert [scores.tolist() for scores in as_numbers] == [scores.tolist() for scores in found]
    ragged = word_scores([logits[0], logits[1, :2]], [ids[0], ids[1][:2]], n_words=[2, 1], log_softmax=False)
    assert [scores.tolist() for scores in ragged] == [scores.tolist() for scores in found]


def test_nothing_in_nothing_out():
    assert word_scores(np.empty((0, 3)), []).shape == (0, 3)
    assert word_scores(np.zeros((2, 3)), [None, None]).shape == (0, 3)
    assert word_scores([], []) == []


def test_huge_logits_and_forbidden_labels_stay_finite_and_forbidden():
    found = word_scores([[1e4, 0.0, -np.inf], [-np.inf] * 3], [0, 1])
    assert found.tolist() == [[0.0, -1e4, -np.inf], [-np.inf] * 3]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros((2, 2)), [0, 2]), r"word 1 \(from 0\) of 3 has no sub-word in word_ids"),
        ((np.zeros((2, 2)), [0, 1], "first", True, 3), r"word 2 \(from 0\) of 3 has no sub-word"),
        ((np.zeros((2, 2)), [0, 5], "first", True, 3), r"has the word 5 \(from 0\) and n_words is 3"),
        ((np.zeros((2, 2)), [0]), "logits has 2 rows and word_ids 1 entries"),
        ((np.zeros(2), [0, 1]), r"logits has the shape \(2,\); give sub-words by labels"),
        ((np.zeros((1, 2, 2)), [0, 1]), r"logits has the shape \(1, 2, 2\)"),
        (([["a"]], [0]), "logits is not an array of numbers"),
        (([[0.0, np.nan]], [0]), r"logits, sub-word 0 for label 1 \(both from 0\): the score is nan"),
        (([np.zeros((1, 2)), [[0.0, np.inf]]], [[0], [0]]), r"logits\[1\], sub-word 0 for label 1"),
        ((np.zeros((1, 2)), [0], "median"), "how is 'median'; choose one of first, last, mean, sum, max"),
        ((np.zeros((1, 2)), [0], "first", True, None, "drop"), "missing is 'drop'; choose one of error"),
        ((np.zeros((2, 1, 2)), [[0]]), "logits for 2 sequences, 1 lists of word ids"),
        ((np.zeros((2, 1, 2)), [[0], [0]], "first", True, 1), "n_words=1; give as many of each"),
    ],
)
def test_mistakes_are_one_sentence(arguments, message):
    with pytest.raises(ScoreError, match=message):
        word_scores(*arguments)
