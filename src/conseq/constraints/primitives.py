"""What every constraint comes down to, so that n constraints and m decoders need n + m pieces of code.

    Counter    counts steps, table[Y+1,Y+1] over (previous label or START, label or END), at some tokens
    Linear     a weighted sum of counters ≤ bound
    Automaton  reads the steps of a labelling as symbols; its arcs charge violations

A labelling y_0 … y_{T−1} has T+1 steps: START → y_0, y_0 → y_1, …, y_{T−1} → END; an empty one has the step
START → END alone. START and END have the index Y. A step belongs to the token that it enters; the step to END
belongs to no token, so no test passes there.

What a primitive reads of a step depends on the *class* of the token: bit i of the class says whether the
token passes tests[i]. So both primitives have `tests` and `steps[2^len(tests), Y+1, Y+1]`: what Linear adds
up, and the symbols that Automaton reads.

Axes: Y labels, K classes, Q states, A symbols.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conseq.constraints.tokens import TokenTest
from conseq.corpus import Corpus
from conseq.dtypes import Floats, Ints
from conseq.errors import RuleError

FEW_SUMS, MOST_SUMS = 1 << 12, 1 << 18
"""An automaton for a sum has a state per total of its range, or per total that can be, if there are many."""
MOST_WORK = 1 << 22
"""Totals that may be looked at to find those; what needs more has too many, or will have."""


@dataclass(frozen=True, eq=False)
class Counter:
    """How much each step counts, at the tokens that pass a test (None: everywhere, at END, too)."""

    table: Ints  # [Y+1,Y+1]
    test: TokenTest | None = None


@dataclass(frozen=True, eq=False)
class Linear:
    """Σ weight · counter ≤ bound + per_token · (number of tokens). The violation is how far it is beyond
    that."""

    terms: tuple[tuple[int, Counter], ...]
    bound: float
    per_token: float = 0.0

    @cached_property
    def tests(self) -> tuple[TokenTest, ...]:
        return tuple(dict.fromkeys(c.test for _, c in self.terms if c.test is not None))

    @cached_property
    def steps(self) -> Ints:
        """What a step adds to the sum, [K,Y+1,Y+1]."""
        size = len(self.terms[0][1].table)
        steps = np.zeros((1 << len(self.tests), size, size), dtype=np.int64)
        classes = np.arange(len(steps))
        for weight, counter in self.terms:
            if counter.test is None:
                steps += weight * counter.table
            else:
                passes = classes >> self.tests.index(counter.test) & 1 == 1
                steps[passes] += weight * counter.table
        return steps

    @cached_property
    def alphabet(self) -> tuple[Ints, Ints]:
        """The different amounts [A], and which of them each step adds, [K,Y+1,Y+1].

        Steps to END have the numbers from A on: to an automaton they are symbols of their own, for they
        settle the account.
        """
        amounts, which = np.unique(self.steps, return_inverse=True)
        which = which.reshape(self.steps.shape)
        which[:, :, -1] += len(amounts)
        return amounts, which

    def limit(self, length: int) -> float:
        """The bound for a sequence of `length` tokens, to nine decimals.

        A share of the tokens must not be missed by a rounding error: 0.29 · 100 is a little less than 29.
        """
        return math.floor((self.bound + self.per_token * length) * 1e9 + 0.5) / 1e9

    def excess(self, total: ArrayLike, length: int) -> Floats:
        """The violation of sequences with these sums."""
        return np.maximum(0.0, np.asarray(total, dtype=np.float64) - self.limit(length))

    @property
    def is_local(self) -> bool:
        """Whether every step can be charged by itself: nothing is ever taken back and nothing is free."""
        return self.bound == 0 and self.per_token == 0 and all(w > 0 for w, _ in self.terms)

    def most(self, length: int) -> float:
        """A violation that no labelling of `length` tokens exceeds."""
        return float(self.excess(max(0, int(self.steps.max())) * (length + 1), length))

    def automaton(self, length: int) -> Automaton:
        """The same violation as an automaton for sequences of `length` tokens (or fewer unless per_token).

        Its state is the sum so far, kept within the range [low, high] where that loses nothing. A sum that
        only rises is charged as it passes the bound, and need not be known beyond it; one that only falls
        need not be known below the bound; one that does both is kept as it is.
        """
        limit = self.limit(length)
        amounts, symbols = self.alphabet
        low = int(amounts.min(initial=0)) * (length + 1)
        high = int(amounts.max(initial=0)) * (length + 1)
        falls = low < 0
        if not falls:
            high = min(high, max(0, math.floor(limit) + 1))
        if not high:
            low = max(low, min(0, math.floor(limit)))
        sums = _attainable(amounts, low, high, length)
        after = sums[:, None] + amounts[None, :]
        kept = np.clip(after, low, high)
        kept[~np.isin(kept, sums)] = 0  # never reached within `length` tokens
        if falls:
            inner, final = np.zeros(after.shape), self.excess(after, length)
        else:  # charged when it happens: what is beyond the bound after the step and was not before it
            beyond = self.excess(sums, length)[:, None] > 0
            inner = np.where(beyond, amounts[None, :], self.excess(after, length))
            final = inner + self.excess(0, length)  # a bound below 0 is broken from the start
        return Automaton(
            symbols,
            np.searchsorted(sums, np.hstack([kept, kept])),
            np.hstack([inner, final]),
            int(np.searchsorted(sums, 0)),
            self.tests,
        )


@dataclass(frozen=True, eq=False)
class Automaton:
    """A deterministic automaton. In state q the symbol a charges cost[q,a] and leads to next[q,a]."""

    steps: Ints  # [K,Y+1,Y+1], the symbol of each step
    next: Ints  # [Q,A]
    cost: Floats  # [Q,A], ≥ 0
    start: int = 0
    tests: tuple[TokenTest, ...] = ()

    is_local = False

    def most(self, length: int) -> float:
        """A violation that no labelling of `length` tokens exceeds."""
        return float(self.cost.max()) * (length + 1)

    def automaton(self, length: int) -> Automaton:
        """Itself: it reads sequences of any length."""
        return self

    def at(self, *tests: TokenTest) -> Automaton:
        """The same automaton with these tests of tokens; its tables are shared."""
        other = replace(self, tests=tests)
        vars(other).update(is_idle=self.is_idle, least=self.least)
        return other

    @cached_property
    def is_idle(self) -> bool:
        """Whether it stays in its state, free of charge, at tokens that pass no test."""
        symbols = np.unique(self.steps[0, :, :-1])
        stays = self.next[:, symbols] == np.arange(len(self.next))[:, None]
        return bool(stays.all() and not self.cost[:, symbols].any())

    @cached_property
    def label_groups(self) -> Ints:
        """The group of each label, [Y]: those in one are read alike, before any label and after any."""
        size = self.steps.shape[1] - 1
        before, after = self.steps[:, :size].swapaxes(0, 1), self.steps[:, :, :size].transpose(2, 0, 1)
        seen = np.concatenate([before, after], axis=1).reshape(size, -1)
        return np.unique(seen, axis=0, return_inverse=True)[1].reshape(-1)

    @cached_property
    def least(self) -> Floats:
        """The least that a labelling must still be charged in each state, whatever its labels are, [Q].

        The shortest path to END: from what END itself charges, least[q] ← min over symbols of
        cost[q,a] + least[next[q,a]]; no shortest path visits a state twice, so Q rounds are enough.
        """
        size = self.steps.shape[1]
        ends = np.zeros(self.cost.shape[1], dtype=bool)
        ends[self.steps[:, :, size - 1]] = True
        inner = np.zeros(self.cost.shape[1], dtype=bool)
        inner[self.steps[:, :, : size - 1]] = True
        least = np.where(ends, self.cost, np.inf).min(axis=1)
        for _ in range(len(self.next)):
            going = np.where(inner, self.cost + least[self.next], np.inf).min(axis=1)
            if (going >= least).all():
                break
            least = np.minimum(least, going)
        return least


Primitive = Linear | Automaton


def token_classes(tests: tuple[TokenTest, ...], corpus: Corpus) -> Ints:
    """The class of each token: bit i says whether it passes tests[i], [T]."""
    classes = np.zeros(corpus.n_tokens, dtype=np.int64)
    for i, test in enumerate(tests):
        classes |= test.mask(corpus).astype(np.int64) << i
    return classes


def run(primitive: Primitive, labels: NDArray, classes: NDArray) -> float:
    """The violation of one labelling: the definition, step by step."""
    path = [primitive.steps.shape[1] - 1, *labels.tolist(), primitive.steps.shape[1] - 1]
    at = [*classes.tolist(), 0]
    read = [int(primitive.steps[k, a, b]) for k, a, b in zip(at, path[:-1], path[1:], strict=True)]
    if isinstance(primitive, Linear):
        return float(primitive.excess(sum(read), len(labels)))
    state, charged = primitive.start, 0.0
    for symbol in read:
        charged += float(primitive.cost[state, symbol])
        state = int(primitive.next[state, symbol])
    return charged


def _attainable(amounts: Ints, low: int, high: int, length: int) -> Ints:
    """The sums that `length` tokens can reach; all multiples of their common divisor in the range where these
    are few, or hardly more."""
    unit = max(1, int(np.gcd.reduce(amounts)))
    size, is_dense = (high - low) // unit, np.abs(amounts).max(initial=0) <= unit * length
    if size < FEW_SUMS or (is_dense and size < MOST_SUMS):
        return np.unique(np.clip(np.arange(low // unit, high // unit + 2) * unit, low, high))
    sums, work = np.zeros(1, dtype=np.int64), 0
    for _ in range(length + 1):
        more = np.unique(np.clip(sums[:, None] + np.append(amounts, 0), low, high))
        work += len(more)
        if len(more) > MOST_SUMS or work > MOST_WORK:
            raise RuleError(
                f"the weights of a sum give more than {MOST_SUMS:,} different totals; give smaller ones, "
                "or use the decoder auto"
            )
        if len(more) == len(sums):
            break
        sums = more
    return sums
