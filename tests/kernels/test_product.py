"""`kernels/product.py` against every path of a small lattice: its score, less what an automaton charges."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import naive_lattice as reference
import naive_primitives
import numpy as np
import pytest
from calling import called
from numba import config

from conseq.kernels import lattice as lattice_kernel
from conseq.kernels import product
from conseq.kernels.index import place_of
from conseq.kernels.lattice import Graph
from conseq.kernels.product import Machine, Pairs

SEEDS = range(80 if config.DISABLE_JIT else 400)


@dataclass
class Product:
    graph: Graph
    nodes: np.ndarray  # the old node behind each
    edges: np.ndarray  # the old edge behind each

    def paths(self) -> list[tuple[tuple[int, ...], float]]:
        """Every path as edges of the old lattice, and its score."""
        found, open_ = [], [(0, (), 0.0)]
        while open_:
            node, path, score = open_.pop()
            if node == len(self.nodes) - 1:
                found.append((path, score))
            for e in range(self.graph.first[node], self.graph.first[node + 1]):
                onwards = (*path, int(self.edges[e]))
                open_.append((int(self.graph.targets[e]), onwards, score + float(self.graph.gains[e])))
        return found


class Case:
    """A random lattice and an automaton that reads random symbols on its steps."""

    def __init__(self, seed: int, automaton: naive_primitives.Automaton | None = None) -> None:
        rng = np.random.default_rng(seed)
        self.lattice = reference.random_lattice(rng)
        self.automaton = automaton or naive_primitives.random_automaton(rng)
        self.read = rng.integers(0, self.automaton.arcs.shape[1], len(self.lattice.steps.pair))
        self.machine = Machine(
            self.lattice.graph,
            self.lattice.steps.first,
            self.read,
            self.automaton.arcs,
            self.automaton.charges,
            self.automaton.start,
        )

    def symbols(self, path: list[int]) -> list[int]:
        return [int(self.read[i]) for i in self.lattice.steps_on(path)]

    def expected(self) -> dict[tuple[int, ...], float]:
        """The paths that the automaton allows, with their scores less what it charges."""
        scores = {
            path: gain - self.automaton.charged(self.symbols(list(path)))
            for path, gain in self.lattice.scored().items()
        }
        return {path: score for path, score in scores.items() if score > -math.inf}

    def explore(self, floor: float, room: int | None = None) -> Pairs | None:
        """The pairs that a path of at least the floor may come to; None if there is no room."""
        graph, n_nodes = self.lattice.graph, self.lattice.n_nodes
        rest, following = np.empty(n_nodes), np.empty(n_nodes, dtype=np.int64)
        lattice_kernel.completions(graph, rest, following)
        room = n_nodes * len(self.automaton.arcs) if room is None else room
        pairs = Pairs.room_for(n_nodes, room)
        count = product.explore(self.machine, rest, floor, window_of(graph), pairs)
        return None if count < 0 else pairs.part(count)

    def product(self, floor: float = -math.inf) -> Product | None:
        """None if no path is left."""
        graph, pairs = self.lattice.graph, self.explore(floor)
        product.merge(self.machine, floor, pairs)
        if pairs.same[0] < 0:
            return None
        kept = np.flatnonzero(pairs.same == np.arange(len(pairs.same)))
        nodes = np.repeat(np.arange(self.lattice.n_nodes), np.diff(pairs.begins))[kept]
        most = int(np.diff(graph.first)[nodes].sum())
        first, to, gains, edges = product.rebuild(self.machine, pairs, kept, nodes, most)
        return Product(Graph(first, np.searchsorted(kept, to), gains), nodes, edges)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_product_has_the_paths_of_its_lattice_with_their_charges(seed: int) -> None:
    case = Case(seed)
    expected = case.expected()
    for floor in (-math.inf, float(np.median(list(expected.values()))) - 1e-9 if expected else 0.0):
        new = case.product(floor)
        if new is None:
            assert all(score < floor for score in expected.values())
            continue
        paths = new.paths()
        found = dict(paths)
        assert len(found) == len(paths), "a labelling is one path"
        assert {path for path, score in expected.items() if score >= floor} <= set(found)
        for path, score in found.items():
            assert score == pytest.approx(expected[path], rel=1e-9, abs=1e-9)
        assert new.nodes[[0, -1]].tolist() == [0, case.lattice.n_nodes - 1]
        assert (new.nodes[new.graph.targets] == case.lattice.graph.targets[new.edges]).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_nodes_are_in_topological_order_and_each_is_on_a_path_that_reaches_the_floor(seed: int) -> None:
    case = Case(seed)
    expected = sorted(case.expected().values())
    if not expected:
        assert case.product() is None
        return
    for floor in (-math.inf, expected[len(expected) // 2] - 1e-9):
        new = case.product(floor)
        sources = np.repeat(np.arange(len(new.nodes)), np.diff(new.graph.first))
        assert (sources < new.graph.targets).all()
        size = len(new.nodes)
        before, rest, following = np.empty(size), np.empty(size), np.empty(size, dtype=np.int64)
        lattice_kernel.prefixes(new.graph, before)
        lattice_kernel.completions(new.graph, rest, following)
        assert (before + rest > -math.inf).all()
        assert (before + rest >= floor - 1e-9).all()


def window_of(graph: Graph) -> int:
    """The least power of 2 beyond the longest reach of an edge."""
    sources = np.repeat(np.arange(len(graph.first) - 1), np.diff(graph.first))
    return 1 << int((graph.targets - sources).max(initial=1)).bit_length()


def futures(case: Case) -> set[tuple[int, tuple[float, ...]]]:
    """Different pairs of a node and what is charged on each path onwards, up to a constant (which the root
    has no edge to charge on), by all paths."""
    lattice, automaton = case.lattice, case.automaton
    reached = {(0, automaton.start)}
    found = set()
    for node in range(lattice.n_nodes):
        onwards = list(lattice.scored(node))
        for state in sorted(state for at, state in reached if at == node):
            for e in lattice.edges(node):
                symbols = case.symbols([e])
                paid = automaton.charged(symbols, state)
                if paid < math.inf and lattice.graph.gains[e] > -math.inf:
                    reached.add((int(lattice.graph.targets[e]), automaton.after(symbols, state)))
            paid = [automaton.charged(case.symbols(list(path)), state) for path in onwards]
            if min(paid, default=math.inf) < math.inf:
                found.add((node, tuple(p - min(paid) for p in paid)))
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_states_with_the_same_future_are_one_node(seed: int) -> None:
    case = Case(seed)
    new, expected = case.product(), futures(case)
    if case.expected():
        assert sorted(new.nodes.tolist()) == sorted(node for node, _ in expected)
    else:
        assert new is None


@pytest.mark.parametrize("seed", SEEDS[::2])
@pytest.mark.parametrize("each", [0.0, 0.375])
def test_an_automaton_that_cannot_tell_paths_apart_leaves_the_lattice_as_it_was(
    seed: int, each: float
) -> None:
    """It charges the same at every step, whatever it reads in whatever state; labellings have as many."""
    automaton = naive_primitives.random_automaton(np.random.default_rng(seed))
    case = Case(seed, replace(automaton, cost=np.full(automaton.cost.shape, each), penalty=1.0))
    lattice, new = case.lattice, case.product()
    every = lattice.scored()
    if not every:
        assert new is None
        return
    used = sorted({node for path in every for node in lattice.nodes(list(path))})
    assert new.nodes.tolist() == used
    assert new.edges.tolist() == sorted({e for path in every for e in path})
    total = each * (lattice.length + 1)
    for path, score in new.paths():
        assert score == pytest.approx(every[path] - total)
    if each == 0:
        assert new.graph.gains.tolist() == lattice.graph.gains[new.edges].tolist()


@pytest.mark.parametrize("seed", SEEDS)
def test_pairs_are_the_states_that_prefixes_come_to_and_their_best_scores(seed: int) -> None:
    """By all prefixes that the rest of the lattice can take to the floor, uncharged."""
    case = Case(seed)
    lattice, automaton = case.lattice, case.automaton
    scores = list(case.expected().values())
    floor = reference.floor_between(np.random.default_rng(seed), scores) if scores else -math.inf
    best: dict[tuple[int, int], float] = {(0, automaton.start): 0.0}
    open_ = [(0, automaton.start, 0.0)]
    while open_:
        node, state, gained = open_.pop()
        for e in lattice.edges(node):
            target, symbols = int(lattice.graph.targets[e]), case.symbols([e])
            score = gained + lattice.graph.gains[e] - automaton.charged(symbols, state)
            rest = max(lattice.scored(target).values(), default=-math.inf)
            if score + rest >= floor and score + rest > -math.inf:
                after = automaton.after(symbols, state)
                best[target, after] = max(best.get((target, after), -math.inf), score)
                open_.append((target, after, score))
    pairs = case.explore(floor)
    nodes = np.repeat(np.arange(lattice.n_nodes), np.diff(pairs.begins)).tolist()
    found = dict(zip(zip(nodes, pairs.memory.tolist(), strict=True), pairs.reached.tolist(), strict=True))
    assert list(found) == sorted(best)
    assert found == pytest.approx(best)
    numbers = {pair: i for i, pair in enumerate(found)}
    for node in range(lattice.n_nodes):
        for state in range(len(automaton.arcs)):
            place = called(place_of)(pairs.memory, pairs.begins[node], pairs.begins[node + 1], state)
            assert place == numbers.get((node, state), -1)


@pytest.mark.parametrize("seed", SEEDS[::4])
def test_too_little_room_for_pairs_is_said(seed: int) -> None:
    case = Case(seed)
    pairs = case.explore(-math.inf)
    count = len(pairs.memory)
    assert case.explore(-math.inf, count - 1) is None
    again = case.explore(-math.inf, count)
    assert all(np.array_equal(a, b) for a, b in zip(pairs[:3], again[:3], strict=True))


def test_costs_that_differ_in_rounding_only_are_the_same_and_others_are_not() -> None:
    """Two edges into two states, from which the same two edges lead on at nearly the same costs."""
    for difference, nodes in ((1e-15, 3), (1e-5, 4), (0.5, 4)):
        graph = Graph(np.array([0, 2, 4, 4]), np.array([1, 1, 2, 2]), np.zeros(4))
        cost = np.zeros((3, 4))
        cost[1, 2:], cost[2, 2:] = (0.0, 0.5), (0.0, 0.5 + difference)
        arcs = np.array([[1, 2, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
        machine = Machine(graph, np.arange(5), np.arange(4), arcs, cost, 0)
        pairs = Pairs.room_for(3, 9)
        pairs = pairs.part(product.explore(machine, np.zeros(3), -np.inf, 2, pairs))
        product.merge(machine, -np.inf, pairs)
        assert len(np.unique(pairs.same)) == nodes
