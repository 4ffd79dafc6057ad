"""`python -m benchmarks cold-start` with a program that only pretends to compile."""

from __future__ import annotations

import sys

import pytest

from benchmarks import BENCHMARKS, cold_start
from conseq.corpus import Corpus
from conseq.errors import ConseqError, DataError
from conseq.io import write

PRETEND = """
import os, sys, time
from pathlib import Path

cache, (command, *rest) = Path(os.environ["NUMBA_CACHE_DIR"]), sys.argv[1:]
cache.mkdir(exist_ok=True)
for name in ["viterbi", "gradient"] if command == "train" else ["viterbi"]:
    if not (cache / f"{name}.1.nbc").exists():
        (cache / f"{name}.1.nbc").touch()
        begun = time.process_time()
        while time.process_time() < begun + 0.3:
            pass
if command == "train":
    Path(rest[-1]).write_text(str(len(Path(rest[0]).read_text().split("\\n\\n"))))
elif not Path(rest[0]).exists():
    sys.exit("conseq: there is no model")
"""


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data" / "cora"
    folder.mkdir(parents=True)
    corpus = Corpus.from_sequences([["A", "title"]] * 60, [["author", "title"]] * 60)
    for split in ("train", "test"):
        write(corpus, folder / f"{split}.tsv", "columns")
    return tmp_path / "data"


@pytest.fixture
def conseq(tmp_path):
    program = tmp_path / "pretend.py"
    program.write_text(PRETEND)
    return sys.executable, program


def test_compiling_is_what_a_first_run_takes_longer(data, conseq):
    said: list[str] = []
    result = cold_start.run(data=data, say=said.append, conseq=conseq)
    rows = result["rows"]
    assert [(row["command"], row["cache"], row["functions"]) for row in rows] == [
        ("train", "empty", 2),
        ("label", "empty", 1),
        ("label", "of training", 0),
    ]
    assert rows[0]["compile_seconds"] > 0.45 > rows[1]["compile_seconds"] > 0.15
    assert rows[2]["compile_seconds"] < 0.1
    for row in rows[:2]:
        assert row["compile_seconds"] == row["first_seconds"] - row["again_seconds"]
    assert len(said) == 3
    table = BENCHMARKS["cold-start"].table(result)
    assert [line[:3] for line in table[1:]] == [
        ["train", "empty", "2"],
        ["label", "empty", "1"],
        ["label", "of training", "0"],
    ]


def test_a_quick_run_learns_from_fewer_sequences(data, tmp_path):
    few = cold_start._first(data / "cora" / "train.tsv", 40, tmp_path)
    assert few.read_text().strip().count("\n\n") == 39


def test_a_command_that_fails_is_one_sentence(conseq, tmp_path):
    with pytest.raises(
        ConseqError, match=r"label nothing failed \(conseq: there is no model\); run it by hand"
    ):
        cold_start.cpu_seconds([*conseq, "label", "nothing"], tmp_path / "cache")


def test_without_data_there_is_one_sentence(tmp_path):
    with pytest.raises(
        DataError, match=r"there is no train.tsv and test.tsv in .*cora; name the folder above"
    ):
        cold_start.run(data=tmp_path)
