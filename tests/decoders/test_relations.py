"""Entities and relations together: the best of all answers under rules of every kind; limits; mistakes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_relations import LINES, TYPES, all_scores, every_answer, random_problem

import conseq
from conseq.constraints.relational import RELATION_RULES
from conseq.constraints.relational.language import parse_relation_rules
from conseq.decoders.base import Limits
from conseq.decoders.relation_problem import RelationDecoding, RelationProblem, smallest_conflict
from conseq.decoders.variables.beam import VariableBeam
from conseq.decoders.variables.search import Search
from conseq.decoders.variables.solvers import SOLVERS, Solver
from conseq.entities import Candidates, Relation, Types, all_pairs
from conseq.errors import ConseqError
from conseq.problem import Status

SEEDS = st.integers(0, 2**32 - 1)
NAMES = {"entities": ["person", "city"], "relations": ["none", "lives_in", "knows"]}
EXACT = [Search(), Search(most_work=0), *(SOLVERS[name]() for name in ("ilp", "elimination"))]
"""Search without work hands every part over to HiGHS that the first look at it does not solve."""


def check(found: RelationDecoding, problem: RelationProblem, best: float) -> None:
    """What every answer promises."""
    certificate = found.certificate
    if best > -np.inf:
        assert certificate.bound >= best - 1e-9 * (1 + abs(best))
    if found.values is None:
        assert found.types is None
        assert found.relations is None
        assert found.score == -np.inf
        assert certificate.status is (Status.INFEASIBLE if certificate.bound == -np.inf else Status.UNKNOWN)
        assert certificate.status is Status.UNKNOWN or best == -np.inf
    else:
        assert found.score == problem.score(found.values)
        assert -np.inf < found.score <= best + 1e-9 * (1 + abs(best))
        assert found.score == pytest.approx(all_scores(problem, found.values[None])[0])
        meet = certificate.gap <= 1e-7 * (1 + abs(found.score))
        assert certificate.status is (Status.OPTIMAL if meet else Status.FEASIBLE)


def check_exact(found: RelationDecoding, problem: RelationProblem) -> None:
    best = float(all_scores(problem, every_answer(problem)).max())
    check(found, problem, best)
    assert found.certificate.status is (Status.INFEASIBLE if best == -np.inf else Status.OPTIMAL)
    assert found.score == pytest.approx(best, rel=1e-9, abs=1e-9)


# ── the best of all ─────────────────────────────────────────────────────────────────────────────


def test_there_is_a_line_for_every_kind_of_rule():
    rules = parse_relation_rules("\n".join(f"{line}  hard" for line in LINES), TYPES)
    assert {type(rule) for rule in rules} == set(RELATION_RULES)


@pytest.mark.parametrize("block", range(4))
def test_the_answer_is_the_best_of_all(block):
    """Thousands of sentences; none, one or more entities, any pairs, all kinds of rules, hard and soft."""
    feasible = 0
    for seed in range(600 * block, 600 * (block + 1)):
        problem = random_problem(seed)
        found = problem.solve()
        try:
            check_exact(found, problem)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}") from error
        feasible += found.values is not None
    assert 300 < feasible < 600


@settings(deadline=None, max_examples=60)
@given(seed=SEEDS, solver=st.sampled_from(EXACT))
def test_every_exact_solver_finds_it(seed, solver):
    problem = random_problem(seed)
    check_exact(problem.solve(solver), problem)


@pytest.mark.parametrize("size", [1e-6, 1e6])
def test_scores_may_be_small_or_large(size):
    """HiGHS' bounds are off by a tolerance, which may be more than such scores are; the search still ends."""
    for seed in range(100):
        problem = random_problem(seed)
        scaled = RelationProblem(problem.types, problem.candidates, size * problem.scores, problem.rules)
        best = float(all_scores(scaled, every_answer(scaled)).max())
        for solver in (Search(), Search(most_work=0)):
            found = scaled.solve(solver, Limits(seconds=10))
            check(found, scaled, best)
            assert found.score == pytest.approx(best, rel=1e-9, abs=1e-9), f"seed {seed}"


