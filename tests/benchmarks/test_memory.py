"""`python -m benchmarks memory` on small made-up data: windows, classes, and what is reported."""

from __future__ import annotations

import json
import shutil

import pytest

from benchmarks import BENCHMARKS, memory
from benchmarks.__main__ import main
from conseq.corpus import Corpus
from conseq.errors import ConseqError, DataError
from conseq.io import write

TOKENS, LABELS = [["a", "b", "c"], ["d"]], [["A", "B", "C"], ["D"]]


def corpus() -> Corpus:
    return Corpus.from_sequences(TOKENS, LABELS)


def test_windows_end_at_the_ends_of_sequences():
    rows = memory.rows_of(corpus(), ["word"], reach=2)
    assert rows == [
        ["_", "_", "a", "b", "c"],
        ["_", "a", "b", "c", "_"],
        ["a", "b", "c", "_", "_"],
        ["_", "_", "d", "_", "_"],
    ]


def test_windows_of_two_columns_stand_side_by_side():
    given = Corpus.from_columns({"word": ["a", "b"], "pos": ["X", "Y"]}, [2])
    assert memory.rows_of(given, ["word", "pos"], reach=1) == [list("_ab_XY"), list("ab_XY_")]


def test_classes_are_labels_or_trigrams_of_them():
    assert memory.single_classes(corpus()) == ["A", "B", "C", "D"]
    assert memory.trigram_classes(corpus()) == ["_/A/B", "A/B/C", "B/C/_", "_/D/_"]


def test_a_sample_is_spread_over_the_test_windows():
    many = Corpus.from_sequences([[f"w{i}"] for i in range(100)], [["A"]] * 100)
    race = memory.Race.of(many, many, memory.Task((), ("word",)), memory.single_classes, 10)
    assert [row[3] for row in race.queries] == [f"w{i}" for i in range(0, 100, 10)]
    assert len(race.gold) == 10


def test_without_timbl_there_is_one_sentence(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConseqError, match="timbl is not installed; install it with: apt install timbl"):
        memory.run(data=tmp_path)


needs_timbl = pytest.mark.skipif(shutil.which("timbl") is None, reason="timbl is not installed")


@needs_timbl
def test_without_data_there_is_one_sentence(tmp_path):
    with pytest.raises(DataError, match="there is none of nettalk, conll2000"):
        memory.run(data=tmp_path)


@needs_timbl
def test_both_sides_are_raced_and_reported(tmp_path, capsys):
    folder = tmp_path / "nettalk"
    folder.mkdir()
    text = "catacttact" * 20
    columns = {"letter": list(text), "stress": [">"] * len(text)}
    made = Corpus.from_columns(columns, [3, 3, 4] * 20, list(text.upper()))
    for split in ("train", "test"):
        write(made, folder / f"{split}.tsv", "columns")
    markdown = tmp_path / "race.md"
    options = ["--quick", "--json", "--data", str(tmp_path), "--markdown", str(markdown)]
    assert main(["memory", *options]) == 0
    result = json.loads(capsys.readouterr().out)
    assert [(row["classes"], row["metric"]) for row in result["rows"]] == [
        ("single", "overlap"), ("single", "mvdm"), ("trigram", "overlap"), ("trigram", "mvdm"),
    ]  # fmt: skip
    for row in result["rows"]:
        assert row["equal_share"] == row["equal_shares"]["1"] == row["accuracy"] == 1.0
        assert row["equal_shares"].keys() == {"1", "3", "5"}
        assert row["ratios"].keys() == row["conseq_per_second"].keys() == {"1", "2"}
        ratio = row["conseq_per_second"]["2"] / row["timbl_per_second"]
        assert row["ratios"]["2"] == pytest.approx(ratio)
    assert len(markdown.read_text(encoding="utf-8").splitlines()) == 2 + len(result["rows"])
    assert len(BENCHMARKS["memory"].table(result)) == 1 + len(result["rows"])
