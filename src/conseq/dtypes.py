"""Arrays by the type of their entries, for annotations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Ids = NDArray[np.int32]
States = Ids
"""States or labels of tokens, −1 where there is none."""
