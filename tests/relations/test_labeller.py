"""`RelationLabeller` on generated news: what it learns, decides, refuses, and writes to files."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import BernoulliNB

import conseq
from conseq import RelationLabeller, RelationOptions
from conseq.datasets import news
from conseq.entities import Sentence
from conseq.errors import ConseqError, DataError, InfeasibleError, ModelError, RuleError
from conseq.problem import Status

TRAIN, TEST = news(160, seed=0), news(60, seed=1)
KINDS = {
    "joint": {},
    "basic": {"approach": "basic"},
    "pipeline": {"approach": "pipeline"},
    "winnow": {"classifier": "winnow", "folds": 0},
    "predicted": {"boundaries": "predicted", "folds": 2},
    "perceptron": {"penalties": "perceptron", "folds": 2},
    "paper": {"features": "paper", "folds": 0, "constraints": "work_for(person, organisation)  penalty 3"},
}


@pytest.fixture(scope="module")
def trained() -> dict[str, RelationLabeller]:
    return {name: RelationLabeller(n_jobs=1, **options).fit(TRAIN) for name, options in KINDS.items()}


def bare(sentences: list[Sentence]) -> list[Sentence]:
    return [replace(sentence, entities=(), relations=(), pos=None) for sentence in sentences]


def test_both_together_are_better_than_each_for_itself(trained):
    joint, basic = (trained[name].evaluate(TEST) for name in ("joint", "basic"))
    assert joint.relations.total.f1 > basic.relations.total.f1
    assert joint.quality == 1.0 > basic.quality
    assert joint.entities.total.f1 > 0.7


def test_every_answer_is_certified_and_obeys_the_hard_rules(trained):
    for name in ("joint", "predicted", "perceptron"):
        for decoding in trained[name].decode(TEST):
            assert decoding.certificate.status is Status.OPTIMAL
            assert not any(rule.is_hard for rule in decoding.violations)


@pytest.mark.parametrize("name", KINDS)
def test_sentences_one_by_one_are_decided_as_together(trained, name):
    labeller = trained[name]
    given = bare(TEST) if name == "predicted" else TEST
    together = labeller.predict(given)
    assert [labeller.predict([sentence])[0] for sentence in given[:15]] == together[:15]
    assert [sentence.tokens for sentence in together] == [sentence.tokens for sentence in TEST]


@pytest.mark.parametrize("name", KINDS)
def test_a_model_file_gives_the_same_answers(trained, name, tmp_path):
    labeller = trained[name]
    labeller.save(tmp_path / "one.model")
    loaded = RelationLabeller.load(tmp_path / "one.model")
    given = bare(TEST) if name == "predicted" else TEST
    assert loaded.predict(given) == labeller.predict(given)
    assert loaded.constraints_ == labeller.constraints_
    assert loaded.weights_ == labeller.weights_
    loaded.save(tmp_path / "two.model")
    assert (tmp_path / "one.model").read_bytes() == (tmp_path / "two.model").read_bytes()


def test_learned_rules_say_what_relations_relate(trained):
    lines = [str(rule) for rule in trained["joint"].constraints_]
    assert "work_for(person, organisation)  hard" in lines
    assert trained["joint"].weights_.bonus >= 0
    assert any(line.startswith("count(") and "penalty" in line for line in lines)


def test_predicted_boundaries_do_not_overlap(trained):
    found = trained["predicted"].predict(bare(TEST))
    for sentence in found:
        taken = [t for entity in sentence.entities for t in range(entity.start, entity.end)]
        assert len(set(taken)) == len(taken)
        assert all(entity.type in trained["predicted"].types_.entities for entity in sentence.entities)
    report = conseq.metrics.evaluate_relations(TEST, found)
    assert report.entities.total.f1 > 0.6
    assert report.relations.total.f1 > 0.3


def test_rules_can_be_added_and_taken_away(trained):
    labeller = trained["joint"]
    free = labeller.with_constraints(None)
    assert not free.constraints_
    assert labeller.constraints_
    forced = labeller.with_constraints([*labeller.constraints_, "exactly 1 kill  hard"])
    two = [sentence for sentence in TEST if sum(e.type == "person" for e in sentence.entities) > 1]
    for sentence in forced.predict(two):
        assert [relation.type for relation in sentence.relations].count("kill") == 1
    with pytest.raises(RuleError, match="did you mean 'kill'"):
        labeller.with_constraints("exactly 1 kil  hard")


def test_rules_that_cannot_hold_together_are_named_with_the_sentence(trained):
    both = trained["joint"].with_constraints(
        "exactly 1 kill  hard\nat least 2 kill  hard\nat most 9 person  hard"
    )
    with pytest.raises(InfeasibleError, match=r"sentence 7 \(from 0\).*exactly 1 kill; at least 2 kill"):
        both.label(TEST[:1], first=7)
    assert both.decode(TEST[:1])[0].certificate.status is Status.INFEASIBLE


def test_another_classifier_can_take_the_place_of_both(tmp_path):
    labeller = RelationLabeller(BernoulliNB(), folds=0, n_jobs=1).fit(TRAIN[:60])
    assert labeller.evaluate(TEST[:20]).entities.total.f1 > 0.3
    with pytest.raises(ModelError, match="cannot hold a classifier of the type BernoulliNB"):
        labeller.save(tmp_path / "no.model")


def test_the_bonus_can_be_given_or_chosen_on_other_sentences():
    given = RelationLabeller(bonus=0.75, folds=0, n_jobs=1).fit(TRAIN[:60])
    assert given.weights_.bonus == 0.75
    chosen = RelationLabeller(folds=0, n_jobs=1).fit(TRAIN[:60], development=TEST)
    assert chosen.predict(TEST) is not None
    assert RelationLabeller(folds=0, n_jobs=1).fit(TRAIN[:60]).weights_.bonus == 0


def test_the_same_data_gives_the_same_model(tmp_path):
    for name in ("a", "b"):
        RelationLabeller(folds=2, n_jobs=1).fit(TRAIN[:50]).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_it_is_an_estimator():
    labeller = RelationLabeller(options=RelationOptions(c2=2.0, folds=0), n_jobs=1)
    assert clone(labeller).c2 == labeller.options.c2 == 2.0
    assert repr(labeller) == "RelationLabeller(c2=2.0, folds=0, n_jobs=1)"
    assert 0 <= labeller.fit(TRAIN[:40]).score(TEST[:10]) <= 1


def test_sentences_without_entities_or_pairs_are_fine(trained):
    empty, single = Sentence(("Nothing", "here", ".")), Sentence((), ())
    for name in ("joint", "basic", "pipeline"):
        assert trained[name].predict([empty, single]) == [empty, single]
        assert trained[name].predict([]) == []


def test_what_cannot_be_used_is_said(trained, tmp_path):
    with pytest.raises(DataError, match="no sentence has an entity"):
        RelationLabeller().fit([Sentence(("a",))])
    with pytest.raises(ModelError, match="not trained"):
        RelationLabeller().predict(TEST)
    wrong = {
        "approach": "x",
        "boundaries": "x",
        "features": "x",
        "penalties": "x",
        "folds": 1,
        "classifier": "svm",
    }
    for name, value in wrong.items():
        with pytest.raises(ConseqError, match=name):
            RelationLabeller(**{name: value}).fit(TRAIN[:5])
    overlapping = replace(TRAIN[0], entities=(TRAIN[0].entities[0],) * 2, relations=())
    with pytest.raises(DataError, match=r"sentence 0 .*two entities on the token"):
        RelationLabeller(boundaries="predicted", n_jobs=1).fit([overlapping])
    conseq.SequenceLabeller("ner", n_jobs=1, max_iterations=2).fit([["a"]], [["x"]]).save(
        tmp_path / "crf.model"
    )
    with pytest.raises(ModelError, match="of the type 'crf'"):
        RelationLabeller.load(tmp_path / "crf.model")
    trained["joint"].save(tmp_path / "relations.model")
    with pytest.raises(ModelError, match="of the type 'relations'"):
        conseq.load(tmp_path / "relations.model")


def test_scores_of_folds_have_not_seen_the_sentence():
    """A sentence that says the opposite of the others is scored as they say, whatever it says itself."""
    from conseq.relations.classifiers import Makers
    from conseq.relations.features import Described
    from conseq.relations.learning import Lessons, folds_of
    from conseq.relations.mentions import Gold, Mentions

    sentences = TRAIN[:60]
    types, mentions = conseq.entities.types_of(sentences), Mentions.of(sentences)
    fold = folds_of(sentences, 3)
    makers = Makers.of("logistic", 0.3, 1.0, 1)

    def scores(labels: Gold) -> np.ndarray:
        lessons = Lessons(sentences, types, mentions, labels, makers, "full", fold)
        return lessons.entity_scores(Described.of(mentions, "full"))

    gold = Gold.of(sentences, types, mentions)
    own = np.repeat(fold, np.diff(mentions.entity_offsets)) == 0
    changed = np.where(own, (gold.entities + 1) % 3, gold.entities)
    first, second = scores(gold), scores(Gold(changed, gold.relations))
    assert np.array_equal(first[own], second[own])
    assert not np.allclose(first[~own], second[~own])
