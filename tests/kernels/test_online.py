"""`kernels/online.py` against its reference: scores, corrections, averages, gradients of batches, steps."""

from __future__ import annotations

import naive_chain as naive
import naive_online as reference
import numpy as np
import pytest
from calling import called

from conseq.kernels import online as kernel
from conseq.models.layout import Shard, observe_all
from conseq.models.online import Common, flat, room_for, vector_of

SEEDS = range(12)

score, gradient = called(kernel.score), called(kernel.gradient)


def made(chains, **options):
    layout, _ = observe_all(*chains.as_shards, **options)
    common = Common(layout)
    return layout, common.data(common.counted(Shard(chains.design, chains.labels, chains.offsets)))


def random_weights(layout, seed):
    return np.random.default_rng(seed).normal(size=layout.size)


@pytest.mark.parametrize("seed", SEEDS)
def test_scores_are_sums_of_weights(seed):
    chains = naive.random_chains(seed, n_labels=3, lengths=[4, 0, 2])
    layout, data = made(chains)
    weights = random_weights(layout, seed)
    weight = dict(zip(naive.keys(layout), weights.tolist(), strict=True))
    scores = np.full((4, 8), np.nan)
    score(data, vector_of(layout, weights).state, 4, 6, scores)
    for t in (4, 5):
        for y in range(3):
            expected = sum(v * weight.get(("state", a, y), 0.0) for a, v in chains.bags[t])
            assert scores[t - 4, y] == pytest.approx(expected, abs=1e-12)
    assert np.isnan(scores[2:]).all()


@pytest.mark.parametrize("boundaries", [True, False])
@pytest.mark.parametrize("transitions", [True, False])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_perceptron_is_its_reference(seed, transitions, boundaries):
    """Three epochs in given orders; the average is exact, whatever was not changed in between."""
    chains = reference.easy_chains(seed)
    layout, data = made(chains, transitions=transitions, boundaries=boundaries)
    count = len(reference.filled(chains))
    orders = [np.random.default_rng(seed + i).permutation(count) for i in range(3)]
    weights, sums = (vector_of(layout, np.zeros(layout.size)) for _ in range(2))
    wrong = [kernel.perceptron(data, order, i * count, weights, sums) for i, order in enumerate(orders)]
    if count:
        mean, expected = reference.perceptron(chains, layout, orders)
        assert wrong == expected
        found = flat(layout, weights) - flat(layout, sums) / (3 * count)
        np.testing.assert_allclose(found, mean, atol=1e-12)
    assert not weights.chain[data.known == 0].any()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_gradients_of_batches_add_up_to_that_of_the_objective(seed):
    chains = naive.random_chains(seed, n_labels=3, lengths=[3, 0, 1, 4, 2])
    layout, data = made(chains)
    weights = random_weights(layout, seed)
    value, expected = naive.enumerated(chains, layout, weights, 0.7)
    loss, slope = 0.0, np.zeros(layout.size)
    for batch in ([2, 0], [1], [3]):
        room = room_for(layout)
        found, touched = gradient(data, 0.7, np.array(batch), vector_of(layout, weights), room)
        part = flat(layout, room.slope)
        assert part == pytest.approx(reference.batch_gradient(chains, layout, weights, batch, 0.7), abs=1e-10)
        assert sorted(room.touched[:touched]) == np.flatnonzero(room.times).tolist()
        loss, slope = loss + found, slope + part
    assert slope == pytest.approx(expected, abs=1e-10)
    assert loss + 0.7 * weights @ weights == pytest.approx(value)


@pytest.mark.parametrize("seed", SEEDS)
def test_adagrad_is_its_reference(seed):
    chains = naive.random_chains(seed, n_labels=3, lengths=[3, 0, 1, 4, 2, 2])
    layout, data = made(chains)
    order = np.random.default_rng(seed).permutation(5)
    weights = vector_of(layout, np.zeros(layout.size))
    squares = kernel.Vector(*(np.full_like(part, 0.5) for part in weights))
    room = room_for(layout)
    kernel.adagrad(data, 2, 0.3, 0.2, order, weights, squares, room)
    expected = reference.adagrad(chains, layout, order.tolist(), batch=2, rate=0.3, c2=0.2, first=0.5)
    assert flat(layout, weights) == pytest.approx(expected, abs=1e-10)
    assert not weights.chain[data.known == 0].any()
    assert not any(part.any() for part in (room.slope.state, room.slope.chain, room.times))


def test_no_sequences_are_no_work():
    chains = naive.random_chains(1, n_labels=2, lengths=[0, 0])
    layout, data = made(chains)
    weights, other = (vector_of(layout, np.zeros(layout.size)) for _ in range(2))
    none, room = np.empty(0, np.int64), room_for(layout)
    assert kernel.perceptron(data, none, 0, weights, other) == 0
    assert kernel.adagrad(data, 8, 0.1, 1.0, none, weights, other, room) == 0
