"""Labels → segments.  ids[T] and offsets[N+1] → `SpanArrays`, by looking up pairs of neighbours.

    begin[t] = begins_k[y_{t−1}, y_t]          end[t] = ends_k[y_t, y_{t+1}]

so the n-th beginning belongs to the n-th ending, and no loop over tokens is needed.
Axes: T tokens, N sequences, Y labels, L levels, M segments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from conseq.dtypes import Bools, Ints
from conseq.errors import SchemaError
from conseq.kept import kept
from conseq.schema.scheme import Scheme, parse_freely
from conseq.schema.tables import LabelTables

CONLLEVAL, STRICT = MODES = ("conlleval", "strict")
"""How segments are read: forgivingly as conlleval does, or only where they begin and end soundly."""


class Span(NamedTuple):
    """A segment: tokens start … end−1, its type (the full path), its level (0 = outermost)."""

    start: int
    end: int
    type: str
    level: int = 0


@dataclass(frozen=True, eq=False)
class SpanArrays:
    """Segments as parallel arrays, by start and then from the outermost in."""

    sequence: Ints  # [M]
    start: Ints  # [M] first token, counted over all sequences
    end: Ints  # [M] one past the last token
    level: Ints  # [M]
    type: Ints  # [M] index into the schema's types
    leaf: Bools  # [M] no token of the segment lies in a segment of a deeper level

    def __len__(self) -> int:
        return len(self.start)

    def take(self, which: NDArray) -> SpanArrays:
        """The segments of a mask or of indices."""
        return SpanArrays(*(getattr(self, field.name)[which] for field in fields(self)))

    def spans(self, types: tuple[str, ...]) -> Iterator[Span]:
        """One by one, positions counted over all sequences."""
        rows = zip(
            self.start.tolist(), self.end.tolist(), self.type.tolist(), self.level.tolist(), strict=True
        )
        return (Span(start, end, types[p], level) for start, end, p, level in rows)

    def by_sequence(self, types: tuple[str, ...], offsets: NDArray) -> list[list[Span]]:
        """A list for each sequence, positions counted within it; [N]."""
        shift = np.asarray(offsets)[self.sequence]
        spans = list(replace(self, start=self.start - shift, end=self.end - shift).spans(types))
        bounds = np.searchsorted(self.sequence, np.arange(len(offsets))).tolist()
        return [spans[a:b] for a, b in pairwise(bounds)]


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Each token's label and the labels beside it; beyond the ends of its sequence Y. All [T]."""

    before: Ints
    here: Ints
    after: Ints
    base: int  # Y+1

    @classmethod
    def of(cls, ids: NDArray, offsets: NDArray, n_labels: int) -> Neighbours:
        here = np.where(ids < 0, n_labels, ids).astype(np.int64)
        first = offsets[:-1][np.diff(offsets) > 0]
        before, after = np.roll(here, 1), np.roll(here, -1)
        before[first] = n_labels
        after[first - 1] = n_labels
        return cls(before, here, after, n_labels + 1)

    def into(self, table: Bools, tokens: NDArray | slice = slice(None)) -> Bools:
        """table[Y+1, Y+1] at (label before, label) of each token."""
        return table.ravel().take(self.before[tokens] * self.base + self.here[tokens])

    def out(self, table: Bools, tokens: NDArray | slice = slice(None)) -> Bools:
        """table[Y+1, Y+1] at (label, label after) of each token."""
        return table.ravel().take(self.here[tokens] * self.base + self.after[tokens])


def read_spans(tables: LabelTables, ids: NDArray, offsets: NDArray, mode: str = CONLLEVAL) -> SpanArrays:
    """The segments of every level in all sequences."""
    if mode not in MODES:
        raise SchemaError(f"there is no way {mode!r} to read segments; choose one of {', '.join(MODES)}")
    neighbours = Neighbours.of(ids, offsets, tables.n_labels)
    levels = [_read_level(tables, neighbours, k, mode) for k in range(tables.n_levels)]
    start, end = (np.concatenate(part) for part in zip(*levels, strict=True))
    level = np.repeat(np.arange(len(levels)), [len(begin) for begin, _ in levels])
    sequence = np.searchsorted(offsets, start, side="right") - 1
    types = tables.path[level, neighbours.here[start]].astype(np.int64)
    leaf = _is_leaf(tables, neighbours, start, end, level)
    found = SpanArrays(sequence, start, end, level, types, leaf)
    return found if tables.n_levels == 1 else found.take(np.lexsort((level, start)))


