"""The whole task as one object: corpus ─→ features ─→ CRF ─→ rules ─→ labels, in scikit-learn's manner.

    SequenceLabeller(features="ner", constraints="at most 1 segment of date  hard").fit(X, y).predict(X)

core      the estimator
training  what it learns from, and the report of how it went
rules     what may be given as constraints ─→ Constraints
answers   a batch of sequences with its labels: the sentence if there are none, n best, probabilities
saving    the estimator ↔ a model file
"""

from conseq.labeller.core import SequenceLabeller
from conseq.labeller.training import FitReport

__all__ = ["FitReport", "SequenceLabeller"]
