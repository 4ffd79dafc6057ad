"""Soft-DD over many sequences against all labellings of each."""

from __future__ import annotations

import naive
import naive_primitives
import naive_softdd as reference
import naive_violations
import numpy as np
import pytest
from calling import called
from numba import config

from conseq.kernels import chain as viterbi
from conseq.kernels import softdd
from conseq.kernels.chain import Chain
from conseq.kernels.softdd import Found, Task
from conseq.kernels.violations import Automata, Counters, Ground, Sums

SEEDS = range(40 if config.DISABLE_JIT else 120)
NO_AUTOMATA = Automata(
    np.empty((0, 5), dtype=np.int64),
    np.zeros(1, dtype=np.int64),
    np.empty(0, dtype=np.int64),
    np.empty(0, dtype=np.int16),
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
        rows, terms, limits = naive_primitives.random_sums(rng, len(self.tables))
        self.sums = Sums(rows, terms, np.column_stack([limits[:, 0], rng.choice([0, 0.3], len(limits))]))
        self.ceilings = limits[:, 1].copy()
        self.chain = naive.flat(self.chains)._replace(label_of=self.label_of)
        self.offsets, self.kind = self.chain.offsets, self.chain.kind
        self.automata = self._automaton(rng) if rng.random() < 0.5 else NO_AUTOMATA
        self.penalties = np.append(self.ceilings, 1.5)[: len(limits) + len(self.automata.machines)]
        self.effects = self._effects(bool(rng.random() < 0.5))

    def _table(self, rng):
        return rng.integers(0, 3, (self.size, self.size)) * (rng.random((self.size, self.size)) < 0.5)

    def _automaton(self, rng):
        steps = rng.integers(0, 2, self.size * self.size).astype(np.int16)
        machine = np.array([[-1, 0, 0, 2, 0]], dtype=np.int64)
        arcs, cost = np.array([0, 1, 1, 0], dtype=np.int32), np.array([0.0, 0.0, 1.0, 0.0])
        return NO_AUTOMATA._replace(machines=machine, steps=steps, arcs=arcs, cost=cost)

    def _effects(self, biased):
        _, pairwise, start, end, *_ = self.chain
        size = len(start)
        possible = np.zeros((size + 1, size + 1), dtype=bool)
        possible[:-1, :-1] = (pairwise > -np.inf).any(axis=0)
        possible[-1, :-1], possible[:-1, -1] = start > -np.inf, end > -np.inf
        rows = np.append(self.label_of, self.size - 1)
        return reference.effects_of([table[np.ix_(rows, rows)] for table in self.tables], possible, biased)

    def counters(self):
        pairs, moves = [0], []
        for step in range(self.size * self.size):
            amounts = [int(table.ravel()[step]) for table in self.tables]
            moves += [(j, amount, -1) for j, amount in enumerate(amounts) if amount]
            pairs.append(len(moves))
        moves = np.array(moves, dtype=np.int64).reshape(-1, 3)
        return Counters(np.array(pairs), moves, np.empty((0, 0), dtype=bool))

    def score(self, chain, path):
        """The objective: model score − Σ penalty · violation."""
        x = reference.path_totals(path, self.label_of, self.tables, self.sums)
        beyond = [value if value > 1e-9 else 0.0 for value in (x - self.limits(len(path))).tolist()]
        if len(self.automata.machines):
            labels, machine = self.label_of[list(path)].tolist(), self.automata.machines[0].tolist()
            beyond.append(naive_violations.read(labels, 0, self.size, machine, self.automata))
        paid = [p * v for p, v in zip(self.penalties.tolist(), beyond, strict=True) if v > 0 and p > 0]
        return naive.score(chain, tuple(path)) - sum(paid)

    def limits(self, length):
        return self.sums.limits[:, 0] + self.sums.limits[:, 1] * length

    def viterbi(self):
        """What Viterbi finds to begin with, and the sequences that have a labelling."""
        offsets = self.offsets
        states, bounds = np.empty(len(self.chain.unary), dtype=np.int32), np.empty(len(offsets) - 1)
        viterbi.viterbi(self.chain, 0, len(bounds), states, bounds)
        scores = np.full(len(bounds), -np.inf)
        able = [n for n in range(len(bounds)) if bounds[n] > -np.inf and offsets[n + 1] > offsets[n]]
        for n in able:
            scores[n] = self.score(self.chains[n], states[offsets[n] : offsets[n + 1]].tolist())
        return Found(states, bounds, scores), np.array(able, dtype=np.int64)

    def run(self, chosen, found, most_runs=12):
        """Tighten the chosen sequences; runs and multipliers."""
        ground = Ground(self.size, self.counters(), self.sums, self.automata)
        task = Task(self.chain, 0, ground, self.penalties, self.ceilings, self.effects, most_runs, 4.0)
        runs, multipliers = np.zeros(len(chosen), dtype=np.int64), np.zeros((len(chosen), len(self.ceilings)))
        softdd.softdd(task, chosen, found, runs, multipliers)
        return runs, multipliers


@pytest.mark.parametrize("seed", SEEDS)
def test_bounds_multipliers_and_labellings(seed):
    case = Case(seed)
    found, chosen = case.viterbi()
    before = Found(*(part.copy() for part in found))
    runs, multipliers = case.run(chosen, found)
    assert (runs <= 12).all()
    assert (multipliers >= 0).all()
    assert (multipliers <= case.ceilings).all()
    for number, n in enumerate(chosen):
        chain, path = case.chains[n], found.states[case.offsets[n] : case.offsets[n + 1]].tolist()
        best = max(case.score(chain, path) for _, path in naive.labellings(chain))
        assert found.bounds[n] >= best - 1e-9 * (1 + abs(best)) or best == -np.inf
        assert found.bounds[n] <= before.bounds[n] + 1e-9 * (1 + abs(before.bounds[n]))
        assert found.scores[n] >= before.scores[n]
        assert found.scores[n] == pytest.approx(case.score(chain, path), rel=1e-9, abs=1e-9)
        limits = case.limits(len(path))
        value = reference.dual_value(
            chain, case.label_of, case.tables, case.sums, limits, multipliers[number]
        )
        assert found.bounds[n] == pytest.approx(value, rel=1e-9, abs=1e-8)


def test_multipliers_often_close_the_gap():
    """Against plain Viterbi, the gaps between bounds and labellings are far smaller."""
    first = last = 0.0
    for seed in SEEDS:
        case = Case(seed)
        found, chosen = case.viterbi()
        gaps = found.bounds[chosen] - found.scores[chosen]
        finite = np.isfinite(gaps) & (gaps < 1e3)
        case.run(chosen, found)
        first += gaps[finite].sum()
        last += (found.bounds[chosen] - found.scores[chosen])[finite].sum()
    assert last < 0.5 * first


@pytest.mark.parametrize("seed", SEEDS)
def test_one_sequence_leaves_nothing_behind_for_the_next(seed):
    """All at once, one call each, and in the opposite order: the same to the last bit."""
    case = Case(seed)
    (together, chosen), (alone, _), (backwards, _) = case.viterbi(), case.viterbi(), case.viterbi()
    runs, multipliers = case.run(chosen, together)
    for number, n in enumerate(chosen):
        one_run, one_multipliers = case.run(np.array([n]), alone)
        assert one_run[0] == runs[number]
        assert np.array_equal(one_multipliers[0], multipliers[number])
    case.run(chosen[::-1].copy(), backwards)
    for other in (alone, backwards):
        assert all(np.array_equal(a, b) for a, b in zip(together, other, strict=True))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("most_runs", [0, 1])
def test_few_runs_are_kept_to(seed, most_runs):
    case = Case(seed)
    found, chosen = case.viterbi()
    before = [part.copy() for part in found]
    runs, _ = case.run(chosen, found, most_runs)
    assert (runs <= most_runs).all()
    if most_runs == 0:
        assert np.array_equal(found.states, before[0])
        assert all(a == pytest.approx(b) for a, b in zip(found[1:], before[1:], strict=True))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_shifted_chain_scores_every_labelling_less_what_the_sums_cost(seed):
    case = Case(seed)
    rng = np.random.default_rng(seed)
    multipliers = rng.exponential(1, len(case.ceilings)) * (rng.random(len(case.ceilings)) < 0.7)
    moved = Chain(*softdd.shifted_chain(case.chain, case.sums, case.effects, multipliers))
    for n, chain in enumerate(case.chains):
        if len(chain.unary):
            rows = slice(case.offsets[n], case.offsets[n + 1])
            shifted = naive.Chain(moved.unary[rows], moved.pairwise, moved.start, moved.end, chain.kind)
            for score, path in naive.labellings(chain):
                x = reference.path_totals(path, case.label_of, case.tables, case.sums)
                assert naive.score(shifted, path) == pytest.approx(score - multipliers @ x, abs=1e-9)


def test_what_is_in_the_scores_already_costs_nothing_even_if_its_violation_is_infinite():
    violations = np.array([[np.inf, 2.0, 0.0]])
    assert called(softdd.cost_of)(violations, np.array([0.0, 1.5, np.inf])) == 3
    assert called(softdd.cost_of)(violations, np.array([0.5, 1.5, 1.0])) == np.inf
