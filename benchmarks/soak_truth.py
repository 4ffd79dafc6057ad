"""The truth about small problems: every labelling tried, under the naive meaning of the rules.

    seed, number ─→ Batch: a few texts, many scores for each, one set of rules
        ─→ Truth of a sequence: score, cost and model score of each of its labellings

Nothing here calls a decoder, or the violations that decoders see. Axes: n labellings, L tokens of a sequence,
m sequences of a text, S states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from benchmarks.naive_rules import NAIVE, Labelling
from benchmarks.random_rules import random_rules
from conseq.constraints import HARD, Constraint
from conseq.corpus import Corpus
from conseq.potentials import Potentials
from conseq.problem import Problems
from conseq.schema import Schema

Rng = np.random.Generator
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SCHEMAS = (
    Schema(["a"], "plain"),
    Schema(["a", "b"], "plain"),
    Schema(["O", "a", "b"], "plain"),
    Schema(["O", "a", "b", "c"], "plain"),
    Schema(["O", "I-a", "B-a", "I-b"], "iob1"),
    Schema(["O", "B-a", "I-a", "B-b"], "bio"),
    Schema(["O", "B-a", "I-a", "E-a", "S-b"], "bioes"),
    Schema(["O", "B-a", "I-a", "I-a/B-b", "I-a/I-b", "B-b"], "bio"),
)
"""Every scheme; the last one is hierarchical: the name b stands for types of two levels."""

WORDS = ("x", ",", "7", "42", "x")
MOST_LABELLINGS = 300
TEXTS, SCORES_PER_TEXT = 4, 100
FORBIDDEN = (0.0, 0.0, 0.0, 0.1, 0.3)
SIZES = (1e-9, 1e-4, 1.0, 1.0, 2.0, 2.0, 1e4, 1e9)
PENALTIES = (0.0, 1e-9, 0.5, 1.0, 1.0, 2.0, 3.7, 1e6, 1e12, HARD, HARD)


@dataclass(frozen=True, eq=False)
class Truth:
    """Of every labelling of one sequence: what it scores, what it costs, how large the parts of that are."""

    model: Floats  # [n], the score without rules
    costs: Floats  # [n], Σ penalty · violation
    parts: Floats  # [n], the sum of the sizes of all scores and costs
    n_states: int

    @cached_property
    def scores(self) -> Floats:
        return self.model - self.costs

    @cached_property
    def best(self) -> int:
        """The best labelling, if there is one."""
        return int(np.argmax(self.scores))

    @property
    def score(self) -> float:
        return float(self.scores[self.best])

    def index(self, states: NDArray[np.int32]) -> int:
        """Which of the labellings this is."""
        number = 0
        for state in states.tolist():
            number = number * self.n_states + state
        return number


@dataclass(frozen=True, eq=False)
class Text:
    """The tokens that several sequences have, with what their labellings cost."""

    tokens: tuple[str, ...]
    paths: Ints  # [n,L], states
    costs: Floats  # [n]

    @classmethod
    def of(cls, tokens: Sequence[str], rules: Sequence[Constraint], schema: Schema, label_of: Ints) -> Text:
        paths = all_paths(len(label_of), len(tokens))
        labellings, which = np.unique(label_of[paths], axis=0, return_inverse=True)
        costs = [naive_cost(row, tokens, rules, schema) for row in labellings.tolist()]
        return cls(tuple(tokens), paths, np.array(costs)[which.reshape(-1)])


def all_paths(n_states: int, length: int) -> Ints:
    """All sequences of states, [n,L], in lexicographic order."""
    powers = n_states ** np.arange(length - 1, -1, -1, dtype=np.int64)
    return np.arange(n_states**length)[:, None] // powers % n_states


def naive_cost(
    labels: Sequence[int], tokens: Sequence[str], rules: Sequence[Constraint], schema: Schema
) -> float:
    """Σ penalty · violation by the naive meaning of each rule."""
    labelling = Labelling(tuple(schema.labels[y] for y in labels), tuple(tokens), schema)
    total = 0.0
    for rule in rules:
        amount = float(NAIVE[type(rule).__name__](rule, labelling))
        total += rule.penalty * amount if amount else 0.0
    return total


@dataclass(frozen=True, eq=False)
class Batch:
    """Sequences under the same rules: text k is that of the sequences k·m … (k+1)·m − 1."""

    problems: Problems
    rules: tuple[Constraint, ...]
    texts: tuple[Text, ...]

    def __len__(self) -> int:
        return len(self.problems)

    @cached_property
    def truths(self) -> list[Truth]:
        """The truth about each sequence."""
        return [truth for k in range(len(self.texts)) for truth in self._truths_of(k)]

    def _truths_of(self, k: int) -> list[Truth]:
        potentials, text = self.problems.potentials, self.texts[k]
        m, (n, length), size = len(self) // len(self.texts), text.paths.shape, potentials.n_states
        first = int(potentials.offsets[k * m])
        unary = potentials.unary[first : first + m * length].reshape(m, length, size)
        model, parts = np.zeros((m, n)), np.zeros((m, n))
        for piece in _pieces(potentials, unary, text.paths, first):
            model = model + piece
            parts = parts + np.where(np.isfinite(piece), np.abs(piece), 0.0)
        parts = parts + np.where(np.isfinite(text.costs), text.costs, 0.0)
        return [Truth(model[i], text.costs, parts[i], size) for i in range(m)]


def _pieces(potentials: Potentials, unary: Floats, paths: Ints, first: int) -> list[Floats]:
    """What adds up to the model's scores, each [m,n] or [1,n]; an empty sequence has no parts."""
    length = paths.shape[1]
    if length == 0:
        return []
    found = [potentials.start[paths[:, 0]][None], potentials.end[paths[:, -1]][None]]
    for t in range(length):
        found.append(unary[:, t, paths[:, t]])
        if t:
            kind = 0 if potentials.kind is None else int(potentials.kind[first + t])
            found.append(potentials.pairwise[kind, paths[:, t - 1], paths[:, t]][None])
    return found


