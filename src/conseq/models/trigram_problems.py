"""Predicted trigrams of labels as problems of the common core, one per sequence.

    Predictions, Program ─→ TrigramProblems ─→ [i] Problem, for any decoder
                                            ─→ labels ↔ states, of all sequences at once

A state is a label and whether it completes the first two labels of its token's predicted trigram:

    (x_t, m_t),   m_t = 1 just if (x_{t−1}, x_t) are the first two labels of the trigram of token t

so that the step into t+1 knows whether the whole trigram is satisfied. Each labelling has exactly one path of
states, whose score is the weight that it satisfies.

Axes: T tokens, N sequences, Y labels, S states of a sequence; each sequence has states of its own, for the
labels that are proposed in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from conseq.constraints.program import Program
from conseq.models.trigrams import LEFT, OUTSIDE, RIGHT, SINGLE, TRIGRAM, Predictions
from conseq.potentials import Potentials
from conseq.problem import Problem

Bools = NDArray[np.bool_]
Ids = NDArray[np.int32]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TrigramProblems:
    """The problems of the sequences of some predictions; each is made when it is asked for.

    A sequence with `any_label` may take all labels that are allowed, another one those that are proposed.
    """

    predictions: Predictions
    program: Program
    ids: Ids  # [Y], the labels of the predictions as those of the schema
    allowed: Bools | None  # [T,Y]
    any_label: Bools  # [N]

    @property
    def offsets(self) -> Ints:
        """Sequence i owns the tokens offsets[i] … offsets[i+1]−1, [N+1]."""
        return self.predictions.offsets

    def __len__(self) -> int:
        return len(self.predictions)

    def __getitem__(self, i: int) -> Problem:
        if not -len(self) <= i < len(self):
            raise IndexError(f"sequence {i} of {len(self)}")
        i %= len(self)
        return Problem(self._potentials(i), self.program, int(self.offsets[i]))

    def __iter__(self) -> Iterator[Problem]:
        return (self[i] for i in range(len(self)))

    def with_any_label(self, sequences: Ints) -> TrigramProblems:
        """The same problems where these sequences may take all labels that are allowed."""
        any_label = self.any_label.copy()
        any_label[sequences] = True
        return replace(self, any_label=any_label)

    def without_rules(self, threads: int = 1) -> Ids:
        """The best labels of each token if there were no rules, [T]."""
        return self.ids[self.predictions.csinf(threads)]

    def labels(self, states: Ids) -> Ids:
        """The labels of the states of all tokens, [T] ─→ [T]; −1 (no labelling) stays −1."""
        first = np.repeat(self._states.first[:-1], np.diff(self.offsets))
        found = self._states.label[np.where(states < 0, 0, first + states)] if len(states) else states
        return np.where(states < 0, -1, self.ids[found]).astype(np.int32)

    def states(self, labels: Ids, tokens: Bools) -> Ids:
        """The states that tokens[T] have where labels[T] are chosen from the predictions' labels, [·]."""
        before = np.roll(labels, 1)
        before[self.offsets[:-1][np.diff(self.offsets) > 0]] = OUTSIDE
        predicted = self.predictions.predicted
        marks = self._whole & (predicted[:, 0] == before) & (predicted[:, 1] == labels)
        return self._states.numbers(self._sequence[tokens], labels[tokens], marks[tokens])

    def costs(self, labels: Ids) -> Floats:
        """What labels [T] of the predictions cost each sequence: inf if one is not allowed, [N]."""
        costs = self.program.costs(self.program.violations(self.ids[labels]))
        if self.allowed is not None:
            forbidden = ~self.allowed[np.arange(len(labels)), labels]
            costs[np.unique(self._sequence[forbidden])] = np.inf
        return costs

    # ── one sequence ────────────────────────────────────────────────────────────────────────────

    def _potentials(self, i: int) -> Potentials:
        """The chain of one sequence, whose every step has scores of its own."""
        a, b = self.offsets[i : i + 2].tolist()
        if a == b:
            return Potentials.of(np.zeros((0, len(self.ids))), label_of=self.ids)
        label, mark = self._states.of_sequence(i)
        shape = b - a, len(self.ids)
        domain, predicted = self.predictions.domain[a:b], self.predictions.predicted[a:b]
        allowed = None if self.allowed is None else self.allowed[a:b]
        possible = _possible(domain, allowed, shape, bool(self.any_label[i]))
        same, weights = predicted.T[:, :, None] == label, self.predictions.weights[a:b]
        unary = np.where(possible[:, label], _singles(same, weights), -np.inf)
        steps = _steps(same, weights, mark, self._whole[a:b])
        start = np.where(mark, -np.inf, 0.0)
        return Potentials.of(unary, steps, start, kind=np.arange(b - a), label_of=self.ids[label])

    @cached_property
    def _sequence(self) -> Ints:
        """The sequence of each token, [T]."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    @cached_property
    def _whole(self) -> Bools:
        """Which trigrams have three labels, [T]."""
        return (self.predictions.predicted != OUTSIDE).all(axis=1)

    @cached_property
    def _states(self) -> _States:
        """The labels of each sequence with m = 0, then, with m = 1, the middle ones of whole trigrams."""
        size, whole = len(self.ids), np.flatnonzero(self._whole)
        every = np.arange(len(self)) * size  # some label, where nothing is allowed, for a chain of no score
        present = self._labels_present()
        present = np.unique(np.concatenate([present, np.setdiff1d(every, present // size * size)]))
        middle = np.unique(self._sequence[whole] * size + self.predictions.predicted[whole, 1])
        marked = np.intersect1d(present, middle, assume_unique=True)
        keys = [(key // size * 2 + mark) * size + key % size for mark, key in enumerate((present, marked))]
        return _States.of(np.sort(np.concatenate(keys)), len(self), size)

    def _labels_present(self) -> Ints:
        """sequence · Y + label for the labels that some token of a sequence may take, in any order."""
        size, free = len(self.ids), self.any_label[self._sequence]
        token, place = np.nonzero((self.predictions.domain != OUTSIDE) & ~free[:, None])
        label = self.predictions.domain[token, place].astype(np.int64)
        if self.allowed is None:
            every = np.flatnonzero(self.any_label)[:, None] * size + np.arange(size)
            return np.concatenate([self._sequence[token] * size + label, every.ravel()])
        kept = self.allowed[token, label]
        free = np.ones(len(free), dtype=bool)
        free[token[kept]] = False
        more, allowed = np.nonzero(self.allowed & free[:, None])
        token, label = np.concatenate([token[kept], more]), np.concatenate([label[kept], allowed])
        return self._sequence[token] * size + label


@dataclass(frozen=True, eq=False)
class _States:
    """The states of all sequences, end to end: those of sequence i are first[i] … first[i+1]−1."""

    keys: Ints  # rising, (sequence · 2 + mark) · Y + label
    first: Ints  # [N+1]
    size: int  # Y

    @classmethod
    def of(cls, keys: Ints, n_sequences: int, size: int) -> _States:
        first = np.searchsorted(keys, np.arange(n_sequences + 1) * 2 * size)
        return cls(keys, first, size)

    @cached_property
    def label(self) -> Ints:
        return self.keys % self.size

    def of_sequence(self, i: int) -> tuple[Ints, Bools]:
        """The label and the mark of each state of a sequence, [S]."""
        own = slice(*self.first[i : i + 2].tolist())
        return self.label[own], (self.keys[own] // self.size % 2).astype(bool)

    def numbers(self, sequences: Ints, labels: Ids, marks: Bools) -> Ids:
        """The states of labels with marks, counted within their sequences."""
        keys = (sequences * 2 + marks) * self.size + labels
        return (np.searchsorted(self.keys, keys) - self.first[sequences]).astype(np.int32)


def _possible(domain: Ids, allowed: Bools | None, shape: tuple[int, int], any_label: bool) -> Bools:
    """Which labels each token of a sequence may take, [T,Y]."""
    possible = np.full(shape, any_label)
    token, place = np.nonzero(domain != OUTSIDE)
    possible[token, domain[token, place]] = True
    if allowed is None:
        return possible
    both = possible & allowed
    return np.where(both.any(axis=1, keepdims=True), both, allowed)


# ── scores; same[3,T,S]: whether a state has the first, second, third label of a token's trigram ────


def _singles(same: Bools, weights: Floats) -> Floats:
    """The weight of the unigrams that each state satisfies at each token, [T,S]."""
    gains = np.where(same, weights.T[SINGLE : SINGLE + 3, :, None], 0.0)
    total = np.zeros(gains.shape[1:])
    total[:-1] += gains[0, 1:]
    total += gains[1]
    total[1:] += gains[2, :-1]
    return total


def _steps(same: Bools, weights: Floats, mark: Bools, whole: Bools) -> Floats:
    """The weight of the bigrams and trigrams that the states of t−1 and t satisfy, −inf if the second has
    another mark than it should, [T,S,S]; the first step is none."""
    first, middle, last = same
    pair = first[1:, :, None] & middle[1:, None, :]
    right = middle[:-1, :, None] & last[:-1, None, :]
    gain = weights[:-1, RIGHT, None, None] * right + weights[1:, LEFT, None, None] * pair
    gain += mark[:, None] * (weights[:-1, TRIGRAM, None] * last[:-1])[:, None, :]
    steps = np.zeros((len(whole), len(mark), len(mark)))
    steps[1:] = np.where((pair & whole[1:, None, None]) == mark, gain, -np.inf)
    return steps
