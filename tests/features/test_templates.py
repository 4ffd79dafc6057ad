"""`features/templates.py`: parsing, printing, ranges, errors with their place."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conseq.errors import TemplateError
from conseq.features import PRESETS, Template, parse_templates
from conseq.features.segmenter import ASPECTS, KINDS
from conseq.features.sources import COMPUTED, DERIVED, NEEDS_ARGUMENT, Source
from conseq.features.templates import FARTHEST, LONGEST, Part
from conseq.patterns import PatternError, searcher

names = st.one_of(
    st.sampled_from(
        ["pos", "chunk", "word", "lower", "first", "value", "my tag", "a,b", "it's", "#", "x/y", "[0]"]
    ),
    st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=6),
)
columns = st.one_of(st.just(""), names)
patterns = st.text(st.sampled_from(r"ab1.^$[]()|+*?&#, '"), min_size=1, max_size=6).filter(
    lambda text: not _broken(text)
)


def _broken(pattern: str) -> bool:
    try:
        searcher(pattern)
    except PatternError:
        return True
    return False


@st.composite
def sources(draw):
    name = draw(st.sampled_from([*DERIVED, *COMPUTED]))
    argument = ""
    if name == "match":
        argument = draw(
            st.one_of(patterns, st.sampled_from([r"\/", r"^\d+\s#", r"\\", "a/b".replace("/", r"\/")]))
        )
    elif name == "lexicon":
        argument = draw(st.sampled_from(["places", "first names"]))
    elif name in ("seen", "ahead"):
        argument = draw(st.sampled_from(KINDS))
    elif name == "segment":
        argument = draw(st.sampled_from(list(ASPECTS)))
    elif name in NEEDS_ARGUMENT:
        argument = str(draw(st.integers(1, 30)))
    return Source(name, argument, draw(columns) if name in DERIVED else "")


templates = st.builds(
    lambda parts: Template(tuple(parts)),
    st.lists(st.builds(Part, sources(), st.integers(-FARTHEST, FARTHEST)), min_size=1, max_size=4),
)


@settings(deadline=None)
@given(st.lists(templates, max_size=5))
def test_what_is_printed_is_parsed_back(given_templates):
    wanted = tuple(dict.fromkeys(given_templates))
    lines = [str(t) for t in wanted]
    assert parse_templates(lines) == wanted
    assert parse_templates("\n".join(lines)) == wanted


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("word[0]", ["word[0]"]),
        ("  word [ +1 ]  ", ["word[1]"]),
        ("word[-1..1]", ["word[-1]", "word[0]", "word[1]"]),
        ("pos[-2 .. -1]", ["pos[-2]", "pos[-1]"]),
        ("suffix(3)[2..2]", ["suffix(3)[2]"]),
        ("pos[-1]&pos[0]  &  pos[+1]", ["pos[-1] & pos[0] & pos[1]"]),
        ("lower(pos)[0]", ["lower(pos)[0]"]),
        ("lower(word)[0]", ["lower[0]"]),
        ("value(pos)[0]", ["pos[0]"]),
        ("suffix( 3 , pos )[0]", ["suffix(3,pos)[0]"]),
        ("match(/^[A-Z]&, (x)$/, pos)[0]", ["match(/^[A-Z]&, (x)$/,pos)[0]"]),
        ("lexicon(first names)[0]", ["lexicon(first names)[0]"]),
        ("'my tag'[0] & lower('it''s')[0]", ["'my tag'[0] & lower('it''s')[0]"]),
        ("'pos'[0]", ["pos[0]"]),
        ("'lower'[0]", ["'lower'[0]"]),
        ("", []),
        ("   # only a comment", []),
        ("word[0] # it's a comment / with [odd] characters", ["word[0]"]),
        ("match(/ # /)[0]  # the first is none", ["match(/ # /)[0]"]),
    ],
)
def test_spellings(text, printed):
    assert [str(t) for t in parse_templates([text])] == printed
    assert [str(t) for t in parse_templates(text)] == printed


def test_repeated_templates_count_once():
    assert len(parse_templates("word[0]\nword[-1..1]\n\nword[+0]")) == 3


def test_a_quoted_name_is_a_column_and_not_a_function():
    (quoted,), (plain,) = (t.parts for t in parse_templates(["'lower'[0]", "lower[0]"]))
    assert quoted.source == Source("value", "", "lower")
    assert plain.source == Source("lower")
    (column,), (tokens,) = (t.parts for t in parse_templates(["'word'[0]", "word[0]"]))
    assert (column.source.column, tokens.source.column) == ("word", "")


def test_reach_is_the_farthest_offset():
    (template,) = parse_templates("pos[-3] & pos[0] & word[2]")
    assert template.reach == 3


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["sufix(3)[0"], "template 1, column 1: 'sufix(3)[0' is not a template; write one like word[0]"),
        (["word[0]", "pos"], "template 2, column 1: 'pos' is not a template; write one like word[0]"),
        (["word[0] & pos"], "template 1, column 10: 'pos' is not a template; write one like word[0]"),
        (["word[0] &"], "template 1, column 10: '' is not a template; write one like word[0]"),
        (["word[0] pos[0]"], "template 1, column 9: expected & before 'pos[0]'"),
        (["word[a]"], "template 1, column 1: 'word[a]' is not a template; write one like word[0]"),
        (["word[2..-1]"], "template 1, column 1: the range 2..-1 is empty; write the lower offset first"),
        (
            ["word[0..1] & pos[0]"],
            "template 1: a range of offsets cannot be joined with &; write each out",
        ),
        (["word[0] & sufix(3)[0]"], "template 1, column 11: there is no attribute 'sufix'; there are: value"),
        (["suffix[0]"], "template 1, column 1: suffix needs a number in parentheses"),
        (["suffix()[0]"], "template 1, column 1: suffix needs a number in parentheses"),
        (["", "suffix(x)[0]"], "template 2, column 1: suffix(x) needs a positive number, such as suffix(3)"),
        (["prefix(0)[0]"], "template 1, column 1: prefix(0) needs a positive number, such as prefix(3)"),
        (["prefix(²)[0]"], "template 1, column 1: prefix(²) needs a positive number, such as prefix(3)"),
        (["position(-3)[0]"], "template 1, column 1: position(-3) needs a positive number"),
        (["match[0]"], "template 1, column 1: match needs a /pattern/ in parentheses"),
        (["match(x)[0]"], "template 1, column 1: match needs a /pattern/ in parentheses, not 'x'"),
        (["prefix(/3/)[0]"], "template 1, column 1: prefix needs a number in parentheses, not '/3/'"),
        (["match(/(/)[0]"], "template 1, column 1: the pattern /(/ is not a regular expression: "),
        (["lexicon[0]"], "template 1, column 1: lexicon needs a name in parentheses"),
        (["lower(a, b)[0]"], "template 1, column 1: lower cannot take 'a, b'; it takes the name of a column"),
        (["lower(/a/)[0]"], "template 1, column 1: lower cannot take '/a/'; it takes the name of a column"),
        (["first(pos)[0]"], "template 1, column 1: first cannot take 'pos'; it takes nothing"),
        (["position(3, pos)[0]"], "template 1, column 1: position cannot take 'pos'; it takes a number"),
        (["word[1001]"], "template 1, column 1: the offset 1001 is too far; look at most 1000 tokens away"),
        (["word[-99999999999..0]"], "template 1, column 1: the offset -99999999999 is too far"),
        (["lower('a'b)[0]"], "template 1, column 1: \"lower('a'b)[0]\" is not a template"),
    ],
)
def test_errors_are_sentences_with_the_place(lines, message):
    for given_lines in (lines, "\n".join(lines)):
        with pytest.raises(TemplateError) as error:
            parse_templates(given_lines)
        assert str(error.value).startswith(message)


@pytest.mark.parametrize("name", PRESETS)
def test_the_lines_of_a_preset_print_as_they_parse(name):
    parsed = parse_templates(PRESETS[name][0].splitlines())
    assert parse_templates([str(t) for t in parsed]) == parsed


@pytest.mark.parametrize(
    "text",
    [
        "lower(" + " " * 5_000,
        "lower(" + " , " * 2_000 + "!",
        "lower(" + "''," * 2_000 + "![0]",
        "match(/" + r"\/" * 9_000,
        "'" * 9_999,
        "word" * 3_000,
    ],
)
def test_what_is_no_template_is_refused_at_once(text):
    start = time.perf_counter()
    with pytest.raises(TemplateError, match="is not a template"):
        parse_templates([text])
    assert time.perf_counter() - start < 2


def test_a_template_may_not_be_very_long():
    with pytest.raises(TemplateError, match=f"template 1 has 100003 characters; use at most {LONGEST}"):
        parse_templates(["word[0]" + " " * 99_996])


def test_patterns_that_cannot_be_searched_for_are_refused_with_their_place():
    with pytest.raises(
        TemplateError, match=r"template 2, column 1: the pattern /\(a\)\\1/ refers back to a group"
    ):
        parse_templates(["word[0]", r"match(/(a)\1/)[0]"])
