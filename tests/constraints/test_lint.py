"""Lint: what it claims is true of all labellings of short sequences, and what it should find it finds."""

from itertools import combinations, product

import numpy as np
import pytest

from conseq.constraints import Counts, ExactlyOneOf, IfThen, NotBoth, Segments, Sum, Term
from conseq.constraints import lint as module
from conseq.constraints.language import parse_constraints
from conseq.constraints.lint import lint, render
from conseq.schema import Schema

PLAIN = Schema(["a", "b", "O"], "plain")
SLASHED = Schema(["a", "b/a", "O"], "plain")
FLAT = Schema(["O", "B-a", "B-b"], "bio")
NESTED = Schema(["O", "B-a", "I-a", "I-a/B-b", "B-a/B-b", "B-b", "B-c"], "bio")


def findings(text, schema=None, kind=None):
    found = lint(parse_constraints(text), schema)
    return [(f.kind, f.rules) for f in found] if kind is None else [f.rules for f in found if f.kind == kind]


# ── what it says ────────────────────────────────────────────────────────────────────────────────


def test_rules_that_are_fine_are_left_alone():
    text = "at most 1 segment of a hard\nif a then b hard\nno a before b penalty 2\ncount(a) <= count(b) hard"
    assert lint(parse_constraints(text)) == []
    assert lint(parse_constraints(text), PLAIN) == []
    assert lint([]) == lint([], PLAIN) == []
    assert render([]) == ""


def test_every_name_that_the_schema_lacks_is_reported():
    rules = parse_constraints(
        "exactly one of autor, b, tilte hard\nif a then b hard\nequal tokens agree on type hard"
    )
    found = lint(rules, Schema(["author", "title", "a", "b"], "plain"))
    assert [(f.kind, f.rules) for f in found] == [("unknown", (0,)), ("unknown", (0,))]
    assert "did you mean 'author'?" in found[0].message
    assert "did you mean 'title'?" in found[1].message


def test_a_rule_that_does_not_fit_the_schema_is_reported_and_left_out_of_the_rest():
    assert findings("at least 1 segment of O hard\nat most 0 segments of O hard", NESTED) == [
        ("unknown", (0,)),
        ("unknown", (1,)),
    ]
    assert findings("legal bioes", NESTED) == [("unknown", (0,))]


DUPLICATES = [
    ("if a then b penalty 1\nif a then b penalty 2.5", "the penalties add up to 3.5"),
    ("if a then b penalty 1\nif a then b hard", "the hard one decides"),
    ("if a then b hard\nif a then b hard", "one is enough"),
    ("not both a and b hard\nnot both b and a hard", "one is enough"),
    ("exactly one of a, b, c penalty 1\nexactly one of c, a, b penalty 1", "the penalties add up to 2"),
]


@pytest.mark.parametrize(("text", "outcome"), DUPLICATES)
def test_the_same_rule_again_is_reported_with_what_comes_of_it(text, outcome):
    found = lint(parse_constraints(text))
    assert [(f.kind, f.rules) for f in found] == [("duplicate", (0, 1))]
    assert outcome in str(found[0])
    assert f"'{parse_constraints(text)[0].line()}' is stated 2 times" in str(found[0])


def test_rules_that_differ_are_no_duplicates():
    assert findings("if a then b hard\nif b then a hard\nno a before b hard\nno a before each b hard") == []


NEVER = [
    "at least 0 segments of a hard",
    "count(a) >= 0 penalty 1",
    "count(a) <= count(a) hard",
    "0 <= count(a) + count(b) hard",
    "at most 100 % of tokens are a hard",
    "at least 0 % of tokens are a hard",
]


@pytest.mark.parametrize("line", NEVER)
def test_a_rule_that_nothing_breaks_is_reported(line):
    assert findings(line) == [("never", (0,))]


def test_what_cannot_be_broken_depends_on_how_labels_nest():
    assert findings("if a/b then a hard", NESTED) == [("never", (0,))]
    assert findings("if a/b then b hard", NESTED) == [("never", (0,))]
    assert findings("if b then a hard", NESTED) == []
    assert findings("if a/b then a hard") == []


