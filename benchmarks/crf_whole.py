"""Whole training processes of both toolkits: read columns, make features, train, write the model.

    corpus ─→ train.tsv ─→ python -m conseq train …       ┐
                        └→ python crf_user.py …           ├─→ wall seconds and peak memory of each process

conseq is told CRF++'s chunking template, so that it minimises what CRFsuite does; start-up is included.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import crf_user
from conseq.corpus import Corpus
from conseq.errors import ConseqError
from conseq.io import write

WARM_UP = 200
"""Sequences of a first run of conseq, so that its kernels lie compiled on disk."""

TEMPLATE = """\
U00:%x[-2,0]
U01:%x[-1,0]
U02:%x[0,0]
U03:%x[1,0]
U04:%x[2,0]
U05:%x[-1,0]/%x[0,0]
U06:%x[0,0]/%x[1,0]
U10:%x[-2,1]
U11:%x[-1,1]
U12:%x[0,1]
U13:%x[1,1]
U14:%x[2,1]
U15:%x[-2,1]/%x[-1,1]
U16:%x[-1,1]/%x[0,1]
U17:%x[0,1]/%x[1,1]
U18:%x[1,1]/%x[2,1]
U20:%x[-2,1]/%x[-1,1]/%x[0,1]
U21:%x[-1,1]/%x[0,1]/%x[1,1]
U22:%x[0,1]/%x[1,1]/%x[2,1]
B
"""
"""CRF++'s chunking example: the attributes of `crf_user`."""

WATCH = """
import json, subprocess, sys, time
begun = time.perf_counter()
code = subprocess.call(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
seconds, peak = time.perf_counter() - begun, None
try:
    import resource
    unit = 2**20 if sys.platform == "darwin" else 2**10
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / unit
except ImportError:
    pass
print(json.dumps({"code": code, "seconds": seconds, "peak_mb": peak}))
"""
"""A small process between this one and the one that is measured: Linux counts the memory of the process that
starts another one as that one's, too."""


def watched(command: Sequence[str]) -> dict[str, Any]:
    """Wall seconds and peak memory (None where the system does not tell) of a process."""
    found = subprocess.run(
        [sys.executable, "-I", "-S", "-c", WATCH, *command], capture_output=True, text=True, check=False
    )
    told = json.loads(found.stdout or '{"code": 1}')
    if told.pop("code"):
        lines = found.stderr.strip().splitlines() or ["nothing was said why"]
        raise ConseqError(f"a training process of the race failed: {lines[-1]}")
    return told


def measure(train: Corpus, threads: int, say: Callable[[str], None] = print) -> dict[str, Any]:
    """Both processes on a corpus with the columns `word` and `pos`, one after the other."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "template").write_text(TEMPLATE)
        write(train, folder / "train.tsv", "columns")
        write(train.select(range(min(WARM_UP, len(train)))), folder / "small.tsv", "columns")
        watched([*_conseq(folder, "small.tsv", threads), "--max-iterations", "3"])
        ours = watched(_conseq(folder, "train.tsv", threads))
        peer = watched([sys.executable, "-P", crf_user.__file__, *_paths(folder, "train.tsv", "peer")])
    say(f"whole processes: conseq {ours['seconds']:.1f} s, CRFsuite {peer['seconds']:.1f} s")
    ratios = {"seconds": peer["seconds"] / ours["seconds"]}
    if ours["peak_mb"] and peer["peak_mb"]:
        ratios["peak_mb"] = peer["peak_mb"] / ours["peak_mb"]
    return {"threads": threads, "crfsuite": peer, "conseq": ours, "ratios": ratios}


def _conseq(folder: Path, data: str, threads: int) -> list[str]:
    data, model, template = _paths(folder, data, "ours", "template")
    options = ["--columns", "word,pos,label", "--template", template, "--c2", "1", "--threads", str(threads)]
    return [sys.executable, "-m", "conseq", "train", data, "--model", model, *options]


def _paths(folder: Path, *names: str) -> list[str]:
    return [str(folder / name) for name in names]
