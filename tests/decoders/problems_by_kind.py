"""Random problems whose rules are all sums or all automata, all soft or all hard, or anything."""

from __future__ import annotations

import numpy as np
from rules_by_hand import ByHand, random_automaton, random_linear

from conseq.constraints.base import HARD
from conseq.constraints.primitives import Primitive
from conseq.corpus import Corpus
from conseq.potentials import Potentials
from conseq.problem import Problem, Problems
from conseq.schema import Schema

KINDS = ("sums", "automata", "any")
STRICTNESS = ("soft", "hard", "mixed")


def random_problem(
    seed: int,
    kind: str = "any",
    strictness: str = "mixed",
    length: int | None = None,
    size: int | None = None,
) -> Problem:
    """The second of three sequences, up to 5 tokens and 4 labels; some have more states than labels."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 5)) if size is None else size
    length = int(rng.integers(0, 6)) if length is None else length
    states = size + int(rng.random() < 0.2)
    words = [[str(word) for word in rng.choice(list("abcd"), n)] for n in (1, length, 2)]
    corpus = Corpus.from_sequences(words)
    forbidden = float(rng.choice([0.0, 0.0, 0.1]))
    potentials = Potentials.of(
        random_scores(rng, forbidden, length + 3, states),
        random_scores(rng, forbidden, 2, states, states),
        random_scores(rng, forbidden, states),
        random_scores(rng, forbidden, states),
        corpus.offsets,
        kind=rng.integers(0, 2, length + 3) if rng.random() < 0.5 else None,
        label_of=np.append(np.arange(size), rng.integers(size)) if states > size else None,
    )
    rules = [random_rule(rng, size, kind, strictness) for _ in range(rng.integers(1, 5))]
    schema = Schema([f"y{i}" for i in range(size)], "plain")
    return Problems.of(potentials, schema, rules, corpus)[1]


def random_rule(rng: np.random.Generator, size: int, kind: str, strictness: str) -> ByHand:
    hard = strictness == "hard" or (strictness == "mixed" and rng.random() < 0.3)
    penalty = HARD if hard else float(rng.choice([0.0, 1.0, 1.0, 1.0]) * rng.exponential(2.0))
    return ByHand((random_primitive(rng, size, kind),), penalty=penalty)


def random_primitive(rng: np.random.Generator, size: int, kind: str) -> Primitive:
    sums = kind == "sums" or (kind == "any" and rng.random() < 0.5)
    return random_linear(rng, size) if sums else random_automaton(rng, size)


def random_scores(rng: np.random.Generator, forbidden: float, *shape: int) -> np.ndarray:
    return np.where(rng.random(shape) < forbidden, -np.inf, rng.normal(0, 2, shape))
