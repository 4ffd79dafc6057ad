"""The labelling of least cost whose score reaches a floor: dynamic programming over Pareto fronts.

    Trellis (edges that reach the floor), Readers ─→ cheapest ─→ Found: states, cost, score

After each token an item is (state, states of the automata, cost so far, score so far). Of the items that
agree in all states only those are kept that no other one matches in both cost and score. An item is dropped
if no completion reaches the floor, or if every completion costs more than the ceiling.

Axes: n items, M automata, E edges, S states, Q automaton states.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conseq.constraints.program import Charge
from conseq.decoders.trellis import Trellis
from conseq.problem import Problem

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
TIE = 1e-9
"""Costs that differ by no more than this times (1 + cost) are equal."""
LARGEST_KEY = 1 << 62


def at_most(cost: float) -> float:
    """The largest cost that counts as equal."""
    return cost + TIE * (1 + abs(cost))


@dataclass(frozen=True, eq=False)
class Reader:
    """An automaton that reads along with a trellis; from step t on, in state s of the chain and q of its own,
    it charges at least least[t][s,q]."""

    symbols: Ints  # [E]
    next: Ints  # [Q,A]
    charged: Floats  # [Q,A], penalty · violation
    start: int
    least: list[Floats]  # T+2 times [S+1,Q]

    @classmethod
    def of(cls, trellis: Trellis, problem: Problem, charge: Charge) -> Reader:
        automaton = charge.primitive.automaton(problem.n_tokens)
        charged = np.zeros(automaton.cost.shape)
        paid = automaton.cost > 0
        charged[paid] = charge.penalty * automaton.cost[paid]
        symbols = trellis.reads(problem, automaton)
        return cls(
            symbols,
            automaton.next,
            charged,
            automaton.start,
            _least(trellis, symbols, automaton.next, charged),
        )

    @classmethod
    def of_edges(cls, trellis: Trellis, costs: Floats) -> Reader:
        """What the edges cost by themselves, read by an automaton of one state."""
        values, symbols = np.unique(costs, return_inverse=True)
        symbols, stay = symbols.reshape(-1), np.zeros((1, len(values)), dtype=np.int64)
        return cls(symbols, stay, values[None], 0, _least(trellis, symbols, stay, values[None]))


def _least(trellis: Trellis, symbols: Ints, following: Ints, charged: Floats) -> list[Floats]:
    """least[t][s,q] = min over the edges of step t out of s of charge + least[t+1]."""
    size, states = trellis.n_states + 1, len(following)
    least = [np.zeros((size, states))]
    for a, b in _steps(trellis)[::-1]:
        read = symbols[a:b]
        left = charged[:, read].T + least[-1][trellis.after[a:b, None], following[:, read].T]
        table = np.full((size, states), np.inf)
        before, first = np.unique(trellis.before[a:b], return_index=True)
        if b > a:
            table[before] = np.minimum.reduceat(left, first, axis=0)
        least.append(table)
    return least[::-1]


def _steps(trellis: Trellis) -> list[tuple[int, int]]:
    """First edge of each step and the one after its last."""
    return list(zip(trellis.offsets[:-1].tolist(), trellis.offsets[1:].tolist(), strict=True))


class Items(NamedTuple):
    """The items after some token."""

    state: Ints  # [n]
    memory: Ints  # [M,n]
    cost: Floats  # [n]
    score: Floats  # [n]
    parent: Ints  # [n], their places among the items before

    def take(self, places: NDArray) -> Items:
        columns: list[Any] = [column[..., places] for column in self]
        return Items(*columns)


class Found(NamedTuple):
    """The cheapest labelling, the best of equally cheap ones. Without one `states` is None and `cost` is the
    least cost that was dropped: inf if there is no labelling at all."""

    states: NDArray[np.int32] | None
    cost: float
    score: float = -np.inf
    is_complete: bool = True  # whether it was not given up


def cheapest(
    trellis: Trellis,
    readers: Sequence[Reader],
    floor: float,
    ceiling: float,
    room: int,
    deadline: float = np.inf,
) -> Found:
    """The labelling of least cost among those of score ≥ floor and cost ≤ ceiling.

    Gives up with more than `room` items, or when `time.perf_counter()` passes the deadline.
    """
    starts = np.array([[reader.start] for reader in readers], dtype=np.int64).reshape(len(readers), 1)
    nothing = np.zeros(1)
    items = Items(np.array([trellis.n_states]), starts, nothing, nothing, np.array([0]))
    steps: list[Items] = []
    dropped, used = np.inf, 0
    for t in range(trellis.n_tokens + 1):
        further, least = _advance(trellis, readers, items, t, floor)
        over = least > ceiling
        dropped = min(dropped, float(least[over].min(initial=np.inf)))
        items = _front(further.take(~over), readers)
        steps.append(items)
        used += len(items.state)
        stopped = used > room or time.perf_counter() > deadline
        if stopped or not len(items.state):
            return Found(None, dropped, is_complete=not stopped)
    return _best(steps)


def _advance(
    trellis: Trellis, readers: Sequence[Reader], items: Items, t: int, floor: float
) -> tuple[Items, Floats]:
    """All items one step further that reach the floor, and what they cost at least in the end."""
    parent, edge = _joined(trellis, items.state, t)
    score = items.score[parent] + trellis.score[edge]
    high = score + trellis.ahead[edge] >= floor
    parent, edge, score = parent[high], edge[high], score[high]
    cost, memory, state = items.cost[parent], items.memory[:, parent], trellis.after[edge]
    togo = np.zeros(len(cost))
    for m, reader in enumerate(readers):
        read = reader.symbols[edge]
        cost = cost + reader.charged[memory[m], read]
        memory[m] = reader.next[memory[m], read]
        togo += reader.least[t + 1][state, memory[m]]
    return Items(state, memory, cost, score, parent), cost + togo


def _joined(trellis: Trellis, state: Ints, t: int) -> tuple[Ints, Ints]:
    """Every pair of an item and an edge of step t out of its state."""
    a, b = int(trellis.offsets[t]), int(trellis.offsets[t + 1])
    first = a + np.searchsorted(trellis.before[a:b], np.arange(trellis.n_states + 2))
    number = np.diff(first)[state]
    item = np.repeat(np.arange(len(state)), number)
    within = np.arange(len(item)) - np.repeat(np.cumsum(number) - number, number)
    return item, first[state][item] + within


def _front(items: Items, readers: Sequence[Reader]) -> Items:
    """The items that no other one in the same states matches in cost and score."""
    if len(items.state) < 2:
        return items
    keys = _keys(items, readers)
    order = np.lexsort((-items.score, items.cost, keys))
    items, keys = items.take(order), keys[order]
    group = np.cumsum(np.append(0, keys[1:] != keys[:-1]))
    _, rank = np.unique(items.score, return_inverse=True)  # equal scores have equal ranks
    level = group * (len(order) + 1) + rank.reshape(-1) + 1
    highest = np.append(-1, np.maximum.accumulate(level)[:-1])
    return items.take(level > highest)


def _keys(items: Items, readers: Sequence[Reader]) -> Ints:
    """One number per combination of states."""
    keys, size = items.state, int(items.state.max(initial=0)) + 1
    for memory, reader in zip(items.memory, readers, strict=True):
        if size * len(reader.next) >= LARGEST_KEY:
            values, keys = np.unique(keys, return_inverse=True)
            keys, size = keys.reshape(-1), len(values)
        keys, size = keys * len(reader.next) + memory, size * len(reader.next)
    return keys


def _best(steps: list[Items]) -> Found:
    last = steps[-1]
    cheap = np.flatnonzero(last.cost <= at_most(float(last.cost.min())))
    place = int(cheap[np.argmax(last.score[cheap])])
    found = last.take(np.array([place]))
    states = np.empty(len(steps), dtype=np.int32)
    for t in range(len(steps) - 1, -1, -1):
        states[t] = steps[t].state[place]
        place = int(steps[t].parent[place])
    return Found(states[:-1], float(found.cost[0]), float(found.score[0]))
