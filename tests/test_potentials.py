"""`potentials.py`: what is accepted, what is refused and how the sentence names the place."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from conseq.decoders.chain.viterbi import viterbi
from conseq.errors import ScoreError
from conseq.potentials import Potentials, join

INF = np.inf


def example(**changes) -> Potentials:
    """Two sequences of 2 and 3 tokens, 2 states, 2 kinds of step."""
    given = {
        "unary": np.arange(10.0).reshape(5, 2),
        "pairwise": [[[0.0, 1.0], [2.0, 3.0]], [[10.0, 20.0], [30.0, 40.0]]],
        "start": [0.5, 0.25],
        "end": [100.0, 200.0],
        "offsets": [0, 2, 5],
        "kind": [0, 1, 0, 0, 1],
    }
    return Potentials.of(**{**given, **changes})


def test_score_sums_every_term_once():
    potentials = example()
    assert potentials.score([1, 0]) == 0.25 + 1 + 30 + 2 + 100
    assert potentials.score([0, 1, 1], i=1) == 0.5 + 4 + 1 + 7 + 40 + 9 + 200
    assert example(start=None, end=None, pairwise=None, kind=None).score([1, 0]) == 3.0


def test_one_sequence_is_a_view():
    potentials = example()
    one = potentials[1]
    assert len(one) == 1
    assert one.score([0, 1, 1]) == potentials.score([0, 1, 1], i=1)
    assert np.shares_memory(one.unary, potentials.unary)
    assert potentials[-1].n_tokens == 3
    assert [part.n_tokens for part in potentials] == [2, 3]
    with pytest.raises(IndexError):
        potentials[2]


def test_without_unused_kinds_of_step_the_scores_are_the_same():
    wide = example(pairwise=np.arange(20.0).reshape(5, 2, 2), kind=[0, 3, 0, 0, 4])
    small = wide.compact()
    assert len(small.pairwise) == 3
    for i, path in ((0, [1, 0]), (0, [0, 1]), (1, [0, 1, 1]), (1, [1, 0, 0])):
        assert small.score(path, i) == wide.score(path, i)
    assert small.compact() is small
    plain = example(pairwise=None, kind=None)
    assert plain.compact() is plain
    assert example(unary=np.zeros((0, 2)), offsets=[0, 0], kind=[]).compact().n_tokens == 0


def test_forbidden_scores_and_empty_sequences():
    potentials = example(end=[-INF, 0.0])
    assert potentials.score([0, 0]) == -INF
    assert Potentials.of(np.empty((0, 2)), end=[-INF, -INF]).score([]) == 0.0


def test_restricted_keeps_scores_where_allowed():
    potentials = example(unary=np.arange(10, dtype=np.float32).reshape(5, 2))
    allowed = np.ones((5, 2), dtype=bool)
    allowed[1, 0] = False
    restricted = potentials.restricted(allowed)
    assert restricted.score([1, 0]) == -INF
    assert restricted.score([1, 1]) == potentials.score([1, 1])
    assert potentials.score([1, 0]) > -INF


def test_with_legal_masks_steps_and_both_ends():
    legal = example().with_legal([[True, False], [True, True]], [True, True], [True, False])
    assert legal.score([0, 0]) == example().score([0, 0])
    assert legal.score([0, 1, 0], i=1) == -INF
    assert legal.score([1, 1]) == -INF
    assert example().with_legal(np.ones((2, 2)), [False, True], [True, True]).score([0, 0]) == -INF


def test_types():
    for given in (np.float32, np.float64, np.int64):
        assert example(unary=np.zeros((5, 2), dtype=given)).unary.dtype == np.float64
    assert example(unary=np.zeros((2, 5)).T).unary.flags.c_contiguous
    assert example(pairwise=np.zeros((2, 2)), kind=None).pairwise.shape == (1, 2, 2)


def test_kernels_get_arrays_of_the_same_types_whatever_was_given():
    """For any other type or layout they would be compiled again."""
    fixed = np.arange(10, dtype=np.float32).reshape(2, 5).T
    fixed.flags.writeable = False
    given = [
        example(),
        example(unary=fixed, offsets=np.array([0, 2, 5], np.int32), kind=np.array([0, 1, 0, 0, 1])),
        example(pairwise=None, start=None, end=None, kind=None),
        example()[1],
        example().select([1, 0]),
        replace(example(), unary=np.zeros((2, 5)).T),
    ]
    for potentials in given:
        arrays = potentials.arrays()
        assert [array.dtype for array in arrays] == [*[np.float64] * 4, np.int64, np.int32]
        assert [array.ndim for array in arrays] == [2, 3, 1, 1, 1, 1]
        assert all(array.flags.carray for array in arrays)
    assert given[1].unary.tolist() == fixed.tolist()


def test_labels_of_states():
    potentials = example(label_of=[7, 8])
    assert potentials.labels(np.array([1, 0, -1], dtype=np.int32)).tolist() == [8, 7, -1]
    assert example().labels(np.array([1, -1], dtype=np.int32)).tolist() == [1, -1]


def unary_with(value: float) -> np.ndarray:
    unary = np.zeros((5, 2))
    unary[2, 1] = value
    return unary


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"unary": unary_with(np.nan)},
            r"token 0 of sequence 1 \(both from 0\) for state 1: the score is nan",
        ),
        ({"unary": unary_with(INF)}, "token 0 of sequence 1 .* the score is inf; give a number, or -inf"),
        ({"pairwise": [[0.0, 0.0], [INF, 0.0]], "kind": None}, r"pairwise\[0, 1, 0\]: the score is inf"),
        ({"start": [np.nan, 0.0]}, r"start\[0\]: the score is nan"),
        ({"end": [0.0, np.inf]}, r"end\[1\]: the score is inf"),
        ({"unary": np.zeros(3)}, r"unary has the shape \(3,\); give tokens by states"),
        ({"unary": np.zeros((3, 0))}, "with at least one state"),
        ({"unary": [[1.0], [1.0, 2.0]]}, "unary is not an array of numbers"),
        ({"unary": [["a", "b"]]}, "unary is not an array of numbers"),
        (
            {"pairwise": np.zeros((3, 3))},
            r"pairwise has the shape \(1, 3, 3\); give \(1, 2, 2\) to fit unary",
        ),
        ({"pairwise": np.zeros(3)}, r"pairwise has the shape \(3,\)"),
        ({"pairwise": np.zeros((0, 2, 2))}, "pairwise has no kind of step"),
        ({"start": np.zeros(3)}, r"start has the shape \(3,\); give \(2,\) to fit unary"),
        ({"offsets": [0, 4]}, "offsets must rise from 0 to the 5 tokens of unary"),
        ({"offsets": [0, 3, 2, 5]}, "offsets must rise"),
        ({"offsets": []}, "offsets must rise"),
        ({"kind": [0, 1, 2, 0, 0]}, "kind has 0 to 2; give numbers from 0 to 1"),
        ({"kind": [0, 1]}, r"kind has the shape \(2,\); give \(5,\)"),
        ({"label_of": [0, -1]}, "label_of has -1 to 0; give numbers from 0"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_sentence(changes, sentence):
    with pytest.raises(ScoreError, match=sentence):
        example(**changes)


@pytest.mark.parametrize(
    ("states", "sentence"),
    [
        ([0], r"sequence 0 \(from 0\) has 2 tokens"),
        ([0, 2], "states 0 to 2; give 0 to 1"),
        ([-1, 0], "-1 to 0"),
    ],
)
def test_a_labelling_that_does_not_fit(states, sentence):
    with pytest.raises(ScoreError, match=sentence):
        example().score(states)


def test_masks_that_do_not_fit():
    with pytest.raises(ScoreError, match=r"allowed has the shape \(2, 2\)"):
        example().restricted(np.ones((2, 2)))


# ── several together, some of them, among other states ──────────────────────────────────────────


def random_potentials(rng, n_states: int, n_sequences: int = 4, **changes) -> Potentials:
    """Sequences of 0 to 4 tokens with forbidden scores, several kinds of step, start and end now and then."""
    lengths = rng.integers(0, 5, n_sequences)
    kinds = int(rng.integers(1, 4))

    def scores(*shape: int) -> np.ndarray:
        return np.where(rng.random(shape) < 0.15, -INF, rng.normal(size=shape))

    given = {
        "unary": scores(int(lengths.sum()), n_states),
        "pairwise": scores(kinds, n_states, n_states),
        "start": scores(n_states) if rng.random() < 0.7 else None,
        "end": scores(n_states) if rng.random() < 0.7 else None,
        "offsets": np.concatenate([[0], np.cumsum(lengths)]),
        "kind": rng.integers(0, kinds, int(lengths.sum())) if kinds > 1 else None,
    }
    if rng.random() < 0.3:
        given["unary"] = given["unary"].astype(np.float32)
    return Potentials.of(**{**given, **changes})


def same_scores(one: Potentials, i: int, other: Potentials, j: int, rename=lambda path: path) -> None:
    """Every labelling of sequence i of one scores what its renaming scores as sequence j of the other."""
    assert one.lengths[i] == other.lengths[j]
    for path in product(range(one.n_states), repeat=int(one.lengths[i])):
        assert other.score(rename(path), j) == pytest.approx(one.score(path, i), abs=1e-6)


@pytest.mark.parametrize("seed", range(12))
def test_joined_potentials_score_as_their_parts(seed):
    rng = np.random.default_rng(seed)
    parts = [random_potentials(rng, 3, int(rng.integers(0, 4))) for _ in range(int(rng.integers(1, 4)))]
    whole = join(parts)
    assert len(whole) == sum(map(len, parts))
    where = [(part, i) for part in parts for i in range(len(part))]
    for j, (part, i) in enumerate(where):
        same_scores(part, i, whole, j)
        assert whole.lengths[j] == 0 or whole.score([0] * int(whole.lengths[j]), j) < INF


@pytest.mark.parametrize("seed", range(12))
def test_viterbi_of_joined_potentials_is_that_of_the_parts(seed):
    rng = np.random.default_rng(100 + seed)
    parts = [random_potentials(rng, 3) for _ in range(3)]
    whole, alone = viterbi(join(parts)), [viterbi(part) for part in parts]
    np.testing.assert_allclose(whole.scores, np.concatenate([paths.scores for paths in alone]), atol=1e-5)
    assert whole.labels.tolist() == [y for paths in alone for y in paths.labels.tolist()]


def test_joining_leaves_the_parts_as_they_were():
    part = example()
    before = part.unary.copy()
    join([part, part])
    assert (part.unary == before).all()


def test_joined_states_keep_their_labels():
    assert join([example(label_of=[7, 8]), example(label_of=[7, 8])]).label_of.tolist() == [7, 8]
    assert join([example()]).label_of is None


@pytest.mark.parametrize("seed", range(12))
def test_selected_sequences_keep_their_scores(seed):
    rng = np.random.default_rng(200 + seed)
    potentials = random_potentials(rng, 3, 5)
    chosen = rng.integers(0, 5, int(rng.integers(0, 7)))  # any order, some twice
    selected = potentials.select(chosen)
    assert len(selected) == len(chosen)
    assert selected.unary.dtype == potentials.unary.dtype
    for j, i in enumerate(chosen.tolist()):
        same_scores(potentials, i, selected, j)


def test_selecting_counts_from_the_end_as_indexing_does():
    potentials = example()
    assert potentials.select([-1]).score([0, 1, 1]) == potentials[-1].score([0, 1, 1])
    with pytest.raises(IndexError):
        potentials.select([2])


@pytest.mark.parametrize("seed", range(8))
def test_among_more_states_only_the_known_ones_can_be(seed):
    rng = np.random.default_rng(300 + seed)
    potentials = random_potentials(rng, 2)
    places = rng.permutation(4)[:2]
    wider = potentials.among(places, 4)
    assert wider.n_states == 4
    assert wider.unary.dtype == potentials.unary.dtype
    for i in range(len(potentials)):
        same_scores(potentials, i, wider, i, lambda path: places[list(path)])
        for path in product(range(4), repeat=int(wider.lengths[i])):
            assert set(path) <= set(places.tolist()) or wider.score(path, i) == -INF


def test_among_one_state_alone_at_a_token_is_forbidden_by_its_own_score():
    """Not by steps alone: sequences of one token have none."""
    wider = Potentials.of([[0.5]]).among([2], 3)
    assert [wider.score([s]) for s in range(3)] == [-INF, -INF, 0.5]
    assert wider.unary.tolist() == [[-INF, -INF, 0.5]]
