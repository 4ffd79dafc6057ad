"""Product states against all ways through a band, read by counters and automata."""

from __future__ import annotations

import naive_search as twin
import numpy as np
import pytest
from numba import config

from conseq.kernels import band, unfold

SEEDS = range(60 if config.DISABLE_JIT else 300)
ROOM = 2000


class Case:
    """A random band, read by sums with multipliers and by automata."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = np.random.default_rng(seed)
        self.graph = twin.random_graph(rng)
        self.counters = int(rng.integers(0, 3))
        n_edges = len(self.graph.targets)
        self.additions = twin.random_additions(rng, n_edges, self.counters)
        self.sums = twin.random_sums(rng, self.counters)
        shape = self.sums[2]
        shape[:, 2] = np.minimum(rng.exponential(1, len(shape)), twin.ceilings(shape)) * (rng.random() < 0.6)
        self.machines = [twin.random_machine(rng) for _ in range(rng.integers(0, 3))]
        self.read = np.zeros((n_edges, len(self.machines)), dtype=np.int16)
        for m, machine in enumerate(self.machines):
            self.read[:, m] = rng.integers(0, machine.next.shape[1], n_edges)
        self.rest, following = (
            np.empty(self.graph.n_nodes + 2),
            np.empty(self.graph.n_nodes + 2, dtype=np.int64),
        )
        band.complete(
            self.graph.first, self.graph.targets, self.graph.gains, self.graph.n_nodes, self.rest, following
        )

    def values(self) -> dict[tuple[int, ...], float]:
        """Every way's nodes with its value: the gains, what the sums give back, less all charges."""
        found = {}
        for way in self.graph.ways():
            x = twin.totals(way, self.additions, self.sums)
            value = float(self.graph.gains[way].sum() + self.sums[2][:, 2] @ np.array(x, dtype=float))
            value -= twin.charged(x, self.sums[2])
            for m, machine in enumerate(self.machines):
                value -= machine.charged(self.read[way, m].tolist())
            found[tuple(self.graph.nodes(way))] = value
        return found

    def run(self, floor: float, room: int = ROOM, space: tuple | None = None, stamp: int = 1):
        """What `unfold` gives, and its nodes."""
        nodes = (*np.empty((2, room + 1), dtype=np.int64), *np.empty((3, room + 1)))
        width = self.counters + len(self.machines)
        return unfold.unfold(
            (self.graph.first, self.graph.targets, self.graph.gains),
            self.graph.n_nodes,
            self.rest,
            self.additions,
            self.sums,
            self.read,
            twin.machine_arrays(self.machines),
            floor,
            nodes,
            np.empty((room + 1, width), dtype=np.int64),
            new_space(room) if space is None else space,
            stamp,
        ), nodes

    def way(self, node: int, nodes) -> tuple[int, ...]:
        way = np.empty(self.graph.length, dtype=np.int64)
        unfold.walk_back(node, nodes[0], nodes[1], way)
        return tuple(way.tolist())


def new_space(room: int):
    """An empty hash table."""
    size = 1 << (2 * room + 1).bit_length()
    return np.empty(size, dtype=np.int64), np.zeros(size, dtype=np.int64), np.empty(size, dtype=np.int64)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_best_way_that_reaches_the_floor(seed):
    case = Case(seed)
    values = case.values()
    finite = [value for value in values.values() if value > -np.inf]
    floors = [-np.inf] if not finite else [-np.inf, twin.floor_between(case.rng, finite), max(finite) + 1]
    for floor in floors:
        (node, value, *_), nodes = case.run(floor)
        best = max(finite, default=-np.inf)
        if best > -np.inf and best >= floor:
            assert value == pytest.approx(best)
            assert values[case.way(node, nodes)] == pytest.approx(best)
        else:
            assert (node, value) == (unfold.NOTHING, -np.inf)


@pytest.mark.parametrize("seed", SEEDS[::3])
def test_without_room_the_value_is_still_an_upper_bound(seed):
    case = Case(seed)
    best = max(case.values().values(), default=-np.inf)
    (node, value, count), _ = case.run(-np.inf)
    for room in range(1, count):
        (full, most, *_), _ = case.run(-np.inf, room)
        assert full == unfold.FULL, room
        assert most >= best - 1e-9 * (1 + abs(best)) or best == -np.inf, room
    (again, same, *_), _ = case.run(-np.inf, count)
    assert (again, same) == (node, value)


@pytest.mark.parametrize("seed", SEEDS[::3])
def test_a_hash_table_that_was_used_before_changes_nothing(seed):
    space = new_space(ROOM)
    for stamp, other in enumerate((seed + 1, seed, seed + 2), start=1):
        (*found,), _ = Case(other).run(-np.inf, space=space, stamp=stamp)
        (*wanted,), _ = Case(other).run(-np.inf)
        assert found == wanted


@pytest.mark.parametrize("seed", SEEDS[::3])
def test_every_product_state_continues_one_before_it_along_the_band(seed):
    """Every way of the product is a way of the band, and the best of them is the best."""
    case = Case(seed)
    (_, value, count), (places, parents, scores, *_) = case.run(-np.inf)
    graph = case.graph
    for node in range(1, count):
        source = parents[node]
        assert 0 <= source < node
        assert scores[source] > -np.inf or source == 0
        assert (
            places[node] in graph.targets[graph.first[places[source] + 1] : graph.first[places[source] + 2]]
        )
    best = max(case.values().values(), default=-np.inf)
    assert best == pytest.approx(value)
