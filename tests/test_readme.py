"""What the README and the guide tell a newcomer to type works."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conseq import Schema, SequenceLabeller
from conseq.constraints.language import parse_constraints
from conseq.datasets import citations
from conseq.features import parse_templates
from conseq.features.sources import COMPUTED, DERIVED

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
GUIDE = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


def test_readme_python_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    found = blocks(README, "python")
    assert found, "the README has lost its Python example"
    for block in found:
        exec(compile(block, "README.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert 0.5 < float(printed[0]) <= 1.0
    assert len(printed) > 2
    assert (tmp_path / "citations.conseq").is_file()


def test_readme_rules_read_and_hold_their_names() -> None:
    """The rules that the README shows fit the labels of the data that it trains on."""
    written = [block for block in blocks(README, "") if "penalty" in block and "conseq " not in block]
    assert written, "the README has lost its rule file"
    schema = Schema.infer(citations(50, seed=0).full_labels().vocabulary)
    for block in written:
        assert len(parse_constraints(block, schema=schema)) > 2


def test_guide_python_runs() -> None:
    X, y = [["Ann", "sleeps"]], [["B-PER", "O"]]
    labeller = SequenceLabeller("ner").fit(X, y)
    trigrams, methods = blocks(GUIDE, "python")
    names = {"train": citations(60, seed=0), "test": citations(5, seed=1)}
    exec(trigrams, names)
    assert len(names["labels"]) == names["test"].n_tokens
    for line in methods.splitlines():
        assert eval(line, {"labeller": labeller, "X": X})


def test_guide_names_every_attribute() -> None:
    table = "\n".join(line for line in GUIDE.splitlines() if line.startswith("| `"))
    for name in {*DERIVED, *COMPUTED} - {"value"}:
        assert re.search(rf"`{name}[(`]", table), f"the guide's table lacks {name}"


def test_guide_templates_parse() -> None:
    written = re.findall(r"`([^`]*\[[-+.\d]+\][^`]*)`", GUIDE)
    assert len(written) > 4
    assert parse_templates(written)


def test_readme_names_the_two_commands() -> None:
    assert "make demo" in README
    assert "make test" in README
