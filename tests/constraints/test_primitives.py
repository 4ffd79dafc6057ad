"""Sums and automata: sums as automata charge the same, and `least` never promises too much."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from conseq.constraints import (
    Agree,
    Around,
    Automaton,
    Contains,
    Counter,
    ExactlyOneOf,
    FollowedLater,
    IfThen,
    Linear,
    NotBefore,
    NotBoth,
    Places,
    Words,
)
from conseq.constraints.base import sequence_corpus
from conseq.constraints.primitives import run, token_classes
from conseq.errors import RuleError
from conseq.schema import Schema

SEEDS = range(60)
TESTS = (Words(frozenset({"x"})), Places((0, 2)))


def random_linear(rng, size):
    """Counters of any sign, tests or none; bounds of any sign, whole or not."""
    low = int(rng.choice([-2, -1, 0, 0]))
    high = int(rng.choice([0, 1, 1, 2])) if low else int(rng.choice([1, 2]))
    terms = []
    for _ in range(int(rng.integers(1, 4))):
        table = rng.integers(low, high + 1, (size, size)) * (rng.random((size, size)) < 0.7)
        test = [None, *TESTS][int(rng.integers(3))]
        terms.append((int(rng.choice([1, 1, 2, -1])) if low else 1, Counter(table, test)))
    if not low and rng.random() < 0.3:
        terms = [(-1, counter) for _, counter in terms]
    bound = float(rng.choice([-3, -1, -0.5, 0, 0.5, 1, 2, 4]))
    return Linear(tuple(terms), bound, float(rng.choice([0, 0, 0.4, -0.7])))


def by_hand(linear, labels, passes):
    """The definition of the violation, without `steps`."""
    end = len(linear.terms[0][1].table) - 1
    path = [end, *labels, end]
    total = 0
    for weight, counter in linear.terms:
        for t, (a, b) in enumerate(pairwise(path)):
            if counter.test is None or (t < len(labels) and passes[counter.test][t]):
                total += weight * int(counter.table[a, b])
    beyond = max(0.0, total - linear.bound - linear.per_token * len(labels))
    return 0.0 if beyond < 1e-9 else beyond


@pytest.mark.parametrize("seed", SEEDS)
def test_sums_as_automata_charge_the_same(seed):
    rng = np.random.default_rng(seed)
    size = 3
    linear = random_linear(rng, size)
    for length in range(5):
        corpus = sequence_corpus(length, ["x", "y", "x", "x"][:length])
        passes = {test: test.mask(corpus).tolist() for test in TESTS}
        classes = token_classes(linear.tests, corpus)
        longest = length if linear.per_token else length + int(rng.integers(3))
        automaton = linear.automaton(longest)
        assert automaton.tests == linear.tests
        assert (automaton.cost >= 0).all()
        for labels in product(range(size - 1), repeat=length):
            ids = np.array(labels, dtype=np.int64)
            expected = by_hand(linear, labels, passes)
            assert run(linear, ids, classes) == pytest.approx(expected), labels
            assert run(automaton, ids, classes) == pytest.approx(expected), labels


def test_counting_automata_are_small():
    """A bound that only ever is approached from one side needs no more states than it has numbers."""
    up = Counter(np.ones((3, 3), dtype=np.int64))
    assert len(Linear(((1, up),), 2).automaton(1000).next) == 4
    assert len(Linear(((-1, up),), -2).automaton(1000).next) == 3
    assert len(Linear(((1, up),), -2).automaton(1000).next) == 1


def test_only_sums_that_charge_each_step_are_local():
    counter = Counter(np.ones((3, 3), dtype=np.int64))
    assert Linear(((1, counter),), 0).is_local
    assert not Linear(((1, counter),), 1).is_local
    assert not Linear(((1, counter), (-1, counter)), 0).is_local
    assert not Linear(((1, counter),), 0, per_token=0.5).is_local


# ── what is charged at least ────────────────────────────────────────────────────────────────────


def completions(automaton, length):
    """For each state the least charge of all paths to END within `length` tokens, by enumeration, [Q]."""
    size = automaton.steps.shape[1]
    kinds = range(len(automaton.steps))
    best = np.full(len(automaton.next), np.inf)
    for state, before, n in product(range(len(best)), range(size), range(length + 1)):
        for path in product(product(kinds, range(size - 1)), repeat=n):
            q, previous, charged = state, before, 0.0
            for kind, label in [*path, (0, size - 1)]:
                symbol = automaton.steps[kind, previous, label]
                charged += automaton.cost[q, symbol]
                q, previous = automaton.next[q, symbol], label
            best[state] = min(best[state], charged)
    return best


def random_automaton(rng):
    states, symbols, size = int(rng.integers(1, 5)), int(rng.integers(1, 4)), 3
    steps = rng.integers(0, symbols, (1, size, size))
    steps[:, :, -1] += symbols * int(rng.integers(2))
    arcs = rng.integers(0, states, (states, 2 * symbols))
    cost = rng.integers(0, 3, (states, 2 * symbols)).astype(np.float64)
    return Automaton(steps, arcs, cost, int(rng.integers(states)))


@pytest.mark.parametrize("seed", SEEDS)
def test_no_completion_is_charged_less_than_the_least(seed):
    automaton = random_automaton(np.random.default_rng(seed))
    assert (automaton.least <= completions(automaton, 4) + 1e-9).all()


@pytest.mark.parametrize(
    "rule",
    [
        IfThen("a", "b"),
        NotBoth("a", "b"),
        NotBefore("a", "b"),
        ExactlyOneOf(("a", "b")),
        FollowedLater("a", "b"),
        Around(TESTS[0], "a", "b"),
        Contains("a", TESTS[0]),
        Agree("type", places=(0, 1)),
    ],
    ids=str,
)
def test_the_least_of_the_library_is_never_too_much(rule):
    schema = Schema(["a", "b"], "plain")
    for primitive in rule.lower(schema, sequence_corpus(3, ["x", "y", "x"])):
        assert (primitive.least <= completions(primitive, 3) + 1e-9).all()


def test_the_least_sees_what_cannot_be_avoided():
    """Every sequence ends, so what END charges in the last state of a chain cannot be avoided."""
    steps = np.array([[[0, 1], [0, 1]]])
    arcs = np.array([[1, 0], [2, 1], [2, 2]])
    cost = np.array([[1.0, 2.0], [0.5, 2.0], [0.0, 0.25]])
    assert Automaton(steps, arcs, cost).least.tolist() == [1.75, 0.75, 0.25]


def test_the_step_to_end_passes_no_test():
    counter = Counter(np.ones((2, 2), dtype=np.int64), Words(frozenset({"x"})))
    linear = Linear(((1, counter),), 0)
    corpus = sequence_corpus(2, ["x", "x"])
    assert run(linear, np.array([0, 0]), token_classes(linear.tests, corpus)) == 2


@pytest.mark.parametrize(
    "weights", [(10**9, -(10**9)), (999_999_999, -1_000_003), (10**9, 7), (-5000, -4001)]
)
def test_sums_with_large_weights_as_automata_charge_the_same(weights):
    rng = np.random.default_rng(0)
    terms = tuple((weight, Counter(rng.integers(0, 2, (4, 4)))) for weight in weights)
    linear = Linear(terms, 3.0 * weights[0])
    automaton = linear.automaton(5)
    assert len(automaton.next) < 200
    for length in range(6):
        for labels in product(range(3), repeat=length):
            ids, classes = np.array(labels, dtype=int), np.zeros(length, dtype=int)
            assert run(automaton, ids, classes) == run(linear, ids, classes)
            assert run(linear, ids, classes) <= linear.most(length)


def test_a_sum_with_too_many_totals_is_no_automaton():
    rng = np.random.default_rng(0)
    terms = tuple((int(w), Counter(rng.integers(0, 2, (9, 9)))) for w in rng.integers(-(10**9), 10**9, 12))
    with pytest.raises(RuleError, match="more than 262,144 different totals"):
        Linear(terms, 0.0).automaton(50)


def test_a_sum_over_a_long_sequence_is_an_automaton_at_once():
    """Looking for the totals that can be, token by token, would take hours."""
    table = np.zeros((3, 3), dtype=np.int64)
    up, down = table.copy(), table.copy()
    up[:, 0] = down[:, 1] = 1
    linear = Linear(((2, Counter(up)), (-2, Counter(down))), 7)
    automaton, length = linear.automaton(60_000), 50
    assert len(automaton.next) == 2 * 60_001 + 1  # even totals
    for labels in np.random.default_rng(0).integers(0, 2, (20, length)):
        classes = np.zeros(length, dtype=int)
        assert run(automaton, labels, classes) == run(linear, labels, classes)
