"""Clauses against all clauses there are; families of Fersini et al. 2014 by hand; rules and violations."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conseq.constraints import Around, FirstLast, FollowedBy, FollowedLater, NotBefore, Words
from conseq.corpus import Corpus
from conseq.errors import DataError
from conseq.mining.clauses import Clause, ClauseMiner, Literal, Problem, Table
from conseq.mining.predicates import FIVE, RULES, Labelling, Predicate, mine_rules
from conseq.schema import Schema

# ── every clause there is ───────────────────────────────────────────────────────────────────────


def holds(clause: Clause, names: list[str], row: list[bool]) -> bool:
    return all(row[names.index(literal.predicate)] == literal.positive for literal in clause.literals)


def best_power(rows, target, explained: set[int], miner: ClauseMiner) -> float:
    """The most power of all 3^Q clauses, −inf if none is allowed."""
    best, values = -np.inf, (None, True, False) if miner.negations else (None, True)
    for signs in product(values, repeat=len(rows[0])):
        used = [(q, sign) for q, sign in enumerate(signs) if sign is not None]
        if not miner.shortest <= len(used) <= (len(signs) if miner.longest is None else miner.longest):
            continue
        true = [s for s, row in enumerate(rows) if all(row[q] == sign for q, sign in used)]
        new = sum(target[s] and s not in explained for s in true)
        wrong = sum(not target[s] for s in true)
        best = max(best, new - (miner.false_cost * wrong if wrong else 0.0) - miner.literal * len(used))
    return best


def check_against_all(rows, target, miner: ClauseMiner) -> list[Clause]:
    """Each clause has the most power there is for what is left, and there is one if any is worth it."""
    names = [f"q{i}" for i in range(len(rows[0]))]
    found = miner.mine(rows, names, target)
    explained: set[int] = set()
    for clause in found:
        assert clause.proved
        assert clause.power == pytest.approx(best_power(rows, target, explained, miner), abs=1e-6)
        true = {s for s, row in enumerate(rows) if holds(clause, names, row)}
        assert clause.support == sum(target[s] for s in true)
        assert clause.false == len(true) - clause.support
        explained |= {s for s in true if target[s]}
    powers = [clause.power for clause in found]
    assert all(a >= b - 1e-6 for a, b in pairwise(powers)), powers
    if len(found) < miner.most_clauses:
        assert best_power(rows, target, explained, miner) < miner.least_power + 1e-6
    return found


MINERS = [
    ClauseMiner(),
    ClauseMiner(false_cost=np.inf),
    ClauseMiner(false_cost=0.3, least_power=1.7),
    ClauseMiner(negations=False, shortest=1),
    ClauseMiner(longest=2, literal=0.4),
    ClauseMiner(longest=1),
    ClauseMiner(shortest=2, longest=3, false_cost=3.0),
]


@pytest.mark.parametrize("miner", MINERS, ids=str)
def test_against_all_clauses(miner):
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n_samples, n_predicates = rng.integers(1, 40), rng.integers(1, 6)
        rows = (rng.random((n_samples, n_predicates)) < rng.random(n_predicates)).tolist()
        target = (rng.random(n_samples) < rng.random()).tolist()
        try:
            check_against_all(rows, target, miner)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error


samples = st.integers(1, 4).flatmap(
    lambda n: st.lists(
        st.tuples(st.lists(st.booleans(), min_size=n, max_size=n), st.booleans()), min_size=1, max_size=12
    )
)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(samples, st.sampled_from(MINERS))
def test_against_all_clauses_of_odd_samples(drawn, miner):
    check_against_all([row for row, _ in drawn], [inside for _, inside in drawn], miner)


def test_six_predicates_planted_clause():
    rng = np.random.default_rng(5)
    rows = rng.random((150, 6)) < 0.5
    target = (rows[:, 0] & ~rows[:, 3]) | (rows[:, 1] & rows[:, 2] & rows[:, 4])
    found = check_against_all(rows.tolist(), target.tolist(), ClauseMiner())
    assert [str(clause) for clause in found] == ["q0 and not q3", "q1 and q2 and q4"]


def test_exclusive_or_needs_two_clauses():
    rows = [[0, 0], [0, 1], [1, 0], [1, 1]]
    found = ClauseMiner().mine(rows, ["a", "b"], [0, 1, 1, 0])
    assert {str(clause) for clause in found} == {"b and not a", "a and not b"}
    assert all((clause.support, clause.false) == (1, 0) for clause in found)


def test_the_false_cost_says_how_much_noise_passes():
    rows = [[1]] * 10 + [[0]] * 5
    target = [1] * 8 + [0] * 2 + [0] * 5
    mine = lambda cost: ClauseMiner(false_cost=cost).mine(rows, ["a"], target)  # noqa: E731
    (clause,) = mine(3.0)  # 8 − 3 · 2 − 0.01
    assert (str(clause), clause.support, clause.false) == ("a", 8, 2)
    assert clause.power == pytest.approx(1.99)
    assert mine(4.0) == []
    assert mine(np.inf) == []


def test_most_clauses_and_least_power():
    rows = [[1, 0, 0]] * 5 + [[0, 1, 0]] * 3 + [[0, 0, 1]] + [[0, 0, 0]] * 9
    target = [1] * 9 + [0] * 9
    miner = ClauseMiner(negations=False)
    names = ["a", "b", "c"]
    assert [str(clause) for clause in miner.mine(rows, names, target)] == ["a", "b", "c"]
    assert [str(clause) for clause in replace(miner, least_power=2).mine(rows, names, target)] == ["a", "b"]
    assert [str(clause) for clause in replace(miner, most_clauses=1).mine(rows, names, target)] == ["a"]


def test_support_counts_what_earlier_clauses_explained_power_does_not():
    rows = [[1, 0]] * 4 + [[1, 1]] * 2 + [[0, 1]] * 3 + [[0, 0]] * 9
    found = ClauseMiner(negations=False).mine(rows, ["a", "b"], [1] * 9 + [0] * 9)
    assert [(str(clause), clause.support) for clause in found] == [("a", 6), ("b", 5)]
    assert [clause.power for clause in found] == pytest.approx([5.99, 2.99])


# ── nothing to tell ─────────────────────────────────────────────────────────────────────────────


def test_no_class_all_class_no_predicates_no_samples():
    rows = [[0], [1]]
    assert ClauseMiner().mine(rows, ["a"], [0, 0]) == []
    (always,) = ClauseMiner().mine(rows, ["a"], [1, 1])
    assert (str(always), always.literals, always.power) == ("always", (), 2.0)
    (always,) = ClauseMiner().mine(np.zeros((3, 0)), [], [1, 1, 0])
    assert (always.support, always.false, always.power) == (2, 1, 1.0)
    assert ClauseMiner(shortest=1).mine(np.zeros((3, 0)), [], [1, 1, 0]) == []
    assert ClauseMiner().mine(np.zeros((0, 2)), ["a", "b"], []) == []
    assert ClauseMiner(shortest=3).mine(rows, ["a"], [0, 1]) == []


def test_what_does_not_fit_is_said():
    with pytest.raises(DataError, match="column per predicate"):
        ClauseMiner().mine([[0, 1]], ["a"], [1])
    with pytest.raises(DataError, match="'a' is listed twice"):
        ClauseMiner().mine([[0, 1]], ["a", "a"], [1])
    with pytest.raises(DataError, match="one value per sample"):
        ClauseMiner().mine([[0]], ["a"], [1, 0])
    with pytest.raises(DataError, match="least_power is 0"):
        ClauseMiner(least_power=0).mine([[0]], ["a"], [1])
    with pytest.raises(DataError, match="false_cost is nan"):
        ClauseMiner(false_cost=np.nan).mine([[0]], ["a"], [1])


# ── tables, draws, limits ───────────────────────────────────────────────────────────────────────


def test_tables_keep_the_first_of_equal_predicates_and_no_constant_ones():
    matrix = np.array([[1, 0, 0, 1, 0], [1, 1, 0, 0, 1], [1, 0, 0, 1, 0]], dtype=bool)
    table = Table.of(matrix, ["always", "x", "never", "y", "x again"])
    assert table.names == ("x", "y")
    assert len(table.rows) == 2
    assert (table.rows[table.which] == matrix[:, [1, 3]]).all()
    assert sorted(table.count(np.array([True, True, True])).tolist()) == [1, 2]
    everything = Table.of(matrix, ["always", "x", "never", "y", "x again"], constant=True)
    assert everything.names == ("always", "x", "never", "y")


def noisy(seed: int = 0, n_samples: int = 400, n_predicates: int = 10):
    rng = np.random.default_rng(seed)
    rows = rng.random((n_samples, n_predicates)) < 0.4
    target = (rows[:, 0] & ~rows[:, 1]) ^ (rng.random(n_samples) < 0.05)
    return rows, [f"q{i}" for i in range(n_predicates)], target


def test_the_order_of_samples_and_the_run_change_nothing():
    rows, names, target = noisy()
    mixed = np.random.default_rng(1).permutation(len(rows))
    miner = ClauseMiner(most_clauses=2, most_samples=150, longest=3)
    found = miner.mine(rows, names, target)
    assert found == miner.mine(rows, names, target) == miner.mine(rows[mixed], names, target[mixed])
    assert str(found[0]) == "q0 and not q1"


def test_drawn_samples_give_the_power_and_all_of_them_the_counts():
    rows, names, target = noisy()
    everything = rows[:, 0] & ~rows[:, 1]
    (clause,) = ClauseMiner(most_clauses=1, most_samples=100, longest=2).mine(rows, names, target)
    assert (clause.support, clause.false) == ((everything & target).sum(), (everything & ~target).sum())
    assert 0 < clause.power < 50


def test_out_of_time_the_best_clause_so_far_is_not_proved():
    rows, names, target = noisy(n_samples=1500, n_predicates=25)
    (clause,) = ClauseMiner(most_clauses=1, seconds=0.0).mine(rows, names, target)
    assert not clause.proved
    assert clause.power > 0
    assert clause.support > 4 * clause.false


def test_the_solver_is_asked_unless_literals_exclude_each_other(monkeypatch):
    asked = []
    monkeypatch.setattr(
        Problem, "_assemble", lambda self, real=Problem._assemble: asked.append(1) or real(self)
    )
    ClauseMiner(negations=False).mine(np.eye(4), list("abcd"), [1, 1, 0, 0])
    assert not asked
    ClauseMiner().mine(np.eye(4), list("abcd"), [1, 1, 0, 0])
    assert asked


# ── the five families by hand ───────────────────────────────────────────────────────────────────

ANY = replace(RULES, least_power=0.5)
"""One sample is enough."""


def mined(sequences: str, family: str, scheme: str = "plain", miner: ClauseMiner = ANY):
    """The rules of a family from sequences of token/label, one a line, by their lines, with their counts."""
    families = [one for one in FIVE if one.name == family]
    rules = mine_rules(*labelled(sequences, scheme), miner=miner, families=families)
    return {found.rule.line(): (found.clause.support, found.clause.false) for found in rules}


def labelled(sequences: str, scheme: str = "plain"):
    pairs = [[cell.rsplit("|", 1) for cell in line.split()] for line in sequences.strip().splitlines()]
    tokens, labels = ([[pair[k] for pair in line] for line in pairs] for k in (0, 1))
    corpus = Corpus.from_sequences(tokens, labels)
    flat = list(chain.from_iterable(labels))
    schema = Schema(dict.fromkeys(flat), scheme)
    return corpus, schema.encode(flat), schema


def test_adjacency():
    text = """
        x|a x|a x|b x|c
        x|a x|b x|a
        x|b x|c x|a
    """
    assert mined(text, "adjacency") == {"a followed by b": (2, 0), "c followed by a": (1, 0)}
    assert mined(text, "adjacency", miner=replace(ANY, false_cost=1.4)) == {
        "a followed by b": (2, 0),
        "c followed by a": (1, 0),
        "b followed by c": (2, 1),
    }


def test_adjacency_in_bio_sees_segments_that_touch():
    text = """
        x|B-a x|I-a x|B-a x|B-b x|O
        x|B-a x|B-a x|B-a x|B-a x|O
    """
    loose = replace(ANY, false_cost=1.0)
    assert mined(text, "adjacency", "bio", loose) == {"a followed by a": (4, 2)}


def test_precedence():
    text = """
        x|a x|c x|b
        x|a x|a x|b x|O
        x|c x|O
    """
    assert mined(text, "precedence") == {"a followed later by b": (3, 0)}
    assert mined(text, "precedence", miner=replace(ANY, false_cost=0.4)) == {
        "a followed later by b": (3, 0),
        "c followed later by b": (1, 1),
    }
    assert mined("x|B-a x|I-a x|O x|B-b", "precedence", "bio") == {"a followed later by b": (2, 0)}


def test_precedence_says_nothing_about_parts():
    """An a/b is in an a anyhow; and what `a` explains, `a/b` need not explain again."""
    assert mined("x|B-a/B-b x|I-a x|B-c", "precedence", "bio") == {"a followed later by c": (2, 0)}


def test_state_change():
    text = """
        Bonn|city ,|city NRW|state
        Ulm|city ,|city BW|state
        Ulm|city -|city Donau|city ,|city BW|state
        ,|city BW|state
    """
    assert mined(text, "state change") == {
        'around ",": if city then state': (3, 0),
        'around "-": if city then city': (1, 0),
    }
    bio = "Bonn|B-city ,|O NRW|B-state ,|O D|O"
    assert mined(bio, "state change", "bio") == {'around ",": if city then state': (1, 0)}


def test_begin_end():
    text = """
        x|a x|a x|b
        x|a x|c x|b
        x|c x|a
        x|b x|O
    """
    assert mined(text, "begin-end") == {"first a -> last b": (2, 0), "first c -> last a": (1, 0)}
    assert mined("x|B-a x|O x|B-b x|I-b", "begin-end", "bio") == {"first a -> last b": (1, 0)}


def test_presence_and_precedence_looks_at_sequences_with_both():
    text = """
        x|a x|b x|b
        x|c x|b x|c
        x|a x|O
    """
    assert mined(text, "presence and precedence") == {"no b before each a": (1, 0)}
    assert mined(text, "presence and precedence", miner=replace(ANY, false_cost=0.4)) == {
        "no b before each a": (1, 0),
        "no b before each c": (1, 1),
    }
    assert mined("x|B-a x|I-a x|B-b", "presence and precedence", "bio") == {"no b before each a": (2, 0)}


def test_rules_are_constraints_with_penalties():
    rules = {found.family: found for found in mine_rules(*labelled("Bonn|city ,|city NRW|state"), miner=ANY)}
    assert {family: replace(found.rule, penalty=np.inf) for family, found in rules.items()} == {
        "adjacency": FollowedBy("city", "state"),
        "precedence": FollowedLater("city", "state"),
        "state change": Around(Words(frozenset({","})), "city", "state", implies=True),
        "begin-end": FirstLast("city", "state"),
        "presence and precedence": NotBefore("state", "city", each=True),
    }
    assert rules["precedence"].rule.penalty == pytest.approx(np.log(4))  # 2 held, 0 failed: 1 / 4


def test_conditions_with_more_in_them_are_no_rules():
    """That a and the a/b in it end at once tells c, neither alone does."""
    text = """
        x|B-a/B-b y|B-c
        x|B-a/B-b y|B-c
        x|B-a/B-b y|I-a y|O
        x|B-a y|O
    """
    loose = replace(ANY, false_cost=0.5)
    assert mined(text, "adjacency", "bio", replace(loose, longest=1)) == {"a/b followed by c": (2, 1)}
    assert mined(text, "adjacency", "bio", loose) == {}


# ── predicates, and rules against their violations ──────────────────────────────────────────────

SCHEMAS = [
    Schema(["O", "a", "b", "c"], "plain"),
    Schema(["O", "B-a", "I-a", "B-b", "I-b"], "bio"),
    Schema(["O", "B-a", "I-a", "I-a/B-b", "I-a/I-b", "B-c", "B-b"], "bio"),
    Schema(["a", "b"], "plain"),
]


def random_labelling(schema: Schema, seed: int) -> tuple[Corpus, np.ndarray]:
    """Sequences of 0 to 7 tokens; labels follow each other with some regularity."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 8, size=12)
    ids = np.concatenate([np.sort(rng.integers(len(schema), size=n)) for n in lengths])
    noise = rng.random(len(ids)) < 0.2
    ids[noise] = rng.integers(len(schema), size=noise.sum())
    tokens = rng.choice([",", ".", "x", "y2"], size=len(ids))
    return Corpus.from_columns({"word": tokens.tolist()}, lengths), ids


