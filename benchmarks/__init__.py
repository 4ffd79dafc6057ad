"""Races against other toolkits, run by `python -m benchmarks NAME`: a table name → Benchmark.

Each race runs both sides in one process, one after the other on the same data, and reports ratios.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks import (
    cold_start,
    crf,
    crf_plot,
    crf_tables,
    decode,
    dense,
    endurance,
    kills,
    limits,
    memory,
    presets,
    relations,
    soak,
    threads,
)
from experiments.common import markdown_table

Result = dict[str, Any]
Rows = list[list[str]]


def _nothing(result: Result) -> dict[str, Rows]:
    return {}


def _is_fine(result: Result) -> bool:
    return False


@dataclass(frozen=True)
class Benchmark:
    """`run(data=…, quick=…, say=…)` gives plain JSON values, `table` shows them as rows, the head first.

    `further` gives more tables by title. Where there are `sets`, `run` takes `sets=…` with some of them;
    `plot(result, path)` draws a picture. `options` are those that only it has, and `failed` tells a result
    with which the program must not end well.
    """

    run: Callable[..., Result]
    table: Callable[[Result], Rows]
    about: str
    further: Callable[[Result], dict[str, Rows]] = _nothing
    plot: Callable[[Result, str], None] | None = None
    sets: tuple[str, ...] = ()
    needs_data: bool = True
    options: tuple[str, ...] = ()
    failed: Callable[[Result], bool] = _is_fine

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
    "dense": Benchmark(
        dense.run,
        dense.table,
        "long sequences, many labels, hundreds of rules: how many answers are certified in 30 s",
        needs_data=False,
        options=("seed",),
    ),
    "endurance": Benchmark(
        endurance.run,
        endurance.table,
        "what a process holds after 20,000 and after 200,000 decodes",
        needs_data=False,
        failed=endurance.failed,
    ),
    "kills": Benchmark(
        kills.run,
        kills.table,
        "commands killed at random moments: the old file or the new one, nothing left lying about",
        kills.further,
        needs_data=False,
        options=("times", "seed"),
        failed=kills.failed,
    ),
    "limits": Benchmark(
        limits.run,
        limits.table,
        "limits asked and kept by each decoder on problems that are too hard: seconds, memory",
        sets=tuple(limits.PROBLEMS),
        needs_data=False,
        failed=limits.failed,
    ),
    "memory": Benchmark(
        memory.run, memory.table, "TiMBL and conseq on the same windows: instances per second, equal classes"
    ),
    "presets": Benchmark(
        presets.run, presets.table, "each preset on the public data it is for: F1, accuracy"
    ),
    "relations": Benchmark(
        relations.run,
        relations.table,
        "entities and relations decided together: conseq and an integer program for each sentence",
    ),
    "soak": Benchmark(
        soak.run,
        soak.table,
        "random problems against the truth, decoders against each other, damaged files: what goes wrong",
        soak.further,
        needs_data=False,
        options=("minutes", "seed", "part", "number"),
        failed=soak.failed,
    ),
    "threads": Benchmark(
        threads.run,
        threads.table,
        "one labeller in 16 threads and in forked children: answers that differ, threads that do not end",
        needs_data=False,
        options=("seconds", "times", "seed"),
        failed=threads.failed,
    ),
}

__all__ = ["BENCHMARKS", "Benchmark"]
