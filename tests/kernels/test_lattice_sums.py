"""`kernels/lattice.py`: posteriors, spans and samples, against sums over all paths."""

from __future__ import annotations

import math

import naive
import naive_lattice as reference
import numpy as np
import pytest
from numba import config

from conseq.kernels import lattice as kernel
from conseq.kernels.lattice import Graph

SEEDS = range(60 if config.DISABLE_JIT else 300)


class Case:
    """A random lattice with the probability of each of its paths, by enumeration, and by the kernel."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.lattice = reference.random_lattice(self.rng)
        scored = self.lattice.scored()
        self.expected_log_z = naive.log_sum(list(scored.values()))
        self.p = {path: math.exp(gain - self.expected_log_z) for path, gain in scored.items()}
        self.shares = np.full(self.lattice.n_edges, np.nan)
        self.nodes = np.full(self.lattice.n_nodes, np.nan)
        self.log_z = kernel.posteriors(self.lattice.graph, self.shares, self.nodes)

    def sum_of(self, holds) -> float:
        """The probability of the paths of which something holds."""
        return math.fsum(p for path, p in self.p.items() if holds(list(path)))


@pytest.mark.parametrize("seed", SEEDS)
def test_posteriors_are_sums_over_all_paths(seed: int) -> None:
    case = Case(seed)
    lattice = case.lattice
    assert case.log_z == pytest.approx(case.expected_log_z)
    if not case.p:
        assert case.log_z == -math.inf
        assert not case.shares[lattice.graph.first[0] : lattice.graph.first[1]].any()
        return
    for node in range(lattice.n_nodes):
        passing = case.sum_of(lambda path, node=node: node in lattice.nodes(path))
        assert case.nodes[node] == pytest.approx(passing, abs=1e-12)
        for e in lattice.edges(node):
            taken = case.sum_of(lambda path, e=e: e in path)
            assert case.nodes[node] * case.shares[e] == pytest.approx(taken, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_shares_are_the_probabilities_of_edges_given_their_source_even_if_nothing_leads_there(
    seed: int,
) -> None:
    case = Case(seed)
    for node in range(case.lattice.n_nodes - 1):
        onwards = case.lattice.scored(node)
        total = naive.log_sum(list(onwards.values()))
        for e in case.lattice.edges(node):
            over = naive.log_sum([gain for path, gain in onwards.items() if path[0] == e])
            assert case.shares[e] == pytest.approx(math.exp(over - total) if onwards else 0.0, abs=1e-12)


def test_scores_far_apart_do_not_overflow() -> None:
    """Two paths whose scores are ±2000 or 1 apart."""
    for shift in (-2000.0, 2000.0):
        graph = Graph(np.array([0, 2, 2]), np.array([1, 1]), np.array([shift, shift + 1]))
        shares = np.empty(2)
        assert kernel.posteriors(graph, shares, np.empty(len(graph.first) - 1)) == pytest.approx(
            shift + math.log(1 + math.e)
        )
        assert shares == pytest.approx([1 / (1 + math.e), math.e / (1 + math.e)])
    graph = Graph(np.array([0, 2, 2]), np.array([1, 1]), np.array([-2000.0, 2000.0]))
    assert kernel.posteriors(graph, shares, np.empty(len(graph.first) - 1)) == 2000
    assert shares.tolist() == [0, 1]


@pytest.mark.parametrize("seed", SEEDS)
def test_passages_are_sums_over_the_paths_that_keep_to_the_masks(seed: int) -> None:
    """Every span of tokens, with masks that often leave some states out and now and then all."""
    case = Case(seed)
    if not case.p:
        return
    lattice, states = case.lattice, {path: case.lattice.states(list(path)) for path in case.p}
    for token in range(lattice.length):
        for last in range(token, lattice.length):
            rate = case.rng.choice([0.3, 0.6, 0.9])
            masks = case.rng.random((last - token + 1, reference.N_STATES)) < rate
            kept = case.sum_of(
                lambda path, token=token, masks=masks: all(
                    mask[states[tuple(path)][token + k]] for k, mask in enumerate(masks)
                )
            )
            found = kernel.passage(lattice.graph, lattice.steps, case.shares, token, masks)
            assert found == pytest.approx(kept, abs=1e-12)


def test_what_was_left_out_before_does_not_come_back_later_in_a_span() -> None:
    """Two paths, A B and C D. Neither has A, then D; no edge leads from A to D."""
    graph = Graph(np.array([0, 2, 3, 4, 5, 6, 6]), np.array([1, 2, 3, 4, 5, 5]), np.zeros(6))
    steps = kernel.Steps(
        np.arange(7),
        np.zeros(6, dtype=np.int64),
        np.array([0, 0, 1, 1, 2, 2]),
        np.array([0, 2, 1, 3, -1, -1]),
    )
    shares, nodes = np.empty(6), np.empty(6)
    kernel.posteriors(graph, shares, nodes)
    for states, p in (((0, 1), 0.5), ((2, 3), 0.5), ((0, 3), 0.0), ((2, 1), 0.0)):
        masks = np.arange(4) == np.array(states)[:, None]
        assert kernel.passage(graph, steps, shares, 0, masks) == p


def sample(case: Case, uniform: np.ndarray) -> list[tuple[int, ...]]:
    """The paths drawn with these numbers."""
    paths = np.full(uniform.shape, 99)
    kernel.sample(case.lattice.graph, case.shares, uniform, paths)
    drawn = []
    for row in paths.tolist():
        path = tuple(row[: row.index(-1)] if -1 in row else row)
        assert row == [*path, *[-1] * (len(row) - len(path))]
        drawn.append(path)
    return drawn


@pytest.mark.parametrize("seed", SEEDS[::5])
def test_samples_come_as_often_as_their_probability_says(seed: int) -> None:
    """Σ (drawn − expected)² / expected, the statistic of the chi-square test, whose mean is the number of
    paths less 1 and whose variance is about twice that; paths that are expected less than once in all count
    as one."""
    case = Case(seed)
    if not case.p:
        return
    n = 500 if config.DISABLE_JIT else 4000
    drawn = sample(case, case.rng.random((n, case.lattice.length + 1)))
    assert set(drawn) <= set(case.p)
    often = [path for path, p in case.p.items() if n * p >= 1]
    cells = [(drawn.count(path), n * case.p[path]) for path in often]
    rare = n - sum(expected for _, expected in cells)
    if rare >= 1:
        cells.append((sum(path not in often for path in drawn), rare))
    statistic = sum((count - expected) ** 2 / expected for count, expected in cells)
    degrees = len(cells) - 1
    assert statistic <= degrees + 6 * math.sqrt(2 * degrees) + 12


@pytest.mark.parametrize("seed", SEEDS[::5])
def test_samples_are_determined_by_the_numbers_given(seed: int) -> None:
    """A number u picks the first edge at which the probabilities so far exceed u, one number per edge."""
    case = Case(seed)
    if not case.p:
        return
    lattice = case.lattice
    uniform = case.rng.random((40, lattice.length + 1))
    uniform[0], uniform[1] = 0.0, np.nextafter(1.0, 0.0)
    drawn = sample(case, uniform)
    assert drawn == sample(case, uniform)
    for numbers, path in zip(uniform.tolist(), drawn, strict=True):
        assert path in case.p
        for u, node, edge in zip(numbers, lattice.nodes(list(path)), path, strict=False):
            before = case.shares[lattice.graph.first[node] : edge].sum()
            assert before - 1e-12 <= u <= before + case.shares[edge] + 1e-12


def test_a_number_that_rounding_leaves_beyond_all_shares_picks_the_last_edge_that_can_be() -> None:
    graph = Graph(np.array([0, 3, 3]), np.array([1, 1, 1]), np.array([0.0, 0.0, -np.inf]))
    paths = np.empty((1, 1), dtype=np.int64)
    kernel.sample(graph, np.array([0.5, 0.5 - 1e-9, 0.0]), np.array([[1 - 1e-12]]), paths)
    assert paths.tolist() == [[1]]
