"""What every way of training a linear chain has in common.

Sample, start weights ─→ Trainer.train ─→ Result(weights, …), a Step to the callback after each round
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from conseq.features.design import Design
from conseq.models.layout import Layout, Observed
from conseq.optimise.lbfgs import Callback, Result


@dataclass(frozen=True, eq=False)
class Sample:
    """Labelled training data, its weights and their counts."""

    design: Design
    labels: NDArray[np.int32]  # [T]
    offsets: NDArray[np.int64]  # [N+1]
    layout: Layout
    observed: Observed


class Trainer(Protocol):
    """An algorithm with its options."""

    @property
    def sparse(self) -> bool:
        """Whether many weights end at 0, which the model then leaves out."""
        ...

    def train(self, sample: Sample, start: NDArray[np.float64], callback: Callback) -> Result:
        """The weights, from `start` on; Ctrl-C gives those so far."""
        ...
