"""What the README tells a newcomer to type works."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_readme_python_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    found = blocks("python")
    assert found, "the README has lost its Python example"
    for block in found:
        exec(compile(block, "README.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert 0.5 < float(printed[0]) <= 1.0
    assert len(printed) > 2
    assert (tmp_path / "citations.conseq").is_file()


def test_readme_names_the_two_commands() -> None:
    assert "make demo" in README
    assert "make test" in README
