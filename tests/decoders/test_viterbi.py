"""`decoders/viterbi.py`: the public function, threads, long sequences."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import naive
import numpy as np
import pytest
from numba import config

from conseq.decoders.chain.viterbi import viterbi
from conseq.potentials import Potentials


@pytest.mark.parametrize("seed", range(5))
def test_labels_and_scores_are_the_best_of_all_labellings(seed, potentials_of):
    for k in range(naive.REPEATS):
        chains = naive.random_chains(7000 + 1000 * seed + k)
        potentials = potentials_of(chains)
        paths = viterbi(potentials)
        assert paths.labels.dtype == np.int32
        for i, chain in enumerate(chains):
            path = paths.labels[slice(*potentials.bounds(i))]
            everything = naive.labellings(chain)
            assert paths.scores[i] == (everything[0][0] if everything else -np.inf)
            if everything:
                assert potentials.score(path, i) == paths.scores[i]


@pytest.mark.parametrize("threads", [2, 5])
def test_any_number_of_threads_gives_the_same(threads):
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 20, size=60)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    potentials = Potentials.of(rng.normal(size=(offsets[-1], 6)), rng.normal(size=(6, 6)), offsets=offsets)
    one, many = viterbi(potentials), viterbi(potentials, threads=threads)
    assert np.array_equal(one.labels, many.labels)
    assert np.array_equal(one.scores, many.scores)


def test_states_and_their_labels():
    potentials = Potentials.of([[0.0, 1.0, 2.0], [3.0, 0.0, 0.0]], label_of=[4, 5, 4])
    paths = viterbi(potentials)
    assert paths.states.tolist() == [2, 0]
    assert paths.labels.tolist() == [4, 4]
    nothing = viterbi(replace(potentials, end=np.full(3, -np.inf)))
    assert nothing.labels.tolist() == nothing.states.tolist() == [-1, -1]


def test_no_sequences_and_empty_sequences():
    assert viterbi(Potentials.of(np.empty((0, 3)), offsets=[0])).scores.tolist() == []
    assert viterbi(Potentials.of(np.empty((0, 3)), offsets=[0, 0, 0]), threads=2).scores.tolist() == [
        0.0,
        0.0,
    ]


@pytest.mark.skipif(config.DISABLE_JIT, reason="the interpreter would take minutes")
def test_a_long_sequence_needs_little_memory():
    """100,000 tokens, 22 states: numba's memory is seen only by the operating system, in a new process."""
    script = """if True:
        import resource
        import numpy as np
        from conseq.decoders.chain.marginals import marginals
        from conseq.decoders.chain.viterbi import viterbi
        from conseq.potentials import Potentials
        def peak():
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        rng = np.random.default_rng(0)
        potentials = Potentials.of(rng.normal(size=(100_000, 22)), rng.normal(size=(22, 22)))
        viterbi(Potentials.of(potentials.unary[:9])), marginals(Potentials.of(potentials.unary[:9]))
        before = peak()
        paths = viterbi(potentials)
        assert potentials.score(paths.labels) == paths.scores[0]
        assert peak() - before < 2 * potentials.unary.nbytes, peak() - before
        marginals(potentials)
        assert peak() - before < 4 * potentials.unary.nbytes, peak() - before
    """
    done = subprocess.run(
        [sys.executable, "-c", script], timeout=100, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_float32_scores_are_summed_in_float64():
    unary = np.full((1000, 2), 0.1, dtype=np.float32)
    assert viterbi(Potentials.of(unary)).scores[0] == pytest.approx(1000 * float(np.float32(0.1)), rel=1e-12)
