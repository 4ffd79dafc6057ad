"""The estimator that remembers.  fit: windows, classes ─→ Memory;  predict: windows ─→ neighbours ─→ labels.

With `inference="csinf"` a token is classified into the labels of three tokens, and constraint satisfaction
inference reconciles what neighbouring tokens say (Canisius et al. 2006); with `"single"` into its own label.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any, Self, get_type_hints

import numpy as np
from numpy.typing import NDArray

from conseq import persist
from conseq.constraints.language import Rules
from conseq.corpus import Column, Corpus
from conseq.decoders.auto import find_decoder
from conseq.decoders.base import Decoder
from conseq.errors import ConseqError, DataError
from conseq.estimator import Group
from conseq.io.objects import corpus_from
from conseq.labeller import saving
from conseq.labeller.answers import Answers
from conseq.labeller.base import Labeller
from conseq.labeller.explanation import Reason, TokenExplanation, largest
from conseq.labeller.training import TrainingData
from conseq.models import csinf
from conseq.models.distributions import Distributions
from conseq.models.memory.index import Memory, resolved
from conseq.models.trigrams import Predictions, TrigramClasses, check_sharpness
from conseq.models.windows import windows
from conseq.options import NeighbourOptions, RuleOptions
from conseq.potentials import Potentials
from conseq.threads import threads_of
from conseq.vocabulary import Vocabulary

CSINF, SINGLE = "csinf", "single"
ELSEWHERE = ("constraints", "n_jobs")
"""Options that other parts of a model file hold, or that belong to the machine."""
LEAST = 1e-6
"""The share that a label has which no neighbour has, so that rules can choose it."""


@dataclass(frozen=True)
class MemoryReport:
    """What is remembered: tokens, different windows, classes, the weight of each feature; seconds."""

    instances: int
    distinct: int
    classes: int
    weights: Mapping[str, float]
    labels: int
    threads: int = 0  # as seconds not known of a model from a file
    seconds: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def stored(self) -> dict[str, Any]:
        """What a model file says: all but time and threads, so that the same training gives the same file."""
        return {name: value for name, value in self.to_dict().items() if name in self.hints()}

    @classmethod
    def hints(cls) -> dict[str, Any]:
        """The types of what is stored."""
        return {n: hint for n, hint in get_type_hints(cls).items() if n not in ("threads", "seconds")}


@dataclass(eq=False, repr=False, kw_only=True)
class MemoryLabeller(Labeller):
    """Gives tokens the labels of the tokens most like them in the training data.

    >>> X, y = [["a", "b", "c"], ["a", "b"]], [["1", "2", "3"], ["1", "2"]]
    >>> MemoryLabeller(n_jobs=1).fit(X, y).predict([["a", "b", "c"], ["b", "c"]])
    [['1', '2', '3'], ['2', '3']]

    window        tokens to the left and right that are looked at, in every column
    inference     csinf (class trigrams, reconciled) or single (each token by itself)
    sharpness     with csinf, the weights of predicted trigrams to this power; 1 as in Canisius et al. 2006
    scheme        auto, plain, iob1, bio or bioes; iob1 becomes bio inside
    scoring       what `score` measures, as in `conseq.SequenceLabeller`
    n_jobs        threads; None or −1: all processors
    distance … threshold           how neighbours are found and vote: the fields of `conseq.NeighbourOptions`
    constraints, decoder, limit    rules, and how labels are found under them: as in `conseq.RuleOptions`
    neighbours, rules              the same as objects: neighbours=NeighbourOptions(k=3)

    A penalty is weighed against shares of votes: with csinf a label that all agree on is worth up to 10, with
    single it is a difference of logarithms.
    """

    model_type = "memory"

    window: int = 3
    inference: str = CSINF
    sharpness: float = 1.0
    scheme: str = "auto"
    scoring: str = "span_f1"
    n_jobs: int | None = None
    distance: str | Sequence[str] = NeighbourOptions.distance
    weights: str = NeighbourOptions.weights
    k: int = NeighbourOptions.k
    voting: str = NeighbourOptions.voting
    algorithm: str = NeighbourOptions.algorithm
    a: float = NeighbourOptions.a
    b: float = NeighbourOptions.b
    threshold: int = NeighbourOptions.threshold
    constraints: Rules = RuleOptions.constraints
    decoder: str | Decoder = RuleOptions.decoder
    limit: float | None = RuleOptions.limit
    neighbours: Group[NeighbourOptions] = Group(NeighbourOptions)
    rules: Group[RuleOptions] = Group(RuleOptions)

    # ── training ────────────────────────────────────────────────────────────────────────────────

    def fit(self, X: Any, y: Iterable[Sequence[str]] | None = None) -> Self:
        """Remember labelled sequences."""
        self._check_options()
        given = corpus_from(X, y)
        if not given.columns:
            raise DataError("a memory-based model looks at columns of values; give tokens, not attributes")
        data = TrainingData.of(given, self.scheme)
        self._begin(data, self.constraints)
        begun = time.perf_counter()
        corpus = Corpus(given.columns, given.offsets, Column(data.ids(given), data.labels))
        seen = windows(corpus, self.columns_, self.window, self.window)
        classes, self.trigrams_ = self._classes(corpus)
        featured = time.perf_counter()
        self.model_ = Memory.build(seen.ids, classes, self.neighbours)
        trained = time.perf_counter()
        self.corpus_ = corpus
        self.windows_ = seen
        weights = dict(zip(seen.names, self.model_.weights.tolist(), strict=True))
        seconds = {"features": featured - begun, "train": trained - featured}
        self.report_ = MemoryReport(
            corpus.n_tokens, len(self.model_.bounds) - 1, int(classes.max()) + 1, weights, len(self.schema_),
            self.n_threads, seconds,
        )  # fmt: skip
        return self

    def _classes(self, corpus: Corpus) -> tuple[NDArray[np.int32], TrigramClasses | None]:
        """The class of each token, and what they stand for if they are trigrams."""
        if self.inference == SINGLE:
            return corpus.full_labels().ids, None
        trigrams, classes = TrigramClasses.of(corpus)
        return classes, trigrams

    def _check_options(self) -> None:
        if self.inference not in (CSINF, SINGLE):
            raise ConseqError(f"there is no inference {self.inference!r}; choose {CSINF} or {SINGLE}")
        check_sharpness(self.sharpness)
        if self.window < 0:
            raise ConseqError(f"window is {self.window}; give the number of tokens on either side, from 0")
        distances = [self.distance] if isinstance(self.distance, str) else list(self.distance)
        if "numeric" in distances:
            raise ConseqError("columns hold symbols, not numbers; choose another distance than numeric")
        resolved(self.neighbours, len(distances))  # raises if a name is not known
        find_decoder(self.rules.decoder)
        threads_of(self.n_jobs)

    def grid(self, corpus: Corpus) -> dict[str, Sequence[Any]]:
        """What `tune` tries: the simplest first."""
        return {
            "distance": ["overlap", "mvdm", "jensen-shannon"],
            "weights": ["gain-ratio", "information-gain", "shared-variance", "chi-squared", "none"],
            "k": [1, 3, 5, 7, 11],
            "voting": ["majority", "inverse-linear", "inverse-distance"],
        }

    # ── labelling ───────────────────────────────────────────────────────────────────────────────

    def classify(self, corpus: Corpus) -> Distributions:
        """What the neighbours of each token say, as shares of classes."""
        self._check_fitted()
        missing = [name for name in self.columns_ if name not in corpus.columns]
        if missing:
            known = ", ".join(corpus.columns) or "none"
            raise DataError(f"the model needs the column {missing[0]!r}; the input has: {known}")
        found = self.model_.classify(self._windows(corpus), threads=self.n_threads)
        return Distributions.of(
            range(self.report_.classes), found.indptr, found.cls, found.share, found.winner
        )

    def _windows(self, corpus: Corpus) -> NDArray[np.int32]:
        """What the model sees of each token, [T,F]."""
        return windows(corpus, self.columns_, self.window, self.window, like=self.windows_).ids

    def _answer(self, batch: Corpus, mask: NDArray[np.bool_] | None, first: int) -> Answers:
        """By constraint satisfaction inference, with all labels where rules leave none of those proposed."""
        found, rules, limits, threads = self.classify(batch), self.constraints_, self._limits, self.n_threads
        if self.trigrams_ is None:
            return self._decoded(self._scores(found, batch.offsets), batch, mask, first, self.decoder)
        predictions = Predictions.of(self.trigrams_, found, batch.offsets).sharpened(self.sharpness)
        problems = csinf.problems(predictions, rules, schema=self.schema_, corpus=batch, allowed=mask)
        decoder = self.decoder if rules or mask is not None else "auto"
        decodings = csinf.decode_all(problems, decoder, limits=limits, threads=threads, fall_back=True)
        votes = partial(self.trigrams_.shares, found)
        return Answers(batch, first, decodings, bool(rules), threads, limits, votes)

    def _scores(self, found: Distributions, offsets: NDArray[np.int64]) -> Potentials:
        """Each token by itself: the logarithms of shares are the scores."""
        shares = np.full((len(found), len(self.schema_)), LEAST)
        row = np.repeat(np.arange(len(found)), np.diff(found.indptr))
        shares[row, found.cls] += found.share
        each = np.arange(len(found))
        shares[each, found.winner] = np.maximum(shares[each, found.winner], shares.max(axis=1) + LEAST)
        return Potentials.of(np.log(shares), offsets=offsets)

    def _explained(self, found: Answers, most: int) -> Iterator[TokenExplanation]:
        batch, names = found.batch, self.schema_.labels
        near = self.model_.neighbours(self._windows(batch), threads=self.n_threads)
        labels, marginals = self.schema_.decode(found.decodings.labels), found.marginals()
        bounds = pairwise(near.indptr.tolist())
        for token, label, shares, (lo, hi) in zip(
            batch.columns[batch.token_column].strings(), labels, marginals.tolist(), bounds, strict=True
        ):
            listed = range(lo, min(hi, lo + most))
            reasons = [Reason(self._shown(int(near.instance[i])), float(near.distance[i])) for i in listed]
            yield TokenExplanation(token, label, largest(shares, names), reasons, hi - lo)

    def _shown(self, token: int) -> str:
        """A token of the training data with those around it and its label; with no window all its columns."""
        offsets, corpus = self.corpus_.offsets, self.corpus_
        label = corpus.full_labels().strings(token, token + 1)[0]
        if not self.window:
            cells = [column.strings(token, token + 1)[0] for column in corpus.columns.values()]
            return f"{' '.join(cells)} → {label}"
        sequence = int(np.searchsorted(offsets, token, side="right")) - 1
        a = max(int(offsets[sequence]), token - self.window)
        b = min(int(offsets[sequence + 1]), token + self.window + 1)
        around = corpus.columns[corpus.token_column].strings(a, b)
        around[token - a] = f"[{around[token - a]}]"
        return f"{' '.join(around)} → {label}"

    # ── files ───────────────────────────────────────────────────────────────────────────────────

    def archive(self) -> persist.Archive:
        """All that a model file holds."""
        corpus, labels = self.corpus_, self.corpus_.full_labels()
        arrays = {f"column{i}": column.ids for i, column in enumerate(corpus.columns.values())}
        strings = {f"column{i}": column.vocabulary.names for i, column in enumerate(corpus.columns.values())}
        document = {**saving.common(self, ELSEWHERE), "report": self.report_.stored()}
        return persist.combine(
            document,
            {
                "memory": self.model_.archive(),
                "corpus": persist.Archive(
                    {}, strings, {**arrays, "offsets": corpus.offsets, "labels": labels.ids}
                ),
            },
        )

    @classmethod
    def from_archive(cls, archive: persist.Archive) -> MemoryLabeller:
        """The labeller of a model file."""
        labeller = cls(**saving.options_of(cls, archive, ELSEWHERE))
        saving.restore_common(labeller, archive)
        memory, window = archive.within("memory"), labeller.window
        n_features = len(memory.field("distance", list[str]))
        expected = len(labeller.columns_) * (2 * window + 1)
        archive.check(n_features == expected, f"windows have {expected} places, instances {n_features}")
        labeller.model_ = Memory.from_archive(memory, n_features)
        archive.check(resolved(labeller.neighbours, n_features) == labeller.model_.options, "options differ")
        labeller.corpus_ = labeller._stored_corpus(archive.within("corpus"))
        labeller.windows_ = windows(labeller.corpus_, labeller.columns_, window, window)
        classes, labeller.trigrams_ = labeller._classes(labeller.corpus_)
        frequency = labeller.model_.ballot.frequency
        archive.check(np.array_equal(np.bincount(classes), frequency), "the labels are of other instances")
        labeller.report_ = labeller._stored_report(archive)
        return labeller

    def _stored_corpus(self, archive: persist.Archive) -> Corpus:
        """The training data, of which the neighbours in the memory are tokens."""
        n_tokens = len(self.model_.members)
        columns = {}
        for i, name in enumerate(self.columns_):
            names = archive.texts(f"column{i}")
            ids = archive.array(f"column{i}", np.int32, [n_tokens], 0, len(names) - 1)
            columns[name] = Column(ids, Vocabulary(names))
        labels = archive.array("labels", np.int32, [n_tokens], 0, len(self.schema_) - 1)
        offsets = archive.array("offsets", np.int64, [None])
        offsets = archive.cuts("offsets", len(offsets) - 1, n_tokens)
        return Corpus(columns, offsets, Column(labels, self.schema_.vocabulary))

    def _stored_report(self, archive: persist.Archive) -> MemoryReport:
        """The report, which must say of the memory what it is."""
        report = MemoryReport(**archive.table("report", MemoryReport.hints()))
        memory = self.model_
        sizes = len(memory.members), len(memory.tree.rows), len(memory.ballot.frequency), len(self.schema_)
        said = report.instances, report.distinct, report.classes, report.labels
        archive.check(said == sizes, "the report is of another model")
        return report
