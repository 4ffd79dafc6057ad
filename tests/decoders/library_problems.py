"""Random small problems with rules of the library, plain and BIO labels."""

from __future__ import annotations

import numpy as np

from conseq.constraints.language import parse_constraints
from conseq.corpus import Corpus
from conseq.potentials import Potentials
from conseq.problem import Problem, Problems
from conseq.schema import Schema

LINES = (
    "at most 1 segment of a",
    "at least 1 segment of b",
    "exactly 1 segment of a",
    "count(a) <= count(b)",
    "if a then b",
    "not both a and b",
    "no b before a",
    "a followed by b",
    "first a -> last b",
    'around "x": a -> b',
    'around "x": if a then b',
    "each a contains /[xy]/",
    'token "x" is a',
    "token /[yz]/ is b",
)
SCHEMAS = (Schema(["a", "b", "c"], "plain"), Schema(["O", "B-a", "I-a", "B-b"], "bio"))


def library_problem(seed: int, strictness: str) -> Problem:
    """Up to 5 tokens and 1 to 4 rules; they are soft, hard or mixed."""
    rng = np.random.default_rng(seed)
    schema = SCHEMAS[seed % 2]
    length, size = int(rng.integers(0, 6)), len(schema)
    chosen = rng.choice(LINES, int(rng.integers(1, 5)), replace=False).tolist()
    lines = [f"{line}  {_penalty(rng, strictness)}" for line in chosen]
    if schema.scheme == "bio" and rng.random() < 0.5:
        lines.append("legal bio  hard")
    rules = parse_constraints("\n".join(lines), labels=schema.labels, scheme=str(schema.scheme))
    corpus = Corpus.from_sequences([[str(word) for word in rng.choice(list("xyzw"), length)]])
    potentials = Potentials.of(rng.normal(0, 2, (length, size)), rng.normal(0, 1, (size, size)))
    return Problems.of(potentials, schema, rules, corpus)[0]


def _penalty(rng: np.random.Generator, strictness: str) -> str:
    hard = strictness == "hard" or (strictness == "mixed" and rng.random() < 0.4)
    return "hard" if hard else f"penalty {rng.exponential(2.0):.3f}"
