"""`conseq evaluate` from the outside."""

from __future__ import annotations

import json

import pytest

from conseq.io import read
from conseq.labeller import SequenceLabeller

KEYS = {"tokens", "accuracy", "sequence_accuracy", "token", "span", "span_leaf", "span_strict", "decoding"}


def test_json_has_the_keys_of_the_contract(run, model, data):
    found = run("evaluate", model, data / "test.tsv", "--json")
    result = json.loads(found.out)
    assert (found.code, found.err) == (0, "")
    assert set(result) == KEYS
    assert set(result["token"]) == {"micro", "macro", "labels"}
    assert set(result["span"]) == {"precision", "recall", "f1", "labels"}
    decoding = result["decoding"]
    assert set(decoding) == {
        "sequences", "certified", "mean_iterations", "seconds", "tokens_per_second", "violations",
    }  # fmt: skip
    assert decoding["sequences"] == decoding["certified"] == 12
    assert decoding["mean_iterations"] == 1.0
    assert decoding["violations"] == {"before": {}, "after": {}}


def test_scores_are_those_of_the_python_interface(run, model, data):
    result = json.loads(run("evaluate", model, data / "test.tsv", "--json").out)
    report = SequenceLabeller.load(model).evaluate(read(data / "test.tsv")).to_dict()
    assert {key: result[key] for key in report} == report


def test_bootstrap_and_confusion_in_json(run, model, data):
    options = ["--json", "--bootstrap", 50, "--confusion"]
    result = json.loads(run("evaluate", model, data / "test.tsv", *options).out)
    low, high = result["interval"]
    assert 0 <= low <= result["span"]["f1"] <= high <= 1
    matrix = result["confusion"]["matrix"]
    assert sum(map(sum, matrix)) == result["tokens"]
    assert len(matrix) == len(result["confusion"]["labels"])


def test_labels_that_training_did_not_have_count_as_mistakes(run, model, tmp_path):
    source = tmp_path / "new.tsv"
    source.write_text("Ann\tNNP\tB-PER\nruns\tVBZ\tB-ACT\n")
    found = run("evaluate", model, source, "--json")
    assert found.code == 0
    assert "the model never saw 'B-ACT'" in found.err
    result = json.loads(found.out)
    assert result["accuracy"] == 0.5
    assert result["span"]["labels"]["ACT"]["recall"] == 0


@pytest.fixture
def wrong(tmp_path):
    path = tmp_path / "wrong.tsv"
    path.write_text("Ann\tNNP\tB-LOC\nlikes\tVBZ\tO\nRome\tNNP\tB-LOC\n")
    return path


def test_tables_in_a_pipe_are_aligned_text(run, model, wrong):
    found = run("evaluate", model, wrong, "--bootstrap", 20)
    lines = found.out.splitlines()
    assert lines[0].split() == ["segment", "precision", "recall", "F1", "gold"]
    rows = {line.split()[0]: line.split()[1:] for line in lines[1:4]}
    assert rows["LOC"] == ["100.00", "50.00", "66.67", "2"]
    assert rows["PER"] == ["0.00", "0.00", "0.00", "0"]
    assert rows["all"] == ["50.00", "50.00", "50.00", "2"]
    assert len({len(line) for line in lines[:4]}) == 1
    assert ["B-LOC", "B-PER", "1"] in [line.split() for line in lines]
    assert "\x1b" not in found.out


def test_the_matrix_of_confusions(run, model, wrong):
    lines = run("evaluate", model, wrong, "--confusion").out.splitlines()
    at = lines.index("Confusions (tokens)")
    header = lines[at + 1].split()[3:]
    row = next(line for line in lines[at:] if line.startswith("B-LOC")).split()
    assert set(header) == {"B-PER", "O", "B-LOC"}
    assert row[1:] == ["1", "1"]


@pytest.mark.usefixtures("terminal")
def test_tables_on_a_terminal(run, model, wrong):
    found = run("evaluate", model, wrong)
    assert "─" in found.out
    assert "\x1b[1m" in found.out
    assert "Most frequent mistakes" in found.out


@pytest.mark.usefixtures("terminal")
def test_a_matrix_wider_than_the_terminal_is_listed(run, model, wrong, monkeypatch):
    wide = run("evaluate", model, wrong, "--confusion").out
    assert "Confusions (tokens)" in wide
    monkeypatch.setenv("COLUMNS", "30")
    narrow = run("evaluate", model, wrong, "--confusion").out
    assert ["B-LOC", "B-PER", "1"] in [line.split() for line in narrow.splitlines()]
    assert "Confusions (tokens)" not in narrow
    assert "…" not in narrow
