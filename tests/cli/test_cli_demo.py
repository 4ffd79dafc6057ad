"""`conseq demo`: it runs, tells its story, and what it keeps can be used."""

from __future__ import annotations

import json

import pytest

HEADINGS = [
    "Learning from citations",
    "Reading new citations",
    "How good that is",
    "It says when it is not sure",
    "Tell it one label, and the rest follows",
    "Learning from addresses",
    "What to do next",
]


@pytest.fixture(scope="module", autouse=True)
def small():
    """Held-out data of a size for tests."""
    from conseq.cli import demo

    patch = pytest.MonkeyPatch()
    patch.setattr(demo, "HELD_OUT", 40)
    yield
    patch.undo()


def test_the_story_in_a_pipe(run, tmp_path):
    found = run("demo", "--size", 60, "--save", tmp_path / "kept")
    assert found.code == 0, found.err
    lines = found.out.splitlines()
    assert [line for line in lines if line in HEADINGS] == HEADINGS
    assert any(line.startswith("    author ") for line in lines)
    assert "\x1b" not in found.out
    kept = tmp_path / "kept"
    result = run("evaluate", kept / "citations.model", kept / "citations-test.tsv", "--json")
    assert json.loads(result.out)["span"]["f1"] > 0.5
    text = run("label", kept / "addresses.model", kept / "addresses.txt", "--text", "--format", "spans")
    assert text.code == 0


@pytest.mark.usefixtures("terminal")
def test_the_story_on_a_terminal(run):
    found = run("demo", "--size", 40, "--seed", 3)
    assert found.code == 0, found.err
    assert "\x1b[" in found.out
    places = [found.out.find(heading) for heading in HEADINGS if heading in found.out]
    assert places == sorted(places)
    assert len(places) >= 5
