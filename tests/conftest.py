"""What the tests of the three programs share: conseq, `python -m experiments`, `python -m benchmarks`."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Outcome:
    """The exit code of a program and what it wrote."""

    code: int
    out: str
    err: str


Main = Callable[[Sequence[str]], int]


@pytest.fixture
def outcome(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Outcome]:
    """Run a program in this process: outcome(main, "label", model, "-", stdin=b"…") ─→ Outcome."""

    def go(main: Main, *arguments: object, stdin: bytes = b"") -> Outcome:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return go
