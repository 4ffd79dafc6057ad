"""Scores of entities and relations, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conseq.datasets import news
from conseq.entities import Entity, Relation, Sentence
from conseq.errors import DataError
from conseq.metrics import evaluate_relations
from conseq.metrics.relations import macro

TOKENS = ("Ann", "Lee", "left", "Acme", "in", "Rome")
GOLD = Sentence(
    TOKENS,
    (Entity("person", 0, 2), Entity("firm", 3, 4), Entity("place", 5, 6)),
    (Relation("work_for", 0, 1), Relation("based_in", 1, 2)),
)


def test_a_wrong_type_spoils_its_relations_but_not_their_places():
    found = Sentence(
        TOKENS,
        (Entity("place", 5, 6), Entity("person", 0, 2), Entity("place", 3, 4)),
        (Relation("work_for", 1, 2), Relation("live_in", 1, 0)),
    )
    report = evaluate_relations([GOLD], [found])
    total = report.entities.total
    assert (total.correct, total.predicted, total.gold) == (2, 3, 3)
    assert report.entities.labels["firm"].f1 == 0
    assert report.entities.labels["place"].fractions.precision == 0.5
    strict, loose = report.relations.total, report.by_place.total
    assert (strict.correct, strict.predicted, strict.gold) == (0, 2, 2)
    assert (loose.correct, loose.predicted, loose.gold) == (1, 2, 2)
    assert report.by_place.labels["work_for"].f1 == 1
    assert report.quality == 0
    assert set(report.relations.labels) == {"work_for", "based_in", "live_in"}
    assert macro(report.by_place).f1 == 0.5  # of work_for and based_in: the gold data has no live_in


def test_what_is_given_back_is_perfect():
    sentences = news(50)
    found = evaluate_relations(sentences, sentences).to_dict()
    assert found["sentences"] == 50
    for part in ("entities", "relations", "by_place"):
        assert {found[part][name] for name in ("precision", "recall", "f1")} == {1.0}
        assert found[part]["macro"]["f1"] == 1.0
    assert found["quality"] == 1.0


def test_nothing_counts_twice():
    double = replace(GOLD, relations=(*GOLD.relations, *GOLD.relations))
    assert evaluate_relations([GOLD], [double]).relations.total.predicted == 2


def test_sentences_must_be_the_same():
    with pytest.raises(DataError, match="1 sentences and 0 predictions"):
        evaluate_relations([GOLD], [])
    with pytest.raises(DataError, match="sentence 0 has other tokens"):
        evaluate_relations([GOLD], [Sentence(("a",))])
    empty = evaluate_relations([], [])
    assert (empty.quality, empty.relations.total.f1) == (0.0, 0.0)
