"""Load and use mutated model files in a process of their own, so that a crash of it is noticed.

python -m tests.mutated_models FOLDER [RANDOM SEED STEP]

Takes every STEP-th mutation of the *.model files, or RANDOM ones of each.

Prints how they ended; exit code 1 if one ended with another exception than a ConseqError.
"""

from __future__ import annotations

import faulthandler
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

import conseq
from benchmarks.mutate import mutated_model, mutations
from conseq import persist
from conseq.datasets import news
from conseq.errors import ConseqError
from conseq.kernels import clock
from conseq.models.memory import MemoryLearner

HANGS = 10.0
"""Seconds after which a file counts as one that hangs; what is compiled meanwhile does not count."""
ROWS = [["a", "1", "x"], ["b", "7", "new"]]
TOKENS = [["A.", "Smith", ",", "Trees", ",", "1999"], ["new"]]
BAGS = [[{"w=A.": 1.0, "cap": 0.5}, {"w=new": 1.0}]]
NEWS = news(2, seed=1)


def use(path: Path) -> None:
    """All that a model file is for."""
    if path.name.startswith("learner"):
        learner = MemoryLearner.from_archive(persist.load(path), n_jobs=1)
        learner.predict_proba(ROWS)
        learner.kneighbors(ROWS)
        return
    if path.name.startswith("relations"):
        relations = conseq.RelationLabeller.load(path)
        relations.n_jobs = 1
        assert [found.tokens for found in relations.predict(NEWS)] == [given.tokens for given in NEWS]
        return
    labeller = conseq.load(path)
    labeller.n_jobs = 1
    given = BAGS if path.name.startswith("bags") else TOKENS
    labels = labeller.predict(given)
    assert [len(one) for one in labels] == [len(one) for one in given]
    labeller.label(given, nbest=2, marginals=True)
    labeller.explain(given[:1])


def cases(data: bytes, random: int, seed: int, step: int) -> Iterator[tuple[str, bytes]]:
    rng = np.random.default_rng(seed)
    if not random:
        yield from islice(mutations(data, rng), 0, None, step)
    for i in range(random):
        yield f"random {i}", mutated_model(rng, data)


def ending(path: Path, data: bytes) -> str:
    """ok, refused, or the exception that should not be."""
    path.write_bytes(data)
    try:
        use(path)
        return "ok"
    except ConseqError as error:
        return "refused" if "\n" not in str(error) else "several lines"
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:200]


def main(folder: Path, random: int = 0, seed: int = 0, step: int = 1) -> int:
    faulthandler.enable()
    warnings.simplefilter("error")
    failed = 0
    for model in sorted(folder.glob("*.model")):
        counts: Counter[str] = Counter()
        place = folder / f"{model.stem}.mutated"
        for what, data in cases(model.read_bytes(), random, seed, step):
            print(f"{model.stem} {what}", file=sys.stderr, flush=True)  # the last line names a crash
            begun = clock.now()
            end = ending(place, data)
            slow = clock.now() - begun > HANGS
            counts[end if end in ("ok", "refused") else "failed"] += 1
            if slow or end not in ("ok", "refused"):
                failed += 1
                print(f"{model.stem} {what}: {end}{' slow' if slow else ''}", flush=True)
        print(f"{model.stem}: {dict(counts)}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *map(int, sys.argv[2:])))
