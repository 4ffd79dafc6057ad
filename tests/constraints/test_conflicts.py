"""Smallest conflicts of any items against all sets of them."""

from __future__ import annotations

from collections.abc import Set
from itertools import combinations

import numpy as np
import pytest

from conseq.constraints.conflict import conflicts, smallest_hitting


class Known:
    """Items that hold together just if one of these sets has all of them; some answers take long."""

    def __init__(self, sets: list[set[int]], slow: frozenset[int] = frozenset()) -> None:
        self.sets, self.slow = sets, slow

    def holding(self, items: Set[int]) -> set[int] | None:
        return next((members for members in self.sets if items <= members), None)

    def quickly(self, items: Set[int]) -> set[int] | None:
        return None if items & self.slow else self.holding(items)


def random_oracle(seed: int) -> Known:
    rng = np.random.default_rng(seed)
    sets = [set(np.flatnonzero(rng.random(7) < 0.6).tolist()) for _ in range(rng.integers(0, 9))]
    return Known(sets, frozenset(rng.choice(7, rng.integers(0, 4), replace=False).tolist()))


def size_of_smallest(items: set[int], oracle: Known) -> int | None:
    sizes = range(len(items) + 1)
    return next((n for n in sizes for s in combinations(items, n) if oracle.holding(set(s)) is None), None)


def check_one(found: set[int], oracle: Known, place: str) -> None:
    """It is in conflict, and no part of it is."""
    assert oracle.holding(found) is None, place
    for item in found:
        assert oracle.holding(found - {item}) is not None, place


def test_each_is_the_smallest_of_what_is_left():
    sizes = set()
    for seed in range(60):
        oracle, left = random_oracle(seed), set(range(7))
        for found in conflicts(range(7), oracle):
            assert len(found) == size_of_smallest(left, oracle), f"seed {seed}"
            check_one(found, oracle, f"seed {seed}")
            sizes.add(len(found))
            left -= found
        if oracle.sets:
            assert oracle.holding(left) is not None, f"seed {seed}"
    assert sizes >= {0, 1, 2, 3}


@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_after_so_many_rounds_nothing_can_be_left_out_of_them(rounds):
    for seed in range(60):
        oracle, left = random_oracle(seed), set(range(7))
        for found in conflicts(range(7), oracle, rounds):
            check_one(found, oracle, f"seed {seed}")
            assert found <= left, f"seed {seed}"
            left -= found
        if oracle.sets:
            assert oracle.holding(left) is not None, f"seed {seed}"


def test_where_nothing_holds_nothing_is_to_blame():
    assert list(conflicts(range(3), Known([]))) == [set()]
    assert list(conflicts([], Known([]))) == [set()]
    assert list(conflicts([], Known([set()]))) == []


def test_smallest_hitting_set():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        sets = [
            set(rng.choice(6, rng.integers(1, 4), replace=False).tolist()) for _ in range(rng.integers(1, 7))
        ]
        found = smallest_hitting(sets)
        assert all(found & members for members in sets), f"seed {seed}"
        smaller = combinations(range(6), len(found) - 1)
        assert not any(all(set(some) & members for members in sets) for some in smaller), f"seed {seed}"
    assert smallest_hitting([]) == set()
