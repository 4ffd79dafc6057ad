"""Races against other toolkits, run by `conseq bench NAME`: a table name → Benchmark.

Each race runs both sides in one process, one after the other on the same data, and reports ratios.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from conseq.benchmarks import crf, decode, presets


@dataclass(frozen=True)
class Benchmark:
    """`run(data=…, quick=…, say=…)` gives plain JSON values, `table` shows them as rows, the head first."""

    run: Callable[..., dict[str, Any]]
    table: Callable[[dict[str, Any]], list[list[str]]]
    about: str


BENCHMARKS: dict[str, Benchmark] = {
    "crf": Benchmark(crf.run, crf.table, "CRFsuite and conseq on conll2000: features, training, labelling"),
    "decode": Benchmark(
        decode.run, decode.table, "decoding under rules against Viterbi and integer programs: time, accuracy"
    ),
    "presets": Benchmark(
        presets.run, presets.table, "each preset on the public data it is for: F1, accuracy"
    ),
}

__all__ = ["BENCHMARKS", "Benchmark"]
