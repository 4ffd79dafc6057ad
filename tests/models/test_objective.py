"""`models/objective.py`: value and gradient against enumeration, finite differences and logarithms."""

from __future__ import annotations

from itertools import pairwise

import naive_chain as naive
import numpy as np
import pytest

from conseq.models import layout as layouts
from conseq.models import objective as module
from conseq.models import references
from conseq.models.layout import Shard, observe_all
from conseq.models.objective import ChainObjective, pack
from conseq.models.trainer import Sample
from conseq.shelf import Shelf

SEEDS = range(25)


def make(chains, *, c2=0.0, precision=np.float64, threads=1, transitions=True, boundaries=True):
    layout, observed = observe_all(*chains.as_shards, transitions=transitions, boundaries=boundaries)
    return ChainObjective(
        Sample([chains.shard], layout, observed), c2=c2, threads=threads, precision=precision
    )


def random_weights(objective, seed, size=1.0):
    return size * np.random.default_rng(seed).normal(size=objective.layout.size)


def assert_same(found, expected, rel, counts=1.0):
    """Value and gradient agree, relative to their size; a gradient is the difference of such `counts`."""
    assert found[0] == pytest.approx(expected[0], rel=rel, abs=rel)
    size = max(counts, np.abs(expected[1]).max(initial=0.0))
    assert np.abs(found[1] - expected[1]).max(initial=0.0) <= rel * size


@pytest.mark.parametrize("seed", SEEDS)
def test_value_and_gradient_equal_enumeration(seed):
    chains = naive.random_chains(seed)
    objective = make(chains, c2=0.3)
    weights = random_weights(objective, seed)
    assert_same(objective(weights), naive.enumerated(chains, objective.layout, weights, 0.3), 1e-10)


@pytest.mark.parametrize("transitions", [True, False])
@pytest.mark.parametrize("boundaries", [True, False])
def test_weights_that_do_not_exist_count_as_zero(transitions, boundaries):
    chains = naive.random_chains(3, n_labels=3, lengths=[3, 1, 4, 0, 2])
    objective = make(chains, transitions=transitions, boundaries=boundaries)
    assert bool(len(objective.layout.moves)) == transitions
    assert bool(len(objective.layout.starts)) == boundaries
    weights = random_weights(objective, 3)
    assert_same(objective(weights), naive.enumerated(chains, objective.layout, weights), 1e-10)


