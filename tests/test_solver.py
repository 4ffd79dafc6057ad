"""The adapter of HiGHS: outcomes, whole numbers, limits, and bounds that hold whatever the solver says."""

from __future__ import annotations

import numpy as np
import pytest

from conseq.solver import Assembly, Outcome, dual_bound


def knapsack(integral: bool, room: float = 5.0) -> Assembly:
    """max 3x + 2y + 2z,  4x + 3y + 2z ≤ room,  0 ≤ x, y, z ≤ 1."""
    assembly = Assembly()
    columns = assembly.add_columns(np.array([3.0, 2.0, 2.0]), integral=integral)
    rows = np.zeros(3, dtype=np.int64)
    assembly.add_rows(-np.inf, room, rows, columns, np.array([4.0, 3.0, 2.0]))
    return assembly


def test_whole_numbers_and_their_relaxation():
    whole, relaxed = knapsack(True).solve(), knapsack(True).solve(relax=True)
    assert whole.outcome is relaxed.outcome is Outcome.SOLVED
    assert whole.values is not None
    assert whole.values.round(6).tolist() == [0, 1, 1]
    assert whole.bound == pytest.approx(4.0)
    assert relaxed.values is not None
    assert relaxed.values.round(6).tolist() == [0.75, 0, 1]
    assert relaxed.bound == knapsack(False).solve().bound == pytest.approx(4.25)


def test_another_objective():
    assembly = knapsack(True)
    assembly.maximise(np.array([0.0, -1.0]))
    assert assembly.solve().bound == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("integral", [True, False])
def test_no_point_is_an_outcome(integral):
    found = knapsack(integral, room=-1.0).solve()
    assert (found.outcome, found.values, found.bound) == (Outcome.INFEASIBLE, None, -np.inf)


@pytest.mark.parametrize(("low", "outcome"), [(1.0, Outcome.INFEASIBLE), (-1.0, Outcome.SOLVED)])
def test_a_row_of_nothing_is_0(low, outcome):
    assembly, none = Assembly(), np.zeros(0, dtype=np.int64)
    assembly.add_columns(np.zeros(2), integral=True)
    assembly.add_rows(low, np.inf, none, none, none)
    assert assembly.solve().outcome is outcome


def test_any_duals_give_a_bound():
    """Weak duality holds for duals that are no solution at all."""
    assembly = Assembly()
    columns = assembly.add_columns(np.array([1.0, 2.0, -1.0]), upper=3.0)
    assembly.add_rows(
        [-np.inf, 1.0], [4.0, np.inf], np.array([0, 0, 1, 1]), columns[[0, 1, 1, 2]], np.ones(4)
    )
    arrays = assembly.arrays(relax=True)
    assert assembly.solve(relax=True).bound == pytest.approx(7.0)  # x = (1, 3, 0)
    for seed in range(50):
        duals = np.random.default_rng(seed).normal(0, 2, 2)
        assert dual_bound(arrays, duals) >= 7.0 - 1e-12, f"seed {seed}"
