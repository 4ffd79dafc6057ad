"""Annealing: a sweep takes the best label of each token, and the labelling only gets better."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems_by_kind import KINDS, random_problem

from conseq.decoders.base import Best, Limits
from conseq.decoders.chain.viterbi import viterbi
from conseq.decoders.messages.annealing import Annealing, anneal
from conseq.problem import Problem


def naive_sweep(made: Annealing, states: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """The label of each token in turn that, with its noise, makes for the best labelling."""
    states = states.copy()
    for t in range(len(states)):
        others = [np.where(np.arange(len(states)) == t, s, states) for s in range(noise.shape[1])]
        scores = np.array([made.score(other.astype(np.int32)) for other in others])
        states[t] = np.argmax(scores + noise[t])
    return states


def problem_with_labelling(seed: int, kind: str) -> tuple[Problem, np.ndarray | None]:
    problem = random_problem(seed, kind, length=5, size=3)
    states = viterbi(problem.potentials).states
    return problem, None if states[0] < 0 else states


@pytest.mark.parametrize("kind", sorted(KINDS))
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_sweep_takes_the_best_label_of_each_token(kind: str, seed: int) -> None:
    problem, states = problem_with_labelling(seed, kind)
    if states is None:
        return
    made, rng = Annealing(problem), np.random.default_rng(seed)
    for scale in (1.0, 0.0):
        noise = scale * rng.gumbel(size=problem.potentials.unary.shape)
        before, swept = made.score(states), states.copy()
        more = made.sweep(made.sums(states), made.weights[made.number], noise, swept)
        assert made.score(swept) == pytest.approx(before + more)
        expected = naive_sweep(made, states, noise)
        if scale:  # without noise there may be ties
            assert swept.tolist() == expected.tolist()
        else:
            assert more >= -1e-9
        states = swept


@pytest.mark.parametrize("kind", sorted(KINDS))
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_labelling_only_gets_better(kind: str, seed: int) -> None:
    problem, states = problem_with_labelling(seed, kind)
    best = Best(problem)
    best.offer(states)
    before = best.score
    anneal(best, Limits(seconds=0.2))
    assert best.score >= before
    assert best.score == -np.inf or best.score == problem.score(best.states)


def test_a_limit_of_time_is_kept() -> None:
    best = Best(random_problem(3, length=7, size=3))
    assert anneal(best, Limits(seconds=0.0)) == 0


def test_hard_rules_that_stay_broken_weigh_more() -> None:
    problem, states = next(
        (problem, states)
        for problem, states in (problem_with_labelling(seed, "any") for seed in range(1000))
        if states is not None and problem.score(states) == -np.inf
    )
    made = Annealing(problem)
    before = made.weights.copy()
    made.run(Best(problem), states, 0, Limits())
    assert made.weights.sum() > before.sum()


def test_machines_are_made_as_long_as_there_is_time() -> None:
    problem = random_problem(1, "automata", length=5, size=3)
    assert len(Annealing(problem, until=0.0).number) == 0
    assert len(Annealing(problem).number) > 0
