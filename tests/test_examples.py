"""The examples run as scripts and show what they promise."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def output(name: str) -> list[str]:
    """What a script prints, lines without margins; a warning is an error."""
    command = [sys.executable, "-W", "error", str(EXAMPLES / name)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return [line.strip() for line in done.stdout.splitlines()]


def test_rules_mend_a_scikit_learn_classifier():
    lines = output("sklearn_classifier.py")
    alone, ruled = (float(line.rsplit(" ", 1)[-1]) for line in lines[:2])
    assert 0.7 < alone < ruled
    assert "proved optimal: 100 of 100" in lines


def test_rules_mend_the_logits_of_a_transformer():
    lines = output("transformer_logits.py")
    rows = [line.split() for line in lines[1:9]]
    assert [row[1] for row in rows] == ["B-PER", "I-PER", "O", "B-PER", "I-PER", "O", "I-PER", "I-LOC"]
    assert [row[2] for row in rows] == ["O", "B-PER", "O", "B-PER", "I-PER", "O", "B-LOC", "I-LOC"]
    assert lines[9].endswith("OPTIMAL")
    assert lines[10:] == ["broken: at most 1 segment of PER, 1 time(s), at a cost of 0.5"]


def test_trigrams_of_labels_help_a_support_vector_machine():
    lines = output("class_trigrams.py")
    single, voting, inference, most = (float(line.split(" % ")[0].rsplit(" ", 1)[-1]) for line in lines)
    assert single < inference < most
    assert voting < inference


def test_each_example_is_tested_and_short():
    tests = Path(__file__).read_text(encoding="utf-8")
    found = sorted(EXAMPLES.glob("*.py"))
    assert len(found) >= 2
    for path in found:
        assert f'output("{path.name}")' in tests, f"{path.name} has no test"
        assert len(path.read_text(encoding="utf-8").splitlines()) < 60, f"{path.name} is long for an example"
