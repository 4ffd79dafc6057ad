"""Importance by hand, judging against single violations, and which rules make others needless."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labelled_corpora import SCHEMAS, random_corpus, random_labels, scored, towards

from benchmarks.naive_rules import NAIVE, Labelling
from conseq.constraints import Counts, IfThen, NotBoth, Segments, Sum, Term
from conseq.constraints.language import parse_constraints
from conseq.mining import importance
from conseq.mining.evidence import Evidence
from conseq.mining.families import FAMILIES, Candidate, Screen
from conseq.mining.importance import Judged, implies, important, judge, without_redundant
from conseq.mining.view import Names, View
from conseq.potentials import Potentials

PLAIN = SCHEMAS["plain"]


def candidate(line: str, applied: int = 0, violated: int = 0) -> Candidate:
    (rule,) = parse_constraints(f"{line} hard")
    return Candidate(rule, "by hand", applied, violated)


def evidence_of(*pairs: tuple[str, str]) -> Evidence:
    """Sequences with these gold labels that the model labels so (one letter each)."""
    return scored(PLAIN, [(gold, towards(model)) for gold, model in pairs])


def random_evidence(seed: int, schema_name: str, n: int = 10) -> Evidence:
    """Random gold labels, and random scores without any sense."""
    rng = np.random.default_rng(seed)
    schema, corpus = SCHEMAS[schema_name], random_corpus(rng, n)
    gold = random_labels(rng, schema, corpus.lengths)
    unary = rng.normal(size=(corpus.n_tokens, len(schema)))
    return Evidence.of(corpus, schema, gold, Potentials.of(unary, offsets=corpus.offsets))


# ── eq. 10 of Anzaroot et al. 2014 ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("by_gold", "by_model", "expected"),
    [(2, 5, 2.5), (4, 1, 0.25), (3, 3, 1.0), (0, 7, math.inf), (0, 0, 0.0), (5, 0, 0.0)],
)
def test_importance_by_hand(by_gold, by_model, expected):
    assert Judged(**vars(candidate("if a then b")), by_gold=by_gold, by_model=by_model).importance == expected


def test_sequences_are_counted_once_however_much_they_break_a_rule():
    evidence = evidence_of(("aOa", "aOaOa"[:3]), ("aOO", "aOa"), ("aOO", "aOO"), ("OOO", "aOa"))
    (judged,) = judge([candidate("at most 1 segment of a")], evidence)
    assert (judged.by_gold, judged.by_model, judged.importance) == (1, 3, 3.0)
    longer = evidence_of(("a", "a"), ("aOaOa", "aOaOaOa"[:5]))
    (judged,) = judge([candidate("at most 1 segment of a")], longer)
    assert (judged.by_gold, judged.by_model) == (1, 1)


def test_important_keeps_the_boundary():
    given = vars(candidate("if a then b"))
    pairs = [(2, 3), (2, 2), (0, 1), (0, 2), (0, 0)]
    rules = [Judged(**given, by_gold=g, by_model=m) for g, m in pairs]
    kept = [(r.by_gold, r.by_model) for r in important(rules, Screen(importance=1.5, broken=2))]
    assert kept == [(2, 3), (0, 2)]
    kept = [(r.by_gold, r.by_model) for r in important(rules, Screen(importance=0.0, broken=0))]
    assert kept == [(2, 3), (2, 2), (0, 1), (0, 2)]


# ── judging ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("at_once", [3, 500])
@pytest.mark.parametrize("name", ["plain", "bio", "deep"])
def test_rules_are_judged_as_one_by_one(name, at_once, monkeypatch):
    monkeypatch.setattr(importance, "AT_ONCE", at_once)
    evidence = random_evidence(3, name)
    names = Names.of(evidence.schema)
    gold, model = (View(names, evidence.corpus, y) for y in (evidence.gold, evidence.predicted))
    screen = Screen(importance=0.0, support=1, confidence=0.5, tests={})
    candidates = [c for family in FAMILIES.values() for c in list(family(gold, model, screen))[:15]]
    tokens = evidence.corpus.token_sequences()
    judged = list(judge(candidates, evidence))
    assert [Candidate(one.rule, one.family, one.applied, one.violated) for one in judged] == candidates
    for one in judged:
        amounts = []
        for ids in (evidence.gold, evidence.predicted):
            labels = evidence.corpus.split(evidence.schema.decode(ids))
            meaning = NAIVE[type(one.rule).__name__]
            amounts.append(
                [
                    meaning(one.rule, Labelling(tuple(y), tuple(x), evidence.schema))
                    for x, y in zip(tokens, labels, strict=True)
                ]
            )
        assert one.by_gold == sum(a > 0 for a in amounts[0])
        assert one.by_model == sum(a > 0 for a in amounts[1])
        assert np.frombuffer(one.trace, dtype=np.float32).tolist() == amounts[0] + amounts[1]


def test_the_model_labels_as_viterbi_says():
    evidence = evidence_of(("ab", "ba"), ("", ""), ("c", "O"))
    assert PLAIN.decode(evidence.predicted) == ["b", "a", "O"]
    assert evidence.broken_by_model([IfThen("a", "c")]).tolist() == [[1], [0], [0]]
    assert evidence.broken_by_gold([IfThen("a", "c"), IfThen("c", "a")]).tolist() == [[1, 0], [0, 0], [0, 1]]


# ── redundant rules ─────────────────────────────────────────────────────────────────────────────


def kept(evidence: Evidence, *lines: str) -> list[str]:
    judged = list(judge([candidate(line) for line in lines], evidence))
    return [one.rule.line() for one in without_redundant(judged)]


ONE, PAIR, SUM = "at most 1 segment of a", "count(a) <= count(b) + 1", "count(a) + count(b) <= 1"


@pytest.mark.parametrize("order", [(ONE, PAIR, SUM), (SUM, PAIR, ONE), (PAIR, ONE, SUM), (PAIR, SUM, ONE)])
def test_of_rules_that_are_violated_alike_one_stays(order):
    """There is no b anywhere: all three say the same, and the one that implies the others is kept."""
    evidence = evidence_of(("aOa", "aOa"), ("aOO", "aOa"))
    assert kept(evidence, *order) == [SUM]


def test_of_alike_rules_without_implication_the_shorter_one_stays():
    evidence = evidence_of(("a", "b"), ("O", "O"))
    assert kept(evidence, "if b then c", "at most 0 segments of b") == ["at most 0 segments of b"]
    assert kept(evidence, "at most 0 segments of b", "if b then c") == ["at most 0 segments of b"]
    assert kept(evidence, "if b then c", "if b then a") == ["if b then c"]


def test_implied_rules_go_if_the_gold_labels_break_both_alike():
    evidence = evidence_of(("aOO", "aOa"), ("aOb", "aba"))
    # the model breaks ONE twice and PAIR once, gold none of them
    assert kept(evidence, ONE, PAIR) == [ONE]
    assert kept(evidence, PAIR, ONE) == [ONE]


def test_implied_rules_stay_if_the_gold_labels_tell_them_apart():
    evidence = evidence_of(("aba", "aOa"), ("aOO", "aOa"))  # gold breaks ONE, and not PAIR
    assert kept(evidence, ONE, PAIR) == [ONE, PAIR]


def test_rules_that_do_not_imply_each_other_stay():
    evidence = evidence_of(("aOb", "aOa"), ("bOa", "bOb"), ("b", "a"))
    lines = [ONE, "at most 1 segment of b", "if a then b"]
    assert kept(evidence, *lines) == lines
    assert kept(evidence) == []


def test_amounts_tell_rules_apart_not_only_sequences():
    """Both rules are broken in the same sequences, one of them twice as much."""
    evidence = evidence_of(("O" * 6, "aObaOb"))
    assert kept(evidence, "at most 0 segments of a", "not both a and b") == [
        "at most 0 segments of a",
        "not both a and b",
    ]


@pytest.mark.parametrize("seed", range(6))
def test_what_goes_is_alike_or_implied_by_something_that_stays(seed):
    evidence = random_evidence(seed, "bio", 6)
    names = Names.of(evidence.schema)
    gold, model = (View(names, evidence.corpus, y) for y in (evidence.gold, evidence.predicted))
    candidates = [
        c
        for family in ("only-one", "pairwise", "together")
        for c in FAMILIES[family](gold, model, Screen(importance=0.5, support=1, confidence=0))
    ]
    judged = list(judge(candidates, evidence))
    stays = without_redundant(judged)
    assert 0 < len(stays) < len(judged)
    assert len({one.trace for one in stays}) == len(stays)
    half = len(judged[0].trace) // 2
    for one in judged:
        alike = [other for other in judged if other.trace == one.trace]
        same_gold = [other for other in stays if other.trace[:half] == one.trace[:half]]
        implied = any(implies(other.rule, one.rule) for other in same_gold for one in alike)
        assert implied or any(other in stays for other in alike), one.rule.line()
    for one, other in product(stays, repeat=2):
        if one is not other and one.trace[:half] == other.trace[:half]:
            assert not (implies(one.rule, other.rule) and not implies(other.rule, one.rule))


# ── implication ─────────────────────────────────────────────────────────────────────────────────

NAMES = "abc"


def sums() -> st.SearchStrategy[Sum]:
    terms = st.builds(Term, st.integers(-2, 2), st.sampled_from(NAMES))
    return st.builds(Sum, st.lists(terms, max_size=3).map(tuple), st.integers(-2, 3))


def count_rules() -> st.SearchStrategy:
    relations = st.sampled_from(["<=", ">=", "=="])
    general = st.builds(lambda a, r, b: (a, r, b), sums(), relations, sums())
    counts = general.filter(lambda x: x[0].terms or x[2].terms).map(lambda x: Counts(*x))
    bounds = st.sampled_from(["at most", "at least", "exactly"])
    return st.one_of(counts, st.builds(Segments, bounds, st.integers(0, 3), st.sampled_from(NAMES)))


def holds(rule, counts: dict[str, int]) -> bool:
    """A rule about counts, judged from the counts alone."""
    if isinstance(rule, Segments):
        left, relation, right = counts[rule.name], rule.relation, rule.bound
    else:
        left, right = (
            side.constant + sum(term.weight * counts[term.name] for term in side.terms)
            for side in (rule.left, rule.right)
        )
        relation = rule.relation
    return {
        "<=": left <= right,
        "at most": left <= right,
        ">=": left >= right,
        "at least": left >= right,
        "==": left == right,
        "exactly": left == right,
    }[relation]


VECTORS = [dict(zip(NAMES, counts, strict=True)) for counts in product(range(6), repeat=3)]


@settings(max_examples=600, deadline=None)
@given(count_rules(), count_rules())
def test_nothing_breaks_an_implied_rule_alone(one, other):
    if implies(one, other):
        assert not [v for v in VECTORS if holds(one, v) and not holds(other, v)]


def test_no_false_implication_among_the_count_templates():
    lines = [
        *(f"at most {k} segments of {x}" for k in range(4) for x in "ab"),
        *(f"count(a) + count(b) {r} {k}" for r in ("<=", ">=") for k in range(4)),
        *(
            f"count({x}) {r} count({y}) + {k}"
            for r in ("<=", ">=")
            for k in range(4)
            for x, y in ("ab", "ba")
        ),
    ]
    rules = parse_constraints("\n".join(f"{line} hard" for line in lines))
    shown = [(one, other) for one, other in product(rules, repeat=2) if implies(one, other)]
    assert len(shown) > 2 * len(rules)
    vectors = [{"a": i, "b": j} for i, j in product(range(9), repeat=2)]
    for one, other in shown:
        assert all(holds(other, v) for v in vectors if holds(one, v)), (one.line(), other.line())


def test_implication_knows_units_and_tests_apart():
    def shows(one: str, other: str) -> bool:
        first, second = parse_constraints(f"{one} hard\n{other} hard")
        return implies(first, second)

    assert shows("count(a) + count(b) <= 1", "count(a) <= 2")
    assert shows("exactly 1 segment of a", "at least 1 segment of a")
    assert shows("at least 2 segments of a", "count(a) + count(b) >= 1")
    assert not shows("at least 1 segment of a", "exactly 1 segment of a")
    assert not shows("tokens(a) <= 1", "at most 1 segment of a")  # true, but of other counters
    assert not shows("count(a at /x/) <= 0", "count(a) <= 0")
    assert not shows("count(a at /x/) <= 0", "count(a at /y/) <= 0")
    assert not shows("count(a) <= count(b)", "count(a) <= 1")


def test_only_rules_about_counts_imply_anything():
    rules = [IfThen("a", "b"), NotBoth("a", "b"), Segments("at most", 0, "a")]
    shown = [[implies(one, other) for other in rules] for one in rules]
    assert shown == [[False, False, False], [False, False, False], [False, False, True]]
