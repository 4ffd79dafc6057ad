"""Training that changes the weights after every few sequences: averaged perceptron and AdaGrad.

    Sample ─→ Data of each shard ─ epochs in random order (`kernels/online.py`) ─→ Result

The perceptron gives a fair model after two or three epochs, without probabilities that mean much. AdaGrad
goes to the same minimum as L-BFGS, but takes long for its last digits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from conseq.errors import ConseqError
from conseq.kernels import online as kernel
from conseq.models.layout import Layout, Shard
from conseq.models.trainer import Sample
from conseq.optimise.lbfgs import Callback, Result, Step
from conseq.shelf import Arrays

AT_ONCE = 1 << 20
"""Tokens after which a kernel returns, so that Ctrl-C is heard."""

FIRST = 1.0
"""AdaGrad's sums of squares begin here, so that a weight with hardly a gradient takes no whole step."""


@dataclass(frozen=True)
class Perceptron:
    """The averaged structured perceptron (Collins 2002).

    It stops after an epoch without a wrong label, or after max_iterations epochs. Its objective is the number
    of labels that were wrong during the epoch.
    """

    sparse: ClassVar[bool] = True

    max_iterations: int = 10
    random_state: int = 0

    def train(self, sample: Sample, start: NDArray[np.float64], callback: Callback) -> Result:
        return _PerceptronRun(self, sample, start).loop(self.max_iterations, callback)


@dataclass(frozen=True)
class AdaGrad:
    """Stochastic gradients of −Σ log p(y | x) + c2 ‖w‖² with steps by AdaGrad (Duchi et al. 2011).

    A sequence bears the part of the penalty of the weights that it touches (`kernels/online.py`, `gradient`).
    The objective is an estimate: −log p of each sequence under the weights that it met in the epoch, and the
    penalty at its end. It stops when the least objective of the last `period` epochs is below
    earlier ones by no more than the share delta, or after max_iterations epochs.
    """

    sparse: ClassVar[bool] = False

    c2: float = 1.0
    max_iterations: int = 20
    period: int = 10
    delta: float = 1e-5
    random_state: int = 0
    batch: int = 8
    rate: float = 0.3

    def train(self, sample: Sample, start: NDArray[np.float64], callback: Callback) -> Result:
        return _AdaGradRun(self, sample, start).loop(self.max_iterations, callback)


class _Run(ABC):
    """One training."""

    batch = 1

    def __init__(self, sample: Sample, start: NDArray[np.float64], seed: int) -> None:
        self.layout, self.common = sample.layout, Common(sample.layout)
        self.shards = sample.keep(map(self.common.counted, sample.shards), lambda arrays: Sequences(**arrays))
        self.current = vector_of(sample.layout, start)
        self.random = np.random.default_rng(int(seed))
        self.history: list[float] = []

    def loop(self, epochs: int, callback: Callback) -> Result:
        try:
            while len(self.history) < epochs:
                self.history.append(self.epoch())
                done = len(self.history)
                if callback(Step(done, self.history[-1], self.weights(), done)):
                    return self.result("stopped")
                if self.converged():
                    return self.result("converged")
            return self.result("limit")
        except KeyboardInterrupt:
            return self.result("interrupted")

    def result(self, status: str) -> Result:
        value, done = self.history[-1] if self.history else np.inf, len(self.history)
        return Result(self.weights(), value, done, done, status, self.history)

    def pieces(self) -> Iterator[tuple[kernel.Data, NDArray[np.int64]]]:
        """All sequences in random order, as many at a time as a kernel gets; whole batches of one shard."""
        for shard in self.random.permutation(len(self.shards)) if len(self.shards) > 1 else [0]:
            data = self.common.data(self.shards[int(shard)])
            order = self.random.permutation(len(data.offsets) - 1)
            share = AT_ONCE / max(1, len(data.gold))
            size = max(1, int(share * len(order) / self.batch)) * self.batch
            yield from ((data, order[lo : lo + size]) for lo in range(0, len(order), size))

    @abstractmethod
    def epoch(self) -> float:
        """Go through all sequences once; gives the objective."""

    def weights(self) -> NDArray[np.float64]:
        """The weights so far, a new array."""
        return flat(self.layout, self.current)

    @abstractmethod
    def converged(self) -> bool: ...


