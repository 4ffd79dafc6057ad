"""Soft-DD over many sequences against all labellings of each."""

from __future__ import annotations

import naive
import naive_search as twin
import naive_tally
import numpy as np
import pytest
from numba import config

from conseq.kernels import chain as viterbi
from conseq.kernels import softdd

SEEDS = range(40 if config.DISABLE_JIT else 120)
NO_AUTOMATA = (
    np.empty((0, 5), dtype=np.int64),
    np.empty((0, 0), dtype=np.int16),
    np.empty(0, dtype=np.int16),
    np.empty(0, dtype=np.int32),
    np.empty(0),
)


class Case:
    """One to three chains, counters on their steps, sums of them with penalties, perhaps an automaton."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.chains = naive.random_chains(seed, 2.0)
        size = self.chains[0].size
        labels = int(rng.integers(1, size + 1))
        self.label_of = np.append(np.arange(labels), rng.integers(0, labels, size - labels)).astype(np.int32)
        self.size = labels + 1
        self.tables = [self._table(rng) for _ in range(rng.integers(1, 4))]
        rows, terms, shape = twin.random_sums(rng, len(self.tables))
        self.sums = rows, terms, np.column_stack([shape[:, 0], rng.choice([0, 0.3], len(shape)), shape[:, 3]])
        self.penalties = np.append(shape[:, 1], 1.5)
        self.ceilings = twin.ceilings(shape)
        self.arrays = naive.flat(self.chains)
        self.automata = self._automaton(rng) if rng.random() < 0.5 else NO_AUTOMATA
        self.penalties = self.penalties[: len(shape) + len(self.automata[0])]
        self.moves = self._moves(bool(rng.random() < 0.5))

    def _table(self, rng):
        return rng.integers(0, 3, (self.size, self.size)) * (rng.random((self.size, self.size)) < 0.5)

    def _automaton(self, rng):
        steps = rng.integers(0, 2, self.size * self.size).astype(np.int16)
        machine = np.array([[-1, 0, 0, 2, 0]], dtype=np.int64)
        arcs, cost = np.array([0, 1, 1, 0], dtype=np.int32), np.array([0.0, 0.0, 1.0, 0.0])
        return machine, np.empty((0, 0), dtype=np.int16), steps, arcs, cost

    def _moves(self, biased):
        _, pairwise, start, end, *_ = self.arrays
        size = len(start)
        possible = np.zeros((size + 1, size + 1), dtype=bool)
        possible[:-1, :-1] = (pairwise > -np.inf).any(axis=0)
        possible[-1, :-1], possible[:-1, -1] = start > -np.inf, end > -np.inf
        rows = np.append(self.label_of, self.size - 1)
        tables = [table[np.ix_(rows, rows)] for table in self.tables]
        return twin.moves_of(tables, [-1] * len(tables), possible, biased)

    def counters(self):
        """pairs, moves, masks as `tally.py` takes them."""
        pairs, moves = [0], []
        for step in range(self.size * self.size):
            amounts = [int(table.ravel()[step]) for table in self.tables]
            moves += [(j, amount, -1) for j, amount in enumerate(amounts) if amount]
            pairs.append(len(moves))
        return np.array(pairs), np.array(moves, dtype=np.int64).reshape(-1, 3), np.empty((0, 0), dtype=bool)

    def score(self, chain, path):
        """The objective: model score − Σ penalty · violation."""
        x = twin.path_totals(path, self.label_of, self.tables, self.sums)
        rows = zip(x, self.limits(len(path)).tolist(), self.sums[2][:, 2].tolist(), strict=True)
        beyond = [
            (1.0 if once else value - limit) if value - limit > 1e-9 else 0.0 for value, limit, once in rows
        ]
        if len(self.automata[0]):
            lists = [part.tolist() for part in self.automata]
            labels = self.label_of[list(path)].tolist()
            beyond.append(naive_tally.read(labels, 0, self.size, lists[0][0], lists))
        paid = [p * v for p, v in zip(self.penalties.tolist(), beyond, strict=True) if v > 0 and p > 0]
        return naive.score(chain, tuple(path)) - sum(paid)

    def limits(self, length):
        return self.sums[2][:, 0] + self.sums[2][:, 1] * length

    def viterbi(self):
        """states, bounds and scores of all sequences to begin with, and those that have a labelling."""
        unary, pairwise, start, end, offsets, kind = self.arrays
        states, bounds = np.empty(len(unary), dtype=np.int32), np.empty(len(offsets) - 1)
        viterbi.viterbi(unary, pairwise, start, end, offsets, kind, 0, len(bounds), states, bounds)
        scores = np.full(len(bounds), -np.inf)
        able = [n for n in range(len(bounds)) if bounds[n] > -np.inf and offsets[n + 1] > offsets[n]]
        for n in able:
            scores[n] = self.score(self.chains[n], states[offsets[n] : offsets[n + 1]].tolist())
        return states, bounds, scores, np.array(able, dtype=np.int64)

    def run(self, chosen, state, most_runs=12):
        """Tighten the chosen sequences; runs and multipliers."""
        unary, pairwise, start, end, offsets, kind = self.arrays
        states, bounds, scores, _ = state
        runs, multipliers = np.zeros(len(chosen), dtype=np.int64), np.zeros((len(chosen), len(self.ceilings)))
        softdd.softdd(
            (unary, pairwise, start, end),
            offsets,
            kind,
            (self.label_of, self.size, 0, self.counters(), self.sums, self.automata),
            (self.penalties, self.ceilings),
            self.moves,
            chosen,
            most_runs,
            4.0,
            states,
            bounds,
            scores,
            runs,
            multipliers,
        )
        return runs, multipliers


@pytest.mark.parametrize("seed", SEEDS)
def test_bounds_multipliers_and_labellings(seed):
    case = Case(seed)
    state = case.viterbi()
    before = state[1].copy(), state[2].copy()
    runs, multipliers = case.run(state[3], state)
    states, bounds, scores, chosen = state
    assert (runs <= 12).all()
    assert (multipliers >= 0).all()
    assert (multipliers <= case.ceilings).all()
    for number, n in enumerate(chosen):
        chain, path = case.chains[n], states[case.arrays[4][n] : case.arrays[4][n + 1]].tolist()
        best = max(case.score(chain, path) for _, path in naive.labellings(chain))
        assert bounds[n] >= best - 1e-9 * (1 + abs(best)) or best == -np.inf
        assert bounds[n] <= before[0][n] + 1e-9 * (1 + abs(before[0][n]))
        assert scores[n] >= before[1][n]
        assert scores[n] == pytest.approx(case.score(chain, path), rel=1e-9, abs=1e-9)
        limits = case.limits(len(path))
        value = twin.dual_value(chain, case.label_of, case.tables, case.sums, limits, multipliers[number])
        assert bounds[n] == pytest.approx(value, rel=1e-9, abs=1e-8)


@pytest.mark.parametrize("seed", SEEDS)
def test_one_sequence_leaves_nothing_behind_for_the_next(seed):
    """All at once, one call each, and in the opposite order: the same to the last bit."""
    case = Case(seed)
    together, alone, backwards = case.viterbi(), case.viterbi(), case.viterbi()
    runs, multipliers = case.run(together[3], together)
    for number, n in enumerate(together[3]):
        one_run, one_multipliers = case.run(np.array([n]), alone)
        assert one_run[0] == runs[number]
        assert np.array_equal(one_multipliers[0], multipliers[number])
    case.run(together[3][::-1].copy(), backwards)
    for other in (alone, backwards):
        assert all(np.array_equal(a, b) for a, b in zip(together, other, strict=True))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("most_runs", [0, 1])
def test_few_runs_are_kept_to(seed, most_runs):
    case = Case(seed)
    state = case.viterbi()
    before = [part.copy() for part in state]
    runs, _ = case.run(state[3], state, most_runs)
    assert (runs <= most_runs).all()
    if most_runs == 0:
        assert np.array_equal(state[0], before[0])
        assert all(a == pytest.approx(b) for a, b in zip(state[1:], before[1:], strict=True))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_shifted_chain_scores_every_labelling_less_what_the_sums_cost(seed):
    case = Case(seed)
    rng = np.random.default_rng(seed)
    multipliers = rng.exponential(1, len(case.ceilings)) * (rng.random(len(case.ceilings)) < 0.7)
    unary, pairwise, start, end, offsets, _ = case.arrays
    moved = softdd.shifted_chain((unary, pairwise, start, end), case.sums, case.moves, multipliers)
    for n, chain in enumerate(case.chains):
        if len(chain.unary):
            rows = slice(offsets[n], offsets[n + 1])
            shifted = naive.Chain(moved[0][rows], moved[1], moved[2], moved[3], chain.kind)
            for score, path in naive.labellings(chain):
                x = twin.path_totals(path, case.label_of, case.tables, case.sums)
                assert naive.score(shifted, path) == pytest.approx(
                    score - multipliers @ np.array(x), abs=1e-9
                )
