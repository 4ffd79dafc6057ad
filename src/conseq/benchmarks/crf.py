"""The race against CRFsuite on CoNLL-2000 chunking, the same features on both sides.

    train.tsv, test.tsv ─→ features, training, labelling of both, in turns ─→ seconds, objectives, F1, ratios

CRFsuite is given its best: strings are made by list comprehensions over prepared columns. conseq compiles
its kernels first, on a small part of the data; that time is reported by itself.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from conseq.corpus import Corpus
from conseq.decoders.viterbi import viterbi
from conseq.errors import ConseqError, DataError
from conseq.evaluate import evaluate
from conseq.features import preset
from conseq.io import read_columns
from conseq.labeller import SequenceLabeller
from conseq.machine import describe

COLUMNS = ("word", "pos", "label")
WARM_UP = 200
"""Sequences on which everything is compiled before the clock runs."""

Say = Callable[[str], None]


def run(
    *, data: Path, quick: bool = False, say: Say = print, threads: tuple[int, ...] = (2, 1)
) -> dict[str, Any]:
    """Both toolkits on CoNLL-2000; `quick` takes an eighth of the training data."""
    folder = Path(data) / "conll2000"
    if not (folder / "train.tsv").is_file():
        raise DataError(
            f"there is no conll2000/train.tsv in {data}; name the folder of data sets with --data"
        )
    train = read_columns(folder / "train.tsv", COLUMNS)
    test = read_columns(folder / "test.tsv", COLUMNS)
    if quick:
        train = train.select(range(0, len(train), 8))
    say(f"{len(train)} sequences, {train.n_tokens} tokens to learn from, {test.n_tokens} to label")
    compile_seconds = _compile(train, test)
    say(f"compiled in {compile_seconds:.1f} s")
    ours = {}
    ours[threads[0]] = _conseq(train, test, threads[0], say)
    peer = _crfsuite(train, test, say)
    for n in threads[1:]:
        ours[n] = _conseq(train, test, n, say)
    return {
        "machine": describe(),
        "data": {"name": "conll2000", "sequences": len(train), "tokens": train.n_tokens, "quick": quick},
        "compile_seconds": compile_seconds,
        "crfsuite": peer,
        "conseq": {str(n): result for n, result in ours.items()},
        "ratios": {str(n): _ratios(peer, result) for n, result in ours.items()},
    }


def _compile(train: Corpus, test: Corpus) -> float:
    begun = time.perf_counter()
    small = train.select(range(min(WARM_UP, len(train))))
    _labeller(small, 2, max_iterations=3).fit(small).predict(test.select(range(5)))
    return time.perf_counter() - begun


def _labeller(corpus: Corpus, threads: int, **options: Any) -> SequenceLabeller:
    templates = preset("chunk", list(corpus.columns))
    return SequenceLabeller(templates, c2=1.0, boundaries=False, threads=threads, **options)


def _conseq(train: Corpus, test: Corpus, threads: int, say: Say) -> dict[str, Any]:
    labeller = _labeller(train, threads).fit(train)
    report = labeller.report_.training
    say(f"conseq, {threads} threads: objective {report.objective:.2f} in {report.seconds:.1f} s")
    bare = Corpus.from_columns(
        {name: column.strings() for name, column in test.columns.items()}, test.lengths.tolist()
    )
    raw, predicted = _best(lambda: labeller.predict(bare))
    design = labeller.extractor_.design(test)

    def decode() -> Any:
        return viterbi(labeller.model_.potentials(design, test.offsets, threads=threads), threads=threads)

    given, _ = _best(decode)
    curve = [(p.objective, p.seconds) for p in report.history]
    return {
        "threads": threads,
        "features_seconds": labeller.report_.seconds["features"],
        "train_seconds": report.seconds,
        "objective": report.objective,
        "iterations": report.iterations,
        "evaluations": report.evaluations,
        "label_raw_seconds": raw,
        "label_given_seconds": given,
        "f1": evaluate(test.label_sequences(), predicted, "bio").span.total.f1,
        "curve": curve,
    }


def _crfsuite(train: Corpus, test: Corpus, say: Say) -> dict[str, Any]:
    try:
        import pycrfsuite
    except ImportError:
        raise ConseqError(
            "the race needs python-crfsuite; install it with: pip install 'conseq[bench]'"
        ) from None
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", params={"c1": 0.0, "c2": 1.0}, verbose=False)
    columns = _columns(train)
    strings, items = _timed(lambda: _attributes(columns))
    append, _ = _timed(lambda: _append(trainer, items, train.label_sequences()))
    curve: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        model = str(Path(folder) / "model")
        seconds, _ = _timed(lambda: trainer.train(model))
        log = trainer.logparser
        clock = np.cumsum([i["time"] for i in log.iterations]).tolist()
        curve = [(i["loss"], t) for i, t in zip(log.iterations, clock, strict=True)]
        say(f"CRFsuite: objective {curve[-1][0]:.2f} in {seconds:.1f} s")
        tagger = pycrfsuite.Tagger()
        tagger.open(model)
        test_columns = _columns(test)
        raw, predicted = _best(lambda: [tagger.tag(x) for x in _attributes(test_columns)])
        ready = [pycrfsuite.ItemSequence(x) for x in _attributes(test_columns)]
        given, _ = _best(lambda: [tagger.tag(x) for x in ready])
        tagger.close()
    return {
        "features_seconds": strings + append,
        "strings_seconds": strings,
        "append_seconds": append,
        "train_seconds": seconds,
        "objective": curve[-1][0],
        "iterations": len(curve),
        "label_raw_seconds": raw,
        "label_given_seconds": given,
        "f1": evaluate(test.label_sequences(), predicted, "bio").span.total.f1,
        "curve": curve,
    }


def _append(trainer: Any, items: list[list[list[str]]], labels: list[list[str]]) -> None:
    for x, y in zip(items, labels, strict=True):
        trainer.append(x, y)


def _columns(corpus: Corpus) -> list[tuple[list[str], list[str]]]:
    """Words and tags of each sequence, padded by two marks on both sides."""
    before, after = ["_B-2", "_B-1"], ["_B+1", "_B+2"]
    return [(before + s.column("word") + after, before + s.column("pos") + after) for s in corpus]


def _attributes(columns: list[tuple[list[str], list[str]]]) -> list[list[list[str]]]:
    """The nineteen attributes of CRF++'s chunking template as strings, written for speed."""
    return [
        [
            [
                "a" + w0, "b" + w1, "c" + w2, "d" + w3, "e" + w4,
                "f" + w1 + "/" + w2, "g" + w2 + "/" + w3,
                "h" + p0, "i" + p1, "j" + p2, "k" + p3, "l" + p4,
                "m" + p0 + "/" + p1, "n" + p1 + "/" + p2, "o" + p2 + "/" + p3, "p" + p3 + "/" + p4,
                "q" + p0 + "/" + p1 + "/" + p2, "r" + p1 + "/" + p2 + "/" + p3,
                "s" + p2 + "/" + p3 + "/" + p4,
            ]
            for w0, w1, w2, w3, w4, p0, p1, p2, p3, p4 in zip(
                w, w[1:], w[2:], w[3:], w[4:], p, p[1:], p[2:], p[3:], p[4:], strict=False
            )
        ]
        for w, p in columns
    ]  # fmt: skip


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.perf_counter()
    result = work()
    return time.perf_counter() - begun, result


