"""`python -m experiments relations` on small made-up data: every figure, with its keys."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from conseq.datasets import news
from conseq.entities import Sentence
from conseq.errors import DataError
from conseq.io.sentences import write_sentences
from experiments import EXPERIMENTS, relations

NAMES = {"person": "Peop", "organisation": "Org", "place": "Loc", **relations.RELATIONS}
SPLITS = {"train": 110, "dev": 40, "test": 40}
SCORES = {"precision", "recall", "f1"}


def renamed(sentence: Sentence) -> Sentence:
    """With the names of types that the data of the paper has."""
    entities = tuple(replace(entity, type=NAMES[entity.type]) for entity in sentence.entities)
    related = tuple(replace(relation, type=NAMES[relation.type]) for relation in sentence.relations)
    return replace(sentence, entities=entities, relations=related, text=None, characters=None)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / relations.FOLDER
    folder.mkdir()
    for seed, (split, count) in enumerate(SPLITS.items()):
        write_sentences([renamed(s) for s in news(count, seed)], folder / f"{split}.jsonl", "jsonl")
    return folder.parent


@pytest.fixture(scope="module")
def result(data: Path) -> dict:
    """What a quick run reports, through JSON and back."""
    return json.loads(json.dumps(relations.run(data=data, quick=True, say=lambda line: None)))


def test_every_approach_has_its_scores(result):
    assert list(result["approaches"]) == ["basic", "pipeline", "joint", "omniscient"]
    for report in [*result["approaches"].values(), *result["variants"].values()]:
        assert set(report) == {"entities", "relations", "quality", "incoherent"}
        assert list(report["entities"]) == ["person", "organization", "location", "macro_f1"]
        assert list(report["relations"]) == [*relations.RELATIONS, "macro_f1"]
        for part in ("entities", "relations"):
            assert all(set(scores) == SCORES for scores in report[part].values() if isinstance(scores, dict))
            assert 0 <= report[part]["macro_f1"] <= 1
    joint, basic = result["approaches"]["joint"], result["approaches"]["basic"]
    assert joint["quality"] == 1
    assert joint["incoherent"] == 0 <= basic["incoherent"]
    assert joint["relations"]["macro_f1"] > basic["relations"]["macro_f1"]


def test_decisions_are_proved(result):
    assert result["certified"] == result["certified_all_rules"] == 1
    assert result["as_highs"] == result["as_highs_all_rules"] == 1
    assert result["integral"] > 0.9
    assert 0 < result["milliseconds"]["median"] <= result["milliseconds"]["p99"]
    assert result["speedup_over_milp"] > 1


def test_forced_decisions_and_end_to_end_are_there(result):
    for under in ("forced", "forced_all_rules"):
        assert list(result[under]) == list(relations.RELATIONS)
        for scores in result[under].values():
            assert set(scores) == {"free", "exactly_one", "at_least_one"}
            assert scores["at_least_one"] >= scores["free"] - 0.2
    ends = result["end_to_end"]
    assert {"entity_f1", "relation_f1", "incoherent"} <= set(ends)
    assert ends["incoherent"] == 0
    assert ends["certified"] == 1


def test_tables_have_the_figures_of_the_paper(result):
    rows = relations.table(result)
    assert all(len(row) == len(rows[0]) for row in rows)
    assert next(row for row in rows if row[0] == "joint, paper")[-3] == "58.6"
    text = relations.markdown(result)
    assert "| kill | 86.2 |" in text
    assert "end" in text


def test_development_data_leaves_the_test_sentences_out(data, result):
    found = relations.run(data=data, split="dev", quick=True, say=lambda line: None)
    assert found["sentences"] < result["sentences"]
    assert EXPERIMENTS["relations"].split == "test"


def test_missing_data_is_said(tmp_path):
    with pytest.raises(DataError, match=r"train\.jsonl"):
        relations.run(data=tmp_path, say=lambda line: None)
