"""`python -m experiments`: arguments go in; the table, the JSON or the Markdown comes out."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import experiments

ROOT = Path(__file__).parents[2]


@pytest.fixture
def trial(monkeypatch):
    """An experiment that tells what it was given."""

    def run(*, data, split, quick, say):
        say("running")
        return {"data": str(data), "split": split, "quick": quick}

    def table(result):
        return [["what", "paper", "ours"], ["it", "93.99", "95.81"], [result["split"], "–", "9.00"]]

    def markdown(result):
        return f"# {result['split']}\n"

    found = experiments.Experiment(run, table, markdown, "nothing real")
    monkeypatch.setitem(experiments.EXPERIMENTS, "trial", found)


@pytest.mark.usefixtures("trial")
def test_the_table_on_standard_output_and_progress_on_standard_error(run, tmp_path):
    found = run("trial", "--data", tmp_path)
    assert found.code == 0
    assert found.out == "what  paper   ours\nit    93.99  95.81\ndev       –   9.00\n"
    assert found.err == "running\n"


@pytest.mark.usefixtures("trial")
def test_json_is_one_object_and_the_data_folder_comes_from_the_environment(run, tmp_path, monkeypatch):
    monkeypatch.setenv("CONSEQ_DATA", str(tmp_path))
    found = run("trial", "--split", "test", "--quick", "--json")
    assert json.loads(found.out) == {"data": str(tmp_path), "split": "test", "quick": True}


@pytest.mark.usefixtures("trial")
def test_markdown_goes_to_a_file_beside_the_table(run, tmp_path):
    target = tmp_path / "tables.md"
    found = run("trial", "--data", tmp_path, "--markdown", target)
    assert target.read_text() == "# dev\n"
    assert found.out.startswith("what")


@pytest.mark.usefixtures("trial")
def test_a_missing_directory_for_the_markdown_is_told_before_the_run(run, tmp_path):
    found = run("trial", "--data", tmp_path, "--markdown", tmp_path / "none" / "tables.md")
    assert found.code == 2
    assert "create it first" in found.err
    assert "running" not in found.err


@pytest.mark.usefixtures("trial")
def test_a_picture_that_there_is_not_is_told_before_the_run(run, tmp_path):
    found = run("trial", "--data", tmp_path, "--plot", tmp_path / "figure.png")
    assert found.code == 2
    assert "trial has no picture; leave --plot out" in found.err
    assert "running" not in found.err


def test_a_picture_is_drawn_of_the_result(run, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    shown = []
    found = experiments.Experiment(
        lambda **given: {"split": given["split"]},
        lambda result: [["what"], ["it"]],
        lambda result: "",
        "nothing real",
        lambda result, path: shown.append((result, path)),
    )
    monkeypatch.setitem(experiments.EXPERIMENTS, "trial", found)
    target = tmp_path / "figure.png"
    assert run("trial", "--data", tmp_path, "--plot", target).code == 0
    assert shown == [({"split": "dev"}, str(target))]


@pytest.mark.usefixtures("trial")
def test_without_a_name_they_are_listed_with_how_to_run_one(run):
    found = run()
    lines = found.out.splitlines()
    assert found.code == 0
    assert [line.split()[0] for line in lines[1:-2]] == list(experiments.EXPERIMENTS)
    assert lines[-3].split()[1:] == ["nothing", "real"]
    assert "python -m experiments NAME" in lines[-1]


def test_help_has_examples_and_help_for_every_option(run):
    found = run("--help")
    assert found.code == 0
    assert "Usage: python -m experiments [NAME] [OPTIONS]" in found.out
    assert "Examples:\n    python -m experiments\n" in found.out
    options = [line for line in found.out.splitlines() if line.startswith("  --")]
    assert [line.split()[0] for line in options] == [
        "--split", "--data", "--quick", "--markdown", "--plot", "--help", "--json",
    ]  # fmt: skip
    assert all(len(line.split()) > 2 for line in options)


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (["magic"], "there is no experiment 'magic'; there are: soft-ilp"),
        (["soft-ilp", "--split", "train"], "--split"),
    ],
)
def test_misuse_is_a_sentence_and_code_2(run, arguments, wrong):
    found = run(*arguments)
    assert found.code == 2
    assert wrong in found.err
    assert found.out == ""


def test_a_folder_that_is_not_there_is_a_sentence(run, tmp_path):
    found = run("soft-ilp", "--data", tmp_path / "none")
    assert found.code == 1
    assert "there is no folder of data sets here" in found.err


def test_a_folder_without_the_data_sets_is_a_sentence(run, tmp_path):
    found = run("soft-ilp", "--data", tmp_path)
    assert found.code == 1
    assert "there is none of us50, cora, conll2003" in found.err


def test_as_a_process_it_exits_as_it_says(tmp_path):
    """A failure must not pass for success; progress and errors stay off standard output."""
    command = [sys.executable, "-m", "experiments", "soft-dd", "--json", "--data", str(tmp_path)]
    found = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert found.returncode == 1
    assert found.stdout == ""
    assert "there is no train.tsv here" in found.stderr
