"""Constraints moved into scores: every labelling scores what it should, however they are moved."""

from __future__ import annotations

import numpy as np
import pytest
from numba import config
from problems_of_all_rules import all_labellings, model_scores, random_problems

from conseq.constraints.primitives import Linear
from conseq.constraints.program import Program
from conseq.decoders.chain.local import shifted, with_local_constraints
from conseq.decoders.lattice.tracked import Primitives
from conseq.kernels import softdd
from conseq.potentials import Potentials
from conseq.problem import Problem

SEEDS = range(10 if config.DISABLE_JIT else 200)


def totals(problem: Problem, linear: Linear, paths: np.ndarray) -> np.ndarray:
    """What the steps of each labelling add to a sum, [n]."""
    outside = np.full((len(paths), 1), len(problem.schema))
    labels = np.hstack([outside, problem.label_of[paths], outside])
    classes = np.append(problem.classes(linear), 0)
    return linear.steps[classes, labels[:, :-1], labels[:, 1:]].sum(axis=1).astype(float)


def sums_of(program: Program, local: bool) -> list[int]:
    return [
        p
        for p, c in enumerate(program.charges)
        if isinstance(c.primitive, Linear) and c.primitive.is_local == local
    ]


def same(found: np.ndarray, wanted: np.ndarray) -> bool:
    """Equal up to rounding, −inf in the same places."""
    able = wanted > -np.inf
    return bool(
        (able == (found > -np.inf)).all() and np.allclose(found[able], wanted[able], rtol=1e-9, atol=1e-9)
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_the_scores_have_the_local_rules_in_them(seed):
    for problem in random_problems(seed, 3):
        if not problem.n_tokens:
            continue
        paths = all_labellings(problem)
        wanted = model_scores(problem.potentials, paths)
        for p, penalty in problem.program.local_penalties.items():
            broken = totals(problem, problem.charges[p].primitive, paths)
            wanted[broken > 0] -= penalty * broken[broken > 0]
        assert same(model_scores(with_local_constraints(problem), paths), wanted), f"seed {seed}"


@pytest.mark.parametrize("seed", SEEDS)
def test_all_sequences_at_once_are_charged_as_one_by_one(seed):
    problems = random_problems(seed, 4)
    together = with_local_constraints(problems)
    for i, problem in enumerate(problems):
        if problem.n_tokens:
            paths = all_labellings(problem)
            found = model_scores(together[i], paths)
            assert same(found, model_scores(with_local_constraints(problem), paths)), f"sequence {i}"


@pytest.mark.parametrize("seed", SEEDS)
def test_shifted_scores_are_less_by_multiplier_times_sum(seed):
    rng = np.random.default_rng(seed)
    for problem in random_problems(seed, 3):
        if not problem.n_tokens:
            continue
        multipliers = {p: float(rng.exponential(2)) for p in sums_of(problem.program, False)}
        paths = all_labellings(problem)
        wanted = model_scores(problem.potentials, paths)
        for p, multiplier in multipliers.items():
            wanted -= multiplier * totals(problem, problem.charges[p].primitive, paths)
        moved = shifted(problem.potentials, problem.program, multipliers, problem.first_token)
        assert same(model_scores(moved, paths), wanted)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_kernel_shifts_as_the_definition_does(seed):
    """`softdd.shifted_chain` by bias and single steps, against `shifted` by whole tables."""
    rng = np.random.default_rng(seed)
    for problem in random_problems(seed, 2):
        primitives, program = Primitives.of(problem.program), problem.program
        given = np.where(primitives.ceilings > 0, rng.exponential(2, program.n_linear), 0.0)
        if not problem.n_tokens or not given.any():
            continue
        potentials = with_local_constraints(problem)
        unary, pairwise, start, end, offsets, _ = potentials.arrays()
        effects = primitives.effects(potentials)
        scores = softdd.Scores(unary, pairwise, start, end)
        moved = softdd.shifted_chain(scores, program.arrays.sums, effects, given)
        kernel = Potentials.of(*moved, offsets, kind=potentials.kind)
        multipliers = dict(enumerate(given.tolist()))
        paths = all_labellings(problem)
        wanted = shifted(potentials, program, multipliers, problem.first_token)
        assert same(model_scores(kernel, paths), model_scores(wanted, paths))
