"""Rules made of primitives drawn at random, and problems with them, for the tests of exact decoders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from conseq.constraints.base import HARD, Constraint
from conseq.constraints.primitives import Automaton, Counter, Linear, Primitive
from conseq.constraints.tokens import Pattern, Places, TokenTest, Words
from conseq.corpus import Corpus
from conseq.potentials import Potentials
from conseq.problem import Problem, Problems
from conseq.schema import Schema

TESTS: tuple[TokenTest, ...] = (Words(frozenset({"a", "b"})), Pattern("[bc]"))


@dataclass(frozen=True)
class ByHand(Constraint):
    """A rule that is just its primitives."""

    primitives: tuple[Primitive, ...]
    title: str = "a rule"

    def lower(self, schema: Schema, corpus: Corpus | None) -> Sequence[Primitive]:
        return self.primitives

    def line(self) -> str:
        return self.title


def random_linear(rng: np.random.Generator, size: int, tested: bool = True) -> Linear:
    """A sum over steps: of either sign, local or not."""
    terms = []
    local = rng.random() < 0.3
    for _ in range(rng.integers(1, 3)):
        table = rng.integers(0, 3, (size + 1, size + 1)) * (rng.random((size + 1, size + 1)) < 0.4)
        test = TESTS[rng.integers(2)] if tested and rng.random() < 0.4 else None
        terms.append(
            (int(rng.integers(1, 3)) if local else int(rng.choice([-2, -1, 1, 2])), Counter(table, test))
        )
    if local:
        return Linear(tuple(terms), 0.0)
    per_token = float(rng.choice([0.0, 0.0, 0.3]))
    return Linear(tuple(terms), float(rng.integers(-2, 4)), per_token)


def random_automaton(rng: np.random.Generator, size: int, tested: bool = True) -> Automaton:
    n_states, n_symbols = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    tests = TESTS[: int(rng.integers(0, 3))] if tested else ()
    cost = rng.integers(0, 3, (n_states, n_symbols)) * (rng.random((n_states, n_symbols)) < 0.4)
    return Automaton(
        rng.integers(0, n_symbols, (1 << len(tests), size + 1, size + 1)),
        rng.integers(0, n_states, (n_states, n_symbols)),
        cost.astype(float),
        int(rng.integers(n_states)),
        tests,
    )


def random_rule(rng: np.random.Generator, size: int, hard: float = 0.3, title: str = "a rule") -> ByHand:
    kinds = (random_linear, random_automaton)
    primitives = tuple(kinds[rng.integers(2)](rng, size) for _ in range(rng.integers(1, 3)))
    penalty = HARD if rng.random() < hard else float(rng.choice([0.0, 0.5, 1.0, 2.7, rng.random() * 3]))
    return ByHand(primitives, title, penalty=penalty)


def random_potentials(
    rng: np.random.Generator, before: int, length: int, size: int, n_labels: int
) -> Potentials:
    """Two sequences of `length` tokens together, `before` of them in the first."""
    forbidden = rng.choice([0.0, 0.0, 0.1, 0.25])

    def scores(*shape: int) -> np.ndarray:
        return np.where(
            rng.random(shape) < forbidden, -np.inf, rng.normal(0, 2, shape) + rng.choice([-3, 0, 3])
        )

    n_kinds = int(rng.integers(1, 3))
    steps, start, end = scores(n_kinds, size, size), scores(size), scores(size)
    kind = rng.integers(0, n_kinds, length)
    label_of = None if size == n_labels else np.append(np.arange(n_labels), rng.integers(0, n_labels, 1))
    unary, offsets = scores(length, size), [0, before, length]
    return Potentials.of(unary, steps, start, end, offsets, kind=kind, label_of=label_of)


def random_problem(seed: int, hard: float = 0.3, most_rules: int = 4) -> Problem:
    """A problem of up to 5 tokens and 4 labels with up to `most_rules` rules, the second of its corpus.

    Now and then two states have the same label.
    """
    rng = np.random.default_rng(seed)
    length, size = int(rng.integers(0, 6)), int(rng.integers(1, 5))
    schema = Schema([f"l{i}" for i in range(size)], "plain")
    rules = [random_rule(rng, size, hard, f"rule {k}") for k in range(rng.integers(0, most_rules + 1))]
    corpus = Corpus.from_sequences([["x", "a"], [str(w) for w in rng.choice(list("abcd"), length)]])
    n_states = size + int(size < 4 and rng.random() < 0.2)
    return Problems.of(random_potentials(rng, 2, length + 2, n_states, size), schema, rules, corpus)[1]


def at_most_one(size: int, label: int, penalty: float = HARD) -> ByHand:
    """At most one run of a label."""
    table = np.zeros((size + 1, size + 1), dtype=np.int64)
    table[:, label] = 1
    table[label, label] = 0
    return ByHand((Linear(((1, Counter(table)),), 1.0),), f"at most 1 run of {label}", penalty=penalty)


def clause(size: int, literals: list[tuple[int | None, int]], penalty: float = HARD) -> ByHand:
    """At least one of the tokens has its label; literals are (place or None for any, label)."""
    terms = []
    for place, label in literals:
        table = np.zeros((size + 1, size + 1), dtype=np.int64)
        table[:, label] = 1
        terms.append((-1, Counter(table, None if place is None else Places((place,)))))
    title = " or ".join(f"{place} is {label}" for place, label in literals)
    return ByHand((Linear(tuple(terms), -1.0),), title, penalty=penalty)


def not_there(size: int, place: int, label: int, penalty: float = HARD) -> ByHand:
    """The token at this place does not have the label: local."""
    table = np.zeros((size + 1, size + 1), dtype=np.int64)
    table[:, label] = 1
    rule = Linear(((1, Counter(table, Places((place,)))),), 0.0)
    return ByHand((rule,), f"{place} is not {label}", penalty=penalty)
