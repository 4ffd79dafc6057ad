"""`decoders/constrained_marginals.py` against the sum over all labellings."""

from __future__ import annotations

import numpy as np
import pytest
from library_problems import library_problem
from problems_by_kind import KINDS, STRICTNESS, random_problem
from rules_by_hand import TESTS, ByHand, at_most_one, not_there

from conseq.constraints.base import HARD, Constraint
from conseq.constraints.primitives import Counter, Linear
from conseq.corpus import Corpus
from conseq.decoders.base import Limits
from conseq.decoders.chain.marginals import ChainPosterior, Marginals, marginals
from conseq.decoders.constrained_marginals import (
    FOR_SUMS,
    SpanProbabilities,
    constrained_marginals_all,
    constrained_posterior,
)
from conseq.decoders.enumeration import all_scores, labellings
from conseq.decoders.lattice.posterior import Posterior
from conseq.errors import ConseqError, InfeasibleError, ScoreError
from conseq.potentials import Potentials
from conseq.problem import Problem, Problems
from conseq.schema import Schema

REPEATS = 25


def constrained_marginals(problem: Problem, limits: Limits = FOR_SUMS) -> Marginals:
    """Those of one sequence by itself."""
    alone = Problems(problem.potentials, problem.program, problem.first_token)
    return constrained_marginals_all(alone, limits)


def distribution(problem: Problem) -> tuple[np.ndarray, np.ndarray, float]:
    """All labellings, their probabilities, log Z (−inf: there is none)."""
    states = np.concatenate(labellings(problem))
    scores = all_scores(problem, states)
    top = scores.max()
    if top == -np.inf:
        return states, scores, -np.inf
    weights = np.exp(scores - top)
    return states, weights / weights.sum(), top + np.log(weights.sum())


def check(problem: Problem, seed: int, place: str) -> None:
    """Marginals and some spans against the distribution; an error if it is empty."""
    states, p, log_z = distribution(problem)
    if log_z == -np.inf:
        with pytest.raises(InfeasibleError, match="has no labelling"):
            constrained_marginals(problem)
        return
    found = constrained_marginals(problem)
    assert found.log_partition[0] == pytest.approx(log_z, rel=1e-9, abs=1e-9), place
    for t in range(problem.n_tokens):
        expected = np.bincount(states[:, t], weights=p, minlength=problem.n_states)
        assert np.allclose(found.node[t], expected, rtol=0, atol=1e-9), place
    check_spans(problem, constrained_posterior(problem), states, p, seed, place)


def check_spans(
    problem: Problem,
    posterior: Posterior | ChainPosterior,
    states: np.ndarray,
    p: np.ndarray,
    seed: int,
    place: str,
) -> None:
    rng = np.random.default_rng(seed)
    length, size = problem.n_tokens, problem.n_states
    for _ in range(3):
        a = int(rng.integers(0, length + 1))
        b = int(rng.integers(a, length + 1))
        before, inside, after = (rng.random(shape) < 0.6 for shape in ((size,), (b - a, size), (size,)))
        passes = np.ones(len(states), dtype=bool)
        for t, mask in [(a - 1, before), *zip(range(a, b), inside, strict=True), (b, after)]:
            if 0 <= t < length:
                passes &= mask[states[:, t]]
        found = posterior.span_probability(a, before, inside, after)
        assert found == pytest.approx(p[passes].sum(), abs=1e-9), f"{place}, span {a} to {b}"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("strictness", STRICTNESS)
def test_sums_over_all_labellings(kind: str, strictness: str) -> None:
    for seed in range(REPEATS):
        check(random_problem(seed, kind, strictness), seed, f"seed {seed}, {kind}, {strictness}")


@pytest.mark.parametrize("strictness", STRICTNESS)
def test_sums_under_the_rules_of_the_library(strictness: str) -> None:
    for seed in range(4 * REPEATS):
        check(library_problem(seed, strictness), seed, f"seed {seed}, {strictness}")


@pytest.mark.parametrize("length", [0, 1])
@pytest.mark.parametrize("size", [1, 3])
def test_shortest_sequences(length: int, size: int) -> None:
    for seed in range(REPEATS):
        check(random_problem(seed, length=length, size=size), seed, f"seed {seed}")


def chain(length: int, size: int, rules: list[Constraint], scale: float = 1.0) -> Problem:
    rng = np.random.default_rng(length + size)
    unary, pairwise = rng.normal(0, scale, (length, size)), rng.normal(size=(size, size))
    corpus = Corpus.from_sequences([["z"] * length])
    schema = Schema([f"y{i}" for i in range(size)], "plain")
    return Problems.of(Potentials.of(unary, pairwise), schema, rules, corpus)[0]


def test_rules_that_cannot_matter_make_no_product_states() -> None:
    """A counter of tokens that are not there, and a bound that 6 tokens cannot pass."""
    table = np.zeros((4, 4), dtype=np.int64)
    table[:, 0] = 1
    elsewhere = ByHand((Linear(((1, Counter(table, TESTS[0])),), 1.0),), penalty=1.0)
    never = ByHand((Linear(((1, Counter(table)),), 50.0),), penalty=HARD)
    with_them, without = chain(6, 3, [elsewhere, never]), chain(6, 3, [])
    posterior = constrained_posterior(with_them)
    assert posterior.lattice.n_nodes == 6 * 3 + 2
    assert np.allclose(posterior.states, marginals(without.potentials).node, atol=1e-12)
    assert constrained_posterior(chain(6, 3, [at_most_one(3, 1)])).lattice.n_nodes > 6 * 3 + 2


