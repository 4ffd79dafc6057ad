"""`python -m benchmarks`: arguments go in, the table or the JSON comes out."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import benchmarks
from experiments import measuring

ROOT = Path(__file__).parents[2]


@pytest.fixture
def race(monkeypatch):
    """A benchmark that tells what it was given."""

    def run(*, data, quick, say):
        say("running")
        return {"data": str(data), "quick": quick}

    def table(result):
        return [["what", "seconds"], ["it", "1.5"], ["peer", "12.25"]]

    found = benchmarks.Benchmark(run, table, "nothing real")
    monkeypatch.setitem(benchmarks.BENCHMARKS, "race", found)


@pytest.mark.usefixtures("race")
def test_the_table(run, tmp_path):
    found = run("race", "--data", tmp_path)
    assert found.out == "what  seconds\nit        1.5\npeer    12.25\n"
    assert found.err == "running\n"


@pytest.mark.usefixtures("race")
def test_json_and_the_data_folder_of_the_environment(run, tmp_path, monkeypatch):
    monkeypatch.setenv("CONSEQ_DATA", str(tmp_path))
    found = run("race", "--quick", "--json")
    assert json.loads(found.out) == {"data": str(tmp_path), "quick": True}


@pytest.mark.usefixtures("race")
def test_without_a_name_they_are_listed_with_how_to_run_one(run):
    found = run()
    lines = found.out.splitlines()
    assert found.code == 0
    assert [line.split()[0] for line in lines[1:-2]] == list(benchmarks.BENCHMARKS)
    assert lines[-3].split()[1:] == ["nothing", "real"]
    assert "python -m benchmarks NAME" in lines[-1]


def test_help_has_examples_and_help_for_every_option(run):
    found = run("--help")
    assert found.code == 0
    assert "Usage: python -m benchmarks [NAME] [OPTIONS]" in found.out
    assert "Examples:\n    python -m benchmarks\n" in found.out
    options = [line for line in found.out.splitlines() if line.startswith("  --")]
    assert [line.split()[0] for line in options] == [
        "--sets", "--minutes", "--seconds", "--times", "--seed", "--part", "--number", "--data", "--quick",
        "--markdown", "--plot", "--help", "--json",
    ]  # fmt: skip
    assert all(len(line.split()) > 2 for line in options)


# ── sets, tables in a file, pictures ────────────────────────────────────────────────────────────


@pytest.fixture
def full(monkeypatch):
    """A benchmark with all that one can have."""

    def run(*, data, quick, say, sets=("a", "b")):
        return {"sets": list(sets)}

    def table(result):
        return [["set"], *([name] for name in result["sets"])]

    def further(result):
        return {"more of it": [["what", "seconds"], ["it", "1.5"]]}

    def plot(result, path):
        with open(path, "w") as file:
            file.write(" ".join(result["sets"]))

    found = benchmarks.Benchmark(run, table, "nothing real", further, plot, ("a", "b"))
    monkeypatch.setitem(benchmarks.BENCHMARKS, "full", found)
    monkeypatch.setattr(measuring, "find_spec", lambda name: name)


@pytest.mark.usefixtures("full")
def test_further_tables_have_titles(run, tmp_path):
    found = run("full", "--data", tmp_path)
    assert found.out == "set\na\nb\n\nmore of it\nwhat  seconds\nit        1.5\n"


@pytest.mark.usefixtures("full")
def test_chosen_sets_tables_and_picture_go_where_they_are_wanted(run, tmp_path):
    tables, picture = tmp_path / "tables.md", tmp_path / "race.png"
    options = ["--sets", "b", "--markdown", tables, "--plot", picture]
    found = run("full", "--data", tmp_path, "--json", *options)
    assert json.loads(found.out) == {"sets": ["b"]}
    assert picture.read_text() == "b"
    assert tables.read_text() == (
        "| set |\n| --- |\n| b |\n\nMore of it:\n\n| what | seconds |\n| --- | --- |\n| it | 1.5 |\n"
    )


@pytest.mark.usefixtures("full")
def test_without_matplotlib_the_race_goes_on_without_a_picture(run, tmp_path, monkeypatch):
    monkeypatch.setattr(measuring, "find_spec", lambda name: None)
    found = run("full", "--data", tmp_path, "--plot", tmp_path / "race.png")
    assert found.code == 0
    assert found.out.startswith("set\na\nb\n")
    assert found.err.count("\n") == 1
    assert "there will be no plot, which needs matplotlib" in found.err
    assert not (tmp_path / "race.png").exists()


@pytest.mark.usefixtures("race", "full")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["full", "--sets", "a,c"], "full has no set 'c'; there are: a, b"),
        (["full", "--sets", ","], "--sets is empty; there are: a, b"),
        (["race", "--sets", "a"], "race takes all data sets that are there; leave --sets out"),
        (["speed-of-light"], "there is no benchmark 'speed-of-light'; there are: cold-start, crf, "),
        (["race", "--plot", "race.png"], "race has no picture; leave --plot out"),
        (["full", "--plot", "no/where/race.png"], "there is no directory no/where for --plot"),
        (["full", "--markdown", "no/where/race.md"], "there is no directory no/where for --markdown"),
    ],
)
def test_misuse_is_a_sentence_before_the_run(run, tmp_path, arguments, says):
    found = run(*arguments, "--data", tmp_path)
    assert found.code == 2
    assert found.err.startswith(f"conseq: {says}")
    assert found.err.count("\n") == 1
    assert found.out == ""


def test_an_unknown_option_is_a_sentence(run):
    found = run("crf", "--fast")
    assert found.code == 2
    assert found.err.startswith("conseq: No such option: --fast")
    assert found.err.endswith("; see python -m benchmarks --help\n")
    assert found.err.count("\n") == 1
    assert found.out == ""


def test_a_folder_that_is_not_there_is_a_sentence(run, tmp_path, monkeypatch):
    found = run("crf", "--data", tmp_path / "absent")
    assert found.code == 1
    assert found.err.startswith("conseq: ")
    assert found.err.count("\n") == 1
    assert "--data or $CONSEQ_DATA" in found.err
    monkeypatch.setenv("CONSEQ_DATA", str(tmp_path / "nowhere"))
    assert "nowhere" in run("crf").err


def test_as_a_process_it_exits_as_it_says(tmp_path):
    """A failure must not pass for success; progress and errors stay off standard output."""
    command = [sys.executable, "-m", "benchmarks", "presets", "--json", "--data", str(tmp_path)]
    found = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert found.returncode == 1
    assert found.stdout == ""
    assert "there is none of conll2000" in found.stderr
