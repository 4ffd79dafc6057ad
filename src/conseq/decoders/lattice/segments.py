"""Lattices of segments or candidates that a user gives, whose edges label several tokens.

segments, scores of the steps between them ─→ segment_lattice ─→ Lattice
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from conseq.decoders.lattice.lattice import Lattice
from conseq.dtypes import Floats
from conseq.errors import ScoreError
from conseq.kernels.lattice import Graph, Steps
from conseq.potentials import numbers


class Segment(NamedTuple):
    """The tokens start … start + len(labels) − 1 with their labels, and what they add to the score."""

    start: int
    labels: Sequence[int]
    score: float


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
    size = n_labels + 1
    table = np.zeros((size, size))  # START and END are the last
    table[:-1, :-1] = _label_scores("pairwise", pairwise, (n_labels, n_labels))
    table[-1, :-1], table[:-1, -1] = (
        _label_scores(name, given, (n_labels,)) for name, given in (("start", start), ("end", end))
    )
    given = list(segments)
    _check_segments(given, n_tokens, n_labels)
    given = [s for s in given if s.score > -np.inf] + [Segment(n_tokens, [n_labels], 0.0)]  # END
    places = {(s.start + len(s.labels), int(s.labels[-1])) for s in given}
    nodes = [(0, n_labels), *sorted(places)]  # tokens before it, last label
    number = {node: i for i, node in enumerate(nodes)}
    starting: dict[int, list[Segment]] = {}
    for segment in given:
        starting.setdefault(segment.start, []).append(segment)
    first, targets, gains, begins = [0], [], [], [0]
    before: list[int] = []
    after: list[int] = []
    tokens: list[int] = []
    for place, last in nodes:
        for segment in starting.get(place, ()):
            stop = place + len(segment.labels)
            targets.append(number[stop, int(segment.labels[-1])])
            gains.append(segment.score + table[last, segment.labels[0]])
            before += [last, *segment.labels[:-1]]
            after += segment.labels
            tokens += range(place, stop)
            begins.append(len(after))
        first.append(len(targets))
    label = np.array(after, dtype=np.int64)
    pair, state = np.array(before, dtype=np.int64) * size + label, np.where(label < n_labels, label, -1)
    steps = Steps(np.array(begins), pair, np.array(tokens, dtype=np.int64), state.astype(np.int32))
    graph = Graph(np.array(first), np.array(targets, dtype=np.int64), np.array(gains, dtype=np.float64))
    position = np.minimum([place for place, _ in nodes], n_tokens)
    return Lattice(graph, steps, position, n_labels, n_labels).pruned()


def _label_scores(name: str, given: ArrayLike | None, shape: tuple[int, ...]) -> Floats:
    """The scores of labels or steps, 0 if none are given."""
    scores: Floats = np.zeros(shape) if given is None else numbers(name, given)
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
