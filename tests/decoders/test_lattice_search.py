"""`lattice/search.py`, `lazy.ShiftedChain` and `refine`: the best labelling under some primitives, by product
states."""

from __future__ import annotations

import numpy as np
import pytest
from numba import config
from problems_of_all_rules import all_labellings, model_scores, random_problems, truth

from conseq.decoders.base import Best, Limits
from conseq.decoders.lattice.lattice import Lattice
from conseq.decoders.lattice.search import Found, LatticeSearch, lowered
from conseq.decoders.lattice.tracked import Primitives
from conseq.decoders.lazy import ShiftedChain, refine
from conseq.problem import Problem

SEEDS = range(8 if config.DISABLE_JIT else 150)
MANY = 100_000
ENOUGH = Limits(states=MANY)


def feasible(seed: int) -> list[Problem]:
    """Problems of at least one token, whose scores and local rules allow some labelling."""
    found = []
    for problem in random_problems(seed, 4):
        if (
            problem.n_tokens
            and model_scores(problem.with_local_constraints, all_labellings(problem)).max() > -np.inf
        ):
            found.append(problem)
    return found


def relaxed_scores(problem: Problem, primitives: list[int]) -> dict[tuple[int, ...], float]:
    """Each labelling's score under the local rules and these primitives alone."""
    paths = all_labellings(problem)
    scores = model_scores(problem.with_local_constraints, paths)
    n, length = paths.shape
    labels = problem.label_of[paths].ravel()
    starts = np.full(n, problem.first_token)
    violations = problem.program.violations(labels, np.arange(n + 1) * length, starts)
    for p in primitives:
        paid = violations[:, p] > 0
        scores[paid] -= problem.charges[p].penalty * violations[paid, p]
    return {tuple(path): float(score) for path, score in zip(paths.tolist(), scores, strict=True)}


def some_primitives(problem: Problem, rng: np.random.Generator) -> list[int]:
    extra = np.flatnonzero(problem.program.is_nonlocal)
    return extra[rng.random(len(extra)) < 0.6].tolist()


def search_above(chain: ShiftedChain, floor: float) -> LatticeSearch:
    """A search through the lattice of all labellings that reach the floor by the shifted scores."""
    return chain.search(floor, MANY, np.inf)


def states_of(search: LatticeSearch, found: Found) -> tuple[int, ...]:
    assert found.path is not None
    return tuple(search.lattice.states_of(found.path).tolist())


def random_multipliers(problem: Problem, primitives: list[int], rng: np.random.Generator) -> np.ndarray:
    """For the sums among the primitives, as far as their multipliers may rise."""
    ceilings = Primitives.of(problem.program).ceilings
    chosen = np.isin(np.arange(len(ceilings)), primitives)
    return np.where(chosen, np.minimum(rng.exponential(1, len(ceilings)), ceilings), 0.0)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_best_labelling_under_some_primitives(seed):
    """Sums that the same counters settle may be charged besides: they, too, hold of the answer at the end."""
    rng = np.random.default_rng(seed)
    for problem in feasible(seed):
        primitives = some_primitives(problem, rng)
        multipliers = random_multipliers(problem, primitives, rng) * (rng.random() < 0.5)
        chain = ShiftedChain(problem, problem.with_local_constraints, multipliers)
        everything = relaxed_scores(problem, list(range(len(problem.charges))))
        most = max(relaxed_scores(problem, primitives).values())
        least = max(everything.values())
        assert chain.bound >= least - 1e-9 * (1 + abs(least)) or least == -np.inf
        search = search_above(chain, -np.inf)
        found = search.best(primitives, -np.inf, ENOUGH)
        if least > -np.inf:
            assert found.path is not None
        if found.path is None:
            assert found.value == -np.inf
            continue
        settled = Primitives.of(problem.program).select(primitives, problem.n_tokens).settled.tolist()
        charged = relaxed_scores(problem, sorted({*primitives, *settled}))
        best = max(charged.values())
        assert found.value == pytest.approx(best, rel=1e-8, abs=1e-8)
        assert charged[states_of(search, found)] == pytest.approx(best, rel=1e-8, abs=1e-8)
        assert least - 1e-8 * (1 + abs(least)) <= found.value or least == -np.inf
        assert found.value <= most + 1e-8 * (1 + abs(most))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_floor_loses_no_labelling_that_reaches_it(seed):
    rng = np.random.default_rng(seed)
    for problem in feasible(seed):
        primitives = np.flatnonzero(problem.program.is_nonlocal).tolist()
        scores = relaxed_scores(problem, primitives)
        best = max(scores.values())
        if best == -np.inf:
            continue
        multipliers = random_multipliers(problem, primitives, rng)
        chain = ShiftedChain(problem, problem.with_local_constraints, multipliers)
        at = search_above(chain, lowered(best)).best(primitives, -np.inf, ENOUGH)
        assert at.value == pytest.approx(best, rel=1e-8, abs=1e-8)
        above = best + 1e-3 * (1 + abs(best))
        beyond = search_above(chain, above).best(primitives, -np.inf, ENOUGH)
        assert beyond.path is None
        assert beyond.value == -np.inf