CONTRADICTIONS = [
    ("at least 2 segments of a hard\nat most 1 segment of a hard", (0, 1)),
    ("if c then b hard\nat least 1 segment of a hard\nif a then b hard\nnot both b and a hard", (1, 2, 3)),
    ("count(a) < count(b) hard\ncount(b) < count(c) hard\ncount(c) < count(a) hard", (0, 1, 2)),
    ("exactly one of a, b hard\ncount(a) >= 1 hard\ncount(b) >= count(a) hard", (0, 1, 2)),
    ("2 count(a) == 3 hard", (0,)),
    ("count(a) < 0 hard", (0,)),
]


@pytest.mark.parametrize(("text", "rules"), CONTRADICTIONS)
def test_a_contradiction_is_reported_with_the_smallest_set_of_rules(text, rules):
    assert findings(text, kind="contradiction") == [rules]


NO_CONTRADICTIONS = [
    "at least 2 segments of a hard\nat most 1 segment of a penalty 9",  # one is soft
    "not both a and b hard\nif a then b hard",  # a never appears, and that is possible
    "at most 0 segments of a hard\nat most 0 segments of b hard",
    'count(a at "x") >= 1 hard\ncount(a at "y") <= 0 hard',
    "count(d) >= 1 hard\ncount(c) >= 200 count(d) hard\ncount(b) > 200 count(c) hard",
    "at least 300000 segments of a hard",
]


@pytest.mark.parametrize("text", NO_CONTRADICTIONS)
def test_what_some_sequence_satisfies_is_no_contradiction(text):
    assert findings(text, kind="contradiction") == []


def test_contradictions_see_what_a_name_stands_for():
    text = "at least 1 segment of a/b hard\nat most 0 segments of a hard"
    assert findings(text) == []
    assert findings(text, NESTED) == [("contradiction", (0, 1))]
    assert findings("count(b/a) >= 1 hard\nat most 0 segments of a hard", SLASHED) == []
    every = "\n".join(f"at most 0 segments of {label} hard" for label in PLAIN.labels[:2])
    assert findings(every, PLAIN) == []
    assert findings(every, Schema(["a", "b"], "plain")) == [("contradiction", (0, 1))]


def test_several_contradictions_are_all_reported_and_rendered_with_their_lines():
    text = "at least 1 segment of a hard\nat most 0 segments of a hard\n2 count(b) == 1 hard"
    found = lint(parse_constraints(text))
    assert sorted(f.rules for f in found) == [(0, 1), (2,)]
    lines = render(found).split("\n")
    assert "contradiction: no sequence satisfies '2 count(b) == 1'; soften or remove one" in lines
    both = "'at least 1 segment of a' and 'at most 0 segments of a' together"
    assert f"contradiction: no sequence satisfies {both}; soften or remove one" in lines


def test_contradictions_among_many_rules_are_found_in_time(monkeypatch):
    """Where the smallest ones take too long, there are still some from which no rule can be left out."""
    chain = "\n".join(f"if t{i} then t{i + 1} hard" for i in range(30))
    text = f"{chain}\nat least 1 segment of t0 hard\nat most 0 segments of t30 hard\nif t0 then t30 hard"
    assert findings(text, kind="contradiction") == [(30, 31, 32)]
    monkeypatch.setattr(module, "ROUNDS", 0)
    found = findings(text, kind="contradiction")
    assert found in ([(30, 31, 32)], [tuple(range(32))])


# ── against all labellings of short sequences ───────────────────────────────────────────────────


def facts_of(schema, longest):
    """All that labellings of up to `longest` tokens amount to: (segments of each type, labels that occur)."""
    facts = set()
    for length in range(longest + 1):
        for labels in product(schema.labels, repeat=length):
            types = [span.type for span in schema.spans(labels)]
            facts.add((tuple(types.count(type) for type in schema.types()), frozenset(labels)))
    return facts