def naive_predicate(
    family: str, about: Predicate, tokens: list[str], labels: list[str], schema: Schema, t: int
) -> bool:
    """What a predicate of a family says of token t, from spans and strings."""
    ends = [span.end for span in schema.spans(labels) if is_in(span.type, about.type)]
    tokens_in = tokens_of(about.type, labels, schema)
    return {
        "adjacency": t in ends,
        "begin-end": 0 in tokens_in,
        "state change": t >= 1 and tokens[t - 1] == about.mark and t - 2 in tokens_in,
    }.get(family, t in tokens_in)


def tokens_of(type: str, labels: list[str], schema: Schema) -> set[int]:
    """The places of a type."""
    spans = [span for span in schema.spans(labels) if is_in(span.type, type)]
    return {t for span in spans for t in range(span.start, span.end)}


def naive_target(family: str, places: set[int], t: int) -> bool:
    """Whether token t is of the class of a family, given the places of the type."""
    later, earlier = any(s >= t for s in places), any(s < t for s in places)
    return {"precedence": later, "presence and precedence": not earlier}.get(family, t in places)


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_classes_against_spans(schema):
    for seed in range(5):
        corpus, ids = random_labelling(schema, seed)
        view, labels = Labelling(corpus, ids, schema), corpus.split(schema.decode(ids))
        for family, (p, type) in product(FIVE, enumerate(schema.types())):
            wanted = [
                naive_target(family.name, tokens_of(type, sequence, schema), t)
                for sequence in labels
                for t in range(len(sequence))
            ]
            assert family.target(view)[:, p].tolist() == wanted, f"seed {seed}, {family.name}, {type}"


