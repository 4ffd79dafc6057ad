"""The integer program against enumeration, against Viterbi, and against itself without its shortcuts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from rules_by_hand import ByHand, at_most_one, clause, random_problem

from conseq.constraints.primitives import Automaton
from conseq.decoders.base import Limits
from conseq.decoders.chain.viterbi import Viterbi, viterbi
from conseq.decoders.enumeration import Enumerate
from conseq.decoders.ilp import ILP
from conseq.decoders.lattice.lattice import Lattice
from conseq.potentials import Potentials
from conseq.problem import Problem, Problems, Status
from conseq.schema import Schema

SCHEMA = Schema(["a", "b", "c"], "plain")


def long_problem(seed: int = 0, length: int = 20) -> Problem:
    """Twenty tokens over three labels, each of which should make up one segment only, with a penalty."""
    rng = np.random.default_rng(seed)
    scores = Potentials.of(rng.normal(size=(length, 3)), rng.normal(size=(3, 3)))
    return Problems.of(scores, SCHEMA, [at_most_one(3, label, 1.5) for label in range(3)])[0]


def check(problem: Problem, decoder: ILP, seed: int) -> None:
    wanted, found = Enumerate().decode(problem), decoder.decode(problem)
    place = f"seed {seed}, {decoder}"
    close = 1e-9 * (1 + abs(wanted.score)) if wanted.states is not None else 0.0
    if wanted.states is not None:
        assert found.certificate.bound >= wanted.score - close, place
        assert found.certificate.status is not Status.INFEASIBLE, place
    if found.states is not None:
        assert found.score == problem.score(found.states), place
        assert found.certificate.bound >= found.score, place
    if not decoder.relax or found.certificate.status is Status.OPTIMAL:
        assert found.certificate.status is wanted.certificate.status, place
        assert found.score == pytest.approx(wanted.score, abs=close), place


@pytest.mark.parametrize("decoder", [ILP(), ILP(prune=False), ILP(relax=True)], ids=str)
def test_against_enumeration(decoder):
    for seed in range(200):
        check(random_problem(seed), decoder, seed)


def test_penalties_of_all_sizes():
    """HiGHS' tolerances are absolute; huge penalties must not make its bounds wrong."""
    for seed in range(60):
        problem = random_problem(seed, hard=0.1)
        rules = [
            replace(rule, penalty=rule.penalty * 1e12 ** (k % 2))
            for k, rule in enumerate(problem.program.rules)
        ]
        corpus = problem.program.corpus.select([1])
        check(Problems.of(problem.potentials, problem.schema, rules, corpus)[0], ILP(), seed)


def test_without_constraints_it_is_viterbi():
    """Fersini et al. 2014: the shortest path of the edge variables is Viterbi's."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        scores = Potentials.of(rng.normal(size=(12, 5)), rng.normal(size=(5, 5)), rng.normal(size=5))
        problem = Problems.of(scores, Schema(list("abcde"), "plain"))[0]
        for decoder in (ILP(prune=False), ILP(relax=True, prune=False)):
            found = decoder.decode(problem)
            assert found.states.tolist() == viterbi(scores).states.tolist(), f"seed {seed}"
            assert found.certificate.status is Status.OPTIMAL, f"seed {seed}"


def test_empty_sequence():
    at_least_one = clause(3, [(None, 0)])
    for rules, status in (([], Status.OPTIMAL), ([at_least_one], Status.INFEASIBLE)):
        found = ILP().decode(Problems.of(Potentials.of(np.empty((0, 3))), SCHEMA, rules)[0])
        assert found.certificate.status is status


def test_infeasible_scores():
    scores = Potentials.of(
        [[0.0, -np.inf, -np.inf], [-np.inf, 0.0, 0.0]], np.where(np.eye(3) > 0, 0.0, -np.inf)
    )
    assert ILP().decode(Problems.of(scores, SCHEMA)[0]).certificate.status is Status.INFEASIBLE


def test_a_rule_may_be_broken_once_for_all():
    """A rule charged once must not be charged by degree: three a's cost as much as two."""
    steps = np.zeros((1, 4, 4), dtype=np.int64)
    steps[:, :, 0] = 1
    following, cost = np.array([[0, 1], [1, 2], [2, 2]]), np.array([[0.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    rule = ByHand((Automaton(steps, following, cost, 0),), penalty=2.5)
    found = ILP().decode(Problems.of(Potentials.of([[2.0, 0.0, 0.0]] * 3), SCHEMA, [rule])[0])
    assert found.labels == ["a", "a", "a"]
    assert found.score == 3.5


def test_no_time_keeps_the_bound():
    problem = long_problem()
    best = Viterbi().decode(problem)
    found = ILP(prune=False).decode(problem, limits=Limits(seconds=0))
    assert found.certificate.status is Status.UNKNOWN
    assert found.certificate.bound == pytest.approx(best.certificate.bound)
    hinted = ILP(prune=False).decode(problem, limits=Limits(seconds=0), hint=best.states)
    assert hinted.certificate.status is Status.FEASIBLE
    assert hinted.score >= best.score


def test_threads_do_not_disturb_each_other():
    problems = [long_problem(seed, 12) for seed in range(6)]
    with ThreadPoolExecutor(3) as pool:
        together = [found.score for found in pool.map(ILP().decode, problems)]
    assert together == [ILP().decode(problem).score for problem in problems]


def test_trellis_has_exactly_the_edges_that_reach_the_floor():
    for seed in range(100):
        problem = random_problem(seed, most_rules=0)
        paths = np.ndindex(*(problem.n_states,) * problem.n_tokens)
        scored = {path: problem.potentials.score(path) for path in paths}
        floor = np.median([score for score in scored.values() if score > -np.inf] or [0.0])
        outside = (problem.n_states,)
        wanted: dict[tuple[int, int, int], float] = {}
        for path, score in scored.items():
            if score >= floor:
                steps = zip(outside + path, path + outside, strict=True)
                for t, (before, after) in enumerate(steps):
                    edge = (t, before, after)
                    wanted[edge] = max(score, wanted.get(edge, -np.inf))
        lattice = Lattice.of(problem.potentials, len(problem.schema), floor - 1e-9)
        found = dict(zip(steps_of(lattice), lattice.through.tolist(), strict=True))
        assert len(found) == lattice.n_edges, f"seed {seed}"
        assert found == pytest.approx(wanted), f"seed {seed}"


def steps_of(lattice: Lattice) -> list[tuple[int, int, int]]:
    """Token, state before, state of each edge of a chain; the number of states is START and END."""
    outside = lattice.n_states
    state = np.where(lattice.steps.state < 0, outside, lattice.steps.state).tolist()
    entered = {0: outside, **dict(zip(lattice.graph.targets.tolist(), state, strict=True))}
    return [
        (t, entered[source], s)
        for t, source, s in zip(lattice.steps.token.tolist(), lattice.sources.tolist(), state, strict=True)
    ]
