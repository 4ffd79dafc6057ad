"""Soft-DD for many sequences (Anzaroot et al. 2014): Viterbi on scores that multipliers shift, until bound
and labelling meet.

    chain, primitives (`violations.Ground`), chosen sequences and their Viterbi labellings
        ─→ multipliers[n,K], bounds[n], scores[n], states (the best labellings met), runs[n]

    D(λ) = max_y (score(y) − Σ_k λ_k·x_k(y)) + Σ_k λ_k·limit_k,   0 ≤ λ_k ≤ penalty_k

The scores are shifted counter by counter: score of a step − Σ_j w_j · table_j[step] with w_j = Σ_k λ_k ·
coef_kj; what a counter counts on every step into a state is taken off that state's emission scores instead.
Sums whose counters look at tokens get no multiplier; they are charged to the labellings all the same, and so
are automata.

Axes: T tokens, S states, J counters, K sums, P primitives.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from conseq.kernels import rounding
from conseq.kernels.chain import Chain, best_states, both_directions, forbidden, longest
from conseq.kernels.compiled import Array, helper, kernel
from conseq.kernels.multipliers import descent, dot, gap_to_close, move, note, totals, weigh
from conseq.kernels.violations import Ground, Sums, judge, limit_of


class Effects(NamedTuple):
    """Counter j counts bias[j,s] on every step into state s, and amounts[first[j]:first[j+1]] besides on its
    own steps, written as from · (S+1) + to with S for START and END."""

    bias: Array  # [J,S]
    first: Array  # [J+1]
    steps: Array
    amounts: Array


class Task(NamedTuple):
    """What is the same for all sequences."""

    chain: Chain  # of all tokens, end to end
    first_token: int  # where the first sequence begins in the primitives' corpus
    ground: Ground
    penalties: Array  # [P], what violations cost; 0 for what is in the scores already
    ceilings: Array  # [K], how far the multiplier of a sum may rise
    effects: Effects
    most_runs: int
    spread: float  # how far below the bound to aim at first


class Found(NamedTuple):
    """Of all sequences: at first what Viterbi found, then the best."""

    states: Array  # [T]
    bounds: Array  # [N]
    scores: Array  # [N]


@helper
def to_shift(chain: Chain, length: int) -> Chain:
    """A copy for shifted scores, of `length` tokens; its steps are in both directions."""
    unary, pairwise = np.empty((length, len(chain.start))), both_directions(chain.pairwise)
    start, end = chain.start.copy(), chain.end.copy()
    return Chain(unary, pairwise, start, end, chain.offsets, chain.kind, chain.label_of)


@helper
def restep(chain: Chain, work: Chain, effects: Effects, j: int, amount: float) -> None:
    """Take amount · table_j off the steps that a bias cannot express; an amount of 0 restores their
    scores."""
    size, kinds = len(chain.start), len(chain.pairwise)
    for i in range(effects.first[j], effects.first[j + 1]):
        a, b = effects.steps[i] // (size + 1), effects.steps[i] % (size + 1)
        off = amount * effects.amounts[i]
        if a == size:
            work.start[b] = work.start[b] - off if amount != 0 else chain.start[b]
        elif b == size:
            work.end[a] = work.end[a] - off if amount != 0 else chain.end[a]
        else:
            for c in range(kinds):
                value = work.pairwise[c, a, b] - off if amount != 0 else chain.pairwise[c, a, b]
                work.pairwise[c, a, b] = value
                work.pairwise[kinds + c, b, a] = value


@helper
def shift_to(chain: Chain, work: Chain, effects: Effects, weights: Array, applied: Array) -> None:
    """Take Σ_j weights[j] · table_j off the working scores; `applied` are the weights that the transition
    scores had before."""
    off = np.zeros(len(chain.start))
    for j in range(len(weights)):
        if weights[j] != applied[j]:
            restep(chain, work, effects, j, weights[j] - applied[j])
            applied[j] = weights[j]
        if weights[j] != 0:
            for s in range(len(off)):
                off[s] += weights[j] * effects.bias[j, s]
    for t in range(len(chain.unary)):
        for s in range(len(off)):
            work.unary[t, s] = chain.unary[t, s] - off[s]


@helper(inline="always")
def cost_of(violations: Array, penalties: Array) -> float:
    """Σ penalty · violation, where 0 · inf is 0; what is in the scores already has the penalty 0."""
    total = 0.0
    for p in range(len(penalties)):
        if violations[0, p] > 0 and penalties[p] > 0:
            total += penalties[p] * violations[0, p]
    return total


@helper
def descend(task: Task, work: Chain, a: int, b: int, found: Found, n: int, multipliers: Array) -> int:
    """Tighten sequence n, of the tokens a … b−1: the runs; the best is left in found and multipliers."""
    unary, pairwise, start, end, offsets, kind, label_of = task.chain
    kind = kind[a:b] if kind.size else kind
    chain = Chain(unary[a:b], pairwise, start, end, offsets, kind, label_of)
    work = Chain(work.unary, work.pairwise, work.start, work.end, offsets, kind, label_of)
    sums, ceilings, length, width = task.ground.sums, task.ceilings, b - a, work.pairwise.shape[1]
    delta, reach = forbidden(1, width)[0], np.empty((length, width))
    path, labels = found.states[a:b].copy(), found.states[a:b].copy()
    n_counters = len(task.effects.bias)
    counts, amounts = np.zeros(n_counters, dtype=np.int64), np.empty(n_counters)
    weights, applied, zeros = np.zeros(n_counters), np.zeros(n_counters), np.zeros(len(ceilings))
    violations = np.empty((1, len(task.penalties)))
    x, trial, limits = np.empty(len(ceilings)), np.zeros(len(ceilings)), np.empty(len(ceilings))
    for k in range(len(limits)):
        limits[k] = limit_of(sums, k, length)
    value, score, least, done, state = found.bounds[n], found.scores[n], np.inf, 0, descent(task.spread)
    while True:
        for t in range(length):
            labels[t] = chain.label_of[path[t]]
        judge(labels, 0, length, task.first_token + a, task.ground, counts, violations, 0)
        amounts[:] = counts
        bound = value + dot(trial, limits)
        reached = value + dot(applied, amounts) - cost_of(violations, task.penalties)
        if reached > score:
            score = reached
            for t in range(length):
                found.states[a + t] = path[t]
        if note(state, bound):
            least = bound
            for k in range(len(trial)):
                multipliers[k] = trial[k]
        closed = score > -np.inf and least <= score + rounding.in_kernels(score)
        if done >= task.most_runs or closed:
            break
        totals(sums, amounts, x)
        for k in range(len(x)):
            x[k] -= limits[k]
        if not move(trial, x, ceilings, gap_to_close(state, bound, score)):
            break
        weigh(sums, trial, zeros, weights)
        shift_to(chain, work, task.effects, weights, applied)
        value = best_states(work, 0, length, delta, reach, path)
        done += 1
        if value == -np.inf:
            least = -np.inf
            break
    for j in range(n_counters if done else 0):
        restep(chain, work, task.effects, j, 0.0)
    found.bounds[n], found.scores[n] = least, score
    return done


@kernel
def softdd(task: Task, chosen: Array, found: Found, runs: Array, multipliers: Array) -> None:
    """Tighten the chosen sequences one after the other.

    runs[n], multipliers[n,K]    of the chosen ones: Viterbi runs made, the multipliers of the least bound
    """
    offsets = task.chain.offsets
    work = to_shift(task.chain, longest(offsets, np.arange(len(offsets) - 1)))
    for number in range(len(chosen)):
        n = chosen[number]
        runs[number] = descend(task, work, offsets[n], offsets[n + 1], found, n, multipliers[number])


@kernel
def shifted_chain(chain: Chain, sums: Sums, effects: Effects, multipliers: Array) -> tuple[Array, ...]:
    """The fields of the chain with what the multipliers take off."""
    work, weights = to_shift(chain, len(chain.unary)), np.zeros(len(effects.bias))
    weigh(sums, multipliers, np.zeros(len(multipliers)), weights)
    shift_to(chain, work, effects, weights, np.zeros(len(weights)))
    size = len(chain.start)
    pairwise = work.pairwise[: len(chain.pairwise), :size, :size].copy()
    return work.unary, pairwise, work.start, work.end, chain.offsets, chain.kind, chain.label_of
