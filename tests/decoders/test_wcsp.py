"""Weighted CSPs: against enumeration on random tables and against toulbar2; limits; mistakes in sentences."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems_of_all_rules import large_problem

import conseq
from conseq.decoders.auto import Auto
from conseq.decoders.base import Limits
from conseq.decoders.chain_as_variables import ChainAsVariables
from conseq.decoders.variables.buckets import Buckets, elimination_order
from conseq.decoders.variables.search import Search
from conseq.decoders.variables.wcsp import WCSP, Solution
from conseq.errors import ScoreError
from conseq.problem import Status

SEEDS = st.integers(0, 2**32 - 1)


def random_csp(seed: int, most_variables: int = 6) -> WCSP:
    """Up to six variables of up to four values, tables over none to three of them, some values forbidden."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, rng.integers(0, most_variables + 1)).tolist()
    csp = WCSP(sizes)
    forbidden = float(rng.choice([0.0, 0.1, 0.5]))
    for _ in range(rng.integers(0, 2 * len(sizes) + 2)):
        scope = rng.permutation(len(sizes))[: rng.integers(0, 4)].tolist()
        weights = np.round(rng.normal(0, 3, [sizes[v] for v in scope]), 2)
        csp.add(scope, np.where(rng.random(weights.shape) < forbidden, -np.inf, weights))
    return csp


def best_of_all(csp: WCSP) -> float:
    """By trying every assignment."""
    return max(csp.score(choice) for choice in product(*map(range, csp.sizes)))


def check(found: Solution, csp: WCSP, best: float) -> None:
    """What every answer promises."""
    certificate = found.certificate
    assert certificate.bound >= best - 1e-9 * (1 + abs(best)) if best > -np.inf else True
    if found.assignment is None:
        assert found.choice is None
        assert found.score == -np.inf
        assert certificate.status is (Status.INFEASIBLE if certificate.bound == -np.inf else Status.UNKNOWN)
        assert certificate.status is Status.UNKNOWN or best == -np.inf
    else:
        assert found.score == csp.score(found.choice) <= best + 1e-9 * (1 + abs(best))
        assert found.score > -np.inf
        assert certificate.bound >= found.score
        meet = certificate.gap <= 1e-7 * (1 + abs(found.score))
        assert certificate.status is (Status.OPTIMAL if meet else Status.FEASIBLE)


@settings(deadline=None, max_examples=150)
@given(seed=SEEDS, states=st.sampled_from([0, 6, 20, 1_000_000]))
def test_the_answer_is_the_best_of_all(seed, states):
    """However few cells elimination may make: the search makes up for it."""
    csp = random_csp(seed)
    best = best_of_all(csp)
    found = csp.solve(Limits(states=states))
    check(found, csp, best)
    assert found.certificate.status is (Status.INFEASIBLE if best == -np.inf else Status.OPTIMAL)
    assert found.score == pytest.approx(best)


@settings(deadline=None, max_examples=80)
@given(seed=SEEDS, nodes=st.integers(0, 6), seconds=st.sampled_from([0.0, np.inf]), hinted=st.booleans())
def test_limits_leave_a_valid_certificate(seed, nodes, seconds, hinted):
    csp = random_csp(seed)
    rng = np.random.default_rng(seed)
    hint = [int(rng.integers(size)) for size in csp.sizes] if hinted else None
    found = csp.solve(Limits(states=6, nodes=nodes, seconds=seconds), hint)
    check(found, csp, best_of_all(csp))
    if hint is not None:
        assert found.score >= csp.score(hint)


@settings(deadline=None, max_examples=80)
@given(seed=SEEDS, cells=st.sampled_from([0, 6, 20, 1_000_000]))
def test_buckets_bound_the_optimum_and_are_exact_where_nothing_is_parted(seed, cells):
    csp = random_csp(seed)
    best = best_of_all(csp)
    buckets = Buckets.of(dict(enumerate(csp.sizes)), csp.tables, Limits(states=cells))
    assert buckets is not None
    assert buckets.bound >= best - 1e-9 * (1 + abs(best)) if best > -np.inf else True
    assert sorted(buckets.order) == list(range(len(csp.sizes)))
    assert all((table.weights <= 1e-9).all() for bucket in buckets.tables for table in bucket)
    if cells == 1_000_000:
        assert buckets.bound == pytest.approx(best)


def test_a_long_chain_needs_no_search():
    """Two variables in a table at most: elimination does it, whatever its length."""
    rng = np.random.default_rng(0)
    n = 200
    csp = WCSP([4] * n)
    for t in range(n - 1):
        csp.add([t, t + 1], rng.normal(size=(4, 4)))
    found = csp.solve(Limits(nodes=n))
    assert found.certificate.status is Status.OPTIMAL
    assert elimination_order(dict.fromkeys(range(n), 4), [table.scope for table in csp.tables])[0] in (
        0,
        n - 1,
    )


