"""Weights that learn from one sequence after the other: perceptron and AdaGrad, an epoch in one call.

    Data, order[n] ─ score ─→ scores[L, W] ─┬─ viterbi ──→ labels ───→ gold − best ──→ weights   (perceptron)
                                            └─ marginals → residual ─→ slope, steps ─→ weights   (adagrad)

A `Vector` has a number for each weight: state[F] for attributes with labels, and chain[Y·Y + 2·Y] for the
transitions [from, to], the starts and the ends; `Data.known` says which of the latter exist. What a batch
does not touch costs nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from conseq.kernels.chain import LANES as STATES
from conseq.kernels.chain import Chain, best_states, both_directions, forbidden, longest, padded
from conseq.kernels.compiled import Array, helper, kernel
from conseq.kernels.scaled import backward, forward, log_sum, lower_by_max
from conseq.kernels.vectors import LANES, flat, prefetch

AHEAD = 2
"""Tokens ahead whose weights are asked for."""

U = np.uint64
"""Unsigned, flat indices need no wrap-around check."""


class Data(NamedTuple):
    """N labelled sequences, none of them empty: T tokens, G groups, R rows, A attributes, Y labels."""

    offsets: Array  # [N+1]
    gold: Array  # [T]
    row_of: Array  # [T, G]
    indptr: Array  # [R+1] the entries of row r are indptr[r] … indptr[r+1]−1
    attr: Array
    value: Array
    feature: Array  # [A+1] the weights of attribute a are feature[a] … feature[a+1]−1
    label: Array  # [F]
    uses: Array  # [A] entries of all tokens that are this attribute
    known: Array  # [Y·Y + 2·Y] 1 where a weight exists, else 0
    n_sequences: int  # in all of the training data, of which this may be a part
    n_labels: int


class Vector(NamedTuple):
    """A number for each weight."""

    state: Array  # [F]
    chain: Array  # [Y·Y + 2·Y]


class Room(NamedTuple):
    """What the gradient of a batch is collected in; slope and times are 0 between batches."""

    slope: Vector
    times: Array  # [A] how many entries of the batch are this attribute
    touched: Array  # [A] the attributes that it has


@kernel
def parts(chain: Array, n_labels: int) -> tuple[Array, Array, Array]:
    """pairwise[1, Y, Y], start[Y] and end[Y] as views."""
    square = n_labels * n_labels
    pairwise = chain[:square].reshape((1, n_labels, n_labels))
    return pairwise, chain[square : square + n_labels], chain[square + n_labels :]


@helper
def score(data: Data, state: Array, a: int, b: int, scores: Array) -> None:
    """scores[t − a, y] = Σ over the entries of token t of value · weight(attribute, y), t in a … b−1."""
    row_of, indptr, attr, value = flat(data.row_of), data.indptr, data.attr, data.value
    feature, label, out = data.feature, data.label, flat(scores)
    groups, width, place = U(data.row_of.shape[1]), U(scores.shape[1]), U(0)
    for t in range(U(a), U(b)):
        if t + U(AHEAD) < U(b):
            ask(data, state, t + U(AHEAD))
        for y in range(place, place + width):
            out[y] = 0.0
        for g in range(t * groups, t * groups + groups):
            r = U(row_of[g])
            for k in range(U(indptr[r]), U(indptr[r + U(1)])):
                c, v = U(attr[k]), value[k]
                for f in range(U(feature[c]), U(feature[c + U(1)])):
                    out[place + U(label[f])] += v * state[f]
        place += width


@helper
def ask(data: Data, numbers: Array, t: Any) -> None:
    """Prefetch what a vector has for the weights of token t, and their labels."""
    row_of, indptr, groups = flat(data.row_of), data.indptr, U(data.row_of.shape[1])
    for g in range(t * groups, t * groups + groups):
        r = U(row_of[g])
        for k in range(U(indptr[r]), U(indptr[r + U(1)])):
            f = U(data.feature[U(data.attr[k])])
            prefetch(numbers, f)
            prefetch(data.label, f)


# ── the averaged perceptron ─────────────────────────────────────────────────────────────────────


@kernel
def perceptron(data: Data, order: Array, seen: int, weights: Vector, sums: Vector) -> int:
    """Go through the sequences `order`, after `seen` earlier ones; gives the number of wrong labels.

    w += events of the gold labels − events of the best labels;   u += seen · the same

    With w_1, …, w_n the weights after each sequence, (w_1 + … + w_n) / n = w_n − u / n (Collins 2002).
    """
    pairwise, start, end = parts(weights.chain, data.n_labels)
    most, width = longest(data.offsets, order), padded(data.n_labels, STATES)
    scores, found, kind = np.empty((most, data.n_labels)), np.empty(most, np.int32), np.empty(0, np.int32)
    delta, reach = forbidden(1, width)[0], np.empty((most, width))
    wrong = 0
    for n in order:
        a, b = data.offsets[n], data.offsets[n + 1]
        score(data, weights.state, a, b, scores)
        chain = Chain(scores, both_directions(pairwise), start, end, data.offsets, kind, kind)
        best_states(chain, 0, b - a, delta, reach, found)
        missed = 0
        for t in range(a, b):
            missed += found[t - a] != data.gold[t]
        if missed:
            correct(data, a, data.gold[a:b], found[: b - a], seen, weights, sums)
        wrong += missed
        seen += 1
    return wrong


@helper(inline="always")
def correct(data: Data, a: int, gold: Array, found: Array, seen: int, weights: Vector, sums: Vector) -> None:
    """Towards the gold labels of the tokens from a on, away from those found."""
    for t in range(gold.size):
        if found[t] != gold[t]:
            correct_token(data, a + t, found[t], seen, weights.state, sums.state)
    add_steps(data, gold, 1.0, weights.chain)
    add_steps(data, found, -1.0, weights.chain)
    add_steps(data, gold, seen, sums.chain)
    add_steps(data, found, -seen, sums.chain)


@helper(inline="always")
def correct_token(data: Data, t: int, wrong: int, seen: int, state: Array, sums: Array) -> None:
    indptr, attr, value, feature, label = data.indptr, data.attr, data.value, data.feature, data.label
    right = data.gold[t]
    for g in range(data.row_of.shape[1]):
        r = data.row_of[t, g]
        for k in range(indptr[r], indptr[r + 1]):
            for f in range(feature[attr[k]], feature[attr[k] + 1]):
                if label[f] == right:
                    state[f] += value[k]
                    sums[f] += seen * np.float64(value[k])
                elif label[f] == wrong:
                    state[f] -= value[k]
                    sums[f] -= seen * np.float64(value[k])


@helper
def add_steps(data: Data, labels: Array, factor: float, chain: Array) -> None:
    """chain[f] += factor for the start, the transitions and the end of a sequence with these labels."""
    n, known = data.n_labels, data.known
    start, end = n * n + labels[0], n * n + n + labels[labels.size - 1]
    chain[start] += factor * known[start]
    chain[end] += factor * known[end]
    for t in range(1, labels.size):
        move = labels[t - 1] * n + labels[t]
        chain[move] += factor * known[move]


# ── AdaGrad ─────────────────────────────────────────────────────────────────────────────────────


@kernel
def adagrad(
    data: Data, size: int, rate: float, c2: float, order: Array, weights: Vector, squares: Vector, room: Room
) -> float:
    """Go through the sequences `order` in batches of a size; gives Σ −log p(gold), each under the weights it
    met.

    h += g²;   w −= rate · g / √h      (Duchi et al. 2011); h, the squares, must begin above 0
    """
    loss = 0.0
    for first in range(0, order.size, size):
        batch = order[first : first + size]
        value, touched = gradient(data, c2, batch, weights, room)
        loss += value
        for place in range(touched):
            a = room.touched[place]
            room.times[a] = 0
            lo, hi = data.feature[a], data.feature[a + 1]
            step(rate, room.slope.state, squares.state, weights.state, lo, hi)
        step(rate, room.slope.chain, squares.chain, weights.chain, 0, weights.chain.size)
    return loss


@helper(error_model="numpy")
def step(rate: float, slope: Array, squares: Array, weights: Array, lo: int, hi: int) -> None:
    """One step of the weights lo … hi−1; leaves the slope at 0."""
    for f in range(U(lo), U(hi)):
        g = slope[f]
        squares[f] += g * g
        weights[f] -= rate * g / np.sqrt(squares[f])
        slope[f] = 0.0


@helper(inline="always")
def gradient(data: Data, c2: float, batch: Array, weights: Vector, room: Room) -> tuple[float, int]:
    """room.slope = the gradient of a batch; gives Σ −log p(gold) and how many attributes it touches.

    The objective of a sequence, one of N:

    −log p(y | x) + c2 · Σ over its entries of w(a, ·)² / uses(a) + c2 · Σ of the chain's w² / N

    Those of all sequences add up to −Σ log p + c2 ‖w‖², yet no sequence has to do with weights of attributes
    that it lacks.
    """
    n, width, most = data.n_labels, padded(data.n_labels, LANES), longest(data.offsets, batch)
    steps, scores, residual = np.arange(most + 1), np.zeros((most, width)), np.empty((most, width))
    alpha, scale = np.empty((most, width)), np.empty(most)
    matrix, back = np.zeros((width, width)), np.zeros((width, width))
    pairs, slope = np.zeros((width, width)), room.slope.chain
    pairwise, start, end = parts(weights.chain, n)
    top = exponential(pairwise, matrix, back)
    loss, touched = 0.0, 0
    for i in batch:
        a, b = data.offsets[i], data.offsets[i + 1]
        length, gold = b - a, data.gold[a:b]
        score(data, weights.state, a, b, scores)
        for y in range(n):
            scores[0, y] += start[y]
            scores[length - 1, y] += end[y]
        loss += lower_by_max(scores, gold, n, 0, length) + (length - 1) * top
        for t in range(length):
            for y in range(n):
                scores[t, y] = np.exp(scores[t, y])
        alone = steps[: length + 1]  # one sequence: every step has one row
        forward(alone, scores, matrix, n, alpha, scale)
        backward(alone, scores, back, n, alpha, scale, gold, residual, pairs)
        loss += log_sum(scale, 0, length)
        for t in range(1, length):
            move = gold[t - 1] * n + gold[t]
            loss -= weights.chain[move]
            slope[move] -= 1.0
        for y in range(n):
            slope[n * n + y] += residual[0, y]
            slope[n * n + n + y] += residual[length - 1, y]
        touched = collect(data, a, b, residual, room, touched)
    for x in range(n):
        for y in range(n):
            slope[x * n + y] += pairs[x, y] * matrix[x, y]
    penalise(data, c2, batch.size, touched, weights, room)
    return loss, touched


@helper(inline="always")
def exponential(pairwise: Array, matrix: Array, back: Array) -> float:
    """matrix[x, y] = exp(pairwise[0, x, y] − the largest), `back` its transpose; gives the largest."""
    n_labels, highest = pairwise.shape[1], pairwise[0, 0, 0]
    for x in range(n_labels):
        for y in range(n_labels):
            highest = max(highest, pairwise[0, x, y])
    for x in range(n_labels):
        for y in range(n_labels):
            matrix[x, y] = np.exp(pairwise[0, x, y] - highest)
            back[y, x] = matrix[x, y]
    return highest


@helper(inline="always")
def collect(data: Data, a: int, b: int, residual: Array, room: Room, touched: int) -> int:
    """Adds value · residual to the slopes of the weights of the tokens a … b−1; gives the attributes touched,
    of which `touched` were touched before."""
    row_of, indptr, attr, value = flat(data.row_of), data.indptr, data.attr, data.value
    feature, label, given = data.feature, data.label, flat(residual)
    slope, times = room.slope.state, room.times
    groups, width, place = U(data.row_of.shape[1]), U(residual.shape[1]), U(0)
    for t in range(U(a), U(b)):
        if t + U(AHEAD) < U(b):
            ask(data, slope, t + U(AHEAD))
        for g in range(t * groups, t * groups + groups):
            r = U(row_of[g])
            for k in range(U(indptr[r]), U(indptr[r + U(1)])):
                c, v = U(attr[k]), value[k]
                if times[c] == 0:
                    room.touched[touched] = c
                    touched += 1
                times[c] += 1
                for f in range(U(feature[c]), U(feature[c + U(1)])):
                    slope[f] += v * given[place + U(label[f])]
        place += width
    return touched


@helper(error_model="numpy")
def penalise(data: Data, c2: float, sequences: int, touched: int, weights: Vector, room: Room) -> None:
    """Adds the gradient of the batch's share of c2 ‖w‖²; what has no weight gets the slope 0."""
    chain, slope = weights.chain, room.slope.chain
    share = 2 * c2 * sequences / data.n_sequences
    for f in range(chain.size):
        slope[f] = data.known[f] * (slope[f] + share * chain[f])
    state, slope, feature = weights.state, room.slope.state, data.feature
    for place in range(touched):
        a = U(room.touched[place])
        share = 2 * c2 * room.times[a] / data.uses[a]
        for f in range(U(feature[a]), U(feature[a + U(1)])):
            slope[f] += share * state[f]
