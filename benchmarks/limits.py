"""Limits asked and kept: how long, and in how much memory, each decoder works on problems that are too hard.

    rules          196 tokens, 37 labels, 267 random rules: counts, orders, co-occurrence, adjacency, patterns
    agreement      5,000 tokens, 20 labels, 1,500 groups of tokens that have to agree

    problem, decoder, seconds ─→ a process of its own ─→ seconds taken, memory grown, status, gap

Each process first decodes small problems of the same kind, so that compiling does not count. What does not
end is ended, and stands in the table as such.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.random_rules import RULES, Draw
from conseq.constraints import (
    HARD,
    Agree,
    Around,
    Constraint,
    Counts,
    ExactlyOneOf,
    FirstLast,
    FollowedBy,
    FollowedLater,
    Forbidden,
    IfThen,
    NotBefore,
    NotBoth,
    Pattern,
    Required,
    Segments,
    Share,
    TokenIs,
)
from conseq.corpus import Corpus
from conseq.decoders.arrays import decode
from conseq.decoders.auto import DECODERS
from conseq.decoders.base import Limits
from conseq.decoders.conflict import Undecided, smallest_conflict
from conseq.decoders.constrained_marginals import constrained_posterior
from conseq.decoders.lattice.lattice import TooManyStates
from conseq.potentials import Potentials
from conseq.problem import Decoding, Problems
from conseq.schema import Schema
from experiments.machine import describe

SECONDS = (0.5, 2.0, 15.0)
FACTOR, SLACK = 1.5, 0.3
"""A limit is kept if no more than this times the limit, and so many seconds, were taken."""
HANGS = 60.0
"""Seconds beyond ten times the limit after which a process is ended."""
ADDRESSES = 12 << 30
"""Bytes that a process may ask for; what takes more ends with an error."""
FAMILIES = (
    *(Counts, Segments, Share),
    *(FollowedLater, NotBefore, FirstLast),
    *(IfThen, NotBoth, ExactlyOneOf),
    *(FollowedBy, Forbidden, Required),
    *(Around, TokenIs),
)
"""Counts, orders, co-occurrence, adjacency, and rules that look at tokens."""

Say = Callable[[str], None]
Result = dict[str, Any]
Rng = np.random.Generator


@dataclass(frozen=True)
class Hard:
    """What `conseq.decode` is given."""

    scores: np.ndarray
    pairwise: np.ndarray
    labels: list[str]
    rules: list[Constraint]
    tokens: list[str]

    def problems(self) -> Problems:
        corpus = Corpus.from_sequences([self.tokens])
        schema = Schema(self.labels, "plain")
        return Problems.of(Potentials.of(self.scores, self.pairwise), schema, self.rules, corpus)


def rules_problem(length: int = 196, size: int = 37, count: int = 267) -> Hard:
    """Rules of many kinds, a few of them hard, over random scores."""
    rng = np.random.default_rng(196)
    labels = ["O", *(f"L{i}" for i in range(1, size))]
    draw = Draw(rng, Schema(labels, "plain"))
    rules = [RULES[draw.one(FAMILIES)](draw, float(draw.one((0.5, 1.0, 2.0, 5.0)))) for _ in range(count - 7)]
    rules += [NotBoth(*draw.pair(), penalty=HARD) for _ in range(4)]
    rules += [
        TokenIs(Pattern(pattern), draw.some(), penalty=2.0) for pattern in (r"^w\d*1$", "x|y", r"\d{2}")
    ]
    return _hard(rng, length, labels, rules)


def agreement_problem(length: int = 5000, size: int = 20, count: int = 1500) -> Hard:
    """Many groups of three tokens anywhere that should have one label."""
    rng = np.random.default_rng(5000)
    labels = ["O", *(f"L{i}" for i in range(1, size))]
    groups = [tuple(sorted(rng.choice(length, 3, replace=False).tolist())) for _ in range(count)]
    return _hard(rng, length, labels, [Agree("label", places=group, penalty=3.0) for group in groups])


def _hard(rng: Rng, length: int, labels: list[str], rules: list[Constraint]) -> Hard:
    words = [",", "x", *(f"w{k}" for k in range(30))]
    size = len(labels)
    scores, pairwise = rng.normal(0, 1.5, (length, size)), rng.normal(0, 1, (size, size)) + 2 * np.eye(size)
    return Hard(scores, pairwise, labels, rules, [str(word) for word in rng.choice(words, length)])


PROBLEMS: dict[str, Callable[..., Hard]] = {"rules": rules_problem, "agreement": agreement_problem}
SMALL: dict[str, list[tuple[int, int, int]]] = {
    "rules": [(12, 4, 8), (30, 6, 40)],
    "agreement": [(12, 4, 5), (60, 5, 20)],
}
"""Tokens, labels and rules of the problems with which each process begins."""


# ── what is asked ───────────────────────────────────────────────────────────────────────────────


def _decoding(name: str, n_best: int = 1) -> Callable[[Hard, Limits], Result]:
    def ask(hard: Hard, limits: Limits) -> Result:
        found: Any = decode(
            hard.scores,
            hard.pairwise,
            labels=hard.labels,
            constraints=hard.rules,
            scheme="plain",
            tokens=hard.tokens,
            decoder=name,
            limits=limits,
            n_best=n_best,
        )
        return _said(found)

    return ask


def _said(found: Decoding) -> Result:
    certificate = found.certificate
    gap = certificate.gap if np.isfinite(certificate.gap) else None
    return {"status": certificate.status.name, "gap": gap}


def _probabilities(hard: Hard, limits: Limits) -> Result:
    try:
        constrained_posterior(hard.problems()[0], limits)
    except TooManyStates:
        return {"status": "refused", "gap": None}
    return {"status": "exact", "gap": None}


def _conflict(hard: Hard, limits: Limits) -> Result:
    try:
        problem = replace(hard, rules=[replace(rule, penalty=HARD) for rule in hard.rules]).problems()[0]
        found = smallest_conflict(problem, limits=limits)
    except Undecided:
        return {"status": "undecided", "gap": None}
    return {"status": "no conflict" if found is None else "conflict", "gap": None}


TASKS: dict[str, Callable[[Hard, Limits], Result]] = {
    **{name: _decoding(name) for name in DECODERS if name != "enumerate"},
    "n_best = 5": _decoding("auto", 5),
    "probabilities": _probabilities,
    "smallest conflict": _conflict,
}
"""All that takes limits, except `enumerate`, which begins only if it can look at all labellings."""


# ── a process for each ──────────────────────────────────────────────────────────────────────────


def run(
    *,
    data: object = None,
    quick: bool = False,
    say: Say = print,
    sets: list[str] | None = None,
    tasks: list[str] | None = None,
    seconds: tuple[float, ...] = SECONDS,
) -> Result:
    """Ask everything under every limit; `quick` has the shortest limit alone, `sets` some of the problems."""
    rows = []
    for problem in sets or list(PROBLEMS):
        for task in tasks or list(TASKS):
            for limit in seconds[:1] if quick else seconds:
                found = in_process(problem, task, limit)
                rows.append({"problem": problem, "decoder": task, "asked": limit, **found})
                say("  ".join(_row(rows[-1])))
    return {"machine": describe(), "quick": quick, "rows": rows}


def in_process(problem: str, task: str, seconds: float) -> Result:
    """Ask in a process of its own, which is ended if it hangs."""
    context: Any = multiprocessing.get_context("spawn")
    pipe, far = context.Pipe()
    process = context.Process(target=_serve, args=(far, problem, task, seconds), daemon=True)
    process.start()
    far.close()
    nothing = {"taken": None, "worked": None, "megabytes": None, "gap": None}
    try:
        if not pipe.poll(HANGS) or pipe.recv() != "begun":
            return {**nothing, "status": "did not begin"}
        if not pipe.poll(10 * seconds + HANGS):
            return {**nothing, "status": "hangs"}
        found: Result = pipe.recv()
        return found
    except EOFError:
        return {**nothing, "status": "ended by itself"}
    finally:
        process.kill()
        process.join()


def _serve(pipe: Connection, problem: str, task: str, seconds: float) -> None:
    _limit_addresses()
    ask = TASKS[task]
    for small in SMALL[problem]:
        ask(PROBLEMS[problem](*small), Limits(seconds=20.0))
    hard = PROBLEMS[problem]()
    pipe.send("begun")
    before = forget_peak()
    begun, worked = time.perf_counter(), time.process_time()
    try:
        found = ask(hard, Limits(seconds=seconds))
    except MemoryError:
        found = {"status": "MemoryError", "gap": None}
    taken, worked = time.perf_counter() - begun, time.process_time() - worked
    grown = (kilobytes("VmHWM") - before) / 1024
    pipe.send({"taken": round(taken, 3), "worked": round(worked, 3), "megabytes": round(grown), **found})


def _limit_addresses() -> None:
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))


def forget_peak() -> int:
    """Let the peak of resident memory begin anew; kilobytes now."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return kilobytes("VmHWM")
    return kilobytes("VmRSS")


