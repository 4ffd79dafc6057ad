"""The program `python -m benchmarks`, run in this process."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from benchmarks.__main__ import main


@pytest.fixture
def run(outcome: Callable) -> Callable:
    """run("NAME", "--json") ─→ exit code, standard output, standard error."""
    return partial(outcome, main)
