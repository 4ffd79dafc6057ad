"""`kernels/graph.py` and `kernels/product.py` against every way of a small graph, one by one."""

from __future__ import annotations

import math

import naive
import naive_graph as twin
import numpy as np
import pytest

from conseq.kernels import graph as kernel
from conseq.kernels import product

SEEDS = range(2 * naive.REPEATS)


def completions(graph: twin.Graph) -> tuple[np.ndarray, np.ndarray]:
    rest, following = np.empty(graph.n_nodes), np.empty(graph.n_nodes, dtype=np.int64)
    kernel.completions(graph.arrays, rest, following)
    return rest, following


def read_by(
    graph: twin.Graph, read: np.ndarray, automaton: twin.Automaton, floor: float
) -> tuple[twin.Graph, np.ndarray] | None:
    """The product and the old node of each of its nodes; None if no way is left."""
    room = graph.n_nodes * len(automaton.arcs)
    pairs = np.empty(graph.n_nodes + 1, dtype=np.int64), np.empty(room, dtype=np.int64), np.empty(room)
    parts = automaton.parts
    count = product.explore(graph.arrays, completions(graph)[0], read, parts, floor, pairs)
    assert count > 0
    found = pairs[0], pairs[1][:count], pairs[2][:count]
    same, owed = np.empty(count, dtype=np.int64), np.empty(count)
    product.merge(graph.arrays, read, parts, floor, found, same, owed)
    if same[0] < 0:
        return None
    *arrays, old = product.rebuild(graph.arrays, read, parts, found, same, owed)
    return twin.Graph(*arrays), old