def test_parts_that_nothing_connects_are_solved_one_by_one():
    """Ten knots of five variables; together their search would have no end."""
    rng = np.random.default_rng(1)
    csp, total = WCSP([3] * 50), 0.0
    for first in range(0, 50, 5):
        alone = WCSP([3] * 5)
        for i, j in combinations(range(5), 2):
            weights = rng.normal(size=(3, 3))
            alone.add([i, j], weights)
            csp.add([first + i, first + j], weights)
        total += best_of_all(alone)
    found = csp.solve(Limits(states=9))
    assert found.certificate.status is Status.OPTIMAL
    assert found.score == pytest.approx(total)


def test_without_time_nothing_is_claimed():
    csp = wide(0, 30)
    assert Buckets.of(dict(enumerate(csp.sizes)), csp.tables, Limits(seconds=0)) is None
    found = csp.solve(Limits(seconds=0))
    assert found.certificate.status is Status.UNKNOWN
    assert found.certificate.bound >= csp.solve(Limits(nodes=1000)).certificate.bound


def test_a_stopped_search_has_an_honest_gap():
    csp = wide(0, 30)
    found = csp.solve(Limits(states=1000, nodes=200))
    longer = csp.solve(Limits(states=1000, nodes=20_000))
    assert found.certificate.status is Status.FEASIBLE
    assert found.certificate.bound >= longer.certificate.bound >= longer.score >= found.score


def wide(seed: int, n: int, density: float = 0.3) -> WCSP:
    rng = np.random.default_rng(seed)
    csp = WCSP([4] * n)
    for i, j in combinations(range(n), 2):
        if rng.random() < density:
            csp.add([i, j], rng.integers(-9, 1, (4, 4)))
    return csp


@pytest.mark.parametrize("seed", range(4))
def test_toulbar2_finds_the_same(seed):
    toulbar2 = pytest.importorskip("pytoulbar2", reason="pytoulbar2 is not installed")
    csp = wide(seed, 14)
    rng = np.random.default_rng(seed)
    for _ in range(10):
        scope = rng.permutation(14)[:3].tolist()
        weights = rng.integers(-9, 1, (4, 4, 4)).astype(float)
        csp.add(scope, np.where(rng.random((4, 4, 4)) < 0.2, -np.inf, weights))
    peer = toulbar2.CFN(1_000_000)
    for v, size in enumerate(csp.sizes):
        peer.AddVariable(f"x{v}", range(size))
    for table in csp.tables:
        costs = np.where(table.weights > -np.inf, -table.weights, 1_000_000).astype(int)
        peer.AddFunction([f"x{v}" for v in table.scope], costs.ravel().tolist())
    answer = peer.Solve()
    found = csp.solve(Limits(states=2000))
    assert found.certificate.status is (Status.OPTIMAL if answer else Status.INFEASIBLE)
    if answer:
        assert found.score == -answer[1]
        assert csp.score(answer[0]) == -answer[1]


# ── sums ────────────────────────────────────────────────────────────────────────────────────────


def random_csp_with_sums(seed: int) -> WCSP:
    """Tables and sums over up to five variables."""
    rng = np.random.default_rng(seed)
    csp = random_csp(seed, 5)
    for _ in range(rng.integers(1, 5)):
        terms = {}
        for _ in range(rng.integers(0, 6)):
            if csp.sizes:
                v = int(rng.integers(len(csp.sizes)))
                terms[v, int(rng.integers(csp.sizes[v]))] = float(rng.choice([-2, -1, 0.5, 1, 1, 2]))
        csp.add_sum(terms, float(rng.integers(-1, 3)), float(rng.choice([np.inf, 0.0, 0.7, 4.0])))
    return csp


def naive_score(csp: WCSP, choice: tuple[int, ...]) -> float:
    total = sum(float(table.weights[tuple(choice[v] for v in table.scope)]) for table in csp.tables)
    for terms, bound, penalty in csp.sums:
        excess = sum(weight for (v, value), weight in terms.items() if choice[v] == value) - bound
        total -= penalty * excess if excess > 0 else 0.0
    return total


@settings(deadline=None, max_examples=150)
@given(seed=SEEDS, solver=st.sampled_from(["auto", "elimination", "ilp", Search(most_work=0)]))
def test_tables_and_sums_have_the_best_of_all(seed, solver):
    csp = random_csp_with_sums(seed)
    best = max(naive_score(csp, choice) for choice in product(*map(range, csp.sizes)))
    assert best == pytest.approx(best_of_all(csp))
    for limits in (Limits(), Limits(states=0)):  # without cells tables become variables
        found = csp.solve(limits, solver=solver)
        check(found, csp, best)
        assert found.certificate.status is (Status.INFEASIBLE if best == -np.inf else Status.OPTIMAL)
        assert found.score == pytest.approx(best)


