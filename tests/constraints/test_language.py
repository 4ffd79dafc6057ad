"""The language: what each line means, that rules read back equal, what is said of a line that is wrong."""

import math
import re
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conseq.constraints import (
    CONSTRAINTS,
    HARD,
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
    writing,
)
from conseq.constraints.grammar import forms
from conseq.constraints.language import format_constraints, parse_constraints, read_constraints
from conseq.errors import RuleError
from conseq.schema import Schema


def words(*tokens: str) -> Words:
    return Words(frozenset(tokens))


def counts(left, relation, right, **penalty) -> Counts:
    """Sums given as [(weight, name), …, constant]."""
    sums = [
        Sum(
            tuple(Term(*t) for t in side if not isinstance(t, int)),
            sum(t for t in side if isinstance(t, int)),
        )
        for side in (left, right)
    ]
    return Counts(sums[0], relation, sums[1], **penalty)


# ── meaning ─────────────────────────────────────────────────────────────────────────────────────

MEANINGS = {
    # the lines that must parse
    "at most 1 segment of A hard": Segments("at most", 1, "A"),
    "at most 3 segments of A penalty 0.5": Segments("at most", 3, "A", penalty=0.5),
    "at least 2 segments of A hard": Segments("at least", 2, "A"),
    "exactly 1 segments of A hard": Segments("exactly", 1, "A"),
    "count(A) <= count(B) hard": counts([(1, "A")], "<=", [(1, "B")]),
    "count(A) + count(B) >= 3 penalty 2": counts([(1, "A"), (1, "B")], ">=", [3], penalty=2.0),
    "count(A) - count(B) <= 1 hard": counts([(1, "A"), (-1, "B")], "<=", [1]),
    "if A then B penalty 2.1": IfThen("A", "B", penalty=2.1),
    "not both A and B hard": NotBoth("A", "B"),
    "no A before B penalty 3.0": NotBefore("A", "B", penalty=3.0),
    "A followed by B hard": FollowedBy("A", "B"),
    "first A -> last B penalty 0.4": FirstLast("A", "B", penalty=0.4),
    'around "d": A -> B hard': Around(words("d"), "A", "B", implies=False),
    'around ",": if city then state penalty 1.3': Around(
        words(","), "city", "state", implies=True, penalty=1.3
    ),
    r"each A contains /\d{4}/ penalty 2.0": Contains("A", Pattern(r"\d{4}"), penalty=2.0),
    'token "Mr." is person hard': TokenIs(words("Mr."), ("person",)),
    "token /^[A-Z]/ is A hard": TokenIs(Pattern("^[A-Z]"), ("A",)),
    "legal bio hard": Legal("bio"),
    "legal bio": Legal("bio"),
    # the other forms
    "forbid A -> B hard": Forbidden("A", "B"),
    "forbid START -> I-x hard": Forbidden("START", "I-x"),
    "require A -> END hard": Required("A", "END"),
    "only steps A -> B, START -> A hard": OnlySteps((("A", "B"), ("START", "A"))),
    'token "a" or "b" is A or B hard': TokenIs(words("a", "b"), ("A", "B")),
    "token 0 is A hard": TokenIs(Places((0,)), ("A",)),
    "token -1 or 2 is not A, B hard": TokenIsNot(Places((-1, 2)), ("A", "B")),
    "tokens(A) <= 5 hard": counts([(1, "A", "tokens")], "<=", [5]),
    'count(A at "w") <= 1 hard': counts([(1, "A", "count", words("w"))], "<=", [1]),
    "at most 40 % of tokens are A hard": Share("at most", 40.0, "A"),
    "at least 2.5% of tokens are A hard": Share("at least", 2.5, "A"),
    "A followed later by B hard": FollowedLater("A", "B"),
    "no A before each B hard": NotBefore("A", "B", each=True),
    "A is contiguous hard": Contiguous("A"),
    "exactly one of A, B, C hard": ExactlyOneOf(("A", "B", "C")),
    "equal tokens agree on type hard": Agree("type"),
    "equal tokens /^[A-Z]/ agree on label hard": Agree("label", Pattern("^[A-Z]")),
    "tokens 3, 7 agree on type hard": Agree("type", places=(3, 7)),
    'each A contains "w" or "v" hard': Contains("A", words("w", "v")),
    "each A begins with /^[A-Z]/ hard": BeginsWith("A", Pattern("^[A-Z]")),
    'each A ends with "," or "." penalty 2': EndsWith("A", words(",", "."), penalty=2.0),
    # other spellings
    "A before B hard": NotBefore("B", "A"),
    "first A → last B hard": FirstLast("A", "B"),
    "forbid A->B hard": Forbidden("A", "B"),
    "count(A) ≤ 3 hard": counts([(1, "A")], "<=", [3]),
    "count(A) ≥ 3 hard": counts([(1, "A")], ">=", [3]),
    "count(A) = 3 hard": counts([(1, "A")], "==", [3]),
    "count(A) == 3 hard": counts([(1, "A")], "==", [3]),
    "count(A) < 3 hard": counts([(1, "A")], "<=", [2]),
    "count(A) > count(B) hard": counts([(1, "A")], ">=", [(1, "B"), 1]),
    "3 >= count(A) hard": counts([3], ">=", [(1, "A")]),
    "2 count(A)+2*count(B)-3 <= - count(C) hard": counts([(2, "A"), (2, "B"), -3], "<=", [(-1, "C")]),
    "exactly one of A or B hard": ExactlyOneOf(("A", "B")),
    "if A then B penalty inf": IfThen("A", "B"),
    "  if   A\tthen B   hard  # if and then": IfThen("A", "B"),
    "if 'a b#c' then 'it''s' hard": IfThen("a b#c", "it's"),
    r"if 'then' then '\'\\' hard": IfThen("then", "'\\"),
    r'token "#\"\\" is A hard': TokenIs(words('#"\\'), ("A",)),
    r"token /#\/\\/ is A hard": TokenIs(Pattern(r"#/\\"), ("A",)),
    "if I-authors/B-person then größe.x:y+z&$%@* hard": IfThen("I-authors/B-person", "größe.x:y+z&$%@*"),
    "if हिन्दी then 日本 hard\r": IfThen("हिन्दी", "日本"),
}


