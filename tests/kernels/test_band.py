"""The band kernels against the enumeration of all labellings."""

from __future__ import annotations

import naive
import naive_search as twin
import numpy as np
import pytest
from numba import config

from conseq.kernels import band

SEEDS = range(25 if config.DISABLE_JIT else 100)


def cut(chain, label_of, floor, size, room=10_000):
    """The arrays that `band.cut` fills in, cut to size; None if there is no room."""
    length, states = chain.unary.shape
    kind = chain.kind if len(chain.pairwise) > 1 else np.empty(0, np.int32)
    levels, first = np.empty(length + 1, dtype=np.int64), np.zeros(length * states + 2, dtype=np.int64)
    nodes = np.empty(length * states + states, dtype=np.int32)
    targets, steps, gains = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64), np.empty(room)
    given = (chain.unary, chain.pairwise, chain.start, chain.end, kind, label_of)
    edges = band.cut(given, twin.beyond(chain), floor, size, levels, nodes, first, targets, gains, steps)
    if edges < 0:
        return None
    n = int(levels[-1])
    return (
        levels,
        nodes[:n],
        twin.Graph(levels, first[: n + 2], targets[:edges], gains[:edges]),
        steps[:edges],
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_beyond(seed):
    chains = naive.random_chains(seed)
    unary, pairwise, _, end, offsets, kind = naive.flat(chains)
    chosen = np.flatnonzero(np.random.default_rng(seed).random(len(chains)) < 0.7)
    wanted = [twin.beyond(chains[i]) for i in chosen if len(chains[i].unary)]
    best = np.full((sum(len(chains[i].unary) for i in chosen), unary.shape[1]), np.nan)
    band.beyond(unary, pairwise, end, offsets, kind, chosen, best)
    assert best == pytest.approx(np.concatenate([best[:0], *wanted]))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_band_has_just_the_steps_of_labellings_that_reach_the_floor(seed):
    rng = np.random.default_rng(seed)
    chain = twin.one_chain(seed)
    floor = twin.floor_between(rng, [score for score, _ in naive.labellings(chain)])
    n_labels = int(rng.integers(1, chain.size + 1))
    label_of = rng.integers(0, n_labels, chain.size).astype(np.int32)
    levels, states, graph, steps = cut(chain, label_of, floor, n_labels + 1)
    wanted = twin.edges_through(chain, floor)
    found = {}
    labels = np.append(label_of, n_labels)
    for source in range(-1, graph.n_nodes):
        t = graph.level_of(source)
        for e in range(graph.first[source + 1], graph.first[source + 2]):
            before = -1 if source < 0 else int(states[source])
            after = int(states[graph.targets[e]]) if t < graph.length else -1
            assert (t, before, after) not in found
            found[t, before, after] = graph.gains[e]
            assert steps[e] == labels[before] * (n_labels + 1) + labels[after]
            assert t == graph.length or levels[t] <= graph.targets[e] < levels[t + 1]
    assert found == pytest.approx(wanted)


@pytest.mark.parametrize("seed", SEEDS)
def test_too_little_room_is_said_and_enough_is_used(seed):
    chain = twin.one_chain(seed)
    label_of = np.arange(chain.size, dtype=np.int32)
    _, _, graph, _ = cut(chain, label_of, -np.inf, chain.size + 1)
    assert cut(chain, label_of, -np.inf, chain.size + 1, len(graph.targets) - 1) is None
    assert cut(chain, label_of, -np.inf, chain.size + 1, len(graph.targets) + chain.size) is not None


def test_nothing_reaches_a_floor_above_all():
    chain = twin.one_chain(3)
    best = naive.labellings(chain)[0][0]
    _, states, graph, _ = cut(chain, np.arange(chain.size, dtype=np.int32), best + 1, chain.size + 1)
    assert len(states) == len(graph.targets) == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_complete_gives_the_best_rest_of_all_ways(seed):
    graph = twin.random_graph(np.random.default_rng(seed))
    rest, following = np.full(graph.n_nodes + 2, np.nan), np.full(graph.n_nodes + 2, 99)
    band.complete(graph.first, graph.targets, graph.gains, graph.n_nodes, rest, following)
    best = max((sum(graph.gains[way]) for way in graph.ways()), default=-np.inf)
    assert rest[0] == pytest.approx(best)
    assert rest[-1] == 0
    for source in range(graph.n_nodes - 1, -2, -1):
        edges = range(graph.first[source + 1], graph.first[source + 2])
        values = {e: graph.gains[e] + rest[graph.targets[e] + 1] for e in edges}
        assert rest[source + 1] == max(values.values(), default=-np.inf)
        if rest[source + 1] > -np.inf:
            assert values[following[source + 1]] == rest[source + 1]
        else:
            assert following[source + 1] == -1


def random_reading(rng, graph):
    """size, steps[E] of a graph's edges, the place of the first token among 3 + L."""
    size = int(rng.integers(2, 4))
    return size, rng.integers(0, size * size, len(graph.targets)), int(rng.integers(0, 4))


def edge_tokens(graph):
    """The token that each edge enters; the length for edges to the sink."""
    tokens = np.empty(len(graph.targets), dtype=np.int64)
    for source in range(-1, graph.n_nodes):
        tokens[graph.first[source + 1] : graph.first[source + 2]] = graph.level_of(source)
    return tokens


@pytest.mark.parametrize("seed", SEEDS)
def test_additions(seed):
    rng = np.random.default_rng(seed)
    graph = twin.random_graph(rng)
    size, steps, token = random_reading(rng, graph)
    tables = rng.integers(-2, 3, (3, size * size)) * (rng.random((3, size * size)) < 0.7)
    masks = rng.random((2, graph.length + 4)) < 0.5
    n_counters = int(rng.integers(0, 30))
    counters = np.stack([rng.integers(0, 3, n_counters), rng.integers(-1, 2, n_counters)], axis=1)
    begins, added = band.additions(
        graph.levels, graph.first, steps, graph.n_nodes, counters, tables, masks, token
    )
    assert begins[0] == 0
    assert begins[-1] == len(added)
    for e, t in enumerate(edge_tokens(graph)):
        wanted = []
        for r, (table, mask) in enumerate(counters.tolist()):
            passes = mask < 0 or (t < graph.length and masks[mask, token + t])
            if passes and tables[table, steps[e]]:
                wanted.append([r, tables[table, steps[e]]])
        assert added[begins[e] : begins[e + 1]].tolist() == wanted


@pytest.mark.parametrize("seed", SEEDS)
def test_symbols(seed):
    rng = np.random.default_rng(seed)
    graph = twin.random_graph(rng)
    size, steps, token = random_reading(rng, graph)
    classes = rng.integers(0, 2, (2, graph.length + 4)).astype(np.int16)
    alphabet = rng.integers(0, 9, 3 * 2 * size * size).astype(np.int16)
    heads = np.stack([rng.integers(-1, 2, 3), np.arange(3) * 2 * size * size], axis=1)
    read = np.full((len(steps), 3), -1, dtype=np.int16)
    band.symbols(
        graph.levels, graph.first, steps, graph.n_nodes, heads, classes, alphabet, size * size, token, read
    )
    for e, t in enumerate(edge_tokens(graph)):
        for m, (row, begin) in enumerate(heads.tolist()):
            kind = classes[row, token + t] if row >= 0 and t < graph.length else 0
            assert read[e, m] == alphabet[begin:][kind * size * size + steps[e]]
