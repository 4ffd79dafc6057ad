"""The best sequence of label groups under one deterministic automaton and rewards for each token.

    symbols[K,G+1,G+1], open[G+1,G+1], classes[T], next[Q,A], price[Q,A], reward[T,G], wish[T]
        ─→ groups[T], value = max_z Σ_t reward[t,z_t] − Σ price         read_best
        ─→ rests[T,Q,G]: the same for what comes after token t          fill_rests

    W labellings that end in groups last[W] and states before[W], extended by every one of S chain states
        ─→ values[W,S] charged, ranks[W,S], after[W,S]                  follow

Axes: T tokens, G groups of labels (index G: START or END), K classes of tokens, Q states, A symbols.
A deterministic automaton has Q · G · G arcs per token, far fewer than the (Q · G)² of any chain.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[Any]


@njit(nogil=True, cache=True)
def keep_better(
    values: Array, agrees: Array, back: Array, t: int, q: int, h: int, value: float, agree: int, origin: int
) -> None:
    """Keep the better of two ways to state q and group h; of equal ones that which follows the wish more."""
    if value > values[q, h] or (value == values[q, h] and value > -np.inf and agree > agrees[q, h]):
        values[q, h] = value
        agrees[q, h] = agree
        back[t, q, h] = origin


@njit(nogil=True, cache=True)
def advance(
    symbols: Array,
    open_: Array,
    next_: Array,
    price: Array,
    reward: Array,
    wish: Array,
    t: int,
    kind: int,
    old: tuple[Array, Array],
    new: tuple[Array, Array],
    back: Array,
) -> None:
    """One token: from every state and group to every group."""
    groups = reward.shape[1]
    for q in range(len(next_)):
        for h in range(groups):
            new[0][q, h] = -np.inf
    for q in range(len(next_)):
        for g in range(groups):
            if old[0][q, g] == -np.inf:
                continue
            for h in range(groups):
                if open_[g, h]:
                    symbol = symbols[kind, g, h]
                    value = old[0][q, g] - price[q, symbol] + reward[t, h]
                    agree = old[1][q, g] + (1 if wish[t] == h else 0)
                    keep_better(new[0], new[1], back, t, next_[q, symbol], h, value, agree, q * groups + g)


@njit(nogil=True, cache=True)
def read_best(
    symbols: Array,
    open_: Array,
    classes: Array,
    next_: Array,
    price: Array,
    start: int,
    reward: Array,
    wish: Array,
    groups: Array,
) -> float:
    """Fill groups[T] (T ≥ 1) with the best sequence and give its value; −inf if there is none.

    Of equally good ones that which agrees with wish[T] at the most tokens.
    """
    length, size = reward.shape
    states = len(next_)
    old = (np.empty((states, size)), np.zeros((states, size), dtype=np.int64))
    new = (np.empty((states, size)), np.zeros((states, size), dtype=np.int64))
    back = np.empty((length, states, size), dtype=np.int32)
    old[0][:] = -np.inf
    for h in range(size):
        if open_[size, h]:
            symbol = symbols[classes[0], size, h]
            value = reward[0, h] - price[start, symbol]
            agree = 1 if wish[0] == h else 0
            keep_better(old[0], old[1], back, 0, next_[start, symbol], h, value, agree, 0)
    for t in range(1, length):
        advance(symbols, open_, next_, price, reward, wish, t, classes[t], old, new, back)
        old, new = new, old
    best, most, at = -np.inf, -1, 0
    for q in range(states):
        for g in range(size):
            if open_[g, size] and old[0][q, g] > -np.inf:
                value = old[0][q, g] - price[q, symbols[0, g, size]]
                if value > best or (value == best and value > -np.inf and old[1][q, g] > most):
                    best, most, at = value, old[1][q, g], q * size + g
    if best > -np.inf:
        for t in range(length - 1, -1, -1):
            groups[t] = at % size
            at = back[t, at // size, at % size]
    return best


@njit(nogil=True, cache=True)
def fill_rests(
    symbols: Array,
    open_: Array,
    classes: Array,
    next_: Array,
    price: Array,
    reward: Array,
    rests: Array,
) -> None:
    """rests[t,q,g] = the most that tokens t+1 … and END can give, in state q after group g at token t."""
    length, size = reward.shape
    for q in range(len(next_)):
        for g in range(size):
            ends = -price[q, symbols[0, g, size]] if open_[g, size] else -np.inf
            rests[length - 1, q, g] = ends
    for t in range(length - 2, -1, -1):
        for q in range(len(next_)):
            for g in range(size):
                best = -np.inf
                for h in range(size):
                    if open_[g, h]:
                        symbol = symbols[classes[t + 1], g, h]
                        after = rests[t + 1, next_[q, symbol], h]
                        best = max(best, reward[t + 1, h] - price[q, symbol] + after)
                rests[t, q, g] = best


@njit(nogil=True, cache=True)
def follow(
    symbols: Array,
    last: Array,
    group_of: Array,
    before: Array,
    next_: Array,
    price: Array,
    rests: Array,
    values: Array,
    ranks: Array,
    after: Array,
) -> None:
    """Let the automaton read one token: symbols[G+1,G+1] and rests[Q,G] are those of the token.

    Its prices are taken off values and ranks, what it can still give is added to ranks.
    """
    for w in range(len(last)):
        q = before[w]
        for s in range(len(group_of)):
            symbol = symbols[last[w], group_of[s]]
            state = next_[q, symbol]
            after[w, s] = state
            values[w, s] -= price[q, symbol]
            ranks[w, s] += rests[state, group_of[s]] - price[q, symbol]