@pytest.mark.parametrize("line", MEANINGS)
def test_a_line_means_what_the_table_says(line):
    assert parse_constraints(line) == [MEANINGS[line]]


def test_blank_lines_and_comments_are_skipped_and_nothing_is_no_rules():
    assert parse_constraints("") == []
    assert parse_constraints("\n  \n# no rule\n\t# either\nif A then B hard\n") == [IfThen("A", "B")]


def test_every_word_of_a_form_is_reserved_so_that_no_name_can_be_taken_for_it():
    literals = {
        word for form in forms() for element, phrase in form.elements if phrase for word in element.split("|")
    }
    assert {word for word in literals if word.isalpha()} <= writing.RESERVED


# ── round trips ─────────────────────────────────────────────────────────────────────────────────

ODD = [
    *sorted(writing.RESERVED),
    "''",
    '"',
    "a b",
    "a'b",
    "\\",
    "a\\",
    "/x/",
    "#",
    "->",
    "-",
    "1",
    "2a",
    "é",
    "\n",
    "a->b",
]
NAMES = st.one_of(
    st.sampled_from(ODD),
    st.text(string.ascii_letters + "_-./:+&$%@*' ", min_size=1, max_size=6),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6),
)
BEFORE = NAMES.filter(lambda name: name != "END") | st.just("START")
AFTER = NAMES.filter(lambda name: name != "START") | st.just("END")
TOKENS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
LITERAL = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"), max_size=5).map(
    re.escape
)
PATTERNS = LITERAL | st.sampled_from([r"\d{4}", "^a/b$", r"\\/", r"[\]/\\]", "(x|y)#", "'\"", ""])
INTEGERS = st.integers(-9, 9)
TESTS = st.one_of(
    st.frozensets(TOKENS, min_size=1, max_size=3).map(Words),
    PATTERNS.map(Pattern),
    st.lists(INTEGERS, min_size=1, max_size=3, unique=True).map(tuple).map(Places),
)
PENALTIES = st.floats(0, 1e100, allow_nan=False) | st.sampled_from([0.0, 1.0, 4.2, HARD])
TERMS = st.builds(Term, INTEGERS, NAMES, st.sampled_from(["count", "tokens"]), st.none() | TESTS)
RELATIONS = st.sampled_from(["<=", ">=", "=="])


def sums(least: int) -> st.SearchStrategy[Sum]:
    return st.builds(
        Sum, st.lists(TERMS, min_size=least, max_size=3).map(tuple), st.integers(-(10**12), 10**12)
    )


