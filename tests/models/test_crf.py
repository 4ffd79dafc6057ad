"""`models/crf.py`: training as a whole, scores of a model, warm starts, pruning, what is reported."""

from __future__ import annotations

from itertools import pairwise

import naive_chain as naive
import numpy as np
import pytest

from conseq.archive import Archive
from conseq.corpus import Corpus
from conseq.features import FeatureExtractor
from conseq.models.crf import CRF, ChainModel, WarmStart, curvature_scale
from conseq.models.layout import Observed, Shard, observe_all
from conseq.optimise.lbfgs import LBFGS

SEEDS = range(6)


def learnable(seed, **options):
    """Chains of some length, so that there is something to learn."""
    lengths = np.random.default_rng(seed).integers(0, 9, size=30)
    return naive.random_chains(seed, n_labels=3, lengths=lengths, n_attributes=12, **options)


def with_zeros(model, seed):
    """The same model with about half of its weights set to 0."""
    keep = np.random.default_rng(seed).random(len(model.weights)) < 0.5
    return ChainModel(model.layout, np.where(keep, model.weights, 0.0))


def random_model(chains, seed):
    layout, _ = observe_all(*chains.as_shards)
    return ChainModel(layout, np.random.default_rng(seed).normal(size=layout.size))


def plain_score(chains, model, labels):
    """Σ of the weights of the events of each sequence labelled so."""
    weight = dict(zip(naive.keys(model.layout), model.weights.tolist(), strict=True))
    found = []
    for (bags, _), (a, b) in zip(chains.sequences(), pairwise(chains.offsets.tolist()), strict=True):
        counts = naive.events(bags, labels[a:b].tolist())
        found.append(sum(n * weight.get(key, 0.0) for key, n in counts.items()))
    return found


# ── scores ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("seed", SEEDS)
def test_potentials_score_labellings_as_the_sum_of_their_weights(seed, threads):
    chains = learnable(seed)
    model = random_model(chains, seed)
    potentials = model.potentials(chains.design, chains.offsets, threads=threads)
    potentials.check()
    labels = np.random.default_rng(seed).integers(3, size=len(chains.labels))
    found = [potentials.score(labels[a:b], i) for i, (a, b) in enumerate(pairwise(chains.offsets.tolist()))]
    assert found == pytest.approx(plain_score(chains, model, labels), abs=1e-4)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_pruned_model_scores_the_same(seed):
    chains = learnable(seed)
    model = with_zeros(random_model(chains, seed), seed)
    pruned = model.pruned()
    assert pruned.layout.size == np.count_nonzero(model.weights)
    kept = {k: w for k, w in zip(naive.keys(model.layout), model.weights.tolist(), strict=True) if w}
    assert dict(zip(naive.keys(pruned.layout), pruned.weights.tolist(), strict=True)) == kept
    before, after = (m.potentials(chains.design, chains.offsets) for m in (model, pruned))
    for name in ("unary", "pairwise", "start", "end"):
        np.testing.assert_array_equal(getattr(before, name), getattr(after, name))


@pytest.mark.parametrize("seed", SEEDS[:3])
def test_a_model_survives_as_arrays(seed):
    chains = learnable(seed)
    model = random_model(chains, seed)
    restored = ChainModel.from_archive(Archive({}, {}, model.arrays()), 3, len(model.layout.feature) - 1)
    assert naive.keys(restored.layout) == naive.keys(model.layout)
    assert restored.weights.tolist() == model.weights.tolist()


# ── training ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_training_ends_where_the_gradient_vanishes(precision):
    chains = learnable(1)
    crf = CRF(LBFGS(c2=0.5, delta=1e-9, epsilon=1e-5), precision=precision)
    model, report = crf.fit_all(*chains.as_shards)
    value, gradient = naive.recursive(chains, model.layout, model.weights)
    slope = gradient + 2 * 0.5 * model.weights
    assert report.objective == pytest.approx(value + 0.5 * model.weights @ model.weights, rel=1e-5)
    assert np.abs(slope).max() < 2e-2 if precision == np.float32 else np.abs(slope).max() < 1e-3


