"""What a person sees while a model is trained: one line that changes, on a terminal only.

phases, Progress after each iteration ─→ "⠹ iteration 37 · objective 12,891.3 · dev F1 93.12 % · 12.3 s"
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from conseq.cli.compiling import NOTICE, Compilation, heard
from conseq.cli.show import percent

if TYPE_CHECKING:
    from conseq.mining import Stage
    from conseq.models.crf import Progress

TRAINING = "training"
METRIC = "F1"


class TrainingLine:
    """The line; rich asks for it a few times a second."""

    def __init__(self, max_iterations: int | None, compilation: Compilation, round: str) -> None:
        self.max_iterations, self.compilation, self.round = max_iterations, compilation, round
        self.begun = time.monotonic()
        self.phase = "reading"
        self.latest: Progress | None = None
        self.best: Progress | None = None

    def enter(self, phase: str) -> None:
        """Say what is being done from now on."""
        self.phase, self.latest = phase, None

    def stage(self, stage: Stage) -> None:
        """Say how far learning rules is."""
        parts = [stage.name]
        if stage.done is not None:
            parts.append(f"pass {stage.done.number} of {stage.done.of}")
            if stage.done.score is not None:
                parts.append(f"{METRIC} {percent(stage.done.score)} % on the other half")
        self.enter(" · ".join(parts))

    def watch(self, progress: Progress) -> None:
        """Take note of an iteration."""
        self.phase = self.phase if self.phase.startswith(TRAINING) else TRAINING
        self.latest = progress
        if progress.development is not None and (
            self.best is None or progress.development > (self.best.development or 0.0)
        ):
            self.best = progress

    def text(self) -> str:
        """What stands on the line now."""
        parts = [NOTICE if self.compilation.noticeable else self.phase]
        if self.latest is not None:
            of = f" of {self.max_iterations}" if self.max_iterations else ""
            parts += [f"{self.round} {self.latest.iteration}{of}", f"objective {self.latest.objective:,.1f}"]
            parts += self._development(self.latest)
        return " · ".join([*parts, f"{time.monotonic() - self.begun:.1f} s"])

    def _development(self, latest: Progress) -> list[str]:
        if latest.development is None or self.best is None:
            return []
        best = percent(self.best.development or 0.0)
        place = "" if self.best is latest else f" (best {best} % at {self.best.iteration})"
        return [f"dev {METRIC} {percent(latest.development)} %{place}"]

    def __rich__(self) -> Any:
        from rich.text import Text

        return Text(self.text(), no_wrap=True, overflow="ellipsis")


@contextmanager
def training_line(max_iterations: int | None = None, round: str = "iteration") -> Iterator[TrainingLine]:
    """A line on standard error while the block runs; nothing where that is not a terminal."""
    with heard() as compilation:
        line = TrainingLine(max_iterations, compilation, round)
        if not sys.stderr.isatty():
            yield line
            return
        from rich.console import Console
        from rich.live import Live
        from rich.spinner import Spinner

        spinner = Spinner("dots", text=line)
        with Live(spinner, console=Console(stderr=True), transient=True, refresh_per_second=8):
            yield line
