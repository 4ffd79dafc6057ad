"""`decoders/dual.py` against the enumeration of all labellings, and how often answers are proved."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from problems_by_kind import KINDS, STRICTNESS, random_problem

from conseq.constraints import Counts, IfThen, NotBoth, Segments, Sum, Term
from conseq.constraints.base import HARD, Constraint
from conseq.constraints.primitives import Automaton, run
from conseq.constraints.relaxation import shifted
from conseq.decoders.base import Limits
from conseq.decoders.chain.viterbi import Viterbi, viterbi
from conseq.decoders.dual import Dual
from conseq.decoders.enumeration import Enumerate, all_scores, labellings
from conseq.decoders.messages.shares import Shares
from conseq.potentials import Potentials
from conseq.problem import Decoding, Problem, Problems, Status
from conseq.schema import Schema

REPEATS = 40


def check(problem: Problem, found: Decoding, truth: Decoding, place: str) -> None:
    """The contract of every decoder, against the truth."""
    certificate = found.certificate
    slack = 1e-9 * (1 + abs(truth.score)) if truth.states is not None else 0.0
    assert certificate.bound >= truth.score - slack, place
    if truth.states is None:
        assert certificate.status in (Status.INFEASIBLE, Status.UNKNOWN), place
    if found.states is None:
        assert certificate.status is (
            Status.INFEASIBLE if certificate.bound == -np.inf else Status.UNKNOWN
        ), place
        assert certificate.status is Status.UNKNOWN or truth.states is None, place
        return
    assert found.score == problem.score(found.states), place
    assert found.score <= truth.score + slack, place
    assert certificate.bound >= found.score, place
    if certificate.status is Status.OPTIMAL:
        assert found.score == pytest.approx(truth.score, rel=2e-7, abs=2e-7), place


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("strictness", STRICTNESS)
@pytest.mark.parametrize("options", [Dual(), Dual(width=0), Dual(width=1, widest=1)])
def test_scores_and_bounds_against_all_labellings(kind: str, strictness: str, options: Dual) -> None:
    for seed in range(REPEATS):
        problem = random_problem(seed, kind, strictness)
        limits = Limits(iterations=(1, 3, 40)[seed % 3])
        found = options.decode(problem, limits=limits)
        check(problem, found, Enumerate().decode(problem), f"seed {seed}, {kind}, {strictness}")


@pytest.mark.parametrize(
    ("kind", "strictness", "least", "alone"),
    [("sums", "soft", 0.98, 0.85), ("automata", "soft", 0.98, 0.85), ("any", "hard", 0.95, 0.6)],
)
def test_most_small_problems_are_settled(kind: str, strictness: str, least: float, alone: float) -> None:
    """With the search almost all; by multipliers alone most."""
    problems = [random_problem(seed, kind, strictness, length=5) for seed in range(100)]
    truths = [Enumerate().decode(problem) for problem in problems]
    feasible = [p for p, truth in zip(problems, truths, strict=True) if truth.states is not None]
    for options, share in ((Dual(), least), (Dual(width=0), alone)):
        statuses = [options.decode(p, limits=Limits(iterations=200)).certificate.status for p in feasible]
        assert np.mean([status is Status.OPTIMAL for status in statuses]) >= share


def test_one_iteration_is_viterbi() -> None:
    for seed in range(REPEATS):
        problem = random_problem(seed)
        dual = Dual().decode(problem, limits=Limits(iterations=1))
        plain = Viterbi().decode(problem)
        assert dual.certificate.iterations == plain.certificate.iterations, seed
        assert dual.score == plain.score, seed
        # the bound may be lower: what an automaton must charge in any case is known at once
        assert dual.certificate.bound <= plain.certificate.bound + 1e-9, seed


def charged(problem: Problem, multipliers: np.ndarray) -> Shares:
    """The chain with these multipliers of the sums, and machines for all automata."""
    shares = Shares(problem, np.inf, with_sums=False)
    shares.add(p for p, charge in enumerate(problem.charges) if not charge.primitive.is_local)
    shares.charge(multipliers)
    return shares


def draw(problem: Problem, seed: int) -> np.ndarray:
    """Multipliers, some of which are 0 and some the penalty."""
    penalties = problem.program.penalties[: problem.program.n_linear]
    return np.clip(np.random.default_rng(seed).normal(0, 2, len(penalties)), 0.0, penalties)


@pytest.mark.parametrize("kind", KINDS)
def test_the_dual_is_an_upper_bound_at_any_multipliers(kind: str) -> None:
    """Before any message, after some, and with a beam that they guide."""
    for seed in range(REPEATS):
        problem = random_problem(seed, kind)
        if not problem.n_tokens:
            continue
        truth = Enumerate().decode(problem).score
        for k in range(5):
            shares, slack = charged(problem, draw(problem, 10 * seed + k)), 1e-9 * (1 + abs(truth))
            assert shares.bound >= truth - slack or truth == -np.inf, seed
            if not all(shares.pass_messages(-np.inf) for _ in range(3)):
                assert truth == -np.inf, seed
                continue
            before = shares.bound
            assert before >= truth - slack or truth == -np.inf, seed
            for width in (1, 3, 1000):
                assert shares.beam(width, -np.inf).bound >= truth - slack or truth == -np.inf, seed
            shares.charge(draw(problem, 10 * seed + k + 5))  # what machines are told is for any multipliers
            assert shares.bound >= truth - slack or truth == -np.inf, seed


def test_the_slope_is_a_subgradient() -> None:
    """D(b) ≥ D(a) − (sums − limits of the labelling at a) · (b − a), for any a and b."""
    for seed in range(REPEATS):
        problem = random_problem(seed, "sums", "soft", length=4)
        a, b = draw(problem, seed), draw(problem, seed + REPEATS)
        shares = charged(problem, a)
        at_a, states = shares.bound, shares.labelling()
        if states is None:
            continue
        slope = np.zeros(len(a))
        for p, linear in shares.sums.items():
            classes = problem.classes(linear)
            violation = run(replace(linear, bound=-1000.0, per_token=0.0), problem.label_of[states], classes)
            slope[p] = violation - 1000.0 - linear.limit(len(states))
        assert charged(problem, b).bound >= at_a - slope @ (b - a) - 1e-9 * (1 + abs(at_a)), seed


def test_multipliers_of_sums_shift_the_scores_as_the_relaxation_does() -> None:
    for seed in range(3 * REPEATS):
        problem = random_problem(seed, "sums")
        if not problem.n_tokens:
            continue
        point = np.where(np.isfinite(draw(problem, seed)), draw(problem, seed), 3.0)
        shares = charged(problem, point)
        given = {p: float(point[p]) for p in shares.sums}
        moved = {**problem.program.local_penalties, **given}
        chain = shifted(problem.potentials, problem.program, moved, problem.first_token)
        best, states = float(viterbi(chain).scores[0]), shares.labelling()
        assert (states is None) == (best == -np.inf), seed
        if states is not None:
            limits = [linear.limit(problem.n_tokens) for linear in shares.sums.values()]
            constant = sum(x * limit for x, limit in zip(given.values(), limits, strict=True))
            assert shares.bound == pytest.approx(best + constant, rel=1e-9, abs=1e-9), seed
            assert chain.score(states) == pytest.approx(best, rel=1e-9, abs=1e-9), seed


def test_labels_of_one_group_are_read_alike() -> None:
    for seed in range(REPEATS):
        for charge in random_problem(seed, "automata").charges:
            automaton = charge.primitive
            assert isinstance(automaton, Automaton)
            steps, groups = automaton.steps, automaton.label_groups
            for a in range(len(groups)):
                for b in range(len(groups)):
                    alike = (steps[:, a] == steps[:, b]).all() and (steps[:, :, a] == steps[:, :, b]).all()
                    assert (groups[a] == groups[b]) == alike, seed


def test_automata_too_large_are_left_out_of_the_dual() -> None:
    problem = random_problem(1, "automata", "soft", length=5, size=4)
    shares = Shares(problem, np.inf, limits=Limits(memory=0))
    assert not shares.add(range(len(problem.charges)))
    assert not shares.machines
    assert shares.bound == pytest.approx(Viterbi().decode(problem).certificate.bound)


def decoded(unary: list[list[float]], *rules: Constraint, options: Dual = Dual()) -> Decoding:  # noqa: B008
    potentials = Potentials.of(unary, pairwise=[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    return options.decode(Problems.of(potentials, Schema(["O", "A", "B"], "plain"), rules)[0])


UNARY = [[0.0, 3.0, 0.0], [3.5, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 3.0]]


def test_a_soft_rule_gives_way_when_it_is_cheap() -> None:
    free = decoded(UNARY)
    assert free.labels == ["A", "O", "A", "B"]
    assert free.certificate.iterations == 1
    cheap = decoded(UNARY, Segments("at most", 1, "A", penalty=0.1), options=Dual(width=0))
    assert cheap.labels == free.labels
    assert cheap.score == pytest.approx(free.score - 0.1)
    assert cheap.certificate.status is Status.OPTIMAL
    high = decoded(UNARY, Segments("at most", 1, "A", penalty=50.0), options=Dual(width=0))
    assert high.labels == ["A", "A", "A", "B"]
    assert high.certificate.status is Status.OPTIMAL


def test_hard_automata() -> None:
    found = decoded(UNARY, NotBoth("A", "B", penalty=HARD), IfThen("A", "B", penalty=HARD))
    assert found.certificate.status is Status.OPTIMAL
    assert found.labels is not None
    assert "A" not in found.labels


def test_rules_that_contradict_each_other_are_proved_to() -> None:
    one = Term(1, "A")
    rules = [Segments("at least", 1, "A"), Counts(Sum((one,), 0), "<=", Sum((), 0))]
    assert decoded(UNARY, *rules).certificate.status is Status.INFEASIBLE
    assert decoded(UNARY, Segments("at least", 5, "A")).certificate.status is Status.INFEASIBLE


def test_no_time_is_viterbi_at_most() -> None:
    problem = random_problem(3, "any", "soft", length=5)
    found = Dual().decode(problem, limits=Limits(seconds=0.0))
    assert found.certificate.iterations <= 1
    assert found.certificate.status in (Status.UNKNOWN, Status.OPTIMAL, Status.FEASIBLE)


def test_a_good_hint_is_kept() -> None:
    problem = random_problem(11, "any", "soft", length=4)
    every = np.concatenate(labellings(problem))
    best = every[np.argmax(all_scores(problem, every))]
    found = Dual().decode(problem, limits=Limits(iterations=1), hint=best)
    assert found.score == problem.score(best)


def test_automata_beyond_the_limit_of_states_are_left_out() -> None:
    """The answer is worse, its certificate still right."""
    for seed in range(REPEATS):
        problem = random_problem(seed, "any", "mixed", length=4)
        found = Dual().decode(problem, limits=Limits(states=2, iterations=20))
        truth = Enumerate().decode(problem)
        check(problem, found, truth, f"seed {seed}")
