"""The linear-chain conditional random field.

    Shards of Design + labels ─→ CRF(options).fit_all ─→ ChainModel ─→ potentials(design) ─→ decoders

    p(y | x) ∝ exp( start[y_0] + Σ_t w · f(x, t, y_t) + Σ_t pairwise[y_{t−1}, y_t] + end[y_last] )

Lafferty et al. 2001; trained on −Σ log p(y|x) + c1 ‖w‖₁ + c2 ‖w‖₂², CRFsuite's objective, or
as a perceptron; `ALGORITHMS` has the ways to train.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from conseq.archive import Archive
from conseq.checks import repeats
from conseq.features.design import Design
from conseq.kernels import rows as row_kernels
from conseq.models.layout import Layout, Observed, Shard, observe_all
from conseq.models.objective import ChainObjective
from conseq.models.online import AdaGrad, Perceptron
from conseq.models.trainer import Sample, Trainer
from conseq.optimise.lbfgs import LBFGS, Callback, Result, Step
from conseq.potentials import Potentials
from conseq.shelf import Shelf
from conseq.threads import balanced, map_chunks

ALGORITHMS: Mapping[str, type[LBFGS] | type[Trainer]] = {
    "lbfgs": LBFGS,
    "ap": Perceptron,
    "adagrad": AdaGrad,
}
"""By name: the options of each way to train, which run it."""

STORED = ("feature", "label", "moves", "starts", "ends")
"""The arrays of a layout."""

FLOOR = 0.01
"""The least p(1−p) that the scale of a weight assumes."""


@dataclass(frozen=True, eq=False)
class ChainModel:
    """Trained weights."""

    layout: Layout
    weights: NDArray[np.float64]  # [F]

    def potentials(self, design: Design, offsets: NDArray[np.int64], *, threads: int = 1) -> Potentials:
        """The scores of the sequences behind a design; attributes without a weight score 0."""
        layout = self.layout
        state = np.ascontiguousarray(layout.state(self.weights), dtype=np.float32)
        rows = np.empty((design.n_rows, layout.n_labels), dtype=np.float32)
        unary = np.empty((design.n_tokens, layout.n_labels))
        table = (state, layout.feature, layout.label, design.indptr, design.attr, design.value, rows)
        pieces = 1 if threads == 1 else 4 * threads
        ranges = balanced(design.indptr, pieces)
        map_chunks(lambda lo, hi: row_kernels.expand(*table, lo, hi), ranges, threads)
        cuts = np.linspace(0, design.n_tokens, pieces + 1).astype(np.int64)
        map_chunks(lambda lo, hi: row_kernels.gather(rows, design.row_of, unary, lo, hi), cuts, threads)
        pairwise, start, end = layout.chain(self.weights)
        return Potentials(unary, pairwise[None], start, end, offsets)

    def pruned(self) -> ChainModel:
        """The same model without the weights that are 0."""
        kept = self.weights != 0
        layout = self.layout
        a, b, c, d = layout.bounds
        before = np.concatenate([[0], np.cumsum(kept[:a])])
        smaller = Layout(
            layout.n_labels,
            before[layout.feature].astype(np.int64),
            layout.label[kept[:a]],
            layout.moves[kept[a:b]],
            layout.starts[kept[b:c]],
            layout.ends[kept[c:d]],
        )
        return ChainModel(smaller, self.weights[kept])

    def compact(self) -> tuple[ChainModel, NDArray[np.bool_]]:
        """The same model without attributes that have no weight, and which attributes are left, bool[A]."""
        layout = self.layout
        used = np.diff(layout.feature) > 0
        feature = np.append(layout.feature[:-1][used], layout.feature[-1])
        return ChainModel(replace(layout, feature=feature), self.weights), used

    def arrays(self) -> dict[str, NDArray]:
        """All there is to save."""
        return {"weights": self.weights, **{name: getattr(self.layout, name) for name in STORED}}

    @classmethod
    def from_archive(cls, archive: Archive, n_labels: int, n_attributes: int) -> ChainModel:
        """What `arrays` gave, as a model again."""
        last = n_labels - 1
        label = archive.array("label", np.int32, [None], 0, last)
        moves = archive.array("moves", np.int32, [None, 2], 0, last)
        archive.check(not repeats(moves @ [n_labels, 1]), "a pair of labels has two weights")
        layout = Layout(
            n_labels,
            archive.cuts("feature", n_attributes, len(label)),
            label,
            moves,
            archive.array("starts", np.int32, [None], 0, last, distinct=True),
            archive.array("ends", np.int32, [None], 0, last, distinct=True),
        )
        return cls(layout, archive.array("weights", np.float64, [layout.size]))


@dataclass(frozen=True)
class Progress:
    """One iteration of training, or epoch, for whoever watches."""

    iteration: int
    objective: float
    evaluations: int
    seconds: float
    development: float | None


@dataclass(frozen=True)
class TrainingReport:
    """How training went; the objective is that of the weights that were kept, as far as it was measured.

    For algorithms that go from batch to batch, iterations are epochs and the objective is what they say in
    `models/online.py`.
    """

    objective: float
    iterations: int
    evaluations: int
    seconds: float
    status: str
    features: int
    attributes: int
    best_iteration: int
    development: float | None = None
    history: list[Progress] = field(default_factory=list)


@dataclass(frozen=True)
class WarmStart:
    """A model to start from: its old attribute and label of each new one, −1 where there is none."""

    model: ChainModel
    attribute: NDArray[np.int64]  # [A] new → old
    label: NDArray[np.int64]  # [Y] new → old

    def weights(self, layout: Layout) -> NDArray[np.float64]:
        """The old weights in the places of a new layout, 0 where there was none."""
        old = self.model.layout
        start = np.zeros(layout.size)
        attribute = np.repeat(np.arange(len(layout.feature) - 1), np.diff(layout.feature))
        wanted_a, wanted_y = self.attribute[attribute], self.label[layout.label]
        codes = np.where((wanted_a < 0) | (wanted_y < 0), -1, wanted_a * old.n_labels + wanted_y)
        known = np.repeat(np.arange(len(old.feature) - 1), np.diff(old.feature)) * old.n_labels + old.label
        if len(known):
            place = np.minimum(np.searchsorted(known, codes), len(known) - 1)
            found = known[place] == codes
            start[: len(codes)][found] = self.model.weights[place[found]]
        tables = old.chain(self.model.weights)
        label = np.where(self.label < 0, old.n_labels, self.label)
        padded = [np.pad(t, (0, 1)) for t in tables]
        layout.put_chain(start, padded[0][np.ix_(label, label)], padded[1][label], padded[2][label])
        return start


@dataclass(frozen=True)
class CRF:
    """Options of training.

    `boundaries` gives each label a weight for opening and for closing a sequence; `transitions` one for each
    pair of neighbours seen.
    """

    optimiser: LBFGS | Trainer = field(default_factory=LBFGS)
    transitions: bool = True
    boundaries: bool = True
    threads: int = 1
    precision: type[np.floating] = np.float32

    def fit_all(
        self,
        shards: Iterable[Shard],
        n_labels: int,
        *,
        shelf: Shelf | None = None,
        warm: WarmStart | None = None,
        development: Callable[[ChainModel], float] | None = None,
        watch: Callable[[Progress], None] | None = None,
    ) -> tuple[ChainModel, TrainingReport]:
        """Train on shards, which are gone through several times.

        shelf        what training makes of them is kept there, so that one of them at a time is in memory
        development  scores a model, higher is better: the best iterate is kept, not the last
        """
        begun = time.perf_counter()
        layout, observed = observe_all(
            shards, n_labels, transitions=self.transitions, boundaries=self.boundaries
        )
        sample = Sample(shards, layout, observed, shelf)
        tracker = _Tracker(layout, development, watch, begun)
        with threadpool_limits(1, user_api="blas"):
            start = np.zeros(layout.size) if warm is None else warm.weights(layout)
            result = self._train(sample, start, tracker)
        kept = tracker.best or result
        weights = kept.weights
        report = TrainingReport(
            objective=kept.value,
            iterations=result.iterations,
            evaluations=result.evaluations,
            seconds=time.perf_counter() - begun,
            status=result.status,
            features=int(np.count_nonzero(weights)) if self.optimiser.sparse else layout.size,
            attributes=len(layout.feature) - 1,
            best_iteration=tracker.best.iteration if tracker.best else result.iterations,
            development=tracker.top if development else None,
            history=tracker.history,
        )
        model = ChainModel(layout, weights)
        return (model.pruned() if self.optimiser.sparse else model), report

    def _train(self, sample: Sample, start: NDArray[np.float64], callback: Callback) -> Result:
        """The trainer's result; L-BFGS and OWL-QN work on the objective of all sequences together."""
        if not isinstance(self.optimiser, LBFGS):
            return self.optimiser.train(sample, start, callback)
        c2 = self.optimiser.c2
        objective = ChainObjective(sample, c2=c2, threads=self.threads, precision=self.precision)
        scale = curvature_scale(sample.observed, c2)
        return self.optimiser.minimise(objective, start, scale=scale, callback=callback)


