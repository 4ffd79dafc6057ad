"""What the labels mean, as arrays.  label strings + scheme → `LabelTables`.

Every scheme comes down to three facts about a label c at level k: its path (which type of segment the
token is in, −1 for none), whether it *opens* a segment (B-, S-) and whether it *closes* one (E-, S-).
From them, for a pair of neighbours p, c (as conlleval reads them, level by level):

    begins_k[p,c] = inside_k[c] ∧ (opens_k[c] ∨ closes_k[p] ∨ path_k[p] ≠ path_k[c] ∨ begins_{k−1}[p,c])
    ends_k[p,c]   = inside_k[p] ∧ (begins_k[p,c] ∨ ¬inside_k[c])

A scheme adds which beginnings and endings are *sound*; both strict reading and legality follow:

    strict segment: begins and ends soundly
    legal[p,c]    = ∧_k (begins_k[p,c] → sound_begin_k[p,c]) ∧ (ends_k[p,c] → sound_end_k[p,c])

Axes: L levels, Y labels; index Y (also −1) stands for START, END and any unknown label: all are outside.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from conseq.dtypes import Bools
from conseq.errors import SchemaError
from conseq.kept import MOST_BYTES, Kept
from conseq.schema.scheme import Level, Scheme, parse_label

NO_TYPE = -1

_OPEN = frozenset("BS")
_CLOSED = frozenset("ES")


@dataclass(frozen=True, eq=False)
class LabelTables:
    """The facts about labels and pairs of labels that everything else is computed from."""

    scheme: Scheme
    types: tuple[str, ...]  # [P] full paths, in order of first sight
    path: NDArray[np.int32]  # [L, Y+1] the type a label is in at each level, −1 for none
    opens: Bools  # [L, Y+1] B- or S-
    closes: Bools  # [L, Y+1] E- or S-

    @classmethod
    def build(cls, labels: Sequence[str], scheme: Scheme) -> LabelTables:
        return cls.of_levels([parse_label(label, scheme) for label in labels], scheme)

    @classmethod
    def of_levels(cls, labels: Sequence[tuple[Level, ...]], scheme: Scheme) -> LabelTables:
        """The tables of labels that are parsed already, [Y]."""
        parsed = [*labels, ()]
        shape = (max(1, *map(len, parsed)), len(parsed)) if labels else (1, 1)
        path = np.full(shape, NO_TYPE, dtype=np.int32)
        opens, closes = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
        types = _number_types(parsed)
        for y, levels in enumerate(parsed):
            names = tuple(level.name for level in levels)
            for k, level in enumerate(levels):
                path[k, y] = types[names[: k + 1]]
                opens[k, y] = level.letter in _OPEN
                closes[k, y] = level.letter in _CLOSED
        return cls(scheme, tuple("/".join(names) for names in types), path, opens, closes)

    @cached_property
    def kept(self) -> Kept:
        """What others worked out of these tables: as much as some thousand tables of pairs of labels."""
        return Kept(min(MOST_BYTES, (1 << 20) + (1 << 15) * self.path.shape[1] ** 2))

    @property
    def n_bytes(self) -> int:
        """What these tables, and what others worked out of them, come to at most."""
        return self.kept.most_bytes + 16 * self.n_levels * self.path.shape[1] ** 2

    @property
    def n_levels(self) -> int:
        return len(self.path)

    @property
    def n_labels(self) -> int:
        return self.path.shape[1] - 1

    @cached_property
    def inside(self) -> Bools:
        """The label is in a segment at this level, [L, Y+1]."""
        return self.path != NO_TYPE

    @cached_property
    def depth(self) -> NDArray[np.int64]:
        """The number of levels of each label, [Y+1]."""
        return self.inside.sum(axis=0)

    @cached_property
    def type_level(self) -> NDArray[np.int64]:
        """The level each type stands at, [P]."""
        level = np.zeros(len(self.types), dtype=np.int64)
        for k, path in enumerate(self.path):
            level[path[path != NO_TYPE]] = k
        return level

    @cached_property
    def other(self) -> Bools:
        """The two labels are in different types of segment at this level, [L, Y+1, Y+1] (from, to)."""
        return self.path[:, :, None] != self.path[:, None, :]

    @cached_property
    def begins(self) -> Bools:
        """A segment begins at the second label, [L, Y+1, Y+1]."""
        begins = np.empty_like(self.other)
        above = np.zeros(self.other.shape[1:], dtype=bool)
        for k in range(self.n_levels):
            new = self.opens[k][None, :] | self.closes[k][:, None] | self.other[k] | above
            begins[k] = above = self.inside[k][None, :] & new
        return begins

    @cached_property
    def ends(self) -> Bools:
        """A segment ends with the first label, [L, Y+1, Y+1]."""
        return self.inside[:, :, None] & (self.begins | ~self.inside[:, None, :])

    @cached_property
    def sound(self) -> tuple[Bools, Bools]:
        """A segment may begin so, a segment may end so; each [L, Y+1, Y+1].

        IOB1 is read as seqeval's strict mode does, to the letter: B- must follow its own type, and a
        lone B- is not closed by a B- of another type (which is misplaced itself).
        """
        always = np.ones_like(self.other)
        opens, opened = self.opens[:, None, :] & always, self.opens[:, :, None] & always
        closed = self.closes[:, :, None] & always
        rules = {
            Scheme.PLAIN: (always, always),
            Scheme.IOB1: (~(opens & self.other), ~(opened & opens & self.other)),
            Scheme.BIO: (opens, always),
            Scheme.BIOES: (opens, closed),
        }
        return rules[self.scheme]

    @cached_property
    def legal(self) -> Bools:
        """The first label may stand right before the second, [Y+1, Y+1]; START and END are the last."""
        sound_begin, sound_end = self.sound
        return np.all((~self.begins | sound_begin) & (~self.ends | sound_end), axis=0)


def _number_types(parsed: Iterable[tuple[Level, ...]]) -> dict[tuple[str, ...], int]:
    """Paths → numbers in order of first sight; two paths must not be written alike."""
    types: dict[tuple[str, ...], int] = {}
    written: dict[str, tuple[str, ...]] = {}
    for levels in parsed:
        for k in range(len(levels)):
            names = tuple(level.name for level in levels[: k + 1])
            types.setdefault(names, len(types))
            if written.setdefault("/".join(names), names) != names:
                raise SchemaError(
                    f"type {'/'.join(names)!r} is one level in some labels and several in others; "
                    "use another character than / inside the name"
                )
    return types
