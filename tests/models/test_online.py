"""`models/online.py`: references, L-BFGS's minimum, seeds, every way to stop, and training as a whole."""

from __future__ import annotations

from dataclasses import fields

import naive_chain as naive
import naive_online as reference
import numpy as np
import pytest
from calling import called

from conseq.models import online as module
from conseq.models.crf import ALGORITHMS, CRF, ChainModel, WarmStart
from conseq.models.layout import Shard, observe_all
from conseq.models.objective import ChainObjective
from conseq.models.online import AdaGrad, Common, Perceptron, flat, room_for, vector_of
from conseq.models.trainer import Sample
from conseq.optimise.lbfgs import LBFGS

ONLINE = [kind for kind in ALGORITHMS.values() if kind is not LBFGS]


def learnable(seed, count=30, **options):
    """Chains of some length, the label mostly that of a token's row, so that there is something to learn."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 9, size=count)
    chains = naive.random_chains(
        seed, n_labels=3, lengths=lengths, n_attributes=12, n_rows=9, values=False, **options
    )
    meant = chains.design.row_of[:, 0] % 3
    chains.labels[:] = np.where(rng.random(len(meant)) < 0.9, meant, chains.labels)
    return chains


def objective_of(chains, c2):
    layout, observed = observe_all(*chains.as_shards)
    return ChainObjective(Sample([chains.shard], layout, observed), c2=c2, precision=np.float64)


def as_dict(model):
    return dict(zip(naive.keys(model.layout), model.weights.tolist(), strict=True))


# ── the perceptron ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("at_once", [1, 1 << 20])
@pytest.mark.parametrize("seed", range(8))
def test_the_perceptron_averages_all_weights_it_had(monkeypatch, seed, at_once):
    """However few tokens a kernel gets at once; weights of 0 are left out of the model."""
    monkeypatch.setattr(module, "AT_ONCE", at_once)
    chains = reference.easy_chains(seed, n_labels=3, lengths=[3, 0, 1, 4, 2, 3], n_attributes=6)
    model, report = CRF(Perceptron(max_iterations=4, random_state=seed)).fit_all(*chains.as_shards)
    layout, _ = observe_all(*chains.as_shards)
    random = np.random.default_rng(seed)
    orders = [random.permutation(5) for _ in range(report.iterations)]
    mean, wrong = reference.perceptron(chains, layout, orders)
    assert [p.objective for p in report.history] == wrong
    expected = {key: w for key, w in zip(naive.keys(layout), mean.tolist(), strict=True) if w}
    assert as_dict(model) == pytest.approx(expected, abs=1e-12)
    assert report.features == len(expected)


def test_the_perceptron_starts_from_given_weights():
    chains = reference.easy_chains(3, n_labels=3, lengths=[3, 2, 4], n_attributes=5)
    layout, _ = observe_all(*chains.as_shards)
    start = np.random.default_rng(3).integers(-2, 3, size=layout.size).astype(float)
    warm = WarmStart(ChainModel(layout, start), np.arange(5), np.arange(3))
    model, _ = CRF(Perceptron(max_iterations=1)).fit_all(*chains.as_shards, warm=warm)
    mean, _ = reference.perceptron(chains, layout, [np.random.default_rng(0).permutation(3)], start)
    expected = {key: w for key, w in zip(naive.keys(layout), mean.tolist(), strict=True) if w}
    assert as_dict(model) == pytest.approx(expected, abs=1e-12)


def test_the_perceptron_stops_after_an_epoch_without_mistakes():
    """The label is the row: after a few epochs nothing is wrong."""
    chains = naive.random_chains(2, n_labels=3, lengths=[5] * 20, n_attributes=9, n_rows=9)
    design = naive.Design(
        chains.design.row_of[:, :1].copy(), np.arange(10), np.arange(9, dtype=np.int32),
        np.ones(9, dtype=np.float32), 9,
    )  # fmt: skip
    labels = (design.row_of[:, 0] % 3).astype(np.int32)
    _, report = CRF(Perceptron(max_iterations=50)).fit_all([Shard(design, labels, chains.offsets)], 3)
    assert (report.status, report.objective) == ("converged", 0)
    assert report.iterations < 50
    assert all(p.objective > 0 for p in report.history[:-1])


# ── AdaGrad ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", range(5))
def test_the_gradient_of_one_batch_of_all_is_that_of_the_objective(seed):
    chains = learnable(seed)
    objective = objective_of(chains, 0.4)
    weights = np.random.default_rng(seed).normal(size=objective.layout.size)
    layout, common = objective.layout, Common(objective.layout)
    data = common.data(common.counted(Shard(chains.design, chains.labels, chains.offsets)))
    room = room_for(layout)
    everything = np.arange(len(data.offsets) - 1)
    loss, _ = called(module.kernel.gradient)(data, 0.4, everything, vector_of(layout, weights), room)
    value, gradient = objective(weights)
    assert flat(layout, room.slope) == pytest.approx(gradient, abs=1e-9)
    assert loss + 0.4 * weights @ weights == pytest.approx(value)


@pytest.mark.parametrize("c2", [0.1, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_adagrad_comes_close_to_the_minimum(seed, c2):
    chains = learnable(seed, count=60)
    _, least = CRF(LBFGS(c2=c2, delta=1e-9), precision=np.float64).fit_all(*chains.as_shards)
    model, report = CRF(AdaGrad(c2=c2, max_iterations=2000, delta=0.0, period=500)).fit_all(*chains.as_shards)
    value, _ = objective_of(chains, c2)(model.weights)
    assert least.objective - 1e-6 <= value <= 1.005 * least.objective
    assert report.objective == pytest.approx(value, rel=0.05)


def test_adagrad_stops_when_it_improves_by_too_little():
    chains = learnable(1)
    _, report = CRF(AdaGrad(delta=0.02, period=3, max_iterations=500)).fit_all(*chains.as_shards)
    values = [p.objective for p in report.history]
    assert report.status == "converged"
    for end in range(4, len(values) + 1):
        before, now = min(values[: end - 3]), min(values[end - 3 : end])
        assert (before - now <= 0.02 * now) == (end == len(values))


# ── both ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", ONLINE)
def test_the_seed_decides(kind):
    chains = learnable(2)
    first, again, other = (
        CRF(kind(random_state=seed, max_iterations=3)).fit_all(*chains.as_shards)[0] for seed in (5, 5, 6)
    )
    assert as_dict(first) == as_dict(again)
    assert as_dict(first) != as_dict(other)


@pytest.mark.parametrize("kind", ONLINE)
@pytest.mark.parametrize("lengths", [[], [0, 0], [1], [1, 0, 1]])
def test_tiny_training_data(lengths, kind):
    chains = naive.random_chains(1, n_labels=2, lengths=np.array(lengths, dtype=np.int64))
    model, report = CRF(kind()).fit_all(*chains.as_shards)
    assert np.isfinite(report.objective)
    assert model.potentials(chains.design, chains.offsets).n_tokens == sum(lengths)


@pytest.mark.parametrize("kind", ONLINE)
def test_the_report_tells_what_happened(kind):
    chains = learnable(4)
    seen = []
    model, report = CRF(kind(max_iterations=4)).fit_all(*chains.as_shards, watch=seen.append)
    assert (report.status, report.iterations, report.best_iteration) == ("limit", 4, 4)
    assert report.features == model.layout.size == len(model.weights)
    assert [(p.iteration, p.evaluations) for p in seen] == [(1, 1), (2, 2), (3, 3), (4, 4)]
    assert report.history == seen
    assert report.history[-1].objective == report.objective


@pytest.mark.parametrize("kind", ONLINE)
def test_development_data_choose_the_epoch(kind):
    chains = learnable(5)
    kept = []

    def development(model):
        kept.append(ChainModel(model.layout, model.weights.copy()))
        return -abs(len(kept) - 2)

    model, report = CRF(kind(max_iterations=4)).fit_all(*chains.as_shards, development=development)
    assert (report.best_iteration, report.development, report.iterations) == (2, 0, 4)
    best = kept[1].pruned() if kind().sparse else kept[1]
    assert as_dict(model) == as_dict(best)


@pytest.mark.parametrize("kind", ONLINE)
def test_an_interrupt_leaves_the_weights_so_far(kind):
    chains = learnable(6)

    def interrupt(progress):
        if progress.iteration == 2:
            raise KeyboardInterrupt

    model, report = CRF(kind(max_iterations=9)).fit_all(*chains.as_shards, watch=interrupt)
    expected, _ = CRF(kind(max_iterations=2)).fit_all(*chains.as_shards)
    assert (report.status, report.iterations) == ("interrupted", 2)
    assert as_dict(model) == as_dict(expected)


@pytest.mark.parametrize(("kind", "name"), [(Perceptron, "perceptron"), (AdaGrad, "adagrad")])
def test_an_interrupt_before_the_end_of_the_first_epoch(monkeypatch, kind, name):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(module.kernel, name, interrupt)
    model, report = CRF(kind()).fit_all(*learnable(6).as_shards)
    assert (report.status, report.iterations) == ("interrupted", 0)
    assert not model.weights.any()


def test_a_callback_that_returns_true_stops():
    chains = learnable(7)
    layout, observed = observe_all(*chains.as_shards)
    sample = Sample([chains.shard], layout, observed)
    result = Perceptron().train(sample, np.zeros(layout.size), lambda step: step.iteration == 3)
    assert (result.status, result.iterations, len(result.history)) == ("stopped", 3, 3)


def test_weights_beyond_double_precision_are_refused():
    from conseq.errors import ConseqError

    chains = learnable(8)
    layout, _ = observe_all(*chains.as_shards)
    far = ChainModel(layout, 1e4 * np.random.default_rng(8).normal(size=layout.size))
    warm = WarmStart(far, np.arange(12), np.arange(3))
    with pytest.raises(ConseqError, match="too large for probabilities"):
        CRF(AdaGrad()).fit_all(*chains.as_shards, warm=warm)


@pytest.mark.parametrize("kind", ALGORITHMS.values())
def test_every_algorithm_takes_a_limit_of_iterations(kind):
    assert "max_iterations" in {field.name for field in fields(kind)}
    _, report = CRF(kind(max_iterations=1)).fit_all(*learnable(1).as_shards)
    assert report.iterations == 1
