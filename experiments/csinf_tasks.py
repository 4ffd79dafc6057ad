"""The tasks of Canisius et al. 2006: what is read, what a classifier sees, what counts as right.

    data folder ─→ Task.corpora ─→ train, target ─→ Answers.tally(labels) ─→ [U,3] ─→ F1 or share of words

Split `dev` measures on dev.tsv; where there is none, every tenth distinct sequence of train is held out.
Split `test` measures on test.tsv, having learned from train (jnlpba: train and dev, the official
training set).

Units U: sentences, by their segments; or words, which are right as a whole. In cmudict a word with several
pronunciations stands there several times and is one unit, right if one of its pronunciations is given: silent
letters and the alignment with letters do not count. Tags of jnlpba: gold for training, those of the test data
are not known, so all that is measured on gets them from a memory-based tagger learned from the training data.
Labels of conll2003 become BIO, as in all of conseq.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from conseq.corpus import Column, Corpus
from conseq.errors import DataError
from conseq.features.sources import short_shape
from conseq.metrics import sequence_counts
from conseq.models.memory import Memory
from conseq.models.windows import windows
from conseq.options import NeighbourOptions
from conseq.schema import Schema, convert_column
from conseq.threads import cores
from conseq.vocabulary import Vocabulary
from experiments.common import read_splits

Ints = NDArray[np.int64]
Ids = NDArray[np.int32]

EVERY = 10
"""Where there is no dev file one in this number of sequences is held out."""

WORDS, LETTERS = ("word", "pos"), ("letter",)
SILENT, JOINT = "_", "+"
"""How cmudict writes a letter without a phoneme, and puts two for one letter together."""


@dataclass(frozen=True)
class Task:
    """A data set: its folder, the columns of its files, and those that windows are made of."""

    paper: str  # what the paper calls the task that is closest
    folder: str
    columns: tuple[str, ...]
    seen: tuple[str, ...] = LETTERS
    scheme: str = "plain"  # of the labels; plain: whole words count, else segments
    written: str = ""  # the scheme of the files, if it is another
    dev: bool = True  # whether there is a dev file
    pooled: tuple[str, ...] = ("train",)  # what is learned from before measuring on test
    tagged: bool = False  # tags stand in files of their own, for all but test
    pronunciations: bool = False

    def corpora(self, data: Path, split: str) -> tuple[Corpus, Corpus]:
        """What is learned from and what is measured on."""
        folder = Path(data) / self.folder
        if split == "test":
            train, target = self.read(folder, self.pooled), self.read(folder, ["test"])
        elif self.dev:
            train, target = self.read(folder, ["train"]), self.read(folder, ["dev"])
        else:
            whole = self.read(folder, ["train"])
            held = distinct(whole) % EVERY == EVERY - 1
            train, target = whole.select(~held), whole.select(held)
        return train, tag(train, target) if self.tagged else target

    def read(self, folder: Path, splits: Sequence[str]) -> Corpus:
        """Files one after the other."""
        parts = read_splits(folder, splits, self.columns)
        if self.written:
            parts = [self._rewritten(part) for part in parts]
        if self.tagged:
            parts = [
                _with_tags(part, folder / f"{s}.pos.txt.gz") for part, s in zip(parts, splits, strict=True)
            ]
        return parts[0] if len(parts) == 1 else Corpus.joined(parts)

    def _rewritten(self, corpus: Corpus) -> Corpus:
        labels = convert_column(corpus.full_labels(), corpus.offsets, self.written, self.scheme)
        return replace(corpus, labels=labels)

    @property
    def measure(self) -> str:
        """What the figures are."""
        return "words right" if self.scheme == "plain" else "F1"


TASKS: dict[str, Task] = {
    "conll2000": Task("CHUNK", "conll2000", ("word", "pos", "label"), WORDS, "bio", dev=False),
    "conll2003": Task("NER", "conll2003", ("word", "pos", "chunk", "label"), WORDS, "bio", written="iob1"),
    "jnlpba": Task("GENIA", "jnlpba", ("word", "label"), WORDS, "bio", pooled=("train", "dev"), tagged=True),
    "nettalk": Task("PHONEME", "nettalk", ("letter", "stress", "label")),
    "cmudict": Task("PHONEME", "cmudict", ("letter", "label"), dev=False, pronunciations=True),
    "morphology-ces": Task("MORPHO", "morphology/ces", ("letter", "label")),
    "morphology-eng": Task("MORPHO", "morphology/eng", ("letter", "label"), dev=False),
}


def distinct(corpus: Corpus) -> Ints:
    """Which of the distinct sequences of tokens each one is, from 0 in order of first sight, [N].

    >>> distinct(Corpus.from_sequences([["a", "b"], ["c"], ["a", "b"]])).tolist()
    [0, 1, 0]
    """
    ids = corpus.columns[corpus.token_column].ids
    number: dict[bytes, int] = {}
    keys = (ids[a:b].tobytes() for a, b in pairwise(corpus.offsets.tolist()))
    return np.array([number.setdefault(key, len(number)) for key in keys], dtype=np.int64)


# ── tags ────────────────────────────────────────────────────────────────────────────────────────


def _with_tags(corpus: Corpus, path: Path) -> Corpus:
    """With the column of a file of tags; without the file, as it is."""
    if not path.is_file():
        return corpus
    with gzip.open(path, "rt", encoding="utf-8") as file:
        tags = [line.rstrip("\n") for line in file if line.strip()]
    if len(tags) != corpus.n_tokens:
        raise DataError(f"there are {len(tags)} tags for {corpus.n_tokens} tokens; give one each", path=path)
    return replace(corpus, columns={**corpus.columns, "pos": Column.of(tags)})


def tag(train: Corpus, target: Corpus) -> Corpus:
    """The target with tags that a memory-based tagger learned from train; it looks at TAGGER's values."""
    known = windows(_spelled(train), TAGGER, 1, 1)
    rows = windows(_spelled(target), TAGGER, 1, 1, like=known)
    tags = train.columns["pos"]
    options = NeighbourOptions(algorithm="igtree")
    memory = Memory.build(known.ids, tags.ids, options)
    found = memory.classify(rows.ids, threads=cores())
    return replace(target, columns={**target.columns, "pos": Column(found.winner, tags.vocabulary)})


