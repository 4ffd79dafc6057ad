"""Rules in the states of the chain: the same scores for the same labellings, and bounds that hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from problems_of_all_rules import large_problem, random_problem, truth

from conseq.constraints import IfThen, NotBefore, Segments
from conseq.decoders.base import NO_LIMITS, Limits
from conseq.decoders.chain.viterbi import first_answer, viterbi
from conseq.decoders.messages.absorbing import absorb, is_small, with_rule
from conseq.potentials import Potentials
from conseq.problem import Problem, Problems
from conseq.schema import Schema


def alone(problem: Problem) -> list[int]:
    """The primitives that are the only one of their rule, small enough for the states of a chain."""
    rules = [charge.rule for charge in problem.charges]
    return [p for p, rule in enumerate(rules) if rules.count(rule) == 1 and is_small(problem, p, NO_LIMITS)]


@settings(deadline=None)
@given(st.integers(0, 10**6))
@example(97)  # no state can begin
def test_labellings_keep_their_scores(seed: int) -> None:
    problem = random_problem(seed)
    if problem.n_tokens == 0 or not alone(problem):
        return
    larger, state_of = with_rule(problem, alone(problem)[seed % len(alone(problem))])
    for states in np.random.default_rng(seed).integers(0, problem.n_states, (20, problem.n_tokens)):
        path = viterbi(larger.potentials.restricted(state_of == states[:, None])).states
        score = larger.score(path) if path.min() >= 0 else -np.inf
        assert score == pytest.approx(problem.score(states), rel=1e-9)
        assert score == -np.inf or state_of[path].tolist() == states.tolist()


@settings(deadline=None)
@given(st.integers(0, 10**6))
def test_bounds_hold_and_labellings_get_better(seed: int) -> None:
    problem = random_problem(seed)
    best, wanted = first_answer(problem)
    if not wanted or best.settled:
        return
    before, most = best.score, truth(problem)
    absorb(best, set(wanted), NO_LIMITS)
    assert best.score >= before
    assert best.score == -np.inf or best.score <= most + 1e-9 * (1 + abs(most))
    assert most == -np.inf or best.bound >= most - 1e-7 * (1 + abs(most))


def test_with_all_rules_in_the_states_the_best_path_is_the_answer() -> None:
    rules = [Segments("at most", 1, "A", penalty=1.5), NotBefore("B", "A", penalty=2.5), IfThen("A", "C")]
    scores = np.random.default_rng(0).normal(0, 2, (6, 4))
    problem = Problems.of(Potentials.of(scores), Schema(["O", "A", "B", "C"], "plain"), rules)[0]
    larger, state_of = problem, np.arange(4)
    for p in range(3):
        larger, states = with_rule(larger, p)
        state_of = state_of[states]
    path = viterbi(larger.potentials)
    assert path.scores[0] == pytest.approx(truth(problem))
    assert problem.score(state_of[path.states]) == pytest.approx(truth(problem))


def test_a_limit_of_time_is_kept() -> None:
    problem = large_problem(0, 40, 8, 20)
    best, wanted = first_answer(problem)
    bound = best.bound
    assert absorb(best, set(wanted or ()), Limits(seconds=0.0)) == 0
    assert best.bound == bound
