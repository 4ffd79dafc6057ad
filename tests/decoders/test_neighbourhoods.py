"""Large neighbourhoods: the labelling only gets better, and no window of it can be better still."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems_by_kind import KINDS, random_problem

from conseq.decoders.base import NO_LIMITS, Best, Limits
from conseq.decoders.enumeration import all_scores, labellings
from conseq.decoders.messages.neighbourhoods import NARROWEST, freed, improve
from conseq.problem import Problem


def best_of_windows(problem: Problem, states: np.ndarray) -> float:
    """The best score of a labelling that differs from `states` within one of the narrowest windows."""
    every = np.concatenate(labellings(problem))
    scores = all_scores(problem, every)
    tokens = np.arange(problem.n_tokens)
    best = -np.inf
    for first in range(0, problem.n_tokens, NARROWEST // 2):
        outside = (tokens < first) | (tokens >= first + NARROWEST)
        near = (every[:, outside] == states[outside]).all(axis=1)
        best = max(best, float(scores[near].max(initial=-np.inf)))
    return best


@pytest.mark.parametrize("kind", sorted(KINDS))
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_no_window_of_the_labelling_can_be_better(kind: str, seed: int) -> None:
    problem = random_problem(seed, kind, length=7, size=3)
    best = Best(problem)
    best.offer(np.random.default_rng(seed).integers(0, problem.n_states, 7))
    before = best.score
    improve(best, NO_LIMITS)
    assert best.score >= before
    if best.states is not None:
        assert best.score >= best_of_windows(problem, best.states) - 1e-7 * (1 + abs(best.score))


def test_only_the_window_may_change() -> None:
    problem = random_problem(3, length=5, size=3)
    states = np.array([0, 1, 2, 1, 0])
    unary, near = problem.potentials.unary, freed(problem, states, slice(1, 3)).potentials.unary
    assert (near[1:3] == unary[1:3]).all()
    for t in (0, 3, 4):
        assert np.flatnonzero(near[t] > -np.inf).tolist() in ([states[t]], [])


def test_a_limit_of_time_is_kept() -> None:
    problem = random_problem(3, length=7, size=3)
    best = Best(problem)
    best.offer(np.zeros(7, dtype=int))
    before = best.score
    assert improve(best, Limits(seconds=0.0)) == 0
    assert best.score == before
