"""`conseq bench`: arguments go in, the table or the JSON comes out."""

from __future__ import annotations

import json

import pytest

from conseq import benchmarks
from conseq.cli import measuring


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
    found = run("bench", "race", "--data", tmp_path)
    assert found.out == "what  seconds\nit        1.5\npeer    12.25\n"
    assert found.err == "running\n"


@pytest.mark.usefixtures("race")
def test_json_and_the_data_folder_of_the_environment(run, tmp_path, monkeypatch):
    monkeypatch.setenv("CONSEQ_DATA", str(tmp_path))
    found = run("bench", "race", "--quick", "--json")
    assert json.loads(found.out) == {"data": str(tmp_path), "quick": True}


@pytest.mark.usefixtures("race")
def test_without_a_name_they_are_listed(run):
    lines = run("bench").out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(benchmarks.BENCHMARKS)
    assert lines[-1].split()[1:] == ["nothing", "real"]


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
    found = run("bench", "full", "--data", tmp_path)
    assert found.out == "set\na\nb\n\nmore of it\nwhat  seconds\nit        1.5\n"


@pytest.mark.usefixtures("full")
def test_chosen_sets_tables_and_picture_go_where_they_are_wanted(run, tmp_path):
    tables, picture = tmp_path / "tables.md", tmp_path / "race.png"
    options = ["--sets", "b", "--markdown", tables, "--plot", picture]
    found = run("bench", "full", "--data", tmp_path, "--json", *options)
    assert json.loads(found.out) == {"sets": ["b"]}
    assert picture.read_text() == "b"
    assert tables.read_text() == (
        "| set |\n| --- |\n| b |\n\nMore of it:\n\n| what | seconds |\n| --- | --- |\n| it | 1.5 |\n"
    )


@pytest.mark.usefixtures("full")
def test_without_matplotlib_the_race_goes_on_without_a_picture(run, tmp_path, monkeypatch):
    monkeypatch.setattr(measuring, "find_spec", lambda name: None)
    found = run("bench", "full", "--data", tmp_path, "--plot", tmp_path / "race.png")
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
        (["race", "--plot", "race.png"], "race has no picture; leave --plot out"),
        (["full", "--plot", "no/where/race.png"], "there is no directory no/where for --plot"),
        (["full", "--markdown", "no/where/race.md"], "there is no directory no/where for --markdown"),
    ],
)
def test_misuse_is_a_sentence_before_the_run(run, tmp_path, arguments, says):
    found = run("bench", *arguments, "--data", tmp_path)
    assert found.code == 2
    assert found.err.startswith(f"conseq: {says}")
    assert found.err.count("\n") == 1
    assert found.out == ""
