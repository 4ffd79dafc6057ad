"""What edges over one token or several add to counters, and what automata that read them still charge."""

from __future__ import annotations

from itertools import pairwise

import naive_lattice as reference
import naive_primitives
import numpy as np
import pytest
from numba import config

from conseq.kernels import lattice as kernel
from conseq.kernels import product

SEEDS = range(60 if config.DISABLE_JIT else 300)


@pytest.mark.parametrize("seed", SEEDS)
def test_an_edge_adds_what_all_its_steps_add(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lattice = reference.random_lattice(rng)
    steps, pairs, token = lattice.steps, lattice.size**2, int(rng.integers(0, 4))
    tables = rng.integers(-2, 3, (3, pairs)) * (rng.random((3, pairs)) < 0.7)
    masks = rng.random((2, lattice.length + 4)) < 0.5
    n_counters = int(rng.integers(0, 30))
    counters = np.stack([rng.integers(0, 3, n_counters), rng.integers(-1, 2, n_counters)], axis=1)
    begins, added = kernel.additions(steps, lattice.length, counters, tables, masks, token)
    assert begins[0] == 0
    assert begins[-1] == len(added)
    for e in range(lattice.n_edges):
        wanted = []
        for r, (table, mask) in enumerate(counters.tolist()):
            amount = 0
            for i in lattice.steps_on([e]):
                t = int(steps.token[i])
                if mask < 0 or (t < lattice.length and masks[mask, token + t]):
                    amount += int(tables[table, steps.pair[i]])
            if amount:
                wanted.append([r, amount])
        assert added[begins[e] : begins[e + 1]].tolist() == wanted


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_added_along_a_path_is_what_its_labelling_adds(seed: int) -> None:
    """Steps taken from the labels alone: edges leave no step out and take none twice."""
    rng = np.random.default_rng(seed)
    lattice = reference.random_lattice(rng)
    end = lattice.size - 1
    tables = rng.integers(-2, 3, (1, lattice.size**2))
    counters = np.array([[0, -1]])
    begins, added = kernel.additions(
        lattice.steps, lattice.length, counters, tables, np.zeros((0, 0), dtype=bool), 0
    )
    for path in lattice.paths():
        labels = [end, *lattice.label_of[lattice.states(path)].tolist(), end]
        assert len(labels) == lattice.length + 2
        wanted = sum(tables[0, a * lattice.size + b] for a, b in pairwise(labels))
        assert sum(added[begins[e] : begins[e + 1], 1].sum() for e in path) == wanted


@pytest.mark.parametrize("seed", SEEDS)
def test_minimum_remaining_is_the_least_that_any_path_onwards_is_charged(seed: int) -> None:
    """Forbidden edges count as well: gains are not looked at."""
    rng = np.random.default_rng(seed)
    lattice = reference.random_lattice(rng)
    automaton = naive_primitives.random_automaton(rng)
    read = rng.integers(0, 3, len(lattice.steps.pair))
    least = np.full((lattice.n_nodes, len(automaton.arcs)), np.nan)
    machine = product.Machine(lattice.steps.first, read, automaton.arcs, automaton.charges, 0)
    product.minimum_remaining(lattice.graph, machine, least)
    for node in range(lattice.n_nodes):
        onwards = [[int(read[i]) for i in lattice.steps_on(path)] for path in lattice.paths(node)]
        for q in range(len(automaton.arcs)):
            expected = min((automaton.charged(symbols, q) for symbols in onwards), default=np.inf)
            assert least[node, q] == expected
