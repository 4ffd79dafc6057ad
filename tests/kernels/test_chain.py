"""`kernels/chain.py` against its reference and the enumeration of all labellings."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from numba import config

from conseq.kernels import chain as kernel

SEEDS = range(20)


def problems(seed: int, magnitude: float = 2.0):
    return (naive.random_chains(1000 * seed + k, magnitude) for k in range(naive.REPEATS))


def viterbi(chains, first=0, last=None):
    arrays = naive.flat(chains)
    states = np.full(len(arrays[0]), -7, dtype=np.int32)
    scores = np.full(len(chains), np.nan)
    kernel.viterbi(arrays, first, len(chains) if last is None else last, states, scores)
    return np.split(states, arrays[4][1:-1]), scores


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("magnitude", [2.0, 1e4])
def test_viterbi_equals_its_reference_to_the_last_bit(seed, magnitude):
    for chains in problems(seed, magnitude):
        states, scores = viterbi(chains)
        for chain, path, score in zip(chains, states, scores, strict=True):
            assert (path.tolist(), score) == naive.viterbi(chain)


@pytest.mark.parametrize("seed", SEEDS)
def test_viterbi_finds_the_best_of_all_labellings(seed):
    for chains in problems(seed):
        states, scores = viterbi(chains)
        for chain, path, score in zip(chains, states, scores, strict=True):
            everything = naive.labellings(chain)
            if not everything:
                assert score == -np.inf
                assert (path == -1).all()
            else:
                assert score == everything[0][0] == naive.score(chain, tuple(path))


def test_viterbi_breaks_ties_towards_the_lowest_previous_state():
    tied = naive.Chain(np.zeros((3, 4)), np.zeros((1, 4, 4)), np.zeros(4), np.zeros(4), np.zeros(3, int))
    assert viterbi([tied])[0][0].tolist() == [0, 0, 0]
    tied.start[0] = tied.end[:2] = -np.inf
    assert viterbi([tied])[0][0].tolist() == [1, 0, 2]


def test_viterbi_touches_only_the_sequences_it_is_given():
    chains = [c for c in naive.random_chains(3) * 5 if len(c.unary)]
    states, scores = viterbi(chains, 1, 3)
    assert np.isnan(scores).tolist() == [not 1 <= n < 3 for n in range(len(chains))]
    assert all((path == -7).all() == (not 1 <= n < 3) for n, path in enumerate(states))


@pytest.mark.parametrize("size", [1, 3, 4, 5, 8, 13])
def test_viterbi_with_padding_of_every_width(size):
    rng = np.random.default_rng(size)
    length = 6 if config.DISABLE_JIT else 40
    chain = naive.Chain(
        rng.normal(size=(length, size)),
        rng.normal(size=(2, size, size)),
        rng.normal(size=size),
        rng.normal(size=size),
        rng.integers(0, 2, length).astype(np.int32),
    )
    (path,), (score,) = viterbi([chain])
    assert (path.tolist(), score) == naive.viterbi(chain)
