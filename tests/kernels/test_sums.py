"""`kernels/sums.py` and `kernels/explog.py` against their reference and the enumeration of all labellings."""

from __future__ import annotations

import math

import naive
import numpy as np
import pytest
from numba import config, njit

from conseq.kernels import explog
from conseq.kernels import sums as kernel

SEEDS = range(10)


def problems(seed: int, magnitude: float = 2.0):
    return (naive.random_chains(1000 * seed + k, magnitude) for k in range(naive.REPEATS))


def marginals(chains):
    arrays = naive.flat(chains)
    node, log_partition = np.full(arrays[0].shape, np.nan), np.full(len(chains), np.nan)
    kernel.marginals(arrays, 0, len(chains), node, log_partition)
    return np.split(node, arrays[4][1:-1]), log_partition


def lattice(chain):
    return kernel.Messages(*kernel.lattice(naive.flat([chain])))


def passage(chain, first, masks):
    return math.exp(kernel.passage(naive.flat([chain]), lattice(chain), first, masks))


def close(a, b):
    return np.allclose(a, b, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("magnitude", [2.0, 100.0, 1e4])
def test_marginals_equal_their_reference_at_any_magnitude(seed, magnitude):
    for chains in problems(seed, magnitude):
        nodes, log_partition = marginals(chains)
        for chain, node, log_z in zip(chains, nodes, log_partition, strict=True):
            expected, expected_log_z = naive.marginals(chain)
            assert close(log_z, expected_log_z)
            assert np.allclose(node, expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_marginals_equal_the_sum_over_all_labellings(seed):
    for chains in problems(seed):
        nodes, log_partition = marginals(chains)
        for chain, node, log_z in zip(chains, nodes, log_partition, strict=True):
            assert close(log_z, naive.log_partition(chain))
            assert close(node, naive.node(chain))


@pytest.mark.parametrize("seed", SEEDS)
def test_messages_equal_their_reference_up_to_a_constant(seed):
    for chains in problems(seed):
        for chain in chains:
            if naive.log_partition(chain) == -np.inf or not len(chain.unary):
                continue
            for message, expected in zip(lattice(chain).message, naive.messages(chain), strict=True):
                assert close(relative(message), relative(expected))


def relative(message):
    return message - message.max(axis=1, keepdims=True)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("magnitude", [2.0, 1e3])
def test_passages_equal_the_sum_over_the_labellings_that_pass(seed, magnitude):
    rng = np.random.default_rng(seed)
    for chains in problems(seed, magnitude):
        for chain in chains:
            length, size = chain.unary.shape
            if length == 0 or naive.log_partition(chain) == -np.inf:
                continue
            first = int(rng.integers(0, length))
            masks = rng.random((rng.integers(1, length - first + 1), size)) < 0.6
            assert close(passage(chain, first, masks), naive.passage(chain, first, masks))


def test_a_likely_prefix_that_dies_does_not_hide_the_unlikely_one_that_lives():
    """State 1 is e^−1500 times less likely at first, but state 0 has no path to the end."""
    unary = np.array([[0.0, -1500.0], [0.0, 0.0], [-np.inf, 0.0]])
    pairwise = np.array([[[0.0, -np.inf], [-np.inf, 0.0]]])
    chain = naive.Chain(unary, pairwise, np.zeros(2), np.zeros(2), np.zeros(3, np.int32))
    (node,), (log_z,) = marginals([chain])
    assert log_z == -1500.0
    assert node.tolist() == [[0.0, 1.0]] * 3


def test_pairwise_scores_far_apart_do_not_underflow():
    """All steps into state 1 cost 2000: no term of its sum survives exp, yet it is on the only path."""
    pairwise = np.array([[[0.0, -2000.0], [0.0, -2100.0]]])
    end = np.array([-np.inf, 0.0])
    chain = naive.Chain(np.zeros((3, 2)), pairwise, np.zeros(2), end, np.zeros(3, np.int32))
    (node,), (log_z,) = marginals([chain])
    expected, expected_log_z = naive.marginals(chain)
    assert close(log_z, expected_log_z)
    assert close(node, expected)


def test_terms_at_the_edge_of_underflow_are_not_lost():
    """Of the three steps into state 1 one is just above what exp keeps and two are just below."""
    unary = np.array([[0.0, -706.5, -708.5, -708.6], [0.0] * 4])
    pairwise = np.array([np.where(np.eye(4), 0.0, -np.inf)])
    pairwise[0, 1:, 1] = 0.0
    end = np.array([-np.inf, 0.0, -np.inf, -np.inf])
    chain = naive.Chain(unary, pairwise, np.zeros(4), end, np.zeros(2, np.int32))
    (node,), (log_z,) = marginals([chain])
    expected, expected_log_z = naive.marginals(chain)
    assert close(log_z, expected_log_z)
    assert close(node, expected)


def test_exp_and_log_are_exact_to_the_last_digits():
    count = 500 if config.DISABLE_JIT else 100_000
    rng = np.random.default_rng(0)
    exponents = np.concatenate([rng.uniform(-707.9, 1, count), rng.uniform(-1e-3, 1e-3, count)])
    numbers = np.concatenate([np.exp(rng.uniform(-700, 700, count)), rng.uniform(0.5, 2, count)])
    assert np.allclose(over(explog.exp, exponents), np.exp(exponents), rtol=5e-16, atol=0)
    assert np.allclose(over(explog.log, numbers), np.log(numbers), rtol=5e-16, atol=1e-18)


def test_exp_at_the_edges():
    assert over(explog.exp, np.array([0.0, -np.inf, -1e6, -708.1])).tolist() == [1.0, 0.0, 0.0, 0.0]


@njit
def fill(function, values, result):
    for k in range(len(values)):
        result[k] = function(values[k])


def over(function, values):
    result = np.empty_like(values)
    fill(function, values, result)
    return result
