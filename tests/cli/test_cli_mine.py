"""`conseq mine` and `train --constraints learn` from the outside: rule files to read, edit and use."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from conseq.cli import main
from conseq.constraints.language import read_constraints
from conseq.datasets import citations
from conseq.io import write
from conseq.labeller import SequenceLabeller


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """train.tsv, dev.tsv, test.tsv, a model of train, and the rules mined from it."""
    place = tmp_path_factory.mktemp("mine")
    for name, number, seed in (("train", 80, 0), ("dev", 120, 5), ("test", 60, 1)):
        write(citations(number, seed=seed), place / f"{name}.tsv", "columns")
    train = str(place / "train.tsv")
    assert main(["train", train, "-m", str(place / "bare.model"), "--threads", "1"]) == 0
    options = ["--model", str(place / "bare.model"), "--folds", "3", "--threads", "1"]
    assert main(["mine", train, "-o", str(place / "mined.rules"), *options]) == 0
    return place


def f1(run, *arguments: object) -> float:
    return json.loads(run("evaluate", *arguments, "--json").out)["span"]["f1"]


def test_the_file_states_rules_with_reasons_and_helps(run, folder):
    text = (folder / "mined.rules").read_text()
    rules = read_constraints(folder / "mined.rules", SequenceLabeller.load(folder / "bare.model").schema_)
    assert len(rules) > 5
    assert all(0 < rule.penalty < 100 for rule in rules)
    for line in text.splitlines()[2:]:
        assert " # held " in line
        assert "model breaks it " in line
        assert "importance " in line
    with_rules = f1(run, folder / "bare.model", folder / "test.tsv", "--constraints", folder / "mined.rules")
    assert with_rules > f1(run, folder / "bare.model", folder / "test.tsv")


def test_an_edited_file_is_used_without_training_again(run, folder, tmp_path):
    """A penalty changed, a rule added, one removed: each changes what `evaluate` reports, not the model."""
    model, test = folder / "bare.model", folder / "test.tsv"
    before = model.read_bytes()
    lines = (folder / "mined.rules").read_text().splitlines()
    first, second, third = lines[2:5]
    rule, _, reason = second.partition("  penalty ")
    edited = tmp_path / "edited.rules"
    changed = f"{rule}  penalty 0.0125  #{reason.partition('#')[2]}"
    edited.write_text("\n".join([*lines[:2], first, changed, "at most 1 segment of note  hard", *lines[5:]]))
    found = json.loads(run("evaluate", model, test, "--constraints", edited, "--json").out)
    rules = found["decoding"]["violations"]["after"]
    assert rules["at most 1 segment of note"] == 0
    assert third.partition("  penalty ")[0].strip() not in rules
    assert rule.strip() in rules
    penalties = {r.line(): r.penalty for r in read_constraints(edited)}
    assert penalties[rule.strip()] == 0.0125
    assert model.read_bytes() == before


def test_json_has_rules_and_report(run, folder, tmp_path):
    target = tmp_path / "dev.rules"
    options = ["--model", folder / "bare.model", "--dev", folder / "dev.tsv", "--folds", 0]
    found = run("mine", folder / "train.tsv", *options, "-o", target, "--json", "--threads", 1)
    assert (found.code, found.err, found.out.count("\n")) == (0, "", 1)
    result = json.loads(found.out)
    assert {"rules", "candidates", "judged", "zero", "count", "report", "seconds", "peak_mb"} <= set(result)
    assert result["count"] == len(result["rules"]) == len(read_constraints(target)) > 0
    keys = {"rule", "penalty", "family", "support", "held", "violated", "importance", "effect"}
    for rule in result["rules"]:
        assert keys <= set(rule)
        assert rule["held"] + rule["violated"] == rule["support"]
    assert result["report"]["sequences"] == 120
    assert result["report"]["certified"] == 120
    assert result["report"]["f1"]["after"] > result["report"]["f1"]["before"]


def test_the_table_names_rules_and_labels(run, folder, tmp_path):
    options = ["--families", "only-one,together", "--penalties", "log-ratio", "--folds", 2, "--threads", 1]
    found = run("mine", folder / "train.tsv", *options, "-o", tmp_path / "a.rules")
    assert found.code == 0
    assert "Rules learned." in found.out
    assert "adds to F1" in found.out
    assert "labels that gain most" in found.out
    assert "count(" not in (tmp_path / "a.rules").read_text(), "pairwise rules were not asked for"


def test_learning_while_training(run, folder, tmp_path):
    model = tmp_path / "learned.model"
    options = ["--constraints", "learn", "--folds", 3, "--threads", 1]
    found = run("train", folder / "train.tsv", "-m", model, *options, "--json")
    assert (found.code, found.err) == (0, "")
    result = json.loads(found.out)
    assert result["constraints"]["count"] == len(SequenceLabeller.load(model).constraints_) > 0
    assert result["seconds"]["rules"] > 0
    test = folder / "test.tsv"
    assert f1(run, model, test) > f1(run, model, test, "--constraints", "none")


@pytest.mark.parametrize(
    "options", [["--folds", 2], ["--folds", 2, "--dev", "dev.tsv"], ["--folds", 0, "--dev", "dev.tsv"]]
)
def test_mining_learns_the_rules_that_training_learns(run, tmp_path, options):
    """The same data, options and seed: `mine`, `mine` with a model, and `train --constraints learn`."""
    write(citations(40, seed=0), tmp_path / "train.tsv", "columns")
    write(citations(25, seed=5), tmp_path / "dev.tsv", "columns")
    asked = [tmp_path / one if one == "dev.tsv" else one for one in options]
    more = [*asked, "--features", "ner", "--threads", 1]
    source, model = tmp_path / "train.tsv", tmp_path / "learned.model"
    found = run("train", source, "-m", model, "--constraints", "learn", "--json", *more)
    assert found.code == 0, found.err
    trained = json.loads(found.out)["constraints"]
    assert trained["count"] > 0
    for own in ([], ["--model", model]):
        found = run("mine", source, "-o", tmp_path / "a.rules", "--no-effects", "--json", *more, *own)
        assert found.code == 0, found.err
        mined = json.loads(found.out)
        assert [(r["rule"], r["penalty"]) for r in mined["rules"]] == [
            (r["rule"], r["penalty"]) for r in trained["rules"]
        ]
        assert (mined["candidates"], mined["judged"]) == (trained["candidates"], trained["judged"])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "the file is empty"),
        ("a\nb\n", "label"),
        ("a\tx\tB-y\nb\tz\n", ":2: 2 columns"),
        ("a\tx\n", "too few"),
    ],
)
def test_bad_data_is_one_sentence_and_loses_nothing(run, tmp_path, text, says):
    source, target = tmp_path / "bad.tsv", tmp_path / "kept.rules"
    source.write_text(text)
    target.write_text("legal bio\n")
    found = run("mine", source, "-o", target, "--threads", 1)
    assert found.code == 1
    assert says in found.err
    assert found.err.count("\n") == 1
    assert target.read_text() == "legal bio\n"


def test_a_place_that_cannot_be_written_is_said_at_once(run, folder, tmp_path):
    found = run("mine", folder / "train.tsv", "-o", tmp_path / "nowhere" / "a.rules")
    assert found.code == 1
    assert "there is no directory" in found.err


def test_an_interruption_leaves_the_old_file(folder, tmp_path):
    target = tmp_path / "kept.rules"
    target.write_text("legal bio\n")
    command = [sys.executable, "-m", "conseq", "mine", folder / "train.tsv", "-o", target, "--folds", "40"]
    process = subprocess.Popen([*map(str, command)], stderr=subprocess.PIPE, text=True)
    timer = threading.Timer(6, process.send_signal, [signal.SIGINT])
    timer.start()
    _, err = process.communicate(timeout=90)
    timer.cancel()
    assert process.returncode == 130
    assert "kept.rules was not written" in err
    assert "Traceback" not in err
    assert target.read_text() == "legal bio\n"
