"""Small random problems: what decoders answer, against the truth.

    seed, number ─→ Batch ─→ `auto` for all sequences at once ─┐
                         ─→ another decoder for a few          ├─→ compared with the Truth ─→ Findings
                         ─→ n best, marginals, single answers ─┘

OPTIMAL says that no labelling scores more than `rounding` above the answer; to this comes what the scores
and costs that were added up lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.soak_crew import Findings, Task, said
from benchmarks.soak_truth import Batch, Rng, Truth, random_batch
from conseq.constraints.language import format_constraints, parse_constraints
from conseq.decoders.auto import DECODERS, Auto, decode_all
from conseq.decoders.base import NO_LIMITS, Limits
from conseq.decoders.constrained_marginals import constrained_posterior
from conseq.decoders.constrained_nbest import n_best_decodings
from conseq.decoders.twostage import TwoStage
from conseq.errors import InfeasibleError
from conseq.kernels.rounding import rounding
from conseq.problem import TOLERANCE, Decoding, Status

EXACT = ("auto", "lazy", "ilp", "wcsp", "enumerate")
"""They leave nothing open where there are no limits."""
OWN_OBJECTIVE = "twostage"
OTHERS = {
    "viterbi": 20,
    "lazy": 12,
    "dual": 6,
    "ilp": 3,
    "twostage": 4,
    "beam": 12,
    "wcsp": 3,
    "enumerate": 3,
}
"""Sequences that a decoder gets when its turn comes; those not named get 3."""
FEW = 3
"""Sequences for n best, for marginals and to be decoded one by one."""
ROUNDING = 1e-12
"""What adding up may lose of the sum of the sizes."""
BOUND_TOLERANCE = 1e-9

What = Iterator[str]


def run(task: Task) -> Findings:
    """Decode the sequences of one batch in several ways."""
    rng = np.random.default_rng(task.entropy)
    batch = random_batch(rng)
    findings = Findings(task)
    findings.count("problems", len(batch))
    about = partial(_about, batch)

    def check(name: str, i: int, complaints: Callable[[], What]) -> None:
        findings.examine(complaints, lambda: about(name, i))

    check("parse_constraints", -1, partial(_read_back, batch))
    together = list(decode_all(batch.problems, "auto"))
    for i, found in enumerate(together):
        check("auto", i, partial(complaints_about, found, batch.truths[i], True))
    for i in _some(rng, batch, FEW):
        check("auto, one sequence", i, partial(_single, batch, i, together[i]))
    for i in _some(rng, batch, FEW):
        check("n best", i, partial(_n_best, batch, i, int(rng.integers(1, 8))))
    for i in _some(rng, batch, FEW):
        check("marginals", i, partial(_marginals, batch, i))
    name = list(DECODERS)[int(rng.integers(len(DECODERS)))]
    limits = NO_LIMITS if rng.random() < 0.8 else _limits(rng)
    for i in _some(rng, batch, OTHERS.get(name, FEW)):
        if name == OWN_OBJECTIVE:
            check(name, i, partial(_two_stage, batch, i, float(rng.choice([0.0, 0.6, 0.9, 0.95, 1.0]))))
        elif name != "enumerate" or len(batch.truths[i].scores) <= limits.states:
            check(name, i, partial(_other, batch, i, name, limits))
    return findings


def _some(rng: Rng, batch: Batch, count: int) -> list[int]:
    return [int(i) for i in rng.choice(len(batch), min(count, len(batch)), replace=False)]


def _limits(rng: Rng) -> Limits:
    kinds = (
        Limits(seconds=float(rng.choice([0.0, 1e-3]))),
        Limits(iterations=int(rng.integers(0, 4))),
        Limits(states=int(rng.choice([0, 1, 7, 40]))),
        Limits(nodes=int(rng.integers(0, 2))),
    )
    return kinds[int(rng.integers(len(kinds)))]


def _about(batch: Batch, name: str, i: int) -> dict[str, Any]:
    """What a person needs to see the problem."""
    about: dict[str, Any] = {"decoder": name, "rules": format_constraints(batch.rules).splitlines()}
    if i >= 0:
        size = len(batch) // len(batch.texts)
        about |= {"sequence": i, "tokens": list(batch.texts[i // size].tokens)}
        about |= {"labels": list(batch.problems.schema.labels)}
    return about


# ── what may be wrong ───────────────────────────────────────────────────────────────────────────


def complaints_about(found: Decoding, truth: Truth, exact: bool) -> What:
    """What is wrong with an answer and its certificate."""
    status, bound = found.certificate.status, found.certificate.bound
    best, slack = truth.score, _slack(truth, truth.best)
    if found.states is None:
        if found.score != -np.inf or status not in (Status.INFEASIBLE, Status.UNKNOWN):
            yield f"no labelling, with the score {found.score} and {status.name}"
        if status is Status.INFEASIBLE and best > -np.inf:
            yield f"INFEASIBLE, and there is a labelling of score {best}"
        if exact and status is not Status.INFEASIBLE:
            yield f"{status.name} without limits; the best score is {best}"
    else:
        yield from _labelling(found, truth)
        if exact and status is not Status.OPTIMAL:
            yield f"{status.name} without limits: score {found.score}, bound {bound}, best {best}"
        if status is Status.OPTIMAL and best - found.score > rounding(found.score, TOLERANCE) + slack:
            yield f"OPTIMAL with the score {found.score}, and the best is {best}"
    if bound < best - (BOUND_TOLERANCE * (1 + abs(best)) + slack if best > -np.inf else 0.0):
        yield f"the bound {bound} is below the best score {best}"


def _labelling(found: Decoding, truth: Truth) -> What:
    """What is wrong with the score of a labelling, and with how its gap is called."""
    assert found.states is not None
    index, certificate = truth.index(found.states), found.certificate
    true, again = float(truth.scores[index]), found.problem.score(found.states)
    if not abs(found.score - again) <= _slack(truth, index):
        yield f"the score is {found.score}, and Problem.score {again}"
    if not abs(found.score - true) <= _slack(truth, index):
        yield f"the score is {found.score}, and by the meaning of the rules {true}"
    if not certificate.bound >= found.score:
        yield f"the bound {certificate.bound} is below the score {found.score}"
    meet = certificate.bound - found.score <= rounding(found.score, TOLERANCE)
    if (certificate.status is Status.OPTIMAL) != meet:
        yield f"{certificate.status.name} with the score {found.score} and the bound {certificate.bound}"


def _slack(truth: Truth, index: int) -> float:
    return ROUNDING * float(truth.parts[index])


def _other(batch: Batch, i: int, name: str, limits: Limits) -> What:
    found = DECODERS[name]().decode(batch.problems[i], limits=limits)
    free = limits == NO_LIMITS
    for what in complaints_about(found, batch.truths[i], free and name in EXACT):
        yield what if free else f"{what} ({limits})"


def _single(batch: Batch, i: int, together: Decoding) -> What:
    """One sequence alone has the answer that it has among others."""
    found, truth = Auto().decode(batch.problems[i]), batch.truths[i]
    yield from complaints_about(found, truth, True)
    if (found.states is None) != (together.states is None):
        yield f"alone {said(found)}, among others {said(together)}"
    elif found.states is not None:
        allowed = TOLERANCE * (1 + abs(found.score)) + _slack(truth, truth.index(found.states))
        if abs(found.score - together.score) > allowed:
            yield f"alone {said(found)}, among others {said(together)}"


def _read_back(batch: Batch) -> What:
    text = format_constraints(batch.rules)
    if tuple(parse_constraints(text, schema=batch.problems.schema)) != batch.rules:
        yield "the rules read back differently"


def _n_best(batch: Batch, i: int, n: int) -> What:
    """The n best scores, one by one."""
    truth = batch.truths[i]
    order = np.argsort(-truth.scores, kind="stable")
    wanted = [int(k) for k in order if truth.scores[k] > -np.inf][:n]
    found = n_best_decodings(batch.problems[i], n)
    if len(found) != len(wanted) or any(one.states is None for one in found):
        yield f"{n} best: {[said(one) for one in found]}, and there are {len(wanted)}"
        return
    if len({one.states.tobytes() for one in found if one.states is not None}) != len(found):
        yield f"{n} best: some are equal"
    for rank, (one, k) in enumerate(zip(found, wanted, strict=True)):
        yield from _labelling(one, truth)
        best = float(truth.scores[k])
        if abs(one.score - best) > TOLERANCE * (1 + abs(best)) + _slack(truth, k):
            yield f"{n} best: number {rank} scores {one.score}, and should {best}"


def _marginals(batch: Batch, i: int) -> What:
    """Probabilities of states and the log-partition, against sums over all labellings."""
    truth, problem = batch.truths[i], batch.problems[i]
    try:
        found = constrained_posterior(problem)
    except InfeasibleError:
        if truth.score > -np.inf:
            yield f"marginals: no labelling, and there is one of score {truth.score}"
        return
    if truth.score == -np.inf:
        yield "marginals, and there is no labelling"
        return
    weights = np.exp(truth.scores - truth.score)
    slack = 1e-7 + 100 * _slack(truth, truth.best)
    wanted = truth.score + float(np.log(weights.sum()))
    if abs(found.log_partition - wanted) > slack + TOLERANCE * abs(wanted):
        yield f"the log-partition is {found.log_partition}, and should be {wanted}"
    size = len(batch) // len(batch.texts)
    states = _expected(batch.texts[i // size].paths, weights / weights.sum(), truth.n_states)
    if states.size and (worst := float(np.abs(found.states - states).max())) > slack:
        yield f"a marginal is off by {worst}"


def _expected(paths: NDArray[np.int64], weights: NDArray[np.float64], n_states: int) -> NDArray[np.float64]:
    """The probability of each state at each token, [L,S]."""
    found = np.zeros((paths.shape[1], n_states))
    for t, states in enumerate(paths.T):
        found[t] = np.bincount(states, weights=weights, minlength=n_states)
    return found


def _two_stage(batch: Batch, i: int, tau: float) -> What:
    """Least cost in the band below the best model score, then the highest model score."""
    truth, found = batch.truths[i], TwoStage(tau).decode(batch.problems[i])
    top = float(truth.model.max())
    floor = top - (1 - tau) * abs(top) if top > -np.inf else top
    in_band = (truth.model >= floor) & np.isfinite(truth.costs) & np.isfinite(truth.model)
    if found.states is None:
        if in_band.any():
            yield f"no labelling for tau {tau}, and one in the band costs {truth.costs[in_band].min()}"
        if found.certificate.status is Status.INFEASIBLE and truth.score > -np.inf:
            yield f"INFEASIBLE, and there is a labelling of score {truth.score}"
        return
    index = truth.index(found.states)
    model, cost = float(truth.model[index]), float(truth.costs[index])
    slack = max(_slack(truth, index), ROUNDING * float(truth.parts[truth.model == top].min()))
    yield from _labelling(found, truth)
    if model < floor - 1e-8 * (1 + abs(top)) - slack:
        yield f"the model score {model} is below the band, which begins at {floor}"
    if found.certificate.status is not Status.OPTIMAL:
        yield f"{found.certificate.status.name} without limits"
    least = float(truth.costs[in_band].min(initial=np.inf))
    if cost - least > TOLERANCE * (1 + least) + slack:
        yield f"for tau {tau} a cost of {cost}, and the least is {least}"
    better = in_band & (truth.costs <= cost) & (truth.model > model + TOLERANCE * (1 + abs(model)) + slack)
    if better.any():
        yield f"for tau {tau} the model score {model}, and {truth.model[better].max()} costs no more"
