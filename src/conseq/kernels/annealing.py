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
    """Sums, each with its total for the labelling."""

    size: int  # Y + 1
    counters: Counters
    first: Array  # [J+1], where the sums of each counter begin in
    uses: Array  # [·,2]: sum, coefficient
    limits: Array  # [R]
    weights: Array  # [R], what a unit of violation costs
    totals: Array  # [R]


@helper
def add(sums: Totals, before: int, label: int, token: int, is_end: bool, sign: float) -> float:
    """Add what a step counts to the totals, or take it off; what the violations cost more then."""
    pairs, moves, masks = sums.counters.pairs, sums.counters.moves, sums.counters.masks
    more, step = 0.0, before * sums.size + label
    for k in range(pairs[step], pairs[step + 1]):
        mask = moves[k, 2]
        if mask < 0 or (not is_end and masks[mask, token]):
            for i in range(sums.first[moves[k, 0]], sums.first[moves[k, 0] + 1]):
                r = sums.uses[i, 0]
                beyond = sums.totals[r] - sums.limits[r]
                amount = sign * sums.uses[i, 1] * moves[k, 1]
                more += sums.weights[r] * (max(0.0, beyond + amount) - max(0.0, beyond))
                sums.totals[r] += amount
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
    pairwise, kind, unary, label_of, sizes = (
        chain.pairwise,
        chain.kind,
        chain.unary,
        chain.label_of,
        machines.sizes,
    )
    (length, size), end, groups = unary.shape, sums.size - 1, 1
    completions(machines, states, ahead)
    for m in range(len(sizes)):
        groups = max(groups, sizes[m, GROUPS])
    nodes, gains, value = np.zeros(len(sizes), dtype=np.int64), np.empty(groups), np.empty(unary.shape[1])
    for r in range(len(sums.totals)):
        sums.totals[r] = 0.0
    before, more = end, 0.0
    for t in range(length + 1):
        label = label_of[states[t]] if t < length else end
        add(sums, before, label, first_token + t, t == length, 1.0)
        before = label
    before = end
    for t in range(length):
        known, is_last = states[t], t + 1 == length
        label, after = label_of[known], end if is_last else label_of[states[t + 1]]
        add(sums, before, label, first_token + t, False, -1.0)
        add(sums, label, after, first_token + t + 1, is_last, -1.0)
        c, then = (kind[t], kind[t if is_last else t + 1]) if kind.size else (0, 0)
        for s in range(size):
            value[s] = unary[t, s] + (pairwise[c, states[t - 1], s] if t > 0 else chain.start[s])
            value[s] += chain.end[s] if is_last else pairwise[then, s, states[t + 1]]
            if value[s] > -np.inf:
                label = label_of[s]
                value[s] -= add(sums, before, label, first_token + t, False, 1.0)
                value[s] -= add(sums, label, after, first_token + t + 1, is_last, 1.0)
                add(sums, before, label, first_token + t, False, -1.0)
                add(sums, label, after, first_token + t + 1, is_last, -1.0)
        for i in range(machines.first[t], machines.first[t + 1]):
            at = entry(machines, machines.at_token[i])
            arc = at.arcs + nodes[at.machine] * at.groups
            least, most = np.inf, -np.inf
            for g in range(at.groups):
                gains[g] = machines.gain[arc + g] + ahead[at.after + machines.target[arc + g]]
                gains[g] *= weights[at.machine]
                least, most = min(least, gains[g]), max(most, gains[g])
            for s in range(size if least < most else 0):
                value[s] += gains[machines.group_of[at.grouping, s]]
        best = known
        for s in range(size):
            if value[s] + noise[t, s] > value[best] + noise[t, best]:
                best = s
        more += value[best] - value[known]
        states[t], label = best, label_of[best]
        add(sums, before, label, first_token + t, False, 1.0)
        add(sums, label, after, first_token + t + 1, is_last, 1.0)
        before = label
        for i in range(machines.first[t], machines.first[t + 1]):
            at = entry(machines, machines.at_token[i])
            arc = at.arcs + nodes[at.machine] * at.groups + machines.group_of[at.grouping, best]
            nodes[at.machine] = machines.target[arc]
    return more
