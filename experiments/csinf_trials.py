"""One task of Canisius et al. 2006: settings of the memory-based learner, how they are chosen, their scores.

    train, target ─→ Study ─→ tune("single"), tune("trigram")     settings, by samples of train alone
                              baseline      single labels
                              trigrams      voting, csinf, oracle

Settings are chosen by wrapped progressive sampling of words, or of runs of sentences, for each of the two
learners by what counts in the end: the F1 or the share of right words that its labels give, those of trigrams
by constraint satisfaction inference. The paper took the accuracy of the classifier. Overlap does better on
small samples and value difference on large ones, so each metric has a search of its own; and the more there
is to learn from, the more neighbours are good, so the best few of all metrics meet on larger samples with as
many neighbours as they had and with more.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from conseq.corpus import Corpus
from conseq.metrics.resampling import compare_counts, f1_of
from conseq.models.distributions import Distributions
from conseq.models.memory import WEIGHTS, Classified, Found, Memory
from conseq.models.trigrams import Predictions, TrigramClasses
from conseq.models.windows import windows
from conseq.optimise.progressive import Round, progressive_sampling
from conseq.optimise.progressive import Search as Searched
from conseq.options import NeighbourOptions
from conseq.threads import cores
from conseq.vocabulary import UNSEEN
from experiments.common import Result
from experiments.csinf_tasks import Answers, Ids, Ints, Task, distinct

BLOCK = 20
"""Sentences that are sampled together."""
SHARPER = 3.0
"""The power of weights that is measured besides the paper's, which is 1."""
SINGLE, TRIGRAM = "single", "trigram"
"""The two learners: classes of one label, and of three."""


@dataclass(frozen=True)
class Setting:
    """The parameters that are chosen."""

    metric: str = "overlap"
    weights: str = "gain-ratio"
    k: int = 1
    voting: str = "majority"

    def options(self, n_features: int) -> NeighbourOptions:
        return NeighbourOptions((self.metric,) * n_features, self.weights, self.k, self.voting)

    def __str__(self) -> str:
        return f"{self.metric}, {self.weights}, k = {self.k}, {self.voting}"


@dataclass(frozen=True)
class Search:
    """The settings to choose from, and how much is sampled."""

    metrics: tuple[str, ...] = ("overlap", "mvdm", "jensen-shannon", "jeffrey")
    weights: tuple[str, ...] = ("gain-ratio", *(name for name in WEIGHTS if name != "gain-ratio"))
    neighbours: tuple[int, ...] = (3, 5, 7, 11, 15, 25)
    voting: tuple[str, ...] = ("majority", "inverse-linear", "inverse-distance", "exponential-decay")
    first: int = 2_000  # tokens of the first sample to learn from
    last: int = 30_000  # of the last one for each metric, and of the first one for the best of all
    final: int = 60_000  # of the last one for those
    finalists: int = 3  # settings of each metric that meet there, with more neighbours, too

    def settings(self, metric: str) -> list[Setting]:
        """Plain ones first. The nearest alone vote alike however votes are weighed; distances as large as
        chi-squared makes them leave next to nothing of a vote that decays exponentially."""
        nearest = [Setting(metric, w) for w in self.weights]
        more = product(self.neighbours, self.voting, self.weights)
        lost = "exponential-decay", "chi-squared"
        return nearest + [Setting(metric, w, k, v) for k, v, w in more if (v, w) != lost]

    def best_of(self, ranked: Sequence[Setting]) -> list[Setting]:
        """The first few that differ in more than the number of neighbours, each with its number and more.

        >>> tried = [Setting("mvdm", k=7), Setting("mvdm", k=5), Setting("mvdm", "none", k=15)]
        >>> [(one.weights, one.k) for one in Search(neighbours=(5, 11, 25)).best_of(tried)]
        [('gain-ratio', 7), ('gain-ratio', 11), ('gain-ratio', 25), ('none', 15), ('none', 25)]
        """
        kinds: dict[Setting, Setting] = {}
        for setting in ranked:
            kinds.setdefault(replace(setting, k=1), setting)
        few = list(kinds.values())[: self.finalists]
        return [one for s in few for one in (s, *(replace(s, k=k) for k in self.neighbours if k > s.k))]


