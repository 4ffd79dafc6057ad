"""`decoders/constrained_nbest.py` against the enumeration of all labellings."""

from __future__ import annotations

from itertools import pairwise

import naive
import numpy as np
import pytest
from library_problems import library_problem
from problems_by_kind import KINDS, STRICTNESS, random_problem
from rules_by_hand import at_most_one

from conseq.decoders.base import Limits
from conseq.decoders.chain.viterbi import viterbi
from conseq.decoders.constrained_nbest import n_best_all, n_best_decodings
from conseq.decoders.enumeration import all_scores, labellings
from conseq.potentials import Potentials
from conseq.problem import Decoding, Problem, Problems, Status
from conseq.schema import Schema

REPEATS = 25
RANKS = (1, 3, 12, 80)


def truth(problem: Problem) -> np.ndarray:
    """The scores of all feasible labellings, falling."""
    scores = np.concatenate([all_scores(problem, states) for states in labellings(problem)])
    return np.sort(scores[scores > -np.inf])[::-1]


def check_complete(problem: Problem, found: list[Decoding], n: int, place: str) -> None:
    """The n best of all labellings, different ones, each proved."""
    expected = truth(problem)[:n]
    assert len(found) == len(expected), place
    assert np.allclose([d.score for d in found], expected, rtol=1e-9, atol=1e-9), place
    assert all(a.score >= b.score for a, b in pairwise(found)), place
    assert len({d.states.tobytes() for d in found if d.states is not None}) == len(found), place
    for d in found:
        assert d.states is not None, place
        assert d.score == problem.score(d.states), place
        assert d.certificate.status is Status.OPTIMAL, place
        assert d.certificate.bound >= d.score, place


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("strictness", STRICTNESS)
def test_the_n_best_of_all_labellings(kind: str, strictness: str) -> None:
    for seed in range(REPEATS):
        problem = random_problem(seed, kind, strictness)
        n = RANKS[seed % len(RANKS)]
        check_complete(problem, n_best_decodings(problem, n), n, f"seed {seed}, {kind}, {strictness}, n {n}")


@pytest.mark.parametrize("strictness", STRICTNESS)
def test_the_n_best_under_the_rules_of_the_library(strictness: str) -> None:
    for seed in range(4 * REPEATS):
        problem = library_problem(seed, strictness)
        n = RANKS[seed % len(RANKS)]
        check_complete(problem, n_best_decodings(problem, n), n, f"seed {seed}, {strictness}, n {n}")


def test_equal_scores_are_all_there() -> None:
    """All labellings score the same: any order, but none twice and none missing."""
    schema = Schema(["a", "b", "c"], "plain")
    problem = Problems.of(Potentials.of(np.zeros((4, 3))), schema, [at_most_one(3, 0)])[0]
    total = len(truth(problem))
    assert 0 < total < 81
    for n in (5, total, 81):
        check_complete(problem, n_best_decodings(problem, n), n, f"n {n}")


@pytest.mark.parametrize("length", [0, 1])
@pytest.mark.parametrize("size", [1, 3])
def test_shortest_sequences(length: int, size: int) -> None:
    for seed in range(REPEATS):
        problem = random_problem(seed, length=length, size=size)
        check_complete(problem, n_best_decodings(problem, 4), 4, f"seed {seed}")


def test_no_labelling_is_an_empty_list() -> None:
    schema = Schema(["a", "b"], "plain")
    forbidden = Potentials.of([[-np.inf, 0.0], [0.0, 0.0], [-np.inf, 1.0]], [[0.0, -np.inf], [0.0, -np.inf]])
    assert n_best_decodings(Problems.of(forbidden, schema, [at_most_one(2, 1)])[0], 3) == []
    only_two_runs = Potentials.of([[-np.inf, 0.0], [0.0, -np.inf], [-np.inf, 1.0]])
    assert n_best_decodings(Problems.of(only_two_runs, schema, [at_most_one(2, 1)])[0], 3) == []


@pytest.mark.parametrize(
    "limits", [Limits(states=3), Limits(states=12), Limits(iterations=1), Limits(seconds=0.0)]
)
def test_under_a_limit_bounds_are_honest(limits: Limits) -> None:
    stopped = 0
    for seed in range(3 * REPEATS):
        problem, n = random_problem(seed, strictness=STRICTNESS[seed % 3]), 6
        expected, found = truth(problem), n_best_decodings(problem, n, limits)
        for k, d in enumerate(found):
            place = f"seed {seed}, rank {k}"
            kth = expected[k] if k < len(expected) else -np.inf
            assert d.certificate.bound >= kth - 1e-9, place
            if d.states is None:
                assert k == len(found) - 1, place
                assert d.certificate.status is Status.UNKNOWN, place
            else:
                assert d.score <= kth + 1e-9, place
            if d.certificate.status is Status.OPTIMAL:
                assert d.score == pytest.approx(kth, rel=2e-7, abs=2e-7), place
            else:
                stopped += 1
        if len(found) < n and all(d.states is not None for d in found):
            assert len(found) == len(expected), f"seed {seed}"
    assert stopped > 5


