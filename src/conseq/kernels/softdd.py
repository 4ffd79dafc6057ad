"""Soft-DD for many sequences (Anzaroot et al. 2014): Viterbi on scores that multipliers shift, until bound
and labelling meet.

    chain, rules (`violations.Rules`), chosen sequences and their Viterbi labellings
        ─→ multipliers[n,K], bounds[n], scores[n], states (the best labellings met), runs[n]

    D(λ) = max_y (score(y) − Σ_k λ_k·x_k(y)) + Σ_k λ_k·limit_k,   0 ≤ λ_k ≤ penalty_k

The scores are shifted counter by counter: score of a step − Σ_j w_j · table_j[step] with w_j = Σ_k λ_k ·
coef_kj; what a counter counts on every step into a state is taken off that state's emission scores instead.
Sums whose counters look at tokens get no multiplier; they are charged to the labellings all the same, and so
are automata.

Axes: T tokens, S states, J counters, K sums, P primitives.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conseq.kernels import rounding
from conseq.kernels.chain import both_directions, fill, longest, trace
from conseq.kernels.compiled import helper, kernel
from conseq.kernels.multipliers import descent, dot, gap_to_close, move, note, totals, weigh
from conseq.kernels.violations import Rules, Sums, judge, limit_of

Array = NDArray[Any]


class Scores(NamedTuple):
    """A chain, see `Potentials`."""

    unary: Array  # [T,S]
    pairwise: Array  # [C,S,S]
    start: Array  # [S]
    end: Array  # [S]


class Shifted(NamedTuple):
    """Transition scores that multipliers have shifted."""

    matrix: Array  # `chain.both_directions`
    start: Array  # [S]
    end: Array  # [S]


class Effects(NamedTuple):
    """Counter j counts bias[j,s] on every step into state s, and amounts[first[j]:first[j+1]] besides on its
    own steps, written as from · (S+1) + to with S for START and END."""

    bias: Array  # [J,S]
    first: Array  # [J+1]
    steps: Array
    amounts: Array


class Charges(NamedTuple):
    """What violations cost; 0 for what is in the scores already."""

    penalties: Array  # [P]
    ceilings: Array  # [K], how far the multiplier of a sum may rise


class Room(NamedTuple):
    """Memory that all sequences share."""

    delta: Array
    reach: Array
    tokens: Array
    path: Array
    labels: Array


class Task(NamedTuple):
    """What is the same for all sequences."""

    scores: Scores
    label_of: Array  # [S]
    first_token: int  # where the first sequence begins in the rules' corpus
    rules: Rules
    charges: Charges
    effects: Effects
    most_runs: int
    spread: float  # how far below the bound to aim at first


class Found(NamedTuple):
    """Of all sequences: at first what Viterbi found, then the best."""

    states: Array  # [T]
    bounds: Array  # [N]
    scores: Array  # [N]


@helper
def restep(scores: Scores, work: Shifted, effects: Effects, j: int, amount: float) -> None:
    """Take amount · table_j off the steps that a bias cannot express; an amount of 0 restores their
    scores."""
    size, kinds = len(scores.start), len(scores.pairwise)
    for i in range(effects.first[j], effects.first[j + 1]):
        a, b = effects.steps[i] // (size + 1), effects.steps[i] % (size + 1)
        off = amount * effects.amounts[i]
        if a == size:
            work.start[b] = work.start[b] - off if amount != 0 else scores.start[b]
        elif b == size:
            work.end[a] = work.end[a] - off if amount != 0 else scores.end[a]
        else:
            for c in range(kinds):
                value = work.matrix[c, a, b] - off if amount != 0 else scores.pairwise[c, a, b]
                work.matrix[c, a, b] = value
                work.matrix[kinds + c, b, a] = value


@helper
def rebias(unary: Array, a: int, b: int, bias: Array, weights: Array, tokens: Array) -> None:
    """tokens[t,s] = unary[a+t,s] − Σ_j weights[j] · bias[j,s]."""
    off = np.zeros(unary.shape[1])
    for j in range(len(weights)):
        if weights[j] != 0:
            for s in range(len(off)):
                off[s] += weights[j] * bias[j, s]
    for t in range(b - a):
        for s in range(len(off)):
            tokens[t, s] = unary[a + t, s] - off[s]


@helper(inline="always")
def best_path(work: Shifted, kind: Array, length: int, room: Room) -> float:
    """Viterbi on the working scores; room.path[:length] is filled in."""
    fill(room.tokens, work.matrix, work.start, kind, 0, length, room.delta, room.reach)
    best, score = -1, -np.inf
    for j in range(len(work.end)):
        if room.delta[j] + work.end[j] > score:
            best, score = j, room.delta[j] + work.end[j]
    room.path[length - 1] = best
    if best >= 0:
        trace(room.tokens, work.matrix, kind, 0, length, room.reach, room.path)
    return score


@helper(inline="always")
def cost_of(violations: Array, penalties: Array) -> float:
    """Σ penalty · violation, where 0 · inf is 0; what is in the scores already has the penalty 0."""
    total = 0.0
    for p in range(len(penalties)):
        if violations[0, p] > 0 and penalties[p] > 0:
            total += penalties[p] * violations[0, p]
    return total


@helper(inline="always")
def shift_to(
    task: Task, work: Shifted, weights: Array, applied: Array, a: int, b: int, tokens: Array
) -> None:
    """Let the working scores of the tokens a … b−1 have Σ_j weights[j] · table_j taken off; `applied` are the
    weights that the transition scores had before."""
    for j in range(len(weights)):
        if weights[j] != applied[j]:
            restep(task.scores, work, task.effects, j, weights[j] - applied[j])
            applied[j] = weights[j]
    rebias(task.scores.unary, a, b, task.effects.bias, weights, tokens)


@helper
def descend(
    task: Task,
    work: Shifted,
    kind: Array,
    a: int,
    b: int,
    room: Room,
    found: Found,
    n: int,
    multipliers: Array,
) -> int:
    """Tighten sequence n, of the tokens a … b−1: the runs; the best is left in found and multipliers."""
    ceilings, n_counters = task.charges.ceilings, len(task.effects.bias)
    counts, amounts = np.zeros(max(1, n_counters), dtype=np.int64), np.empty(max(1, n_counters))
    weights, applied, zeros = np.zeros(n_counters), np.zeros(n_counters), np.zeros(len(ceilings))
    violations = np.empty((1, len(task.charges.penalties)))
    x, trial, limits = np.empty(len(ceilings)), np.zeros(len(ceilings)), np.empty(len(ceilings))
    for k in range(len(limits)):
        limits[k] = limit_of(task.rules.sums, k, b - a)
    for t in range(b - a):
        room.path[t] = found.states[a + t]
    value, score, least, done, state = found.bounds[n], found.scores[n], np.inf, 0, descent(task.spread)
    while True:
        for t in range(b - a):
            room.labels[t] = task.label_of[room.path[t]]
        judge(room.labels, 0, b - a, task.first_token + a, task.rules, counts, violations, 0)
        amounts[:] = counts
        bound = value + dot(trial, limits)
        reached = value + dot(applied, amounts) - cost_of(violations, task.charges.penalties)
        if reached > score:
            score = reached
            for t in range(b - a):
                found.states[a + t] = room.path[t]
        if note(state, bound):
            least = bound
            for k in range(len(trial)):
                multipliers[k] = trial[k]
        closed = score > -np.inf and least <= score + rounding.in_kernels(score)
        if done >= task.most_runs or closed:
            break
        totals(task.rules.sums, amounts, x)
        for k in range(len(x)):
            x[k] -= limits[k]
        if not move(trial, x, zeros, ceilings, gap_to_close(state, bound, score)):
            break
        weigh(task.rules.sums, trial, zeros, weights)
        shift_to(task, work, weights, applied, a, b, room.tokens)
        value = best_path(work, kind, b - a, room)
        done += 1
        if value == -np.inf:
            least = -np.inf
            break
    for j in range(n_counters if done else 0):
        restep(task.scores, work, task.effects, j, 0.0)
    found.bounds[n], found.scores[n] = least, score
    return done


@kernel
def softdd(
    task: Task, offsets: Array, kind: Array, chosen: Array, found: Found, runs: Array, multipliers: Array
) -> None:
    """Tighten the chosen sequences one after the other.

    runs[n], multipliers[n,K]    of the chosen ones: Viterbi runs made, the multipliers of the least bound
    """
    scores = task.scores
    matrix = both_directions(scores.pairwise)
    work = Shifted(matrix, scores.start.copy(), scores.end.copy())
    most = longest(offsets, 0, len(offsets) - 1)
    delta, reach = np.empty(matrix.shape[1]), np.empty((most, matrix.shape[1]))
    for j in range(len(delta)):
        delta[j] = -np.inf
    path, labels = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int32)
    room = Room(delta, reach, np.empty((most, len(scores.start))), path, labels)
    for number in range(len(chosen)):
        n = chosen[number]
        a, b = offsets[n], offsets[n + 1]
        kinds = kind[a:b] if kind.size else kind
        runs[number] = descend(task, work, kinds, a, b, room, found, n, multipliers[number])


@kernel
def shifted_chain(scores: Scores, sums: Sums, effects: Effects, multipliers: Array) -> Scores:
    """The scores with what the multipliers take off."""
    kinds, size = len(scores.pairwise), len(scores.start)
    matrix = both_directions(scores.pairwise)
    work = Shifted(matrix, scores.start.copy(), scores.end.copy())
    tokens, weights = np.empty(scores.unary.shape), np.zeros(len(effects.bias))
    weigh(sums, multipliers, np.zeros(len(multipliers)), weights)
    rebias(scores.unary, 0, len(scores.unary), effects.bias, weights, tokens)
    for j in range(len(weights)):
        if weights[j] != 0:
            restep(scores, work, effects, j, weights[j])
    return Scores(tokens, matrix[:kinds, :size, :size].copy(), work.start, work.end)