def is_in(type: str, name: str) -> bool:
    """A name in a rule means every path that ends in it."""
    return type == name or type.endswith("/" + name)


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_predicates_against_spans(schema):
    for seed in range(5):
        corpus, ids = random_labelling(schema, seed)
        view = Labelling(corpus, ids, schema)
        labels = corpus.split(schema.decode(ids))
        marks = {token for tokens in corpus.token_sequences() for token in tokens if token in ",."}
        everywhere = np.ones(len(ids), dtype=bool)
        for family in FIVE:
            found = family.predicates(view, everywhere)
            asked = product(schema.types(), sorted(marks) if family.name == "state change" else [""])
            for about in map(Predicate._make, asked):
                wanted = [
                    naive_predicate(family.name, about, corpus[i].tokens, sequence, schema, t)
                    for i, sequence in enumerate(labels)
                    for t in range(len(sequence))
                ]
                column = found.pop(about, np.zeros(len(ids), dtype=bool))
                assert column.tolist() == wanted, f"seed {seed}, {family.name}, {about}"
            assert not found, "there are predicates more"


def test_the_token_before_is_one_of_the_same_sequence():
    corpus = Corpus.from_sequences([["x", ","], ["y", ",", "z"], [",", ","]])
    view = Labelling(corpus, np.zeros(7, dtype=int), Schema(["a"], "plain"))
    assert view.token_before_is([","]).tolist() == [False, False, False, False, True, False, True]
    assert view.token_before_is(["x", "y"]).tolist() == [False, True, False, True, False, False, False]