def distinct(size: int) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(NAMES, min_size=size, max_size=size, unique=True).map(tuple)


SEVERAL = st.integers(2, 4).flatmap(distinct)
PAIR = distinct(2)


def rule(kind, *fields, **named):
    """Rules of a class; a field of two names is spread over two fields."""

    def build(values, keywords, penalty):
        spread = [v for value in values for v in (value if isinstance(value, _Spread) else [value])]
        return kind(*spread, **keywords, penalty=penalty)

    return st.builds(build, st.tuples(*fields), st.fixed_dictionaries(named), PENALTIES)


class _Spread(tuple):
    """A tuple of fields, not a field that is a tuple."""


TWO = PAIR.map(_Spread)
STEPS = st.lists(st.tuples(BEFORE, AFTER), min_size=1, max_size=3, unique=True).map(tuple)

RULES = {
    Legal: rule(Legal, st.sampled_from(["plain", "iob1", "bio", "bioes"])),
    Forbidden: rule(Forbidden, BEFORE, AFTER),
    Required: rule(Required, BEFORE, AFTER),
    OnlySteps: rule(OnlySteps, STEPS),
    TokenIs: rule(TokenIs, TESTS, SEVERAL),
    TokenIsNot: rule(TokenIsNot, TESTS, SEVERAL),
    Segments: rule(
        Segments, st.sampled_from(["at most", "at least", "exactly"]), st.integers(0, 10**12), NAMES
    ),
    Counts: rule(Counts, sums(1), RELATIONS, sums(0)) | rule(Counts, sums(0), RELATIONS, sums(1)),
    Share: rule(Share, st.sampled_from(["at most", "at least"]), st.floats(0, 100), NAMES),
    Contiguous: rule(Contiguous, NAMES),
    FollowedBy: rule(FollowedBy, TWO),
    FollowedLater: rule(FollowedLater, TWO),
    Around: rule(Around, TESTS, TWO, implies=st.booleans()),
    FirstLast: rule(FirstLast, TWO),
    NotBefore: rule(NotBefore, TWO, each=st.booleans()),
    IfThen: rule(IfThen, TWO),
    NotBoth: rule(NotBoth, TWO),
    ExactlyOneOf: rule(ExactlyOneOf, SEVERAL),
    Agree: rule(Agree, st.sampled_from(["label", "type"]), st.none() | TESTS)
    | rule(
        Agree,
        st.sampled_from(["label", "type"]),
        places=st.lists(INTEGERS, min_size=2, max_size=4, unique=True).map(tuple),
    ),
    Contains: rule(Contains, NAMES, TESTS),
    BeginsWith: rule(BeginsWith, NAMES, TESTS),
    EndsWith: rule(EndsWith, NAMES, TESTS),
}


def test_every_class_of_rules_has_a_round_trip():
    assert set(RULES) == set(CONSTRAINTS)


@pytest.mark.parametrize("kind", CONSTRAINTS, ids=lambda kind: kind.__name__)
def test_every_rule_reads_back_equal(kind):
    @settings(max_examples=60, deadline=None)
    @given(RULES[kind])
    def check(given_rule):
        assert parse_constraints(str(given_rule)) == [given_rule]

    check()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.one_of(*RULES.values()), max_size=8))
def test_a_file_of_rules_reads_back_equal(tmp_path_factory, rules):
    text = format_constraints(rules)
    assert parse_constraints(text) == rules
    path = tmp_path_factory.mktemp("rules") / "r.txt"
    path.write_text(text, encoding="utf-8", newline="")
    assert read_constraints(path) == rules


def test_penalties_stand_in_a_column_after_short_lines():
    long = "b" * 70
    text = format_constraints([IfThen("a", "b", penalty=2.0), Legal("bio"), IfThen("a", long)])
    assert text == f"if a then b  penalty 2\nlegal bio    hard\nif a then {long}  hard\n"
    assert format_constraints([]) == ""


def test_what_the_language_has_no_words_for_is_said():
    with pytest.raises(RuleError, match="has no words for"):
        writing.test(Words(frozenset()))


# ── lines that are wrong ────────────────────────────────────────────────────────────────────────