# ── the draw ────────────────────────────────────────────────────────────────────────────────────


def random_batch(rng: Rng, texts: int = TEXTS, scores_per_text: int = SCORES_PER_TEXT) -> Batch:
    """Sequences of few enough labellings to try them all, with up to 6 rules, or with 40."""
    schema = SCHEMAS[int(rng.integers(len(SCHEMAS)))]
    label_of = np.arange(len(schema))
    if len(schema) < 5 and rng.random() < 0.2:  # two states of one label
        label_of = rng.permutation(np.append(label_of, rng.integers(len(schema))))
    n_states, size = len(label_of), float(rng.choice(SIZES))
    longest = 6 if n_states == 1 else int(np.log(MOST_LABELLINGS) / np.log(n_states))
    lengths = rng.choice([0, 1, *range(1, longest + 1), longest, longest, longest], texts)
    tokens = [[str(word) for word in rng.choice(WORDS, n)] for n in lengths]
    unit = size if rng.random() < 0.5 else 1.0
    penalties = [float(unit * penalty) for penalty in PENALTIES]
    count = 40 if rng.random() < 0.01 else int(rng.integers(0, 7))
    rules = tuple(random_rules(rng, schema, count, penalties))
    corpus = Corpus.from_sequences([words for words in tokens for _ in range(scores_per_text)])
    potentials = _random_potentials(rng, size, lengths, scores_per_text, label_of, len(schema))
    problems = Problems.of(potentials, schema, rules, corpus)
    return Batch(problems, rules, tuple(Text.of(words, rules, schema, label_of) for words in tokens))


def _random_potentials(
    rng: Rng, size: float, lengths: Ints, repeats: int, label_of: Ints, n_labels: int
) -> Potentials:
    n_states, kinds = len(label_of), int(rng.integers(1, 4))
    each = np.repeat(lengths, repeats)
    offsets = np.append(0, np.cumsum(each))
    unary = random_scores(rng, size, int(offsets[-1]), n_states)
    unary = unary * np.repeat(rng.choice([1.0, 1.0, 1.0, 0.1, 10.0], len(each)), each)[:, None]
    if len(unary) and rng.random() < 0.1:
        unary[rng.integers(len(unary))] = -np.inf
    by_text = [np.tile(rng.integers(0, kinds, length), repeats) for length in lengths]
    return Potentials.of(
        unary,
        random_scores(rng, size, kinds, n_states, n_states),
        random_scores(rng, size, n_states) if rng.random() < 0.6 else None,
        random_scores(rng, size, n_states) if rng.random() < 0.6 else None,
        offsets,
        kind=np.concatenate(by_text) if kinds > 1 else None,
        label_of=label_of if n_states != n_labels else None,
    )


def random_scores(rng: Rng, size: float, *shape: int) -> Floats:
    """Normal scores of a size, or whole multiples of it, which make for ties; some are forbidden."""
    values = rng.normal(size=shape)
    if rng.random() < 0.3:
        values = np.round(values)
    return np.where(rng.random(shape) < rng.choice(FORBIDDEN), -np.inf, size * values)
