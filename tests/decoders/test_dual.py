"""`decoders/dual.py` and `lattice/dual.py` against the enumeration of all labellings, and how often answers
are proved."""

from __future__ import annotations

import numpy as np
import pytest
from problems_by_kind import KINDS, STRICTNESS, random_problem

from conseq.constraints import Counts, IfThen, NotBoth, Segments, Sum, Term
from conseq.constraints.base import HARD, Constraint
from conseq.constraints.primitives import Automaton
from conseq.constraints.relaxation import shifted
from conseq.decoders.base import NO_LIMITS, Best, Limits
from conseq.decoders.beam import beam_search
from conseq.decoders.chain.viterbi import Viterbi, viterbi
from conseq.decoders.dual import Dual, _Descent
from conseq.decoders.enumeration import Enumerate, all_scores, labellings
from conseq.decoders.lattice.dual import DualFunction, Subproblem
from conseq.decoders.lattice.lattice import Lattice, TooManyStates
from conseq.decoders.lattice.reader import label_groups
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


def dual_of(problem: Problem, primitives: list[int] | None = None) -> DualFunction:
    """The dual function with these primitives, or all that are not local."""
    dual = DualFunction(problem, Lattice.of(problem.with_local_constraints, len(problem.schema)))
    every = [p for p, charge in enumerate(problem.charges) if not charge.primitive.is_local]
    for p in every if primitives is None else primitives:
        dual.add(p)
    return dual


@pytest.mark.parametrize("kind", KINDS)
def test_the_dual_is_an_upper_bound_at_any_multipliers(kind: str) -> None:
    for seed in range(REPEATS):
        problem = random_problem(seed, kind)
        if not problem.n_tokens:
            continue
        rng = np.random.default_rng(seed)
        dual = dual_of(problem)
        truth = Enumerate().decode(problem).score
        for _ in range(5):
            point = np.clip(rng.normal(0, 2, len(dual)), dual.lower, dual.upper)
            bound = dual.value(point)[0]
            assert bound >= truth - 1e-9 * (1 + abs(truth)) or truth == -np.inf, seed


@pytest.mark.parametrize("kind", KINDS)
def test_a_search_that_any_multipliers_guide_has_a_right_bound(kind: str) -> None:
    """A narrow beam may miss the best labelling, not its score; one that drops nothing finds it."""
    for seed in range(REPEATS):
        problem = random_problem(seed, kind)
        truth = Enumerate().decode(problem).score
        if not problem.n_tokens or truth == -np.inf:
            continue
        dual = dual_of(problem)
        descent = _Descent(Dual(), Best(problem), dual, NO_LIMITS)
        draws = np.random.default_rng(seed).normal(1, 3, len(dual))
        descent.best_point = np.clip(draws, dual.lower, dual.upper)
        tracked = descent.readers.usable(sorted(dual.members))
        assert tracked == sorted(dual.members), seed
        lattice, readers = descent._guided(tracked)
        for width in (1, 3):
            bound = beam_search(lattice, readers, width, -np.inf)[1]
            assert bound >= truth - 1e-9 * (1 + abs(truth)), seed
        floor = truth - 1e-6  # nothing that leads to the best labelling may rank below it
        found, bound = beam_search(lattice, readers, 10**6, floor)
        assert problem.score(found[0]) == pytest.approx(truth), seed
        assert bound == pytest.approx(truth), seed


def test_the_slope_is_a_subgradient() -> None:
    """D(b) ≥ D(a) + slope of D at a · (b − a), for any a and b; `value` gives the slope of −D."""
    for seed in range(REPEATS):
        problem = random_problem(seed, "any", "soft", length=4)
        rng = np.random.default_rng(seed)
        dual = dual_of(problem)
        a, b = (np.clip(rng.normal(0, 2, len(dual)), dual.lower, dual.upper) for _ in range(2))
        at_a, falls, states = dual.value(a)
        if states is None or at_a == -np.inf:
            continue
        at_b = dual.value(b)[0]
        assert at_b >= at_a - falls @ (b - a) - 1e-9 * (1 + abs(at_a)), seed


