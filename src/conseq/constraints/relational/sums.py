"""What every rule about entities and relations comes down to: sums of indicators that have a bound.

    RelationRule.lower(types, candidates) ─→ Sums ─→ solvers (`decoders/variables/`)

An indicator is 1 if a variable (an entity, a pair) has a certain value, else 0; `Candidates` numbers them.
Axes: K rows, M entries, I indicators.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from conseq.dtypes import Floats, Ints


class Sums(NamedTuple):
    """Rows Σ weight · indicator ≤ bound, each violated by how far it is beyond its bound.

    The violation of a rule is the sum over its rows, or, if the rows stand `together`, that of the row which
    is violated most (so that a cycle which breaks several rows is charged once).
    """

    row: Ints  # [M], ascending
    indicator: Ints  # [M]
    weight: Floats  # [M]
    bound: Floats  # [K]
    together: bool = False

    def violation(self, values: Ints) -> float:
        """How much an assignment of indicators, [I] of 0 and 1, violates the rule."""
        totals = np.bincount(self.row, self.weight * values[self.indicator], minlength=len(self.bound))
        excess = np.maximum(0.0, totals - self.bound)
        return float(excess.max(initial=0.0) if self.together else excess.sum())
