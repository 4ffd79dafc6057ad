"""The plain twin of `kernels/reading.py`: every sequence of groups, one by one."""

from __future__ import annotations

from itertools import product

import numpy as np


def value(
    machine: dict, path: tuple[int, ...], state: int, first: int = 0, before: int | None = None
) -> float:
    """Rewards minus prices of the groups `path`, the first of which stands at token `first`, and of END."""
    size = machine["reward"].shape[1]
    before = size if before is None else before
    total = 0.0
    for t, group in enumerate((*path, size), start=first):
        if not machine["open"][before, group]:
            return -np.inf
        kind = machine["classes"][t] if group < size else 0
        symbol = machine["symbols"][kind, before, group]
        total -= machine["price"][state, symbol]
        total += machine["reward"][t, group] if group < size else 0.0
        state, before = machine["next"][state, symbol], group
    return total


def paths(machine: dict, tokens: int) -> list[tuple[int, ...]]:
    return list(product(range(machine["reward"].shape[1]), repeat=tokens))


def best(machine: dict) -> tuple[float, int]:
    """The best value, and the most agreement with the wish among sequences that have it exactly."""
    length = len(machine["reward"])
    values = {path: value(machine, path, machine["start"]) for path in paths(machine, length)}
    top = max(values.values())
    agree = [int(np.sum(np.array(path) == machine["wish"])) for path, v in values.items() if v == top]
    return top, max(agree)


def rest(machine: dict, t: int, state: int, group: int) -> float:
    """The best that can follow the group at token t in the state."""
    left = len(machine["reward"]) - t - 1
    return max(value(machine, path, state, t + 1, group) for path in paths(machine, left))
