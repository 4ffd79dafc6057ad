"""Labelled data larger than memory.  corpora, one after the other ─→ `Shards` on disk ─→ the corpora again.

The corpora of a folder share their vocabularies, numbered in the order of the data, so that training on the
shards is training on all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from conseq.corpus import Bags, Column, Corpus
from conseq.errors import DataError
from conseq.shelf import Arrays, Shelf
from conseq.vocabulary import Vocabulary

TOKENS = 500_000
"""Tokens in a shard, unless something else is asked for."""

LABEL, BAG = "label", "bag"
"""What the vocabularies besides those of the columns are called here; columns have their number."""


@dataclass(frozen=True, eq=False)
class Shards:
    """Corpora in a folder that nobody else writes to; `shelf` has room for what training makes of them."""

    shelf: Shelf
    columns: tuple[str, ...]
    vocabularies: dict[str, Vocabulary]
    n_sequences: int
    n_tokens: int

    @classmethod
    def write(cls, corpora: Iterable[Corpus], folder: str | Path, tokens_each: int = TOKENS) -> Shards:
        """Gather corpora into shards of at most `tokens_each` tokens (a larger corpus is one by itself).

        All tokens must have a label.

        >>> from tempfile import TemporaryDirectory
        >>> parts = [Corpus.from_sequences([["A", "cat"]], [["DT", "NN"]])] * 3
        >>> with TemporaryDirectory() as folder:
        ...     shards = Shards.write(parts, folder, tokens_each=4)
        ...     len(shards), [corpus.n_tokens for corpus in shards]
        (2, [4, 2])
        """
        writer = _Writer(Shelf(Path(folder) / "corpora"), tokens_each)
        for corpus in corpora:
            writer.add(corpus)
        return writer.finish()

    def __len__(self) -> int:
        """How many corpora."""
        return len(self.shelf)

    def __iter__(self) -> Iterator[Corpus]:
        return (self._corpus(self.shelf.get(i)) for i in range(len(self)))

    def _corpus(self, arrays: Arrays) -> Corpus:
        columns = {
            name: Column(arrays[f"column{i}"], self.vocabularies[str(i)])
            for i, name in enumerate(self.columns)
        }
        bags = None
        if "indptr" in arrays:
            bags = Bags(arrays["indptr"], arrays["ids"], arrays["values"], self.vocabularies[BAG])
        labels = Column(arrays["labels"], self.vocabularies[LABEL])
        return Corpus(columns, arrays["offsets"], labels, bags)


class _Writer:
    def __init__(self, shelf: Shelf, tokens_each: int) -> None:
        self.shelf, self.tokens_each = shelf, tokens_each
        self.columns: tuple[str, ...] | None = None
        self.growing: dict[str, dict[str, int]] = {}  # vocabularies in the making
        self.waiting: list[Arrays] = []
        self.tokens, self.n_tokens, self.n_sequences = 0, 0, 0

    def add(self, corpus: Corpus) -> None:
        if self.columns is None:
            self.columns = tuple(corpus.columns)
        elif self.columns != tuple(corpus.columns):
            raise DataError(
                f"the columns change from {', '.join(self.columns)} to {', '.join(corpus.columns)}; "
                "give data of one kind"
            )
        if self.waiting and self.tokens + corpus.n_tokens > self.tokens_each:
            self._flush()
        labels = corpus.full_labels(self.n_sequences)
        ids = self._ids(LABEL, labels.ids, labels.vocabulary)
        arrays: dict[str, NDArray] = {"lengths": corpus.lengths, "labels": ids}
        for i, column in enumerate(corpus.columns.values()):
            arrays[f"column{i}"] = self._ids(str(i), column.ids, column.vocabulary)
        if corpus.bags is not None:
            bags = corpus.bags
            ids = self._ids(BAG, bags.ids, bags.vocabulary)
            arrays |= {"sizes": np.diff(bags.indptr), "ids": ids, "values": bags.values}
        self.waiting.append(arrays)
        self.tokens += corpus.n_tokens
        self.n_tokens += corpus.n_tokens
        self.n_sequences += len(corpus)

    def _ids(self, name: str, ids: NDArray[np.int32], vocabulary: Vocabulary) -> NDArray[np.int32]:
        """Ids of a vocabulary as ids of a growing one, which learns strings that are new, in their order."""
        index = self.growing.setdefault(name, {})
        used, first = np.unique(ids, return_index=True)
        new = np.full(len(vocabulary), -1, dtype=np.int32)
        for i in used[np.argsort(first)].tolist():
            new[i] = index.setdefault(vocabulary[i], len(index))
        return new[ids]

    def _flush(self) -> None:
        joined = {name: np.concatenate([a[name] for a in self.waiting]) for name in self.waiting[0]}
        for sizes, offsets in (("lengths", "offsets"), ("sizes", "indptr")):
            if sizes in joined:
                joined[offsets] = np.concatenate([[0], np.cumsum(joined.pop(sizes))]).astype(np.int64)
        self.shelf.put(joined)
        self.waiting, self.tokens = [], 0

    def finish(self) -> Shards:
        if self.waiting:
            self._flush()
        vocabularies = {name: Vocabulary(index) for name, index in self.growing.items()}
        return Shards(self.shelf, self.columns or (), vocabularies, self.n_sequences, self.n_tokens)
