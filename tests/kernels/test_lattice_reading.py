"""What automata that read edges over one token or several still charge."""

from __future__ import annotations

import naive_lattice as reference
import naive_primitives
import numpy as np
import pytest
from numba import config

from conseq.kernels import product

SEEDS = range(60 if config.DISABLE_JIT else 300)


@pytest.mark.parametrize("seed", SEEDS)
def test_minimum_remaining_is_the_least_that_any_path_onwards_is_charged(seed: int) -> None:
    """Forbidden edges count as well: gains are not looked at."""
    rng = np.random.default_rng(seed)
    lattice = reference.random_lattice(rng)
    automaton = naive_primitives.random_automaton(rng)
    read = rng.integers(0, 3, len(lattice.steps.pair))
    machine = product.Machine(lattice.graph, lattice.steps.first, read, automaton.arcs, automaton.charges, 0)
    least = product.minimum_remaining(machine)
    assert least.shape == (lattice.n_nodes, len(automaton.arcs))
    for node in range(lattice.n_nodes):
        onwards = [[int(read[i]) for i in lattice.steps_on(path)] for path in lattice.paths(node)]
        for q in range(len(automaton.arcs)):
            expected = min((automaton.charged(symbols, q) for symbols in onwards), default=np.inf)
            assert least[node, q] == expected
