"""`optimise/lbfgs.py`: minima known in closed form or found by SciPy, and every way to stop."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from conseq.optimise.lbfgs import LBFGS

EXACT = {"delta": 0.0, "epsilon": 1e-9}
"""Stop only at a vanishing gradient."""


class Counted:
    """An objective that remembers where it was asked."""

    def __init__(self, function):
        self.function, self.points, self.values = function, [], []

    def __call__(self, weights):
        value, gradient = self.function(weights)
        self.points.append(weights.copy())
        self.values.append(value)
        return value, gradient


def rosenbrock(w):
    """Σ 100 (w_{i+1} − w_i²)² + (1 − w_i)², least at 1, 1, …"""
    bend, left = w[1:] - w[:-1] ** 2, 1 - w[:-1]
    gradient = np.zeros_like(w)
    gradient[:-1] = -400 * w[:-1] * bend - 2 * left
    gradient[1:] += 200 * bend
    return float(100 * bend @ bend + left @ left), gradient


def quadratic(target, curvature, level=0.0):
    """level + Σ ½ curvature (w − target)²"""
    return lambda w: (level + 0.5 * float(curvature @ (w - target) ** 2), curvature * (w - target))


def logistic(seed, n=60, width=8):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, width))
    y = np.sign(x @ rng.normal(size=width) + rng.normal(size=n))

    def function(w):
        margin = y * (x @ w)
        return float(np.logaddexp(0, -margin).sum()), -(x.T @ (y / (1 + np.exp(margin))))

    return function, width


@pytest.mark.parametrize("size", [2, 10])
def test_rosenbrock(size):
    result = LBFGS(**EXACT).minimise(rosenbrock, np.full(size, -1.2))
    assert result.status == "converged"
    assert result.weights == pytest.approx(np.ones(size), abs=1e-6)
    assert result.value == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_ill_conditioned_quadratics(seed):
    rng = np.random.default_rng(seed)
    target, curvature = rng.normal(size=40), 10.0 ** rng.uniform(-3, 3, size=40)
    result = LBFGS(delta=0.0, epsilon=1e-8).minimise(quadratic(target, curvature), np.zeros(40))
    assert result.value == pytest.approx(0, abs=1e-9)
    assert result.weights == pytest.approx(target, abs=1e-3)


def test_a_scale_that_knows_the_curvature_saves_evaluations():
    rng = np.random.default_rng(4)
    target, curvature = rng.normal(size=40), 10.0 ** rng.uniform(-3, 3, size=40)
    objective = quadratic(target, curvature)
    plain = LBFGS(max_iterations=100, **EXACT).minimise(objective, np.zeros(40))
    exact = LBFGS(**EXACT).minimise(objective, np.zeros(40), scale=1 / curvature)
    about = LBFGS(**EXACT).minimise(objective, np.zeros(40), scale=rng.uniform(0.5, 2, size=40) / curvature)
    assert exact.weights == pytest.approx(target, abs=1e-6)
    assert about.weights == pytest.approx(target, abs=1e-6)
    assert exact.evaluations <= 5 < about.evaluations <= 40
    assert plain.status == "limit"


@pytest.mark.parametrize("seed", range(5))
def test_as_low_as_scipy(seed):
    function, width = logistic(seed)
    smooth = lambda w: (function(w)[0] + w @ w, function(w)[1] + 2 * w)  # noqa: E731
    expected = minimize(
        smooth, np.zeros(width), jac=True, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-9}
    )
    result = LBFGS(**EXACT).minimise(smooth, np.zeros(width))
    assert result.value == pytest.approx(expected.fun, rel=1e-9)
    assert result.weights == pytest.approx(expected.x, abs=1e-5)


# ── the L1 term ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("scale", [None, np.linspace(0.5, 2, 30)])
@pytest.mark.parametrize("c1", [0.3, 1.0, 5.0])
def test_lasso_with_an_orthogonal_design_is_soft_thresholding(c1, scale):
    target = 2 * np.random.default_rng(8).normal(size=30)
    result = LBFGS(c1=c1, **EXACT).minimise(quadratic(target, np.ones(30)), np.zeros(30), scale=scale)
    expected = np.sign(target) * np.maximum(np.abs(target) - c1, 0)
    assert result.weights == pytest.approx(expected, abs=1e-7)
    assert (result.weights == 0).tolist() == (expected == 0).tolist(), "zeros must be exact"
    assert result.value == pytest.approx(0.5 * ((expected - target) ** 2).sum() + c1 * np.abs(expected).sum())


def test_l1_leaves_a_wrong_orthant():
    """From a start on the wrong side of 0 the weights must come back through it."""
    target = np.array([3.0, -3.0, 0.5])
    result = LBFGS(c1=1.0, **EXACT).minimise(quadratic(target, np.ones(3)), -5 * np.sign(target))
    assert result.weights == pytest.approx([2.0, -2.0, 0.0], abs=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_l1_as_low_as_scipy_with_twice_the_variables(seed):
    """w = u − v with u, v ≥ 0 makes ‖w‖₁ smooth; L-BFGS-B solves that."""
    function, width = logistic(seed)
    c1 = 3.0

    def split(both):
        u, v = np.split(both, 2)
        value, gradient = function(u - v)
        return value + c1 * both.sum(), np.concatenate([gradient + c1, c1 - gradient])

    options = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 10_000}
    expected = minimize(
        split,
        np.zeros(2 * width),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, None)] * 2 * width,
        options=options,
    )
    result = LBFGS(c1=c1, **EXACT).minimise(function, np.zeros(width))
    assert result.value == pytest.approx(expected.fun, rel=1e-7)
    assert result.weights == pytest.approx(expected.x[:width] - expected.x[width:], abs=1e-4)
    assert 0 < np.count_nonzero(result.weights) < width


def test_l1_so_strong_that_nothing_moves():
    result = LBFGS(c1=100.0).minimise(quadratic(np.ones(4), np.ones(4)), np.zeros(4))
    assert (result.status, result.iterations, result.weights.tolist()) == ("converged", 0, [0, 0, 0, 0])


# ── when it stops ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("period", [1, 3, 10])
@pytest.mark.parametrize("delta", [1e-1, 1e-3, 1e-5])
@pytest.mark.parametrize("c1", [0.0, 0.5])
@pytest.mark.parametrize("level", [10.0, 1e6])
def test_it_stops_by_crfsuites_rule(period, delta, c1, level):
    """At the first iteration k ≥ period with (f(k − period) − f(k)) / f(k) < delta, f(0) at the start.

    Above the higher level all changes are small, and it stops as soon as it may.
    """
    rng = np.random.default_rng(3)
    curvature = 10.0 ** rng.uniform(-2, 2, size=30)
    objective = Counted(quadratic(rng.normal(size=30), curvature, level))
    result = LBFGS(c1=c1, period=period, delta=delta, epsilon=0.0).minimise(objective, np.zeros(30))
    values = [objective.values[0], *result.history]
    small = [k for k in range(period, len(values)) if (values[k - period] - values[k]) / values[k] < delta]
    assert result.status == "converged"
    assert small == [result.iterations]
    assert len(result.history) == result.iterations


def test_it_stops_at_a_gradient_small_beside_the_weights():
    target = np.array([300.0, 400.0])
    objective = Counted(quadratic(target, np.array([1.0, 30.0]), level=1.0))
    result = LBFGS(delta=0.0, epsilon=1e-3).minimise(objective, np.zeros(2))
    slope = np.array([1.0, 30.0]) * (result.weights - target)
    assert result.status == "converged"
    assert np.linalg.norm(slope) <= 1e-3 * np.linalg.norm(result.weights)


def test_at_the_minimum_it_does_nothing():
    result = LBFGS().minimise(quadratic(np.ones(3), np.ones(3)), np.ones(3))
    assert (result.status, result.iterations, result.evaluations) == ("converged", 0, 1)
    assert LBFGS().minimise(lambda w: (0.0, w), np.zeros(0)).status == "converged"


@pytest.mark.parametrize("c1", [0.0, 0.1])
def test_max_iterations(c1):
    result = LBFGS(c1=c1, max_iterations=4, **EXACT).minimise(rosenbrock, np.full(5, -1.2))
    assert (result.status, result.iterations, len(result.history)) == ("limit", 4, 4)
    assert LBFGS(max_iterations=0).minimise(rosenbrock, np.full(5, -1.2)).weights.tolist() == [-1.2] * 5


def test_the_value_never_rises_and_belongs_to_the_weights():
    result = LBFGS(**EXACT).minimise(rosenbrock, np.full(6, -1.2))
    assert all(np.diff(result.history) <= 0)
    assert result.value == result.history[-1] == rosenbrock(result.weights)[0]


def test_a_callback_sees_every_iteration_and_may_stop():
    steps = []

    def callback(step):
        steps.append(step)
        return step.iteration == 3

    objective = Counted(rosenbrock)
    result = LBFGS().minimise(objective, np.full(4, -1.2), callback=callback)
    assert (result.status, result.iterations) == ("stopped", 3)
    assert [s.iteration for s in steps] == [1, 2, 3]
    assert [s.value for s in steps] == result.history == [rosenbrock(s.weights)[0] for s in steps]
    assert steps[-1].evaluations == result.evaluations == len(objective.points)


@pytest.mark.parametrize("c1", [0.0, 0.1])
@pytest.mark.parametrize("call", [1, 2, 7])
def test_an_interrupt_gives_the_last_iterate(call, c1):
    seen = [np.full(4, -1.2)]

    def objective(w):
        objective.calls += 1
        if objective.calls == call:
            raise KeyboardInterrupt
        return rosenbrock(w)

    objective.calls = 0
    result = LBFGS(c1=c1).minimise(objective, seen[0], callback=lambda s: seen.append(s.weights))
    assert result.status == "interrupted"
    assert result.weights.tolist() == seen[-1].tolist()
    assert result.iterations == len(seen) - 1 == len(result.history)


def test_other_errors_are_not_swallowed():
    def objective(w):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        LBFGS().minimise(objective, np.zeros(2))


@pytest.mark.parametrize("beyond", [(np.inf, 0.0), (np.nan, np.nan), (np.inf, np.nan)])
@pytest.mark.parametrize("c1", [0.0, 0.01])
def test_steps_to_where_there_is_no_value_are_survived(beyond, c1):
    """Σ 20 w − log w, which does not exist for w ≤ 0; from 1 the first steps go there."""

    def barrier(w):
        if (w <= 0).any():
            return beyond[0], np.full_like(w, beyond[1])
        return float((20 * w - np.log(w)).sum()), 20 - 1 / w

    objective = Counted(barrier)
    result = LBFGS(c1=c1, **EXACT).minimise(objective, np.full(3, 1.0))
    assert not np.isfinite(objective.values).all(), "the case is not about what it says"
    assert result.weights == pytest.approx(np.full(3, 1 / (20 + c1)), rel=1e-5)


def test_a_gradient_that_lies_ends_in_the_line_search():
    """Uphill in every direction: it gives up and keeps the start."""
    result = LBFGS().minimise(lambda w: (float(w @ w), -2 * w), np.ones(3))
    assert (result.status, result.weights.tolist()) == ("line search", [1, 1, 1])
    assert result.evaluations <= 1 + LBFGS().max_linesearch


def test_the_start_is_left_alone_and_the_run_can_be_repeated():
    start = np.full(5, -1.2)
    first, second = (LBFGS().minimise(rosenbrock, start) for _ in range(2))
    assert start.tolist() == [-1.2] * 5
    assert first.weights.tolist() == second.weights.tolist()
    assert first.history == second.history
