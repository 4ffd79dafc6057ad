"""What sentences show of relations, and penalties and scales learned from them: by hand."""

from __future__ import annotations

import numpy as np
import pytest

from conseq.constraints.relational import (
    Acyclic,
    ArgumentTypes,
    Degree,
    HowMany,
    PairLimit,
    Symmetric,
    indicators,
)
from conseq.constraints.relational.language import parse_relation_rules
from conseq.entities import Candidates, Entity, Relation, Sentence, Types, all_pairs
from conseq.errors import ConseqError, DataError, ScoreError
from conseq.mining.penalties import Perceptron, StructuredSVM
from conseq.mining.relations import (
    LEARNERS,
    RATE,
    RelationEvidence,
    learn_relation_rules,
)
from conseq.mining.signatures import always_held, observed, signatures, tendencies

TYPES = Types(("A", "B"), ("R", "S"))


def sentence(kinds: str, *relations: tuple[str, int, int]) -> Sentence:
    """A token for each entity; the letters are their types."""
    entities = tuple(Entity(kind, i, i + 1) for i, kind in enumerate(kinds))
    return Sentence(tuple(kinds), entities, tuple(Relation(*one) for one in relations))


# ── what sentences show ─────────────────────────────────────────────────────────────────────────


def counts(*sentences: Sentence) -> dict[str, tuple[int, int]]:
    return {one.rule.line(): (one.held, one.applied) for one in observed(sentences)}


def test_counts_by_hand():
    found = counts(
        sentence("ABB", ("R", 0, 1), ("R", 0, 2)),
        sentence("AAB", ("R", 0, 1), ("S", 0, 1), ("R", 0, 2)),
        sentence("AB", ("R", 0, 1)),
        sentence("BA"),
    )
    assert found["R(A, A or B)"] == (5, 5)
    assert found["S(A, A)"] == (1, 1)
    assert found["at most 1 relation per pair"] == (4, 5)
    assert found["R is symmetric"] == (0, 5)
    assert found["R is inverse of S"] == (0, 6)
    assert found["R is acyclic"] == (5, 5)
    assert "S is acyclic" in found
    # the third sentence had no other tail to choose
    assert found["at most 1 R per head"] == (0, 2)
    assert found["at most 1 R per tail"] == (1, 1)


def test_types_that_cannot_form_a_cycle_need_no_rule():
    assert "R is acyclic" not in counts(sentence("AB", ("R", 0, 1)))


def test_cycles_are_counted_by_their_edges():
    found = counts(sentence("AAAA", ("R", 0, 1), ("R", 1, 2), ("R", 2, 0), ("R", 2, 3)))
    assert found["R is acyclic"] == (1, 4)


def test_the_sides_of_triangles():
    found = counts(
        sentence("AAA", ("R", 0, 1), ("S", 1, 2), ("R", 0, 2)),
        sentence("AAA", ("R", 2, 1), ("S", 1, 0)),
    )
    assert found["if R(a, b) and S(b, c) then R(a, c)"] == (1, 2)
    assert found["if S(b, c) and R(a, c) then R(a, b)"] == (1, 1)
    # of the two orders of b and c one has the third side
    assert found["if R(a, b) and R(a, c) then S(b, c)"] == (1, 2)


@pytest.mark.parametrize("seed", range(5))
def test_rules_always_held_if_no_sentence_violates_them(seed):
    rng = np.random.default_rng(seed)
    for _ in range(20):
        sentences = [random_sentence(rng) for _ in range(4)]
        for one in observed(sentences):
            total = sum(one.rule.violation(TYPES, *answer(given)) for given in sentences)
            assert one.always == (total == 0), (one, sentences)
            assert 0 <= one.held <= one.applied


def random_sentence(rng: np.random.Generator) -> Sentence:
    n = int(rng.integers(2, 5))
    pairs = all_pairs(n)[rng.random(n * (n - 1)) < 0.3].tolist()
    relations = [(str(rng.choice(["R", "S"])), i, j) for i, j in pairs]
    return sentence("".join(rng.choice(["A", "B"], n)), *relations)


def answer(given: Sentence) -> tuple[Candidates, np.ndarray]:
    candidates = Candidates(len(given.entities), all_pairs(len(given.entities)))
    chosen = np.zeros(len(candidates.pairs), dtype=int)
    for one in given.relations:
        chosen[candidates.place[one.head, one.tail]] = TYPES.relations.index(one.type) + 1
    kinds = [TYPES.entities.index(entity.type) for entity in given.entities]
    return candidates, indicators(TYPES, candidates, kinds, chosen)


