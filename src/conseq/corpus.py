"""A corpus: many sequences of tokens as flat integer columns.

    strings of columns ─→ Column(ids[T], vocabulary) ┐
    offsets[N+1]                                     ├─→ Corpus ─→ Sequence (a view of one)
    labels, bags, source texts (all optional)        ┘

Axes: T tokens of all sequences end to end, N sequences; sequence i owns the tokens
offsets[i] … offsets[i+1]−1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Sequence as Seq
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conseq.dtypes import Ids
from conseq.errors import DataError
from conseq.vocabulary import Vocabulary

Offsets = NDArray[np.int64]

WORD = "word"
"""The name of the token column where the user gives none."""


@dataclass(frozen=True, eq=False)
class Column:
    """One value per token: ids[T] into a vocabulary of strings."""

    ids: Ids
    vocabulary: Vocabulary

    @classmethod
    def of(cls, strings: Iterable[str]) -> Column:
        vocabulary, ids = Vocabulary.build(strings)
        return cls(ids, vocabulary)

    @classmethod
    def joined(cls, parts: Seq[Column]) -> Column:
        """Columns one after the other; the vocabulary is the first one's and what the others add to it."""
        first, *others = (part.vocabulary for part in parts)
        vocabulary = first.extended(chain.from_iterable(others))
        ids = [vocabulary.encode(part.vocabulary)[part.ids] for part in parts]
        return cls(np.concatenate(ids), vocabulary)

    def strings(self, start: int = 0, stop: int | None = None) -> list[str]:
        return self.vocabulary.decode(self.ids[start:stop])

    def take(self, tokens: NDArray) -> Column:
        return Column(self.ids[tokens], self.vocabulary)


@dataclass(frozen=True, eq=False)
class Bags:
    """Attributes with values given per token, as python-crfsuite takes them.

    Token t has the attributes ids[indptr[t]:indptr[t+1]] with as many values.
    """

    indptr: Offsets  # [T+1]
    ids: Ids  # [nnz]
    values: NDArray[np.float32]  # [nnz]
    vocabulary: Vocabulary

    def take(self, tokens: NDArray) -> Bags:
        indptr, where = gathered(self.indptr, tokens)
        return Bags(indptr, self.ids[where], self.values[where], self.vocabulary)