@settings(deadline=None, max_examples=60)
@given(seed=SEEDS, name=st.sampled_from(sorted(SOLVERS)), seconds=st.sampled_from([0.0, 0.01, np.inf]))
def test_every_solver_has_a_valid_certificate_however_long_it_may_take(seed, name, seconds):
    problem = random_problem(seed)
    best = float(all_scores(problem, every_answer(problem)).max())
    found = problem.solve(name, Limits(seconds=seconds, nodes=0 if seconds == 0.01 else np.inf))
    check(found, problem, best)
    if name == "lp" and seconds == np.inf and best > -np.inf:
        assert bool(found.rounding_legal) is (found.values is not None)
        if found.integral and found.rounding_legal:
            assert found.score == pytest.approx(best)


@settings(deadline=None, max_examples=40)
@given(seed=SEEDS, width=st.sampled_from([1, 3, 100_000]))
def test_a_beam_is_honest_about_its_gap_and_exact_if_it_keeps_everything(seed, width):
    problem = random_problem(seed)
    best = float(all_scores(problem, every_answer(problem)).max())
    found = problem.solve(VariableBeam(width))
    check(found, problem, best)
    if width == 100_000 and best > -np.inf:
        assert found.score == pytest.approx(best)


@settings(deadline=None, max_examples=40)
@given(seed=SEEDS)
def test_a_hint_is_a_lower_bound(seed):
    problem = random_problem(seed)
    answers = every_answer(problem)
    hint = answers[np.random.default_rng(seed).integers(len(answers))]
    for limits in (Limits(), Limits(seconds=0)):
        found = problem.solve(Search(most_work=0), limits, hint)
        assert found.score >= problem.score(hint)


@settings(deadline=None, max_examples=30)
@given(seed=SEEDS)
def test_other_penalties_are_the_same_as_a_new_problem(seed):
    problem = random_problem(seed)
    rng = np.random.default_rng(seed)
    penalties = rng.choice([0.0, 0.7, 5.0, np.inf], len(problem.rules)).tolist()
    changed = problem.with_penalties(penalties)
    assert [rule.penalty for rule in changed.rules] == penalties
    new = RelationProblem(problem.types, problem.candidates, problem.scores, changed.rules)
    assert changed.solve().score == pytest.approx(new.solve().score)
    check_exact(changed.solve(), changed)


# ── larger sentences ────────────────────────────────────────────────────────────────────────────

DENSE = """
spouse(person, person)         hard
spouse is symmetric            hard
part_of is acyclic             {acyclic}
at most 1 part_of per head     hard
at most 2 spouse per head      penalty 2
works(person, org)             hard
at most 1 works per head       hard
if works(a, b) and part_of(b, c) then not works(a, c)  penalty 0.7
"""


def dense_problem(seed: int, n: int, shift: float, acyclic: str = "hard") -> RelationProblem:
    """Everything may be related to everything; the shift makes relations rarer."""
    types = Types(("person", "org", "place"), ("spouse", "part_of", "works"))
    rng = np.random.default_rng(seed)
    of_pairs = rng.normal(0, 1, (n * (n - 1), 4))
    of_pairs[:, 0] += shift
    scores = np.concatenate([rng.normal(0, 1, 3 * n), of_pairs.reshape(-1)])
    rules = tuple(parse_relation_rules(DENSE.format(acyclic=acyclic), types))
    return RelationProblem(types, Candidates(n, all_pairs(n)), scores, rules)


@pytest.mark.parametrize("acyclic", ["hard", "penalty 3"])
@pytest.mark.parametrize("seed", range(4))
def test_sentences_of_seven_entities_have_the_optimum_of_the_integer_program(seed, acyclic):
    problem = dense_problem(seed, 7, 0.5, acyclic)
    wanted = problem.solve("ilp")
    assert wanted.certificate.status is Status.OPTIMAL
    for solver in (Search(), Search(most_work=0)):
        found = problem.solve(solver)
        assert found.certificate.status is Status.OPTIMAL
        assert found.score == pytest.approx(wanted.score)


