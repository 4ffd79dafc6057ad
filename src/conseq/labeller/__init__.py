"""The whole task as one object: corpus ─→ features ─→ model ─→ rules ─→ labels, in scikit-learn's manner.

    SequenceLabeller(features="ner", constraints="at most 1 segment of date  hard").fit(X, y).predict(X)

base      what every labeller can do
core      SequenceLabeller: a conditional random field
memory    MemoryLabeller: the labels of the tokens most like these
tuning    options chosen on growing samples of the training data
training  what a labeller learns from, and the report of how it went
learning  rules for a model, and the evidence that they are learned from
rules     what may be given as constraints ─→ Constraints
answers   a batch of sequences with its labels: the sentence if there are none, n best, probabilities
saving    what the model files of all labellers have in common
"""

from __future__ import annotations

import os

from conseq.labeller.base import Labeller, restored
from conseq.labeller.core import SequenceLabeller
from conseq.labeller.memory import MemoryLabeller
from conseq.labeller.training import FitReport

__all__ = ["LABELLERS", "FitReport", "Labeller", "MemoryLabeller", "SequenceLabeller", "load"]

LABELLERS: tuple[type[Labeller], ...] = (SequenceLabeller, MemoryLabeller)
"""Every kind of labeller."""


def load(path: str | os.PathLike[str]) -> Labeller:
    """The labeller of a model file, whatever its kind."""
    return restored(LABELLERS, path)