TAGGER: dict[str, Callable[[str], str]] = {
    "word": str,
    "end": lambda word: word[-3:],
    "last": lambda word: word[-2:],
    "start": lambda word: word[:2],
    "shape": short_shape,
}
"""What the tagger looks at, of a token and its neighbours."""


def _spelled(corpus: Corpus) -> Corpus:
    """The columns of TAGGER."""
    words = corpus.columns["word"].strings()
    return Corpus.from_columns(
        {name: map(derive, words) for name, derive in TAGGER.items()}, corpus.lengths.tolist()
    )


# ── what counts as right ────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, eq=False)
class Answers:
    """The right answers of a target, against which labels are held: ids of a vocabulary that train gave."""

    task: Task
    corpus: Corpus
    labels: Vocabulary  # [Y] those of train

    @cached_property
    def schema(self) -> Schema:
        """The labels of train, then those that only the target has."""
        return Schema([*self.labels], self.task.scheme).extended(self.corpus.full_labels().vocabulary)

    @cached_property
    def gold(self) -> Ids:
        """The right labels, [T]."""
        column = self.corpus.full_labels()
        return self.schema.encode(column.vocabulary.names)[column.ids]

    @cached_property
    def words(self) -> Ints:
        """Which unit each sequence belongs to, [N]."""
        return distinct(self.corpus) if self.task.pronunciations else np.arange(len(self.corpus))

    def tally(self, labels: Ids) -> Ints:
        """What is right, what was given and what there is to give, of each unit, [U,3]."""
        if self.task.scheme != "plain":
            return sequence_counts(self.gold, labels, self.corpus.offsets, self.schema)
        right = np.bincount(self.words[self.right(labels)], minlength=int(self.words.max()) + 1) > 0
        return np.stack([right, np.ones_like(right), np.ones_like(right)], axis=1).astype(np.int64)

    def right(self, labels: Ids) -> NDArray[np.bool_]:
        """Whether each sequence is right as a whole, [N]."""
        if not self.task.pronunciations:
            arrays = self.gold, labels, self.corpus.offsets
            return sequence_counts(*arrays, self.schema, "sequence_accuracy")[:, 0] > 0
        given, gold = (self.pronounced(ids) for ids in (labels, self.gold))
        return np.array([a == b for a, b in zip(given, gold, strict=True)])

    def pronounced(self, labels: Ids) -> list[str]:
        """The phonemes of each word."""
        names = ["" if name == SILENT else name.replace(JOINT, " ") for name in self.schema.labels]
        parts = self.corpus.split(labels.tolist())
        return [" ".join(names[y] for y in part if names[y]) for part in parts]
