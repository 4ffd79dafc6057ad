"""Rules about entities and relations: their rows mean what they say, on small sentences."""

from __future__ import annotations

import time

import numpy as np
import pytest

from benchmarks.naive_relation_rules import TYPES, answer_of, answers, naive, random_rule, small
from conseq.constraints import HARD, Term, Words
from conseq.constraints.counts import Sum
from conseq.constraints.relational import (
    RELATION_RULES,
    Acyclic,
    ArgumentTypes,
    Between,
    Clause,
    Degree,
    HowMany,
    Inverse,
    Literal,
    MentionsAgree,
    PairLimit,
    Related,
    RelationCounts,
    Symmetric,
    indicators,
)
from conseq.constraints.relational.language import parse_relation_rules
from conseq.constraints.relational.relations import broken_cycles
from conseq.entities import Candidates, Types, all_pairs
from conseq.errors import RuleError


@pytest.mark.parametrize("kind", RELATION_RULES, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("seed", range(6))
def test_rows_are_violated_by_what_the_rule_says(kind, seed):
    rng = np.random.default_rng(seed)
    for _ in range(25):
        rule, candidates = random_rule(kind, rng), small(rng)
        for kinds, relations in answers(candidates, rng, 40):
            values = indicators(TYPES, candidates, kinds, relations)
            expected = naive(rule, answer_of(candidates, kinds, relations))
            found = rule.violation(TYPES, candidates, values)
            assert found == expected, (seed, rule, candidates, kinds, relations)


@pytest.mark.parametrize("kind", RELATION_RULES, ids=lambda kind: kind.__name__)
def test_all_answers_of_two_entities(kind):
    rng = np.random.default_rng(0)
    for n in (0, 1, 2):
        candidates = Candidates(n, all_pairs(n), np.arange(2 * n).reshape(n, 2), ("x", "y") * n)
        for _ in range(10):
            rule = random_rule(kind, rng)
            for kinds, relations in answers(candidates, rng, 1000):
                values = indicators(TYPES, candidates, kinds, relations)
                expected = naive(rule, answer_of(candidates, kinds, relations))
                assert rule.violation(TYPES, candidates, values) == expected, (rule, kinds, relations)


@pytest.mark.parametrize("kind", RELATION_RULES, ids=lambda kind: kind.__name__)
def test_rows_are_in_order_and_about_indicators_that_there_are(kind):
    rng = np.random.default_rng(1)
    for _ in range(60):
        rule, candidates = random_rule(kind, rng), small(rng)
        rows = rule.lower(TYPES, candidates)
        n = candidates.n_entities * 2 + len(candidates.pairs) * 3
        assert (np.diff(rows.row) >= 0).all()
        assert len(rows.row) == len(rows.indicator) == len(rows.weight)
        assert (rows.row < len(rows.bound)).all()
        assert ((rows.indicator >= 0) & (rows.indicator < n)).all()
        assert rows.weight.all(), "no entry is without weight"
        both = rows.row * max(1, n) + rows.indicator
        assert len(np.unique(both)) == len(both), "an indicator is in a row once"


@pytest.mark.parametrize("kind", RELATION_RULES, ids=lambda kind: kind.__name__)
def test_rules_that_do_not_vary_look_at_entities_and_pairs_alone(kind):
    rng = np.random.default_rng(2)
    for _ in range(30):
        rule, candidates = random_rule(kind, rng), small(rng)
        if rule.varies:
            continue
        bare = Candidates(candidates.n_entities, candidates.pairs)
        for one, other in zip(rule.lower(TYPES, bare), rule.lower(TYPES, candidates), strict=True):
            np.testing.assert_array_equal(one, other)


# ── single kinds ────────────────────────────────────────────────────────────────────────────────


def ring(n: int, weight: float = 1.0) -> np.ndarray:
    amount = np.zeros((n, n))
    amount[np.arange(n), (np.arange(n) + 1) % n] = weight
    return amount


def test_cycles_that_fractions_break_are_found():
    assert broken_cycles(ring(4)) == [(0, 1, 2, 3)]
    assert broken_cycles(ring(4, 0.8)) == [(0, 1, 2, 3)]  # 3.2 > 3
    assert broken_cycles(ring(4, 0.75)) == []
    assert broken_cycles(np.zeros((0, 0))) == broken_cycles(np.zeros((3, 3))) == []
    two = np.zeros((5, 5))
    two[:2, :2], two[2:, 2:] = ring(2), ring(3)
    assert broken_cycles(two) == [(0, 1), (2, 3, 4)]


def test_rows_of_cycles_are_about_their_edges():
    candidates = Candidates(3, all_pairs(3))
    relations = [candidates.place[pair] for pair in ((0, 1), (1, 2), (2, 0))]
    chosen = np.zeros(6, dtype=int)
    chosen[relations] = 1
    values = indicators(TYPES, candidates, [0, 0, 0], chosen)
    rows = Acyclic("R").more(TYPES, candidates, values)
    assert rows.together
    assert rows.bound.tolist() == [2.0]
    assert sorted(rows.indicator.tolist()) == sorted(6 + 3 * p + 1 for p in relations)
    assert Acyclic("S").more(TYPES, candidates, values) is None


def test_a_clause_counts_each_substitution():
    """R(a, b) and R(b, a) are said of either entity as a, so two related both ways break the clause twice."""
    (rule,) = parse_relation_rules("if R(a, b) then not R(b, a) hard")
    candidates = Candidates(2, all_pairs(2))
    rows = rule.lower(TYPES, candidates)
    assert len(rows.bound) == 1
    assert rule.violation(TYPES, candidates, indicators(TYPES, candidates, [0, 0], [1, 1])) == 2


def test_transitivity_of_many_entities_is_listed_quickly():
    (rule,) = parse_relation_rules("if R(a, b) and R(b, c) then R(a, c) hard")
    candidates = Candidates(24, all_pairs(24))
    began = time.perf_counter()
    rows = rule.lower(TYPES, candidates)
    assert len(rows.bound) == 24 * 23 * 22
    assert time.perf_counter() - began < 2


def test_more_substitutions_than_can_be_listed_are_refused():
    text = "if R(a, b) and R(c, d) and R(e, f) then not R(a, c) hard"
    (rule,) = parse_relation_rules(text)
    with pytest.raises(RuleError, match=r"speaks of more than 20,000,000 ways to choose 6 of 40 entities"):
        rule.lower(TYPES, Candidates(40, all_pairs(40)))


def test_what_rules_look_at_must_be_given():
    candidates = Candidates(2, all_pairs(2))
    (between, before) = parse_relation_rules(
        'if "x" between a and b then R(a, b) hard\nif a before b then R(a, b) hard'
    )
    with pytest.raises(RuleError, match="looks at tokens, and none are given"):
        between.lower(TYPES, candidates)
    with pytest.raises(RuleError, match="no spans are given"):
        before.lower(TYPES, candidates)
    with pytest.raises(RuleError, match="no spans are given"):
        between.lower(TYPES, Candidates(2, all_pairs(2), tokens=("x",)))


def test_mentions_that_overlap_have_nothing_between():
    candidates = Candidates(2, all_pairs(2), np.array([[0, 3], [1, 2]]), ("x", "x", "x"))
    between = Between("a", "b", Words(frozenset({"x"})))
    assert not between.truth(candidates).any()


# ── rules that are wrong in themselves ──────────────────────────────────────────────────────────

WRONG = [
    (lambda: ArgumentTypes("R", (), ("A",)), r"names \(\) where a tuple of names should be"),
    (lambda: ArgumentTypes("R", ("A", "A"), ("B",)), "names 'A' twice"),
    (lambda: PairLimit(-1), "the number is -1; give one of at least 0"),
    (lambda: Inverse("R", "R"), "relates 'R' to itself"),
    (lambda: HowMany("about", 1, "R"), "the comparison is 'about'"),
    (lambda: HowMany("at most", 10**13, "R"), "give whole numbers of at most"),
    (lambda: Degree("at most", 1, "R", "end"), "the end is 'end'; choose one of 'head', 'tail'"),
    (lambda: RelationCounts(Sum((), 1), "<=", Sum((), 2)), "compares two numbers"),
    (lambda: RelationCounts(Sum((Term(1, "A", "tokens"),)), "<=", Sum(())), "the rule counts tokens"),
    (lambda: Clause((), (Literal(Related("R", "a", "b")),)), "the clause is not complete"),
    (
        lambda: Clause((Literal(Related("R", "a", "a")),), (Literal(Related("S", "a", "b")),)),
        r"R\(a, a\) relates an entity to itself",
    ),
    (lambda: Symmetric("R", penalty=-1.0), "the penalty is -1.0"),
    (lambda: Between("a", "b", None), "words or a pattern"),
]


@pytest.mark.parametrize(("make", "message"), WRONG, ids=lambda one: one if isinstance(one, str) else "")
def test_rules_that_make_no_sense_are_refused(make, message):
    with pytest.raises(RuleError, match=message):
        make()


def test_names_that_the_types_lack_are_refused_when_rows_are_made():
    candidates = Candidates(2, all_pairs(2))
    with pytest.raises(RuleError, match="no relation is called 'T'"):
        Symmetric("T").lower(TYPES, candidates)
    with pytest.raises(RuleError, match="'A' is a type of entity, no relation"):
        Degree("at most", 1, "A", "head").lower(TYPES, candidates)
    with pytest.raises(RuleError, match="no type or relation is called 'T'"):
        HowMany("at most", 1, "T").lower(TYPES, candidates)


def test_costs_and_penalties_are_those_of_all_rules():
    rule = MentionsAgree()
    assert rule.is_hard
    assert rule.penalty == HARD
    assert rule.cost(0.0) == 0.0
    assert MentionsAgree(penalty=2.0).cost(3.0) == 6.0


def test_types_of_entities_alone_and_relations_alone():
    """A sentence may have nothing to decide of relations."""
    types = Types(("A",), ())
    candidates = Candidates(2, all_pairs(2))
    values = indicators(types, candidates, [0, 0], [0, 0])
    assert HowMany("at most", 1, "A").violation(types, candidates, values) == 1
    assert PairLimit(0).violation(types, candidates, values) == 0
