"""Any labelling that breaks no hard rule, whatever its score.

Lattice, Readers of hard rules ─→ satisfy ─→ states, or that there are none
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from conseq.decoders.lattice.lattice import Lattice
from conseq.decoders.lattice.partial import Growth
from conseq.decoders.lattice.reader import Reader
from conseq.errors import ConseqError


class Undecided(ConseqError):
    """Whether rules can hold together was not found out within the limits."""


def satisfy(lattice: Lattice, readers: Sequence[Reader], width: int) -> NDArray[np.int32] | None:
    """The states of a path that no reader charges inf for, [L]; None if there is none.

    Of the partial paths with different futures that every automaton by itself can complete, `width` are kept
    at each position, spread over all of them. Raises `Undecided` if that leaves some out and finds no path.
    """
    growth, all_kept = Growth(lattice, readers), True
    for level in range(lattice.n_tokens + 1):
        paths = growth.at(level)
        if paths is None:
            continue
        able = np.flatnonzero(paths.cost + paths.remaining < np.inf)
        _, first = np.unique(growth.keys(paths)[able], return_index=True)
        if len(first) > width:
            first, all_kept = first[np.linspace(0, len(first) - 1, width).astype(np.int64)], False
        growth.wait(growth.keep(paths.take(able[first])))
    paths = growth.at(lattice.n_tokens + 1)
    found = [] if paths is None else np.flatnonzero(paths.cost < np.inf).tolist()
    if paths is not None and found:
        return growth.states(paths, found[0])
    if all_kept:
        return None
    raise Undecided(f"no labelling was found with {width:,} partial ones at a time; raise the limits")
