"""Strings ↔ integer ids.  strings in order of first sight → `Vocabulary` + int32 ids.

A vocabulary never changes once made; growing one (warm start) makes a new one whose old ids stay.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

UNSEEN = -1
"""The id of a string that is not in the vocabulary."""


class Vocabulary:
    """An immutable list of distinct strings that knows the place of each.

    >>> words, ids = Vocabulary.build(["the", "cat", "the"])
    >>> list(words), ids.tolist(), words.encode(["cat", "dog"]).tolist()
    (['the', 'cat'], [0, 1, 0], [1, -1])
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names: tuple[str, ...] = tuple(names)

    @classmethod
    def build(cls, strings: Iterable[str]) -> tuple[Vocabulary, NDArray[np.int32]]:
        """The distinct strings in order of first sight, and the id of each string given."""
        index: defaultdict[str, int] = defaultdict()
        index.default_factory = index.__len__
        ids = np.fromiter(map(index.__getitem__, strings), dtype=np.int32)
        vocabulary = cls(index)
        vocabulary.__dict__["_index"] = dict(index)
        return vocabulary, ids

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    def encode(self, strings: Iterable[str]) -> NDArray[np.int32]:
        """The id of each string, −1 where it is not known."""
        find = self._index.get
        return np.fromiter((find(s, UNSEEN) for s in strings), dtype=np.int32)

    def find(self, name: str) -> int:
        """The id of `name`, −1 if it is not known."""
        return self._index.get(name, UNSEEN)

    def extended(self, more: Iterable[str]) -> Vocabulary:
        """This vocabulary followed by those of `more` that it lacks."""
        return Vocabulary(dict.fromkeys([*self.names, *more]))

    def decode(self, ids: Iterable[int] | NDArray) -> list[str]:
        """The strings behind the ids."""
        names = self.names
        return [names[i] for i in (ids.tolist() if isinstance(ids, np.ndarray) else ids)]

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, index: int) -> str:
        return self.names[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self._index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.names == other.names

    def __hash__(self) -> int:
        return hash(self.names)

    def __repr__(self) -> str:
        shown: Sequence[str] = self.names[:4]
        more = ", …" if len(self) > 4 else ""
        return f"Vocabulary({len(self)}: {', '.join(map(repr, shown))}{more})"