@dataclass(frozen=True, eq=False)
class Source:
    """Where the tokens stand in the original texts: texts[N], characters[T, 2] (start, end)."""

    texts: tuple[str, ...]
    characters: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Corpus:
    """Token columns, sequence boundaries and, where known, labels.

    >>> corpus = Corpus.from_sequences([["A", "cat"], ["sat"]], [["DT", "NN"], ["VB"]])
    >>> len(corpus), corpus.n_tokens, corpus[0].tokens, corpus[1].labels
    (2, 3, ['A', 'cat'], ['VB'])

    In a partly labelled corpus the label of an open token is the empty string.
    """

    columns: Mapping[str, Column]
    offsets: Offsets
    labels: Column | None = None
    bags: Bags | None = None
    source: Source | None = None

    @classmethod
    def from_columns(
        cls,
        columns: Mapping[str, Iterable[str]],
        lengths: Iterable[int],
        labels: Iterable[str] | None = None,
        *,
        bags: Bags | None = None,
        source: Source | None = None,
    ) -> Corpus:
        """Flat columns of strings (all sequences end to end) and the length of each sequence."""
        offsets = np.concatenate([[0], np.cumsum(np.fromiter(lengths, dtype=np.int64))]).astype(np.int64)
        corpus = cls(
            {name: Column.of(strings) for name, strings in columns.items()},
            offsets,
            None if labels is None else Column.of(labels),
            bags,
            source,
        )
        corpus.check()
        return corpus

    @classmethod
    def from_sequences(
        cls, tokens: Iterable[Seq[str]], labels: Iterable[Seq[str]] | None = None, *, column: str = WORD
    ) -> Corpus:
        """Lists of token strings, with a list of labels each where known."""
        tokens = list(tokens)
        given = None if labels is None else list(labels)
        if given is not None:
            check_lengths(tokens, given)
        return cls.from_columns(
            {column: chain.from_iterable(tokens)},
            [len(s) for s in tokens],
            None if given is None else chain.from_iterable(given),
        )

    @classmethod
    def joined(cls, parts: Seq[Corpus]) -> Corpus:
        """The columns of several corpora one after the other, and the labels if all have them; no bags.

        >>> one = Corpus.from_sequences([["a", "b"]], [["x", "y"]])
        >>> Corpus.joined([one, one]).label_sequences()
        [['x', 'y'], ['x', 'y']]
        """
        columns = {name: Column.joined([part.columns[name] for part in parts]) for name in parts[0].columns}
        labels = [part.labels for part in parts if part.labels is not None]
        offsets = np.concatenate([[0], np.cumsum(np.concatenate([part.lengths for part in parts]))])
        return cls(columns, offsets, Column.joined(labels) if len(labels) == len(parts) else None)

    def check(self) -> None:
        """Raise if a column or the bags have another number of tokens than the offsets say."""
        for name, column in [*self.columns.items(), *([("label", self.labels)] if self.labels else [])]:
            if len(column.ids) != self.n_tokens:
                raise DataError(
                    f"column {name!r} has {len(column.ids)} values for {self.n_tokens} tokens; "
                    "give one value per token"
                )
        if self.bags is not None and len(self.bags.indptr) != self.n_tokens + 1:
            raise DataError(
                f"the attributes are given for {len(self.bags.indptr) - 1} of {self.n_tokens} tokens; "
                "give a list of attributes per token"
            )

    @property
    def n_tokens(self) -> int:
        return int(self.offsets[-1])

    @property
    def lengths(self) -> Offsets:
        """Tokens in each sequence, [N]."""
        return np.diff(self.offsets)

    @property
    def token_column(self) -> str:
        """The name of the first column, the one that holds the tokens themselves."""
        return next(iter(self.columns), WORD)

    def label_sequences(self) -> list[list[str]]:
        """The labels as a list per sequence."""
        if self.labels is None:
            raise DataError("the corpus has no labels; give a label column")
        return self.split(self.labels.strings())

    def token_sequences(self) -> list[list[str]]:
        """The tokens as a list per sequence."""
        return self.split(self.columns[self.token_column].strings())

    def split(self, flat: Any) -> list[Any]:
        """Cut a flat list or array of one value per token into one piece per sequence."""
        bounds = self.offsets.tolist()
        return [flat[a:b] for a, b in pairwise(bounds)]

    def with_labels(self, labels: Iterable[str] | None) -> Corpus:
        """The same tokens with other labels (flat, one per token)."""
        changed = replace(self, labels=None if labels is None else Column.of(labels))
        changed.check()
        return changed

    def select(self, sequences: Iterable[int] | NDArray) -> Corpus:
        """The corpus of the sequences with these indices, in this order, or of those that a mask marks."""
        given = np.asarray(sequences if isinstance(sequences, np.ndarray) else list(sequences))
        chosen = np.arange(len(self))[given if given.size else []]
        offsets, tokens = gathered(self.offsets, chosen)
        source = self.source
        if source is not None:
            source = Source(tuple(source.texts[i] for i in chosen), source.characters[tokens])
        return Corpus(
            {name: column.take(tokens) for name, column in self.columns.items()},
            offsets,
            None if self.labels is None else self.labels.take(tokens),
            None if self.bags is None else self.bags.take(tokens),
            source,
        )

    def full_labels(self, before: int = 0) -> Column:
        """The labels, if every token has one; otherwise an error that names the first sequence without.

        `before` is the number of sequences of the same data before this corpus.
        """
        if self.labels is None:
            raise DataError("the data has no labels; give a label column")
        open_label = self.labels.vocabulary.find("")
        bare = self.labels.ids == open_label
        if open_label >= 0 and bare.any():
            sequence = before + int(np.searchsorted(self.offsets, int(np.argmax(bare)), side="right")) - 1
            raise DataError(
                f"sequence {sequence} (from 0) has a token without a label, and all labels are needed here"
            )
        return self.labels

    def batches(self, max_tokens: int) -> Iterator[tuple[int, Corpus]]:
        """The corpus in pieces of about `max_tokens`, each with the index of its first sequence."""
        if self.n_tokens <= max_tokens:
            yield 0, self
            return
        cuts = np.searchsorted(self.offsets, np.arange(max_tokens, self.n_tokens, max_tokens))
        bounds = np.unique(np.concatenate([[0], cuts, [len(self)]])).tolist()
        for a, b in pairwise(bounds):
            yield a, self.select(np.arange(a, b))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> Sequence:
        if not -len(self) <= index < len(self):
            raise IndexError(f"sequence {index} of {len(self)}")
        return Sequence(self, index % len(self))

    def __iter__(self) -> Iterator[Sequence]:
        return (Sequence(self, i) for i in range(len(self)))

    def __repr__(self) -> str:
        labelled = "" if self.labels is None else f", {len(self.labels.vocabulary)} labels"
        return f"Corpus({len(self)} sequences, {self.n_tokens} tokens, {'/'.join(self.columns)}{labelled})"


