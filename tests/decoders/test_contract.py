"""What every decoder promises, on thousands of small problems with rules of every class.

score == problem.score(states);   bound ≥ score, and ≥ what any labelling scores;
OPTIMAL just when bound and score meet;   INFEASIBLE only if there is no labelling;
an exact decoder finds the optimum and knows it.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

import numpy as np
import pytest
from numba import config
from problems_of_all_rules import all_labellings, all_scores, large_problem, random_problems, truth

from conseq.constraints import CONSTRAINTS, Segments
from conseq.constraints.program import Program
from conseq.corpus import Corpus
from conseq.decoders.arrays import decode
from conseq.decoders.auto import DECODERS, Auto
from conseq.decoders.base import Limits
from conseq.decoders.enumeration import Enumerate
from conseq.decoders.ilp import ILP
from conseq.decoders.lazy import Lazy
from conseq.errors import ConseqError
from conseq.potentials import Potentials
from conseq.problem import Decoding, Problem, Problems, Status
from conseq.schema import Schema

EXACT = ("auto", "lazy", "ilp", "wcsp", "enumerate")
DRAWS = {"auto": 750, "lazy": 750, "ilp": 60, "wcsp": 60, "enumerate": 60}
"""Draws of four sequences each; those not named have OTHERS."""
OTHERS = 150
SLOW = 25 if config.DISABLE_JIT else 1
"""Interpreted kernels take this many times fewer draws."""
SEQUENCES = 4
OWN_OBJECTIVE = ("twostage",)
"""Decoders whose status and bound speak of another objective than `Problem.score`."""


@lru_cache(maxsize=1000)
def drawn(seed: int) -> list[tuple[Problem, float]]:
    """Four problems with the same rules, and the best score of each."""
    return [(problem, truth(problem)) for problem in random_problems(seed, SEQUENCES)]


def draws(name: str) -> range:
    return range(DRAWS.get(name, OTHERS) // SLOW)


def close(score: float, share: float = 1e-9) -> float:
    """What counts as equal: a share of the score, but of a large one no more than float64 loses."""
    return share * (1 + min(abs(score), 1e3)) + 1e-13 * abs(score) if np.isfinite(score) else 0.0


def check(found: Decoding, best: float, place: str) -> None:
    """The promises of any decoder, whatever stopped it."""
    problem, certificate = found.problem, found.certificate
    if found.states is None:
        assert found.score == -np.inf, place
        assert certificate.status in (Status.INFEASIBLE, Status.UNKNOWN), place
    else:
        assert found.score == problem.score(found.states) > -np.inf, place
        assert found.score <= best + close(best, 1e-8), place
        assert certificate.bound >= found.score, place
        assert certificate.gap == certificate.bound - found.score, place
        meet = certificate.gap <= close(found.score, 1e-7)
        assert certificate.status is (Status.OPTIMAL if meet else Status.FEASIBLE), place


def check_bound(found: Decoding, best: float, place: str) -> None:
    """Nothing scores more than the bound."""
    assert found.certificate.bound >= best - close(best), place
    if found.certificate.status is Status.INFEASIBLE:
        assert best == -np.inf, place


def check_exact(found: Decoding, best: float, place: str) -> None:
    wanted = Status.INFEASIBLE if best == -np.inf else Status.OPTIMAL
    assert found.certificate.status is wanted, place
    assert found.score >= best - close(best, 1e-7), place


@pytest.mark.parametrize("name", DECODERS)
def test_small_problems(name):
    decoder = DECODERS[name]()
    for seed in draws(name):
        for i, (problem, best) in enumerate(drawn(seed)):
            place = f"{name}, seed {seed}, sequence {i}"
            found = decoder.decode(problem)
            check(found, best, place)
            if name not in OWN_OBJECTIVE:
                check_bound(found, best, place)
            if name in EXACT:
                check_exact(found, best, place)


def test_the_draw_has_everything():
    """Each class of rule and each way to be infeasible, or the test above says less than it seems to."""
    problems = [pair for seed in range(300 // SLOW) for pair in drawn(seed)]
    rules = Counter(type(rule) for problem, _ in problems for rule in problem.program.rules)
    assert set(rules) == set(CONSTRAINTS)
    assert {problem.n_tokens for problem, _ in problems} >= {0, 1, 2, 3}
    assert {str(problem.schema.scheme) for problem, _ in problems} == {"plain", "bio", "bioes"}
    assert any(problem.schema.levels > 1 for problem, _ in problems)
    assert any(problem.potentials.label_of is not None for problem, _ in problems)
    assert all(problem.potentials.unary.dtype == np.float64 for problem, _ in problems)
    assert any(len(problem.potentials.pairwise) == 3 for problem, _ in problems)
    assert any(len(problem.program.rules) >= 40 for problem, _ in problems)
    infeasible = [problem for problem, best in problems if best == -np.inf]
    chains = [np.isfinite(all_scores(free(p), all_labellings(p))).any() for p in infeasible]
    assert any(chains), "rules that no labelling satisfies"
    assert not all(chains), "scores that forbid every labelling"


def free(problem: Problem) -> Problem:
    """The problem without its rules."""
    return Problem(problem.potentials, Program.of([], problem.schema, problem.program.corpus))


def test_the_objective_is_that_of_the_rules_one_by_one():
    """Model score − Σ penalty · violation, each violation as the rule itself defines it for names."""
    for seed in range(60 // SLOW):
        for i, (problem, _) in enumerate(drawn(seed)):
            found = Auto().decode(problem)
            if found.states is None:
                continue
            corpus, a = problem.program.corpus, problem.first_token
            tokens = corpus.columns[corpus.token_column].strings(a, a + problem.n_tokens)
            cost = 0.0
            for rule in problem.program.rules:
                cost += rule.cost(rule.violation(found.labels, problem.schema, tokens))
            model = problem.potentials.score(found.states)
            assert found.score == pytest.approx(model - cost, rel=1e-12, abs=1e-9), (
                f"seed {seed}, sequence {i}"
            )


LARGE = [(15, 5, 4), (20, 6, 6), (16, 12, 5), (30, 5, 8), (24, 8, 10), (18, 9, 16)]


@pytest.mark.skipif(config.DISABLE_JIT, reason="too slow")
@pytest.mark.parametrize(("length", "n_labels", "n_rules"), LARGE)
def test_larger_problems_have_the_integer_program_s_optimum(length, n_labels, n_rules):
    """Where HiGHS needs long, the optimum is between the best that it found and its bound."""
    for seed in range(1000 * length, 1000 * length + 8):
        problem = large_problem(seed, length, n_labels, n_rules)
        wanted = ILP().decode(problem, limits=Limits(seconds=0.3))
        lazy = Lazy().decode(problem, limits=Limits(states=50_000))
        auto = Auto().decode(problem, limits=Limits(seconds=5.0))
        check_between(lazy, wanted, f"lazy, seed {seed}")
        check_between(auto, wanted, f"auto, seed {seed}")
        for found in (lazy, wanted):  # what another decoder settles soon, auto does, too
            if found.certificate.status in (Status.OPTIMAL, Status.INFEASIBLE):
                assert auto.certificate.status is found.certificate.status, f"seed {seed}"


def check_between(found: Decoding, wanted: Decoding, place: str) -> None:
    check(found, wanted.certificate.bound, place)
    assert found.certificate.bound >= wanted.score - close(wanted.score, 1e-7), place
    if found.certificate.status is Status.INFEASIBLE:
        assert wanted.states is None, place
    elif found.certificate.status is Status.OPTIMAL:
        assert found.score >= wanted.score - close(wanted.score, 1e-7), place


LIMITS = [
    Limits(seconds=0.0),
    Limits(seconds=1e-3),
    Limits(iterations=0),
    Limits(iterations=1),
    Limits(iterations=2),
    Limits(states=0),
    Limits(states=1),
    Limits(states=7),
    Limits(nodes=0),
    Limits(nodes=1, states=5),
    Limits(seconds=1e-3, iterations=3, states=40),
]


@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize("name", DECODERS)
def test_limits_leave_a_valid_certificate(name, limits):
    decoder = DECODERS[name]()
    for seed in range(12 // min(SLOW, 6)):
        for i, (problem, best) in enumerate(drawn(seed)):
            place = f"{name}, {limits}, seed {seed}, sequence {i}"
            if name == "enumerate" and problem.n_states**problem.n_tokens > limits.states:
                with pytest.raises(ConseqError, match="more than the limit"):
                    decoder.decode(problem, limits=limits)
                continue
            found = decoder.decode(problem, limits=limits)
            check(found, best, place)
            if name not in OWN_OBJECTIVE:
                check_bound(found, best, place)


@pytest.mark.skipif(config.DISABLE_JIT, reason="too slow")
@pytest.mark.parametrize("name", ["auto", "lazy"])
def test_limits_on_larger_problems(name):
    for seed, limits in enumerate(LIMITS):
        problem = large_problem(seed, 20, 6, 8)
        wanted = ILP().decode(problem, limits=Limits(seconds=0.3))
        check_between(
            DECODERS[name]().decode(problem, limits=limits), wanted, f"{name}, {limits}, seed {seed}"
        )


def test_a_hint_is_never_lost():
    for seed in range(40 // SLOW):
        for problem, best in drawn(seed):
            good = Enumerate().decode(problem).states
            if good is None:
                continue
            for name, decoder in DECODERS.items():
                if name in (*OWN_OBJECTIVE, "enumerate", "viterbi"):
                    continue
                found = decoder().decode(problem, hint=good, limits=Limits(iterations=1))
                assert found.score >= best - close(best), f"{name}, seed {seed}"


# ── cases that went wrong once, or might ────────────────────────────────────────────────────────

SCORES = np.random.default_rng(2).normal(0, 2, (6, 3))
HARD_CASES = {
    "a sum that is broken from the start": "tokens(A) + 5 <= 1  penalty 0.7\ntokens(A) + 3 <= 2  penalty 1.1",
    "a sum that can never hold": "tokens(A) + 5 <= 1  hard",
    "rules that contradict": "at most 0 segments of A  hard\nat least 1 segment of A  hard",
    "nearly hard rules that contradict": "count(A) <= 0  penalty 1e6\ncount(A) >= 1  penalty 1e6",
    "the same rule many times": "if A then B  penalty 0.4\n" * 9 + "count(B) <= 1  penalty 0.3\n" * 9,
    "one counter on both sides": "tokens(A) + tokens(A) - tokens(A) <= tokens(A) - 1  penalty 0.7",
    "penalties too small to matter": "at most 1 segment of A  penalty 1e-12\nA is contiguous  penalty 1e-12",
}


@pytest.mark.parametrize("case", HARD_CASES)
@pytest.mark.parametrize("name", DECODERS)
def test_hard_cases(name, case):
    for scale in (1.0, 1e-4, 1e4):
        check_rules(name, HARD_CASES[case], scale)


@pytest.mark.parametrize("weight", [20_000, 40_000, 1_000_000_000])
@pytest.mark.parametrize("name", EXACT)
def test_large_weights(name, weight):
    """Sums beyond 16 and 32 bits."""
    sum_ = f"{weight} count(A) + {weight} tokens(A) - {weight} tokens(B)"
    check_rules(name, f"{sum_} <= {weight * 3 // 2}  penalty {1 / weight:.12f}", 1.0)


def check_rules(name: str, rules: str, scale: float) -> None:
    """All promises for these rules and scores of some size."""
    best = decode(scale * SCORES, labels=["O", "A", "B"], constraints=rules, decoder="enumerate").score
    found = decode(scale * SCORES, labels=["O", "A", "B"], constraints=rules, decoder=name)
    place = f"{name}, scores of size {scale}"
    check(found, best, place)
    if name not in OWN_OBJECTIVE:
        check_bound(found, best, place)
    if name in EXACT:
        check_exact(found, best, place)


@pytest.mark.parametrize("name", EXACT)
def test_one_program_for_potentials_whose_states_stand_for_different_labels(name):
    """What is kept for a program must not depend on the potentials that it was first used with."""
    schema, corpus = Schema(["O", "A"], "plain"), Corpus({}, np.array([0, 6]))
    program = Program.of([Segments("at most", 1, "A", penalty=1.5)], schema, corpus)
    for seed in range(30 // min(SLOW, 10)):
        rng = np.random.default_rng(seed)
        for label_of in ([0, 1, 1], [1, 0, 0], [0, 1, 0]):
            potentials = Potentials.of(rng.normal(0, 2, (6, 3)), rng.normal(0, 2, (3, 3)), label_of=label_of)
            problem = Problems(potentials, program)[0]
            check_exact(DECODERS[name]().decode(problem), truth(problem), f"{name}, seed {seed}, {label_of}")
