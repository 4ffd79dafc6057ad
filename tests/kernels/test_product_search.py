"""Product states against all paths of a lattice that counters and automata read along with."""

from __future__ import annotations

import naive_lattice as reference
import naive_primitives as rules
import numpy as np
import pytest
from calling import called
from numba import config

from conseq.kernels import lattice as lattice_kernel
from conseq.kernels import product_search as kernel
from conseq.kernels.lattice_dual import MULTIPLIER
from conseq.kernels.product_search import Machines, States

SEEDS = range(80 if config.DISABLE_JIT else 400)
ROOM = 2000


class Case:
    """A random lattice, read by sums with multipliers and by automata."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = np.random.default_rng(seed)
        self.lattice = reference.random_lattice(rng)
        self.counters = int(rng.integers(0, 3))
        self.amounts = rules.random_amounts(rng, self.lattice.n_edges, self.counters)
        self.sums = rules.random_sums(rng, self.counters)
        self.sums.limits[:, MULTIPLIER] = rules.random_multipliers(rng, self.sums)
        self.automata = [rules.random_automaton(rng) for _ in range(rng.integers(0, 3))]
        self.read = rng.integers(0, 3, (len(self.lattice.steps.pair), len(self.automata)))
        self.machines = self._machines(tight=bool(rng.random() < 0.5))
        self.rest, following = np.empty(self.lattice.n_nodes), np.empty(self.lattice.n_nodes, dtype=np.int64)
        lattice_kernel.completions(self.lattice.graph, self.rest, following)

    def _machines(self, tight: bool) -> Machines:
        """What is least still charged is 0, which is always right, or the least by all paths."""
        heads, arcs, states = [], 0, 0
        for automaton in self.automata:
            heads.append([0, 0, arcs, automaton.arcs.shape[1], automaton.start, states])
            arcs, states = arcs + automaton.arcs.size, states + len(automaton.arcs)
        least = [self._least(m) for m in range(len(self.automata))] if tight else [np.zeros(states)]
        none = np.empty(0)
        return Machines(
            self.lattice.steps.first,
            self.read,
            np.array(heads, dtype=np.int64).reshape(-1, 6),
            np.array([automaton.penalty for automaton in self.automata]),
            np.concatenate([none, *(automaton.arcs.ravel() for automaton in self.automata)]).astype(np.int32),
            np.concatenate([none, *(automaton.cost.ravel() for automaton in self.automata)]),
            np.concatenate([none, *least]),
        )

    def _least(self, m: int) -> np.ndarray:
        """The least violation in each state on any path from any node but the sink."""
        automaton, lattice = self.automata[m], self.lattice
        unit = rules.Automaton(automaton.arcs, automaton.cost, automaton.start, 1.0)
        onwards = [
            self.symbols(path, m) for node in range(lattice.n_nodes - 1) for path in lattice.paths(node)
        ]
        states = range(len(automaton.arcs))
        return np.array([min((unit.charged(s, q) for s in onwards), default=np.inf) for q in states])

    def symbols(self, path: list[int], m: int) -> list[int]:
        return self.read[self.lattice.steps_on(path), m].tolist()

    def values(self) -> dict[tuple[int, ...], float]:
        """Every path with its value: the gains, what the sums give back, less all charges."""
        found = {}
        for path, gain in self.lattice.scored().items():
            x = rules.totals(list(path), self.amounts, self.sums)
            value = gain + float(self.sums.limits[:, MULTIPLIER] @ x) - rules.charged(x, self.sums)
            for m, automaton in enumerate(self.automata):
                value -= automaton.charged(self.symbols(list(path), m))
            found[path] = value
        return found

    def best(self) -> float:
        return max(self.values().values(), default=-np.inf)

    def run(self, floor: float = -np.inf, room: int = ROOM) -> tuple[tuple[int, ...], float, int, States]:
        """What `search` gives, and its product states."""
        memory = np.empty((room + 1, self.counters + len(self.automata)), dtype=np.int64)
        columns = *np.empty((4, room + 1), dtype=np.int64), *np.empty((3, room + 1))
        states = States(*columns, memory)
        lattice = self.lattice
        path, value, count = kernel.search(
            lattice.graph,
            lattice.position,
            self.rest,
            self.amounts,
            self.sums,
            self.machines,
            floor,
            states,
            np.zeros(1 << (2 * room + 1).bit_length(), dtype=np.int64),
        )
        return tuple(path.tolist()), value, count, states


@pytest.mark.parametrize("seed", SEEDS)
def test_the_best_path_that_reaches_the_floor(seed: int) -> None:
    case = Case(seed)
    values = case.values()
    finite = [value for value in values.values() if value > -np.inf]
    floors = (
        [-np.inf] if not finite else [-np.inf, reference.floor_between(case.rng, finite), max(finite) + 1]
    )
    for floor in floors:
        path, value, count, _ = case.run(floor)
        best = max(finite, default=-np.inf)
        assert 1 <= count <= ROOM
        if best > -np.inf and best >= floor:
            assert value == pytest.approx(best)
            assert values[path] == pytest.approx(best)
        else:
            assert (path, value) == ((), -np.inf)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_higher_floor_never_makes_more_product_states(seed: int) -> None:
    case = Case(seed)
    best = case.best()
    if best > -np.inf:
        counts = [case.run(floor)[2] for floor in (-np.inf, best - 3, best - 1e-6, best + 1)]
        assert counts == sorted(counts, reverse=True)


@pytest.mark.parametrize("seed", SEEDS[::3])
def test_without_room_the_value_is_still_an_upper_bound(seed: int) -> None:
    case = Case(seed)
    best = case.best()
    *found, enough, _ = case.run()
    for room in range(1, enough):
        path, most, count, _ = case.run(room=room)
        assert (path, count) == ((), room)
        assert most > -np.inf
        assert most >= best - 1e-9 * (1 + abs(best)) or best == -np.inf, room
    *again, count, _ = case.run(room=enough)
    assert (again, count) == (found, enough)


@pytest.mark.parametrize("seed", SEEDS[::3])
def test_every_product_state_is_the_best_prefix_of_its_node_and_memory(seed: int) -> None:
    """By all prefixes of the lattice; each memory stands once at a node."""
    case = Case(seed)
    lattice = case.lattice
    *_, count, states = case.run()
    best = {}
    open_ = [(0, [], 0.0)]
    while open_:
        node, prefix, score = open_.pop()
        key = node, *memory_after(case, prefix)
        best[key] = max(best.get(key, -np.inf), score)
        for e in lattice.edges(node):
            if lattice.graph.targets[e] < lattice.n_nodes - 1:
                path = [*prefix, e]
                charged = sum(a.charged(case.symbols(path, m)) for m, a in enumerate(case.automata))
                open_.append((int(lattice.graph.targets[e]), path, lattice.gain(path) - charged))
    seen = set()
    for i in range(count):
        key = int(states.place[i]), *states.memory[i].tolist()
        assert key not in seen
        seen.add(key)
        assert states.score[i] == pytest.approx(best[key])
        if i:
            source, edge = states.parent[i], states.edge[i]
            assert lattice.position[states.place[source]] < lattice.position[states.place[i]]
            assert edge in lattice.edges(int(states.place[source]))
            assert lattice.graph.targets[edge] == states.place[i]


def memory_after(case: Case, prefix: list[int]) -> list[int]:
    """The counts and the automata's states after a prefix."""
    counts = case.amounts[prefix].sum(axis=0).tolist()
    after = (a.after(case.symbols(prefix, m), a.start) for m, a in enumerate(case.automata))
    return [*counts, *after]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_most_that_sums_can_become_is_no_less_than_what_they_are_in_the_end(seed: int) -> None:
    """states.bound of every product state, kept up to date edge by edge, against the sums settled anew and
    against all paths onwards."""
    case = Case(seed)
    lattice, multipliers = case.lattice, case.sums.limits[:, MULTIPLIER]
    *_, count, states = case.run()
    for i in range(count):
        assert states.bound[i] == pytest.approx(called(kernel.settle)(case.sums, states.memory, i, False))
        counts = dict(enumerate(states.memory[i, : case.counters].tolist()))
        now = rules.weighted(case.sums, counts)
        for path in lattice.paths(int(states.place[i])):
            x = now + rules.totals(path, case.amounts, case.sums)
            worth = float(multipliers @ x) - rules.charged(x, case.sums)
            assert worth == -np.inf or worth <= states.bound[i] + 1e-9 * (1 + abs(worth))


def test_nothing_comes_of_a_sum_that_is_broken_from_the_start() -> None:
    """A hard sum with the limit −1 that can only rise."""
    for seed in range(30):
        case = Case(seed)
        if len(case.sums.limits):
            case.sums.limits[0] = [-1.0, np.inf, 0.0, 1.0, 0.0]
            assert case.run()[:3] == ((), -np.inf, 1)


def test_hash_keys_that_collide_are_told_apart() -> None:
    """A table of 8 entries for 5 states of one node, put in one by one and found again."""
    states = States(*np.zeros((4, 7), dtype=np.int64), *np.zeros((3, 7)), np.zeros((7, 1), dtype=np.int64))
    table = np.zeros(8, dtype=np.int64)
    for state in range(1, 6):
        states.memory[6, 0] = states.memory[state, 0] = 10 * state
        slot = called(kernel.slot_of)(table, 3, 0, states, 6)  # the same key for all
        assert table[slot] == 0
        table[slot] = state
    for state in range(1, 6):
        states.memory[6, 0] = 10 * state
        assert table[called(kernel.slot_of)(table, 3, 0, states, 6)] == state
        assert table[called(kernel.slot_of)(table, 3, 1, states, 6)] == 0  # another node
