"""The race against CRFsuite: the same data, the same attributes, the same objective on both sides.

    data folders ─→ conseq with 2 threads and 1, CRFsuite, conseq again ─→ seconds, objectives, F1, ratios
    conll2000 ─→ whole processes (`crf_whole`), how time grows (`crf_growth`)

Both minimise −Σ log p(y | x) + ‖w‖², without weights for the ends of sequences, which CRFsuite has not.
Training goes from features that are ready to weights that are ready, each side to its own convergence, and to
the first iterate that is as good as the worse of the two last ones. conseq compiles its kernels first, on a
small part of the data; that time is reported by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks import crf_growth, crf_whole
from benchmarks.crf_peer import Given, package, per_evaluation
from benchmarks.crf_peer import measure as measure_crfsuite
from benchmarks.presets import TASKS, Task, file_of, read
from benchmarks.timing import best, timed
from conseq.corpus import Column, Corpus
from conseq.decoders.chain.viterbi import viterbi
from conseq.errors import ConseqError, DataError
from conseq.features import Template, preset
from conseq.labeller import SequenceLabeller
from conseq.labeller.training import TrainingData
from conseq.metrics import evaluate
from conseq.schema import Schema, Scheme, convert_column
from experiments.machine import describe

CHUNKS = "conll2000"
"""The data for which CRFsuite's attributes are written by hand, and on which the rest is measured."""

LIMITS: dict[str, int | None] = {CHUNKS: None, "conll2003": None, "umass_citation": 60, "jnlpba": 100}
"""The data sets, and after how many iterations CRFsuite is stopped where it would take hours."""

SETS: tuple[str, ...] = tuple(LIMITS)
THREADS = (2, 1)
TIMES = 3
"""conseq trains so often, before and after CRFsuite, and its median run counts: it is so short that a hiccup
of the machine would decide."""
WARM_UP = 200
"""Sequences on which everything is compiled before the clock runs."""
QUICK = 8
"""A quick run takes every so manieth training sequence."""

Say = Callable[[str], None]
Result = dict[str, Any]


def run(
    *,
    data: Path,
    quick: bool = False,
    say: Say = print,
    sets: Sequence[str] | None = None,
    threads: tuple[int, ...] = THREADS,
) -> Result:
    """Race on the sets named, or on all; `quick` takes conll2000 alone unless others are named, an eighth of
    the training data, and does not measure how time grows."""
    package()
    wanted = _wanted(sets, quick)
    there = [name for name in wanted if _is_there(Path(data) / name)]
    if not there:
        raise DataError(
            f"there is none of {', '.join(wanted)} (train.tsv and test.tsv) in {data}; "
            "name the folder of data sets with --data"
        )
    skipped = [name for name in wanted if name not in there]
    for name in skipped:
        say(f"{name}: skipped, there is no train.tsv and test.tsv of it in {data}")
    races = {name: Race.read(name, Path(data) / name, QUICK if quick else 1) for name in there}
    machine = describe()
    result: Result = {"machine": machine, "quick": quick, "skipped": skipped}
    result["peers"] = {"python-crfsuite": machine["versions"]["python-crfsuite"]}
    result["sets"] = {name: race.measure(threads, say) for name, race in races.items()}
    if CHUNKS in races:
        train = races[CHUNKS].train
        result["whole"] = crf_whole.measure(train, threads[0], say)
        if not quick:
            result["growth"] = crf_growth.measure(train, threads[0], say)
    return result


def _wanted(sets: Sequence[str] | None, quick: bool) -> list[str]:
    if not sets:
        return [CHUNKS] if quick else list(SETS)
    for name in sets:
        if name not in SETS:
            raise ConseqError(f"there is no set {name!r} in this race; there are: {', '.join(SETS)}")
    return [name for name in SETS if name in sets]


def _is_there(folder: Path) -> bool:
    return all(file_of(folder, split) is not None for split in ("train", "test"))


