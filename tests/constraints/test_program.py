"""Programs: constraints lowered for a corpus charge what their primitives say, labelling by labelling."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from conseq.constraints import (
    Agree,
    Around,
    BeginsWith,
    Contains,
    Counts,
    EndsWith,
    ExactlyOneOf,
    FirstLast,
    FollowedBy,
    FollowedLater,
    IfThen,
    Legal,
    NotBefore,
    NotBoth,
    Pattern,
    Places,
    Segments,
    Share,
    Sum,
    Term,
    TokenIs,
    Words,
)
from conseq.constraints.base import Constraint
from conseq.constraints.primitives import run
from conseq.constraints.program import Program, lowered
from conseq.corpus import Corpus
from conseq.errors import RuleError
from conseq.schema import Schema

SCHEMA = Schema(["O", "B-a", "I-a", "I-a/B-b", "I-a/I-b", "B-b"], "bio")
WORDS = ("x", ",", "7", "y")
COMMA, DIGIT = Words(frozenset({","})), Pattern(r"\d")
POOL: list[Constraint] = [
    Legal("bio"),
    Agree("type", penalty=0.5),
    Around(COMMA, "a", "b", penalty=1.5),
    Contains("b", DIGIT, penalty=2),
    BeginsWith("a", COMMA, penalty=1),
    EndsWith("a", COMMA, penalty=0.5),
    Counts(Sum((Term(2, "a"), Term(1, "b", "tokens", COMMA))), "<=", Sum((Term(1, "b"),), 1), penalty=1),
    Counts(Sum((Term(1, "a"),)), "==", Sum((Term(1, "b"),)), penalty=1),
    ExactlyOneOf(("a", "b"), penalty=3),
    FirstLast("a", "b"),
    FollowedBy("b", "a", penalty=1),
    FollowedLater("a", "b", penalty=1),
    IfThen("a", "b", penalty=1),
    NotBefore("b", "a", True, penalty=1),
    NotBoth("O", "b", penalty=1),
    Segments("at least", 1, "b", penalty=0.25),
    Share("at most", 30, "O", penalty=4),
    TokenIs(Places((-1,)), ("O",), penalty=1),
]


def random_corpus(rng):
    return Corpus.from_sequences([rng.choice(WORDS, int(n)).tolist() for n in rng.integers(0, 8, 6)])


def by_definition(program, ids, tokens):
    """The violations of one labelling of the tokens in a slice, [P]."""
    return [run(c.primitive, ids, program.classes(c.primitive)[tokens]) for c in program.charges]


@pytest.mark.parametrize("seed", range(25))
def test_a_corpus_is_charged_sequence_by_sequence(seed):
    rng = np.random.default_rng(seed)
    corpus = random_corpus(rng)
    rules = [POOL[i] for i in rng.permutation(len(POOL))[: int(rng.integers(0, len(POOL) + 1))]]
    program = Program.of(rules, SCHEMA, corpus)
    labels = rng.integers(0, len(SCHEMA), corpus.n_tokens)
    found = program.violations(labels)
    assert found.shape == (len(corpus), len(program))
    for n, (a, b) in enumerate(zip(corpus.offsets[:-1], corpus.offsets[1:], strict=True)):
        assert found[n].tolist() == pytest.approx(by_definition(program, labels[a:b], slice(a, b)))


@pytest.mark.parametrize("seed", range(25))
def test_many_labellings_of_one_sequence(seed):
    rng = np.random.default_rng(seed)
    corpus = random_corpus(rng)
    program = Program.of(POOL, SCHEMA, corpus)
    a, b = corpus.offsets[3], corpus.offsets[4]
    labels = rng.integers(0, len(SCHEMA), (5, b - a))
    bounds = np.arange(6) * (b - a)
    found = program.violations(labels.ravel(), bounds, np.full(5, a))
    for row, ids in zip(found, labels, strict=True):
        assert row.tolist() == pytest.approx(by_definition(program, ids, slice(a, b)))


def test_violations_of_rules_are_those_of_the_rules_alone():
    rng = np.random.default_rng(3)
    tokens = ["x", ",", "7", "x", ","]
    program = Program.of(POOL, SCHEMA, Corpus.from_sequences([tokens]))
    for _ in range(20):
        labels = rng.choice(SCHEMA.labels, 5).tolist()
        by_rule = program.by_rule(program.violations(SCHEMA.encode(labels)))[0]
        alone = [rule.violation(labels, SCHEMA, tokens) for rule in POOL]
        assert by_rule.tolist() == pytest.approx(alone)


def test_costs_are_penalties_times_violations_and_nothing_times_hard_is_nothing():
    soft, hard = IfThen("a", "b", penalty=2.5), Segments("at most", 0, "b")
    program = Program.of([hard, soft], SCHEMA, Corpus.from_sequences([["x"], ["x"], ["x"]]))
    violations = program.violations(SCHEMA.encode(["B-a", "B-b", "O"]))
    assert program.costs(violations).tolist() == [2.5, math.inf, 0.0]
    program = Program.of([soft], SCHEMA, Corpus.from_sequences([["x"]]))
    assert program.costs(program.violations(SCHEMA.encode(["B-a"]))).tolist() == [2.5]


def test_no_labelling_violates_nothing():
    program = Program.of(
        [Segments("at least", 1, "a"), IfThen("a", "b")], SCHEMA, Corpus.from_sequences([["x"]])
    )
    assert program.violations(np.array([-1])).tolist() == [[0, 0]]
    assert program.violations(np.array([0])).tolist() == [[1, 0]]


def test_no_rules_and_no_sequences():
    corpus = Corpus.from_sequences([["x"], []])
    program = Program.of([], SCHEMA, corpus)
    assert program.violations(np.array([0])).shape == (2, 0)
    assert program.costs(program.violations(np.array([0]))).tolist() == [0, 0]
    empty = Program.of(POOL, SCHEMA, Corpus.from_sequences([]))
    assert empty.violations(np.zeros(0, dtype=np.int32)).shape == (0, len(empty))


def test_sums_come_first_and_rules_keep_their_numbers():
    program = Program.of(
        [IfThen("a", "b"), Segments("exactly", 1, "a")], SCHEMA, Corpus.from_sequences([["x"]])
    )
    assert program.n_linear == 2
    assert program.rule_of.tolist() == [1, 1, 0]


def test_an_error_names_the_rule():
    corpus = Corpus.from_sequences([["x"]])
    with pytest.raises(RuleError, match=r"called 'c'.*\(rule: if c then a\)"):
        Program.of([IfThen("a", "b"), IfThen("c", "a")], SCHEMA, corpus)
    with pytest.raises(RuleError, match=r'none are given.*\(rule: token "," is a\)'):
        Program.of([TokenIs(COMMA, ("a",))], SCHEMA, Corpus({}, np.array([0, 3])))
    with pytest.raises(RuleError, match=r"none are given.*\(rule: equal tokens agree on type\)"):
        Program.of([Agree("type")], SCHEMA, Corpus({}, np.array([0, 3])))


def test_rules_without_tokens_need_none():
    program = Program.of(
        [IfThen("a", "b"), Agree("type", places=(0, 1))], SCHEMA, Corpus({}, np.array([0, 2]))
    )
    assert program.violations(SCHEMA.encode(["B-a", "O"])).tolist() == [[1, 1]]


def test_lowering_is_shared_between_corpora():
    rules = (IfThen("a", "b"), FollowedLater("a", "b"))
    assert lowered(SCHEMA, rules) is lowered(SCHEMA, tuple(rules))
    assert lowered(SCHEMA, rules)[1] is None


def test_hundreds_of_rules_over_many_labels_are_lowered_at_once():
    types = [f"t{i}" for i in range(66)]
    schema = Schema(["O", *(f"{letter}-{t}" for t in types for letter in "BI")], "bio")
    rng = np.random.default_rng(0)
    rules: list[Constraint] = []
    for _ in range(150):
        a, b = rng.choice(types, 2, replace=False).tolist()
        at_most = Counts(Sum((Term(1, a),)), "<=", Sum((Term(1, b),)))
        rules += [IfThen(a, b), NotBefore(a, b), at_most, Around(COMMA, a, b)]
    program = Program.of(rules, schema, Corpus.from_sequences([["x", ",", "y"]]))
    assert len(program) == 600
    labels = schema.encode(["B-t0", "O", "I-t1"])
    assert program.violations(labels).shape == (1, 600)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: IfThen("a", "b", penalty=1e101), "the penalty is 1e+101; give at most 1e+100"),
        (lambda: IfThen("a", "b", penalty=-1.0), "the penalty is -1.0; give a number of at least 0"),
        (lambda: Term(10**13, "a"), "the weight is 10000000000000; give whole numbers of at most"),
    ],
)
def test_penalties_and_weights_beyond_what_sums_can_hold_are_refused(make, sentence):
    with pytest.raises(RuleError, match=re.escape(sentence)):
        make()


# ── other penalties ────────────────────────────────────────────────────────────────────────────────


def test_other_penalties_change_costs_and_nothing_else():
    rng = np.random.default_rng(4)
    corpus = random_corpus(rng)
    program = Program.of(POOL, SCHEMA, corpus)
    penalties = rng.choice([0.0, 0.5, 3.0, math.inf], len(POOL)).tolist()
    other = program.with_penalties(penalties)
    fresh = Program.of([replace(r, penalty=p) for r, p in zip(POOL, penalties, strict=True)], SCHEMA, corpus)
    labels = rng.integers(0, len(SCHEMA), corpus.n_tokens)
    violations = program.violations(labels)
    assert other.rules == fresh.rules
    assert other.penalties.tolist() == fresh.penalties.tolist()
    assert other.is_nonlocal.tolist() == fresh.is_nonlocal.tolist()
    assert other.local_penalties == fresh.local_penalties
    np.testing.assert_array_equal(other.violations(labels), violations)
    np.testing.assert_array_equal(other.by_rule(violations), fresh.by_rule(violations))
    np.testing.assert_array_equal(other.costs(violations), fresh.costs(violations))
    assert [rule.penalty for rule in program.rules] == [rule.penalty for rule in POOL]


def test_all_penalties_from_hard_to_soft_and_back():
    """`costs` takes a shorter way where no rule is hard; it must not stay there."""
    program = Program.of([IfThen("a", "b")], SCHEMA, Corpus.from_sequences([["x"]]))
    violations = np.array([[1.0], [0.0]])
    assert program.costs(violations).tolist() == [math.inf, 0.0]
    assert program.with_penalties([2.0]).costs(violations).tolist() == [2.0, 0.0]
    assert program.with_penalties([2.0]).with_penalties([math.inf]).costs(violations).tolist() == [
        math.inf,
        0.0,
    ]
    soft = Program.of([IfThen("a", "b", penalty=2.0)], SCHEMA, Corpus.from_sequences([["x"]]))
    assert soft.costs(violations).tolist() == [2.0, 0.0]
    assert soft.with_penalties([math.inf]).costs(violations).tolist() == [math.inf, 0.0]


def test_what_penalties_do_not_change_is_shared():
    program = Program.of(POOL, SCHEMA, random_corpus(np.random.default_rng(5)))
    once = program.with_penalties([1.0] * len(POOL))
    twice = once.with_penalties([2.0] * len(POOL))
    assert once.arrays is program.arrays
    assert twice.arrays is program.arrays
    assert twice.origin is once.origin is program


def test_penalties_that_do_not_fit():
    program = Program.of([IfThen("a", "b"), IfThen("b", "a")], SCHEMA, Corpus.from_sequences([["x"]]))
    with pytest.raises(ValueError):
        program.with_penalties([1.0])
    with pytest.raises(RuleError, match=r"the penalty is -1\.0"):
        program.with_penalties([1.0, -1.0])
    with pytest.raises(RuleError, match="the penalty is nan"):
        program.with_penalties([1.0, math.nan])


def test_no_rules_have_no_penalties():
    program = Program.of([], SCHEMA, Corpus.from_sequences([["x"]])).with_penalties([])
    assert len(program.with_penalties([])) == 0


def test_a_program_moved_to_another_corpus_looks_at_its_tokens():
    program = Program.of([TokenIs(COMMA, ("a",))], SCHEMA, Corpus.from_sequences([[",", "x"]]))
    moved = replace(program, corpus=Corpus.from_sequences([["x", ","]]))
    assert program.passing(COMMA).tolist() == [0]
    assert moved.passing(COMMA).tolist() == [1]
    assert program.with_penalties([2.0]).passing(COMMA) is program.passing(COMMA)