@pytest.mark.parametrize("threads", [1, 2])
def test_the_same_data_give_the_same_model_twice(threads):
    chains = learnable(2)
    first, second = (CRF(threads=threads).fit_all(*chains.as_shards) for _ in range(2))
    assert first[0].weights.tolist() == second[0].weights.tolist()
    assert first[1].objective == second[1].objective


def test_threads_change_the_model_by_rounding_only():
    chains = learnable(3)
    one, two = (CRF(threads=n, precision=np.float64).fit_all(*chains.as_shards)[0] for n in (1, 2))
    assert two.weights == pytest.approx(one.weights, rel=1e-6, abs=1e-6)


def test_the_report_tells_what_happened():
    chains = learnable(4)
    seen = []
    model, report = CRF(LBFGS(c2=1.0, max_iterations=5, delta=0.0)).fit_all(
        *chains.as_shards, watch=seen.append
    )
    assert (report.status, report.iterations, report.best_iteration) == ("limit", 5, 5)
    assert report.features == model.layout.size == len(model.weights)
    assert report.attributes == chains.design.n_attributes
    assert [p.iteration for p in report.history] == [1, 2, 3, 4, 5]
    assert report.history == seen
    assert report.history[-1].objective == report.objective
    assert report.history[-1].evaluations == report.evaluations
    assert report.development is None
    assert 0 <= report.history[-1].seconds <= report.seconds


def test_development_data_choose_the_iterate():
    """The scores rise to the third iteration and fall then; the third is kept, with a copy of its weights."""
    chains = learnable(5)
    weights = []

    def development(model):
        weights.append(model.weights.copy())
        return -abs(len(weights) - 3)

    optimiser = LBFGS(c2=1.0, max_iterations=6, delta=0.0)
    model, report = CRF(optimiser).fit_all(*chains.as_shards, development=development)
    assert (report.best_iteration, report.development, report.iterations) == (3, 0, 6)
    assert model.weights.tolist() == weights[2].tolist() != weights[-1].tolist()
    assert [p.development for p in report.history] == [-2, -1, 0, -1, -2, -3]


def test_sparse_training_gives_a_pruned_model():
    chains = learnable(1)
    model, report = CRF(LBFGS(c1=2.0, c2=0.0)).fit_all(*chains.as_shards)
    full, _ = CRF(LBFGS(c2=1.0)).fit_all(*chains.as_shards)
    assert 0 < model.layout.size < full.layout.size
    assert report.features == model.layout.size
    assert (model.weights != 0).all()


@pytest.mark.parametrize("lengths", [[], [0, 0], [1], [1, 1, 1]])
def test_tiny_training_data(lengths):
    chains = naive.random_chains(1, n_labels=2, lengths=np.array(lengths, dtype=np.int64))
    model, report = CRF().fit_all(*chains.as_shards)
    assert np.isfinite(report.objective)
    assert model.potentials(chains.design, chains.offsets).n_tokens == sum(lengths)


def test_without_transitions_tokens_are_labelled_one_by_one():
    """Then the model is logistic regression, and the objective a sum over tokens."""
    chains = learnable(2)
    model, report = CRF(LBFGS(c2=1.0), transitions=False, boundaries=False, precision=np.float64).fit_all(
        *chains.as_shards
    )
    unary = model.potentials(chains.design, chains.offsets).unary.astype(np.float64)
    log_p = unary - np.logaddexp.reduce(unary, axis=1, keepdims=True)
    loss = -log_p[np.arange(len(unary)), chains.labels].sum()
    assert report.objective == pytest.approx(loss + model.weights @ model.weights, rel=1e-5)


def test_the_scale_lets_rare_events_move_further():
    observed = Observed(np.array([5.0, 100.0, -3.0, 0.0]), np.array([10.0, 100.0, 6.0, 0.0]))
    n, p = np.array([10, 100, 6, 1e-6]), np.array([0.5, 1.0, 0.5, 0.0])
    expected = 1 / (n * np.maximum(p * (1 - p), 0.01) + 2 * 1.5) ** 0.25
    assert curvature_scale(observed, 1.5) == pytest.approx(expected)
    assert np.isfinite(curvature_scale(observed, 0.0)).all()