def _best(work: Callable[[], Any], times: int = 5) -> tuple[float, Any]:
    """The quickest of several runs."""
    runs = [_timed(work) for _ in range(times)]
    return min(seconds for seconds, _ in runs), runs[-1][1]


def _ratios(peer: dict[str, Any], ours: dict[str, Any]) -> dict[str, float]:
    """How many times faster conseq is; for training to the end and to the worse of the two objectives."""
    goal = max(peer["objective"], ours["objective"])
    names = ("features", "train", "label_raw", "label_given")
    ratios = {name: peer[f"{name}_seconds"] / ours[f"{name}_seconds"] for name in names}
    return {
        **ratios,
        "train_to_same_objective": _reached(peer["curve"], goal) / _reached(ours["curve"], goal),
    }


def _reached(curve: list[tuple[float, float]], goal: float) -> float:
    return next(seconds for value, seconds in curve if value <= goal)


def table(result: dict[str, Any]) -> list[list[str]]:
    """Both sides and the ratios as rows, the head first."""
    peer, threads = result["crfsuite"], list(result["conseq"])
    rows = [["", "CRFsuite", *(f"conseq, {n} threads" for n in threads)]]
    for name, key in [
        ("features (s)", "features"),
        ("training (s)", "train"),
        ("labelling raw columns (s)", "label_raw"),
        ("labelling given features (s)", "label_given"),
    ]:
        cells = [f"{peer[f'{key}_seconds']:.3f}"]
        for n in threads:
            cells.append(f"{result['conseq'][n][f'{key}_seconds']:.3f} ({result['ratios'][n][key]:.1f} ×)")
        rows.append([name, *cells])
    goals = [f"{result['ratios'][n]['train_to_same_objective']:.1f} ×" for n in threads]
    rows.append(["training to the same objective", "1 ×", *goals])
    rows.append(["objective", *(f"{r['objective']:.2f}" for r in [peer, *result["conseq"].values()])])
    rows.append(["iterations", *(str(r["iterations"]) for r in [peer, *result["conseq"].values()])])
    rows.append(["span F1 on test", *(f"{100 * r['f1']:.2f}" for r in [peer, *result["conseq"].values()])])
    return rows