def test_only_delimiters_after_types_that_occur_are_asked_for():
    corpus, ids, schema = labelled("x|a ,|a y|b .|O\n;|a y|b")
    view = Labelling(corpus, ids, schema)
    assert view.marks == (",", ".", ";")
    (state_change,) = [family for family in FIVE if family.name == "state change"]
    asked = state_change.predicates(view, state_change.places(view))
    assert list(map(str, asked)) == ['a before ","']
    assert Labelling(Corpus({}, np.array([0, 2])), np.zeros(2, dtype=int), schema).marks == ()


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_what_a_clause_gets_wrong_is_how_often_the_labels_break_its_rule(schema):
    families = set()
    for seed in range(6):
        corpus, ids = random_labelling(schema, seed)
        labels = corpus.split(schema.decode(ids))
        for rule, family, clause in mine_rules(corpus, ids, schema, miner=replace(ANY, false_cost=0.2)):
            broken = sum(
                rule.violation(y, schema, sequence.tokens)
                for y, sequence in zip(labels, corpus, strict=True)
                if y
            )
            assert broken == clause.false, f"seed {seed}, {rule}, {clause}"
            families.add(family)
    assert families == {family.name for family in FIVE}


def test_tokens_without_labels_are_in_nothing():
    schema = Schema(["a", "b"], "plain")
    corpus = Corpus.from_sequences([["x", ",", "y"], []])
    lines = {found.rule.line() for found in mine_rules(corpus, np.array([0, -1, 1]), schema, miner=ANY)}
    assert lines == {
        "a followed later by b",
        'around ",": if a then b',
        "first a -> last b",
        "no b before each a",
    }
    assert mine_rules(corpus, np.array([-1, -1, -1]), schema) == []


def test_hundreds_of_types_need_no_search():
    """Types exclude each other, so the best clauses come without HiGHS; it would take minutes."""
    rng = np.random.default_rng(0)
    schema = Schema([f"t{i}" for i in range(200)], "plain")
    ids = np.sort(rng.integers(200, size=(400, 25)), axis=1).ravel()
    corpus = Corpus.from_columns({"word": ["x"] * len(ids)}, [25] * 400)
    found = mine_rules(corpus, ids, schema, miner=replace(RULES, seconds=0.0), families=FIVE[-1:])
    assert len({one.rule.before for one in found}) > 150
    assert all(one.clause.proved for one in found)


def test_literals_read_as_logic():
    clause = Clause((Literal("ends-with-comma"), Literal("first", False)), 3, 1, 2.0)
    assert str(clause) == "ends-with-comma and not first"