@pytest.mark.parametrize("seed", SEEDS)
def test_little_room_gives_an_upper_bound(seed):
    for problem in feasible(seed):
        primitives = np.flatnonzero(problem.program.is_nonlocal).tolist()
        best = max(relaxed_scores(problem, primitives).values())
        search = search_above(ShiftedChain.of(problem, problem.with_local_constraints), -np.inf)
        for states in (1, 2, 5, 20):
            found = search.best(primitives, -np.inf, Limits(states=states))
            if found.is_exhaustive and found.path is None:
                assert best == -np.inf
            else:
                assert found.value >= best - 1e-9 * (1 + abs(best)) or best == -np.inf


@pytest.mark.parametrize("seed", SEEDS)
def test_refine_from_any_start_ends_with_the_optimum(seed):
    """Whatever is active at first, whatever the multipliers."""
    rng = np.random.default_rng(seed)
    for problem in feasible(seed):
        best = Best(problem)
        primitives = some_primitives(problem, rng)
        multipliers = random_multipliers(problem, primitives, rng)
        chain = ShiftedChain(problem, problem.with_local_constraints, multipliers)
        active = sorted({*primitives, *np.flatnonzero(multipliers).tolist()})
        refine(best, chain, active, Limits())
        optimum = truth(problem)
        assert best.settled
        assert best.score == pytest.approx(optimum, rel=1e-7, abs=1e-7)
        assert best.bound >= optimum - 1e-9 * (1 + abs(optimum)) or optimum == -np.inf


@pytest.mark.parametrize("seed", SEEDS)
def test_a_known_score_loses_nothing_that_is_better(seed):
    """What is better than the known score is found; so is, by the sums alone, a labelling met on the way."""
    rng = np.random.default_rng(seed)
    for problem in feasible(seed):
        primitives = np.flatnonzero(problem.program.is_nonlocal).tolist()
        scores = relaxed_scores(problem, primitives)
        finite = sorted(score for score in scores.values() if score > -np.inf)
        if not finite:
            continue
        lattice = Lattice.of(problem.with_local_constraints, len(problem.schema))
        search = LatticeSearch(lattice, problem, np.zeros(problem.program.n_linear))
        known = lowered(finite[int(rng.integers(len(finite)))])
        found = search.best(primitives, known, ENOUGH)
        values = [
            scores[tuple(search.lattice.states_of(p).tolist())]
            for p in (found.path, found.met)
            if p is not None
        ]
        assert max(values) == pytest.approx(finite[-1], rel=1e-8, abs=1e-8)
        assert found.value == pytest.approx(finite[-1], rel=1e-8, abs=1e-8) or found.path is None
        if found.met is not None:
            sums = [p for p in primitives if p < problem.program.n_linear]
            by_sums = relaxed_scores(problem, sums)[tuple(search.lattice.states_of(found.met).tolist())]
            assert by_sums > known
        assert found.is_exhaustive


@pytest.mark.parametrize("seed", SEEDS)
def test_moving_towards_other_multipliers_lowers_the_bound_or_changes_nothing(seed):
    rng = np.random.default_rng(seed)
    for problem in feasible(seed):
        nonlocal_ = np.flatnonzero(problem.program.is_nonlocal).tolist()
        chain = ShiftedChain.of(problem, problem.with_local_constraints)
        moved, tries = chain.towards(random_multipliers(problem, nonlocal_, rng))
        assert 1 <= tries <= 3
        assert moved is chain or moved.bound < chain.bound
        assert moved.bound >= truth(problem) - 1e-9 * (1 + abs(truth(problem))) or truth(problem) == -np.inf


def test_violated_are_the_primitives_that_are_paid_for_and_not_in_the_scores():
    for seed in SEEDS:
        for problem in feasible(seed):
            states = all_labellings(problem)[-1]
            violations = problem.violations(states)
            for p, charge in enumerate(problem.charges):
                paid = violations[p] > 0 and charge.penalty > 0 and not charge.primitive.is_local
                assert (p in Best(problem).offer(states)) == paid, f"seed {seed}"