@dataclass(eq=False)
class _Tracker:
    """Follows training: reports each iteration and keeps the best on development data."""

    layout: Layout
    development: Callable[[ChainModel], float] | None
    watch: Callable[[Progress], None] | None
    begun: float
    best: Step | None = None
    top: float = -np.inf
    history: list[Progress] = field(default_factory=list)

    def __call__(self, step: Step) -> None:
        score = None
        if self.development:
            score = self.development(ChainModel(self.layout, step.weights))
            if score > self.top:
                self.top, self.best = score, replace(step, weights=step.weights.copy())
        seconds = time.perf_counter() - self.begun
        progress = Progress(step.iteration, step.value, step.evaluations, seconds, score)
        self.history.append(progress)
        if self.watch:
            self.watch(progress)


def curvature_scale(observed: Observed, c2: float) -> NDArray[np.float64]:
    """(n · max(p(1−p), 0.01) + 2 c2) ^ −¼: rare events may move further than frequent ones.

    n is how often the event could have happened, p the share in which it did. The inverse curvature itself
    would be too much, as the weights depend on each other: of the powers 0.2 to 0.7, 0.2 to 0.3 took the
    fewest evaluations on chunks, names, citations and addresses.
    """
    n = np.maximum(observed.contexts, 1e-6)
    p = np.clip(np.abs(observed.events) / n, 0.0, 1.0)
    return (n * np.maximum(p * (1 - p), FLOOR) + max(2 * c2, 0.1)) ** -0.25
