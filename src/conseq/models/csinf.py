"""Constraint satisfaction inference under rules: predicted trigrams as problems of the common core.

    Predictions, rules ─→ problems ─→ Problem (one per sequence) ─→ any decoder ─→ Decoding
                          decode   ─→ the same with a decoder's name, for all sequences

A state is a label and whether it completes the first two labels of its token's predicted trigram:

    (x_t, m_t),   m_t = 1 just if (x_{t−1}, x_t) are the first two labels of the trigram of token t

so that the step into t+1 knows whether the whole trigram is satisfied. Each labelling has exactly one path of
states, and its score is the weight that it satisfies, less the penalties of the rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from conseq.constraints.language import Rules, as_constraints
from conseq.constraints.program import Program
from conseq.corpus import Corpus
from conseq.decoders.auto import find_decoder
from conseq.decoders.base import NO_LIMITS, Decoder, Limits
from conseq.errors import DataError, SchemaError
from conseq.kernels.csinf import LEFT, OUTSIDE, RIGHT, SINGLE, TRIGRAM
from conseq.models.trigrams import Predictions
from conseq.potentials import Potentials
from conseq.problem import Decoding, Problem
from conseq.schema import Schema

Ids = NDArray[np.int32]
Floats = NDArray[np.float64]


def decode(
    predictions: Predictions,
    constraints: Rules = None,
    decoder: str | Decoder = "auto",
    *,
    schema: Schema | None = None,
    corpus: Corpus | None = None,
    any_label: bool = False,
    allowed: NDArray[np.bool_] | None = None,
    limits: Limits = NO_LIMITS,
) -> list[Decoding]:
    """The labels of the largest satisfied weight less penalties, of each sequence; see `problems`."""
    chosen = find_decoder(decoder)
    made = problems(
        predictions, constraints, schema=schema, corpus=corpus, any_label=any_label, allowed=allowed
    )
    return [chosen.decode(problem, limits=limits) for problem in made]


def problems(
    predictions: Predictions,
    constraints: Rules = None,
    *,
    schema: Schema | None = None,
    corpus: Corpus | None = None,
    any_label: bool = False,
    allowed: NDArray[np.bool_] | None = None,
) -> Iterator[Problem]:
    """The problem of each sequence, made when it is asked for.

    constraints  the text of rules or rules, hard or soft; a penalty is weighed against shares of classes
    schema       the labels and how they are written; None looks at the labels
    corpus       the tokens, for rules that look at them
    any_label    a token may take every label, not only those that are proposed for it (a hard rule may leave
                 nothing of those)
    allowed      which labels of the schema each token may take, [T,Y]; a token for which none of those is
                 proposed may take any of them

    >>> from conseq.models.distributions import Distributions
    >>> from conseq.models.trigrams import TrigramClasses
    >>> classes, ids = TrigramClasses.of(Corpus.from_sequences([["x", "y"]], [["A", "B"]]))
    >>> found = Distributions.from_dense(np.eye(2), [0, 1])
    >>> (problem,) = problems(Predictions.of(classes, found, [0, 2]))
    >>> find_decoder("auto").decode(problem)
    Decoding(A B; score 6, OPTIMAL)
    """
    plan = schema or Schema.infer(predictions.labels)
    tokens = Corpus({}, predictions.offsets) if corpus is None else corpus
    if not np.array_equal(tokens.offsets, predictions.offsets):
        raise DataError(
            "the corpus has other sequences than the predictions; give the one they were made for"
        )
    unknown = [label for label in predictions.labels if label not in plan.vocabulary]
    if unknown:
        raise SchemaError(f"the schema lacks the label {unknown[0]!r}, which is predicted; add it")
    program = Program.of(as_constraints(constraints, plan), plan, tokens)
    ids = plan.vocabulary.encode(predictions.labels)
    possible = _possible(predictions, any_label, None if allowed is None else allowed[:, ids])
    return (
        Problem(_potentials(predictions, i, ids, possible), program, int(predictions.offsets[i]))
        for i in range(len(predictions))
    )


def _possible(
    predictions: Predictions, any_label: bool = False, allowed: NDArray[np.bool_] | None = None
) -> NDArray[np.bool_]:
    """Which labels each token may take, [T,Y]."""
    size = predictions.n_tokens, len(predictions.labels)
    possible = np.full(size, any_label)
    token, place = np.nonzero(predictions.domain != OUTSIDE)
    possible[token, predictions.domain[token, place]] = True
    if allowed is None:
        return possible
    both = possible & allowed
    return np.where(both.any(axis=1, keepdims=True), both, allowed)


def solved(predictions: Predictions, labels: Ids, *, schema: Schema | None = None) -> list[Decoding]:
    """The answers that `Predictions.csinf` stands for: these labels [T] of it, proved to be the best."""
    found, possible = [], _possible(predictions)
    for i, problem in enumerate(problems(predictions, schema=schema)):
        a, b = predictions.offsets[i : i + 2].tolist()
        trigrams = _Trigrams(predictions.predicted[a:b], predictions.weights[a:b])
        states = trigrams.path(np.flatnonzero(possible[a:b].any(axis=0)), labels[a:b]) if a < b else []
        found.append(Decoding.of(problem, states, problem.score(states)))
    return found


def _potentials(predictions: Predictions, i: int, ids: Ids, possible: NDArray[np.bool_]) -> Potentials:
    """The chain of one sequence; ids[Y] are the labels in the schema, possible[T,Y] those to choose from."""
    a, b = predictions.offsets[i : i + 2].tolist()
    trigrams = _Trigrams(predictions.predicted[a:b], predictions.weights[a:b])
    labels = np.flatnonzero(possible[a:b].any(axis=0))
    if a == b:
        return Potentials.of(np.zeros((0, len(ids))), label_of=ids)
    unary = np.stack([trigrams.single(t, labels) for t in range(b - a)])
    unary[~possible[a:b, labels]] = -np.inf
    return _with_marks(trigrams, labels, unary, ids)


def _with_marks(trigrams: _Trigrams, labels: NDArray, unary: Floats, ids: Ids) -> Potentials:
    """States: each label with m = 0, then those with m = 1 that a whole trigram has in its middle."""
    length = len(unary)
    number, mark = trigrams.states(labels)
    steps = np.full((length, len(number), len(number)), -np.inf)
    steps[0] = 0.0
    for t in range(1, length):
        first_two = trigrams.begins(t, labels)[np.ix_(number, number)]
        gain = trigrams.double(t, labels)[np.ix_(number, number)]
        gain += np.outer(mark, trigrams.ends(t - 1, labels)[number])
        steps[t] = np.where(first_two == mark, gain, -np.inf)
    start = np.where(mark, -np.inf, 0.0)
    return Potentials.of(unary[:, number], steps, start, kind=np.arange(length), label_of=ids[labels[number]])


@dataclass(frozen=True)
class _Trigrams:
    """The predicted trigrams of one sequence, asked about labels [Y]."""

    predicted: Ids  # [T,3]
    weights: Floats  # [T,6]

    @property
    def whole(self) -> NDArray[np.bool_]:
        """Which trigrams have three labels, [T]."""
        return (self.predicted != OUTSIDE).all(axis=1)

    def states(self, labels: NDArray) -> tuple[NDArray, NDArray[np.bool_]]:
        """The states: which of the labels each has, and its mark."""
        marked = np.flatnonzero(np.isin(labels, self.predicted[self.whole, 1]))
        number = np.concatenate([np.arange(len(labels)), marked])
        return number, np.arange(len(number)) >= len(labels)

    def path(self, labels: NDArray, chosen: Ids) -> list[int]:
        """The states of a labelling."""
        number, mark = self.states(labels)
        state = {(int(labels[i]), bool(m)): s for s, (i, m) in enumerate(zip(number, mark, strict=True))}
        pairs = enumerate(pairwise(chosen.tolist()), start=1)
        marks = [bool(self.whole[t] and (self.predicted[t, :2] == pair).all()) for t, pair in pairs]
        return [state[key] for key in zip(chosen.tolist(), [False, *marks], strict=True)]

    def single(self, t: int, labels: NDArray) -> Floats:
        """The weight of the unigrams that each label satisfies at token t, [Y]."""
        total = np.zeros(len(labels))
        for place in range(3):
            source = t + 1 - place
            if 0 <= source < len(self.predicted):
                total[labels == self.predicted[source, place]] += self.weights[source, SINGLE + place]
        return total

    def double(self, t: int, labels: NDArray) -> Floats:
        """The weight of the bigrams that the labels of t−1 and t satisfy, [Y,Y]."""
        total = np.zeros((len(labels), len(labels)))
        for source, place, weight in ((t - 1, 1, RIGHT), (t, 0, LEFT)):
            x, y = self.predicted[source, place : place + 2]
            total += self.weights[source, weight] * np.outer(labels == x, labels == y)
        return total

    def begins(self, t: int, labels: NDArray) -> NDArray[np.bool_]:
        """Whether the labels of t−1 and t are the first two of the whole trigram of token t, [Y,Y]."""
        x, y, _ = self.predicted[t]
        return np.outer(labels == x, labels == y) & self.whole[t]

    def ends(self, t: int, labels: NDArray) -> Floats:
        """The weight of the trigram of token t for its last label, 0 for others, [Y]."""
        return np.where(labels == self.predicted[t, 2], self.weights[t, TRIGRAM], 0.0)