def kilobytes(name: str) -> int:
    """A figure of this process in kilobytes; 0 where there are none."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next(int(line.split()[1]) for line in lines if line.startswith(name))


# ── for people ──────────────────────────────────────────────────────────────────────────────────


def is_kept(row: Result) -> bool:
    """Whether the limit of seconds was kept."""
    return row["taken"] is not None and row["taken"] <= FACTOR * row["asked"] + SLACK


def failed(result: Result) -> bool:
    """Whether a limit of seconds was not kept."""
    return not all(map(is_kept, result["rows"]))


def _row(row: Result) -> list[str]:
    taken, worked = ("–" if row[key] is None else f"{row[key]:.2f}" for key in ("taken", "worked"))
    grown = "–" if row["megabytes"] is None else f"{row['megabytes']:,}"
    gap = "" if not row["gap"] else f", gap {row['gap']:.4g}"
    kept = "yes" if is_kept(row) else "NO"
    return [
        row["problem"],
        row["decoder"],
        f"{row['asked']:g}",
        taken,
        worked,
        kept,
        grown,
        row["status"] + gap,
    ]


def table(result: Result) -> list[list[str]]:
    """One row per problem, decoder and limit, the head first."""
    head = [
        "problem",
        "decoder",
        "asked (s)",
        "taken (s)",
        "of the processor (s)",
        "kept",
        "memory grown (MiB)",
        "answer",
    ]
    return [head, *map(_row, result["rows"])]