def test_twenty_four_entities_are_certified():
    found = dense_problem(0, 24, 3.0).solve(limits=Limits(seconds=30))
    assert found.certificate.status is Status.OPTIMAL


def test_a_stopped_search_has_an_answer_and_an_honest_gap():
    problem = dense_problem(1, 10, 0.0)
    wanted = problem.solve()
    assert wanted.certificate.status is Status.OPTIMAL
    found = problem.solve(Search(most_work=1000), Limits(nodes=0))
    assert found.certificate.status is Status.FEASIBLE
    assert found.score <= wanted.score <= found.certificate.bound


# ── why there is no answer ──────────────────────────────────────────────────────────────────────


@settings(deadline=None, max_examples=60)
@given(seed=SEEDS)
def test_the_rules_to_blame_are_the_fewest(seed):
    problem = random_problem(seed)
    hard = [g for g, rule in enumerate(problem.rules) if rule.is_hard]
    admitted = every_answer(problem)
    admitted = admitted[problem.scores[admitted].sum(axis=1) > -np.inf]
    broken = np.zeros((len(admitted), len(hard)), dtype=bool)
    for i, values in enumerate(admitted):
        broken[i] = problem.violations(values)[hard] > 0
    found = smallest_conflict(problem)
    sets = [np.array(list(np.binary_repr(bits, len(hard)))) == "1" for bits in range(2 ** len(hard))]
    impossible = [chosen.sum() for chosen in sets if len(hard) and broken[:, chosen].any(axis=1).all()]
    if not len(admitted):
        assert found == []
    elif not impossible:
        assert found is None
    else:
        assert found is not None
        assert len(found) == min(impossible)


def test_contradictory_decisions_are_named():
    found = conseq.decode_relations(
        np.zeros((2, 2)),
        np.zeros((2, 3)),
        constraints="exactly 1 knows  hard\nlives_in(person, city)  hard\nat least 2 knows  hard",
        **NAMES,
    )
    assert found.certificate.status is Status.INFEASIBLE
    assert "exactly 1 knows; at least 2 knows; drop one" in found.explain_infeasible()
    assert conseq.decode_relations([[0, 0]], [], **NAMES).explain_infeasible() is None
    forbidden = conseq.decode_relations([[-np.inf, -np.inf]], [], **NAMES)
    assert forbidden.certificate.status is Status.INFEASIBLE
    assert "score of -inf" in forbidden.explain_infeasible()


# ── decode_relations ────────────────────────────────────────────────────────────────────────────


def test_names_pairs_and_columns():
    found = conseq.decode_relations(
        [[0, 1], [1, 0], [0, 2]],
        [[0, 5, 1], [0, 0, 0.5]],
        [(2, 0), (1, 2)],
        entities=["person", "city"],
        relations=["knows", "none", "lives_in"],
        constraints="lives_in(person, city)  hard",
    )
    assert found.types == ["city", "person", "city"]
    assert found.relations == [Relation("lives_in", 1, 2)]
    assert found.score == 9.5
    assert repr(found).endswith("lives_in(1, 2); score 9.5, OPTIMAL)")


def test_what_is_violated_is_said():
    rule = "exactly 1 knows  penalty 2.5"
    found = conseq.decode_relations([[0, 1]], [], constraints=rule, **NAMES)
    assert {str(rule): degree for rule, degree in found.violations.items()} == {rule: 1.0}
    assert found.score == -1.5


