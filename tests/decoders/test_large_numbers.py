"""Large penalties and long documents: what is called optimal is, and `auto` finds what others find."""

from __future__ import annotations

import numpy as np
import pytest
from problems_of_all_rules import random_problems, truth

import conseq
from conseq.constraints import Required
from conseq.decoders.auto import DECODERS
from conseq.problem import Problem, Problems, Status

EXACT = ("auto", "lazy", "dual", "wcsp", "enumerate")


def test_a_large_penalty_that_nobody_avoids_hides_no_gap():
    """By hand: every labelling pays 10¹². A A O has the highest score, 6, but pays 50 for an A before an
    O; A A A has 5 and pays nothing more."""
    rules = "require START -> END penalty 1000000000000\nO before A penalty 50"
    scores = [[1, 3], [-3, 1], [2, 1]]
    for decoder in EXACT:
        found = conseq.decode(scores, labels=["O", "A"], constraints=rules, decoder=decoder)
        assert found.certificate.status.name != "OPTIMAL" or found.certificate.gap < 1, decoder
        assert found.certificate.bound >= -1e12 + 5, decoder
    found = conseq.decode(scores, labels=["O", "A"], constraints=rules)
    assert (found.labels, found.score) == (["A", "A", "A"], -1e12 + 5)


@pytest.mark.parametrize("name", EXACT)
def test_small_problems_under_a_large_penalty(name):
    """Of any two labellings of which one is better by more than rounding, it is never the worse that is
    OPTIMAL."""
    decoder = DECODERS[name]()
    for seed in range(60):
        for i, plain in enumerate(random_problems(seed, 3)):
            problem = _under(plain, 1e12)
            best = truth(problem)
            found = decoder.decode(problem)
            place = f"{name}, seed {seed}, sequence {i}"
            assert found.certificate.bound >= best - 0.2 or best == -np.inf, place
            if found.certificate.status is Status.OPTIMAL:
                assert found.score >= best - 0.2, place


def _under(problem: Problem, penalty: float) -> Problem:
    """The problem with a rule that no labelling satisfies."""
    rules = [*problem.program.rules, Required("START", "END", penalty=penalty)]
    a, b = problem.first_token, problem.first_token + problem.n_tokens
    corpus = problem.program.corpus
    number = int(np.flatnonzero((corpus.offsets[:-1] == a) & (corpus.offsets[1:] == b))[0])
    return Problems.of(problem.potentials, problem.schema, rules, corpus.select([number]))[0]


LONG = {
    "a rule across a long document": (1200, 30, "not both L1 and L2  hard"),
    "many labels": (50, 151, f"exactly one of {', '.join(f'L{i}' for i in range(150))} hard"),
}


@pytest.mark.parametrize("name", LONG)
def test_auto_finds_what_dual_proves(name):
    """More than a million steps, and an optimum far below Viterbi's."""
    length, size, rule = LONG[name]
    assert length * size**2 > 1_000_000
    scores = np.random.default_rng(0).normal(0, 1, (length, size))
    labels = [f"L{i}" for i in range(size)]
    auto = conseq.decode(scores, labels=labels, constraints=rule)
    dual = conseq.decode(scores, labels=labels, constraints=rule, decoder="dual")
    assert auto.certificate.status is dual.certificate.status is Status.OPTIMAL
    assert auto.score == pytest.approx(dual.score, rel=1e-9)
