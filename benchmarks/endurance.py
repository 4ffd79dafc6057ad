"""Whether memory stays what it is: what a process holds after some decodes, and after ten times as many.

random labels, rules, scores, words ─→ decode, predict ─→ … ─→ resident bytes at each mark
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import conseq
from benchmarks.random_rules import random_rules
from conseq.decoders.base import Limits
from conseq.schema import Schema
from experiments.machine import describe

MARKS, QUICK = (20_000, 200_000), (500, 5000)
MOST_GROWTH = 0.05
PENALTIES = (0.5, 1.0, 2.0, 3.7)
WORDS = ("Ann", "Lee", ",", "On", "trees", "1999", "pp.", "ed.")
TRAINING = (
    (
        ["Ann", "Lee", ",", "On", "trees", ",", "1999"],
        ["author", "author", "O", "title", "title", "O", "date"],
    ),
    (["B.", "Jones", ",", "Birds", "2001"], ["author", "author", "O", "title", "date"]),
)
LABELLER_RULES = "at most 1 segment of author  hard\nif title then date  penalty 2"

Say = Callable[[str], None]
Result = dict[str, Any]
Rng = np.random.Generator


def run(*, data: Path | None = None, quick: bool = False, say: Say = print) -> Result:
    """Decode and predict in turns, and look at the memory at the marks."""
    rng = np.random.default_rng(0)
    labeller = conseq.SequenceLabeller(constraints=LABELLER_RULES, n_jobs=1, max_iterations=20)
    labeller.fit([x for x, _ in TRAINING], [y for _, y in TRAINING])
    rows, done = [], 0
    for mark in QUICK if quick else MARKS:
        for i in range(done, mark):
            if i % 2:
                labeller.predict([_words(rng) for _ in range(int(rng.integers(1, 4)))])
            else:
                _decode(rng)
        done = mark
        rows.append({"decodes": mark, "megabytes": resident_bytes() / 1e6})
        say(f"after {mark:,} decodes: {rows[-1]['megabytes']:.1f} MB")
    growth = rows[-1]["megabytes"] / rows[0]["megabytes"] - 1
    return {"machine": describe(), "quick": quick, "rows": rows, "growth": growth}


def table(result: Result) -> list[list[str]]:
    rows = [[f"{row['decodes']:,}", f"{row['megabytes']:.1f}"] for row in result["rows"]]
    return [["decodes", "MB held"], *rows, ["growth", f"{result['growth']:+.1%}"]]


def failed(result: Result) -> bool:
    """Whether a process that goes on would need more and more."""
    return bool(result["growth"] > MOST_GROWTH) and not result["quick"]


def _words(rng: Rng) -> list[str]:
    """Up to eight words, some of which were never seen before."""
    known = rng.choice(WORDS, int(rng.integers(1, 9))).tolist()
    return [f"{word}{rng.integers(1 << 40)}" if rng.random() < 0.2 else word for word in known]


def _decode(rng: Rng) -> None:
    """A problem that is drawn, its labels often those of no problem before."""
    suffix = "" if rng.random() < 0.5 else str(rng.integers(1 << 40))
    schema = Schema(["O", *(f"{name}{suffix}" for name in "ABCDE"[: int(rng.integers(1, 6))])], "plain")
    words = _words(rng)
    conseq.decode(
        rng.normal(0, 2, (len(words), len(schema))),
        labels=schema.labels,
        constraints=random_rules(rng, schema, int(rng.integers(1, 5)), PENALTIES),
        tokens=words,
        limits=Limits(seconds=1.0),
    )


def resident_bytes() -> int:
    """What this process holds in memory now; where that cannot be known, the most it ever held."""
    gc.collect()
    status = Path("/proc/self/statm")
    if status.exists():
        return int(status.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    import resource  # not there on Windows

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
