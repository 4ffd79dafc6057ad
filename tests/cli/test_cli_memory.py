"""`conseq train --model-type memory` and what goes on with its models."""

from __future__ import annotations

import json

import pytest

from conseq.labeller import MemoryLabeller, SequenceLabeller


@pytest.fixture
def remember(run, data, tmp_path):
    """Train a memory: remember(*more) ─→ outcome and the model's path."""

    def go(*more):
        path = tmp_path / "out.model"
        return run("train", data / "train.tsv", "--model-type", "memory", "-m", path, *more), path

    return go


def test_train_label_evaluate(remember, run, data):
    found, path = remember("--json", "--metric", "mvdm", "-k", 3, "--voting", "inverse-linear")
    assert found.code == 0, found.err
    result = json.loads(found.out)
    assert {"seconds", "iterations", "evaluations", "objective", "features", "attributes", "labels"} <= set(
        result
    )
    assert set(result["seconds"]) == {"read", "features", "train", "total"}
    labeller = MemoryLabeller.load(path)
    assert (labeller.distance, labeller.k, labeller.voting) == ("mvdm", 3, "inverse-linear")
    labelled = run("label", path, data / "test.tsv")
    assert labelled.code == 0
    scores = json.loads(run("evaluate", path, data / "test.tsv", "--json").out)
    assert 0 < scores["accuracy"] <= 1
    rows = [line.split("\t") for line in labelled.out.splitlines() if line]
    assert sum(row[-1] == row[-2] for row in rows) / len(rows) == pytest.approx(scores["accuracy"])


def test_the_summary_is_plain_lines(remember):
    found, path = remember()
    assert [line.split()[0] for line in found.out.splitlines()[:6]] == [
        "Trained.", "data", "memory", "weights", "time", "model",
    ]  # fmt: skip
    assert f"conseq label {path}" in found.out


@pytest.mark.parametrize(
    "option",
    [
        "--features",
        "--template",
        "--lexicon",
        "--dev",
        "--from",
        "--shard-tokens",
        "--c2",
        "--min-count",
        "--seed",
    ],
)
def test_options_of_the_other_kind_are_refused(remember, option):
    found, path = remember(option, "1")
    assert found.code == 2
    assert f"{option} is for --model-type crf" in found.err
    assert not path.exists()


@pytest.mark.parametrize(
    ("option", "value"), [("--metric", "mvdm"), ("-k", "3"), ("--sharpness", "2"), ("--window", "2")]
)
def test_a_crf_has_none_of_the_options_of_memories(run, data, tmp_path, option, value):
    path = tmp_path / "m.model"
    found = run("train", data / "train.tsv", option, value, "-m", path)
    assert (found.code, path.exists()) == (2, False)
    assert f"{option} is for --model-type memory; choose that, or leave it out" in found.err


def test_rules_cannot_be_learned(remember):
    found, path = remember("--constraints", "learn")
    assert (found.code, path.exists()) == (2, False)
    assert "give a file of rules" in found.err


def test_mining_and_warm_starts_need_the_other_kind(remember, run, data, tmp_path):
    _, path = remember()
    found = run("mine", data / "train.tsv", "--model", path, "-o", tmp_path / "rules")
    assert (found.code, "mining needs a model of the type crf; this is memory" in found.err) == (1, True)
    found = run("train", data / "train.tsv", "--from", path, "-m", tmp_path / "other")
    assert (found.code, "--from needs a model of the type crf" in found.err) == (1, True)


def test_explain_shows_neighbours(remember, run, data):
    _, path = remember("-k", 2)
    found = run("explain", path, data / "test.tsv", "--most", 2)
    assert found.code == 0, found.err
    first, reason, *_ = found.out.splitlines()
    word = (data / "test.tsv").read_text().split("\t")[0]
    assert first.startswith(f"{word}  ")
    assert " %" in first
    assert "→" in reason
    objects = [
        json.loads(line) for line in run("explain", path, data / "test.tsv", "--json").out.splitlines()
    ]
    assert objects[0]["tokens"][0]["token"] == word
    assert set(objects[0]["tokens"][0]) == {"token", "label", "chances", "reasons", "count"}


def test_explain_shows_the_attributes_of_a_crf(run, data, tmp_path):
    """What is shown is what the model adds: the weight for the label less that for the next likely one."""
    path = tmp_path / "a.model"
    run("train", data / "train.tsv", "-m", path, "--features", "ner", "--max-iterations", 3)
    found = run("explain", path, data / "test.tsv", "--json", "--most", 1000)
    labeller = SequenceLabeller.load(path)
    tokens = [t for line in found.out.splitlines() for t in json.loads(line)["tokens"]]
    token = next(t for t in tokens if len(t["chances"]) > 1)
    labels = list(token["chances"])
    assert labels[0] == token["label"]
    weights = labeller.model_.layout
    names = labeller.extractor_.names()
    for reason in token["reasons"]:
        if reason["text"] in names:
            a = names.index(reason["text"])
            own = slice(weights.feature[a], weights.feature[a + 1])
            of = dict(zip(weights.label[own].tolist(), labeller.model_.weights[own].tolist(), strict=True))
            ids = [labeller.schema_.labels.index(y) for y in labels[:2]]
            assert reason["weight"] == pytest.approx(of.get(ids[0], 0.0) - of.get(ids[1], 0.0))
    assert any(r["text"] in names for r in token["reasons"])
    assert [r["weight"] for r in token["reasons"]] == sorted(
        (r["weight"] for r in token["reasons"]), reverse=True
    )


def test_explain_with_bad_input_says_one_sentence(run, data, tmp_path):
    found = run("explain", tmp_path / "none.model", data / "test.tsv")
    assert (found.code, found.err.count("\n")) == (1, 1)
    empty = tmp_path / "empty.tsv"
    empty.write_text("")
    path = tmp_path / "a.model"
    run("train", data / "train.tsv", "-m", path, "--max-iterations", 3)
    found = run("explain", path, empty)
    assert (found.code, found.err.count("\n")) == (1, 1)


def test_options_are_tuned_first(run, data, tmp_path):
    path = tmp_path / "a.model"
    found = run("train", data / "train.tsv", "--model-type", "memory", "--tune", "--json", "-m", path)
    assert found.code == 0, found.err
    result = json.loads(found.out)
    assert set(result["tuned"]["options"]) == {"metric", "weights", "k", "voting"}
    assert result["seconds"]["tune"] > 0
    labeller = MemoryLabeller.load(path)
    chosen = result["tuned"]["options"]
    assert {"metric": labeller.distance, **{n: getattr(labeller, n) for n in list(chosen)[1:]}} == chosen


def test_options_of_a_crf_are_tuned(run, data, tmp_path):
    path = tmp_path / "a.model"
    found = run("train", data / "train.tsv", "--tune", "-m", path, "--max-iterations", 5)
    assert found.code == 0, found.err
    (line,) = [line for line in found.out.splitlines() if line.startswith("tuned")]
    assert "features" in line
    assert "of 36 settings" in line
    assert "tune " in found.out
    found = run("train", data / "train.tsv", "--tune", "-m", path, "--shard-tokens", 100)
    assert (found.code, "--tune compares settings" in found.err) == (2, True)
