"""Any labelling that breaks no hard rule, whatever its score.

Lattice, Readers of hard rules ─→ satisfy ─→ states, or that there are none
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from conseq.decoders.lattice.lattice import Lattice
from conseq.decoders.lattice.partial import Growth
from conseq.decoders.lattice.reader import Reader
from conseq.dtypes import States
from conseq.errors import ConseqError


class Undecided(ConseqError):
    """Whether rules can hold together was not found out within the limits."""


def check_clock(until: float) -> None:
    """Raise `Undecided` if time is up."""
    if time.perf_counter() > until:
        raise Undecided("no labelling was found in time; raise the limits")


def satisfy(lattice: Lattice, readers: Sequence[Reader], width: int, until: float = np.inf) -> States | None:
    """The states of a path that no reader charges inf for, [L]; None if there is none.

    Of the partial paths with different futures that every automaton by itself can complete, `width` are kept
    at each position, spread over all of them. Raises `Undecided` if that leaves some out and finds no
    path, or the clock (`time.perf_counter`) passes `until`.
    """
    for reader in readers:
        check_clock(until)
        _ = reader.minimum_remaining  # takes its time when it is first asked for
    growth, all_kept = Growth(lattice, readers), True
    for level in range(lattice.n_tokens + 1):
        check_clock(until)
        paths = growth.at(level)
        able = np.flatnonzero(paths.cost + paths.remaining < np.inf)
        _, first = np.unique(growth.keys(paths)[able], return_index=True)
        if len(first) > width:
            first, all_kept = first[np.linspace(0, len(first) - 1, width).astype(np.int64)], False
        growth.keep(paths.take(able[first]))
    paths = growth.at(lattice.n_tokens + 1)
    found = np.flatnonzero(paths.cost < np.inf)
    if len(found):
        return growth.states(paths, int(found[0]))
    if all_kept:
        return None
    raise Undecided(f"no labelling was found with {width:,} partial ones at a time; raise the limits")
