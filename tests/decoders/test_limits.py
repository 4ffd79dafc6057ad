"""Limits of seconds and of memory hold, and bounds hold whatever stopped the search."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import conseq
from benchmarks.limits import agreement_problem, rules_problem
from conseq.constraints import HARD, TokenIs
from conseq.constraints.tokens import Pattern
from conseq.decoders import constrained_nbest
from conseq.decoders.auto import DECODERS
from conseq.decoders.base import Limits
from conseq.decoders.chain.viterbi import Viterbi
from conseq.decoders.conflict import Undecided, smallest_conflict
from conseq.decoders.constrained_marginals import constrained_posterior
from conseq.decoders.constrained_nbest import n_best_decodings
from conseq.decoders.enumeration import Enumerate, all_scores, labellings
from conseq.decoders.lattice.lattice import TooManyStates
from conseq.errors import ConseqError
from conseq.kernels.clock import CLOCK
from conseq.options import SECONDS, RuleOptions
from conseq.problem import Problem, Status

LATE = 20.0
"""Seconds that nothing may take whose limit is a fraction of one, on a machine that is busy."""
TRIED = [name for name in DECODERS if name != "enumerate"]
TIGHT = [
    Limits(seconds=0.0),
    Limits(seconds=0.002),
    Limits(memory=0.0),
    Limits(memory=0.01),
    Limits(memory=0.1),
    Limits(seconds=0.01, memory=0.05),
]


@pytest.fixture(scope="module")
def large() -> Problem:
    return rules_problem(120, 20, 120).problems()[0]


@pytest.fixture(scope="module")
def hard_rules() -> Problem:
    """Many hard rules, so that it takes long to say which of them cannot hold together."""
    given = rules_problem(60, 12, 60)
    return replace(given, rules=[replace(rule, penalty=HARD) for rule in given.rules]).problems()[0]


@pytest.mark.parametrize("decoder", TRIED)
def test_seconds_are_kept(large, decoder):
    begun = time.perf_counter()
    found = DECODERS[decoder]().decode(large, limits=Limits(seconds=0.2))
    assert time.perf_counter() - begun < LATE
    assert found.certificate.status in (Status.FEASIBLE, Status.UNKNOWN)
    assert np.isfinite(found.certificate.bound)


@pytest.mark.parametrize("decoder", TRIED)
@pytest.mark.parametrize("limits", TIGHT)
@pytest.mark.parametrize("make", [rules_problem, agreement_problem])
def test_bounds_hold_whatever_the_limit(make, limits, decoder):
    for length, size, count in [(4, 3, 6), (5, 3, 20), (6, 2, 9)]:
        problem = make(length, size, count + 7).problems()[0]
        truth = Enumerate().decode(problem).score
        found = DECODERS[decoder]().decode(problem, limits=limits)
        assert found.score <= truth + 1e-9
        if found.certificate.status is not Status.OPTIMAL:
            assert found.certificate.bound >= truth - 1e-9
        elif decoder != "twostage":  # which has another objective
            assert found.score == pytest.approx(truth)
        assert found.certificate.status is not Status.INFEASIBLE or truth == -np.inf


@pytest.mark.parametrize("limits", TIGHT)
def test_the_n_best_keep_limits(limits):
    problem = rules_problem(5, 3, 20).problems()[0]
    wanted = n_best_decodings(problem, 4)
    found = n_best_decodings(problem, 1 if limits.memory == 0 else 4, limits)
    for one, best in zip(found, wanted, strict=False):
        assert one.certificate.bound >= best.score - 1e-9
        assert one.score <= best.score + 1e-9


@pytest.mark.parametrize("seconds", [0.001, 0.002, 0.004, 0.008, 0.016])
def test_as_many_labellings_as_there_is_time_for(seconds, monkeypatch):
    """Every rank has its bound, also where the ranking was given up on the way."""
    monkeypatch.setattr(constrained_nbest, "FIRST_PATHS", 2)
    given = rules_problem(6, 3, 12)
    problem = replace(given, rules=[rule for rule in given.rules if not rule.is_hard]).problems()[0]
    every = np.concatenate([all_scores(problem, some) for some in labellings(problem)])
    truth = -np.sort(-every)[:300]
    found = n_best_decodings(problem, 300, Limits(seconds=seconds))
    bounds = np.array([one.certificate.bound for one in found])
    scores = np.array([one.score for one in found if one.states is not None])
    assert (bounds >= truth[: len(found)] - 1e-9).all()
    assert (scores <= truth[: len(scores)] + 1e-9).all()
    assert len(n_best_decodings(problem, 300)) == len(truth)


def test_more_labellings_than_memory_holds_are_refused(large):
    with pytest.raises(ConseqError, match="of 120 tokens are too many; ask for at most"):
        n_best_decodings(large, 9_999, Limits(memory=50))


def test_probabilities_keep_limits(large):
    begun = time.perf_counter()
    with pytest.raises(TooManyStates, match=r"or take more than 0\.2 s"):
        constrained_posterior(large, Limits(seconds=0.2))
    with pytest.raises(TooManyStates, match="or 1 MiB"):
        constrained_posterior(large, Limits(memory=1))
    assert time.perf_counter() - begun < LATE


def test_the_search_for_conflicts_keeps_limits(hard_rules):
    begun = time.perf_counter()
    with pytest.raises(Undecided):
        smallest_conflict(hard_rules, limits=Limits(seconds=0.01))
    assert time.perf_counter() - begun < LATE
    found = smallest_conflict(hard_rules, limits=Limits(memory=1))  # little is enough for a single rule
    assert found is not None
    assert len(found) == 1


# ── the clock begins before rules are made ready ────────────────────────────────────────────────


def test_rules_that_are_not_ready_in_time_leave_a_bound():
    """Four hundred patterns over three thousand words take a second or more, and no time is given."""
    rng = np.random.default_rng(4)
    scores, words = rng.normal(size=(3000, 3)), [f"w{i}x{i % 997}" for i in range(3000)]
    rules = [TokenIs(Pattern(rf"(w|x)+\d*{i}(a|\d)*x\d+$"), ("A",), penalty=1.0) for i in range(400)]
    given = {"labels": ["O", "A", "B"], "constraints": rules, "tokens": words}
    found = conseq.decode(scores, **given, limits={"seconds": 0.0})
    assert (found.labels, found.certificate.status) == (None, Status.UNKNOWN)
    assert found.certificate.bound == pytest.approx(scores.max(axis=1).sum())
    enough = conseq.decode(scores, **given, limits={"seconds": 300})
    assert enough.certificate.status is Status.OPTIMAL
    assert enough.score <= found.certificate.bound


def test_the_time_for_rules_is_taken_off_the_limit():
    seen: list[Limits] = []

    class Noting(Viterbi):
        def decode(self, problem: Problem, *, limits: Limits, hint: Any = None) -> conseq.Decoding:  # type: ignore[override]
            seen.append(limits)
            return super().decode(problem, limits=limits, hint=hint)

    given: dict[str, Any] = {
        "labels": ["O", "A"],
        "constraints": "tokens(A) <= 0  penalty 1",
        "decoder": Noting(),
    }
    conseq.decode([[0.0, 1.0]], **given)
    conseq.decode([[0.0, 1.0]], **given, limits={"seconds": 7})
    assert SECONDS - 10 < seen[0].seconds < SECONDS
    assert 0 < seen[1].seconds < 7


def test_the_default_is_the_same_everywhere():
    assert Limits().seconds == RuleOptions().limit == conseq.SequenceLabeller().limit == SECONDS
    assert Limits().memory == 2048


# ── memory ──────────────────────────────────────────────────────────────────────────────────────

MEASURED = """
import json, sys
from benchmarks.limits import SMALL, agreement_problem, forget_peak, kilobytes
from conseq.decoders import constrained_nbest
from conseq.decoders.auto import DECODERS
from conseq.decoders.base import Limits

