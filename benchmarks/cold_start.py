"""What a first use waits for: the processor seconds that commands spend on compiling.

    conseq train TRAIN --constraints learn --model M   with an empty cache, then again
    conseq label M TEST                                the same, and with what training left in its cache
        ─→ seconds of the first run − seconds of the second = compiling

Every command is a process of its own and counts in user and system time, which other work on the machine
disturbs less than the clock. The caches are numba's, in folders that are removed at the end.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.presets import file_of
from conseq.errors import ConseqError, DataError
from conseq.io import read, write
from experiments.machine import describe

DATA = "cora"
CONSEQ = (sys.executable, "-m", "conseq")
QUICK = 40
"""Training sequences of a quick run; what is compiled is the same."""
COMPILED = "*.nbc"
"""Files of a cache: one for each function and set of types."""

Say = Callable[[str], None]
Result = dict[str, Any]


def run(
    *, data: Path, quick: bool = False, say: Say = print, conseq: Sequence[str | Path] = CONSEQ
) -> Result:
    """Run the commands; `quick` learns from the first 40 training sequences."""
    folder = Path(data) / DATA
    train, test = (file_of(folder, split) for split in ("train", "test"))
    if train is None or test is None:
        raise DataError(f"there is no train.tsv and test.tsv in {folder}; name the folder above with --data")
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        model = place / "model.conseq"
        training = ("train", _first(train, QUICK, place) if quick else train)
        learning = (*conseq, *training, "--constraints", "learn", "--model", model)
        labelling = (*conseq, "label", model, test)
        steps = [
            ("train", "empty", learning, place / "one"),
            ("label", "empty", labelling, place / "two"),
            ("label", "of training", labelling, place / "one"),
        ]
        rows = []
        for name, cache, command, where in steps:
            rows.append({"command": name, "cache": cache, **measured(command, where)})
            say(f"{name}, cache {cache}: {rows[-1]['compile_seconds']:.1f} s of compiling")
    return {"machine": describe(), "quick": quick, "rows": rows}


def measured(command: Sequence[str | Path], cache: Path) -> Result:
    """Processor seconds of a command, then of the same once more, and what it compiled into the cache."""
    before = _compiled(cache)
    first = cpu_seconds(command, cache)
    functions = _compiled(cache) - before
    again = cpu_seconds(command, cache)
    return {
        "first_seconds": first,
        "again_seconds": again,
        "compile_seconds": max(first - again, 0.0),
        "functions": functions,
    }


def cpu_seconds(command: Sequence[str | Path], cache: Path) -> float:
    """User and system time of a command, of all its threads and processes."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    with tempfile.TemporaryFile() as messages:
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=messages)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            messages.seek(0)
            last = messages.read().decode(errors="replace").strip().splitlines()[-1:]
            raise ConseqError(f"{' '.join(map(str, command))} failed ({' '.join(last)}); run it by hand")
    return used.ru_utime + used.ru_stime


def _compiled(cache: Path) -> int:
    return sum(1 for _ in cache.rglob(COMPILED))


def _first(path: Path, count: int, place: Path) -> Path:
    """A file with the first sequences of another."""
    few = place / "train.tsv"
    write(read(path, "columns").select(range(count)), few, "columns")
    return few


def table(result: Result) -> list[list[str]]:
    """One row per command and cache, the head first."""
    heads = [
        "command",
        "cache",
        "functions compiled",
        "first run (CPU s)",
        "again (CPU s)",
        "compiling (CPU s)",
    ]
    rows = [heads]
    for row in result["rows"]:
        seconds = (row[f"{name}_seconds"] for name in ("first", "again", "compile"))
        rows.append([row["command"], row["cache"], str(row["functions"]), *(f"{s:.1f}" for s in seconds)])
    return rows
