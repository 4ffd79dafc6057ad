"""`decoders/chain/marginals.py` against the enumeration of all labellings; long sequences; errors."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from numba import config

from conseq.decoders.chain.marginals import ChainPosterior, marginals
from conseq.errors import InfeasibleError, ScoreError
from conseq.potentials import Potentials


@pytest.mark.parametrize("seed", range(5))
def test_marginals_sum_over_all_labellings(seed, potentials_of):
    for k in range(naive.REPEATS):
        chains = [c for c in naive.random_chains(27000 + 1000 * seed + k) if naive.labellings(c)]
        if not chains:
            continue
        found = marginals(potentials_of(chains))
        assert np.allclose(found.log_partition, [naive.log_partition(c) for c in chains], rtol=1e-10)
        assert np.allclose(found.node, np.concatenate([naive.node(c) for c in chains]), atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_spans_with_their_neighbours(seed, potentials_of):
    rng = np.random.default_rng(seed)
    for k in range(naive.REPEATS):
        chains = [c for c in naive.random_chains(37000 + 1000 * seed + k) if naive.labellings(c)]
        for i, chain in enumerate(chains):
            length, size = chain.unary.shape
            start = int(rng.integers(0, length + 1))
            inside = rng.random((rng.integers(0, length - start + 1), size)) < 0.7
            before, after = (rng.random(size) < 0.7 if rng.random() < 0.6 else None for _ in range(2))
            expected = span_by_enumeration(chain, start, before, inside, after)
            found = ChainPosterior.of(potentials_of(chains), i).span_probability(start, before, inside, after)
            assert found == pytest.approx(expected, rel=1e-10, abs=1e-12)


def span_by_enumeration(chain, start, before, inside, after):
    masks = np.ones(chain.unary.shape, dtype=bool)
    masks[start : start + len(inside)] = inside
    if before is not None and start > 0:
        masks[start - 1] = before
    if after is not None and start + len(inside) < len(masks):
        masks[start + len(inside)] = after
    return naive.passage(chain, 0, masks)


def test_many_spans_of_one_sequence_partition_the_labellings():
    rng = np.random.default_rng(5)
    posterior = ChainPosterior.of(Potentials.of(rng.normal(size=(30, 6)), rng.normal(size=(6, 6))))
    one = np.eye(6, dtype=bool)
    pairs = [posterior.span_probability(10, None, one[[a, b]], None) for a in range(6) for b in range(6)]
    assert sum(pairs) == pytest.approx(1.0, abs=1e-12)
    node = marginals(posterior.potentials).node
    assert np.allclose([posterior.span_probability(10, None, one[[a]], None) for a in range(6)], node[10])


@pytest.mark.parametrize("threads", [2, 5])
def test_any_number_of_threads_gives_the_same(threads):
    rng = np.random.default_rng(0)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 20, size=60))])
    potentials = Potentials.of(rng.normal(size=(offsets[-1], 6)), rng.normal(size=(6, 6)), offsets=offsets)
    one, many = marginals(potentials), marginals(potentials, threads=threads)
    assert np.array_equal(one.node, many.node)
    assert np.array_equal(one.log_partition, many.log_partition)


@pytest.mark.skipif(config.DISABLE_JIT, reason="the interpreter would take minutes")
def test_a_long_sequence_keeps_its_digits():
    """Independent tokens have marginals of their own, whatever stands before and after."""
    rng = np.random.default_rng(0)
    unary = rng.normal(size=(100_000, 22))
    found = marginals(Potentials.of(unary))
    odds = np.exp(unary)
    assert np.allclose(found.node, odds / odds.sum(axis=1, keepdims=True), rtol=1e-12)
    assert found.log_partition[0] == pytest.approx(np.log(odds.sum(axis=1)).sum(), rel=1e-12)


def test_a_sequence_without_a_labelling_is_named():
    unary = np.zeros((4, 2))
    unary[3] = -np.inf
    potentials = Potentials.of(unary, offsets=[0, 2, 4])
    with pytest.raises(InfeasibleError, match=r"sequence 1 \(from 0\) has no labelling"):
        marginals(potentials)
    with pytest.raises(InfeasibleError, match=r"sequence 1 \(from 0\) has no labelling"):
        ChainPosterior.of(potentials, 1)
    assert ChainPosterior.of(potentials).span_probability(0, None, [[True, False]], None) == pytest.approx(
        0.5
    )


@pytest.mark.parametrize(
    ("span", "sentence"),
    [
        ((3, None, [[True, True]], None), "a span from 3 to 4 is not within it"),
        ((-1, None, [[True, True]], None), "a span from -1 to 0 is not within it"),
        ((0, None, [[True]], None), r"inside has the shape \(1, 1\); give a mask of \(1, 2\)"),
        ((1, [True], [[True, True]], None), r"before has the shape \(1,\); give a mask of \(2,\)"),
    ],
)
def test_spans_that_do_not_fit(span, sentence):
    with pytest.raises(ScoreError, match=sentence):
        ChainPosterior.of(Potentials.of(np.zeros((3, 2)))).span_probability(*span)


def test_empty_sequences():
    found = marginals(Potentials.of(np.empty((0, 3)), offsets=[0, 0]))
    assert found.log_partition.tolist() == [0.0]
    empty = ChainPosterior.of(Potentials.of(np.empty((0, 3))))
    assert empty.span_probability(0, None, np.empty((0, 3)), None) == 1.0
