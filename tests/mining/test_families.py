"""Families against all rules there are: what each could apply to, what breaks it, and none lost.

For every family that counts EVERY enumerates all rules over all names as lines of the language, with the
places or sequences each applies to, in plain Python. `expected` keeps what passes the screen. Clauses are
tested in `test_clauses.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, permutations, product

import numpy as np
import pytest
from labelled_corpora import SCHEMAS, labellings, random_views

from benchmarks.naive_rules import NAIVE, passes
from conseq.constraints import Pattern, Words
from conseq.constraints.base import Constraint
from conseq.constraints.language import format_constraints, parse_constraints
from conseq.constraints.writing import name as written
from conseq.constraints.writing import test as written_test
from conseq.corpus import Corpus
from conseq.mining.families import BOUND, FAMILIES, Candidate, Screen
from conseq.mining.token_tests import MOST_MARKS, TESTS, frequent_tokens
from conseq.mining.view import Names, View
from conseq.schema import Schema

SMALL_TESTS = {
    "year": Pattern(r"^\d{4}$"),
    "slash": Pattern("/"),
    "either": Words(frozenset({"In", '"', "\\"})),
}
PERMISSIVE = Screen(importance=0.0, broken=0, support=0, confidence=0.0, tests=SMALL_TESTS, words=0)
USUAL = Screen(importance=1.5, broken=2, support=2, confidence=0.75, tests=SMALL_TESTS, words=0)
SCREENS = {"permissive": PERMISSIVE, "usual": USUAL}

BY_SEQUENCE = ("only-one", "hierarchical", "pairwise")
"""Families whose counts are sequences that break a rule, however much; the others add up violations."""

COUNTED = [family for family in FAMILIES if family != "clauses"]

Possible = Iterator[tuple[str, int]]
"""A line of the language without a penalty, and how often the rule applies to the gold labels."""


# ── all rules of each family ────────────────────────────────────────────────────────────────────


def appearing(view: View, name: str) -> list[bool]:
    return [bool(x.inside(name)) for x in labellings(view)]


def sensible_pairs(view: View, same: bool = False) -> list[tuple[str, str]]:
    pairs = product(view.names.all, repeat=2)
    return [(a, b) for a, b in pairs if same or a != b]


def only_one(view: View) -> Possible:
    for a in view.names.all:
        yield f"at most 1 segment of {written(a)}", sum(appearing(view, a))


def pairwise(view: View) -> Possible:
    n = len(view.corpus)
    for a, b in combinations(map(written, view.names.single), 2):
        yield from ((f"count({a}) + count({b}) <= {k}", n) for k in range(BOUND + 1))
        yield from ((f"count({a}) + count({b}) >= {k}", n) for k in range(1, BOUND + 1))
    for a, b in permutations(map(written, view.names.single), 2):
        yield from ((f"count({a}) <= count({b}) + {k}", n) for k in range(BOUND + 1))
        yield from ((f"count({a}) >= count({b}) + {k}", n) for k in range(1, BOUND + 1))


def hierarchical(view: View) -> Possible:
    paths = view.schema.types()
    leaves = {path.rsplit("/", 1)[-1] for path in paths} if any("/" in path for path in paths) else set()
    if view.schema.scheme != "bio":
        leaves = set()
    for a, b in permutations(map(written, leaves), 2):
        yield f"count({a}) <= count({b})", len(view.corpus)


def adjacency(view: View) -> Possible:
    for a, b in sensible_pairs(view):
        inner = sum(s.end < len(x) for x in labellings(view) for s in x.segments(a))
        yield f"{written(a)} followed by {written(b)}", inner


def precedence(view: View) -> Possible:
    for a, b in sensible_pairs(view):
        yield f"{written(a)} followed later by {written(b)}", sum(len(x.inside(a)) for x in labellings(view))


def state_change(view: View) -> Possible:
    words = [word for tokens in view.corpus.token_sequences() for word in tokens]
    marks = sorted({w for w in words if not any(c.isalnum() for c in w)})
    sides = [*view.names.all, *(["O"] if "O" in view.schema.labels else [])]
    for mark, a, b in product(marks, sides, sides):
        if a == b == "O":
            continue
        test = Words(frozenset({mark}))
        inner = [(x, t) for x in labellings(view) for t in range(1, len(x) - 1) if passes(test, t, x.tokens)]
        around = f"around {written_test(test)}:"
        left = sum(x.is_in(t - 1, a) for x, t in inner)
        yield f"{around} if {written(a)} then {written(b)}", left
        yield f"{around} {written(a)} -> {written(b)}", len(inner)


def begin_end(view: View) -> Possible:
    for a, b in sensible_pairs(view, same=True):
        begun = sum(len(x) > 0 and x.is_in(0, a) for x in labellings(view))
        yield f"first {written(a)} -> last {written(b)}", begun


def presence(view: View) -> Possible:
    for a, b in sensible_pairs(view):
        meet = any(i and j for i, j in zip(appearing(view, a), appearing(view, b), strict=True))
        tokens = sum(len(x.inside(a)) for x in labellings(view)) if meet else 0
        yield f"no {written(b)} before each {written(a)}", tokens


def together(view: View) -> Possible:
    for a, b in sensible_pairs(view):
        yield f"if {written(a)} then {written(b)}", sum(appearing(view, a))
        if view.names.all.index(a) < view.names.all.index(b):
            rarer = min(sum(appearing(view, a)), sum(appearing(view, b)))
            yield f"not both {written(a)} and {written(b)}", rarer


def content(view: View) -> Possible:
    for a, test in product(view.names.all, SMALL_TESTS.values()):
        segments = sum(len(x.segments(a)) for x in labellings(view))
        tokens = sum(len(x.inside(a)) for x in labellings(view))
        at = written_test(test)
        yield f"each {written(a)} contains {at}", segments
        yield f"count({written(a)} at {at}) <= 0", segments
        yield f"tokens({written(a)} at {at}) <= 0", tokens


def edges(view: View) -> Possible:
    for a, test in product(view.names.all, SMALL_TESTS.values()):
        segments = [(x, s) for x in labellings(view) for s in x.segments(a)]
        yield f"each {written(a)} begins with {written_test(test)}", len(segments)
        yield f"each {written(a)} ends with {written_test(test)}", sum(s.end < len(x) for x, s in segments)


EVERY: dict[str, Callable[[View], Possible]] = {
    "only-one": only_one,
    "hierarchical": hierarchical,
    "pairwise": pairwise,
    "adjacency": adjacency,
    "precedence": precedence,
    "state-change": state_change,
    "begin-end": begin_end,
    "presence": presence,
    "together": together,
    "content": content,
    "edges": edges,
}


def broken(rule: Constraint, family: str, view: View) -> int:
    """Sequences that break a rule, or all violations, by the naive meaning of the rule."""
    amounts = [NAIVE[type(rule).__name__](rule, x) for x in labellings(view)]
    return sum(amount > 0 for amount in amounts) if family in BY_SEQUENCE else sum(amounts)


def expected(family: str, gold: View, model: View, screen: Screen) -> dict[Constraint, tuple[int, int]]:
    """rule ─→ (applied, violated) of all rules that pass the screen."""
    result = {}
    for line, applied in EVERY[family](gold):
        (rule,) = parse_constraints(f"{line} hard")
        violated = broken(rule, family, gold)
        if family in BY_SEQUENCE:
            by_model = broken(rule, family, model)
            good = by_model >= max(1, screen.broken) and by_model >= screen.importance * violated
        else:
            held = applied - violated
            good = applied >= screen.support and held >= max(1, screen.confidence * applied)
        if good:
            result[rule] = applied, violated
    return result


def found(family: str, gold: View, model: View, screen: Screen) -> list[Candidate]:
    return list(FAMILIES[family](gold, model, screen))


def test_every_family_has_its_enumeration():
    assert list(EVERY) == COUNTED


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("schema", SCHEMAS)
@pytest.mark.parametrize("family", COUNTED)
def test_candidates_are_just_the_rules_that_pass(family, schema, seed):
    gold, model = random_views(seed, SCHEMAS[schema])
    for which, screen in SCREENS.items():
        candidates = found(family, gold, model, screen)
        counts = {c.rule: (c.applied, c.violated) for c in candidates}
        assert len(counts) == len(candidates), f"{which}: a rule came twice"
        assert all(c.family == family for c in candidates)
        wanted = expected(family, gold, model, screen)
        assert counts.keys() == wanted.keys(), which
        assert counts == wanted, which


@pytest.mark.parametrize("family", COUNTED)
def test_most_draws_have_candidates(family):
    """The comparison above is empty otherwise."""
    deep = ("deep", "deep-ambiguous") if family == "hierarchical" else SCHEMAS
    sizes = [
        len(found(family, *random_views(seed, SCHEMAS[schema]), PERMISSIVE))
        for schema in deep
        for seed in range(3)
    ]
    assert np.count_nonzero(sizes) > len(sizes) / 2


@pytest.mark.parametrize("schema", SCHEMAS)
@pytest.mark.parametrize("family", FAMILIES)
def test_candidates_say_what_the_rule_itself_charges(family, schema):
    """`Constraint.violation`, which goes through automata and sums, agrees with what was counted."""
    gold, model = random_views(5, SCHEMAS[schema])
    for candidate in found(family, gold, model, USUAL):
        amounts = [candidate.rule.violation(x.labels, gold.schema, x.tokens) for x in labellings(gold)]
        total = sum(a > 0 for a in amounts) if family in BY_SEQUENCE else sum(amounts)
        assert candidate.violated == total, candidate.rule.line()
        assert 0 <= candidate.violated <= candidate.applied
        assert candidate.held == candidate.applied - candidate.violated


@pytest.mark.parametrize("schema", SCHEMAS)
def test_lines_read_back(schema):
    gold, model = random_views(7, SCHEMAS[schema])
    rules = [c.rule for family in FAMILIES for c in found(family, gold, model, PERMISSIVE)]
    assert parse_constraints(format_constraints(rules)) == rules
    comments = [f"held {k}/9 # × '\"/" for k in range(len(rules))]
    assert parse_constraints(format_constraints(rules, comments)) == rules


@pytest.mark.parametrize("test", TESTS.values(), ids=list(TESTS))
def test_the_usual_tests_read_back(test):
    (rule,) = parse_constraints(f"each a contains {written_test(test)} hard")
    assert rule.test == test


# ── by hand ─────────────────────────────────────────────────────────────────────────────────────


def view_of(schema: Schema, tokens: list[str], labels: list[str]) -> View:
    """Sequences written as words with blanks between."""
    corpus = Corpus.from_sequences([text.split() for text in tokens])
    return View(Names.of(schema), corpus, schema.encode(" ".join(labels).split()))


def lines(family: str, gold: View, model: View | None = None, **screen) -> dict[str, tuple[int, int]]:
    candidates = found(
        family,
        gold,
        gold if model is None else model,
        Screen(**{"broken": 1, "confidence": 0.9, "words": 0, **screen}),
    )
    return {c.rule.line(): (c.applied, c.violated) for c in candidates}


PLAIN = SCHEMAS["plain"]


def test_a_boundary_case_passes():
    """Exactly the importance, the confidence and the support that are asked for are enough."""
    gold = view_of(PLAIN, ["w w w"] * 3, ["a O a", "a O O", "O O O"])
    model = view_of(PLAIN, ["w w w"] * 3, ["a O a", "a O a", "O O O"])
    assert lines("only-one", gold, model, importance=2) == {"at most 1 segment of a": (2, 1)}
    assert lines("only-one", gold, model, importance=2.01) == {}
    assert lines("only-one", gold, model, importance=2, broken=3) == {}
    starts = view_of(PLAIN, ["w w"] * 4, ["a b", "a b", "a b", "a c"])
    assert lines("begin-end", starts, support=4, confidence=0.75) == {"first a -> last b": (4, 1)}
    assert lines("begin-end", starts, support=5, confidence=0.75) == {}
    assert lines("begin-end", starts, support=4, confidence=0.76) == {}


def test_what_the_model_never_breaks_is_no_candidate_however_low_the_screen():
    gold = view_of(PLAIN, ["w w w"], ["a O a"])
    model = view_of(PLAIN, ["w w w"], ["a O O"])
    assert lines("only-one", gold, model, importance=0, broken=0) == {}


def test_a_rule_may_relate_a_name_to_itself_only_where_that_says_something():
    gold = view_of(PLAIN, ["w , w"] * 3, ["a O a"] * 3)
    assert "first a -> last a" in lines("begin-end", gold, support=1)
    assert 'around ",": a -> a' in lines("state-change", gold, support=1)
    assert not lines("precedence", gold, support=1)
    assert not lines("together", gold, support=1)


def test_names_at_several_levels_count_all_paths():
    schema = SCHEMAS["deep"]
    gold = view_of(schema, ["w w"] * 2, ["B-a I-a/B-x", "O O"])
    model = view_of(schema, ["w w"] * 2, ["I-b B-b/B-x", "I-a/B-x B-b/B-x"])
    found = lines("hierarchical", gold, model, importance=1)
    assert found["count(x) <= count(c)"] == (2, 1)
    assert found["count(x) <= count(a)"] == (2, 0)
    assert "count(a) <= count(x)" not in found  # the model's x are as many as its a in both


def test_no_hierarchy_in_flat_labels():
    gold, model = random_views(1, SCHEMAS["bio"], 30)
    assert not lines("hierarchical", gold, model, importance=0)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("schema", [Schema(["O"], "plain"), PLAIN], ids=["outside", "plain"])
@pytest.mark.parametrize("tokens", [[], [""], [", ,", ""]], ids=["nothing", "empty", "outside"])
def test_nothing_to_learn_from_gives_no_candidates(family, schema, tokens):
    view = view_of(schema, tokens, ["O " * len(text.split()) for text in tokens])
    assert found(family, view, view, Screen(importance=1.01, support=0, confidence=0)) == []


# ── token tests ─────────────────────────────────────────────────────────────────────────────────


def test_frequent_marks_come_by_number_and_then_by_character():
    corpus = Corpus.from_sequences([[",", ".", "x", ",", "..", "5", "_"], [";", ".", ";", "-1"]])
    assert [next(iter(t.words)) for t in frequent_tokens(corpus, 1)] == [",", ".", ";", ".."]
    assert [next(iter(t.words)) for t in frequent_tokens(corpus, 2)] == [",", ".", ";"]


def test_only_so_many_marks_are_looked_at():
    marks = [chr(c) for c in range(0x2010, 0x2010 + 2 * MOST_MARKS)]
    found = frequent_tokens(Corpus.from_sequences([marks, marks[3:]]), 1)
    assert len(found) == MOST_MARKS
    assert {mark for test in found for mark in test.words} == set(marks[3 : 3 + MOST_MARKS])


def test_marks_of_a_part_of_a_corpus_are_those_that_it_has():
    corpus = Corpus.from_sequences([[",", ";"], ["."]])
    assert [next(iter(t.words)) for t in frequent_tokens(corpus.select([1]), 1)] == ["."]
    assert frequent_tokens(Corpus({}, np.array([0, 3])), 1) == []


def test_words_are_taken_for_delimiters_if_asked_for():
    sequences = [["of", ",", "of", "in", "Rome"], ["x", "in", "of"]]
    corpus = Corpus.from_sequences(sequences)
    assert [next(iter(t.words)) for t in frequent_tokens(corpus, 1, words=2)] == [",", "of", "in"]
    assert [next(iter(t.words)) for t in frequent_tokens(corpus, 2, words=9)] == ["of", "in"]
    schema = Schema(["O", "B-a", "I-a", "B-b", "I-b"], "bio")
    view = view_of(schema, [" ".join(tokens) for tokens in sequences], ["B-a O O B-b O", "O O O"])
    without, with_words = (
        {c.rule.line() for c in FAMILIES["state-change"](view, view, Screen(support=1, words=n))}
        for n in (0, 2)
    )
    assert without == {'around ",": if a then O', 'around ",": a -> O'}
    assert with_words == {'around "of": if O then b', 'around "of": O -> b', *without}
