"""`python -m benchmarks endurance`: what it measures, and when it fails."""

from __future__ import annotations

import subprocess
import sys

from benchmarks import BENCHMARKS, endurance


def test_a_few_decodes_give_a_row_for_each_mark(monkeypatch) -> None:
    monkeypatch.setattr(endurance, "QUICK", (4, 20))
    said: list[str] = []
    result = BENCHMARKS["endurance"].run(quick=True, say=said.append)
    assert [row["decodes"] for row in result["rows"]] == [4, 20]
    assert len(said) == 2
    assert len(BENCHMARKS["endurance"].table(result)) == 4


HOLD = """
import numpy as np
from benchmarks.endurance import resident_bytes
before = resident_bytes()
held = np.ones(10_000_000)
print((resident_bytes() - before) / held.nbytes)
"""


def test_what_is_held_is_counted() -> None:
    """In a process of its own, which has nothing else to let go."""
    done = subprocess.run([sys.executable, "-c", HOLD], capture_output=True, text=True, check=True)
    assert 0.9 < float(done.stdout) < 1.5


def test_growth_beyond_a_twentieth_fails() -> None:
    assert endurance.failed({"growth": 0.06, "quick": False})
    assert not endurance.failed({"growth": 0.04, "quick": False})
