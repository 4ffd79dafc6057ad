"""What rounding may do to scores: the one answer to whether two of them are the same.

    score ─→ rounding ─→ how far another may lie from it and still be equal

Scores are sums, and one with a large part that no labelling avoids (an unavoidable penalty of 10¹²) still
tells labellings apart that differ by little. So the share counts up to MOST only; beyond that it is what
float64 loses.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from conseq.kernels.compiled import helper

MOST = 1e3
LOST = 1e-13
"""Of a sum of some hundred numbers, as a share of their size."""


def rounding(score: Any, share: float = 1e-9) -> Any:
    """share · (1 + |score|) for a score, or an array of them, of ordinary size.

    >>> round(float(rounding(1.0)), 12), round(float(rounding(1e12)), 3)
    (2e-09, 0.1)
    """
    size = np.abs(score)
    return share * (1 + np.minimum(size, MOST)) + LOST * size


@helper
def in_kernels(score: float) -> float:
    """The same at the default share, for kernels."""
    return 1e-9 * (1 + min(abs(score), MOST)) + LOST * abs(score)
