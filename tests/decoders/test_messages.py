"""Message passing: automata that read as their primitives do, bounds that hold, labellings that are best."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from problems_by_kind import KINDS
from problems_by_kind import random_problem as problem_of_kind
from problems_of_all_rules import all_labellings, all_scores, large_problem, random_problem, truth

from benchmarks.dense import random_case
from conseq.constraints import Agree, IfThen, Segments
from conseq.constraints.primitives import run
from conseq.corpus import Corpus
from conseq.decoders.arrays import decode
from conseq.decoders.auto import Auto
from conseq.decoders.base import NO_LIMITS, Best, Limits
from conseq.decoders.chain.viterbi import first_answer
from conseq.decoders.enumeration import Enumerate
from conseq.decoders.messages.machine import Machine, as_arrays
from conseq.decoders.messages.search import MessagePassing, shares_of, sweep
from conseq.decoders.messages.shares import Shares
from conseq.kernels import messages as kernel
from conseq.potentials import Potentials
from conseq.problem import Problem, Problems, Status
from conseq.schema import Schema

SEEDS = st.integers(0, 10**6)


def read(machine: Machine, states: np.ndarray) -> float:
    """What a machine gains on a labelling."""
    node, gained = 0, 0.0
    for kind, state in zip(machine.class_of, states[machine.token], strict=True):
        at = kind, node, machine.group_of[state]
        gained += float(machine.gain[at])
        node = int(machine.target[at])
    return gained + float(machine.final[node])


def machines_of(problem: Problem, most: float = np.inf) -> dict[int, Machine]:
    made = {p: Machine.of(problem, p, most) for p in range(len(problem.charges))}
    return {p: machine for p, machine in made.items() if machine is not None}


def some_labellings(problem: Problem, seed: int, count: int = 20) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, problem.n_states, (count, problem.n_tokens))


def split_score(shares: Shares, states: np.ndarray) -> float:
    """The score of a labelling as it is split between the chain and the machines."""
    tokens, begins = np.arange(len(states)), shares.arrays.sizes[:, kernel.TOLD]
    end = shares.scores.after[-1, states[-1]]
    kind = np.zeros(len(states), dtype=int) if not shares.kind.size else shares.kind
    total = shares.scores.unary[tokens, states].sum() + end
    total += shares.pairwise[kind[1:], states[:-1], states[1:]].sum()
    for machine, first in zip(shares.machines, begins.tolist(), strict=True):
        groups = machine.group_of[states[machine.token]]
        places = first + np.arange(len(groups)) * machine.target.shape[2] + groups
        total += shares.scores.told[places].sum() + read(machine, states)
    return float(total)


def shared(problem: Problem) -> Shares:
    shares = Shares(problem, 1e6)
    shares.add(np.flatnonzero(problem.program.is_nonlocal).tolist())
    return shares


@settings(deadline=None)
@given(SEEDS)
def test_machines_charge_what_primitives_do(seed: int) -> None:
    problem = random_problem(seed)
    for p, machine in machines_of(problem).items():
        charge = problem.charges[p]
        for states in some_labellings(problem, seed):
            violation = run(charge.primitive, problem.label_of[states], problem.classes(charge.primitive))
            cost = charge.penalty * violation if violation else 0.0
            assert read(machine, states) == pytest.approx(-cost, rel=1e-9, abs=1e-9)


@settings(deadline=None)
@given(SEEDS, st.floats(0, 3))
def test_what_is_charged_at_once_has_a_limit(seed: int, most: float) -> None:
    problem = random_problem(seed)
    free, limited = machines_of(problem), machines_of(problem, most)
    for p, machine in limited.items():
        hard = problem.charges[p].penalty == np.inf
        assert hard or min(machine.gain.min(initial=0), machine.final.min()) >= -most
        for states in some_labellings(problem, seed, 5):
            assert read(machine, states) >= read(free[p], states)


@settings(deadline=None)
@given(SEEDS)
def test_two_machines_in_one_charge_what_both_do(seed: int) -> None:
    problem = random_problem(seed)
    machines = list(machines_of(problem).values())
    for one, two in zip(machines[1:], machines[:-1], strict=True):
        both, groups = one.joined(two)
        assert (groups[:, both.group_of] == [one.group_of, two.group_of]).all()
        for states in some_labellings(problem, seed, 5):
            assert read(both, states) == pytest.approx(read(one, states) + read(two, states), abs=1e-6)


def test_nodes_with_the_same_future_are_one() -> None:
    """Counting further than a hard bound of one needs no node: none, one, and what can no longer be."""
    problem = decode(np.zeros((9, 2)), labels=["O", "A"], constraints="at most 1 segment of A  hard").problem
    (machine,) = machines_of(problem).values()
    assert len(machine.final) <= 5  # with the label before: START, O and A, each with none or one; too many
    steps = decode(np.zeros((9, 2)), labels=["O", "A"], constraints="not both O and A  hard").problem
    assert len(machines_of(steps)[0].final) <= 4


@settings(deadline=None)
@given(SEEDS)
def test_passes_split_scores_and_never_raise_the_bound(seed: int) -> None:
    """What a labelling scores stays what it is; the bound stays above and falls; joining changes neither."""
    problem = random_problem(seed)
    if not problem.n_tokens:
        return
    shares, labellings = shared(problem), all_labellings(problem)
    scores = all_scores(problem, labellings)
    slack = 1e-9 * (1 + float(np.abs(scores[np.isfinite(scores)]).max(initial=0)))
    for step in range(8):
        before = shares.bound
        if step == 5:
            shares.join(1e-9, np.inf)
        elif not shares.pass_messages(-np.inf):
            assert scores.max() == -np.inf
            return
        assert scores.max() - slack <= shares.bound <= before + slack
        for k in np.random.default_rng(seed).permutation(len(scores))[:5].tolist():
            split = split_score(shares, labellings[k])
            if scores[k] > -1e6 and shares.most > -scores[k]:
                assert split == pytest.approx(scores[k], abs=1e6 * slack)
            elif scores[k] == -np.inf:
                assert split < scores.max() + slack or split == -np.inf


@settings(deadline=None)
@given(SEEDS, st.floats(0, 2))
def test_states_are_left_out_only_below_the_floor(seed: int, below: float) -> None:
    problem = random_problem(seed)
    labellings = all_labellings(problem)
    scores = all_scores(problem, labellings)
    if not problem.n_tokens or scores.max() == -np.inf:
        return
    shares, floor = shared(problem), scores.max() - below
    for _ in range(4):
        assert shares.pass_messages(floor - 1e-6 * (1 + abs(floor)))
    left = shares.scores.unary > -np.inf
    for states in labellings[scores >= floor]:
        assert left[np.arange(len(states)), states].all()


@settings(deadline=None)
@given(SEEDS, st.integers(1, 30), st.integers(0, 3))
def test_beams_know_what_they_dropped(seed: int, width: int, passes: int) -> None:
    problem = random_problem(seed)
    best = truth(problem)
    if not problem.n_tokens:
        return
    shares = shared(problem)
    if not all(shares.pass_messages(-np.inf) for _ in range(passes)):
        assert best == -np.inf
        return
    found = shares.beam(width, -np.inf)
    assert found.bound >= best - 1e-6 * (1 + abs(best)) if best > -np.inf else True
    if found.states is not None and problem.score(found.states) > -1e6:
        assert found.value >= problem.score(found.states) - 1e-6 * (1 + abs(found.value))


@settings(deadline=None)
@given(SEEDS)
@example(80734)
@example(19531)  # every labelling breaks a rule, at a cost beyond all differences of scores
def test_the_best_labelling_is_found_and_proved(seed: int) -> None:
    problem = random_problem(seed)
    found, best = MessagePassing().decode(problem), truth(problem)
    assert found.score == pytest.approx(best) if found.states is not None else best == -np.inf
    assert found.certificate.status in (Status.OPTIMAL, Status.INFEASIBLE)


@pytest.mark.parametrize("seed", range(6))
def test_limits_leave_bounds_right(seed: int) -> None:
    """With fewer rounds or states the bound is no lower than the optimum that all of them prove."""
    problem = large_problem(seed, 30, 6, 12)
    free = MessagePassing().decode(problem)
    for limits in (Limits(iterations=3), Limits(states=50), Limits(seconds=0.05)):
        some = MessagePassing().decode(problem, limits=limits)
        assert some.certificate.bound >= free.score - 1e-6
        assert free.certificate.bound >= some.score - 1e-6


@pytest.mark.parametrize("seed", [2, 9, 17])
def test_problems_with_dozens_of_rules_are_proved_alike(seed: int) -> None:
    """Of those that product states close, too: the same optimum by another way."""
    case = random_case(seed)
    messages, lazy = (decode(**case, decoder=name) for name in ("messages", "lazy"))
    assert messages.certificate.status is lazy.certificate.status is Status.OPTIMAL
    assert messages.score == pytest.approx(lazy.score)


def test_no_machines_are_arrays_too() -> None:
    arrays = as_arrays([], 3, 2)
    assert arrays.sizes.shape == (0, 8)
    assert arrays.group_of.shape == (0, 2)
    assert arrays.first.tolist() == [0, 0, 0, 0]


def swept(problem: Problem, limits: Limits = NO_LIMITS) -> Best:
    """What passes and labellings made token by token find, without any beam."""
    best, wanted = first_answer(problem, None)
    if wanted and not best.closed:
        sweep(best, shares_of(best, limits), set(wanted), np.zeros(problem.program.n_linear), limits)
    return best


@pytest.mark.parametrize("strictness", ["soft", "hard"])
@pytest.mark.parametrize("kind", KINDS)
def test_passes_alone_bound_and_label(kind: str, strictness: str) -> None:
    """Bounds hold, labellings are scored as they are, and most problems of every kind are closed."""
    closed = hard = 0
    for seed in range(30):
        problem = problem_of_kind(seed, kind, strictness)
        best, states = first_answer(problem, None)
        if states is None or best.closed:
            continue
        best, exact = swept(problem), Enumerate().decode(problem)
        assert best.bound >= exact.score - 1e-9, f"seed {seed}"
        assert best.states is None or best.score == problem.score(best.states)
        hard, closed = hard + 1, closed + best.settled
    assert closed >= 0.7 * hard


def agreement(n_tokens: int, seed: int) -> Problem:
    """Words of a large vocabulary that should have the same label, some of them in thousands of groups."""
    rng = np.random.default_rng(seed)
    words = [f"w{i}" for i in rng.zipf(1.3, n_tokens) % 5000]
    rules = [Agree("type", penalty=0.5), Segments("at most", 5, "A", penalty=1.0), IfThen("A", "B")]
    scores = Potentials.of(rng.normal(0, 1, (n_tokens, 4)))
    schema = Schema(["O", "A", "B", "C"], "plain")
    return Problems.of(scores, schema, rules, Corpus.from_sequences([words]))[0]


def test_what_automata_read_grows_with_the_tokens_and_not_with_the_groups() -> None:
    problem = agreement(20_000, 0)
    program, arrays = problem.program, problem.program.arrays
    assert len(program) > 700
    assert len(arrays.automata.tokens) < problem.n_tokens
    assert len(arrays.automata.arcs) < 100  # the tables are those of one automaton
    held = sum(array.nbytes for part in arrays[1:] for array in part)
    assert held < 100 * problem.n_tokens


def test_machines_read_no_more_than_their_tokens_and_share_tables() -> None:
    """Hundreds of groups that should agree are read in one pass, and equal ones are one table."""
    problem = agreement(5000, 0)
    shares = shared(problem)
    machines = [machine for machine in shares.machines if machine.is_idle]
    assert len(machines) > 100
    assert len(shares.batches) <= 3
    assert len({id(machine.target) for machine in machines}) < 10
    for machine in machines[:50]:
        assert len(machine.token) == (machine.class_of > 0).sum() < problem.n_tokens / 4
    assert len(shares.scores.told) < 20 * problem.n_tokens


def test_a_long_text_with_agreement_is_proved() -> None:
    problem = agreement(5000, 1)
    for best in (swept(problem), Auto().decode(problem)):
        assert best.score == problem.score(best.states)
        assert best.score > first_answer(problem, None)[0].score
    assert best.certificate.status is Status.OPTIMAL


def test_sums_of_too_many_totals_have_multipliers() -> None:
    """A count of a thousand in a long text: no automaton for it, and yet a small gap."""
    rng = np.random.default_rng(3)
    scores, schema = Potentials.of(rng.normal(0, 1, (5000, 4))), Schema(["O", "A", "B", "C"], "plain")
    rules = [Segments("at most", 600, "A", penalty=1.0), Segments("at most", 2, "B", penalty=0.1)]
    problem = Problems.of(scores, schema, rules)[0]
    shares = shared(problem)
    assert len(shares.sums) == len(shares.machines) == 1
    best, first = swept(problem), first_answer(problem, None)[0]
    assert 0 <= best.bound - best.score < 0.01 * (first.bound - first.score)
    (sum_of_many,) = shares.sums.values()
    much, little = (
        run(sum_of_many, problem.label_of[states], problem.classes(sum_of_many))
        for states in (first.states, best.states)
    )
    assert little < 0.1 * much


def test_without_time_nothing_is_done() -> None:
    problem = agreement(100, 2)
    first, best = first_answer(problem, None)[0], swept(problem, Limits(seconds=0))
    assert (best.score, best.bound) == (first.score, first.bound)