def test_what_always_held_is_hard_and_the_rest_may_be_learned():
    often = [sentence("ABB", ("R", 0, 1))] * 40
    found = signatures(often)
    assert found == [ArgumentTypes("R", ("A",), ("B",)), PairLimit(1), Degree("at most", 1, "R", "head")]
    assert all(rule.is_hard for rule in found)
    assert [one.comment() for one in always_held(often)] == ["held 40/40"] * 3
    # an exception, and too few cases
    mixed = [*often, sentence("ABB", ("R", 0, 1), ("R", 0, 2)), sentence("ABB", ("S", 0, 1))]
    assert Degree("at most", 1, "R", "head") not in signatures(mixed)
    assert Degree("at most", 1, "R", "head") in [one.rule for one in tendencies(mixed)]
    assert ArgumentTypes("S", ("A",), ("B",)) in signatures(mixed)
    few = [one.rule.line() for one in tendencies(often[:10])]
    assert few == ["at most 1 relation per pair", "count(R) >= 1", "at most 1 R per head"]


def test_what_follows_from_what_and_that_there_are_relations_is_never_hard():
    always = [sentence("AAA", ("R", 0, 1), ("S", 1, 2), ("R", 0, 2)), sentence("A")] * 40
    assert "if R(a, b) and S(b, c) then R(a, c)" in [one.rule.line() for one in tendencies(always)]
    assert not any("if" in rule.line() or "count" in rule.line() for rule in signatures(always))
    assert counts(*always)["count(R) + count(S) >= 1"] == (40, 40)  # one entity has no relations


def test_no_sentences_show_nothing():
    assert signatures([]) == []
    assert signatures([sentence("AB")]) == []
    assert tendencies([]) == []


# ── lessons ─────────────────────────────────────────────────────────────────────────────────────

NO_R = HowMany("at most", 0, "R")
ONE_A = HowMany("at most", 1, "A")


def evidence(*rows, hard=()) -> RelationEvidence:
    """Sentences A B where the model takes R from 0 to 1 by a lead, and the first for A, the second for B by
    another."""
    sentences, of_entities, of_pairs = [], [], []
    for related, lead, certain in rows:
        sentences.append(sentence("AB", *([("R", 0, 1)] if related else [])))
        of_entities.append([[certain, 0.0], [0.0, certain]])
        of_pairs.append([[0.0, lead, -9.0], [5.0, 0.0, 0.0]])
    return RelationEvidence.of(sentences, TYPES, of_entities, of_pairs, hard=hard)


def test_the_excess_by_hand():
    """R is taken and is wrong: the rule against it should cost more, and relations score less."""
    lesson = evidence((False, 0.5, 1.0), (True, 0.5, 1.0)).lesson([NO_R], 0.0)
    assert lesson.excess(np.array([0.0, 1.0, 1.0])).tolist() == [[1.0, 0.0, -0.5 * RATE], [0.0, 0.0, 0.0]]
    # at 0.6 R is not taken any more, which is wrong in the second sentence
    assert lesson.excess(np.array([0.6, 1.0, 1.0])).tolist() == [[0.0, 0.0, 0.0], [-1.0, 0.0, 0.5 * RATE]]
    # and at half the scale a penalty of 0.3 is enough
    assert lesson.excess(np.array([0.3, 1.0, 0.5]))[1, 0] == -1.0


def test_both_scales_move_where_types_follow_relations():
    """S(B, A) is wrong, and makes the types wrong by which it is possible."""
    given = [sentence("AB")]
    scores = [[[1.0, 0.0], [0.0, 1.0]]], [[[0.0, -9.0, 3.0], [5.0, 0.0, 0.0]]]
    found = RelationEvidence.of(given, TYPES, *scores, hard=parse_relation_rules("S(B, A) hard"))
    (row,) = found.lesson([], 0.0).excess(np.array([1.0, 1.0]))
    assert row.tolist() == pytest.approx([RATE * 2.0, RATE * -3.0])


def test_a_margin_makes_narrow_answers_wrong():
    """None leads R by 0.2: enough without a margin, and with one of 0.3 not."""
    found = evidence((False, -0.2, 5.0))
    for margin, more in ((0.0, 0.0), (0.3, 1.0)):
        assert found.lesson([NO_R], margin).excess(np.array([0.0, 1.0, 1.0]))[0, 0] == more


def test_hard_rules_hold_while_others_are_learned():
    found = evidence((False, 0.5, 1.0), hard=[NO_R])
    assert found.lesson([ONE_A], 0.0).excess(np.array([0.0, 1.0, 1.0])).tolist() == [[0.0, 0.0, 0.0]]
    impossible = evidence((False, 0.5, 1.0), hard=parse_relation_rules("at least 3 A hard"))
    assert impossible.lesson([ONE_A], 0.0).excess(np.array([0.0, 1.0, 1.0])).tolist() == [[0.0, 0.0, 0.0]]


def test_updates_and_their_mean_by_hand():
    """The penalty grows by 0.2 a pass, the scale of relations falls by 0.2 · RATE · 0.5."""
    passes = Perceptron(epochs=2, step=0.2).passes(evidence((False, 0.5, 1.0)), [NO_R])
    found = [one.tolist() for one in passes]
    fall = 0.2 * RATE * 0.5
    assert found[0] == pytest.approx([0.2, 1.0, 1.0 - fall])
    assert found[1] == pytest.approx([0.3, 1.0, 1.0 - 1.5 * fall])


