"""What a labeller says of sentences: as JSON, in words, as a picture."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np

from conseq import decode_relations
from conseq.entities import Entity, Relation, Sentence
from conseq.io.sentences import read_sentences
from conseq.relations.answers import Answer, Answers

RULES = "live_in(person, city)  penalty 0.1\nlive_in is symmetric  penalty 100"


def answer(rules: str | None = None) -> Answer:
    sentence = Sentence(("Ann", "left", "<Rome>"), (Entity("?", 0, 1), Entity("?", 2, 3)), id="x")
    found = decode_relations(
        np.log([[0.9, 0.1], [0.8, 0.2]]),
        np.log([[0.1, 0.9], [0.1, 0.9]]),
        entities=["person", "city"],
        relations=["none", "live_in"],
        constraints=rules,
    )
    entities = tuple(replace(e, type=t) for e, t in zip(sentence.entities, found.types, strict=True))
    return Answer(replace(sentence, entities=entities, relations=tuple(found.relations)), found)


def test_an_answer_as_json_reads_back(tmp_path):
    found = answer(RULES)
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(found.to_dict()))
    assert read_sentences(path) == [found.sentence]
    said = found.to_dict()
    assert said["certificate"]["status"] == "OPTIMAL"
    assert said["violations"] == {"live_in(person, city)  penalty 0.1": 2.0}
    assert said["score"] == found.decoding.score


def test_what_is_broken_is_noted():
    assert answer().notes() == []
    assert answer(RULES).notes() == ["breaks the rule: live_in(person, city)  penalty 0.1"]


def test_what_is_not_proved_is_noted():
    found = answer()
    certificate = replace(
        found.decoding.certificate, status=type(found.decoding.certificate.status).FEASIBLE, gap=0.5
    )
    doubted = Answer(found.sentence, replace(found.decoding, certificate=certificate))
    assert doubted.notes() == ["another answer may score up to 0.5 more"]


def test_answers_are_shown_with_their_notes():
    answers = Answers([answer(RULES), answer()])
    assert answers.sentences[0].relations == (Relation("live_in", 0, 1), Relation("live_in", 1, 0))
    html = answers._repr_html_()
    assert html.count("breaks the rule") == 1
    assert "&lt;Rome&gt;" in html
    assert "<figure>" in answers.picture().html()
    assert answer()._repr_html_().startswith("<div")
