"""What exact decoding under rules costs, against plain Viterbi and against the integer program.

    data folders ─→ CRF, rules (`rules.py`) ─→ Problems of the test sequences ─→ decoders in turns ─→ ratios

    cora              30 soft rules about counts and order, every decoder
    umass_citation    hundreds of soft rules about counts with learned penalties; …_log_ratio: higher ones
    us50, usaddress   at most one segment of each type, hard: segments repeated, accuracy

The CRF and the rules see training and development data only. Everything is decoded by one thread. Times go
from given scores and lowered rules to answers with certificates; the lowering, with all that decoders keep
about rules between calls, is reported by itself.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import rules
from benchmarks.timing import timed
from conseq.constraints import Constraint, Segments
from conseq.corpus import Corpus
from conseq.decoders.auto import decode_all
from conseq.decoders.base import Decoder
from conseq.decoders.batch import Decodings
from conseq.decoders.beam import Beam
from conseq.decoders.chain.viterbi import viterbi
from conseq.decoders.dual import Dual
from conseq.decoders.ilp import ILP
from conseq.decoders.lattice.tracked import Primitives
from conseq.decoders.lazy import Lazy
from conseq.decoders.twostage import TwoStage
from conseq.errors import DataError
from conseq.io import read
from conseq.labeller import SequenceLabeller
from conseq.labeller.learning import evidence_of
from conseq.metrics import evaluate_ids
from conseq.potentials import Potentials
from conseq.problem import Decoding, Problems, Status
from experiments.machine import describe

NUMBER = 30
"""Rules for cora."""
OFTEN, SOME = 15, 3
"""How often the quick decoders and the others are timed; the integer programs are timed once."""
QUICK = 10
"""Sequences for the integer programs of a quick run."""
SAME = 1e-6
"""Scores that differ by at most this times (1 + |score|) are equal."""

EXACT = ("lazy", "ilp", "ilp_pruned")
"""Rivals whose answers must score what those of `auto` score."""

Result = dict[str, Any]
Labels = NDArray[np.int32]
Say = Callable[[str], None]


def run(*, data: Path, quick: bool = False, say: Say = print) -> Result:
    """Measure on every set that is there; `quick` gives fewer sequences to the integer programs, and has
    fewer rivals on umass_citation."""
    names = [name for name in SETS if (Path(data) / name).is_dir()]
    if not names:
        raise DataError(
            f"there is none of {', '.join(SETS)} in {data}; name the folder of data sets with --data"
        )
    results: Result = {"machine": describe(), "quick": quick}
    for name in names:
        results |= SETS[name](name, Path(data) / name, quick, say)
    return results


# ── the data sets ───────────────────────────────────────────────────────────────────────────────


def _cora(name: str, folder: Path, quick: bool, say: Say) -> Result:
    labeller = _trained(name, folder, say)
    dev, test = (_read(folder, split) for split in ("dev", "test"))
    task = Task(labeller, rules.count_and_order(evidence_of(labeller, dev), NUMBER), test)
    every = max(1, len(test) // QUICK) if quick else 1
    result = task.measure(_rivals(Lazy(), Dual(), Beam(), TwoStage()) | _programs(every))
    say(f"{name}: {_line(result)}")
    taken = result["milliseconds"]
    result["speedup_over_ilp"] = taken["ilp"] / taken["auto"]
    result["speedup_over_pruned_ilp"] = taken["ilp_pruned"] / taken["auto"]
    return {name: result}


def _umass(name: str, folder: Path, quick: bool, say: Say) -> Result:
    labeller = _trained(name, folder, say)
    dev, test = (_read(folder, split) for split in ("dev", "test"))
    evidence = evidence_of(labeller, dev)
    bare = rules.segment_counts(evidence)
    begun = time.perf_counter()
    learned = rules.with_learned_penalties(bare, evidence)
    say(f"{name}: penalties learned in {time.perf_counter() - begun:.1f} s")
    rare = rules.with_log_ratios(bare)
    rivals = _rivals(Lazy()) if quick else _rivals(Lazy(), Dual(), Beam())
    results = {}
    for key, soft in {name: learned, f"{name}_log_ratio": rare}.items():
        results[key] = Task(labeller, soft, test).measure(rivals)
        say(f"{key}: {_line(results[key])}")
    return results


def _addresses(name: str, folder: Path, quick: bool, say: Say) -> Result:
    labeller = _trained(name, folder, say)
    once = [Segments("at most", 1, type) for type in labeller.schema_.types()]
    result = Task(labeller, once, _read(folder, "test")).measure(_rivals(Lazy()))
    say(f"{name}: {_line(result)}")
    return {name: {**result, "repeated": result["violations"]}}


SETS: dict[str, Callable[[str, Path, bool, Say], Result]] = {
    "cora": _cora,
    "umass_citation": _umass,
    "us50": _addresses,
    "usaddress": _addresses,
}


def _read(folder: Path, split: str) -> Corpus:
    path = folder / f"{split}.tsv"
    if not path.is_file():
        raise DataError(f"there is no {split}.tsv in {folder}; the race of decoders needs it")
    return read(path, "columns", columns=("word", "label"))


def _trained(name: str, folder: Path, say: Say) -> SequenceLabeller:
    begun = time.perf_counter()
    labeller = SequenceLabeller("fields").fit(_read(folder, "train"))
    say(f"{name}: trained in {time.perf_counter() - begun:.1f} s")
    return labeller


# ── the race ────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Rival:
    """A decoder, how often it is timed, and on which sequences: all, every second one, …"""

    decoder: Decoder
    times: int = SOME
    every: int = 1

    def decode(self, problems: Problems) -> list[Decoding]:
        return [self.decoder.decode(problems[i]) for i in range(0, len(problems), self.every)]


def _rivals(*decoders: Decoder) -> dict[str, Rival]:
    return {decoder.name: Rival(decoder) for decoder in decoders}


def _programs(every: int) -> dict[str, Rival]:
    """The integer program as the paper has it, and the smaller one that conseq solves."""
    return {"ilp": Rival(ILP(prune=False), 1, every), "ilp_pruned": Rival(ILP(), 1, every)}


@dataclass(frozen=True, eq=False)
class Task:
    """Test sequences to be labelled by a model under rules."""

    labeller: SequenceLabeller
    rules: Sequence[Constraint]
    test: Corpus

    def measure(self, rivals: Mapping[str, Rival]) -> Result:
        """Times and quality of `auto`, plain Viterbi and the rivals."""
        potentials = self.labeller.potentials(self.test)
        plain = viterbi(potentials).labels
        lowering, problems = timed(lambda: self._problems(potentials, plain))
        works = {"viterbi": Work(lambda: viterbi(potentials)), "auto": Work(lambda: decode_all(problems))}
        works |= {name: Work(partial(r.decode, problems), r.times) for name, r in rivals.items()}
        seconds, answers = race(works)
        found: Decodings = answers["auto"]
        number = {name: len(answers[name]) if name in rivals else len(self.test) for name in works}
        return {
            "sequences": len(self.test),
            "constraints": len(self.rules),
            "certified": int(found.certified.sum()),
            "certified_share": float(found.certified.mean()),
            "viterbi_runs": float(found.iterations.mean()),
            "over_viterbi": seconds["auto"] / seconds["viterbi"],
            "milliseconds": {name: 1000 * s / number[name] for name, s in seconds.items()},
            "certified_by": {name: _certified(answers[name]) for name in rivals},
            "equal_scores": all(_same(found, answers[n], rivals[n].every) for n in EXACT if n in rivals),
            "seconds_lowering": lowering,
            **self._quality(plain, found),
        }

    def _problems(self, potentials: Potentials, labels: Labels) -> Problems:
        """The rules lowered for the test sequences, the arrays that are made on first use among them."""
        problems = Problems.of(potentials, self.labeller.schema_, self.rules, self.test)
        problems.program.violations(labels)
        Primitives.of(problems.program).effects(potentials)
        return problems

    def _quality(self, plain: Labels, found: Decodings) -> Result:
        """Violations (how much all rules together are violated, and how many sequences violate one) and
        scores of the labels without and with the rules."""
        gold, schema = self.labeller.gold_ids(self.test)
        program = found.problems.program
        result: Result = {"violations": {}, "violating": {}, "accuracy": {}, "span_f1": {}}
        for when, labels in (("before", plain), ("after", found.labels)):
            amounts = program.violations(labels)
            report = evaluate_ids(gold, labels, self.test.offsets, schema)
            result["violations"][when] = float(amounts.sum())
            result["violating"][when] = int(amounts.any(axis=1).sum())
            result["accuracy"][when] = report.accuracy
            result["span_f1"][when] = report.span.total.f1
        return result


def _certified(answers: list[Decoding]) -> float:
    return statistics.fmean(answer.certificate.status is Status.OPTIMAL for answer in answers)


def _same(found: Decodings, answers: list[Decoding], every: int) -> bool:
    """Whether a rival's labellings score what those of `auto` score."""
    scores = np.array([answer.score for answer in answers])
    return bool(np.all(np.abs(found.scores[::every] - scores) <= SAME * (1 + np.abs(scores))))


