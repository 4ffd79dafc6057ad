"""The two-stage decoder against enumeration of its own objective, by both of its methods."""

from __future__ import annotations

import numpy as np
import pytest
from rules_by_hand import at_most_one, clause, not_there, random_problem

from conseq.decoders.base import Limits
from conseq.decoders.chain.viterbi import viterbi
from conseq.decoders.enumeration import labellings
from conseq.decoders.twostage import TwoStage
from conseq.errors import ConseqError
from conseq.potentials import Potentials
from conseq.problem import Problem, Problems, Status
from conseq.schema import Schema

SCHEMA = Schema(["a", "b", "c"], "plain")
ROUNDING = 1e-9


def by_enumeration(problem: Problem, tau: float) -> tuple[float, float] | None:
    """Cost and model score of the best labelling of the second stage, by definition; None: there is none."""
    rows = [row for piece in labellings(problem) for row in piece]
    scores = [problem.potentials.score(row) for row in rows]
    top = max(scores)
    if top == -np.inf:
        return None
    floor = top - (1 - tau) * abs(top) - ROUNDING * (1 + abs(top))
    costs = [problem.cost(problem.violations(row)) for row in rows]
    within = [(c, s) for c, s in zip(costs, scores, strict=True) if s >= floor and c < np.inf]
    if not within:
        return None
    least = min(within)[0]
    return least, max(s for c, s in within if c <= least + ROUNDING * (1 + least))


@pytest.mark.parametrize("method", ["search", "ilp", "auto"])
def test_against_enumeration(method):
    signs = set()
    for seed in range(80):
        problem = random_problem(seed, hard=0.15)
        for tau in (0.0, 0.6, 0.9, 1.0):
            wanted, found = by_enumeration(problem, tau), TwoStage(tau, method).decode(problem)
            place = f"seed {seed}, tau {tau}"
            if wanted is None:
                possible = viterbi(problem.potentials).scores[0] > -np.inf and problem.n_tokens > 0
                status = Status.UNKNOWN if possible else Status.INFEASIBLE
                assert found.labels is None, place
                assert found.certificate.status is status, place
                continue
            assert found.certificate.status is Status.OPTIMAL, place
            assert found.score == problem.score(found.states), place
            assert found.certificate.bound == found.score, place
            cost, score = (
                problem.cost(problem.violations(found.states)),
                problem.potentials.score(found.states),
            )
            assert (cost, score) == pytest.approx(wanted, abs=1e-7), place
            signs.add(np.sign(viterbi(problem.potentials).scores[0]))
    assert {-1.0, 1.0} <= signs, "best scores of one sign only: the band was not tested on the other"


@pytest.mark.parametrize("method", ["search", "ilp"])
def test_a_knapsack(method):
    """Each token may be relabelled at the cost of its own rule: a costly start may allow a cheap end."""
    for seed in range(15):
        rng = np.random.default_rng(seed)
        scores = Potentials.of(np.stack([rng.uniform(1, 9, 7), np.zeros(7)], axis=1))
        rules = [not_there(2, t, 0, float(penalty)) for t, penalty in enumerate(rng.uniform(1, 9, 7))]
        problem = Problems.of(scores, Schema(["a", "b"], "plain"), rules)[0]
        found = TwoStage(0.6, method).decode(problem)
        cost, score = problem.cost(problem.violations(found.states)), scores.score(found.states)
        assert (cost, score) == pytest.approx(by_enumeration(problem, 0.6)), f"seed {seed}"


@pytest.mark.parametrize("method", ["search", "ilp"])
def test_full_tau_gives_back_viterbi(method):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        scores = Potentials.of(rng.normal(size=(10, 3)), rng.normal(size=(3, 3)))
        rules = [at_most_one(3, label, 5.0) for label in range(3)]
        found = TwoStage(1.0, method).decode(Problems.of(scores, SCHEMA, rules)[0])
        assert found.states.tolist() == viterbi(scores).states.tolist(), f"seed {seed}"


def test_both_methods_agree_on_longer_sequences():
    for seed in range(4):
        rng = np.random.default_rng(seed)
        scores = Potentials.of(rng.normal(0, 2, (14, 3)), rng.normal(size=(3, 3)))
        rules = [at_most_one(3, label, 1.0 + label / 3) for label in range(3)]
        problem = Problems.of(scores, SCHEMA, rules)[0]
        search, program = (TwoStage(0.8, method).decode(problem) for method in ("search", "ilp"))
        assert search.certificate.status is program.certificate.status is Status.OPTIMAL
        assert search.score == pytest.approx(program.score), f"seed {seed}"


def test_hard_rules_hold_within_the_band_or_nothing_is_found():
    """Nothing is proved then: a labelling outside the band would satisfy the rule."""
    scores = Potentials.of([[10.0, 0.0, 0.0]])
    problem = Problems.of(scores, SCHEMA, [clause(3, [(None, 1)])])[0]
    found = TwoStage(0.5).decode(problem)
    assert found.labels is None
    assert found.certificate.status is Status.UNKNOWN
    assert found.certificate.bound == 10.0
    assert TwoStage(0.0).decode(problem).labels == ["b"]


def test_a_stopped_search_says_so():
    """Without room nothing is proved: the best labelling known is given with a gap up to Z*."""
    scores = Potentials.of(np.random.default_rng(0).normal(size=(12, 3)))
    problem = Problems.of(scores, SCHEMA, [at_most_one(3, label, 2.0) for label in range(3)])[0]
    found = TwoStage(0.5, "search").decode(problem, limits=Limits(states=5))
    assert found.certificate.status is Status.FEASIBLE
    assert found.certificate.bound == viterbi(scores).scores[0]
    exact = TwoStage(0.5, "auto").decode(problem, limits=Limits(states=5))
    assert exact.certificate.status is Status.OPTIMAL
    late = TwoStage(0.5).decode(problem, limits=Limits(seconds=0))
    assert late.certificate.status is Status.FEASIBLE


def test_a_good_hint_is_kept():
    problem = Problems.of(Potentials.of([[1.0, 0.9, 0.0]] * 2), SCHEMA, [clause(3, [(None, 1)], 3.0)])[0]
    found = TwoStage(0.5, "search").decode(problem, limits=Limits(states=0), hint=[1, 0])
    assert found.labels == ["b", "a"]


@pytest.mark.parametrize(
    ("options", "said"), [({"tau": 1.5}, "tau is 1.5"), ({"method": "magic"}, "'magic'")]
)
def test_wrong_options(options, said):
    with pytest.raises(ConseqError, match=said):
        TwoStage(**options)