# ── warm starts ─────────────────────────────────────────────────────────────────────────────────


def identity(n):
    return np.arange(n, dtype=np.int64)


@pytest.mark.parametrize("seed", range(10))
def test_a_warm_start_carries_every_weight_to_its_new_place(seed):
    """Attributes and labels are renumbered, some are new, some are gone."""
    rng = np.random.default_rng(seed)
    old_chains = naive.random_chains(seed, n_labels=3, lengths=[6] * 40, n_attributes=12, n_rows=20)
    new_chains = naive.random_chains(seed + 1, n_labels=4, lengths=[6] * 40, n_attributes=15, n_rows=20)
    model = random_model(old_chains, seed)
    model = with_zeros(model, seed).pruned() if seed % 2 else model
    attribute = rng.permutation(np.concatenate([np.arange(12), [-1, -1, -1]]))
    label = np.array([2, -1, 0, 1])
    layout, _ = observe_all(*new_chains.as_shards)
    found = WarmStart(model, attribute, label).weights(layout)
    old = dict(zip(naive.keys(model.layout), model.weights.tolist(), strict=True))

    def moved(key):
        kind, *rest = key
        if kind == "state":
            return kind, int(attribute[rest[0]]), int(label[rest[1]])
        return kind, *(int(label[y]) for y in rest)

    expected = [old.get(moved(key), 0.0) for key in naive.keys(layout)]
    assert found.tolist() == expected
    assert np.count_nonzero(expected) > 10


def test_the_same_layout_gets_the_same_weights_back():
    chains = learnable(1)
    model = random_model(chains, 1)
    warm = WarmStart(model, identity(12), identity(3))
    assert warm.weights(model.layout).tolist() == model.weights.tolist()


def test_a_model_without_weights_is_a_start_at_zero():
    chains = learnable(1)
    model = random_model(chains, 1)
    empty = ChainModel(model.layout, np.zeros_like(model.weights)).pruned()
    assert not WarmStart(empty, identity(12), identity(3)).weights(model.layout).any()


def test_training_from_a_converged_model_takes_few_iterations():
    chains = learnable(2)
    crf = CRF(LBFGS(c2=0.3, delta=1e-8), precision=np.float64)
    model, cold = crf.fit_all(*chains.as_shards)
    again, warm = crf.fit_all(*chains.as_shards, warm=WarmStart(model, identity(12), identity(3)))
    assert cold.iterations > 15
    assert warm.evaluations < cold.evaluations / 2
    assert warm.objective <= cold.objective * (1 + 1e-9)
    assert again.weights == pytest.approx(model.weights, abs=1e-2)


def test_a_warm_start_may_meet_new_words_and_labels():
    old = Corpus.from_sequences([["Ann", "sleeps"], ["Bob", "runs"]] * 5, [["P", "O"], ["P", "O"]] * 5)
    new = Corpus.from_sequences(
        [["Ann", "sleeps"], ["in", "Rome"], ["Bob", "sings"]] * 5, [["P", "O"], ["O", "L"], ["P", "O"]] * 5
    )
    templates = ["word[-1..1]", "shape[0]"]
    before, design = FeatureExtractor.learn(old, templates)
    crf = CRF(LBFGS(c2=0.1, delta=1e-9), precision=np.float64)
    model, _ = crf.fit_all([Shard(design, old.labels.ids, old.offsets)], 2)
    after, design = FeatureExtractor.learn(new, templates)
    place = {name: i for i, name in enumerate(before.names())}
    attribute = np.array([place.get(name, -1) for name in after.names()])
    label = old.labels.vocabulary.encode(new.labels.vocabulary).astype(np.int64)
    assert -1 in attribute
    assert -1 in label
    data = ([Shard(design, new.labels.ids, new.offsets)], 3)
    cold, warm = (crf.fit_all(*data, warm=w)[1] for w in (None, WarmStart(model, attribute, label)))
    assert warm.objective == pytest.approx(cold.objective, rel=1e-6)
    assert warm.history[0].objective < cold.history[0].objective