WRONG = [
    (
        "at mots 1 segment of A hard",
        4,
        "expected 'at most' or 'at least', not 'mots'; did you mean 'at most'?",
    ),
    ("atmost 1 segment of A hard", 1, "no rule begins with 'atmost'; did you mean 'at most'?"),
    ("forbidd A -> B hard", 1, "no rule begins with 'forbidd'; did you mean 'forbid'?"),
    ("IF A then B hard", 1, "no rule begins with 'IF'; did you mean 'if'?"),
    (") hard", 1, "no rule begins with ')'; begin with a name, or with 'at most', 'if', 'no', …"),
    ("hard", 1, "no rule begins with 'hard'; begin with a name, or with 'at most', 'if', 'no', …"),
    ("if A than B hard", 6, "expected 'then', not 'than'; did you mean 'then'?"),
    ("no A befor B hard", 6, "expected 'before' or 'before each', not 'befor'; did you mean 'before'?"),
    ("not both A or B hard", 12, "expected 'and', not 'or'"),
    ("legal boi", 7, "expected 'plain', 'iob1', 'bio' or 'bioes', not 'boi'; did you mean 'bio'?"),
    ('around "," if A then B hard', 12, "expected ':', not 'if'"),
    ("if A", 5, "expected 'then', not the end of the line"),
    # numbers
    ("at most segment of A hard", 9, "expected a number, not 'segment'"),
    ("at most 1.5 segments of A hard", 9, "'1.5' is no whole number; write one in digits alone"),
    ("at most -1 segments of A hard", 9, "-1 is too small a number; give one of at least 0"),
    ("at most 140 % of tokens are A hard", 1, "the share is 140.0 %; give a number from 0 to 100"),
    ("count(A) <= hard", 13, "expected 'count(A)', 'tokens(A)' or a number, not 'hard'"),
    ("count(A <= 3 hard", 9, "expected ')', not '<='"),
    ("count(A) hard", 10, "expected '<=', '>=', '==', '<' or '>', not 'hard'"),
    # penalties
    ("if A then B", 12, "the rule does not say what it costs; end it with 'hard' or 'penalty NUMBER'"),
    (
        "if A then B  # hard",
        12,
        "the rule does not say what it costs; end it with 'hard' or 'penalty NUMBER'",
    ),
    ("if A then B penalty", 20, "expected a number, not the end of the line"),
    ("if A then B penalty x", 21, "expected a number, not 'x'"),
    ("if A then B penalty -3", 21, "the penalty is -3; give a number of at least 0, or write 'hard'"),
    (
        "at most 1 segment of 3 hard",
        22,
        "expected a name, not '3'; write it in single quotes if it is a name",
    ),
    ("if A then B penalty nan", 21, "the penalty is nan; give a number of at least 0, or write 'hard'"),
    ("if A then B hrad", 13, "expected 'hard' or 'penalty', not 'hrad'; did you mean 'hard'?"),
    ("if A then B hard x", 18, "only a comment may follow the penalty; remove 'x'"),
    (
        "if A then B C hard",
        13,
        "expected 'hard' or 'penalty', not 'C'; a name of several words stands in single quotes",
    ),
    # names, tokens and patterns
    (
        "if of then B hard",
        4,
        "expected a name, not the reserved word 'of'; write it in single quotes if it is a name",
    ),
    ("if '' then B hard", 4, "the name is empty; write a label or a type between the quotes"),
    ("if A then 'B hard", 11, "the name is not closed; end it with '"),
    ('token "B is A hard', 7, 'the token is not closed; end it with "'),
    ("each A contains /x hard", 17, "the pattern is not closed; end it with /"),
    (
        "each A contains /x(/ hard",
        17,
        "the pattern /x(/ is not a regular expression: "
        "missing ), unterminated subpattern at position 1; correct it",
    ),
    (r'token "a\d" is A hard', 9, r"'\d' means nothing in quotes; write \\ for a backslash"),
    (
        "token A is B hard",
        7,
        "expected a token in double quotes (\"w\"), a pattern (/p/) or a place (0), not 'A'",
    ),
    ('token "a" or /b/ is A hard', 14, "expected a token in double quotes, not /b/"),
    (
        "3rd before B hard",
        2,
        "expected '<=', '>=', '==', '<' or '>', not 'rd'; "
        "a name that begins with a digit stands in single quotes",
    ),
    (
        "if A! then B hard",
        5,
        "the character '!' means nothing here; names with odd characters stand in single quotes",
    ),
    ("exactly one of A, A hard", 1, "the rule names 'A' twice; name it once"),
]