@settings(deadline=None, max_examples=60)
@given(seed=SEEDS, solver=st.sampled_from(["lp", "beam"]))
def test_what_is_not_exact_has_an_honest_certificate(seed, solver):
    csp = random_csp_with_sums(seed)
    best = best_of_all(csp)
    found = csp.solve(solver=solver)
    check(found, csp, best)
    if solver == "lp" and found.integral and found.rounding_legal:
        assert found.score == pytest.approx(best)


def test_the_relaxation_says_whether_it_was_whole():
    """Of three things one may be taken, said of two at a time: the relaxation takes half of each."""
    csp = WCSP([2, 2, 2])
    for v in range(3):
        csp.add([v], [0.0, 1.0]).add_sum({(v, 1): 1, ((v + 1) % 3, 1): 1}, 1)
    found = csp.solve(solver="lp")
    assert found.integral is False
    assert found.certificate.bound == pytest.approx(1.5)
    assert csp.solve().score == 1.0
    assert csp.solve().integral is None


# ── names, dicts, mistakes ──────────────────────────────────────────────────────────────────────


def test_variables_and_values_can_have_names():
    csp = conseq.WCSP({"sky": ["grey", "blue"], "coat": ["on", "off"]})
    csp.add(["sky"], [0.0, 1.0]).add(["sky", "coat"], {("blue", "on"): -3.0, ("grey", "off"): -2.0})
    found = csp.solve()
    assert found.assignment == {"sky": "blue", "coat": "off"}
    assert found.score == 1.0
    assert WCSP(["xy", 2]).add([0], {"y": 2.0}).solve().assignment == {0: "y", 1: 0}


def test_without_variables_or_tables():
    assert WCSP([]).solve().assignment == {}
    assert WCSP([]).add([], -2.5).solve().score == -2.5
    assert WCSP([]).add([], -np.inf).solve().certificate.status is Status.INFEASIBLE
    assert WCSP([3, 2]).solve().score == 0.0


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: WCSP([2, 0]), "variable 1 has no values"),
        (lambda: WCSP({"x": ["a", "a"]}), "variable 'x' has a value twice"),
        (lambda: WCSP([2]).add([1], [0.0, 0.0]), "no variable 1; the variables are 0"),
        (lambda: WCSP([2]).add([0, 0], np.zeros((2, 2))), "names a variable twice"),
        (lambda: WCSP([2, 3]).add([0, 1], np.zeros((3, 2))), r"has the shape \(3, 2\); give \(2, 3\)"),
        (lambda: WCSP([2]).add([0], [0.0, np.nan]), "not a number"),
        (lambda: WCSP([2]).add([0], [0.0, np.inf]), r"\+inf"),
        (lambda: WCSP([2]).add([0], ["a", "b"]), "is not an array of numbers"),
        (lambda: WCSP([2]).add([0], {(2,): 1.0}), "which cannot be"),
        (lambda: WCSP([2]).solve(hint=[0, 1]), "the hint has the shape"),
        (lambda: WCSP([2]).solve(hint=[2]), "value 2 for variable 0"),
        (lambda: WCSP([2]).add_sum({(1, 0): 1}), "no variable 1; the variables are 0"),
        (lambda: WCSP([2]).add_sum({(0, 2): 1}), "variable 0 has no value 2"),
        (lambda: WCSP([2]).add_sum({(0, 1): np.nan}), "the weight nan"),
        (lambda: WCSP([2]).add_sum({(0, 1): 1}, np.nan), "the bound nan"),
        (lambda: WCSP([2]).add_sum({(0, 1): 1}, 0, -1), "the penalty -1"),
    ],
)
def test_mistakes_are_sentences(make, says):
    with pytest.raises(ScoreError, match=says):
        make()


# ── the decoder ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", range(6))
def test_longer_sequences_have_the_optimum_of_auto(seed):
    problem = large_problem(seed, 10, 4, 4)
    wanted = Auto().decode(problem, limits=Limits(seconds=5))
    found = ChainAsVariables().decode(problem, limits=Limits(seconds=5))
    assert found.certificate.bound >= wanted.score - 1e-7 * (1 + abs(wanted.score))
    if found.certificate.status is Status.OPTIMAL:
        assert found.score == pytest.approx(wanted.score)
    if found.certificate.status is Status.INFEASIBLE:
        assert wanted.states is None


def test_rules_whose_tables_would_be_too_large_are_left_out_honestly():
    scores = np.random.default_rng(4).normal(0, 2, (8, 3))
    arguments = {"labels": ["O", "A", "B"], "constraints": "tokens(A) <= 1  penalty 1.5", "decoder": "wcsp"}
    found = conseq.decode(scores, **arguments, limits={"states": 1})
    exact = conseq.decode(scores, **arguments)
    assert exact.certificate.status is Status.OPTIMAL
    assert found.certificate.bound >= exact.score >= found.score
