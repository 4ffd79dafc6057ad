"""Scores of sub-words, as transformers give them, turned into scores of words.

logits[n,Y], the word of each sub-word ─→ word_scores ─→ [words,Y] ─→ decode
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from conseq.dtypes import Floats, Ints
from conseq.errors import ScoreError
from conseq.potentials import numbers

WordIds = Sequence[int | None]

HOW = ("first", "last", "mean", "sum", "max")
"""What a word's scores may be made of: one of its sub-words, or all of them."""
MISSING = ("error", "zeros")


def word_scores(
    logits: Any,
    word_ids: Any,
    how: str = "first",
    log_softmax: bool = True,
    n_words: int | Sequence[int] | None = None,
    missing: str = "error",
) -> Any:
    """The scores of words from those of their sub-words, [n,Y] ─→ [words,Y]; a list of such for a batch.

    logits       [n,Y], scores of sub-words; [N,n,Y] or a list for a batch
    word_ids     the word of each sub-word from 0, as `BatchEncoding.word_ids()` of Hugging Face's tokenizers
                 gives it; None or a negative number for special tokens and padding. A list per sequence of a
                 batch
    how          the scores of the first or last sub-word, or the mean, sum or maximum over all of them
    log_softmax  turn the scores of each sub-word into log-probabilities first. With any `how` but max this
                 shifts all labels of a word alike: the best labels stay the same, and their score becomes a
                 log-probability
    n_words      the number of words, where a truncated input lacks some (a list for a batch)
    missing      what to do with a word that has no sub-word: 'error', or 'zeros' to prefer no label

    >>> word_scores([[9, 9], [0, 1], [2, 0], [4, 3]], [None, 0, 0, 1], "mean", log_softmax=False).tolist()
    [[1.0, 0.5], [4.0, 3.0]]
    """
    for name, value, choices in (("how", how, HOW), ("missing", missing, MISSING)):
        if value not in choices:
            raise ScoreError(f"{name} is {value!r}; choose one of {', '.join(choices)}")
    if len(word_ids) == 0:
        batch = getattr(logits, "ndim", 3) == 3
    else:
        batch = np.ndim(word_ids[0]) == 1  # a list of word ids per sequence
    if not batch:
        return _gather(*_checked(logits, word_ids, n_words, missing, ""), how, log_softmax)
    counts: Any = [None] * len(word_ids) if n_words is None else n_words
    if np.ndim(counts) != 1 or not len(logits) == len(word_ids) == len(counts):
        raise ScoreError(
            f"the batch has logits for {len(logits)} sequences, {len(word_ids)} lists of word ids and "
            f"n_words={n_words}; give as many of each, n_words as a list"
        )
    given = enumerate(zip(logits, word_ids, counts, strict=True))
    checked = (_checked(*one, missing, f"[{i}]") for i, one in given)
    return [_gather(*one, how, log_softmax) for one in checked]


def _checked(
    logits: Any, word_ids: WordIds, n_words: Any, missing: str, which: str
) -> tuple[Floats, Ints, int]:
    """The scores of the sub-words that belong to a word, their words, and the number of words."""
    scores = _scores(logits, which)
    words = np.array([-1 if word is None else int(word) for word in word_ids], dtype=np.int64)
    if len(scores) != len(words):
        raise ScoreError(
            f"logits{which} has {len(scores)} rows and word_ids{which} {len(words)} entries; "
            "give both for the same sub-words, special tokens included"
        )
    size = int(words.max(initial=-1)) + 1 if n_words is None else int(n_words)
    if words.max(initial=-1) >= size:
        raise ScoreError(
            f"word_ids{which} has the word {words.max()} (from 0) and n_words is {size}; raise n_words"
        )
    absent = np.setdiff1d(np.arange(size), words)
    if len(absent) and missing == "error":
        raise ScoreError(
            f"word {absent[0]} (from 0) of {size} has no sub-word in word_ids{which}, as if it were cut off; "
            "give it one, or missing='zeros' to prefer no label there"
        )
    return scores[words >= 0], words[words >= 0], size


def _scores(logits: Any, which: str) -> Floats:
    scores = numbers(f"logits{which}", logits)
    if scores.ndim != 2:
        raise ScoreError(f"logits{which} has the shape {scores.shape}; give sub-words by labels")
    unusable = np.isnan(scores) | (scores == np.inf)
    if unusable.any():
        row, label = np.argwhere(unusable)[0].tolist()
        raise ScoreError(
            f"logits{which}, sub-word {row} for label {label} (both from 0): the score is "
            f"{scores[row, label]}; give a number"
        )
    return scores


def _log_softmax(scores: Floats) -> Floats:
    """x − log Σ exp x of each row; a row of −inf stays."""
    top = scores.max(axis=1, keepdims=True, initial=-np.inf)
    moved = scores - np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        total = np.log(np.exp(moved).sum(axis=1, keepdims=True))
    return moved - np.where(np.isfinite(total), total, 0.0)


def _gather(scores: Floats, words: Ints, size: int, how: str, log_softmax: bool) -> Floats:
    """The rows of each word as one row; zeros for a word without any."""
    scores = _log_softmax(scores) if log_softmax else scores
    result = np.zeros((size, scores.shape[1]))
    if how in ("first", "last"):
        order = slice(None) if how == "first" else slice(None, None, -1)
        found, place = np.unique(words[order], return_index=True)
        result[found] = scores[order][place]
    elif how == "max":
        result[words] = -np.inf
        np.maximum.at(result, words, scores)
    else:
        np.add.at(result, words, scores)
        if how == "mean":
            result /= np.maximum(np.bincount(words, minlength=size), 1)[:, None]
    return result