@dataclass(frozen=True, eq=False)
class Race:
    """Both toolkits on one data set."""

    name: str
    task: Task
    train: Corpus
    test: Corpus
    schema: Schema
    limit: int | None

    @classmethod
    def read(cls, name: str, folder: Path, every: int = 1) -> Race:
        """A data set with labels in a scheme that both sides can learn as it is: IOB1 becomes BIO."""
        task = TASKS[name]
        train, test = (read(folder, split, task) for split in ("train", "test"))
        if train is None or test is None:
            raise DataError(f"there is no train.tsv and test.tsv in {folder}")
        return cls.of(name, task, train.select(range(0, len(train), every)), test)

    @classmethod
    def of(cls, name: str, task: Task, train: Corpus, test: Corpus) -> Race:
        data = TrainingData.of(train, "auto")
        if data.source is Scheme.IOB1:
            given = convert_column(test.full_labels(), test.offsets, Scheme.IOB1, Scheme.BIO)
            test = replace(test, labels=given)
        labelled = replace(train, labels=Column(data.ids(train), data.labels))
        return cls(name, task, labelled, test, data.schema, LIMITS.get(name))

    @cached_property
    def templates(self) -> tuple[Template, ...]:
        return preset(self.task.preset, list(self.train.columns))

    def measure(self, threads: Sequence[int], say: Say) -> Result:
        """Everything about the data set."""
        say(
            f"{self.name}: {len(self.train)} sequences, {self.train.n_tokens} tokens, {len(self.schema)} "
            f"labels to learn from, {self.test.n_tokens} tokens to label"
        )
        compiling, _ = timed(self._compile)
        say(f"{self.name}: compiled in {compiling:.1f} s")
        runs = [self.conseq(n, say) for n in threads]
        peer = self.crfsuite(say)
        runs += [self.conseq(n, say) for _ in range(TIMES - 1) for n in threads]
        ours = {n: median_run([run for run in runs if run["threads"] == n]) for n in threads}
        return {
            "data": self._facts(),
            "compile_seconds": compiling,
            "crfsuite": peer,
            "conseq": {str(n): side for n, side in ours.items()},
            "ratios": {str(n): ratios(peer, side) for n, side in ours.items()},
        }

    def _facts(self) -> Result:
        return {
            "preset": self.task.preset,
            "sequences": len(self.train),
            "tokens": self.train.n_tokens,
            "labels": len(self.schema),
            "test_sequences": len(self.test),
            "test_tokens": self.test.n_tokens,
        }

    def _compile(self) -> None:
        small = self.train.select(range(min(WARM_UP, len(self.train))))
        for threads in THREADS:
            labeller = self.labeller(threads, max_iterations=3).fit(small)
            labeller.predict(self.test.select(range(min(5, len(self.test)))))

    def labeller(self, threads: int, **options: Any) -> SequenceLabeller:
        """One that has CRFsuite's objective."""
        given = {"c2": 1.0, "boundaries": False, "scheme": str(self.schema.scheme), **options}
        return SequenceLabeller(self.templates, n_jobs=threads, **given)

    def conseq(self, threads: int, say: Say) -> Result:
        """conseq's side."""
        labeller, test = self.labeller(threads).fit(self.train), self.test
        report = labeller.report_.training
        say(f"{self.name}: conseq, threads {threads}: {report.objective:.2f} in {report.seconds:.1f} s")
        bare = Corpus.from_columns({n: c.strings() for n, c in test.columns.items()}, test.lengths.tolist())
        raw, predicted = best(lambda: labeller.predict(bare))
        design = labeller.extractor_.design(test)

        def decode() -> Any:
            return viterbi(labeller.model_.potentials(design, test.offsets, threads=threads), threads=threads)

        given, _ = best(decode)
        clock, evaluations = zip(*((p.seconds, p.evaluations) for p in report.history), strict=True)
        seconds = {
            "features": labeller.report_.seconds["features"],
            "train": report.seconds,
            "per_evaluation": per_evaluation(list(clock), list(evaluations)),
            "label_raw": raw,
            "label_given": given,
        }
        side = {
            "threads": threads,
            "seconds": seconds,
            "objective": report.objective,
            "iterations": report.iterations,
            "evaluations": report.evaluations,
            "weights": report.features,
            "curve": [(p.objective, p.seconds) for p in report.history],
        }
        return side | self._quality(seconds, predicted)

    def given(self) -> Given:
        """What CRFsuite gets: strings written by hand, or conseq's own attributes as strings."""
        if self.name == CHUNKS:
            return Given.by_hand(self.train, self.test)
        return Given.by_templates(self.train, self.test, self.templates)

    def crfsuite(self, say: Say) -> Result:
        """CRFsuite's side."""
        side, predicted = measure_crfsuite(self.given(), self.train.label_sequences(), self.limit)
        stopped = f", stopped after {side['iterations']} iterations" if side["limited"] else ""
        say(f"{self.name}: CRFsuite: {side['objective']:.2f} in {side['seconds']['train']:.1f} s{stopped}")
        return side | self._quality(side["seconds"], predicted)

    def _quality(self, seconds: dict[str, float], predicted: list[list[str]]) -> Result:
        """How many test tokens a second are labelled, and how well."""
        speed = {name: self.test.n_tokens / seconds[name] for name in ("label_raw", "label_given")}
        report = evaluate(self.test.label_sequences(), predicted, self.schema)
        return {"tokens_per_second": speed, "f1": report.span.total.f1, "accuracy": report.accuracy}


def median_run(runs: Sequence[Result]) -> Result:
    """The run whose training took neither longest nor shortest."""
    return sorted(runs, key=lambda run: run["seconds"]["train"])[len(runs) // 2]


RACED = ("features", "train", "per_evaluation", "label_raw", "label_given")


def ratios(peer: Result, ours: Result) -> dict[str, float]:
    """How many times faster conseq is.

    `train` is to the end of both, so it is left out where CRFsuite was stopped; `train_to_same_objective`
    is to the worse of the two last objectives. Features are raced where both sides made them.
    """
    names = [n for n in RACED if n in peer["seconds"] and not (n == "train" and peer["limited"])]
    found = {name: peer["seconds"][name] / ours["seconds"][name] for name in names}
    goal = max(peer["objective"], ours["objective"])
    found["train_to_same_objective"] = reached(peer["curve"], goal) / reached(ours["curve"], goal)
    return found


def reached(curve: Sequence[tuple[float, float]], goal: float) -> float:
    """When an objective was first as low as that.

    >>> reached([(9.0, 1.5), (4.0, 2.5), (3.0, 3.5)], 4.0)
    2.5
    """
    return next(seconds for value, seconds in curve if value <= goal)