def holds(rule, schema, fact):
    """The plain meaning of a rule."""
    segments, labels = dict(zip(schema.types(), fact[0], strict=True)), fact[1]

    def count(name):
        if name in segments and name in schema.labels:
            return segments[name]
        return sum(n for type, n in segments.items() if ("/" + type).endswith("/" + name))

    def present(name):
        return name in labels if name in schema.labels else count(name) > 0

    def value(side):
        return side.constant + sum(term.weight * count(term.name) for term in side.terms)

    match rule:
        case Segments(relation, bound, name):
            difference = count(name) - bound
            return {"at most": difference <= 0, "at least": difference >= 0, "exactly": difference == 0}[
                relation
            ]
        case Counts(left, relation, right):
            difference = value(left) - value(right)
            return {"<=": difference <= 0, ">=": difference >= 0, "==": difference == 0}[relation]
        case IfThen(name, then):
            return not present(name) or present(then)
        case NotBoth(first, second):
            return not (present(first) and present(second))
        case ExactlyOneOf(choices):
            return sum(map(present, choices)) == 1
    raise AssertionError(rule)


def random_rule(rng, types, others, with_sums):
    """A rule about types, or, where only presence matters, about other labels, too."""
    pair = [str(name) for name in rng.choice([*types, *others], size=2, replace=False)]
    kind = int(rng.integers(5 if with_sums else 4))
    if kind == 0:
        relation = str(rng.choice(["at most", "at least", "exactly"]))
        return Segments(relation, int(rng.integers(3)), str(rng.choice(types)))
    if kind < 4:
        return [IfThen(*pair), NotBoth(*pair), ExactlyOneOf(tuple(pair))][kind - 1]
    terms = [Term(int(rng.integers(-2, 3)), str(name)) for name in rng.choice(types, size=2)]
    relation = str(rng.choice(["<=", ">=", "=="]))
    return Counts(Sum((terms[0],)), relation, Sum((terms[1],), int(rng.integers(-2, 3))))


def check_claims(schema, facts, rules, seed):
    """No labelling satisfies what is said to be a contradiction, or breaks what is said to be unbreakable."""
    found = lint(rules, schema)
    for finding in found:
        some = [rules[i] for i in finding.rules]
        if finding.kind == "contradiction":
            assert not any(all(holds(r, schema, f) for r in some) for f in facts if f[1]), (
                seed,
                str(finding),
            )
        if finding.kind == "never":
            assert all(holds(some[0], schema, f) for f in facts), (seed, str(finding))
    return found


def test_on_flat_labels_it_finds_exactly_what_enumeration_finds():
    """With bounds of at most 2 on two types, and segments that may touch, six tokens show all there is."""
    facts = facts_of(FLAT, 6)
    clashes = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        rules = [random_rule(rng, ["a", "b"], ["O"], with_sums=False) for _ in range(int(rng.integers(3, 9)))]
        found = check_claims(FLAT, facts, rules, seed)
        held = {i: {f for f in facts if f[1] and holds(rule, FLAT, f)} for i, rule in enumerate(rules)}
        conflicts = [f.rules for f in found if f.kind == "contradiction"]
        assert bool(conflicts) == (not set.intersection(*held.values())), seed
        for conflict in conflicts:
            for fewer in combinations(conflict, len(conflict) - 1):
                assert not fewer or set.intersection(*(held[i] for i in fewer)), seed
        clashes += bool(conflicts)
        unbreakable = {(i,) for i, rule in enumerate(rules) if all(holds(rule, FLAT, f) for f in facts)}
        assert {f.rules for f in found if f.kind == "never"} == unbreakable, seed
    assert 10 < clashes < 50


@pytest.mark.parametrize(
    ("schema", "longest"), [(PLAIN, 8), (SLASHED, 7), (NESTED, 4)], ids=["plain", "slashed", "nested"]
)
def test_what_it_claims_of_sums_is_true_of_all_labellings(schema, longest):
    facts = facts_of(schema, longest)
    names = sorted({name for type in schema.types() for name in (type, type.rsplit("/", 1)[-1])} - {"O"})
    claims = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        rules = [random_rule(rng, names, ["O"], with_sums=True) for _ in range(int(rng.integers(3, 9)))]
        claims += sum(f.kind != "duplicate" for f in check_claims(schema, facts, rules, seed))
    assert claims > 20
