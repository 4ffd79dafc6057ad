"""Variables under rows: scores, what is violated, what is connected, parts, their search, and all in one."""

from __future__ import annotations

import naive_indicators as naive
import numpy as np
import pytest
from calling import called
from numba import config

from conseq.kernels import indicators, part_search, parts, settling

SEEDS = range(60 if config.DISABLE_JIT else 600)


def ready(variables):
    """The best value of each variable, or None if one has none."""
    values = np.zeros(len(variables.starts) - 1, dtype=np.int64)
    total = indicators.choose(variables, values)
    return values, total


def test_the_best_values_are_chosen():
    for seed in SEEDS:
        variables, _ = naive.random_rows(seed)
        values, total = ready(variables)
        wanted = max(float(variables.gains[one].sum()) for one in naive.answers(variables))
        assert total == pytest.approx(wanted), f"seed {seed}"
        assert variables.gains[values].sum() == pytest.approx(wanted), f"seed {seed}"


def test_violations_of_groups():
    for seed in SEEDS:
        variables, rows = naive.random_rows(seed)
        for values in naive.answers(variables)[:20]:
            amounts = np.full(len(rows.penalty), -1.0)
            indicators.violations(variables, rows, values, amounts)
            paid = sum(p * a for p, a in zip(rows.penalty, amounts, strict=True) if a > 0)
            wanted = naive.score(variables, rows, values)
            if variables.gains[values].sum() > -np.inf:
                assert variables.gains[values].sum() - paid == pytest.approx(wanted), f"seed {seed}"


def test_violated_rows_are_brought_in():
    for seed in SEEDS:
        variables, rows = naive.random_rows(seed)
        values, _ = ready(variables)
        state = np.random.default_rng(seed).integers(0, 2, len(rows.bound))
        before = state.copy()
        new = indicators.activate(variables, rows, state, values)
        amounts = [max(0.0, naive.beyond(rows, k, values)) for k in range(len(rows.bound))]
        for k, amount in enumerate(amounts):
            own = [o for o in range(len(amounts)) if rows.group[o] == rows.group[k] and before[o]]
            reached = max((amounts[o] for o in own), default=0.0) if rows.together[rows.group[k]] else 0.0
            counts = not before[k] and rows.penalty[rows.group[k]] > 0 and amount > reached
            assert state[k] == (2 if counts else before[k]), f"seed {seed}"
        assert new == (state == 2).sum()


def test_rows_connect_variables():
    for seed in SEEDS:
        variables, rows = naive.random_rows(seed, 6)
        state = np.random.default_rng(seed).integers(0, 3, len(rows.bound))
        parent = np.zeros(len(variables.starts) - 1, dtype=np.int64)
        indicators.connect(variables, rows, state, parent)
        wanted = naive.groups_of_variables(variables, rows, set(np.flatnonzero(state).tolist()))
        found = [set(np.flatnonzero(parent == root).tolist()) for root in np.unique(parent)]
        assert sorted(found, key=min) == wanted, f"seed {seed}"
        assert (parent[parent] == parent).all()


@pytest.mark.parametrize("work", [0.0, 100.0, 1e9])
def test_a_part_is_searched_to_the_end_or_has_a_valid_bound(work):
    cut_out, search = called(parts.cut_out), called(part_search.search)
    for seed in SEEDS:
        variables, rows = naive.random_rows(seed)
        n = len(variables.starts) - 1
        state, parent = np.ones(len(rows.bound), dtype=np.int64), np.zeros(n, dtype=np.int64)
        part = cut_out(variables, rows, state, parent, 0)
        wanted = naive.best(variables, rows)
        if (np.diff(part.starts) == 0).any():
            assert wanted == -np.inf
            continue
        found, result = np.full(n, -1), np.array([-np.inf, np.nan, 0.0, 0.0])
        done = search(part, found, result, work)
        assert result[1] >= wanted - 1e-9, f"seed {seed}"
        assert result[0] <= wanted + 1e-9, f"seed {seed}"
        if done:
            assert result[1] == pytest.approx(wanted), f"seed {seed}"
        if result[0] > -np.inf:
            assert naive.score(variables, rows, part.origin[found]) == pytest.approx(result[0])
        assert done or work < 1e9


def test_a_part_keeps_an_answer_that_is_known():
    """The search finds nothing that does not surpass it."""
    variables, rows = naive.random_rows(3)
    n = len(variables.starts) - 1
    zeros = np.zeros(n, dtype=np.int64)
    part = called(parts.cut_out)(variables, rows, np.ones(len(rows.bound), dtype=np.int64), zeros, 0)
    found, result = np.full(n, -1), np.array([1e6, np.nan, 0.0, 0.0])
    assert called(part_search.search)(part, found, result, 1e9)
    assert (found == -1).all()
    assert result[1] == 1e6


def test_what_is_settled_is_the_best_of_all():
    for seed in SEEDS:
        variables, rows = naive.random_rows(seed)
        values, total = ready(variables)
        if total == -np.inf:
            continue
        state, loss = np.zeros(len(rows.bound), dtype=np.int64), np.zeros(len(values))
        parent, result = np.zeros(len(values) + 1, dtype=np.int64), np.zeros(4)
        status = settling.settle(variables, rows, state, values, loss, parent, result, 1e9)
        wanted = naive.best(variables, rows)
        assert status == (settling.NONE if wanted == -np.inf else settling.SETTLED), f"seed {seed}"
        if wanted > -np.inf:
            assert naive.score(variables, rows, values) == pytest.approx(wanted), f"seed {seed}"
            assert total - loss.sum() == pytest.approx(wanted), f"seed {seed}"


def test_a_part_that_is_stuck_leaves_a_bound():
    stuck = 0
    for seed in SEEDS:
        variables, rows = naive.random_rows(seed, 6)
        values, total = ready(variables)
        if total == -np.inf:
            continue
        state, loss = np.zeros(len(rows.bound), dtype=np.int64), np.zeros(len(values))
        parent, result = np.zeros(len(values) + 1, dtype=np.int64), np.zeros(4)
        status = settling.settle(variables, rows, state, values, loss, parent, result, 0.0)
        stuck += status == settling.STUCK
        assert status == settling.NONE or total - loss.sum() >= naive.best(variables, rows) - 1e-9
    assert stuck