def test_many_sequences_are_those_one_by_one() -> None:
    rng = np.random.default_rng(5)
    offsets = np.array([0, 4, 4, 5, 11])
    potentials = Potentials.of(rng.normal(size=(11, 3)), rng.normal(size=(3, 3)), offsets=offsets)
    problems = Problems.of(potentials, Schema(["a", "b", "c"], "plain"), [at_most_one(3, 1, 0.8)])
    found = n_best_all(problems, 5, threads=2)
    for problem, many in zip(problems, found, strict=True):
        check_complete(problem, many, 5, "in a batch")
        alone = n_best_decodings(problem, 5)
        assert [d.score for d in alone] == [d.score for d in many]


def test_a_hint_is_kept_where_time_is_short_and_changes_nothing_else() -> None:
    """The worst feasible labelling of two sequences, none for the third, one that breaks a hard rule."""
    rng = np.random.default_rng(6)
    potentials = Potentials.of(rng.normal(size=(12, 2)), offsets=np.array([0, 3, 6, 9, 12]))
    problems = Problems.of(potentials, Schema(["a", "b"], "plain"), [at_most_one(2, 1), at_most_one(2, 0)])
    broken = np.array([0, 1, 0])
    assert problems[3].score(broken) == -np.inf
    worst = []
    for problem in (problems[0], problems[1]):
        states = np.concatenate(labellings(problem))
        scores = all_scores(problem, states)
        worst.append(states[np.where(scores > -np.inf, scores, np.inf).argmin()])
    hint = np.concatenate([*worst, np.full(3, -1), broken]).astype(np.int64)
    for problem, found in zip(problems, n_best_all(problems, 8, hint=hint), strict=True):
        check_complete(problem, found, 8, "with a hint")
    hasty = n_best_all(problems, 8, Limits(seconds=0.0, states=1), hint=hint)
    for states, found in zip(worst, hasty[:2], strict=True):
        assert any(np.array_equal(states, d.states) for d in found if d.states is not None)
    assert all(d.score > -np.inf for found in hasty for d in found if d.states is not None)


def test_a_longer_sequence_is_proved_with_many_ranks() -> None:
    """40 tokens, 6 labels: the first must be the optimum, and all must be distinct and proved."""
    rng = np.random.default_rng(1)
    schema = Schema([f"y{i}" for i in range(6)], "plain")
    potentials = Potentials.of(rng.normal(size=(40, 6)), 2 * np.eye(6))
    rules = [at_most_one(6, label, penalty) for label, penalty in enumerate((3.0, np.inf, 1.0))]
    problem = Problems.of(potentials, schema, rules)[0]
    found = n_best_decodings(problem, 50)
    assert len({d.states.tobytes() for d in found if d.states is not None}) == 50
    assert {d.certificate.status for d in found} == {Status.OPTIMAL}
    for (
        d
    ) in found:  # whatever differs from one of them at one token is among them, or not better than the last
        assert d.states is not None
        for t in rng.integers(0, 40, 5).tolist():
            other = d.states.copy()
            other[t] = (other[t] + 1) % 6
            listed = any(np.array_equal(other, e.states) for e in found if e.states is not None)
            assert listed or problem.score(other) <= found[-1].score + 1e-9


def test_at_least_one_labelling_must_be_asked_for() -> None:
    with pytest.raises(ValueError, match="n is 0"):
        n_best_decodings(random_problem(0), 0)


# ── without rules ───────────────────────────────────────────────────────────────────────────────


def plain(potentials: Potentials) -> Problems:
    return Problems.of(potentials, Schema([f"y{i}" for i in range(potentials.n_states)], "plain"))


@pytest.mark.parametrize("seed", range(5))
def test_every_chain_gets_its_best_labellings_in_order(seed, potentials_of):
    for k in range(naive.REPEATS):
        chains = naive.random_chains(17000 + 1000 * seed + k)
        for chain, found in zip(chains, n_best_all(plain(potentials_of(chains)), 5), strict=True):
            everything = naive.labellings(chain)
            assert [d.score for d in found] == [score for score, _ in everything[:5]]
            assert len({tuple(d.states) for d in found}) == len(found)
            assert all(naive.score(chain, tuple(d.states)) == d.score for d in found)


def test_the_first_is_viterbi_s_and_threads_do_not_matter():
    rng = np.random.default_rng(1)
    potentials = Potentials.of(rng.normal(size=(60, 7)), rng.normal(size=(7, 7)), offsets=[0, 25, 25, 60])
    one, two = n_best_all(plain(potentials), 4), n_best_all(plain(potentials), 4, threads=2)
    assert np.concatenate([best[0].states for best in one]).tolist() == viterbi(potentials).labels.tolist()
    assert [[d.score for d in best] for best in one] == [[d.score for d in best] for best in two]
    assert [len(best) for best in one] == [4, 1, 4]


def test_more_labellings_than_there_are_and_none_at_all():
    (found,) = n_best_all(plain(Potentials.of(np.zeros((3, 2)))), 10_000)
    assert len({tuple(d.states) for d in found}) == len(found) == 8
    assert n_best_all(plain(Potentials.of([[-np.inf, -np.inf]])), 3) == [[]]