@pytest.mark.parametrize(("line", "column", "message"), WRONG, ids=[line for line, *_ in WRONG])
def test_an_error_says_where_and_what_and_how_to_mend_it(line, column, message):
    with pytest.raises(RuleError) as caught:
        parse_constraints(f"legal bio\n\n{line}\nif A then B hard", path="rules.txt")
    assert (caught.value.line, caught.value.column, caught.value.message) == (3, column, message)
    assert str(caught.value) == f"rules.txt:3:{column}: {message}"


SCRAPS = [*sorted(writing.RESERVED), *"A  \"'/1->(),:%#\\", "1e999", ".5", "inf", "bio", "type"]


@settings(max_examples=500, deadline=None)
@given(st.lists(st.sampled_from(SCRAPS), max_size=12), st.sampled_from(["", " "]))
def test_any_text_gives_rules_or_an_error_with_its_place(scraps, between):
    text = between.join(scraps)
    place = _place_of_error(text)
    assert place is None or (place[0] == 1 and 1 <= place[1] <= len(text) + 1)


def _place_of_error(text):
    try:
        parse_constraints(text)
    except RuleError as error:
        return error.line, error.column
    return None


# ── names against labels ────────────────────────────────────────────────────────────────────────

LABELS = ["author", "title", "date", "O"]

UNKNOWN = [
    ("if autor then title hard", 4, "did you mean 'author'?"),
    ("if author then titel hard", 16, "did you mean 'title'?"),
    ("at most 1 segment of autor hard", 22, "did you mean 'author'?"),
    ("count(author) <= count(dat) hard", 24, "did you mean 'date'?"),
    ("author followed later by titel hard", 26, "did you mean 'title'?"),
    ("only steps author -> titel hard", 22, "did you mean 'title'?"),
    ("forbid START -> titel hard", 17, "did you mean 'title'?"),
    ('token "x" is author or titel hard', 24, "did you mean 'title'?"),
    ("at most 1 segment of O hard", 22, "name a type"),
    ("legal bio", 1, "plain"),
]


@pytest.mark.parametrize(("line", "column", "remedy"), UNKNOWN, ids=[line for line, *_ in UNKNOWN])
def test_names_are_checked_against_the_labels(line, column, remedy):
    assert parse_constraints(line)
    with pytest.raises(RuleError, match=re.escape(remedy)) as caught:
        parse_constraints(f"# rules\n{line}", LABELS)
    assert (caught.value.line, caught.value.column) == (2, column)


def test_labels_types_and_ends_are_known_names():
    text = "forbid START -> I-a hard\nif a then b hard\nat most 1 segment of a/b hard\nno B-a before b hard"
    labels = ["O", "B-a", "I-a", "I-a/B-b"]
    assert len(parse_constraints(text, labels)) == 4
    assert len(parse_constraints(text, labels, scheme="bio")) == 4
    assert len(parse_constraints(text, schema=Schema(labels, "bio"))) == 4
    with pytest.raises(RuleError, match="no label or type is called 'a'"):
        parse_constraints("at most 1 segment of a hard", labels, scheme="plain")
    with pytest.raises(RuleError, match="column 19: 'a' is a type of segment and no label"):
        parse_constraints("only steps B-a -> a hard", labels)


# ── files ───────────────────────────────────────────────────────────────────────────────────────


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    missing, latin = tmp_path / "none.txt", tmp_path / "latin.txt"
    latin.write_bytes("if größe then b hard".encode("latin-1"))
    with pytest.raises(RuleError, match=rf"^{re.escape(str(missing))}: the rules cannot be read"):
        read_constraints(missing)
    with pytest.raises(RuleError, match=rf"^{re.escape(str(latin))}: the file is not UTF-8 at byte 5"):
        read_constraints(latin)


def test_a_file_may_be_empty_begin_with_a_mark_or_have_other_line_ends(tmp_path):
    path = tmp_path / "rules.txt"
    path.write_text("")
    assert read_constraints(path) == []
    path.write_bytes(b"\xef\xbb\xbfif a then b hard\r\nif b then a penalty 1e-3\r\n")
    assert read_constraints(path) == [IfThen("a", "b"), IfThen("b", "a", penalty=0.001)]
    with pytest.raises(RuleError, match=rf"^{re.escape(str(path))}:1:4: .*'a'"):
        read_constraints(path, Schema(["b", "c"], "plain"))


def test_hard_is_an_infinite_penalty():
    assert math.isinf(parse_constraints("if A then B hard")[0].penalty)
