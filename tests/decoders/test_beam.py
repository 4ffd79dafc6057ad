"""`decoders/beam.py` against the enumeration of all labellings."""

from __future__ import annotations

import numpy as np
import pytest
from problems_by_kind import KINDS, STRICTNESS, random_problem

from conseq.decoders.base import Limits
from conseq.decoders.beam import Beam
from conseq.decoders.chain.viterbi import Viterbi
from conseq.decoders.enumeration import Enumerate
from conseq.problem import Status

REPEATS = 40


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("strictness", STRICTNESS)
@pytest.mark.parametrize("width", [1, 2, 8])
def test_scores_and_bounds_against_all_labellings(kind: str, strictness: str, width: int) -> None:
    for seed in range(1000, 1000 + REPEATS):
        problem = random_problem(seed, kind, strictness)
        found, truth = Beam(width).decode(problem), Enumerate().decode(problem)
        place = f"seed {seed}, {kind}, {strictness}"
        certificate = found.certificate
        if truth.states is None:
            assert certificate.status in (Status.INFEASIBLE, Status.UNKNOWN), place
            continue
        assert certificate.bound >= truth.score - 1e-9 * (1 + abs(truth.score)), place
        assert certificate.status is not Status.INFEASIBLE, place
        if found.states is not None:
            assert found.score == problem.score(found.states), place
            assert found.score <= truth.score + 1e-9 * (1 + abs(truth.score)), place
        if certificate.status is Status.OPTIMAL:
            assert found.score == pytest.approx(truth.score, rel=2e-7, abs=2e-7), place


def test_a_beam_that_drops_nothing_is_exact_and_proves_it() -> None:
    """4 labels and 5 tokens have 1024 labellings; nothing is tracked twice, and nothing is dropped."""
    for seed in range(REPEATS):
        problem = random_problem(seed)
        found, truth = Beam(1024).decode(problem), Enumerate().decode(problem)
        assert found.certificate.status is truth.certificate.status, seed
        assert found.score == pytest.approx(truth.score), seed


def test_one_labelling_without_rules_is_viterbi() -> None:
    """The best rest of the chain leads the way."""
    for seed in range(REPEATS):
        problem = random_problem(seed, "any", "soft")
        found = Beam(1).decode(problem, limits=Limits(iterations=1))
        assert found.score == Viterbi().decode(problem).score, seed


def test_a_wider_beam_finds_more() -> None:
    problems = [random_problem(seed, "any", "soft", length=5, size=4) for seed in range(REPEATS)]
    means = [np.mean([Beam(width).decode(p).score for p in problems if p]) for width in (1, 4, 64)]
    assert means[0] < means[1] <= means[2]


def test_no_time_leaves_the_chain_s_answer() -> None:
    problem = random_problem(3, "any", "soft", length=5)
    found = Beam().decode(problem, limits=Limits(seconds=0.0))
    assert found.score == Viterbi().decode(problem).score


def test_a_good_hint_is_kept() -> None:
    for seed in range(REPEATS):
        problem = random_problem(seed, "any", "soft", length=4)
        best = Enumerate().decode(problem)
        if best.states is not None:
            assert Beam(1).decode(problem, hint=best.states).score == best.score, seed