def test_several_sentences_are_the_same_as_each():
    rng = np.random.default_rng(0)
    sizes = [0, 1, 2, 3]
    of_entities = [rng.normal(size=(n, 2)) for n in sizes]
    of_pairs = [rng.normal(size=(n * (n - 1), 3)) for n in sizes]
    tokens = [["w"] * (2 * n + 1) for n in sizes]
    spans = [[(2 * i, 2 * i + 1) for i in range(n)] for n in sizes]
    rules = 'if "w" between a and b then knows(a, b)  penalty 1\nlives_in(person, city)  hard'
    several = conseq.decode_relations(
        of_entities, of_pairs, tokens=tokens, spans=spans, constraints=rules, **NAMES
    )
    for i, found in enumerate(several):
        alone = conseq.decode_relations(
            of_entities[i], of_pairs[i], tokens=tokens[i], spans=spans[i], constraints=rules, **NAMES
        )
        assert (found.types, found.relations) == (alone.types, alone.relations)
    assert conseq.decode_relations([], [], **NAMES) == []


def test_mentions_of_the_same_thing():
    scores = [[2.0, 0.0], [0.0, 1.0]]
    for penalty, types in (("penalty 5", ["person", "person"]), ("penalty 0.5", ["person", "city"])):
        rule = f"same mentions agree on type  {penalty}"
        found = conseq.decode_relations(
            scores, np.zeros((2, 3)), same=[(1, 0)], constraints=rule, **NAMES, solver="auto"
        )
        assert found.types == types


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"entity_scores": [[np.nan, 0], [0, 0]]}, "entity_scores is not a number in row 0, column 0"),
        ({"relation_scores": np.full((2, 3), np.inf)}, r"relation_scores is \+inf in row 0"),
        ({"entity_scores": np.zeros((2, 3))}, r"entity_scores has the shape \(2, 3\)"),
        ({"relation_scores": np.zeros((3, 3))}, "has 3 rows and 2 entities make 2 pairs"),
        ({"pairs": [(0, 1)]}, "has 2 rows and pairs has 1 pairs"),
        ({"pairs": [(0, 1), (1, 1)]}, r"pairs has \(1, 1\), which relates an entity to itself"),
        ({"pairs": [(0, 1), (0, 2)]}, r"pairs has \(0, 2\), which names an entity that is not there"),
        ({"pairs": [(0, 1), (0, 1)]}, "has a pair twice"),
        ({"pairs": [0, 1]}, "whole numbers"),
        ({"entities": "ab"}, "entities is the one string 'ab'"),
        ({"entities": []}, "entities is empty"),
        ({"relations": ["a", "b", "c"]}, "names 0 columns 'none'"),
        ({"constraints": "exactly 1 know  hard"}, "did you mean 'knows'"),
        ({"spans": [(0, 1)]}, "spans has 1 spans and there are scores of 2 entities"),
        ({"spans": [(0, 1), (3, 3)]}, "the tokens 3 to 3 for entity 1"),
        ({"spans": [(0, 1), (1, 9)], "tokens": ["a", "b"]}, "the tokens 1 to 9 of 2 for entity 1"),
        ({"tokens": "a b"}, "tokens is the one string"),
        ({"same": [(0, 0)]}, r"same has \(0, 0\)"),
        ({"solver": "simplex"}, "there is no solver 'simplex'; choose one of auto"),
        ({"limits": {"hours": 1}}, "limits is"),
    ],
)
def test_mistakes_are_sentences(given, says):
    arguments = {"entity_scores": np.zeros((2, 2)), "relation_scores": np.zeros((2, 3)), **NAMES, **given}
    with pytest.raises(ConseqError, match=says):
        conseq.decode_relations(**arguments)


def test_of_several_the_wrong_one_is_named():
    with pytest.raises(ConseqError, match=r"entity_scores\[1\] is not a number"):
        conseq.decode_relations([[[0, 0]], [[0, np.nan]]], [[], []], **NAMES)
    with pytest.raises(ConseqError, match="of 2 sentences and relation_scores of 1"):
        conseq.decode_relations([[[0, 0]], [[0, 0]]], [[]], **NAMES)


def test_solvers_can_be_given():
    solver: Solver = VariableBeam(width=1)
    assert conseq.decode_relations([[0, 1]], [], solver=solver, **NAMES).types == ["city"]
