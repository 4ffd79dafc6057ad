"""The language of rules about entities and relations: meanings, round trips, what is said of wrong lines."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conseq.constraints import HARD, NotBoth, Pattern, Sum, Term, Words
from conseq.constraints.language import format_constraints
from conseq.constraints.relational import (
    RELATION_RULES,
    Acyclic,
    ArgumentTypes,
    Before,
    Between,
    Clause,
    Degree,
    HowMany,
    Inverse,
    IsA,
    Literal,
    MentionsAgree,
    NoOverlap,
    PairLimit,
    Related,
    RelationCounts,
    Same,
    Symmetric,
)
from conseq.constraints.relational.language import (
    as_relation_rules,
    parse_relation_rules,
    read_relation_rules,
)
from conseq.constraints.writing import RESERVED
from conseq.entities import Types
from conseq.errors import RuleError

TYPES = Types(("person", "city", "org"), ("lives_in", "kill", "part of"))


def clause(conditions, *conclusions) -> Clause:
    """A clause of atoms; one in a list does not hold."""
    literals = [
        tuple(Literal(one[0], False) if isinstance(one, list) else Literal(one) for one in side)
        for side in (conditions, conclusions)
    ]
    return Clause(*literals)


def lives(a: str, b: str) -> Related:
    return Related("lives_in", a, b)


MEANINGS = {
    "lives_in(person, city) hard": ArgumentTypes("lives_in", ("person",), ("city",)),
    "lives_in(person or org, city) penalty 2": ArgumentTypes(
        "lives_in", ("person", "org"), ("city",), penalty=2.0
    ),
    "'part of'(city, city) hard": ArgumentTypes("part of", ("city",), ("city",)),
    "at most 1 relation per pair hard": PairLimit(1),
    "at most 2 relations per pair hard": PairLimit(2),
    "kill is symmetric hard": Symmetric("kill"),
    "kill is inverse of lives_in hard": Inverse("kill", "lives_in"),
    "'part of' is acyclic hard": Acyclic("part of"),
    "at most 1 lives_in per head hard": Degree("at most", 1, "lives_in", "head"),
    "exactly 2 kill per tail hard": Degree("exactly", 2, "kill", "tail"),
    "exactly 1 kill hard": HowMany("exactly", 1, "kill"),
    "at least 1 person penalty 0.5": HowMany("at least", 1, "person", penalty=0.5),
    "count(kill) <= count(person) + 1 hard": RelationCounts(
        Sum((Term(1, "kill"),)), "<=", Sum((Term(1, "person"),), 1)
    ),
    "count(kill) < 2 hard": RelationCounts(Sum((Term(1, "kill"),)), "<=", Sum((), 1)),
    "2 count(kill) - count(person) >= 3 hard": RelationCounts(
        Sum((Term(2, "kill"), Term(-1, "person"))), ">=", Sum((), 3)
    ),
    "if lives_in(a, b) then not lives_in(b, a) hard": clause([lives("a", "b")], [lives("b", "a")]),
    "if same(a, b) and lives_in(c, a) then lives_in(c, b) hard": clause(
        [Same("a", "b"), lives("c", "a")], lives("c", "b")
    ),
    "if kill(a, b) then person(a) or org(a) hard": clause(
        [Related("kill", "a", "b")], IsA("person", "a"), IsA("org", "a")
    ),
    "if not person(x) and x before y then not kill(x, y) hard": clause(
        [[IsA("person", "x")], Before("x", "y")], [Related("kill", "x", "y")]
    ),
    'if "murder" between a and b then kill(a, b) hard': clause(
        [Between("a", "b", Words(frozenset({"murder"})))], Related("kill", "a", "b")
    ),
    'if "w" or "v" between a and b and /x\\d/ between b and a then person(a) hard': clause(
        [Between("a", "b", Words(frozenset({"w", "v"}))), Between("b", "a", Pattern(r"x\d"))],
        IsA("person", "a"),
    ),
    "entities but org do not overlap hard": NoOverlap("org"),
    "same mentions agree on type penalty 2": MentionsAgree(penalty=2.0),
}


@pytest.mark.parametrize("line", MEANINGS)
def test_a_line_means_what_the_table_says(line):
    assert parse_relation_rules(line, TYPES) == [MEANINGS[line]]
    assert parse_relation_rules(str(MEANINGS[line])) == [MEANINGS[line]]


def test_spans_that_are_no_entities_have_the_type_none_if_no_other_is_named():
    types = Types(("none", "person"), ())
    assert parse_relation_rules("entities do not overlap hard", types) == [NoOverlap("none")]
    with pytest.raises(RuleError, match=r"called 'none'.* \(rule: entities do not overlap\)"):
        as_relation_rules([NoOverlap()], TYPES)
    with pytest.raises(RuleError, match="no type of entity is called 'none'"):
        parse_relation_rules("entities do not overlap hard", TYPES)


def test_blank_lines_and_comments_are_skipped():
    assert parse_relation_rules("") == []
    assert parse_relation_rules("\n  # no rule\nkill is symmetric hard # because\n") == [Symmetric("kill")]


# ── round trips ─────────────────────────────────────────────────────────────────────────────────

WORDS = ["same", "relation", "relations", "pair", "per", "head", "tail", "mentions", "between", "symmetric"]
NAMES = st.sampled_from(
    [*WORDS, *sorted(RESERVED), "a b", "''", "\\", "1", "é", "\n", "a->b", "("]
) | st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
VARIABLES = st.permutations(["a", "b", "c1", "same", "head", "x_y", "é", "between"]).map(lambda v: v[:2])
SEVERAL = st.lists(NAMES, min_size=1, max_size=3, unique=True).map(tuple)
TOKENS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
TESTS = st.one_of(
    st.frozensets(TOKENS, min_size=1, max_size=3).map(Words),
    st.sampled_from([r"\d{4}", "^a/b$", r"\\/", "(x|y)#"]).map(Pattern),
)
ATOMS = st.one_of(
    st.builds(lambda name, v: Related(name, *v), NAMES, VARIABLES),
    st.builds(lambda name, v: IsA(name, v[0]), NAMES, VARIABLES),
    VARIABLES.map(lambda v: Same(*v)),
    VARIABLES.map(lambda v: Before(*v)),
    st.builds(lambda v, test: Between(*v, test), VARIABLES, TESTS),
)
LITERALS = st.lists(st.builds(Literal, ATOMS, st.booleans()), min_size=1, max_size=3).map(tuple)
PENALTIES = st.floats(0, 1e100, allow_nan=False) | st.sampled_from([0.0, 1.0, 4.2, HARD])
COMPARISONS = st.sampled_from(["at most", "at least", "exactly"])
NUMBERS = st.integers(0, 10**12)
TERMS = st.builds(Term, st.integers(-9, 9), NAMES)


def sums(least: int) -> st.SearchStrategy[Sum]:
    return st.builds(Sum, st.lists(TERMS, min_size=least, max_size=3).map(tuple), st.integers(-99, 99))


RULES = {
    ArgumentTypes: (NAMES, SEVERAL, SEVERAL),
    PairLimit: (NUMBERS,),
    Symmetric: (NAMES,),
    Inverse: (st.lists(NAMES, min_size=2, max_size=2, unique=True),),
    Acyclic: (NAMES,),
    HowMany: (COMPARISONS, NUMBERS, NAMES),
    Degree: (COMPARISONS, NUMBERS, NAMES, st.sampled_from(["head", "tail"])),
    RelationCounts: (sums(1), st.sampled_from(["<=", ">=", "=="]), sums(0)),
    Clause: (LITERALS, LITERALS),
    MentionsAgree: (),
    NoOverlap: (NAMES,),
}


def rule_of(kind) -> st.SearchStrategy:
    def build(fields, penalty):
        spread = [v for value in fields for v in (value if isinstance(value, list) else [value])]
        return kind(*spread, penalty=penalty)

    return st.builds(build, st.tuples(*RULES[kind]), PENALTIES)


def test_every_class_of_rules_has_a_round_trip():
    assert set(RULES) == set(RELATION_RULES)


@pytest.mark.parametrize("kind", RELATION_RULES, ids=lambda kind: kind.__name__)
def test_every_rule_reads_back_equal(kind):
    @settings(max_examples=150, deadline=None)
    @given(rule_of(kind))
    def check(rule):
        assert parse_relation_rules(str(rule)) == [rule]

    check()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.one_of(*map(rule_of, RULES)), max_size=8))
def test_a_file_of_rules_reads_back_equal(tmp_path_factory, rules):
    text = format_constraints(rules)
    assert parse_relation_rules(text) == rules
    path = tmp_path_factory.mktemp("rules") / "r.txt"
    path.write_text(text, encoding="utf-8", newline="")
    assert read_relation_rules(path) == rules


# ── lines that are wrong ────────────────────────────────────────────────────────────────────────

WRONG = [
    ("kil(person, person) hard", 1, "no relation is called 'kil'; did you mean 'kill'?"),
    ("kill(persn, person) hard", 6, "no type of entity is called 'persn'; did you mean 'person'?"),
    ("kill(person, kill) hard", 14, "'kill' is a relation, no type of entity; there are person, city, org"),
    ("kill(person) hard", 12, "expected ',', not ')'"),
    ("if kill(a) then person(a) hard", 4, "'kill' is a relation, no type of entity; there are"),
    ("if person(a, b) then kill(a, b) hard", 4, "'person' is a type of entity, no relation; there are"),
    ("if kill(a, b, c) then person(a) hard", 4, "'kill' has 3 variables; a type has one and a relation two"),
    ("if kill(a, a) then person(a) hard", 4, "'kill(a, a)' relates an entity to itself; name two different"),
    ("if a before a then person(a) hard", 4, "'a before a' relates an entity to itself"),
    ("if kill(A, b) then person(b) hard", 9, "a variable is a word in lower case, as in R(a, b), not 'A'"),
    ("if a befor b then kill(a, b) hard", 6, "expected '(' or 'before', not 'befor'; did you mean 'before'?"),
    ('if "w" betwen a and b then kill(a, b) hard', 8, "not 'betwen'; did you mean 'between'?"),
    ("if kill(a, b) than person(a) hard", 15, "expected 'then', not 'than'; did you mean 'then'?"),
    ("if /(/ between a and b then kill(a, b) hard", 4, "the pattern /(/ is not a regular expression"),
    ("at most 1 person per head hard", 11, "'person' is a type of entity, no relation"),
    ("at most 1 relation per pairs hard", 24, "not 'pairs'; did you mean 'relation per pair'?"),
    ("at most 1.5 kill hard", 9, "'1.5' is no whole number"),
    ("at mots 1 kill hard", 4, "expected 'at most' or 'at least', not 'mots'; did you mean 'at most'?"),
    ("exactly 1 kil hard", 11, "no type or relation is called 'kil'; did you mean 'kill'?"),
    ("kill is symetric hard", 9, "not 'symetric'; did you mean 'is symmetric'?"),
    ("kill is inverse of kill hard", 1, "the rule relates 'kill' to itself"),
    ("kill is acyclic", 16, "the rule does not say what it costs; end it with 'hard' or 'penalty NUMBER'"),
    ("count(kill) hard", 13, "expected '<=', '>=', '==', '<' or '>', not 'hard'"),
    ("count(kills) <= 1 hard", 7, "no type or relation is called 'kills'; did you mean 'kill'?"),
    ("tokens(kill) <= 1 hard", 1, "no rule begins with 'tokens'; begin with a name, or with 'at most'"),
    ("kill is symmetric penalty -1", 27, "the penalty is -1; give a number of at least 0"),
]


@pytest.mark.parametrize(("line", "column", "message"), WRONG)
def test_what_is_said_of_a_line_that_is_wrong(line, column, message):
    with pytest.raises(RuleError, match=re.escape(message)) as caught:
        parse_relation_rules(f"# first\n{line}", TYPES, path="r.txt")
    assert (caught.value.path, caught.value.line, caught.value.column) == ("r.txt", 2, column)


# ── rules in any form ───────────────────────────────────────────────────────────────────────────


def test_rules_may_be_given_in_any_form(tmp_path):
    path = tmp_path / "r.txt"
    path.write_text("kill is symmetric hard\n", encoding="utf-8")
    rule = Symmetric("kill")
    for given_rules in ("kill is symmetric hard", path, rule, [rule], ["kill is symmetric hard"], (rule,)):
        assert as_relation_rules(given_rules, TYPES) == (rule,)
    assert as_relation_rules(None, TYPES) == as_relation_rules("", TYPES) == ()
    assert as_relation_rules(["", rule, "# x"], TYPES) == (rule,)


def test_what_is_no_rule_is_refused(tmp_path):
    path = tmp_path / "r.txt"
    path.write_text("kill is symmetric", encoding="utf-8")
    with pytest.raises(RuleError, match=r"is a file, not a rule; give pathlib.Path"):
        as_relation_rules(str(path), TYPES)
    with pytest.raises(RuleError, match=r"r\.txt:1:18: the rule does not say what it costs"):
        as_relation_rules(path, TYPES)
    with pytest.raises(RuleError, match="line 2: a rule is of type int; give a RelationRule or a line"):
        as_relation_rules([Symmetric("kill"), 3], TYPES)
    with pytest.raises(RuleError, match="line 1: a rule is of type NotBoth; give a RelationRule or a line"):
        as_relation_rules([NotBoth("a", "b")], TYPES)
    with pytest.raises(RuleError, match=r"no relation is called 'kil'; .* \(rule: kil is acyclic\)"):
        as_relation_rules([Acyclic("kil")], TYPES)
    with pytest.raises(RuleError, match="line 2, column 1: no relation is called 'kil'"):
        as_relation_rules(["", "kil is acyclic hard"], TYPES)
    with pytest.raises(RuleError, match="constraints is of type int"):
        as_relation_rules(3, TYPES)
