"""Soft-DD for many sequences: Viterbi on scores that multipliers shift, until bound and labelling meet.

    chain, rules (counters, sums and automata of `tally.py`), chosen sequences and their Viterbi labellings
        ─→ multipliers[n,K], bounds[n], scores[n], states (the best labellings met), runs[n]

    D(λ) = max_y (score(y) − Σ_k λ_k·x_k(y)) + Σ_k λ_k·limit_k,   0 ≤ λ_k ≤ penalty_k

The scores are shifted counter by counter: score of a step − Σ_j w_j · table_j[step] with w_j = Σ_k λ_k ·
coef_kj; what a counter counts on every step into a state is taken off that state's unary scores instead.
Sums whose counters look at tokens, or that are charged once, get no multiplier; they are charged to the
labellings all the same, and so are automata.

Axes: T tokens, S states, J counters, K sums, P primitives.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from conseq.kernels.chain import both_ways, fill, longest, trace
from conseq.kernels.multipliers import PATIENCE, dot, move, values, weigh
from conseq.kernels.tally import judge, limit_of

Array = NDArray[Any]
Counters = tuple[Array, Array, Array]
Sums = tuple[Array, Array, Array]
Automata = tuple[Array, Array, Array, Array, Array]


@njit(nogil=True, cache=True)
def restep(
    chain: tuple[Array, Array, Array, Array],
    work: tuple[Array, Array, Array],
    moves: tuple[Array, Array, Array, Array],
    j: int,
    amount: float,
) -> None:
    """Take amount · table_j off the steps that a bias cannot express; an amount of 0 restores their scores.

    chain = unary, pairwise, start, end;  work = matrix (`both_ways`), start, end;  moves = bias[J,S], first,
    steps, amounts: counter j counts bias[j,s] on every step into state s, and the amounts besides on its own
    steps, written as from · (S+1) + to with S for START and END.
    """
    _, pairwise, start, end = chain
    matrix, begin, finish = work
    _, first, steps, amounts = moves
    size, kinds = len(start), len(pairwise)
    for i in range(first[j], first[j + 1]):
        a, b = steps[i] // (size + 1), steps[i] % (size + 1)
        off = amount * amounts[i]
        if a == size:
            begin[b] = begin[b] - off if amount != 0 else start[b]
        elif b == size:
            finish[a] = finish[a] - off if amount != 0 else end[a]
        else:
            for c in range(kinds):
                value = matrix[c, a, b] - off if amount != 0 else pairwise[c, a, b]
                matrix[c, a, b] = value
                matrix[kinds + c, b, a] = value


@njit(nogil=True, cache=True)
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


@njit(nogil=True, cache=True)
def best_path(
    tokens: Array,
    work: tuple[Array, Array, Array],
    kind: Array,
    length: int,
    delta: Array,
    reach: Array,
    path: Array,
) -> float:
    """Viterbi on the working scores; path[:length] is filled in."""
    matrix, begin, finish = work
    fill(tokens, matrix, begin, kind, 0, length, delta, reach)
    best, score = -1, -np.inf
    for j in range(len(finish)):
        if delta[j] + finish[j] > score:
            best, score = j, delta[j] + finish[j]
    path[length - 1] = best
    if best >= 0:
        trace(tokens, matrix, kind, 0, length, reach, path)
    return score


@njit(nogil=True, cache=True)
def cost_of(violations: Array, penalties: Array) -> float:
    """Σ penalty · violation, where 0 · inf is 0; what is in the scores already has the penalty 0."""
    total = 0.0
    for p in range(len(penalties)):
        if violations[0, p] > 0 and penalties[p] > 0:
            total += penalties[p] * violations[0, p]
    return total


@njit(nogil=True, cache=True)
def descend(
    chain: tuple[Array, Array, Array, Array],
    work: tuple[Array, Array, Array],
    kind: Array,
    a: int,
    b: int,
    judging: tuple[Array, int, int, Counters, Sums, Automata],
    prices: tuple[Array, Array],
    moves: tuple[Array, Array, Array, Array],
    most_runs: int,
    spread: float,
    room: tuple[Array, Array, Array, Array, Array],
    bound: float,
    score: float,
    states: Array,
    multipliers: Array,
) -> tuple[float, float, int]:
    """Tighten the sequence of the tokens a … b−1: the least bound, the score of the best labelling, the runs.

    bound, score and states come in as those of Viterbi; states and multipliers leave as the best. `judging`
    is what `tally.judge` wants; `room` is memory: delta, reach, tokens, path, labels.
    """
    label_of, size, token, counters, sums, automata = judging
    penalties, ceilings = prices
    delta, reach, tokens, path, labels = room
    bias = moves[0]
    counts = np.zeros(max(1, len(bias)), dtype=np.int64)
    weights, applied, nothing = np.zeros(len(bias)), np.zeros(len(bias)), np.zeros(len(ceilings))
    violations = np.empty((1, len(penalties)))
    x, trial, limits = np.empty(len(ceilings)), np.zeros(len(ceilings)), np.empty(len(ceilings))
    for k in range(len(limits)):
        limits[k] = limit_of(sums[2], k, b - a)
    path[: b - a] = states[a:b]
    shifted, least, step, idle, done = bound, np.inf, 1.0, 0, 0
    while True:
        for t in range(b - a):
            labels[t] = label_of[path[t]]
        judge(labels, 0, b - a, token + a, size, counters, sums, automata, counts, violations, 0)
        value = shifted + dot(trial, limits)
        reached = shifted + dot(applied, counts) - cost_of(violations, penalties)
        if reached > score:
            score = reached
            states[a:b] = path[: b - a]
        if value < least - 1e-9 * (1 + abs(value)):
            spread, idle = 2 * spread if done > 0 else spread, 0
        else:
            idle += 1
        if value < least:
            least = value
            multipliers[:] = trial
        closed = score > -np.inf and least <= score + 1e-9 * (1 + abs(score))
        if done >= most_runs or closed:
            break
        if idle >= PATIENCE:
            step, spread, idle = step / 2, spread / 2, 0
        values(sums, counts, x)
        if not move(trial, x, limits, ceilings, step * (value - max(score, least - spread))):
            break
        weigh(sums, trial, nothing, weights)
        for j in range(len(bias)):
            if weights[j] != applied[j]:
                restep(chain, work, moves, j, weights[j] - applied[j])
                applied[j] = weights[j]
        rebias(chain[0], a, b, bias, weights, tokens)
        shifted = best_path(tokens, work, kind, b - a, delta, reach, path)
        done += 1
        if shifted == -np.inf:
            least = -np.inf
            break
    if done:
        for j in range(len(bias)):
            restep(chain, work, moves, j, 0.0)
    return least, score, done


@njit(nogil=True, cache=True)
def softdd(
    chain: tuple[Array, Array, Array, Array],
    offsets: Array,
    kind: Array,
    judging: tuple[Array, int, int, Counters, Sums, Automata],
    prices: tuple[Array, Array],
    moves: tuple[Array, Array, Array, Array],
    chosen: Array,
    most_runs: int,
    spread: float,
    states: Array,
    bounds: Array,
    scores: Array,
    runs: Array,
    multipliers: Array,
) -> None:
    """Tighten the chosen sequences one after the other.

    judging    label_of[S], Y + 1, the place of the first token, counters, sums, automata: see `tally.judge`
    prices     penalties[P] (0 for what is in the scores already) and ceilings[K] of the multipliers
    moves      see `restep`
    spread     how far below the bound to aim at first; twice as far whenever the bound falls
    states, bounds, scores       of all sequences: at first those of Viterbi, then the best
    runs[n], multipliers[n,K]    of the chosen ones: Viterbi runs made, the multipliers of the least bound
    """
    _, pairwise, start, end = chain
    matrix = both_ways(pairwise)
    work = (matrix, start.copy(), end.copy())
    most = longest(offsets, 0, len(offsets) - 1)
    delta, reach = np.full(matrix.shape[1], -np.inf), np.empty((most, matrix.shape[1]))
    path, labels = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int32)
    room = (delta, reach, np.empty((most, len(start))), path, labels)
    for number in range(len(chosen)):
        n = chosen[number]
        a, b = offsets[n], offsets[n + 1]
        kinds = kind[a:b] if kind.size else kind
        bounds[n], scores[n], runs[number] = descend(
            chain,
            work,
            kinds,
            a,
            b,
            judging,
            prices,
            moves,
            most_runs,
            spread,
            room,
            bounds[n],
            scores[n],
            states,
            multipliers[number],
        )


@njit(nogil=True, cache=True)
def shifted_chain(
    chain: tuple[Array, Array, Array, Array],
    sums: tuple[Array, Array, Array],
    moves: tuple[Array, Array, Array, Array],
    multipliers: Array,
) -> tuple[Array, Array, Array, Array]:
    """unary, pairwise, start and end with what the multipliers take off."""
    unary, pairwise, start, end = chain
    bias, first, steps, amounts = moves
    between, begin, finish = pairwise.copy(), start.copy(), end.copy()
    size = len(start)
    tokens = np.empty(unary.shape)
    weights = np.zeros(len(bias))
    weigh(sums, multipliers, np.zeros(len(multipliers)), weights)
    rebias(unary, 0, len(unary), bias, weights, tokens)
    for j in range(len(weights)):
        for i in range(first[j], first[j + 1]):
            a, b = steps[i] // (size + 1), steps[i] % (size + 1)
            off = weights[j] * amounts[i]
            if a == size:
                begin[b] -= off
            elif b == size:
                finish[a] -= off
            else:
                for c in range(len(pairwise)):
                    between[c, a, b] -= off
    return tokens, between, begin, finish
