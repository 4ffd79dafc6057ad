"""`kernels/lattice.py`: lattices of chains, and best paths, against the enumeration of all paths."""

from __future__ import annotations

import naive
import naive_lattice as reference
import numpy as np
import pytest
from calling import called
from numba import config

from conseq.kernels import lattice as kernel
from conseq.kernels.chain import Chain
from conseq.kernels.lattice import Graph, Steps

SEEDS = range(25 if config.DISABLE_JIT else 100)
GRAPH_SEEDS = range(60 if config.DISABLE_JIT else 300)


def completions(lattice: reference.Lattice) -> tuple[np.ndarray, np.ndarray]:
    rest, following = np.full(lattice.n_nodes, np.nan), np.full(lattice.n_nodes, 99)
    kernel.completions(lattice.graph, rest, following)
    return rest, following


def best_paths(lattice: reference.Lattice, n: int) -> dict[tuple[int, ...], float]:
    """The n best paths and their scores, best first; none twice."""
    paths, scores = np.full((n, lattice.length + 1), 99), np.empty(n)
    found = kernel.best_paths(lattice.graph, *completions(lattice), paths, scores)
    result = {}
    for row, score in zip(paths[:found].tolist(), scores[:found].tolist(), strict=True):
        path = tuple(row[: row.index(-1)] if -1 in row else row)
        assert row == [*path, *[-1] * (len(row) - len(path))]
        assert path not in result
        result[path] = score
    return result


# ── from a chain ────────────────────────────────────────────────────────────────────────────────


def chain_of(chain: naive.Chain, label_of: np.ndarray) -> Chain:
    return naive.flat([chain])._replace(label_of=label_of)


def from_chain(
    chain: naive.Chain, label_of: np.ndarray, floor: float, size: int, room: int = 10_000
) -> tuple[reference.Lattice, np.ndarray] | None:
    """The lattice and its levels; None if there is no room."""
    length, states = chain.unary.shape
    levels, first = np.empty(length + 3, dtype=np.int64), np.zeros((length + 1) * states + 4, dtype=np.int64)
    graph = Graph(first, np.empty(room, dtype=np.int64), np.empty(room))
    pair, token = np.empty((2, room), dtype=np.int64)
    steps = Steps(first[:0], pair, token, np.empty(room, dtype=np.int32))
    ahead = reference.chain_completions(chain)
    nodes, edges = kernel.from_chain(chain_of(chain, label_of), ahead, floor, size, graph, steps, levels)
    if edges < 0:
        assert nodes < 0
        return None
    position = np.repeat(np.minimum(np.arange(length + 2), length), np.diff(levels))
    assert len(position) == nodes
    graph = Graph(first[: nodes + 1], graph.targets[:edges], graph.gains[:edges])
    columns = (column[:edges] for column in (pair, token, steps.state))
    return reference.Lattice(graph, Steps(np.arange(edges + 1), *columns), position, label_of), levels


