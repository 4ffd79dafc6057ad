"""The `Schema`: labels and scheme in, everything that follows from them out.

Axes: T tokens, N sequences, Y labels; where an axis is Y+1 the last entry stands for START or END.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conseq.dtypes import Bools
from conseq.errors import SchemaError
from conseq.kept import Kept
from conseq.schema.scheme import AUTO, UNLABELLED, Scheme, detect_scheme
from conseq.schema.spans import CONLLEVAL, Span, SpanArrays, SpanPattern, read_spans, span_patterns
from conseq.schema.tables import LabelTables
from conseq.schema.writing import write_spans
from conseq.vocabulary import UNSEEN, Vocabulary


@dataclass(frozen=True, init=False, repr=False)
class Schema:
    """The labels, how they are written, which may follow which, and the segments they stand for.

    >>> schema = Schema(["O", "B-PER", "I-PER"], "bio")
    >>> schema.legal.astype(int).tolist(), schema.legal_start.tolist()
    ([[1, 1, 0], [1, 1, 1], [1, 1, 1]], [True, True, False])
    >>> schema.spans(["B-PER", "I-PER", "O"])
    [Span(start=0, end=2, type='PER', level=0)]
    >>> schema.labels_of([Span(1, 2, "PER")], 3)
    ['O', 'B-PER', 'O']
    """

    labels: tuple[str, ...]
    scheme: Scheme

    def __init__(self, labels: Iterable[str], scheme: Scheme | str) -> None:
        object.__setattr__(self, "labels", tuple(labels))
        object.__setattr__(self, "scheme", Scheme.of(scheme))
        self._check()

    def _check(self) -> None:
        if len(set(self.labels)) < len(self.labels):
            twice = next(label for i, label in enumerate(self.labels) if label in self.labels[:i])
            raise SchemaError(f"label {twice!r} is listed twice; list each label once")
        if UNLABELLED in self.labels:
            raise SchemaError("a label is the empty string, which marks unlabelled tokens; leave it out")
        _ = self.tables  # raises if a label does not fit

    @classmethod
    def infer(
        cls,
        labels: Iterable[str],
        scheme: Scheme | str = AUTO,
        sequences: Iterable[Sequence[str]] | None = None,
    ) -> Schema:
        """A schema of these labels, without the empty one; scheme 'auto' looks at labels and sequences.

        >>> Schema.infer(["", "title", "O"])
        Schema(plain, 2 labels: title O)
        """
        given = [label for label in dict.fromkeys(labels) if label != UNLABELLED]
        return cls(given, detect_scheme(given, sequences) if scheme == AUTO else scheme)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Schema:
        """The inverse of `to_dict`."""
        try:
            return cls(data["labels"], data["scheme"])
        except KeyError as missing:
            raise SchemaError(f"the stored schema lacks its {missing}; write it again with to_dict") from None

    def to_dict(self) -> dict[str, Any]:
        """Labels and scheme as plain JSON values."""
        return {"scheme": str(self.scheme), "labels": list(self.labels)}

    def extended(self, labels: Iterable[str]) -> Schema:
        """This schema with those of the labels that it lacks at the end; ids of labels and types stay."""
        more = (label for label in labels if label != UNLABELLED)
        return Schema(dict.fromkeys([*self.labels, *more]), self.scheme)

    # ── labels and ids ──────────────────────────────────────────────────────────────────────────

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """Labels ↔ ids."""
        return Vocabulary(self.labels)

    @property
    def kept(self) -> Kept:
        """What others worked out of these labels."""
        return self.tables.kept

    @cached_property
    def tables(self) -> LabelTables:
        """What each label and each pair of labels means."""
        return LabelTables.build(self.labels, self.scheme)

    def encode(self, labels: Sequence[str]) -> NDArray[np.int32]:
        """Ids of the labels; −1 for the empty one."""
        ids = self.vocabulary.encode(labels)
        unseen = {labels[i] for i in np.flatnonzero(ids == UNSEEN).tolist()} - {UNLABELLED}
        if unseen:
            raise SchemaError(
                f"label {min(unseen)!r} is not one of the schema's {len(self)}; add it with schema.extended"
            )
        return ids

    def decode(self, ids: Iterable[int] | NDArray) -> list[str]:
        """The labels behind the ids."""
        return self.vocabulary.decode(ids)

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        more = " …" if len(self) > 6 else ""
        return f"Schema({self.scheme}, {len(self)} labels: {' '.join(self.labels[:6])}{more})"

    # ── legality ────────────────────────────────────────────────────────────────────────────────

    @property
    def legal(self) -> Bools:
        """The first label may stand right before the second, [Y, Y] (from, to)."""
        return self.tables.legal[:-1, :-1]

    @property
    def legal_start(self) -> Bools:
        """A sequence may begin with the label, [Y]."""
        return self.tables.legal[-1, :-1]

    @property
    def legal_end(self) -> Bools:
        """A sequence may end with the label, [Y]."""
        return self.tables.legal[:-1, -1]

    # ── segment types ───────────────────────────────────────────────────────────────────────────

    @property
    def levels(self) -> int:
        """Levels of nesting; 1 for flat labels."""
        return self.tables.n_levels

    def types(self) -> tuple[str, ...]:
        """The full path of every type of segment at every level; SpanArrays.type counts through these.

        >>> Schema(["O", "B-a/B-b", "I-a", "B-c"], "bio").types()
        ('a', 'a/b', 'c')
        """
        return self.tables.types

    def types_named(self, name: str) -> tuple[str, ...]:
        """The types a name means: every path that ends in it.

        >>> Schema(["B-a/B-b", "B-b"], "bio").types_named("b")
        ('a/b', 'b')
        """
        return tuple(t for t in self.types() if t == name or t.endswith("/" + name))

    def type_id(self, type: str) -> int:
        """The place of a full path in `types()`."""
        try:
            return self._type_ids[type]
        except KeyError:
            known = ", ".join(self.types()[:8]) + (", …" if len(self.types()) > 8 else "")
            raise SchemaError(f"there is no segment type {type!r}; the types are {known or 'none'}") from None

    @cached_property
    def _type_ids(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.types())}

    def _place(self, type: str) -> tuple[int, Bools]:
        """The level of a type, and which labels are in it, [Y+1]."""
        type_id = self.type_id(type)
        level = int(self.tables.type_level[type_id])
        return level, self.tables.path[level] == type_id

    def inside(self, type: str) -> Bools:
        """The label puts its token into a segment of the type, [Y]."""
        return self._place(type)[1][:-1]

    def begins(self, type: str) -> Bools:
        """A segment of the type begins at the second label, [Y+1, Y+1] (from or START, to or END)."""
        level, member = self._place(type)
        return self.tables.begins[level] & member[None, :]

    def ends(self, type: str) -> Bools:
        """A segment of the type ends with the first label, [Y+1, Y+1] (from or START, to or END)."""
        level, member = self._place(type)
        return self.tables.ends[level] & member[:, None]

    # ── labels ↔ segments ───────────────────────────────────────────────────────────────────────

    def spans(self, labels: Sequence[str], mode: str = CONLLEVAL) -> list[Span]:
        """The segments of one sequence, at every level; mode 'strict' drops those not written properly.

        >>> schema = Schema(["O", "B-x", "I-x"], "bio")
        >>> len(schema.spans(["O", "I-x"])), len(schema.spans(["O", "I-x"], mode="strict"))
        (1, 0)
        """
        ids = self.encode(labels)
        return list(self.span_arrays(ids, np.array([0, len(ids)]), mode).spans(self.types()))

    def span_arrays(self, ids: NDArray, offsets: NDArray, mode: str = CONLLEVAL) -> SpanArrays:
        """The segments of many sequences from ids[T] and offsets[N+1]; an id of −1 is read as outside."""
        return read_spans(self.tables, np.asarray(ids), np.asarray(offsets), mode)

    def labels_of(self, spans: Iterable[Span], length: int) -> list[str]:
        """The labels that stand for these segments: the inverse of `spans`."""
        spans = list(spans)
        for span in spans:
            level = self.tables.type_level[self.type_id(span.type)]
            if level != span.level:
                raise SchemaError(
                    f"type {span.type!r} stands at level {level}, not {span.level}; correct the level"
                )
        labels = write_spans(spans, length, self.scheme)
        self.encode(labels)
        return labels

    def span_patterns(self, start: int, end: int, type: str, legal: bool = False) -> list[SpanPattern]:
        """Each: the labels allowed at start−1, [Y], at start … end−1, [end−start, Y], and at end, [Y].

        A labelling has exactly this segment if and only if it keeps to all three sets of one of them, and
        never keeps to two (beyond the ends of the sequence there is nothing to keep to). With `legal` those
        that no legal labelling keeps to are left out, as a segment that begins with an I- in BIO.

        >>> [(_, inside, after)] = Schema(["O", "B-x", "I-x"], "bio").span_patterns(3, 5, "x", legal=True)
        >>> inside.astype(int).tolist(), after.astype(int).tolist()
        ([[0, 1, 0], [0, 0, 1]], [1, 1, 0])
        """
        if end <= start:
            raise SchemaError(f"a segment from {start} to {end} has no tokens; give start < end")
        return span_patterns(self.tables, end - start, self.type_id(type), legal)
