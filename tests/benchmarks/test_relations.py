"""`python -m benchmarks relations` on a few made-up sentences."""

from __future__ import annotations

import json

import pytest

from benchmarks import BENCHMARKS, relations
from benchmarks.__main__ import main
from conseq.constraints.relational.language import parse_relation_rules

SENTENCE = {
    "tokens": ["Ann", "of", "Acme", "lives", "in", "Oslo"],
    "entities": [
        {"type": "Peop", "start": 0, "end": 1},
        {"type": "Org", "start": 2, "end": 3},
        {"type": "Loc", "start": 5, "end": 6},
    ],
    "relations": [
        {"type": "Work_For", "head": 0, "tail": 1},
        {"type": "Live_In", "head": 0, "tail": 2},
        {"type": "OrgBased_In", "head": 1, "tail": 2},
    ],
}
TWO = {
    "tokens": ["Bob", "shot", "Bill", "in", "Ohio", "USA"],
    "entities": [
        {"type": "Peop", "start": 0, "end": 1},
        {"type": "Peop", "start": 2, "end": 3},
        {"type": "Loc", "start": 4, "end": 5},
        {"type": "Loc", "start": 5, "end": 6},
    ],
    "relations": [{"type": "Kill", "head": 0, "tail": 1}, {"type": "Located_In", "head": 2, "tail": 3}],
}


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "conll04"
    folder.mkdir()
    for name in relations.FILES:
        lines = [json.dumps(one) for one in (SENTENCE, TWO) * 3]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def test_what_it_reports(data, capsys, monkeypatch):
    monkeypatch.setattr(relations, "DENSE_LIMITS", (("rare", 4.0),))
    assert main(["relations", "--quick", "--json", "--data", str(data)]) == 0
    result = json.loads(capsys.readouterr().out)
    found = result["conll04"]
    assert found["sentences"] == 18
    assert found["certified"] == found["same"] == 1.0
    assert sum(found["steps"]) == pytest.approx(1.0)
    assert found["speedup_over_milp"] > 1
    assert result["dense"]["rare"]["certified"] == 1.0
    assert result["candidates"]["missed"]["greedy"] >= result["candidates"]["missed"]["a beam of 8"]
    assert len(BENCHMARKS["relations"].table(result)) == 15


def test_the_rival_solves_the_same_problem():
    rules = tuple(parse_relation_rules(relations.EXTRACTED, relations.EXTRACTED_TYPES))
    for seed in range(10):
        problem = relations.extracted(seed, rules)
        assert relations.milp_score(problem) == pytest.approx(problem.solve().score)
