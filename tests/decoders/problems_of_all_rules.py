"""Random problems with rules of every class of the library, and their true optimum by enumeration.

    seed ─→ random_problem ─→ Problem ─→ truth: the best score of all labellings, −inf if there is none

Scores and penalties are of very different sizes; ties, forbidden entries, several kinds of step, float32 and
more states than labels occur, and so do rules that contradict each other or stand there twice.
"""

from __future__ import annotations

import numpy as np

from benchmarks.random_rules import random_rules
from conseq.constraints import HARD
from conseq.corpus import Corpus
from conseq.potentials import Potentials
from conseq.problem import Problem, Problems
from conseq.schema import Schema

Rng = np.random.Generator

SCHEMAS = (
    Schema(["a"], "plain"),
    Schema(["a", "b"], "plain"),
    Schema(["O", "a", "b"], "plain"),
    Schema(["O", "a", "b", "c"], "plain"),
    Schema(["O", "B-a", "I-a", "B-b"], "bio"),
    Schema(["O", "B-a", "I-a", "E-a", "S-b"], "bioes"),
    Schema(["O", "B-a", "I-a", "I-a/B-b", "I-a/I-b", "B-b"], "bio"),
)
"""The last one is hierarchical: the name b stands for types of two levels."""

WORDS = ("x", ",", "7", "42")
MOST_LABELLINGS = 300
FORBIDDEN = (0.0, 0.0, 0.0, 0.1, 0.3)
SIZES = (1e-4, 1.0, 2.0, 2.0, 2.0, 1e4)

# ── problems ────────────────────────────────────────────────────────────────────────────────────


def random_scores(rng: Rng, size: float, forbidden: float, *shape: int) -> np.ndarray:
    """Normal scores of a size, or whole multiples of it, which make for ties; some are forbidden."""
    values = rng.normal(size=shape)
    if rng.random() < 0.2:
        values = np.round(values)
    return np.where(rng.random(shape) < forbidden, -np.inf, size * values)


def random_potentials(
    rng: Rng, offsets: np.ndarray, n_states: int, label_of: np.ndarray | None
) -> Potentials:
    length, size = int(offsets[-1]), float(rng.choice(SIZES))
    kinds = int(rng.integers(1, 4))
    unary = random_scores(rng, size, rng.choice(FORBIDDEN), length, n_states)
    if length and rng.random() < 0.02:
        unary[rng.integers(length)] = -np.inf
    return Potentials.of(
        unary.astype(np.float32) if rng.random() < 0.2 else unary,
        random_scores(rng, size, rng.choice(FORBIDDEN), kinds, n_states, n_states),
        random_scores(rng, size, rng.choice(FORBIDDEN), n_states) if rng.random() < 0.6 else None,
        random_scores(rng, size, rng.choice(FORBIDDEN), n_states) if rng.random() < 0.6 else None,
        offsets,
        kind=rng.integers(0, kinds, length) if kinds > 1 else None,
        label_of=label_of,
    )


def random_problems(seed: int, n_sequences: int = 3) -> Problems:
    """Sequences of few enough labellings to try them all, with up to 6 rules, or with 40."""
    rng = np.random.default_rng(seed)
    schema = SCHEMAS[int(rng.integers(len(SCHEMAS)))]
    n_states, label_of = len(schema), None
    if len(schema) < 5 and rng.random() < 0.2:
        label_of = rng.permutation(np.append(np.arange(n_states), rng.integers(n_states)))
        n_states += 1
    longest = 6 if n_states == 1 else int(np.log(MOST_LABELLINGS) / np.log(n_states))
    lengths = rng.choice([0, 1, *range(1, longest + 1), longest, longest, longest], n_sequences)
    corpus = Corpus.from_sequences([[str(word) for word in rng.choice(WORDS, n)] for n in lengths])
    potentials = random_potentials(rng, corpus.offsets, n_states, label_of)
    count = 40 if rng.random() < 0.02 else int(rng.integers(0, 7))
    return Problems.of(potentials, schema, random_rules(rng, schema, count), corpus)


def random_problem(seed: int) -> Problem:
    """The second of the sequences, so that it does not begin where its corpus does."""
    return random_problems(seed, 2)[1]


def large_problem(seed: int, length: int, n_labels: int, n_rules: int) -> Problem:
    """More labellings than can be tried."""
    rng = np.random.default_rng(seed)
    schema = Schema(["O", *"abcdefghijklmnop"[: n_labels - 1]], "plain")
    corpus = Corpus.from_sequences([[str(word) for word in rng.choice(WORDS, length)]])
    potentials = Potentials.of(
        rng.normal(0, 1.5, (length, n_labels)),
        rng.normal(0, 1, (n_labels, n_labels)) + 2 * np.eye(n_labels),
        rng.normal(0, 1, n_labels),
    )
    rules = random_rules(rng, schema, n_rules, (0.3, 1.0, 2.5, 6.0, HARD))
    return Problems.of(potentials, schema, rules, corpus)[0]


# ── the truth ───────────────────────────────────────────────────────────────────────────────────


def all_labellings(problem: Problem) -> np.ndarray:
    """Every labelling, [n,T]."""
    size, length = problem.n_states, problem.n_tokens
    return np.stack(np.unravel_index(np.arange(size**length), (size,) * length or (1,)), axis=1)[:, :length]


def model_scores(potentials: Potentials, paths: np.ndarray) -> np.ndarray:
    """start + unary + pairwise + … + end of each labelling, [n]."""
    length = paths.shape[1]
    if length == 0:
        return np.zeros(len(paths))
    total = potentials.start[paths[:, 0]] + potentials.unary[0, paths[:, 0]].astype(float)
    for t in range(1, length):
        kind = 0 if potentials.kind is None else potentials.kind[t]
        total = total + potentials.pairwise[kind, paths[:, t - 1], paths[:, t]]
        total = total + potentials.unary[t, paths[:, t]]
    return total + potentials.end[paths[:, -1]]


def all_scores(problem: Problem, paths: np.ndarray) -> np.ndarray:
    """Model score − Σ penalty · violation of each labelling, [n]."""
    n, length = paths.shape
    starts = np.full(n, problem.first_token)
    labels = problem.label_of[paths].ravel()
    scores = model_scores(problem.potentials, paths)
    violations = problem.program.violations(labels, np.arange(n + 1) * length, starts)
    for charge, amounts in zip(problem.charges, violations.T, strict=True):
        paid = amounts > 0
        scores[paid] -= charge.penalty * amounts[paid]
    return scores


def truth(problem: Problem) -> float:
    """The best score of all labellings; −inf if none is allowed."""
    return float(all_scores(problem, all_labellings(problem)).max())
