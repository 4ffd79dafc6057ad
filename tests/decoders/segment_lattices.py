"""Random lattices of segments, and all their paths by recursion over the segments.

    seed ─→ random_case ─→ Case: segments, scores, rules ─→ Case.lattice, Case.problem
                             └─→ Case.paths: labels, score, cost of each path, added up one by one

A segment covers 1 to 5 tokens; several may cover the same tokens, with other labels or with the same. Scores
of −inf, tokens that no segment covers and sequences without tokens occur, and so do rules that no path
satisfies.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from problems_of_all_rules import FORBIDDEN, SCHEMAS, SIZES, WORDS, random_rules, random_scores

from conseq.constraints import Constraint
from conseq.corpus import Corpus
from conseq.decoders.lattice.lattice import Lattice
from conseq.decoders.lattice.segments import Segment, segment_lattice
from conseq.potentials import Potentials
from conseq.problem import Problem, Problems
from conseq.schema import Schema

LONGEST = 5
MOST_TOKENS = 7
MOST_PATHS = 150

Edge = tuple[int, int, tuple[int, ...]]
"""The first token, the label before it, and the labels of the tokens covered; none on the way to the sink."""


class Path(NamedTuple):
    """One path: its labels, its score without rules, what the rules charge, its segments by number."""

    labels: tuple[int, ...]
    score: float
    cost: float
    hard: bool  # whether it breaks a hard rule
    segments: tuple[int, ...]

    @property
    def charged(self) -> float:
        return self.score - self.cost


@dataclass(frozen=True, eq=False)
class Case:
    schema: Schema
    words: list[str]
    segments: list[Segment]
    pairwise: np.ndarray | None  # [Y,Y]
    start: np.ndarray | None  # [Y]
    end: np.ndarray | None  # [Y]
    rules: list[Constraint]

    @cached_property
    def lattice(self) -> Lattice:
        return segment_lattice(
            self.segments, len(self.words), len(self.schema), self.pairwise, self.start, self.end
        )

    @cached_property
    def problem(self) -> Problem:
        """The rules, lowered for the words; they are not the first of their corpus."""
        corpus = Corpus.from_sequences([["x", "7"], self.words])
        zeros = Potentials.of(np.zeros((corpus.n_tokens, len(self.schema))), offsets=corpus.offsets)
        return Problems.of(zeros, self.schema, self.rules, corpus)[1]

    @cached_property
    def paths(self) -> list[Path]:
        """All paths of a score above −inf."""
        found = []
        costs: dict[tuple[int, ...], tuple[float, bool]] = {}
        for labels, score, segments in self._grow(0, (), 0.0, ()):
            if score > -np.inf:
                if labels not in costs:
                    costs[labels] = self._cost(labels)
                found.append(Path(labels, score, *costs[labels], segments))
        return found

    def _grow(
        self, at: int, labels: tuple[int, ...], score: float, segments: tuple[int, ...]
    ) -> Iterator[tuple[tuple[int, ...], float, tuple[int, ...]]]:
        if at == len(self.words):
            last = 0.0 if self.end is None or not labels else float(self.end[labels[-1]])
            yield labels, score + last, segments
        for k, segment in enumerate(self.segments):
            if segment.start == at:
                step = self._step(labels, int(segment.labels[0]))
                after = (*labels, *map(int, segment.labels))
                gained = score + step + segment.score
                yield from self._grow(at + len(segment.labels), after, gained, (*segments, k))

    def _step(self, labels: tuple[int, ...], label: int) -> float:
        if not labels:
            return 0.0 if self.start is None else float(self.start[label])
        return 0.0 if self.pairwise is None else float(self.pairwise[labels[-1], label])

    def _cost(self, labels: tuple[int, ...]) -> tuple[float, bool]:
        names = [self.schema.labels[label] for label in labels]
        cost, hard = 0.0, False
        for rule in self.rules:
            violation = rule.violation(names, self.schema, self.words)
            cost += rule.cost(violation)
            hard |= rule.is_hard and violation > 0
        return cost, hard

    def edges_of(self, path: Path) -> list[Edge]:
        """The edges that a path takes."""
        before, found = len(self.schema), []
        for k in path.segments:
            labels = tuple(map(int, self.segments[k].labels))
            found.append((self.segments[k].start, before, labels))
            before = labels[-1]
        return [*found, (len(self.words), before, ())]

    @cached_property
    def scale(self) -> float:
        """The largest score or cost of a path: what rounding goes by."""
        sizes = [abs(x) for path in self.paths for x in (path.score, path.cost) if np.isfinite(x)]
        return (
            1
            + max(sizes, default=0.0)
            + max((abs(s.score) for s in self.segments if s.score > -np.inf), default=0)
        )


def edges_of(lattice: Lattice) -> list[Edge]:
    """Every edge of a lattice, as `Case.edges_of` has them."""
    size, steps, found = lattice.n_labels + 1, lattice.steps, []
    for a, b in zip(steps.first[:-1].tolist(), steps.first[1:].tolist(), strict=True):
        labels = tuple(state for state in steps.state[a:b].tolist() if state >= 0)
        found.append((int(steps.token[a]), int(steps.pair[a]) // size, labels))
    return found


@lru_cache(maxsize=5000)
def random_case(seed: int) -> Case:
    """A lattice of few enough paths to list them all, with up to 5 rules."""
    rng = np.random.default_rng(seed)
    schema = SCHEMAS[int(rng.integers(len(SCHEMAS)))]
    length = int(rng.integers(0, MOST_TOKENS + 1))
    words = [str(word) for word in rng.choice(WORDS, length)]
    size, n_labels = float(rng.choice(SIZES)), len(schema)
    shapes = ((n_labels, n_labels), (n_labels,), (n_labels,))
    scores = [
        random_scores(rng, size, rng.choice(FORBIDDEN), *shape) if rng.random() < 0.7 else None
        for shape in shapes
    ]
    rules = random_rules(rng, schema, int(rng.integers(0, 6)))
    segments = random_segments(rng, length, n_labels, size)
    while True:
        case = Case(schema, words, segments, *scores, rules)
        if number_of_paths(segments, length) <= MOST_PATHS:
            return case
        segments = [segment for segment in segments if rng.random() < 0.9]


def random_segments(rng: np.random.Generator, length: int, n_labels: int, size: float) -> list[Segment]:
    density, forbidden = float(rng.choice([0.3, 0.6, 1.2, 2.0])), float(rng.choice(FORBIDDEN))
    segments = []
    for start in range(length):
        for width in range(1, min(LONGEST, length - start) + 1):
            for _ in range(rng.poisson(density * (2 if width == 1 else 1))):
                labels = rng.integers(0, n_labels, width)
                if rng.random() < 0.5:
                    labels[1:] = labels[min(1, width - 1)]  # as in B-a I-a I-a
                score = float(random_scores(rng, size, forbidden, 1)[0])
                segments.append(Segment(start, labels.tolist(), score))
    if segments and rng.random() < 0.2:
        segments.append(segments[int(rng.integers(len(segments)))])  # the same once more
    return [segments[i] for i in rng.permutation(len(segments))]


def number_of_paths(segments: list[Segment], length: int) -> int:
    count = [1, *[0] * length]
    for at in range(length):
        for segment in segments:
            if segment.start == at:
                count[at + len(segment.labels)] += count[at]
    return count[length]