memory, seconds, names = float(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
problem, grown = agreement_problem().problems()[0], {}
DECODERS["viterbi"]().decode(problem)
for name in names:
    DECODERS[name]().decode(agreement_problem(*SMALL["agreement"][1]).problems()[0], limits=Limits(seconds=5))
    before = forget_peak()
    found = DECODERS[name]().decode(problem, limits=Limits(seconds=seconds, memory=memory))
    grown[name] = (kilobytes("VmHWM") - before) / 1024, found.certificate.status.name
print(json.dumps(grown))
"""


def grown(memory: float, *names: str, seconds: float = 1.5) -> dict[str, tuple[float, str]]:
    """MiB that decoders take more than they have, and the status, in a process of its own."""
    command = [sys.executable, "-c", MEASURED, str(memory), str(seconds), *names]
    answer: dict[str, tuple[float, str]] = json.loads(
        subprocess.run(command, capture_output=True, check=True).stdout
    )
    return answer


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read from /proc")
def test_memory_is_kept():
    """The lattice of 5,000 tokens and 20 labels takes some 300 MiB, unless there may not be as many."""
    much = grown(2048, "ilp", seconds=20)
    assert much["ilp"][0] > 150
    little = grown(32, *TRIED)
    assert {status for _, status in little.values()} <= {"FEASIBLE", "OPTIMAL"}
    assert max(taken for taken, _ in little.values()) < 100, little


@pytest.mark.parametrize("name", TRIED)
def test_decoders_work_while_the_clock_stands_still(name):
    """Another thread may compile all the time."""
    rng = np.random.default_rng(0)
    rules = """
        count(a) <= count(b)  penalty 1
        count(b) <= count(c)  penalty 1
        tokens(c) <= 3 tokens(d)  penalty 1
        if a then d  hard
        no a before each b  penalty 2
        at most 9 segments of a  hard
    """
    with CLOCK.stopped():
        scores = rng.normal(0, 2, (60, 5))
        found = conseq.decode(scores, labels=list("Oabcd"), constraints=rules, decoder=name)
    assert found.certificate.bound >= found.score