@pytest.mark.parametrize("seed", SEEDS[:5])
def test_gradient_equals_finite_differences(seed):
    chains = naive.random_chains(seed, n_labels=3, lengths=[4, 0, 1, 7, 2])
    objective = make(chains, c2=0.7)
    weights = random_weights(objective, seed)
    _, gradient = objective(weights)
    step = 1e-6
    for i in range(len(weights)):
        change = np.zeros_like(weights)
        change[i] = step
        slope = (objective(weights + change)[0] - objective(weights - change)[0]) / (2 * step)
        assert slope == pytest.approx(gradient[i], abs=1e-6, rel=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_single_precision_is_close_to_double(seed):
    chains = naive.random_chains(seed, lengths=np.random.default_rng(seed).integers(0, 30, size=40))
    single, double = (make(chains, precision=p) for p in (np.float32, np.float64))
    weights = random_weights(double, seed)
    assert_same(single(weights), double(weights), 1e-4, double.observed.contexts.max())
    assert single.precision == np.float32


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("chunk", [1, 7, 40, 1 << 15])
def test_chunks_and_threads_are_invisible(monkeypatch, chunk, precision):
    lengths = np.random.default_rng(5).integers(0, 12, size=60)
    chains = naive.random_chains(5, n_labels=4, lengths=lengths, n_attributes=20)
    whole = make(chains, c2=0.1, precision=precision)
    weights = random_weights(whole, 5)
    assert len(whole.shards[0].chunks) == 2
    monkeypatch.setattr(module, "CHUNK_BYTES", 1)
    monkeypatch.setattr(module, "CHUNK_TOKENS", chunk)
    rel = 1e-6 if precision == np.float32 else 1e-12
    for threads in (1, 2):
        cut = make(chains, c2=0.1, precision=precision, threads=threads)
        assert chunk > 100 or len(cut.shards[0].chunks) > 6
        assert_same(cut(weights), whole(weights), rel, whole.observed.contexts.max())


@pytest.mark.parametrize("few", [0, 1, 3, 1000])
def test_how_many_weights_a_row_must_have_is_invisible(monkeypatch, few):
    chains = naive.random_chains(6, n_labels=4, lengths=[3, 0, 7, 5], n_attributes=9)
    usual = make(chains, c2=0.1, precision=np.float64)
    monkeypatch.setattr(references, "FEW", few)
    other = make(chains, c2=0.1, precision=np.float64)
    assert (len(other.shards[0].references.attribute) == 0) == (few == 1000)
    weights = random_weights(usual, 6)
    assert_same(other(weights), usual(weights), 1e-12, usual.observed.contexts.max())


@pytest.mark.parametrize("chunk", [1, 5, 1000])
def test_packing_lays_every_token_out_once_behind_its_predecessor(chunk):
    offsets = np.array([0, 3, 3, 4, 9, 11, 11, 14])
    token, chunks, steps, last = pack(offsets, chunk)
    assert sorted(token.tolist()) == list(range(14))
    assert sorted(token[last].tolist()) == [2, 3, 8, 10, 13]
    assert last.tolist() == sorted(last.tolist())
    assert (chunks[0], chunks[-1] + 1, steps[0], steps[-1]) == (0, len(steps), 0, 14)
    for first, end in pairwise(chunks):
        blocks = [token[a:b] for a, b in pairwise(steps[first : end + 1])]
        assert set(blocks[0].tolist()) <= set(offsets[:-1].tolist())
        for before, after in pairwise(blocks):
            assert (before[: len(after)] + 1).tolist() == after.tolist()


@pytest.mark.parametrize("lengths", [[], [0], [0, 0, 0]])
def test_without_tokens_only_the_penalty_is_left(lengths):
    chains = naive.random_chains(1, n_labels=2, lengths=np.array(lengths, dtype=np.int64))
    for precision in (np.float32, np.float64):
        value, gradient = make(chains, c2=1.0, precision=precision)(np.zeros(0))
        assert value == 0
        assert gradient.shape == (0,)


def test_one_label_is_certain():
    chains = naive.random_chains(2, n_labels=1, lengths=[4, 1, 0, 3])
    objective = make(chains)
    value, gradient = objective(random_weights(objective, 2, 10))
    assert value == pytest.approx(0, abs=1e-10)
    assert gradient == pytest.approx(np.zeros(objective.layout.size), abs=1e-10)


# ── weights too large for single precision ──────────────────────────────────────────────────────


@pytest.mark.parametrize("size", [10, 30, 60, 90])
@pytest.mark.parametrize("seed", SEEDS[:8])
def test_large_weights_stay_finite_and_right(seed, size):
    lengths = np.random.default_rng(seed).integers(0, 9, size=8)
    chains = naive.random_chains(seed, n_labels=4, lengths=lengths, values=False)
    objective = make(chains, precision=np.float32)
    weights = random_weights(objective, seed, size)
    found = objective(weights)
    assert np.isfinite(found[0])
    assert np.isfinite(found[1]).all()
    assert_same(found, naive.recursive(chains, objective.layout, weights), 1e-3)
    assert found[1].dtype == np.float64


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("seed", SEEDS[:8])
def test_weights_beyond_double_precision_give_infinity_and_no_warning(seed, precision):
    """A line search that tries such weights sees that they are no good and tries smaller ones."""
    chains = naive.random_chains(seed, n_labels=4, lengths=[7, 5, 3, 1, 8], values=False)
    objective = make(chains, precision=precision)
    value, gradient = objective(random_weights(objective, seed, 1e4))
    assert value == np.inf or np.isfinite(value)
    assert np.isfinite(gradient).all()


def lattice(unary, moves, gold):
    """One sequence whose scores are given number by number: every token has an attribute of its own.

    moves is {(from, to): weight}; what is left out was not seen in training and weighs 0. Further sequences
    of one and two tokens show every attribute with every label, and every move.
    """
    tokens, n_labels = np.shape(unary)
    lengths = [tokens] + [2] * len(moves) + [1] * (tokens * n_labels)
    own, none = np.arange(tokens), np.full(2 * len(moves), tokens)
    rows = np.concatenate([own, none, np.repeat(own, n_labels)])
    labels = np.concatenate([gold, np.ravel(list(moves)), np.tile(np.arange(n_labels), tokens)])
    design = naive.Design(
        rows[:, None].astype(np.int32),
        np.concatenate([np.arange(tokens + 1), [tokens]]),
        own.astype(np.int32),
        np.ones(tokens, dtype=np.float32),
        tokens,
    )
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    chains = naive.Chains(design, labels.astype(np.int32), offsets, n_labels)
    objective = make(chains, precision=np.float32, boundaries=False)
    keys = [key[1:] for key in naive.keys(objective.layout) if key[0] == "move"]
    return chains, objective, np.concatenate([np.ravel(unary), [moves[key] for key in keys]])


def test_transitions_too_small_for_single_precision_are_not_lost():
    """e^−95 is a single without a full mantissa, e^−200 none at all; both were seen and count."""
    for low in (-95.0, -200.0):
        moves = {(0, 0): -1.0, (0, 1): low, (1, 0): 2.0, (1, 1): 0.0}
        chains, objective, weights = lattice(np.zeros((3, 2)), moves, [0, 1, 0])
        assert_same(objective(weights), naive.recursive(chains, objective.layout, weights), 1e-6)
        assert objective.precision == np.float64


def test_a_path_that_starts_too_small_for_single_precision_but_wins_is_not_lost():
    """Label 1 begins e^−115 behind, below the smallest single; each later step costs label 0 e^−45."""
    unary = np.zeros((5, 2))
    unary[0] = [0, -115]
    chains, objective, weights = lattice(unary, {(0, 0): 155.0, (1, 1): 200.0}, [1, 1, 1, 1, 1])
    assert_same(objective(weights), naive.recursive(chains, objective.layout, weights), 1e-3)


def test_a_score_that_vanishes_in_single_precision_but_decides_is_not_lost():
    """At the middle token label 1 is e^−110 behind, not a single; staying at 0 costs e^−65 twice."""
    unary = np.zeros((3, 2))
    unary[1] = [0, -110]
    for gold in ([1, 1, 1], [0, 0, 0]):
        chains, objective, weights = lattice(unary, {(0, 0): 135.0, (1, 1): 200.0}, gold)
        assert_same(objective(weights), naive.recursive(chains, objective.layout, weights), 1e-3)


def test_scores_far_below_zero_need_no_double_precision():
    """Only differences matter; a token whose best score is −300 is no reason to fall back."""
    unary = np.full((4, 2), -300.0) + np.eye(4, 2)
    chains, objective, weights = lattice(unary, {(0, 1): 0.5, (1, 0): -0.5}, [0, 1, 0, 1])
    assert_same(objective(weights), naive.recursive(chains, objective.layout, weights), 1e-4)
    assert objective.precision == np.float32


def test_the_same_input_gives_the_same_numbers():
    chains = naive.random_chains(9, n_labels=4, lengths=[9, 3, 0, 7, 1, 8])
    first, second = (make(chains, precision=np.float32) for _ in range(2))
    weights = random_weights(first, 9)
    a, b, c = first(weights), second(weights), first(weights)
    assert a[0] == b[0] == c[0]
    assert a[1].tolist() == b[1].tolist() == c[1].tolist()


# ── shards ──────────────────────────────────────────────────────────────────────────────────────


def cut(chains, pieces):
    """The same sequences in several shards, each with the rows that it needs, in an order of its own."""
    for members in np.array_split(np.arange(len(chains.offsets) - 1), pieces):
        lo, hi = chains.offsets[members[0]], chains.offsets[members[-1] + 1]
        design = chains.design
        used, row_of = np.unique(design.row_of[lo:hi], return_inverse=True)
        entries = [np.arange(design.indptr[r], design.indptr[r + 1]) for r in used]
        at = np.concatenate([np.empty(0, dtype=np.int64), *entries]).astype(np.int64)
        indptr = np.concatenate([[0], np.cumsum([len(e) for e in entries])]).astype(np.int64)
        own = naive.Design(
            row_of.reshape(hi - lo, -1).astype(np.int32), indptr, design.attr[at], design.value[at],
            design.n_attributes,
        )  # fmt: skip
        offsets = chains.offsets[members[0] : members[-1] + 2] - lo
        yield Shard(own, chains.labels[lo:hi], offsets)


@pytest.mark.parametrize("on_disk", [False, True])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("seed", range(6))
def test_shards_add_up_to_the_whole(tmp_path, seed, threads, on_disk):
    lengths = np.random.default_rng(seed).integers(0, 9, size=23)
    chains = naive.random_chains(seed, n_labels=3 + seed, lengths=lengths, n_attributes=15, n_rows=12)
    whole = make(chains, c2=0.2)
    shards = list(cut(chains, 4))
    layout, observed = observe_all(shards, chains.n_labels)
    for name in ("feature", "label", "moves", "starts", "ends"):
        assert np.array_equal(getattr(layout, name), getattr(whole.layout, name))
    assert observed.events == pytest.approx(whole.observed.events)
    assert observed.contexts == pytest.approx(whole.observed.contexts)
    sample = Sample(shards, layout, observed, Shelf(tmp_path) if on_disk else None)
    parts = ChainObjective(sample, c2=0.2, threads=threads, precision=np.float64)
    assert len(parts.shards) == 4
    weights = random_weights(whole, seed)
    assert_same(parts(weights), whole(weights), 1e-11, observed.contexts.max())


@pytest.mark.parametrize("limit", [0, 5, 1 << 20])
def test_when_counts_are_summed_up_is_invisible(monkeypatch, limit):
    chains = naive.random_chains(1, n_labels=4, lengths=[5] * 20, n_attributes=12, n_rows=9)
    layout, observed = observe_all(*chains.as_shards)
    monkeypatch.setattr(layouts, "MANY", limit)
    found, counts = observe_all(list(cut(chains, 7)), 4)
    assert np.array_equal(found.label, layout.label)
    assert counts.events == pytest.approx(observed.events)


def test_lost_digits_in_one_shard_make_all_of_them_double():
    chains = naive.random_chains(2, n_labels=3, lengths=[4] * 12, n_attributes=6, values=False)
    layout, observed = observe_all(*chains.as_shards)
    parts = ChainObjective(Sample(list(cut(chains, 3)), layout, observed))
    weights = random_weights(parts, 2, size=60.0)
    exact = make(chains)
    assert parts(weights)[0] == pytest.approx(exact(weights)[0], rel=1e-9)
    assert parts.precision == np.float64