@dataclass(frozen=True)
class Sequence:
    """One sequence of a corpus, seen without copying."""

    corpus: Corpus
    index: int

    @property
    def bounds(self) -> tuple[int, int]:
        """First token and the one after the last, in the corpus' flat columns."""
        return int(self.corpus.offsets[self.index]), int(self.corpus.offsets[self.index + 1])

    @property
    def tokens(self) -> list[str]:
        return self.column(self.corpus.token_column)

    @property
    def labels(self) -> list[str] | None:
        return None if self.corpus.labels is None else self.corpus.labels.strings(*self.bounds)

    @property
    def text(self) -> str | None:
        """The original text, if the corpus was read from text."""
        return None if self.corpus.source is None else self.corpus.source.texts[self.index]

    @property
    def characters(self) -> list[tuple[int, int]] | None:
        """Start and end of each token in `text`."""
        if self.corpus.source is None:
            return None
        start, stop = self.bounds
        return [(a, b) for a, b in self.corpus.source.characters[start:stop].tolist()]

    def column(self, name: str) -> list[str]:
        return self.corpus.columns[name].strings(*self.bounds)

    def __len__(self) -> int:
        start, stop = self.bounds
        return stop - start


def gathered(offsets: Offsets, chosen: NDArray) -> tuple[Offsets, Offsets]:
    """Some of the pieces that lie end to end, in this order: their offsets then, and where each entry was.

    >>> bounds, places = gathered(np.array([0, 2, 5]), np.array([1, 0]))
    >>> bounds.tolist(), places.tolist()
    ([0, 3, 5], [2, 3, 4, 0, 1])
    """
    lengths = np.diff(offsets)[chosen]
    bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return bounds, np.repeat(offsets[chosen] - bounds[:-1], lengths) + np.arange(bounds[-1])


def ends(corpus: Corpus) -> tuple[Offsets, Offsets]:
    """Where the sequence of each token begins, and where it ends (exclusive)."""
    return np.repeat(corpus.offsets[:-1], corpus.lengths), np.repeat(corpus.offsets[1:], corpus.lengths)


def counted(column: Column | Bags) -> tuple[list[str], list[int]]:
    """The strings that occur, in the order of the vocabulary, and how often.

    >>> counted(Column.of(["a", "b", "a", "c"]).take(np.array([3, 0, 3])))
    (['a', 'c'], [1, 2])
    """
    counts = np.bincount(column.ids + 1, minlength=1)[1:]
    used = np.flatnonzero(counts)
    return column.vocabulary.decode(used), counts[used].tolist()


def check_lengths(tokens: Seq[Seq], labels: Seq[Seq]) -> None:
    """Raise with the first sequence whose labels are more or fewer than its tokens."""
    if len(tokens) != len(labels):
        raise DataError(f"{len(tokens)} sequences but labels for {len(labels)}; give a list of labels each")
    for i, (x, y) in enumerate(zip(tokens, labels, strict=True)):
        if len(x) != len(y):
            raise DataError(
                f"sequence {i} (from 0) has {len(x)} tokens and {len(y)} labels; give one label per token"
            )
