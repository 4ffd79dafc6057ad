"""Problems of the size that people have: `auto` against every other decoder, each with a few seconds.

seed, number ─→ 20 to 200 tokens, 5 to 40 labels, 1 to 30 rules ─→ answers of all decoders ─→ do they agree?
                one in ten: 2,000 to 10,000 tokens, 5 to 12 labels, 1 to 5 rules

There is no truth to compare with, but no score may exceed any bound, nobody may find what another says is not
there, and `auto` should be as good as the best of them in comparable time: it has three times as long.
"""

from __future__ import annotations

import string
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.random_rules import random_rules
from benchmarks.soak_crew import Findings, Task, said
from benchmarks.soak_truth import WORDS, Rng
from conseq.constraints import HARD
from conseq.constraints.language import format_constraints
from conseq.corpus import Corpus
from conseq.decoders.auto import DECODERS
from conseq.decoders.base import Limits
from conseq.kernels.rounding import rounding
from conseq.potentials import Potentials
from conseq.problem import TOLERANCE, Decoding, Problem, Problems, Status
from conseq.schema import Schema

SECONDS = {"auto": 6.0}
OTHERWISE = 2.0
AGAIN = 20.0
"""Seconds for `auto` if it seems worse: another program may have had the processor when it was asked."""
LONG_SHARE = 0.1
"""Of the problems, those with thousands of tokens."""
LEFT_OUT = ("enumerate", "twostage")
"""Too many labellings; another objective."""
PENALTIES = (0.3, 1.0, 1.0, 2.5, 6.0, 6.0, 1e6, HARD)
WORSE = "worse_than_another_decoder"
LETTERS = {"iob1": "IB", "bio": "BI", "bioes": "BIES"}


def run(task: Task) -> Findings:
    """Decode one problem with all decoders."""
    rng = np.random.default_rng(task.entropy)
    problem = random_problem(rng)
    findings = Findings(task)
    findings.count("problems")
    found: dict[str, Decoding] = {}

    def about(name: str) -> dict[str, Any]:
        rules = format_constraints(problem.program.rules).splitlines()
        return {"decoder": name, "tokens": problem.n_tokens, "labels": problem.n_states, "rules": rules}

    for name in DECODERS:
        if name not in LEFT_OUT:
            findings.examine(partial(_answer, problem, name, found), partial(about, name))
    for name, other in found.items():
        findings.examine(partial(_contradicted, found, other), partial(about, name))
    if "auto" in found:
        best = max(found, key=lambda name: found[name].score)
        findings.examine(partial(_better, found[best], found["auto"]), partial(about, best), WORSE)
    return findings


def random_problem(rng: Rng) -> Problem:
    """Scores with a taste for staying in a label, as those of trained models have."""
    is_long = rng.random() < LONG_SHARE
    tokens, labels, most = ((2_000, 10_000), (5, 12), 5) if is_long else ((20, 200), (5, 40), 30)
    length, wanted = int(rng.integers(*tokens, endpoint=True)), int(rng.integers(*labels, endpoint=True))
    schema = _schema(rng, wanted)
    size = len(schema)
    scale = float(rng.choice([0.5, 1.5, 5.0]))
    potentials = Potentials.of(
        rng.normal(0, scale, (length, size)),
        rng.normal(0, 1, (size, size)) + float(rng.choice([0.0, 2.0, 4.0])) * np.eye(size),
        rng.normal(0, 1, size),
    )
    words = np.append(np.array(WORDS), [f"w{k}" for k in range(30)])
    corpus = Corpus.from_sequences([[str(word) for word in rng.choice(words, length)]])
    rules = random_rules(rng, schema, int(rng.integers(1, most, endpoint=True)), PENALTIES)
    return Problems.of(potentials, schema, rules, corpus)[0]


def _schema(rng: Rng, size: int) -> Schema:
    scheme = str(rng.choice(["plain", "iob1", "bio", "bioes"]))
    names = [f"{a}{b}" for a in string.ascii_lowercase for b in "xy"]
    if scheme == "plain":
        return Schema(["O", *names[: size - 1]], scheme)
    labels = [f"{letter}-{name}" for name in names for letter in LETTERS[scheme]]
    return Schema(["O", *labels[: size - 1]], scheme)


# ── what may be wrong ───────────────────────────────────────────────────────────────────────────


def _answer(problem: Problem, name: str, found: dict[str, Decoding]) -> Iterator[str]:
    """What is wrong with one answer in itself."""
    one = DECODERS[name]().decode(problem, limits=Limits(seconds=SECONDS.get(name, OTHERWISE)))
    found[name] = one
    if one.states is None:
        return
    again = problem.score(one.states)
    if abs(one.score - again) > 1e-12 * (1 + abs(again)):
        yield f"the score is {one.score}, and Problem.score {again}"
    if not one.certificate.bound >= one.score:
        yield f"the bound {one.certificate.bound} is below the score {one.score}"


def _contradicted(found: dict[str, Decoding], one: Decoding) -> Iterator[str]:
    """Answers that cannot be true if this one is."""
    for name, other in found.items():
        if other.states is None:
            continue
        if one.certificate.status is Status.INFEASIBLE:
            yield f"INFEASIBLE, and {name} says {said(other)}"
        elif one.certificate.bound < other.score - rounding(other.score, TOLERANCE):
            yield f"{said(one)}, and {name} says {said(other)}"


def _better(other: Decoding, auto: Decoding) -> Iterator[str]:
    """Whether the best of the others is better than `auto`, and still is once that had more time."""
    if not _is_worse(auto, other):
        return
    again = DECODERS["auto"]().decode(auto.problem, limits=Limits(seconds=AGAIN))
    if _is_worse(again, other):
        yield f"{said(other)}, and auto {said(again)}"


def _is_worse(one: Decoding, other: Decoding) -> bool:
    return other.score > -np.inf and one.score < other.score - rounding(other.score, TOLERANCE)