@pytest.mark.parametrize("seed", SEEDS)
def test_completions_of_a_chain(seed: int) -> None:
    for chain in naive.random_chains(seed):
        best = kernel.chain_completions(chain_of(chain, np.arange(chain.size, dtype=np.int32)))
        assert best.shape == chain.unary.shape
        if len(best):
            assert best == pytest.approx(reference.chain_completions(chain))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_lattice_has_just_the_steps_of_labellings_that_reach_the_floor(seed: int) -> None:
    rng = np.random.default_rng(seed)
    chain = reference.one_chain(seed)
    floor = reference.floor_between(rng, [score for score, _ in naive.labellings(chain)])
    n_labels = int(rng.integers(1, chain.size + 1))
    label_of = rng.integers(0, n_labels, chain.size).astype(np.int32)
    lattice, levels = from_chain(chain, label_of, floor, n_labels + 1)
    length, labels = len(chain.unary), np.append(label_of, n_labels)
    assert levels[[0, 1, -1]].tolist() == [0, 1, lattice.n_nodes]
    state_of, found = {0: -1}, {}
    for node in range(lattice.n_nodes - 1):
        t = int(lattice.position[node])
        for e in lattice.edges(node):
            target, state = int(lattice.graph.targets[e]), int(lattice.steps.state[e])
            assert levels[t + 1] <= target < levels[t + 2]
            assert state_of.setdefault(target, state) == state
            assert lattice.steps.token[e] == t
            assert (state == -1) == (t == length)
            assert (t, state_of[node], state) not in found
            found[t, state_of[node], state] = lattice.graph.gains[e]
            assert lattice.steps.pair[e] == labels[state_of[node]] * (n_labels + 1) + labels[state]
    assert found == pytest.approx(reference.steps_through(chain, floor))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_paths_of_a_lattice_are_labellings_with_their_scores(seed: int) -> None:
    chain = reference.one_chain(seed)
    every = {path: score for score, path in naive.labellings(chain)}
    label_of = np.arange(chain.size, dtype=np.int32)
    scores = sorted(every.values())
    for floor in (-np.inf, scores[len(scores) // 2] - 1e-9):
        lattice, _ = from_chain(chain, label_of, floor, chain.size + 1)
        found = {tuple(lattice.states(list(path))): score for path, score in lattice.scored().items()}
        assert {path for path, score in every.items() if score >= floor} <= set(found)
        for path, score in found.items():
            assert score == pytest.approx(every[path], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_too_little_room_is_said_and_enough_is_used(seed: int) -> None:
    chain = reference.one_chain(seed)
    label_of = np.arange(chain.size, dtype=np.int32)
    n_edges = from_chain(chain, label_of, -np.inf, chain.size + 1)[0].n_edges
    for room in range(max(0, n_edges - 12), n_edges):
        assert from_chain(chain, label_of, -np.inf, chain.size + 1, room) is None
    assert from_chain(chain, label_of, -np.inf, chain.size + 1, n_edges + chain.size) is not None


def test_nothing_reaches_a_floor_above_all() -> None:
    chain = reference.one_chain(3)
    best = naive.labellings(chain)[0][0]
    lattice, levels = from_chain(chain, np.arange(chain.size, dtype=np.int32), best + 1, chain.size + 1)
    assert (lattice.n_nodes, lattice.n_edges) == (2, 0)
    assert lattice.graph.first.tolist() == [0, 0, 0]
    assert levels.tolist() == [0, *[1] * (len(levels) - 2), 2]


# ── best paths ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", GRAPH_SEEDS)
def test_completions_are_the_best_of_all_paths_onwards(seed: int) -> None:
    lattice = reference.random_lattice(np.random.default_rng(seed))
    rest, following = completions(lattice)
    assert (rest[-1], following[-1]) == (0, -1)
    for node in range(lattice.n_nodes - 1):
        onwards = lattice.scored(node)
        best = max(onwards.values(), default=-np.inf)
        assert rest[node] == pytest.approx(best)
        if best == -np.inf:
            assert following[node] == -1
        else:
            assert following[node] in {path[0] for path, gain in onwards.items() if gain >= best - 1e-9}


@pytest.mark.parametrize("seed", GRAPH_SEEDS)
def test_prefixes_are_the_best_of_all_paths_up_to_a_node(seed: int) -> None:
    lattice = reference.random_lattice(np.random.default_rng(seed))
    expected = np.full(lattice.n_nodes, -np.inf)
    open_ = [(0, 0.0)]
    while open_:
        node, gained = open_.pop()
        expected[node] = max(expected[node], gained)
        open_ += [
            (int(lattice.graph.targets[e]), gained + lattice.graph.gains[e]) for e in lattice.edges(node)
        ]
    best = np.full(lattice.n_nodes, np.nan)
    kernel.prefixes(lattice.graph, best)
    assert best == pytest.approx(expected)


@pytest.mark.parametrize("seed", GRAPH_SEEDS)
@pytest.mark.parametrize("n", [1, 4, 500])
def test_the_best_paths(seed: int, n: int) -> None:
    lattice = reference.random_lattice(np.random.default_rng(seed))
    every = lattice.scored()
    found = best_paths(lattice, n)
    assert len(found) == min(n, len(every))
    assert list(found.values()) == pytest.approx(sorted(every.values(), reverse=True)[:n])
    for path, score in found.items():
        assert score == pytest.approx(every[path])


def test_equally_good_paths_are_all_found_and_the_first_takes_the_first_edges() -> None:
    """Three nodes in a row with three edges each, all gains 0: 27 paths, of 26 of which any 26 may be had."""
    graph = Graph(np.array([0, 3, 6, 9, 10, 10]), np.repeat([1, 2, 3, 4], [3, 3, 3, 1]), np.zeros(10))
    none = np.zeros(0, dtype=np.int64)
    lattice = reference.Lattice(graph, Steps(none, none, none, none), np.array([0, 1, 2, 3, 3]), none)
    assert list(best_paths(lattice, 1)) == [(0, 3, 6, 9)]
    for n in (26, 27, 30):
        assert list(best_paths(lattice, n).values()) == [0.0] * min(n, 27)


def test_candidates_are_dropped_only_if_they_cannot_be_wanted() -> None:
    """More branches than there is room for at once: 400 edges a step, and the best 3 of 400² paths."""
    rng = np.random.default_rng(0)
    first = np.concatenate([[0], np.arange(1, 402) * 400, np.arange(1, 401) + 400 * 401, [400 * 401 + 400]])
    targets = np.concatenate([np.arange(1, 401), np.tile(np.arange(401, 801), 400), np.full(400, 801)])
    graph = Graph(first, targets, rng.normal(size=len(targets)))
    rest, following = np.empty(802), np.empty(802, dtype=np.int64)
    kernel.completions(graph, rest, following)
    paths, scores = np.empty((3, 3), dtype=np.int64), np.empty(3)
    assert kernel.best_paths(graph, rest, following, paths, scores) == 3
    a, b, c = graph.gains[:400], graph.gains[400 : 400 * 401].reshape(400, 400), graph.gains[-400:]
    every = np.sort((a[:, None] + b + c).ravel())[::-1]
    assert scores == pytest.approx(every[:3])
    assert graph.gains[paths].sum(axis=1) == pytest.approx(every[:3])


def test_as_many_candidates_are_kept_as_are_wanted() -> None:
    """All branch off the best path: 5000 edges from the root to the sink, of which the best 50 are wanted."""
    gains = np.random.default_rng(0).permutation(5000).astype(float)
    graph = Graph(np.array([0, 5000, 5000]), np.ones(5000, dtype=np.int64), gains)
    rest, following = np.empty(2), np.empty(2, dtype=np.int64)
    kernel.completions(graph, rest, following)
    paths, scores = np.empty((50, 1), dtype=np.int64), np.empty(50)
    assert kernel.best_paths(graph, rest, following, paths, scores) == 50
    assert scores.tolist() == gains[paths[:, 0]].tolist() == list(range(4999, 4949, -1))


def test_shrinking_keeps_the_best_and_no_more() -> None:
    for seed in range(50):
        rng = np.random.default_rng(seed)
        values = rng.integers(0, 6, 20).astype(float)
        origins = np.stack([np.arange(20)] * 3, axis=1)
        given, wanted = values.copy(), int(rng.integers(1, 22))
        kept = called(kernel.shrink)(values, origins, 20, wanted)
        assert kept == min(20, wanted)
        assert sorted(values[:kept]) == sorted(np.sort(given)[::-1][:kept])
        assert np.array_equal(given[origins[:kept, 0]], values[:kept])
