"""Lattices of segments or candidates that a user gives, whose edges label several tokens.

segments, scores of the steps between them ─→ segment_lattice ─→ Lattice
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conseq.decoders.lattice.lattice import Lattice
from conseq.errors import ScoreError
from conseq.kernels.lattice import Graph, Steps

Floats = NDArray[np.float64]


class Segment(NamedTuple):
    """The tokens start … start + len(labels) − 1 with their labels, and what they add to the score."""

    start: int
    labels: Sequence[int]
    score: float


class _Edge(NamedTuple):
    source: int
    target: int
    gain: float
    labels: Sequence[int]  # of the tokens spanned


def segment_lattice(
    segments: Iterable[Segment],
    n_tokens: int,
    n_labels: int,
    pairwise: ArrayLike | None = None,
    start: ArrayLike | None = None,
    end: ArrayLike | None = None,
) -> Lattice:
    """All segmentations of the tokens that the given segments allow.

    pairwise[Y,Y] scores the step from the last label of a segment to the first one of the next, start[Y]
    and end[Y] the first and last labels.

    >>> segments = [Segment(0, [0], 1.0), Segment(1, [1], 1.0), Segment(0, [1, 1], 2.5)]
    >>> segment_lattice(segments, n_tokens=2, n_labels=2).best(3)
    (array([[1, 1],
           [0, 1]], dtype=int32), array([2.5, 2. ]))
    """
    steps = _label_scores("pairwise", pairwise, (n_labels, n_labels))
    first, last = _label_scores("start", start, (n_labels,)), _label_scores("end", end, (n_labels,))
    given = list(segments)
    _check_segments(given, n_tokens, n_labels)
    given = [segment for segment in given if segment.score > -np.inf]
    ends = {(s.start + len(s.labels), int(s.labels[-1])) for s in given}
    nodes = [(0, n_labels), *sorted(ends), (n_tokens, n_labels)]  # tokens before it, last label
    number = {node: i for i, node in enumerate(nodes[:-1])}
    sources: dict[int, list[int]] = {}
    for i, (place, _) in enumerate(nodes[:-1]):
        sources.setdefault(place, []).append(i)
    edges = []
    for segment in given:
        target = number[segment.start + len(segment.labels), int(segment.labels[-1])]
        for source in sources.get(segment.start, ()):
            before, label = nodes[source][1], segment.labels[0]
            gain = segment.score + (first[label] if source == 0 else steps[before, label])
            edges.append(_Edge(source, target, gain, segment.labels))
    for source in sources.get(n_tokens, ()):
        gain = 0.0 if source == 0 else float(last[nodes[source][1]])
        edges.append(_Edge(source, len(nodes) - 1, gain, ()))
    return _of_edges(sorted(edges, key=lambda edge: edge.source), nodes, n_labels).pruned()


def _of_edges(edges: list[_Edge], nodes: list[tuple[int, int]], n_labels: int) -> Lattice:
    """Edges in the order of their sources."""
    position = np.array([place for place, _ in nodes])
    pairs: list[int] = []
    tokens: list[int] = []
    states: list[int] = []
    begins = [0]
    for source, target, _, labels in edges:
        ends = target == len(nodes) - 1
        path = [nodes[source][1], *labels, *([n_labels] if ends else [])]
        pairs += [a * (n_labels + 1) + b for a, b in itertools.pairwise(path)]
        tokens += range(nodes[source][0], nodes[source][0] + len(path) - 1)
        states += [*labels, *([-1] if ends else [])]
        begins.append(len(pairs))
    columns = [begins, pairs, tokens, [edge.source for edge in edges], [edge.target for edge in edges]]
    first_step, pair, token, sources, targets = (np.array(column, dtype=np.int64) for column in columns)
    first = np.searchsorted(sources, np.arange(len(nodes) + 1)).astype(np.int64)
    graph = Graph(first, targets, np.array([edge.gain for edge in edges], dtype=np.float64))
    steps = Steps(first_step, pair, token, np.array(states, dtype=np.int32))
    return Lattice(graph, steps, position, n_labels, n_labels)


def _label_scores(name: str, given: ArrayLike | None, shape: tuple[int, ...]) -> Floats:
    """The scores of labels or steps, 0 if none are given."""
    scores: Floats = np.zeros(shape) if given is None else np.asarray(given, dtype=np.float64)
    if scores.shape != shape:
        raise ScoreError(f"{name} has the shape {scores.shape}; give scores of the shape {shape}")
    if not (scores < np.inf).all():
        raise ScoreError(f"{name} has a score that is +inf or not a number; give numbers, or -inf")
    return scores


def _check_segments(segments: Sequence[Segment], n_tokens: int, n_labels: int) -> None:
    for segment in segments:
        inside = 0 <= segment.start < segment.start + len(segment.labels) <= n_tokens
        if not inside or not all(0 <= label < n_labels for label in segment.labels):
            raise ScoreError(
                f"{segment} does not fit {n_tokens} tokens and {n_labels} labels (from 0); "
                "give tokens inside the sequence, one label or more, and labels that there are"
            )
        if not segment.score < np.inf:
            raise ScoreError(f"{segment} has a score that is +inf or not a number; give a number, or -inf")
