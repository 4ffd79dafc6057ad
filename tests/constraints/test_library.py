"""Every rule means what `benchmarks/naive_rules.py` says, on all labellings of short sequences."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from benchmarks.naive_rules import NAIVE, Labelling
from conseq.constraints import (
    CONSTRAINTS,
    Agree,
    Around,
    BeginsWith,
    Contains,
    Contiguous,
    Counts,
    EndsWith,
    ExactlyOneOf,
    FirstLast,
    FollowedBy,
    FollowedLater,
    Forbidden,
    IfThen,
    Legal,
    NotBefore,
    NotBoth,
    OnlySteps,
    Pattern,
    Places,
    Required,
    Segments,
    Share,
    Sum,
    Term,
    TokenIs,
    TokenIsNot,
    Words,
    seen_steps,
)
from conseq.constraints.base import sequence_corpus
from conseq.constraints.program import Program
from conseq.errors import RuleError
from conseq.schema import Schema

SCHEMAS = {
    "plain": (Schema(["O", "a", "b"], "plain"), 5),
    "iob1": (Schema(["O", "B-a", "I-a", "B-b", "I-b"], "iob1"), 4),
    "bio": (Schema(["O", "B-a", "I-a", "I-b"], "bio"), 5),
    "bioes": (Schema(["O", "B-a", "I-a", "E-a", "S-a", "S-b"], "bioes"), 4),
    "nested": (Schema(["O", "B-a", "I-a", "I-a/B-b", "I-a/I-b", "B-b"], "bio"), 4),
    "nested alike": (Schema(["O", "B-a", "I-a/B-a", "I-a/I-a", "B-b"], "bio"), 4),
}
"""Small schemas and the longest sequences that all labellings are tried of. In the nested ones the name b or
a stands for types of two levels."""

TOKENS = (("x", ",", "x", "7", ","), (",", ",", "77", "x", ","))
COMMA, DIGIT = Words(frozenset({",", ";"})), Pattern(r"\d")
A, B = Term(1, "a"), Term(1, "b")

RULES = [
    Forbidden("a", "b"),
    Forbidden("START", "b"),
    Forbidden("a", "END"),
    Forbidden("START", "END"),
    Forbidden("O", "a"),
    Required("a", "b"),
    Required("b", "b"),
    Required("START", "a"),
    Required("a", "END"),
    Required("START", "END"),
    TokenIs(COMMA, ("a",)),
    TokenIs(Places((-1,)), ("b", "O")),
    TokenIs(Places((1, -3)), ("a",)),
    TokenIsNot(DIGIT, ("a",)),
    TokenIsNot(COMMA, ("a", "O")),
    Segments("at most", 1, "a"),
    Segments("at most", 0, "b"),
    Segments("at least", 2, "a"),
    Segments("exactly", 1, "b"),
    Counts(Sum((A,)), "<=", Sum((B,))),
    Counts(Sum((A, B)), "<=", Sum((), 2)),
    Counts(Sum((Term(2, "a"), Term(-1, "b")), 1), ">=", Sum(())),
    Counts(Sum((A,)), "==", Sum((B,), -1)),
    Counts(Sum((Term(1, "a", "tokens"),)), "<=", Sum((Term(1, "a"),), 1)),
    Counts(Sum((Term(1, "a", "count", COMMA),)), "<=", Sum((Term(1, "b", "tokens", DIGIT),))),
    Counts(Sum((Term(1, "O", "tokens"),)), "==", Sum((), 2)),
    Share("at most", 40, "a"),
    Share("at least", 33.5, "b"),
    Share("at most", 0, "O"),
    Share("at least", 100, "a"),
    FollowedBy("a", "b"),
    FollowedBy("b", "O"),
    FollowedBy("a", "a"),
    FollowedLater("a", "b"),
    FollowedLater("b", "a"),
    FollowedLater("O", "a"),
    Around(COMMA, "a", "b", False),
    Around(COMMA, "a", "b", True),
    Around(DIGIT, "b", "a", True),
    Around(COMMA, "a", "a", False),
    FirstLast("a", "b"),
    FirstLast("O", "O"),
    FirstLast("b", "a"),
    NotBefore("a", "b"),
    NotBefore("a", "b", True),
    NotBefore("b", "a"),
    NotBefore("a", "a", True),
    Contiguous("a"),
    Contiguous("b"),
    Contiguous("O"),
    IfThen("a", "b"),
    IfThen("b", "a"),
    IfThen("O", "b"),
    NotBoth("a", "b"),
    NotBoth("O", "b"),
    ExactlyOneOf(("a", "b")),
    ExactlyOneOf(("a", "b", "O")),
    ExactlyOneOf(("b",)),
    Agree("label"),
    Agree("type"),
    Agree("type", among=COMMA),
    Agree("type", places=(0, 2)),
    Agree("label", places=(-1, 1, 0)),
    Contains("a", DIGIT),
    Contains("b", COMMA),
    BeginsWith("a", DIGIT),
    BeginsWith("b", COMMA),
    EndsWith("a", DIGIT),
    EndsWith("b", COMMA),
]


def rules_for(schema):
    """The rules for any schema, and those that depend on its scheme or labels."""
    one, two, last = schema.labels[1], schema.labels[2], schema.labels[-1]
    steps = (("START", one), (one, two), (two, last), ("O", "O"), (last, "END"), ("START", "END"))
    return [
        *RULES,
        Legal(str(schema.scheme)),
        OnlySteps(steps),
        OnlySteps(((one, one),)),
        Forbidden(one, two),
        IfThen(one, two),
        NotBefore(two, one),
        Contiguous(two),
    ]


def test_every_rule_has_a_meaning_and_instances():
    names = {rule.__name__ for rule in CONSTRAINTS}
    tried = {type(rule).__name__ for rule in rules_for(SCHEMAS["plain"][0])}
    assert names == set(NAIVE)
    assert names == tried


@pytest.mark.parametrize("name", SCHEMAS)
def test_rules_mean_what_they_say_on_all_labellings(name):
    schema, longest = SCHEMAS[name]
    rules = rules_for(schema)
    for length, tokens in product(range(longest + 1), TOKENS):
        words = tokens[:length]
        program = Program.of(rules, schema, sequence_corpus(length, words))
        ids = np.array(list(product(range(len(schema)), repeat=length)), dtype=np.int32)
        bounds = np.arange(len(ids) + 1) * length
        found = program.by_rule(program.violations(ids.ravel(), bounds, np.zeros(len(ids), dtype=np.int64)))
        labellings = [Labelling(tuple(schema.decode(row)), words, schema) for row in ids]
        for k, rule in enumerate(rules):
            check(rule, found[:, k], labellings)


def check(rule, found, labellings):
    naive = NAIVE[type(rule).__name__]
    expected = np.array([float(naive(rule, labelling)) for labelling in labellings])
    for i in np.flatnonzero(np.abs(found - expected) > 1e-9)[:1]:
        at = f"{labellings[i].labels} over {labellings[i].tokens}"
        pytest.fail(f"{rule}: {found[i]} where {expected[i]} is right for {at}")


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_violation_of_one_labelling_is_the_same(name):
    schema, longest = SCHEMAS[name]
    rng = np.random.default_rng(7)
    for rule in rules_for(schema):
        for _ in range(8):
            length = int(rng.integers(0, longest + 1))
            labels = tuple(rng.choice(schema.labels, length).tolist())
            words = TOKENS[int(rng.integers(2))][:length]
            expected = float(NAIVE[type(rule).__name__](rule, Labelling(labels, words, schema)))
            assert rule.violation(labels, schema, words) == pytest.approx(expected, abs=1e-9), (rule, labels)


def test_a_share_is_not_missed_by_a_rounding_error():
    schema = Schema(["O", "a"], "plain")
    for percent, length in product((7, 29, 55, 57, 58), (100, 300)):
        labels = ["a"] * (percent * length // 100) + ["O"] * (length - percent * length // 100)
        for relation in ("at most", "at least"):
            rule = Share(relation, percent, "a")
            program = Program.of([rule], schema, sequence_corpus(length, None))
            assert rule.violation(labels, schema) == 0
            assert program.violations(schema.encode(labels)).item() == 0


def test_iob1_is_legal_as_bio_and_other_schemes_are_refused():
    schema = Schema(["O", "B-a", "I-a"], "bio")
    assert Legal("iob1").violation(["O", "I-a"], schema) == 1
    with pytest.raises(RuleError, match="the scheme bioes and the labels are in bio; write 'legal bio'"):
        Legal("bioes").lower(schema)


def test_seen_steps_allow_what_was_seen_and_nothing_else():
    schema = Schema(["a", "b", "c"], "plain")
    ids, offsets = np.array([0, 1, 1, -1, 2, 0]), np.array([0, 2, 5, 5, 6])
    rule = seen_steps(ids, offsets, schema, penalty=2.0)
    seen = {("START", "a"), ("a", "b"), ("b", "END"), ("START", "b"), ("c", "END"), ("a", "END")}
    assert set(rule.steps) == {*seen, ("START", "END")}
    assert rule.penalty == 2
    assert rule.violation(["a", "c"], schema) == 1


def test_a_plain_label_is_no_path():
    """The name `a` is the label so written, not the label x/a, for tokens as for segments."""
    schema = Schema(["a", "x/a", "x/b"], "plain")
    labels = ["a", "x/a", "x/b"]
    assert Segments("at most", 0, "a").violation(labels, schema) == 1
    assert Share("at most", 0, "a").violation(labels, schema) == 1
    assert Segments("at most", 0, "b").violation(labels, schema) == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Segments("at most", -1, "a"), "number of segments is -1"),
        (lambda: Segments("atmost", 1, "a"), "relation is 'atmost'; choose one of 'at most'"),
        (lambda: Counts(Sum((A,)), "<", Sum((B,))), "relation is '<'"),
        (lambda: Counts(Sum((), 1), "<=", Sum((), 2)), "compares two numbers"),
        (lambda: Term(1, "a", "words"), "unit is 'words'"),
        (lambda: Share("exactly", 40, "a"), "relation is 'exactly'"),
        (lambda: Share("at most", 101, "a"), "share is 101 %"),
        (lambda: Share("at most", math.nan, "a"), "share is nan %"),
        (lambda: ExactlyOneOf(()), "name at least one"),
        (lambda: ExactlyOneOf(("a", "b", "a")), "names 'a' twice"),
        (lambda: TokenIs(COMMA, ()), "name at least one"),
        (lambda: TokenIsNot(COMMA, "a"), "where a tuple of names should be"),
        (lambda: OnlySteps(()), "lists no step"),
        (lambda: OnlySteps((("END", "a"),)), "no step END -> a"),
        (lambda: Forbidden("a", "START"), "no step a -> START"),
        (lambda: Legal("bilou"), "scheme is 'bilou'"),
        (lambda: IfThen("a", "a"), "relates 'a' to itself"),
        (lambda: NotBoth("a", "a"), "relates 'a' to itself"),
        (lambda: FollowedLater("a", "a"), "relates 'a' to itself"),
        (lambda: Agree("word"), "property to agree on is 'word'"),
        (lambda: Agree("type", places=(3,)), "tokens 3 cannot agree"),
        (lambda: Agree("type", places=(3, 4, 3)), "tokens 3, 4, 3 cannot agree"),
        (lambda: Agree("type", COMMA, (3, 4)), "both places and a test"),
        (lambda: IfThen("a", "b", penalty=-1), "penalty is -1"),
        (lambda: IfThen("a", "b", penalty=math.nan), "penalty is nan"),
    ],
)
def test_senseless_rules_are_refused(make, message):
    with pytest.raises(RuleError, match=message):
        make()


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (IfThen("autor", "title"), "called 'autor'; did you mean 'author'"),
        (Segments("at most", 1, "B-author"), "'B-author' is a label and no type of segment"),
        (FollowedBy("O", "author"), "'O' is a label and no type of segment"),
        (OnlySteps((("author", "O"),)), "'author' is a type of segment and no label"),
        (OnlySteps((("B-autor", "O"),)), "did you mean 'B-author'"),
    ],
)
def test_names_that_do_not_fit_the_labels_are_refused(rule, message):
    with pytest.raises(RuleError, match=message):
        rule.lower(Schema(["O", "B-author", "I-author", "B-title"], "bio"), None)


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        (Legal("bio"), "legal bio"),
        (Forbidden("START", "a b"), "forbid START -> 'a b'"),
        (Required("a", "END"), "require a -> END"),
        (OnlySteps((("START", "a"), ("a", "END"))), "only steps START -> a, a -> END"),
        (TokenIs(Places((0,)), ("a", "b")), "token 0 is a or b"),
        (TokenIs(COMMA, ("a",)), 'token "," or ";" is a'),
        (TokenIsNot(DIGIT, ("a",)), r"token /\d/ is not a"),
        (Segments("exactly", 2, "a"), "exactly 2 segments of a"),
        (Counts(Sum((A, B)), "<=", Sum((), 3)), "count(a) + count(b) <= 3"),
        (Counts(Sum((Term(2, "a"), Term(-1, "b"))), ">=", Sum(())), "2 count(a) - count(b) >= 0"),
        (
            Counts(Sum((Term(1, "a", "tokens", DIGIT),), -2), "==", Sum((B,))),
            r"tokens(a at /\d/) - 2 == count(b)",
        ),
        (Counts(Sum((Term(-1, "a"),), -2), ">=", Sum((), -5)), "-count(a) - 2 >= -5"),
        (Share("at least", 2.5, "a"), "at least 2.5 % of tokens are a"),
        (FollowedBy("a", "b"), "a followed by b"),
        (FollowedLater("a", "b"), "a followed later by b"),
        (Around(DIGIT, "a", "b"), r"around /\d/: a -> b"),
        (Around(DIGIT, "a", "b", True), r"around /\d/: if a then b"),
        (FirstLast("a", "b"), "first a -> last b"),
        (NotBefore("a", "b"), "no a before b"),
        (NotBefore("a", "b", True), "no a before each b"),
        (Contiguous("a"), "a is contiguous"),
        (IfThen("a", "b"), "if a then b"),
        (NotBoth("a", "b"), "not both a and b"),
        (ExactlyOneOf(("a", "b")), "exactly one of a, b"),
        (Agree("type"), "equal tokens agree on type"),
        (Agree("label", DIGIT), r"equal tokens /\d/ agree on label"),
        (Agree("type", places=(3, 7)), "tokens 3, 7 agree on type"),
        (Contains("a", DIGIT), r"each a contains /\d/"),
        (BeginsWith("a", DIGIT), r"each a begins with /\d/"),
        (EndsWith("a", DIGIT), r"each a ends with /\d/"),
    ],
)
def test_lines(rule, line):
    assert rule.line() == line
    assert str(rule) == f"{line}  hard"


def test_names_are_those_a_rule_mentions():
    assert Forbidden("START", "a").names == ("a",)
    assert OnlySteps((("START", "a"), ("a", "b"), ("b", "END"))).names == ("a", "b")
    assert Counts(Sum((A, B)), "<=", Sum((A,))).names == ("a", "b")
    assert TokenIs(COMMA, ("a", "b")).names == ("a", "b")
    assert Agree("type").names == ()