@pytest.mark.parametrize("seed", SEEDS)
def test_a_chain_unrolls_to_its_labellings(seed: int) -> None:
    for chain in naive.random_chains(seed):
        length = len(chain.unary)
        if length == 0:
            continue
        every = {path: score for score, path in naive.labellings(chain)}
        scores = sorted(score for score in every.values() if score > -math.inf)
        kind = chain.kind if len(chain.pairwise) > 1 else np.empty(0, np.int32)
        arrays = (chain.unary, chain.pairwise, chain.start, chain.end, kind)
        for floor in (-math.inf, scores[len(scores) // 2] - 1e-9 if scores else 0.0):
            *graph_arrays, states = kernel.unroll(arrays, floor, 1000)
            graph = twin.Graph(*graph_arrays)
            found = {
                tuple(states[twin.nodes(graph, way)[:-1]].tolist()): twin.gain(graph, way)
                for way in twin.ways(graph)
            }
            for path, score in found.items():
                assert score == pytest.approx(every[path], rel=1e-6, abs=1e-6)
            assert {path for path, score in every.items() if score >= floor and score > -math.inf} <= set(
                found
            )
            for t in range(
                length
            ):  # through every node that is kept there is a labelling that reaches the floor
                for s in {path[t] for path in found}:
                    assert max(found[path] for path in found if path[t] == s) >= floor - 1e-6


def test_too_many_edges_are_only_counted() -> None:
    zeros = np.zeros(3)
    chain = (np.zeros((2, 3)), np.zeros((1, 3, 3)), zeros, zeros, np.empty(0, np.int32))
    for most, room in ((15, 15), (14, 0)):
        _, first, targets, gains, _ = kernel.unroll(chain, -math.inf, most)
        assert (first[-1], len(targets), len(gains)) == (15, room, room)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_best_ways(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = twin.random_graph(rng)
    expected = sorted((twin.gain(graph, way) for way in twin.ways(graph)), reverse=True)
    for n in (1, 4, 100):
        edges, scores = np.empty((n, len(graph.levels) - 2), dtype=np.int64), np.empty(n)
        found = kernel.best_ways(graph.arrays, *completions(graph), edges, scores)
        assert found == min(n, len(expected))
        assert np.allclose(scores[:found], expected[:n])
        assert len({tuple(row) for row in edges[:found].tolist()}) == found
        every = [tuple(way) for way in twin.ways(graph)]
        for row, score in zip(edges[:found].tolist(), scores, strict=False):
            assert tuple(row) in every
            assert twin.gain(graph, row) == pytest.approx(score)


def test_candidates_are_dropped_only_if_they_cannot_be_wanted() -> None:
    """More branches than there is room for at once: 400 edges a step, and the best 3 of 400³ ways."""
    rng = np.random.default_rng(0)
    levels = np.array([0, 1, 401, 801, 802])
    first = np.concatenate([[0], np.arange(1, 402) * 400, np.arange(1, 401) + 400 * 401, [400 * 401 + 400]])
    targets = np.concatenate([np.arange(1, 401), np.tile(np.arange(401, 801), 400), np.full(400, 801)])
    graph = twin.Graph(levels, first, targets, rng.normal(size=len(targets)))
    edges, scores = np.empty((3, 3), dtype=np.int64), np.empty(3)
    assert kernel.best_ways(graph.arrays, *completions(graph), edges, scores) == 3
    a, b, c = graph.gains[:400], graph.gains[400 : 400 * 401].reshape(400, 400), graph.gains[-400:]
    every = np.sort((a[:, None] + b + c).ravel())[::-1]
    assert np.allclose(scores, every[:3])


def test_shrinking_keeps_the_best_and_no_more() -> None:
    for seed in range(50):
        rng = np.random.default_rng(seed)
        values = rng.integers(0, 6, 20).astype(float)
        origins = np.stack([np.arange(20)] * 3, axis=1)
        given, wanted = values.copy(), int(rng.integers(1, 22))
        kept = kernel.shrink(values, origins, 20, wanted)
        assert kept == min(20, wanted)
        assert sorted(values[:kept]) == sorted(np.sort(given)[::-1][:kept])
        assert np.array_equal(given[origins[:kept, 0]], values[:kept])


@pytest.mark.parametrize("seed", SEEDS)
def test_sums_over_all_ways(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = twin.random_graph(rng)
    every = list(twin.ways(graph))
    shares, passing = np.empty(len(graph.targets)), np.empty(graph.n_nodes)
    log_z = kernel.shares_of(graph.arrays, shares)
    expected = twin.log_sum([twin.gain(graph, way) for way in every])
    if not every:
        assert log_z == -math.inf
        return
    assert log_z == pytest.approx(expected)
    kernel.node_probabilities(graph.arrays, shares, passing)
    p = [math.exp(twin.gain(graph, way) - expected) for way in every]
    on = [{0, *twin.nodes(graph, way)} for way in every]
    for node in range(graph.n_nodes):
        assert passing[node] == pytest.approx(sum(q for q, way in zip(p, on, strict=True) if node in way))
    length, states = len(graph.levels) - 3, rng.integers(0, 3, graph.n_nodes)
    token = int(rng.integers(0, length))
    masks = rng.random((int(rng.integers(1, length - token + 1)), 3)) < 0.7
    inside = [
        all(mask[states[twin.nodes(graph, way)[token + k]]] for k, mask in enumerate(masks)) for way in every
    ]
    found = kernel.passage(graph.arrays, states, shares, passing, token, masks)
    assert found == pytest.approx(sum(q for q, passes in zip(p, inside, strict=True) if passes))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_product_has_the_ways_of_its_graph_with_their_charges_and_no_node_too_many(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = twin.random_graph(rng)
    automaton = twin.random_automaton(rng, 3)
    read = rng.integers(0, 3, len(graph.targets))
    expected = {}
    for way in twin.ways(graph):
        charged = automaton.price * twin.charge(automaton, [read[e] for e in way])
        if charged < np.inf:
            expected[tuple(twin.nodes(graph, way))] = twin.gain(graph, way) - charged
    for floor in (-math.inf, float(np.median(list(expected.values()))) - 1e-9 if expected else 0.0):
        answer = read_by(graph, read, automaton, floor)
        if answer is None:
            assert all(score < floor for score in expected.values())
            continue
        new, old = answer
        ways = list(twin.ways(new))
        found = {tuple(old[twin.nodes(new, way)].tolist()): twin.gain(new, way) for way in ways}
        assert len(found) == len(ways)
        for nodes, score in found.items():
            assert score == pytest.approx(expected[nodes])
        assert {nodes for nodes, score in expected.items() if score >= floor} <= set(found)
        if floor == -math.inf:
            assert new.n_nodes == twin.n_futures(graph, automaton, read)