def test_multipliers_of_sums_shift_the_scores_as_the_relaxation_does() -> None:
    for seed in range(3 * REPEATS):
        problem = random_problem(seed, "sums")
        if not problem.n_tokens:
            continue
        sums = [p for p, c in enumerate(problem.charges) if not c.primitive.is_local]
        dual = dual_of(problem, sums)
        rng = np.random.default_rng(seed)
        point = np.clip(rng.uniform(0, 3, len(dual)), dual.lower, dual.upper)
        given = dict(zip(sums, point.tolist(), strict=True))
        moved = {**problem.program.local_penalties, **given}
        chain = shifted(problem.potentials, problem.program, moved, problem.first_token)
        best = float(viterbi(chain).scores[0])
        bound, _, states = dual.value(point)
        assert (states is None) == (best == -np.inf), seed
        assert dual.sums_at(point) == {p: x for p, x in given.items() if x > 0}, seed
        if states is not None:
            limits = [problem.charges[p].primitive.limit(problem.n_tokens) for p in sums]
            constant = sum(x * limit for x, limit in zip(point, limits, strict=True))
            assert bound == pytest.approx(best + constant, rel=1e-9, abs=1e-9), seed
            assert chain.score(states) == pytest.approx(best, rel=1e-9, abs=1e-9), seed


def test_a_sub_problem_is_the_least_that_its_automaton_charges() -> None:
    """max over labellings z of the lattice −cost(z) − u · z, where u is one number per token and group."""
    for seed in range(2 * REPEATS):
        problem = random_problem(seed, "automata", length=3)
        lattice = Lattice.of(problem.with_local_constraints, len(problem.schema))
        rng = np.random.default_rng(seed)
        for p, charge in enumerate(problem.charges):
            if lattice.is_empty:
                continue
            part = Subproblem.of(problem, p, lattice, np.inf)
            point, slope = rng.normal(0, 2, 3 * part.n_groups), np.zeros(3 * part.n_groups)
            every = np.concatenate(labellings(problem))
            possible = steps_are_there(lattice, problem, every)
            violation = np.array([problem.violations(states)[p] for states in every])
            cost = np.where(violation > 0, charge.penalty, 0.0) * np.where(violation > 0, violation, 1.0)
            chosen = np.arange(3) * part.n_groups + part.group_of[every]
            values = np.where(possible, -cost - point[chosen].sum(axis=1), -np.inf)
            found = part.solve(point, every[0], slope)
            assert found >= values.max() - 1e-9 * (1 + abs(values.max())), seed
            if found > -np.inf:
                assert slope.sum() == pytest.approx(0.0), seed
                assert np.abs(slope).sum() <= 6, seed
            if len(np.unique(part.group_of)) == problem.n_states:  # then groups of states are states
                close = found == pytest.approx(values.max(), rel=1e-8, abs=1e-8)
                assert close, seed


def steps_are_there(lattice: Lattice, problem: Problem, every: np.ndarray) -> np.ndarray:
    """Which labellings make only steps that some path of the lattice makes at that token, [n]."""
    size = lattice.n_labels + 1
    outside = np.full((len(every), 1), lattice.n_labels)
    labels = np.hstack([outside, problem.label_of[every], outside])
    there = np.zeros((lattice.n_tokens + 1, size * size), dtype=bool)
    there[lattice.steps.token, lattice.steps.pair] = True
    pairs = labels[:, :-1] * size + labels[:, 1:]
    return there[np.arange(lattice.n_tokens + 1), pairs].all(axis=1)


def test_labels_of_one_group_are_read_alike() -> None:
    for seed in range(REPEATS):
        for charge in random_problem(seed, "automata").charges:
            automaton = charge.primitive
            assert isinstance(automaton, Automaton)
            steps, groups = automaton.steps, label_groups(automaton)
            for a in range(len(groups)):
                for b in range(len(groups)):
                    alike = (steps[:, a] == steps[:, b]).all() and (steps[:, :, a] == steps[:, :, b]).all()
                    assert (groups[a] == groups[b]) == alike, seed


def test_automata_too_large_are_left_out_of_the_dual() -> None:
    problem = random_problem(1, "automata", "soft", length=5, size=4)
    lattice = Lattice.of(problem.with_local_constraints, len(problem.schema))
    dual = DualFunction(problem, lattice)
    with pytest.raises(TooManyStates):
        dual.add(0, most_states=1)
    assert not dual.members
    assert len(dual) == 0


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