def test_weights_shrink_to_where_they_began():
    found = evidence((False, 0.5, 1.0))
    *_, last = StructuredSVM(epochs=200, step=0.5, margin=0.0, shrink=0.5).passes(found, [NO_R])
    assert last[1] == pytest.approx(1.0)
    assert 0.9 < last[2] <= 1.0


# ── scores and what is learned ──────────────────────────────────────────────────────────────────


def test_the_score_by_hand():
    """Of two sentences R is right in one; none of S. Types are all right."""
    found = evidence((False, 0.5, 1.0), (True, 0.5, 1.0))
    free = np.array([0.0, 1.0, 1.0])
    assert found.score(free, [NO_R], "entities") == 1.0
    assert found.score(free, [NO_R], "relations") == pytest.approx(2 / 3)
    assert found.score(free, [NO_R], "both") == pytest.approx(5 / 6)
    assert found.score(np.array([0.6, 1.0, 1.0]), [NO_R], "relations") == 0.0
    with pytest.raises(ConseqError, match="there is no metric 'f1'; choose one of both, entities, relations"):
        found.score(free, [NO_R], "f1")


@pytest.mark.parametrize("name", LEARNERS)
def test_a_rule_that_tells_right_from_wrong_gets_a_penalty(name):
    found = evidence(*[(False, 0.5, 1.0)] * 12, *[(True, 3.0, 1.0)] * 12)
    learner = LEARNERS[name][0].__class__(epochs=20, step=0.1, batch=4)
    learned = learn_relation_rules(found, [NO_R, ONE_A], learner, early=False)
    (rule,) = learned.rules
    assert rule.line() == "at most 0 R"
    assert 0.4 < rule.penalty < 3
    assert found.score(np.array([rule.penalty, 1.0, learned.relation_scale]), [NO_R], "relations") == 1.0


def test_the_scale_of_a_classifier_that_is_sure_and_wrong_falls():
    """Relations say S with certainty, entities know better; the signature makes them meet."""
    hard = parse_relation_rules("S(B, A) hard")
    scores = [[[1.0, 0.0], [0.0, 1.0]]] * 8, [[[0.0, -9.0, 3.0], [5.0, 0.0, 0.0]]] * 8
    found = RelationEvidence.of([sentence("AB")] * 8, TYPES, *scores, hard=hard)
    assert found.score(found.start(0), [], "entities") == 0.0
    learned = learn_relation_rules(found, [], Perceptron(epochs=60, step=0.2), early=False)
    assert learned.rules == tuple(hard)
    assert learned.relation_scale < learned.entity_scale
    scales = np.array([learned.entity_scale, learned.relation_scale])
    assert found.score(scales, [], "entities") == 1.0


def test_what_was_learned_is_a_rule_file():
    found = evidence(*[(False, 0.5, 1.0)] * 4, hard=[Symmetric("S")])
    text = learn_relation_rules(found, [NO_R], "perceptron", early=False).to_text()
    assert text.startswith("# 2 rules, for scores of entities × 1, relations × ")
    assert [rule.line() for rule in parse_relation_rules(text)] == ["S is symmetric", "at most 0 R"]


def test_a_part_of_the_evidence():
    found = evidence((False, 0.5, 1.0), (True, 0.7, 2.0), (True, 0.9, 3.0), hard=[Acyclic("R")])
    part = found.select(np.array([2, 0]))
    assert len(part) == 2
    assert part.hard == found.hard
    for i, j in ((0, 2), (1, 0)):
        assert part.scores[i] is found.scores[j]
        assert part.gold[i] is found.gold[j]


def test_what_does_not_fit_is_refused():
    one = [sentence("AB", ("R", 0, 1))]
    entities, relations = [np.zeros((2, 2))], [np.zeros((2, 3))]
    with pytest.raises(DataError, match="1 sentences, 2 arrays of entity_scores"):
        RelationEvidence.of(one, TYPES, entities * 2, relations)
    with pytest.raises(ScoreError, match=r"entity_scores\[0\] has the shape \(2, 3\); it should be \(2, 2\)"):
        RelationEvidence.of(one, TYPES, [np.zeros((2, 3))], relations)
    with pytest.raises(ScoreError, match=r"relation_scores\[0\] has a score that is not a number"):
        RelationEvidence.of(one, TYPES, entities, [np.full((2, 3), np.nan)])
    with pytest.raises(ConseqError, match="no type of entity is called 'C'"):
        RelationEvidence.of([sentence("AC")], TYPES, entities, relations)
    with pytest.raises(ConseqError, match="there is no learner 'guess'; choose one of perceptron, svm"):
        learn_relation_rules(evidence((True, 0.5, 1.0)), [], "guess")


def test_sentences_without_entities_and_with_one_are_evidence():
    empty, lone = Sentence(("x",)), sentence("A")
    scores = [np.zeros((0, 2)), [[0.0, 1.0]]], [np.zeros((0, 3)), []]
    found = RelationEvidence.of([empty, lone], TYPES, *scores)
    assert found.lesson([NO_R, ONE_A], 0.1).excess(np.array([0.0, 0.0, 1.0, 1.0])).shape == (2, 4)
    assert found.score(found.start(0), [], "both") == 0.0
