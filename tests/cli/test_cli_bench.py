"""`conseq bench`: arguments go in, the table or the JSON comes out."""

from __future__ import annotations

import json

import pytest

from conseq import benchmarks


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
