"""`decoders/nbest.py` against the enumeration of all labellings."""

from __future__ import annotations

import naive
import numpy as np
import pytest

from conseq.decoders.chain.nbest import nbest
from conseq.decoders.chain.viterbi import viterbi
from conseq.potentials import Potentials


@pytest.mark.parametrize("seed", range(5))
def test_every_sequence_gets_its_best_labellings_in_order(seed, potentials_of):
    for k in range(naive.REPEATS):
        chains = naive.random_chains(17000 + 1000 * seed + k)
        for chain, found in zip(chains, nbest(potentials_of(chains), 5), strict=True):
            everything = naive.labellings(chain)
            assert [score for _, score in found] == [score for score, _ in everything[:5]]
            assert len({tuple(labels) for labels, _ in found}) == len(found)
            assert all(naive.score(chain, tuple(labels)) == score for labels, score in found)


def test_the_first_is_viterbi_and_threads_do_not_matter():
    rng = np.random.default_rng(1)
    potentials = Potentials.of(rng.normal(size=(60, 7)), rng.normal(size=(7, 7)), offsets=[0, 25, 25, 60])
    one, two = nbest(potentials, 4), nbest(potentials, 4, threads=2)
    assert np.concatenate([lists[0][0] for lists in one]).tolist() == viterbi(potentials).labels.tolist()
    assert [[s for _, s in lists] for lists in one] == [[s for _, s in lists] for lists in two]
    assert [len(lists) for lists in one] == [4, 1, 4]


def test_ties_are_ordered_by_the_lowest_last_states():
    found = nbest(Potentials.of(np.zeros((2, 2))), 4)[0]
    assert [labels.tolist() for labels, _ in found] == [[0, 0], [1, 0], [0, 1], [1, 1]]


def test_more_than_there_are_and_none_at_all():
    assert len(nbest(Potentials.of(np.zeros((3, 2))), 10**9)[0]) == 8
    assert nbest(Potentials.of([[-np.inf, -np.inf]]), 3) == [[]]
    with pytest.raises(ValueError, match="n is 0; ask for 1 labelling or more"):
        nbest(Potentials.of([[0.0]]), 0)