@dataclass(frozen=True, eq=False)
class _Sample:
    """What settings are compared on."""

    known: Ints  # tokens of train to learn from
    rows: Ids  # windows to label
    answers: Answers  # and what is right
    most: int  # distances that are looked for
    found: dict[tuple[str, str], tuple[Memory, Found]] = field(default_factory=dict)  # by metric and weights


@dataclass(frozen=True, eq=False)
class Study:
    """One task: instances of train and of the target, with their classes."""

    task: Task
    train: Corpus
    target: Corpus

    @cached_property
    def _windows(self) -> tuple[Ids, Ids]:
        known = windows(self.train, self.task.seen)
        return known.ids, windows(self.target, self.task.seen, like=known).ids

    @cached_property
    def _classes(self) -> tuple[TrigramClasses, dict[str, Ids]]:
        """The trigrams, and the classes of each token of train, [T]."""
        trigrams, ids = TrigramClasses.of(self.train)
        return trigrams, {SINGLE: self.train.full_labels().ids, TRIGRAM: ids}

    @cached_property
    def answers(self) -> Answers:
        return Answers(self.task, self.target, self.train.full_labels().vocabulary)

    @property
    def n_classes(self) -> int:
        """The trigrams of labels in train."""
        return len(self._classes[0])

    # ── choosing ────────────────────────────────────────────────────────────────────────────────

    def tune(self, learner: str, search: Search) -> tuple[Setting, Result]:
        """The setting that does best on samples of train, and how it was found."""
        begun = time.perf_counter()
        rounds: list[Round[Setting]] = []
        left = []
        for metric in search.metrics:
            found = self._search(learner, search.settings(metric), search.first, search.last)
            rounds += found.rounds
            left += search.best_of(found.ranked())
        found = self._search(learner, left, search.last, search.final)
        told = [
            {"train": one.train, "test": one.test, "settings": len(one.trials)}
            for one in (*rounds, *found.rounds)
        ]
        seconds = time.perf_counter() - begun
        return found.best, {**asdict(found.best), "score": found.score, "rounds": told, "seconds": seconds}

    def _search(self, learner: str, settings: list[Setting], first: int, last: int) -> Searched[Setting]:
        """Progressive sampling from `first` tokens to `last`."""
        unit = self._units()
        sampled = self._sampled(unit, int(1.25 * last))
        start = first * len(sampled) / max(first, self._tokens_of(np.isin(unit, sampled)).size)
        most = 1 + max(setting.k for setting in settings)
        samples: dict[tuple[int, int], _Sample] = {}  # the same for all settings of a round

        def trial(setting: Setting, learn: Ints, test: Ints) -> float:
            size = len(learn), len(test)
            if size not in samples:
                samples.clear()
                own, others = (np.isin(unit, sampled[part]) for part in (learn, test))
                samples[size] = self._sample(own, others, most)
            sample = samples[size]
            found = self._voted(learner, setting, sample)
            labels = self._labels(learner, found, sample.answers.corpus.offsets)
            return float(f1_of(sample.answers.tally(labels).sum(axis=0)))

        return progressive_sampling(settings, trial, len(sampled), first=start)

    def _sample(self, known: NDArray[np.bool_], asked: NDArray[np.bool_], most: int) -> _Sample:
        answers = Answers(self.task, self.train.select(asked), self.answers.labels)
        return _Sample(self._tokens_of(known), self._windows[0][self._tokens_of(asked)], answers, most)

    def _voted(self, learner: str, setting: Setting, sample: _Sample) -> Classified:
        """Neighbours are looked for once for all k and ways to vote. Under overlap those equally
        far would fill the memory, and there it is quickly done anyway."""
        if setting.metric == "overlap":
            return self._classified(learner, setting, sample.known, sample.rows)
        key = setting.metric, setting.weights
        if key not in sample.found:
            memory, asked = self._memory(learner, setting, sample.known, sample.rows)
            sample.found[key] = memory, memory.search(asked, k=sample.most, threads=cores())
        memory, found = sample.found[key]
        return memory.recount(found, setting.k, setting.voting)

    def _units(self) -> Ints:
        """What is sampled, as a number for each sequence: equal words together; sentences as they follow each
        other, for those of one text are more alike than those of train and target."""
        if self.task.scheme == "plain":
            return distinct(self.train)
        return np.arange(len(self.train)) // BLOCK

    def _sampled(self, unit: Ints, tokens: int) -> Ints:
        """Units at random, with about `tokens` tokens in all."""
        sizes = np.bincount(unit, self.train.lengths)
        order = np.random.default_rng(0).permutation(len(sizes))
        return np.sort(order[: np.searchsorted(np.cumsum(sizes[order]), tokens) + 1])

    def _tokens_of(self, sequences: NDArray[np.bool_]) -> Ints:
        """The tokens of some sequences of train."""
        return np.flatnonzero(np.repeat(sequences, self.train.lengths))

    # ── labelling ───────────────────────────────────────────────────────────────────────────────

    def _labels(self, learner: str, found: Classified, offsets: Ints) -> Ids:
        """The labels that come of what was found for the tokens of some sequences."""
        return found.winner if learner == SINGLE else self._predictions(found, offsets).csinf(cores())

    def _memory(self, learner: str, setting: Setting, known: Ints, rows: Ids) -> tuple[Memory, Ids]:
        """What remembers the tokens `known` of train, and what it is asked about windows."""
        _, classes = self._classes
        kept, asked = compacted(self._windows[0][known], rows)
        return Memory.build(kept, classes[learner][known], setting.options(kept.shape[1])), asked

    def _classified(self, learner: str, setting: Setting, known: Ints, rows: Ids) -> Classified:
        memory, asked = self._memory(learner, setting, known, rows)
        return memory.classify(asked, threads=cores())

    def _predictions(self, found: Classified, offsets: Ints) -> Predictions:
        trigrams, _ = self._classes
        shares = Distributions.of(range(len(trigrams)), found.indptr, found.cls, found.share, found.winner)
        return Predictions.of(trigrams, shares, offsets)

    # ── measuring ───────────────────────────────────────────────────────────────────────────────

    def baseline(self, setting: Setting) -> Ints:
        """The tally of single labels."""
        everything = np.arange(self.train.n_tokens)
        return self.answers.tally(self._classified(SINGLE, setting, everything, self._windows[1]).winner)

    def trigrams(self, setting: Setting, share: float = 1.0) -> tuple[dict[str, Ints], Result]:
        """The tallies of each way, and what table 2 has; learned from a share of train."""
        known = self._tokens_of(
            np.random.default_rng(0).permutation(len(self.train)) < share * len(self.train)
        )
        found = self._classified(TRIGRAM, setting, known, self._windows[1])
        predictions = self._predictions(found, self.target.offsets)
        ways = {
            "voting": predictions.voting(),
            "csinf": predictions.csinf(cores()),
            "sharper": predictions.sharpened(SHARPER).csinf(cores()),
            "oracle": predictions.oracle(self.answers.gold),
        }
        right = self._classes[0].encode(self.target) == found.winner
        return {name: self.answers.tally(labels) for name, labels in ways.items()}, {
            "base_accuracy": float(right.mean()),
            "sequences": float(predictions.mean_sequences()),
        }


def compacted(known: Ids, asked: Ids) -> tuple[Ids, Ids]:
    """The values of each feature numbered anew, without those that are not known; those become −1 in asked.

    >>> kept, query = compacted(np.array([[5, 1], [7, 1]]), np.array([[7, 0], [6, 1], [-1, 1]]))
    >>> kept.tolist(), query.tolist()
    ([[0, 0], [1, 0]], [[1, -1], [-1, 0], [-1, 0]])
    """
    kept, query = np.empty(known.shape, np.int32), np.empty(asked.shape, np.int32)
    for f in range(known.shape[1]):
        size = 2 + max(int(known[:, f].max(initial=0)), int(asked[:, f].max(initial=0)))
        seen = np.bincount(known[:, f], minlength=size) > 0
        number = np.where(seen, np.cumsum(seen) - 1, UNSEEN)
        kept[:, f], query[:, f] = number[known[:, f]], number[asked[:, f]]  # number[−1] is UNSEEN, too
    return kept, query


def difference(first: Ints, second: Ints) -> Result:
    """second − first of two tallies [U,3], its 95 % interval and p-value by a paired bootstrap over units."""
    found = compare_counts(first, second)
    return {"difference": found.difference, "interval": list(found.interval), "p": found.p_value}
