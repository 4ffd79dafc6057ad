"""Lint of rules about relations: it finds what it should, and what it claims holds for small sentences."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.naive_relation_rules import TYPES, answer_of, answers, naive, random_rule
from conseq.constraints.lint import CONTRADICTION, NEVER, render
from conseq.constraints.relational import RELATION_RULES, HowMany
from conseq.constraints.relational.language import parse_relation_rules
from conseq.constraints.relational.lint import IMPOSSIBLE, REDUNDANT, lint, types_named
from conseq.entities import Candidates, Types, all_pairs

FOUND = {
    "R(A, B) hard\nS(B, A) hard\nat most 1 R penalty 2\nexactly 1 S hard": [],
    "R(A, B) hard\nS(B, A) hard\nR is inverse of S hard": [("redundant", (0, 1, 2))],
    "R(A, B) hard\nR(A or B, B) penalty 2": [("redundant", (1, 0))],
    "R(A, B) hard\nR(B, A) hard": [("impossible", (0, 1))],
    "exactly 1 R hard\nat most 0 R hard": [("contradiction", (0, 1))],
    "exactly 1 R penalty 1\nat most 0 R hard": [],
    "at most 0 R hard": [],
    "at least 0 R hard": [("never", (0,))],
    "at most 2 relations per pair hard": [("never", (0,))],
    "if R(a, b) then R(a, b) hard": [("never", (0,))],
    "R is symmetric hard\nR is acyclic hard": [("impossible", (0, 1))],
    "R(A, B) hard\nR is acyclic hard": [("redundant", (1, 0))],
    "if R(a, b) then not R(b, a) hard\nR is acyclic hard": [("redundant", (0, 1))],
    "R is acyclic hard\nif R(a, b) and R(b, c) then not R(c, a) penalty 1": [("redundant", (1, 0))],
    "at most 1 R per head hard\nat most 2 R per head penalty 1": [("redundant", (1, 0))],
    "at least 1 R per head hard\nat most 1 R hard": [("contradiction", (0, 1))],
    "at least 2 R hard\nat most 1 R per head hard\nat most 1 R per tail hard": [],
    "count(R) <= count(A) hard\nat least 3 R hard\nat most 2 A hard": [("contradiction", (0, 1, 2))],
    "R is symmetric hard\nR is symmetric penalty 1": [("duplicate", (0, 1))],
    "R(A, A or B) hard\nR(A, B or A) hard\nR is inverse of S hard\nS is inverse of R hard": [
        ("duplicate", (0, 1)),
        ("duplicate", (2, 3)),
    ],
    "Q is acyclic hard\nR(A, C) hard\nR is symmetric hard": [("unknown", (0,)), ("unknown", (1,))],
    "at most 9 R hard\nat most 8 R hard": [],  # more than is examined
    'if "x" between a and b then R(a, b) hard\nsame mentions agree on type hard\nat most 0 R hard': [],
}


@pytest.mark.parametrize("text", FOUND)
def test_what_is_found(text):
    assert [(one.kind, one.rules) for one in lint(parse_relation_rules(text), TYPES)] == FOUND[text]


def test_findings_are_sentences():
    text = "R(A, B) hard\nS(A, A) hard\nR is inverse of S hard\nexactly 1 R hard\nexactly 2 S hard"
    assert render(lint(parse_relation_rules(text), TYPES)) == (
        "contradiction: no sentence with entities satisfies 'R is inverse of S', 'exactly 1 R' and "
        "'exactly 2 S' together; soften or remove one"
    )
    found = lint(parse_relation_rules("R is symmetric hard"), Types((), ("T",)))
    assert str(found[0]) == (
        "'R is symmetric' does not fit the types: no relation is called 'R'; there are T"
    )


def test_without_types_there_are_those_that_the_rules_name_and_another():
    text = "R(A, B or C) hard\nif S(a, b) then D(a) hard\nexactly 1 A hard\nexactly 1 E hard"
    types = types_named(parse_relation_rules(text))
    assert types.entities[:-1] == ("A", "B", "C", "D")
    assert types.relations == ("R", "S", "E")
    # with the types alone it is never broken, and there may be others
    rules = parse_relation_rules("R(A or B, A or B) hard")
    assert [one.kind for one in lint(rules, TYPES)] == ["never"]
    assert lint(rules) == lint([]) == lint([], TYPES) == []


@pytest.mark.parametrize("seed", range(6))
def test_what_is_claimed_is_true_of_small_sentences(seed):
    rng = np.random.default_rng(seed)
    kinds = [kind for kind in RELATION_RULES if kind.__name__ not in ("MentionsAgree", "NoOverlap")]
    for _ in range(6):
        rules = [random_rule(kinds[k], rng) for k in rng.integers(0, len(kinds), 4)]
        for finding in lint(rules, TYPES):
            check(finding, rules, rng)


def check(finding, rules, rng) -> None:
    for n in (1, 2, 3):
        candidates = Candidates(n, all_pairs(n), np.arange(2 * n).reshape(n, 2), ("x", "y") * n)
        for kinds, relations in answers(candidates, rng, 300):
            answer = answer_of(candidates, kinds, relations)
            first, *rest = finding.rules
            if finding.kind == CONTRADICTION:
                assert any(naive(rules[i], answer) for i in finding.rules), (finding, answer)
            elif finding.kind == NEVER:
                assert naive(rules[first], answer) == 0, (finding, answer)
            elif finding.kind == REDUNDANT:
                held = not any(naive(rules[i], answer) for i in rest)
                assert not (held and naive(rules[first], answer)), (finding, answer)
            elif finding.kind == IMPOSSIBLE:
                held = not any(naive(rules[i], answer) for i in finding.rules)
                name = finding.message.split("'")[1]
                assert not (held and naive(HowMany("at most", 0, name), answer)), (finding, answer)
