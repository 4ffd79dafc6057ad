"""What deciding entities and relations together costs, against an integer program made for each sentence.

    conll04       every sentence, scores drawn around what is true, argument types and more as hard rules:
                  conseq one at a time and all at once, scipy's `milp` from scratch, in one process
    dense         24 entities, 552 pairs, a symmetric, an acyclic and limited relations, several seeds
    candidates    spans that overlap with scores of types, typed pairs with scores, as extractors like
                  GLiNER2 give them: how often greedy search and a beam miss the optimum

Compilation happens before the clock starts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import timed
from conseq.constraints.relational import RelationRule
from conseq.constraints.relational.language import parse_relation_rules
from conseq.decoders.base import Limits
from conseq.decoders.relation_problem import RelationDecoding, RelationProblem
from conseq.decoders.relations import decode_relations
from conseq.decoders.variables.beam import VariableBeam
from conseq.dtypes import Floats, Ints
from conseq.entities import NONE, Candidates, Sentence, Types, all_pairs, types_of
from conseq.io.sentences import read_sentences
from conseq.problem import Status
from experiments.machine import describe

FILES = ("train", "dev", "test")
QUICK = 150
"""Sentences of a quick run."""
BESIDE = 300
"""Sentences for scipy, which takes long."""
TRUE, NOISE, RARE = 2.5, 1.0, 3.5
"""What the true values gain, the spread of the noise, and what no relation gains for each pair."""
SAME = 1e-6
"""Scores that differ by at most this times (1 + |score|) are equal."""
SIGNATURES = """
Located_In(Loc, Loc)            hard
Work_For(Peop, Org)             hard
OrgBased_In(Org, Loc)           hard
Live_In(Peop, Loc)              hard
Kill(Peop, Peop)                hard
"""
DENSE = """
spouse(person, person)          hard
spouse is symmetric             hard
part_of(organisation, organisation)  hard
part_of is acyclic              hard
at most 1 part_of per head      hard
at most 2 spouse per head       hard
works(person, organisation)     hard
at most 1 works per head        hard
"""
LONGEST = Limits(seconds=30)
DENSE_TYPES = Types(("person", "organisation", "place"), ("spouse", "part_of", "works"))
DENSE_LIMITS = (("rare", 2.0), ("frequent", 1.0))
"""How much no relation gains over each relation: by two standard deviations, by one."""
EXTRACTED = """
entities but O do not overlap   hard
works_for(person, company)      hard
based_in(company, place)        hard
lives_in(person, place)         hard
at most 1 relation per pair     hard
at most 1 lives_in per head     hard
"""
EXTRACTED_TYPES = Types(("O", "person", "company", "place"), ("works_for", "based_in", "lives_in"))

Say = Callable[[str], None]
Result = dict[str, Any]


def run(data: Path, quick: bool, say: Say) -> Result:
    """All three parts."""
    sentences = [s for name in FILES for s in read_sentences(data / "conll04" / f"{name}.jsonl")]
    return {
        "machine": describe(),
        "conll04": conll04(sentences[:QUICK] if quick else sentences, say),
        "dense": dense(2 if quick else 10, say),
        "candidates": candidates(20 if quick else 200, say),
    }


def table(result: Result) -> list[list[str]]:
    """Rows for people."""
    found = result["conll04"]
    rows = [
        ["conll04", ""],
        ["sentences", str(found["sentences"])],
        ["median, 99 % (ms), one at a time", _two(found["milliseconds"])],
        ["a sentence (ms), all at once", f"{found['milliseconds_in_batch']:.3f}"],
        ["median, 99 % (ms), scipy's milp from scratch", _two(found["milp_milliseconds"])],
        ["times as fast as milp", f"{found['speedup_over_milp']:.0f}"],
        ["answers that score the same", f"{found['same']:.2%}"],
        ["certified", f"{found['certified']:.2%}"],
        ["nothing was violated / searched / left to HiGHS", " / ".join(f"{s:.1%}" for s in found["steps"])],
        ["relaxation whole; its rounding legal", f"{found['integral']:.2%}; {found['rounding_legal']:.2%}"],
    ]
    for name, one in result["dense"].items():
        rows.append([f"24 entities, relations {name}: seconds, median and most", _two(one["seconds"], 1)])
        rows.append([f"24 entities, relations {name}: certified", f"{one['certified']:.0%}"])
    for name, share in result["candidates"]["missed"].items():
        rows.append([f"candidates, {name}: misses the optimum", f"{share:.1%}"])
    return [["what", "figure"], *rows]


def _two(figures: Sequence[float] | dict[str, float], scale: float = 1.0) -> str:
    values = list(figures.values()) if isinstance(figures, dict) else figures
    return ", ".join(f"{scale * value:.3f}" for value in values)


# ── conll04 ─────────────────────────────────────────────────────────────────────────────────────


def conll04(sentences: Sequence[Sentence], say: Say) -> Result:
    """Ours and scipy's times on the same scores."""
    types = types_of(sentences)
    names: dict[str, Any] = {
        "entities": types.entities,
        "relations": (NONE, *types.relations),
        "constraints": SIGNATURES,
    }
    rng = np.random.default_rng(4)
    scores = [drawn(rng, sentence, types) for sentence in sentences]
    decode_relations(*scores[0], **names)
    say(f"{len(scores)} sentences one at a time")
    runs = [timed(partial(decode_relations, *one, **names)) for one in scores]
    found: list[RelationDecoding] = [answer for _, answer in runs]
    batch, _ = timed(lambda: decode_relations(*map(list, zip(*scores, strict=True)), **names))
    compared = found[:: max(1, len(found) // BESIDE)]
    say(f"{len(compared)} sentences with scipy's milp")
    rivals = [timed(partial(milp_score, one.problem)) for one in compared]
    ours = [seconds for seconds, _ in runs][:: max(1, len(found) // BESIDE)]
    same = [abs(a.score - b) <= SAME * (1 + abs(b)) for a, (_, b) in zip(compared, rivals, strict=True)]
    relaxed = [one.problem.solve("lp") for one in compared]
    searched = [one.problem.solve(limits=Limits(nodes=0)) for one in found]
    plain = np.array([one.certificate.iterations == 0 for one in found])
    by_search = np.array([one.certificate.status is Status.OPTIMAL for one in searched]) & ~plain
    return {
        "sentences": len(found),
        "milliseconds": spread([seconds for seconds, _ in runs]),
        "milliseconds_in_batch": 1000 * batch / len(found),
        "milp_milliseconds": spread([seconds for seconds, _ in rivals]),
        "speedup_over_milp": float(np.median([b / a for a, (b, _) in zip(ours, rivals, strict=True)])),
        "same": float(np.mean(same)),
        "certified": float(np.mean([one.certificate.status is Status.OPTIMAL for one in found])),
        "steps": [float(plain.mean()), float(by_search.mean()), float((~plain & ~by_search).mean())],
        "integral": float(np.mean([bool(one.integral) for one in relaxed])),
        "rounding_legal": float(np.mean([bool(one.rounding_legal) for one in relaxed])),
    }


def spread(seconds: Sequence[float]) -> dict[str, float]:
    """Milliseconds."""
    return {"median": 1000 * float(np.median(seconds)), "p99": 1000 * float(np.percentile(seconds, 99))}


def drawn(rng: np.random.Generator, sentence: Sentence, types: Types) -> tuple[Floats, Floats]:
    """Noise, and something for what is true."""
    n, pairs = len(sentence.entities), all_pairs(len(sentence.entities))
    of_entities = rng.normal(0, NOISE, (n, len(types.entities)))
    of_pairs = rng.normal(0, NOISE, (len(pairs), len(types.relations) + 1))
    of_pairs[:, 0] += RARE
    for i, entity in enumerate(sentence.entities):
        of_entities[i, types.entities.index(entity.type)] += TRUE
    place = Candidates(n, pairs).place
    for one in sentence.relations:
        of_pairs[place[one.head, one.tail], types.relations.index(one.type) + 1] += RARE + TRUE
    return of_entities, of_pairs


def milp_score(problem: RelationProblem) -> float:
    """The optimum by an integer program made and solved for this sentence alone; all rules are hard."""
    from scipy import sparse
    from scipy.optimize import Bounds, LinearConstraint, milp

    types, given = problem.types, problem.candidates
    sizes = [len(types.entities)] * given.n_entities + [len(types.relations) + 1] * len(given.pairs)
    if not sizes:
        return 0.0
    owner = np.repeat(np.arange(len(sizes)), sizes)
    one_each = sparse.csr_matrix((np.ones(len(owner)), (owner, np.arange(len(owner)))))
    parts: list[Any] = [LinearConstraint(one_each, 1, 1)]
    for rule in problem.rules:
        sums = rule.lower(types, given)
        if len(sums.bound):
            shape = len(sums.bound), len(owner)
            rows = sparse.csr_matrix((sums.weight, (sums.row, sums.indicator)), shape=shape)
            parts.append(LinearConstraint(rows, -np.inf, sums.bound))
    answer = milp(-problem.scores, integrality=np.ones(len(owner)), bounds=Bounds(0, 1), constraints=parts)
    return float(-answer.fun)


# ── dense sentences ─────────────────────────────────────────────────────────────────────────────


def dense(seeds: int, say: Say) -> Result:
    """Seconds for 24 entities that may all be related."""
    rules = tuple(parse_relation_rules(DENSE, DENSE_TYPES))
    _dense_problem(0, 4, 2.0, rules).solve()
    found: Result = {}
    for name, shift in DENSE_LIMITS:
        say(f"24 entities, relations {name}")
        problems = [_dense_problem(seed, 24, shift, rules) for seed in range(seeds)]
        answers = [problem.solve(limits=LONGEST) for problem in problems]
        seconds = [one.certificate.seconds for one in answers]
        found[name] = {
            "seconds": {"median": float(np.median(seconds)), "most": max(seconds)},
            "certified": float(np.mean([one.certificate.status is Status.OPTIMAL for one in answers])),
        }
    return found


def _dense_problem(seed: int, n: int, shift: float, rules: tuple[RelationRule, ...]) -> RelationProblem:
    rng = np.random.default_rng(seed)
    of_pairs = rng.normal(0, 1, (n * (n - 1), 4))
    of_pairs[:, 0] += shift
    scores = np.concatenate([rng.normal(0, 1, 3 * n), of_pairs.reshape(-1)])
    return RelationProblem(DENSE_TYPES, Candidates(n, all_pairs(n)), scores, rules)


# ── candidates of an extractor ──────────────────────────────────────────────────────────────────


def candidates(sentences: int, say: Say) -> Result:
    """How often the searches that are not exact miss the optimum."""
    say(f"{sentences} sentences of candidates")
    rules = tuple(parse_relation_rules(EXTRACTED, EXTRACTED_TYPES))
    problems = [extracted(seed, rules) for seed in range(sentences)]
    begun = time.perf_counter()
    best = [problem.solve() for problem in problems]
    seconds = time.perf_counter() - begun
    missed = {}
    for name, width in (("greedy", 1), ("a beam of 8", 8)):
        found = [problem.solve(VariableBeam(width)) for problem in problems]
        short = [a.score < b.score - SAME * (1 + abs(b.score)) for a, b in zip(found, best, strict=True)]
        missed[name] = float(np.mean(short))
    certified = float(np.mean([one.certificate.status is Status.OPTIMAL for one in best]))
    return {"missed": missed, "certified": certified, "milliseconds": 1000 * seconds / sentences}


def extracted(seed: int, rules: tuple[RelationRule, ...]) -> RelationProblem:
    """Up to 12 spans with the log odds of each type, and of each relation for the pairs that may have one."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 13))
    start = rng.integers(0, 2 * n, n)
    spans: Ints = np.column_stack([start, start + rng.integers(1, 4, n)])
    of_entities = rng.normal(-0.5, 1.5, (n, 4))
    of_entities[:, 0] = 0.0
    pairs = all_pairs(n)
    pairs = pairs[rng.random(len(pairs)) < 0.5]
    of_pairs = rng.normal(-1.5, 1.5, (len(pairs), 4))
    of_pairs[:, 0] = 0.0
    scores = np.concatenate([of_entities.reshape(-1), of_pairs.reshape(-1)])
    tokens = ("w",) * int(spans.max(initial=0))
    return RelationProblem(EXTRACTED_TYPES, Candidates(n, pairs, spans, tokens), scores, rules)
