"""Labels drawn anew, token by token, each by what all scores and rules make of it given the other labels.

    states[L], temperature · noise[L,S] ─→ sweep ─→ states[L] of another labelling, by how much it scores more

Gibbs sampling (Geman and Geman 1984): with Gumbel noise on the scores of all labels the best one is a draw
in proportion to exp(score / temperature). Of sums the total is known, of automata the node that the tokens
before lead to, and what the tokens after charge from each node on; so a label costs a look at the rules that
read the token, however long the text is.

Axes: L tokens, S states, J counters, R sums, M machines, Y labels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from conseq.kernels.chain import Chain
from conseq.kernels.compiled import Array, helper, kernel
from conseq.kernels.messages import FINAL, GROUPS, LAST, NODES, Machines, entry
from conseq.kernels.violations import Counters


class Totals(NamedTuple):
    """Sums, and how far each is beyond its limit."""

    size: int  # Y + 1
    counters: Counters
    first: Array  # [J+1], where the sums of each counter begin in
    uses: Array  # [·,2]: sum, coefficient
    weights: Array  # [R], what a unit of violation costs
    beyond: Array  # [R], below 0 for sums within their limits


@helper
def place(sums: Totals, before: int, label: int, after: int, token: int, sign: float) -> float:
    """Add what the steps into a label and from it to the next one count, or take it off; what violations cost
    more then."""
    pairs, moves, masks = sums.counters.pairs, sums.counters.moves, sums.counters.masks
    more = 0.0
    for at in range(token, token + 2):
        step = before * sums.size + label if at == token else label * sums.size + after
        is_end = at > token and after + 1 == sums.size
        for k in range(pairs[step], pairs[step + 1]):
            j, mask = moves[k, 0], moves[k, 2]
            if mask < 0 or (not is_end and masks[mask, at]):
                for i in range(sums.first[j], sums.first[j + 1]):
                    r, amount = sums.uses[i, 0], sign * sums.uses[i, 1] * moves[k, 1]
                    then = sums.beyond[r] + amount
                    more += sums.weights[r] * (max(0.0, then) - max(0.0, sums.beyond[r]))
                    sums.beyond[r] = then
    return more


@helper(inline="always")
def completions(machines: Machines, states: Array, ahead: Array) -> None:
    """ahead[cells] = what each machine gains from each node on, with the labels as they are."""
    sizes = machines.sizes
    for m in range(len(sizes)):
        for n in range(sizes[m, NODES]):
            ahead[sizes[m, LAST] + n] = machines.final[sizes[m, FINAL] + n]
    for e in range(len(machines.token) - 1, -1, -1):
        at = entry(machines, e)
        arc = at.arcs + machines.group_of[at.grouping, states[machines.token[e]]]
        for n in range(at.nodes):
            i = arc + n * at.groups
            ahead[at.cells + n] = machines.gain[i] + ahead[at.after + machines.target[i]]


@kernel
def sweep(
    chain: Chain,
    first_token: int,
    sums: Totals,
    machines: Machines,
    weights: Array,
    noise: Array,
    states: Array,
    ahead: Array,
) -> float:
    """Draw the label of each token anew, from left to right; by how much the labelling scores more.

    weights[M]    what a unit of violation costs; the machines charge units
    ahead         scratch, as many as the machines have cells
    """
    unary, pairwise, kind, label_of, more = chain.unary, chain.pairwise, chain.kind, chain.label_of, 0.0
    (length, size), end, groups, before = unary.shape, sums.size - 1, 1, sums.size - 1
    completions(machines, states, ahead)
    for m in range(len(weights)):
        groups = max(groups, machines.sizes[m, GROUPS])
    nodes, gains, value = np.zeros(len(weights), dtype=np.int64), np.empty(groups), np.empty(size)
    for t in range(length):
        best, is_last, token = states[t], t + 1 == length, first_token + t
        after = end if is_last else label_of[states[t + 1]]
        place(sums, before, label_of[best], after, token, -1.0)
        c, then = (kind[t], kind[t if is_last else t + 1]) if kind.size else (0, 0)
        for s in range(size):
            value[s] = unary[t, s] + (pairwise[c, states[t - 1], s] if t > 0 else chain.start[s])
            value[s] += chain.end[s] if is_last else pairwise[then, s, states[t + 1]]
            if value[s] > -np.inf:
                value[s] -= place(sums, before, label_of[s], after, token, 1.0)
                place(sums, before, label_of[s], after, token, -1.0)
        for i in range(machines.first[t], machines.first[t + 1]):
            at = entry(machines, machines.at_token[i])
            arc, least, most = at.arcs + nodes[at.machine] * at.groups, np.inf, -np.inf
            for g in range(at.groups):
                gained = machines.gain[arc + g] + ahead[at.after + machines.target[arc + g]]
                gains[g] = weights[at.machine] * gained
                least, most = min(least, gains[g]), max(most, gains[g])
            for s in range(size if least < most else 0):
                value[s] += gains[machines.group_of[at.grouping, s]]
        more -= value[best]
        for s in range(size):
            if value[s] + noise[t, s] > value[best] + noise[t, best]:
                best = s
        more += value[best]
        states[t] = best
        place(sums, before, label_of[best], after, token, 1.0)
        before = label_of[best]
        for i in range(machines.first[t], machines.first[t + 1]):
            at = entry(machines, machines.at_token[i])
            g = machines.group_of[at.grouping, best]
            nodes[at.machine] = machines.target[at.arcs + nodes[at.machine] * at.groups + g]
    return more