def test_local_rules_alone_need_no_product_states() -> None:
    problem = chain(5, 3, [not_there(3, 2, 1), not_there(3, 3, 0, 1.5)])
    problems = Problems(problem.potentials, problem.program)
    posterior = SpanProbabilities(problems)[0]
    assert isinstance(posterior, ChainPosterior)
    states, p, _ = distribution(problem)
    check_spans(problem, posterior, states, p, 0, "local")
    check(problem, 0, "local")


def test_a_long_sequence_neither_overflows_nor_loses_digits() -> None:
    """At most one run of a label, which the scores leave almost no way to: as if without the rule.

    The sum over 3000 tokens with scores of about 300 is near 10^6.
    """
    problem = chain(3000, 3, [at_most_one(3, 1)], scale=300.0)
    unary = problem.potentials.unary.copy()
    unary[:, 1] = -1e7
    unary[1500, 1] = 1e7
    potentials = Potentials.of(unary, problem.potentials.pairwise)
    found = constrained_marginals(Problem(potentials, problem.program))
    expected = marginals(potentials)
    assert np.allclose(found.node, expected.node, atol=1e-9)
    assert found.log_partition == pytest.approx(expected.log_partition, rel=1e-12)
    assert np.allclose(found.node.sum(axis=1), 1.0, atol=1e-9)


def test_too_many_product_states_are_refused_in_a_sentence() -> None:
    problem = chain(12, 3, [at_most_one(3, label, 1.0) for label in range(3)])
    with pytest.raises(ConseqError, match=r"sequence 0 .*more than 50 product states.*fewer rules"):
        constrained_marginals(problem, Limits(states=50))
    assert constrained_marginals(problem).node.shape == (12, 3)


def test_spans_give_up_early_and_only_those_of_long_sequences() -> None:
    """Three rules that double the states each: 2³ times those of the chain are too many, if not in truth."""
    rules = [at_most_one(3, label, 1.0) for label in range(3)]
    problem = chain(12, 3, rules)
    exact = constrained_posterior(problem)
    doubled = [constrained_posterior(chain(12, 3, [rule])).lattice.n_nodes / (12 * 3 + 2) for rule in rules]
    expected = int((12 * 3 + 2) * np.prod(doubled))
    problems = Problems(problem.potentials, problem.program)
    found = SpanProbabilities(problems, Limits(states=10 * expected))[0]
    assert isinstance(found, Posterior)
    assert np.array_equal(found.states, exact.states)
    with pytest.raises(ConseqError, match=r"^sequence 0 .*product states"):
        SpanProbabilities(problems, Limits(states=expected - 1))[0]


def test_messages_count_from_the_number_given() -> None:
    problem = chain(12, 3, [at_most_one(3, label, 1.0) for label in range(3)])
    problems = Problems(problem.potentials, problem.program)
    with pytest.raises(ConseqError, match=r"^sequence 41 "):
        constrained_marginals_all(problems, Limits(states=50), first=41)


def test_many_sequences_are_those_one_by_one() -> None:
    rng = np.random.default_rng(3)
    potentials = Potentials.of(rng.normal(size=(10, 3)), rng.normal(size=(3, 3)), offsets=[0, 4, 4, 5, 10])
    problems = Problems.of(potentials, Schema(["a", "b", "c"], "plain"), [at_most_one(3, 0, 1.0)])
    found = constrained_marginals_all(problems, threads=2)
    for i, (problem, posterior) in enumerate(zip(problems, SpanProbabilities(problems), strict=True)):
        a, b = potentials.bounds(i)
        states, p, log_z = distribution(problem)
        assert found.log_partition[i] == pytest.approx(log_z, abs=1e-9)
        assert np.allclose(found.node[a:b], constrained_marginals(problem).node, atol=1e-12)
        check_spans(problem, posterior, states, p, i, f"sequence {i}")


def test_the_sequence_without_a_labelling_is_named() -> None:
    unary = np.zeros((4, 2))
    unary[[1, 3], 0] = unary[2, 1] = -np.inf
    potentials = Potentials.of(unary, offsets=[0, 1, 4])
    problems = Problems.of(potentials, Schema(["a", "b"], "plain"), [at_most_one(2, 1)])
    with pytest.raises(InfeasibleError, match="sequence 1 "):
        constrained_marginals_all(problems)


def test_spans_outside_and_masks_of_another_size_are_refused() -> None:
    posterior = constrained_posterior(chain(4, 3, [at_most_one(3, 1)]))
    with pytest.raises(ScoreError, match="not within"):
        posterior.span_probability(3, None, np.ones((2, 3), dtype=bool), None)
    with pytest.raises(ScoreError, match="before has the shape"):
        posterior.span_probability(1, [True], np.ones((1, 3), dtype=bool), None)
    assert posterior.span_probability(2, None, np.empty((0, 3), dtype=bool), None) == 1.0
