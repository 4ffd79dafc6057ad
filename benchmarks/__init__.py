"""Races against other toolkits, run by `python -m benchmarks NAME`: a table name → Benchmark.

Each race runs both sides in one process, one after the other on the same data, and reports ratios.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks import cold_start, crf, crf_plot, crf_tables, decode, memory, presets
from experiments.common import markdown_table

Result = dict[str, Any]
Rows = list[list[str]]


def _nothing(result: Result) -> dict[str, Rows]:
    return {}


@dataclass(frozen=True)
class Benchmark:
    """`run(data=…, quick=…, say=…)` gives plain JSON values, `table` shows them as rows, the head first.

    `further` gives more tables by title. Where there are `sets`, `run` takes `sets=…` with some of them;
    `plot(result, path)` draws a picture.
    """

    run: Callable[..., Result]
    table: Callable[[Result], Rows]
    about: str
    further: Callable[[Result], dict[str, Rows]] = _nothing
    plot: Callable[[Result, str], None] | None = None
    sets: tuple[str, ...] = ()

    def markdown(self, result: Result) -> str:
        """All tables as text in Markdown."""
        parts = [markdown_table(self.table(result))]
        for title, rows in self.further(result).items():
            parts += [title[:1].upper() + title[1:] + ":", markdown_table(rows)]
        return "\n\n".join(parts) + "\n"


BENCHMARKS: dict[str, Benchmark] = {
    "cold-start": Benchmark(
        cold_start.run, cold_start.table, "what the first run of a command spends on compiling: CPU seconds"
    ),
    "crf": Benchmark(
        crf.run,
        crf_tables.table,
        "CRFsuite and conseq on the same attributes: features, training, labelling, memory",
        crf_tables.further,
        crf_plot.plot,
        crf.SETS,
    ),
    "decode": Benchmark(
        decode.run, decode.table, "decoding under rules against Viterbi and integer programs: time, accuracy"
    ),
    "memory": Benchmark(
        memory.run, memory.table, "TiMBL and conseq on the same windows: instances per second, equal classes"
    ),
    "presets": Benchmark(
        presets.run, presets.table, "each preset on the public data it is for: F1, accuracy"
    ),
}

__all__ = ["BENCHMARKS", "Benchmark"]
