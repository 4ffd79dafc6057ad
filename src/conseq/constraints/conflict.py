"""Smallest sets of items that cannot hold together, by implicit hitting sets (Ignatiev et al. 2015).

    items, Oracle ─→ conflicts ─→ sets of items, the smallest first, no item in two of them

A conflict has an item outside every set of items that can hold together: it hits the complements of all such
sets. A smallest set that hits those known so far is either in conflict, and then a smallest conflict, or can
hold, which gives one more complement to hit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Protocol

import numpy as np

from conseq.solver import Assembly


class Oracle(Protocol):
    """Decides whether items can hold together."""

    def holding(self, items: Set[int]) -> Set[int] | None:
        """Items that hold together and include the given ones; None if these cannot hold together."""
        ...

    def quickly(self, items: Set[int]) -> Set[int] | None:
        """The same, but None also where it would take long to find out."""
        ...


def conflicts(items: Iterable[int], oracle: Oracle, rounds: float = math.inf) -> Iterator[set[int]]:
    """Sets of items that cannot hold together until what is left can; an empty set if nothing ever can.

    Each is a smallest one of what the sets before it leave. The time for that may grow exponentially: after
    `rounds` rounds in all, sets follow from which no item can be left out, but smaller ones may exist.

    >>> class UpTo10:  # numbers hold together if their sum is not above 10
    ...     def holding(self, items):
    ...         return items if sum(items) <= 10 else None
    ...     quickly = holding
    >>> [sorted(found) for found in conflicts([1, 2, 7, 8], UpTo10())]
    [[7, 8]]
    """
    left = frozenset(items)
    if oracle.quickly(left) is not None:
        return
    to_hit: list[frozenset[int]] = []
    while all(to_hit):  # a complement that is empty: all that is left can hold together
        rounds -= 1
        chosen = smallest_hitting(to_hit) if rounds >= 0 else set(left)
        held = oracle.holding(chosen)
        if held is not None:
            to_hit.append(left - _grown(left, held, oracle))
            continue
        found = chosen if rounds >= 0 else _reduced(sorted(left), oracle)
        yield found
        if not found:
            return
        left -= found
        to_hit = [others - found for others in to_hit]


def _grown(items: Set[int], held: Set[int], oracle: Oracle) -> Set[int]:
    """A set around items that hold together to which no item can be added, as far as is found quickly."""
    held = items & held
    for item in sorted(items):
        if item not in held:
            held = items & (oracle.quickly(held | {item}) or held)
    return held


def _reduced(items: list[int], oracle: Oracle) -> set[int]:
    """A part of items in conflict that is in conflict, but no part of which is: leaves out what it can."""
    size = max(1, len(items) // 2)
    while True:
        at = 0
        while at < len(items):
            rest = items[:at] + items[at + size :]
            if oracle.holding(frozenset(rest)) is None:
                items = rest
            else:
                at += size
        if size == 1:
            return set(items)
        size //= 2


def smallest_hitting(sets: Sequence[Set[int]]) -> set[int]:
    """A smallest set that has an element of each of these sets; none of them may be empty.

    >>> smallest_hitting([{1, 2}, {2, 3}, {2}])
    {2}
    """
    if not sets:
        return set()
    elements = np.array(sorted(set().union(*sets)))
    program = Assembly()
    columns = program.add_columns(np.full(len(elements), -1.0), integral=True)
    for members in sets:
        inside = columns[np.isin(elements, list(members))]
        program.add_rows(1.0, np.inf, np.zeros(len(inside), dtype=np.int64), inside, np.ones(len(inside)))
    values = program.solve().values
    assert values is not None, "the set of all elements hits every set"
    return set(elements[values > 0.5].tolist())
