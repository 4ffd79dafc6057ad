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

from conseq.constraints.program import Program
from conseq.dtypes import Bools, Floats, Ids, Ints
from conseq.models.trigrams import LEFT, OUTSIDE, RIGHT, SINGLE, TRIGRAM, Predictions
from conseq.potentials import Potentials
from conseq.problem import Problem


@dataclass(frozen=True, eq=False)
class TrigramProblems:
    """The problems of the sequences of some predictions; each is made when it is asked for.

    A sequence with `any_label` may take all labels that are allowed, another one those that are proposed.
    """

    predictions: Predictions
    program: Program
    ids: Ids  # [Y], the labels of the predictions as those of the schema
    allowed: Bools  # [T,Y]
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
        keys, first = self._states
        found = keys[first[self._sequence] + np.maximum(states, 0)] % len(self.ids)
        return np.where(states < 0, -1, self.ids[found]).astype(np.int32)

    def states(self, labels: Ids, tokens: Bools) -> Ids:
        """The states that tokens[T] have where labels[T] are chosen from the predictions' labels, [·]."""
        before = np.roll(labels, 1)
        before[self.offsets[:-1][np.diff(self.offsets) > 0]] = OUTSIDE
        predicted = self.predictions.predicted
        marks = self._whole & (predicted[:, 0] == before) & (predicted[:, 1] == labels)
        keys, first = self._states
        sequence = self._sequence[tokens]
        wanted = (sequence * 2 + marks[tokens]) * len(self.ids) + labels[tokens]
        return (np.searchsorted(keys, wanted) - first[sequence]).astype(np.int32)

    def costs(self, labels: Ids) -> Floats:
        """What labels [T] of the predictions cost each sequence: inf if one is not allowed, [N]."""
        costs = self.program.costs(self.program.violations(self.ids[labels]))
        forbidden = ~self.allowed[np.arange(len(labels)), labels]
        costs[self._sequence[forbidden]] = np.inf
        return costs

    # ── one sequence ────────────────────────────────────────────────────────────────────────────

    def _potentials(self, i: int) -> Potentials:
        """The chain of one sequence, whose every step has scores of its own."""
        a, b = self.offsets[i : i + 2].tolist()
        if a == b:
            return Potentials.of(np.zeros((0, len(self.ids))), label_of=self.ids)
        keys, first = self._states
        rows, label = np.divmod(keys[first[i] : first[i + 1]], len(self.ids))
        mark = rows % 2 == 1
        proposed = (self.predictions.domain[a:b, :, None] == np.arange(len(self.ids))).any(axis=1)
        allowed = self.allowed[a:b]
        possible = allowed & (proposed | self.any_label[i])
        possible = np.where(possible.any(axis=1, keepdims=True), possible, allowed)
        same = self.predictions.predicted[a:b].T[:, :, None] == label
        weights = self.predictions.weights[a:b]
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
    def _states(self) -> tuple[Ints, Ints]:
        """All states as (sequence · 2 + m) · Y + label, rising, and where each sequence's begin, [N+1].

        A sequence has its labels with m = 0, then, with m = 1, the middle ones of whole trigrams.
        """
        size, whole = len(self.ids), np.flatnonzero(self._whole)
        every = np.arange(len(self)) * size  # some label, where nothing is allowed, for a chain of no score
        present = self._labels_present()
        present = np.unique(np.concatenate([present, np.setdiff1d(every, present // size * size)]))
        middle = np.unique(self._sequence[whole] * size + self.predictions.predicted[whole, 1])
        marked = np.intersect1d(present, middle, assume_unique=True)
        keys = np.sort(
            np.concatenate([present + present // size * size, marked + (marked // size + 1) * size])
        )
        return keys, np.searchsorted(keys, np.arange(len(self) + 1) * 2 * size)

    def _labels_present(self) -> Ints:
        """sequence · Y + label for the labels that some token of a sequence may take, in any order."""
        size, free = len(self.ids), self.any_label[self._sequence]
        token, place = np.nonzero((self.predictions.domain != OUTSIDE) & ~free[:, None])
        label = self.predictions.domain[token, place]
        kept = self.allowed[token, label]
        token, label = token[kept], label[kept]
        others = np.flatnonzero(np.bincount(token, minlength=len(free)) == 0)
        sequences, first = np.unique(self._sequence[others], return_index=True)
        row, allowed = np.nonzero(np.logical_or.reduceat(self.allowed[others], first))
        return np.concatenate([self._sequence[token] * size + label, sequences[row] * size + allowed])


# ── scores; same[3,T,S]: whether a state has the first, second, third label of a token's trigram ────


def _singles(same: Bools, weights: Floats) -> Floats:
    """The weight of the unigrams that each state satisfies at each token, [T,S]."""
    first, total, last = np.where(same, weights.T[SINGLE : SINGLE + 3, :, None], 0.0)
    total[:-1] += first[1:]
    total[1:] += last[:-1]
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
