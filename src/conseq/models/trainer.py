"""What every way of training a linear chain has in common.

Sample, start weights ─→ Trainer.train ─→ Result(weights, …), a Step to the callback after each round
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from conseq.models.layout import Layout, Observed, Shard
from conseq.optimise.lbfgs import Callback, Result
from conseq.shelf import Arrays, Shelf, Shelved, Storable

T = TypeVar("T", bound=Storable)


@dataclass(frozen=True, eq=False)
class Sample:
    """Labelled training data, its weights and their counts.

    The shards can be gone through several times; with a shelf, no more than one of them is in memory.
    """

    shards: Iterable[Shard]
    layout: Layout
    observed: Observed
    shelf: Shelf | None = None

    def keep(self, things: Iterable[T], load: Callable[[Arrays], T]) -> Sequence[T] | Shelved[T]:
        """What a trainer makes of the shards, in memory or on the shelf; `load` makes it of its arrays."""
        if self.shelf is None:
            return list(things)
        return Shelved.of(things, self.shelf.within("training"), load)


class Trainer(Protocol):
    """An algorithm with its options."""

    @property
    def sparse(self) -> bool:
        """Whether many weights end at 0, which the model then leaves out."""
        ...

    def train(self, sample: Sample, start: NDArray[np.float64], callback: Callback) -> Result:
        """The weights, from `start` on; Ctrl-C gives those so far."""
        ...
