"""Labels of one scheme → labels of another, by reading the segments as conlleval does and writing them anew.

    Column of ids[T], offsets[N+1] ─→ (first?, last?, touches?) per token ─→ letter ─→ Column of ids[T]

Flat labels only.  Broken input is mended on the way: I- after O becomes B- in BIO.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from conseq.corpus import Column
from conseq.errors import SchemaError
from conseq.schema.scheme import LETTER_FOR, Scheme
from conseq.schema.spans import Neighbours
from conseq.schema.tables import NO_TYPE, LabelTables
from conseq.vocabulary import Vocabulary


def convert(labels: Sequence[str], source: Scheme | str, target: Scheme | str) -> list[str]:
    """The labels of one sequence in another scheme.

    >>> convert(["I-PER", "I-PER", "B-PER", "O"], "iob1", "bio")
    ['B-PER', 'I-PER', 'B-PER', 'O']
    >>> convert(["B-PER", "I-PER", "B-PER", "O"], "bio", "bioes")
    ['B-PER', 'E-PER', 'S-PER', 'O']
    """
    return convert_column(Column.of(labels), np.array([0, len(labels)]), source, target).strings()


def convert_column(column: Column, offsets: NDArray, source: Scheme | str, target: Scheme | str) -> Column:
    """A corpus' label column in another scheme; unlabelled tokens ('') stay so and count as outside."""
    source, target = Scheme.of(source), Scheme.of(target)
    if source is target:
        return column
    ids, vocabulary = column.ids, column.vocabulary
    tables = LabelTables.build(vocabulary.names, source)
    _check(tables, target)
    near = Neighbours.of(ids, offsets, tables.n_labels)
    opens, closes = near.into(tables.begins[0]), near.out(tables.ends[0])
    touches = ~near.into(tables.other[0])
    names, renamed = _rename(vocabulary.names, tables, target)
    return _in_order_of_sight(renamed[near.here, opens + 2 * closes + 4 * touches], names)


def _check(tables: LabelTables, target: Scheme) -> None:
    if tables.n_levels > 1:
        raise SchemaError(f"hierarchical labels cannot be written in scheme {target}; keep them in bio")
    if target is Scheme.PLAIN:
        raise SchemaError(
            "plain labels cannot keep touching segments apart; convert to iob1, bio or bioes instead"
        )


def _rename(
    labels: Sequence[str], tables: LabelTables, target: Scheme
) -> tuple[list[str], NDArray[np.int32]]:
    """The names that may come out, and which of them each label becomes with each letter, [Y+1, 8]."""
    index: dict[str, int] = {}
    renamed = np.zeros((len(labels) + 1, len(LETTER_FOR[target])), dtype=np.int32)
    for y, (label, path) in enumerate(zip(labels, tables.path[0].tolist(), strict=False)):
        for variant, letter in enumerate(LETTER_FOR[target]):
            name = label if path == NO_TYPE else f"{letter}-{tables.types[path]}"
            renamed[y, variant] = index.setdefault(name, len(index))
    return list(index), renamed


def _in_order_of_sight(ids: NDArray[np.int32], names: list[str]) -> Column:
    """Leave out the names that do not occur and number the others as they first appear."""
    first = np.full(len(names), len(ids))
    first[ids[::-1]] = np.arange(len(ids))[::-1]  # of several values for one place the last one stays
    order = np.argsort(first, kind="stable")[: np.count_nonzero(first < len(ids))]
    place = np.zeros(len(names), dtype=np.int32)
    place[order] = np.arange(len(order))
    return Column(place[ids], Vocabulary(names[i] for i in order))