class _PerceptronRun(_Run):
    def __init__(self, options: Perceptron, sample: Sample, start: NDArray[np.float64]) -> None:
        super().__init__(sample, start, options.random_state)
        self.sums = vector_of(self.layout, np.zeros_like(start))
        self.seen = 0

    def epoch(self) -> float:
        wrong = 0
        for data, piece in self.pieces():
            wrong += kernel.perceptron(data, piece, self.seen, self.current, self.sums)
            self.seen += len(piece)
        return float(wrong)

    def weights(self) -> NDArray[np.float64]:
        return super().weights() - flat(self.layout, self.sums) / max(1, self.seen)

    def converged(self) -> bool:
        return self.history[-1] == 0


class _AdaGradRun(_Run):
    def __init__(self, options: AdaGrad, sample: Sample, start: NDArray[np.float64]) -> None:
        super().__init__(sample, start, options.random_state)
        self.options, self.batch = options, options.batch
        self.descent = options.batch, float(options.rate), float(options.c2)
        self.squares = kernel.Vector(*(np.full_like(part, FIRST) for part in self.current))
        self.room = room_for(self.layout)

    def epoch(self) -> float:
        loss = 0.0
        for data, piece in self.pieces():
            loss += kernel.adagrad(data, *self.descent, piece, self.current, self.squares, self.room)
        if not np.isfinite(loss):
            raise ConseqError(
                "transitions have weights too large for probabilities; start from another model, or train "
                "with the algorithm lbfgs or ap"
            )
        weights = self.weights()
        return loss + self.options.c2 * float(weights @ weights)

    def converged(self) -> bool:
        period = self.options.period
        if len(self.history) <= period:
            return False
        before, value = min(self.history[:-period]), min(self.history[-period:])
        return before - value <= self.options.delta * abs(value)


# ── as the kernels want it ──────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, eq=False)
class Sequences:
    """A shard; empty sequences, which teach nothing, are left out. The fields are those of `kernel.Data`."""

    offsets: NDArray[np.int64]
    gold: NDArray[np.int32]
    row_of: NDArray[np.int32]
    indptr: NDArray
    attr: NDArray[np.int32]
    value: NDArray[np.float32]

    def arrays(self) -> Arrays:
        return vars(self)


class Common:
    """What the shards have in common."""

    def __init__(self, layout: Layout) -> None:
        self.layout, self.feature = layout, _short(layout.feature)
        self.uses = np.zeros(len(layout.feature) - 1)
        self.known = vector_of(layout, np.ones(layout.size)).chain
        self.sequences = 0

    def counted(self, shard: Shard) -> Sequences:
        """A shard, once its sequences and the uses of its attributes are counted."""
        design, offsets = shard.design, np.unique(shard.offsets)
        tokens = np.bincount(design.row_of.ravel(), minlength=design.n_rows)
        entries = np.repeat(tokens, np.diff(design.indptr))
        self.uses += np.bincount(design.attr, weights=entries, minlength=len(self.uses))
        self.sequences += len(offsets) - 1
        row_of, indptr = np.ascontiguousarray(design.row_of), _short(design.indptr)
        return Sequences(offsets, shard.labels, row_of, indptr, design.attr, design.value)

    def data(self, shard: Sequences) -> kernel.Data:
        """A shard as the kernels want it."""
        return kernel.Data(
            **shard.arrays(), feature=self.feature, label=self.layout.label, uses=self.uses, known=self.known,
            n_sequences=self.sequences, n_labels=self.layout.n_labels,
        )  # fmt: skip


def _short(rising: NDArray[np.int64]) -> NDArray:
    """The same numbers in half the memory, if they are not too large: what is small stays in the cache."""
    return rising.astype(np.int32) if rising[-1] <= np.iinfo(np.int32).max else rising


def room_for(layout: Layout) -> kernel.Room:
    times, touched = (np.zeros(len(layout.feature) - 1, dtype=np.int32) for _ in range(2))
    return kernel.Room(vector_of(layout, np.zeros(layout.size)), times, touched)


def vector_of(layout: Layout, weights: NDArray[np.float64]) -> kernel.Vector:
    """A weight vector in the two parts that kernels work on."""
    chain = np.concatenate([part.ravel() for part in layout.chain(weights)])
    return kernel.Vector(layout.state(weights).copy(), chain)


def flat(layout: Layout, vector: kernel.Vector) -> NDArray[np.float64]:
    """The reverse."""
    weights = np.empty(layout.size)
    layout.state(weights)[:] = vector.state
    pairwise, start, end = kernel.parts(vector.chain, layout.n_labels)
    layout.put_chain(weights, pairwise[0], start, end)
    return weights