def read_freely(ids: NDArray, labels: Iterable[str], offsets: NDArray) -> list[list[Span]]:
    """The segments of each sequence, whatever the labels look like: B-x, I-x or x, and / between levels.

    >>> read_freely(np.array([0, 1, 2]), ["B-a/B-b", "I-a", "c"], np.array([0, 2, 3]))[0]
    [Span(start=0, end=2, type='a', level=0), Span(start=0, end=1, type='a/b', level=1)]
    """
    tables = LabelTables.of_levels([parse_freely(label) for label in labels], Scheme.BIO)
    return read_spans(tables, ids, offsets).by_sequence(tables.types, offsets)


def _read_level(tables: LabelTables, neighbours: Neighbours, k: int, mode: str) -> tuple[Ints, Ints]:
    start = np.flatnonzero(neighbours.into(tables.begins[k]))
    last = np.flatnonzero(neighbours.out(tables.ends[k]))
    if mode == STRICT:
        sound_begin, sound_end = (table[k] for table in tables.sound)
        sound = neighbours.into(sound_begin, start)
        if tables.scheme is Scheme.IOB1:  # as in seqeval: after a misplaced B- the segment begins with the I-
            start = start + ~sound
            sound = start <= last
        sound &= neighbours.out(sound_end, last)
        start, last = start[sound], last[sound]
    return start, last + 1


def _is_leaf(tables: LabelTables, neighbours: Neighbours, start: Ints, end: Ints, level: Ints) -> Bools:
    """leaf ⇔ no t in start … end−1 with depth[y_t] > level + 1, by differences of running counts."""
    leaf = np.ones(len(start), dtype=bool)
    depth = tables.depth[neighbours.here]
    for k in range(tables.n_levels - 1):
        deeper = np.concatenate([[0], np.cumsum(depth > k + 1)])
        mine = level == k
        leaf[mine] = deeper[end[mine]] == deeper[start[mine]]
    return leaf


SpanPattern = tuple[Bools, Bools, Bools]
"""Which labels may stand before, at each token of, and after a segment; [Y], [length, Y], [Y]."""


def span_patterns(tables: LabelTables, length: int, type_id: int, legal: bool = False) -> list[SpanPattern]:
    """Patterns of which a labelling, legal or not, keeps to exactly one if it has the segment, else to none.

    With `legal` those that no legal labelling keeps to are left out.
    """
    member, continuing, going_on, begins, ends = _ways(tables, type_id, legal)
    patterns = []
    for before, first in begins:
        for last, after in ends:
            inside = np.empty((length, tables.n_labels), dtype=bool)
            inside[:] = member
            inside[1:] &= continuing
            inside[:-1] &= going_on
            inside[0] &= first
            inside[-1] &= last
            if inside[0].any() and inside[-1].any():
                patterns.append((before, inside, after))
    return patterns


Pairs = list[tuple[Bools, Bools]]


@kept
def _ways(tables: LabelTables, type_id: int, legal: bool) -> tuple[Bools, Bools, Bools, Pairs, Pairs]:
    """How a segment of a type can begin (labels before, first labels) and end (last labels, labels after).

    Of two neighbours p, c in the type, a segment begins at c if and only if c opens or p closes one (at this
    level or above). So it begins with a label that opens, whatever stands before, or else after one that is
    not in the type or closes; and ends with one that closes, whatever follows, or else before one that is not
    in the type or opens. First come the labels in the type, those that do not open, those that do not close.
    """
    k = tables.type_level[type_id]
    member = tables.path[k, :-1] == type_id
    opening = member & tables.opens[: k + 1, :-1].any(axis=0)
    closing = member & tables.closes[: k + 1, :-1].any(axis=0)
    going_on, continuing = member & ~closing, member & ~opening
    anything = np.ones(tables.n_labels, dtype=bool)
    begins = [(anything, opening), (~going_on, continuing)]
    ends = [(closing, anything), (going_on, ~continuing)]
    if legal:  # beyond the ends of a sequence, too, nothing but what may stand there
        step = tables.legal
        begins = [(p, c) for p, c in begins if step[np.append(p, True)][:, np.append(c, False)].any()]
        ends = [(p, c) for p, c in ends if step[np.append(p, False)][:, np.append(c, True)].any()]
    return member, continuing, going_on, begins, ends
