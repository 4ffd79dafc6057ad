"""Class trigrams (Canisius et al. 2006): every token is classified into the labels of three, so each label is
predicted three times, and the predictions are reconciled.

    labelled Corpus ─→ TrigramClasses, ids[T] ─→ base.fit(rows, ids)          (any classifier)
    rows ─→ distributions(base, rows) ─→ Predictions.of ─→ voting, csinf, oracle ─→ label ids[T]

    voting   the majority of the three predictions, ties by confidence
    csinf    constraint satisfaction inference: the labels that keep the largest weight of predicted n-grams
    oracle   the right label wherever it is predicted at all: what no inference can surpass

The baseline of the paper is the winner of a base that was trained with single labels.
Axes: T tokens, N sequences, Y labels, K trigram classes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from conseq.corpus import Corpus
from conseq.dtypes import Floats, Ids, Ints
from conseq.errors import DataError, ScoreError
from conseq.kernels import csinf as kernel
from conseq.kernels.index import build, factorise, lookup
from conseq.models.distributions import Distributions
from conseq.threads import balanced, map_chunks
from conseq.vocabulary import Vocabulary

OUTSIDE = -1
"""No label: a boundary mark, or a token beyond the ends."""
SPANS = ((0, 3), (0, 2), (1, 3), (0, 1), (1, 2), (2, 3))
"""The constraints of a trigram are its n-grams: from which of its places up to which."""
TRIGRAM, LEFT, RIGHT, SINGLE = 0, 1, 2, 3
"""Columns of weights: the trigram, its bigrams, the first of its unigrams."""
TOKENS_AT_ONCE = 50_000


@dataclass(frozen=True, eq=False)
class TrigramClasses:
    """The trigrams of labels that were seen, in order of first sight; class k is parts[k].

    >>> classes, ids = TrigramClasses.of(Corpus.from_sequences([["x", "y"], ["z"]], [["A", "B"], ["A"]]))
    >>> classes.names(), ids.tolist()
    (['_ A B', 'A B _', '_ A _'], [0, 1, 2])
    """

    labels: Vocabulary  # [Y]
    parts: Ids  # [K,3]: the labels before, at and after a token; OUTSIDE beyond the ends

    @classmethod
    def of(cls, corpus: Corpus) -> tuple[TrigramClasses, Ids]:
        """The classes of a labelled corpus and the class of each of its tokens, [T]."""
        column = corpus.full_labels()
        rows = _trigrams(column.ids, corpus.offsets)
        ids, first = factorise(_keys(rows, len(column.vocabulary)))
        return cls(column.vocabulary, rows[first]), ids

    def encode(self, corpus: Corpus) -> Ids:
        """The class of each token of a labelled corpus, −1 if it was not seen, [T]."""
        rows = _trigrams(self.label_ids(corpus), corpus.offsets)
        keys, known = _keys(rows, len(self.labels)), _keys(self.parts, len(self.labels))
        keys[(rows < OUTSIDE).any(axis=1)] = -1
        return lookup(keys, known, build(known))

    def label_ids(self, corpus: Corpus) -> Ids:
        """The labels of a corpus as ids of these, −2 for one that is not known, [T]."""
        column = corpus.full_labels()
        ids = self.labels.encode(column.vocabulary)
        return np.where(ids < 0, OUTSIDE - 1, ids).astype(np.int32)[column.ids]

    def shares(self, found: Distributions) -> Floats:
        """The share of the classes that have each label at the token itself, [T,Y]."""
        shares = np.zeros((len(found), len(self.labels)))
        row = np.repeat(np.arange(len(found)), np.diff(found.indptr))
        np.add.at(shares, (row, self.parts[found.cls, 1]), found.share)
        return shares

    def names(self) -> list[str]:
        """Each class as text, _ beyond the ends."""
        names = [*self.labels, "_"]
        return [" ".join(names[y] for y in row) for row in self.parts.tolist()]

    def __len__(self) -> int:
        return len(self.parts)


@dataclass(frozen=True, eq=False)
class Predictions:
    """The trigrams predicted for the tokens of N sequences, with the weights of their n-grams.

    >>> corpus = Corpus.from_sequences([["x", "y"], ["z"]], [["A", "B"], ["A"]])
    >>> classes, _ = TrigramClasses.of(corpus)
    >>> found = Distributions.from_dense([[0.9, 0.0, 0.1], [0.4, 0.6, 0.0], [0.0, 0.0, 1.0]], [0, 1, 2])
    >>> predictions = Predictions.of(classes, found, corpus.offsets)
    >>> predictions.names(predictions.csinf()), predictions.sequences()
    (['A', 'B', 'A'], [1, 1])
    """

    labels: Vocabulary  # [Y]
    offsets: Ints  # [N+1]
    predicted: Ids  # [T,3], OUTSIDE for boundary marks and beyond the ends
    weights: Floats  # [T,6], of the constraints (SPANS); 0 for those that are dropped
    confidence: Floats  # [T], the share of the predicted trigram
    domain: Ids  # [T,3], the labels proposed for a token, its own trigram's first; then OUTSIDE

    @classmethod
    def of(cls, classes: TrigramClasses, found: Distributions, offsets: ArrayLike) -> Predictions:
        """From the answers of a base whose classes are the numbers of trigram classes.

        weight of an n-gram = Σ share of the classes that have the same labels as the winner at its places

        Of the constraints of a predicted trigram (itself, its bigrams, its unigrams) those are dropped that
        reach beyond the ends of the sequence or have a boundary mark inside it.
        """
        bounds = np.ascontiguousarray(offsets, dtype=np.int64)
        n_tokens = len(found)
        if bounds.ndim != 1 or not len(bounds) or bounds[0] != 0 or bounds[-1] != n_tokens:
            raise ScoreError(f"offsets must rise from 0 to the {n_tokens} tokens that were classified")
        parts = classes.parts[_numbers(found, len(classes))]
        beyond = _trigrams(np.zeros(n_tokens, dtype=np.int32), bounds) == OUTSIDE
        predicted = np.where(beyond, OUTSIDE, parts[found.winner]).astype(np.int32)
        row = np.repeat(np.arange(n_tokens), np.diff(found.indptr))
        same, weights = parts[found.cls] == parts[found.winner[row]], np.empty((n_tokens, len(SPANS)))
        for c, (a, b) in enumerate(SPANS):
            agreeing = np.bincount(row, found.share * same[:, a:b].all(axis=1), n_tokens)
            weights[:, c] = np.where((predicted[:, a:b] == OUTSIDE).any(axis=1), 0.0, agreeing)
        domain = _domain(_proposed(predicted))
        return cls(classes.labels, bounds, predicted, weights, found.confidence, domain)

    def sharpened(self, sharpness: float) -> Predictions:
        """With each weight to this power: 1 leaves them as they are in the paper, more makes n-grams that
        most neighbours agree on count more against many that few agree on."""
        check_sharpness(sharpness)
        return self if sharpness == 1 else replace(self, weights=self.weights**sharpness)

    @property
    def n_tokens(self) -> int:
        return len(self.predicted)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def names(self, ids: Ids) -> list[str]:
        """The labels behind ids."""
        return self.labels.decode(ids)

    # ── ways to choose ──────────────────────────────────────────────────────────────────────────

    def voting(self) -> Ids:
        """The label that most of the (up to three) predictions for a token propose, [T].

        Of labels with as many votes the one whose trigram has the largest confidence; if that is equal, too,
        the one of the token's own trigram, then of the trigram before it.
        """
        proposed, sure = _proposed(self.predicted), self.confidence
        confidence = np.stack([sure, np.roll(sure, 1), np.roll(sure, -1)], axis=1)
        votes = (proposed[:, :, None] == proposed[:, None, :]).sum(axis=2)
        votes = np.where(proposed == OUTSIDE, 0, votes)
        most = votes == votes.max(axis=1, keepdims=True)
        chosen = np.where(most, confidence, -np.inf).argmax(axis=1)
        return proposed[np.arange(self.n_tokens), chosen]

    def csinf(self, threads: int = 1) -> Ids:
        """The labels of the largest weight of satisfied constraints, exact, [T].

        Of equal ones the last token takes the label that stands first in its domain (its own trigram's, that
        of the trigram before it, that of the one after it), then the last but one, and so on.
        """
        labels, _ = self.solve(threads)
        return labels

    def solve(self, threads: int = 1) -> tuple[Ids, Floats]:
        """The labels of `csinf`, [T], and the weight that they satisfy, [N]."""
        places, totals = np.empty(self.n_tokens, dtype=np.int64), np.empty(len(self))

        def work(first: int, last: int) -> None:
            bounds = self.offsets[first : last + 1]
            part = slice(int(bounds[0]), int(bounds[-1]))
            kernel.solve(self._gains(part), bounds - bounds[0], places[part], totals[first:last])

        parts = max(threads, self.n_tokens // TOKENS_AT_ONCE)
        map_chunks(work, balanced(self.offsets, parts), threads)
        return self.domain[np.arange(self.n_tokens), places], totals

    def _gains(self, part: slice) -> Floats:
        """What the labels number i, j, k proposed for the tokens t−2, t−1, t satisfy that those before t do
        not, for tokens of whole sequences, [·,3,3,3]; −inf where there is no label number k.

        What is taken from a token of another sequence weighs nothing, for it has OUTSIDE at its place.
        """
        here, weights, own = self.predicted[part], self.weights[part], self.domain[part]
        before, held = np.roll(here, 1, axis=0), np.roll(weights, 1, axis=0)  # the trigram of t−1
        previous = np.roll(own, 1, axis=0)
        first, middle, last = before.T[:, :, None] == (np.roll(own, 2, axis=0), previous, own)
        left, right = here.T[:2, :, None] == (previous, own)
        after = np.roll(here[:, 0], -1)[:, None] == own
        single = np.roll(weights[:, SINGLE], -1)[:, None] * after
        single = single + weights[:, SINGLE + 1, None] * right + held[:, SINGLE + 2, None] * last
        ends, begins = middle[:, :, None] & last[:, None, :], left[:, :, None] & right[:, None, :]
        double = held[:, RIGHT, None, None] * ends + weights[:, LEFT, None, None] * begins
        triple = held[:, TRIGRAM, None, None, None] * (first[:, :, None, None] & ends[:, None])
        gains = triple + (double + single[:, None, :])[:, None]
        return np.where((own == OUTSIDE)[:, None, None, :], -np.inf, gains)

    def oracle(self, gold: ArrayLike) -> Ids:
        """The right label (gold[T], as `TrigramClasses.label_ids` gives them) wherever a trigram proposes it.

        Elsewhere that of the token's own trigram, which is wrong, as any would be.
        """
        right = np.asarray(gold, dtype=np.int32)
        if right.shape != (self.n_tokens,):
            raise DataError(f"there are {self.n_tokens} tokens and gold labels of shape {right.shape}")
        return np.where((self.domain == right[:, None]).any(axis=1), right, self.domain[:, 0])

    # ── how much there is to choose from ────────────────────────────────────────────────────────

    def sequences(self) -> list[int]:
        """How many labellings of each sequence the domains allow, [N]: the product of their sizes."""
        sizes = (self.domain != OUTSIDE).sum(axis=1).tolist()
        return [math.prod(sizes[a:b]) for a, b in pairwise(self.offsets.tolist())]

    def mean_sequences(self) -> float:
        """The average number of possible labellings per sequence (table 2 of the paper)."""
        return sum(self.sequences()) / len(self) if len(self) else 0.0


def _proposed(predicted: Ids) -> Ids:
    """What each token's own trigram, the one before and the one after say of it, [T,3].

    Those of other sequences have OUTSIDE for it.
    """
    first, middle, last = predicted.T
    return np.stack([middle, np.roll(last, 1), np.roll(first, -1)], axis=1)


def _domain(proposed: Ids) -> Ids:
    """The different labels of each row, first ones first, then OUTSIDE, [T,3]."""
    own, before, after = proposed.T
    new = proposed != OUTSIDE
    new[:, 1] &= before != own
    new[:, 2] &= (after != own) & (after != before)
    order = np.argsort(~new, axis=1, kind="stable")
    return np.take_along_axis(np.where(new, proposed, OUTSIDE), order, axis=1)


def check_sharpness(sharpness: float) -> None:
    """Raise with one sentence if it cannot be a power of weights."""
    if not 0 < sharpness < math.inf:
        raise ScoreError(f"sharpness is {sharpness}; give a number above 0, 1 for plain weights")


def _trigrams(ids: Ids, offsets: Ints) -> Ids:
    """The labels before, at and after each token, [T,3]."""
    rows = np.full((len(ids), 3), OUTSIDE, dtype=np.int32)
    rows[:, 1] = ids
    rows[1:, 0], rows[:-1, 2] = ids[:-1], ids[1:]
    filled = np.diff(offsets) > 0
    rows[offsets[:-1][filled], 0] = OUTSIDE
    rows[offsets[1:][filled] - 1, 2] = OUTSIDE
    return rows


def _keys(rows: Ids, size: int) -> Ints:
    """A number for each trigram of labels −1 … size−1."""
    wide = rows.astype(np.int64) + 1
    return (wide[:, 0] * (size + 1) + wide[:, 1]) * (size + 1) + wide[:, 2]


def _numbers(found: Distributions, n_classes: int) -> Ints:
    """The classes of a base as numbers of trigram classes, [K]."""
    try:
        numbers = np.array([int(name) for name in found.classes], dtype=np.int64)
    except (TypeError, ValueError):
        numbers = np.array([-1])
    if len(numbers) and not 0 <= numbers.min() <= numbers.max() < n_classes:
        raise ScoreError(
            f"the base knows a class that is none of the {n_classes} trigram classes; "
            "train it with their numbers"
        )
    return numbers
