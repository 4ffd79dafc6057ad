"""Constraints moved into scores: every labelling scores what it should, however they are moved."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numba import config
from problems_of_all_rules import all_labellings, model_scores, random_problems

import conseq.problem as problem_module
from conseq.constraints import Forbidden
from conseq.constraints.primitives import Linear
from conseq.constraints.program import Program
from conseq.constraints.relaxation import shifted
from conseq.decoders.chain.viterbi import chain_of
from conseq.decoders.lattice.tracked import Primitives
from conseq.kernels import softdd
from conseq.kernels.chain import Chain
from conseq.potentials import Potentials
from conseq.problem import Problem, Problems
from conseq.schema import Schema

PLAIN = Schema(["O", "x"], "plain")
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
def test_scores_with_local_constraints_have_them_charged(seed):
    for problem in random_problems(seed, 3):
        if not problem.n_tokens:
            continue
        paths = all_labellings(problem)
        wanted = model_scores(problem.potentials, paths)
        for p, penalty in problem.program.local_penalties.items():
            broken = totals(problem, problem.charges[p].primitive, paths)
            wanted[broken > 0] -= penalty * broken[broken > 0]
        assert same(model_scores(problem.with_local_constraints, paths), wanted), f"seed {seed}"


@pytest.mark.parametrize("seed", SEEDS)
def test_all_sequences_at_once_are_charged_as_one_by_one(seed):
    problems = random_problems(seed, 4)
    alone = list(problems)
    together = problems.with_local_constraints
    for i, problem in enumerate(alone):
        if problem.n_tokens:
            paths = all_labellings(problem)
            wanted = model_scores(problem.with_local_constraints, paths)
            assert same(model_scores(together[i], paths), wanted), f"sequence {i}"
            assert same(model_scores(problems[i].with_local_constraints, paths), wanted), f"sequence {i}"


def test_local_constraints_are_charged_once_for_a_batch(monkeypatch):
    problems = Problems.of(
        Potentials.of(np.zeros((4, 2)), offsets=[0, 3, 4]), PLAIN, [Forbidden("O", "x", penalty=2.0)]
    )
    assert problems[0].with_local_constraints.score([0, 1, 0]) == -2.0
    batch = problems.with_local_constraints
    monkeypatch.setattr(problem_module, "shifted", None)
    assert problems.with_local_constraints is batch
    for problem in problems:
        problem.with_local_constraints.check()
    free = replace(problems[0], program=Program.of([], PLAIN, problems.program.corpus))
    monkeypatch.undo()
    assert free.with_local_constraints.score([0, 1, 0]) == 0.0


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
        potentials = problem.with_local_constraints
        effects = primitives.effects(potentials)
        moved = Chain(*softdd.shifted_chain(chain_of(potentials), program.arrays.sums, effects, given))
        kernel = Potentials.of(*moved[:4], potentials.offsets, kind=potentials.kind)
        multipliers = dict(enumerate(given.tolist()))
        paths = all_labellings(problem)
        wanted = shifted(potentials, program, multipliers, problem.first_token)
        assert same(model_scores(kernel, paths), model_scores(wanted, paths))
