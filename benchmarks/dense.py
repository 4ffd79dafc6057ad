"""Hard problems: long sequences, many labels, hundreds of rules that a hidden labelling mostly keeps.

    seed ─→ a hidden labelling ─→ scores that hint at it, rules that it mostly keeps ─→ `auto`, some seconds
         ─→ certified? the gap, the seconds

Rules interact here as they do in no model learned from data: wherever the scores are followed many of them
are broken at once. What counts is how many answers are proved, and how small the gaps of the others are.
"""

from __future__ import annotations

import math
import string
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import conseq
from benchmarks.random_rules import RULES, Draw
from conseq.constraints import HARD, Constraint, Legal, OnlySteps
from conseq.decoders.auto import find_decoder
from conseq.problem import Decoding
from conseq.schema import Schema

Rng = np.random.Generator
Result = dict[str, Any]
Say = Callable[[str], None]

PROBLEMS, SECONDS = 20, 30.0
QUICK_PROBLEMS, QUICK_SECONDS = 3, 3.0
KEPT = 0.95
"""The share of rules that the hidden labelling keeps; the others are soft."""
HARD_SHARE = 0.4
"""Of the rules that it keeps, those that are hard."""
PENALTIES = (0.5, 1.0, 2.0, 4.0, 8.0)
LEFT_OUT = (Legal, OnlySteps)
"""Rules about single steps alone: they forbid so much that the others would have nothing left to say."""
WORDS = (",", "x", "42", *(f"w{k}" for k in range(40)))


def run(
    *, data: object = None, quick: bool = False, say: Say = print, seed: int = 0, decoder: str = "auto"
) -> Result:
    """Decode the problems of the seeds from `seed` on, each for some seconds."""
    count, seconds = (QUICK_PROBLEMS, QUICK_SECONDS) if quick else (PROBLEMS, SECONDS)
    find_decoder(decoder)
    conseq.decode(**random_case(seed), decoder=decoder, limits={"seconds": seconds})  # compiles
    rows = []
    for number in range(seed, seed + count):
        begun = time.perf_counter()
        case = random_case(number)
        found = conseq.decode(**case, decoder=decoder, limits={"seconds": seconds})
        rows.append(_row(number, case, found, time.perf_counter() - begun))
        say(f"{number}: {rows[-1]['status']} after {rows[-1]['seconds']:.1f} s")
    return {
        "limit": seconds,
        "decoder": decoder,
        "problems": rows,
        "certified": sum(row["status"] in ("OPTIMAL", "INFEASIBLE") for row in rows),
        "median_seconds": float(np.median([row["seconds"] for row in rows])),
    }


def _row(number: int, case: dict[str, Any], found: Decoding, seconds: float) -> Result:
    certificate = found.certificate
    return {
        "seed": number,
        "tokens": len(case["tokens"]),
        "labels": len(case["labels"]),
        "rules": len(case["constraints"]),
        "hard": sum(rule.penalty == HARD for rule in case["constraints"]),
        "status": certificate.status.name,
        "score": None if found.labels is None else found.score,
        "gap": None if found.labels is None else certificate.gap,
        "seconds": seconds,
    }


def table(result: Result) -> list[list[str]]:
    """One row per problem, the head first, all of them last."""
    head = ["seed", "tokens", "labels", "rules", "of them hard", "status", "score", "gap", "seconds"]
    rows = [head]
    for row in result["problems"]:
        scores = ["–" if row[key] is None else f"{row[key]:.2f}" for key in ("score", "gap")]
        shape = [str(row[key]) for key in ("seed", "tokens", "labels", "rules", "hard", "status")]
        rows.append([*shape, *scores, f"{row['seconds']:.1f}"])
    certified = f"{result['certified']} of {len(result['problems'])} certified"
    return [*rows, ["all", "", "", "", "", certified, "", "", f"{result['median_seconds']:.1f} (median)"]]


# ── problems ────────────────────────────────────────────────────────────────────────────────────


def random_case(seed: int) -> dict[str, Any]:
    """The arguments of `conseq.decode`."""
    rng = np.random.default_rng(seed)
    length, size = int(rng.integers(50, 201)), int(rng.integers(10, 61))
    schema = _schema(rng, size)
    hidden = _labelling(rng, length, size)
    scale = float(rng.choice([1.0, 2.0]))
    unary = rng.normal(0, scale, (length, size))
    unary[np.arange(length), hidden] += scale * float(rng.choice([0.5, 1.0, 2.0]))
    pairwise = rng.normal(0, 0.5, (size, size)) + float(rng.choice([0.0, 2.0])) * np.eye(size)
    tokens = [str(word) for word in rng.choice(WORDS, length)]
    count = round(math.exp(rng.uniform(math.log(20), math.log(301))))
    return {
        "unary": unary,
        "pairwise": pairwise,
        "labels": list(schema.labels),
        "scheme": str(schema.scheme),
        "constraints": list(_rules(rng, schema, hidden, tokens, count)),
        "tokens": tokens,
    }


def _schema(rng: Rng, size: int) -> Schema:
    names = [f"{a}{b}" for a in string.ascii_lowercase for b in "xyz"]
    if rng.random() < 0.5:
        return Schema(["O", *names[: size - 1]], "plain")
    labels = [f"{letter}-{name}" for name in names for letter in "BI"]
    return Schema(["O", *labels[: size - 1]], "bio")


def _labelling(rng: Rng, length: int, size: int) -> NDArray[np.int64]:
    """Segments of one to six tokens, with one half of the labels."""
    used = rng.permutation(size)[: max(2, size // 2)]
    segments = [np.full(int(rng.integers(1, 7)), rng.choice(used)) for _ in range(length)]
    return np.concatenate(segments)[:length]


def _rules(
    rng: Rng, schema: Schema, hidden: NDArray[np.int64], tokens: list[str], count: int
) -> Iterator[Constraint]:
    """Rules of all classes; most of them are kept by the hidden labelling."""
    draw = Draw(rng, schema)
    classes = [kind for kind in RULES if kind not in LEFT_OUT]
    labels = schema.decode(hidden)
    while count:
        kept = draw.chance(KEPT)
        penalty = HARD if kept and draw.chance(HARD_SHARE) else float(draw.one(PENALTIES))
        rule = RULES[draw.one(classes)](draw, penalty)
        if not kept or rule.violation(labels, schema, tokens) == 0:
            count -= 1
            yield rule