@dataclass(frozen=True)
class Work:
    """Something to be timed `times` times, after a warm-up unless it is timed once."""

    do: Callable[[], Any]
    times: int = OFTEN


def race(works: Mapping[str, Work]) -> tuple[dict[str, float], dict[str, Any]]:
    """The median seconds of each work and what it gave, the works taking turns so that all meet the same
    moods of the machine."""
    for work in works.values():
        if work.times > 1:
            work.do()
    seconds: dict[str, list[float]] = {name: [] for name in works}
    answers = {}
    for turn in range(max(work.times for work in works.values())):
        for name, work in works.items():
            if turn < work.times:
                taken, answers[name] = timed(work.do)
                seconds[name].append(taken)
    return {name: statistics.median(taken) for name, taken in seconds.items()}, answers


# ── for people ──────────────────────────────────────────────────────────────────────────────────


def _line(result: Result) -> str:
    return (
        f"{result['sequences']} sequences under {result['constraints']} rules in "
        f"{result['over_viterbi']:.2f} × the time of Viterbi, {result['certified']} certified"
    )


HEAD = (
    *("data", "sequences", "rules", "certified", "Viterbi runs", "auto over Viterbi", "ILP over auto"),
    *("pruned ILP over auto", "same scores", "violations", "accuracy", "span F1"),
)


def table(result: Result) -> list[list[str]]:
    """One row per data set, the head first."""
    rows = [list(HEAD)]
    for name, row in result.items():
        if isinstance(row, dict) and "constraints" in row:
            rows.append([name, *_cells(row)])
    return rows


def _cells(row: Result) -> list[str]:
    ratios = [row.get("speedup_over_ilp"), row.get("speedup_over_pruned_ilp")]
    return [
        str(row["sequences"]),
        str(row["constraints"]),
        f"{100 * row['certified_share']:.1f} %",
        f"{row['viterbi_runs']:.2f}",
        f"{row['over_viterbi']:.2f} ×",
        *("–" if ratio is None else f"{ratio:.0f} ×" for ratio in ratios),
        "yes" if row["equal_scores"] else "no",
        "{before:.0f} → {after:.0f}".format(**row["violations"]),
        *("{:.2f} → {:.2f}".format(*(100 * x for x in row[key].values())) for key in ("accuracy", "span_f1")),
    ]
