"""Scores shared out between a chain and the automata that read along, so that all agree on the best labels.

    unary[L,S], machines ─→ exchange, batch by batch, forwards and backwards ─→ an upper bound that falls
                         ─→ what states can still reach: those below the floor are left out
                         ─→ prefixes of labellings with what they can reach at most, for a beam
                         ─→ one labelling that is good for all

Sequential tree-reweighted message passing (Kolmogorov 2006). With the scores of states split in any way,

    max_y score(y) ≤ max_y (chain(y) + Σ_t unary[t,y_t]) + Σ_m max_z (Σ_t told_m[t,z_t] − cost_m(z))

Here the chain first takes over what a machine knows of a token, its max-marginals of groups of states, then
gives a share of its own back: neither step can raise the bound. As tokens follow each other in order, what
was learned at one reaches all that follow in the same pass.

A machine has an *entry* for each token that it reads, and stays as it is at the others; machines that read
little exchange with the chain in one pass. Memory and time grow with the tokens and the entries.

Axes: L tokens, S states, W = S padded (`kernels/chain.py`), M machines, E entries, N nodes and G groups of a
machine, K prefixes, A states that are left.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from conseq.kernels.chain import advance_max, forbidden
from conseq.kernels.compiled import Array, helper, kernel

NODES, GROUPS, ARCS, FINAL, GROUPING, TOLD, CELLS, LAST = range(8)
"""Columns of `Machines.sizes`: two numbers; where tables, scores, cells and the last row of cells begin."""


class Machines(NamedTuple):
    """Automata that read groups of states; each begins in its node 0. Equal ones share their tables.

    Entries are numbered machine by machine, in the order of tokens. A machine has a row of cells, one for
    each node, before its first entry and after each.
    """

    sizes: Array  # [M,8]
    target: Array  # at ARCS + (class · N + node) · G + group: the node after it
    gain: Array  # the same: −penalty · violation
    final: Array  # at FINAL + node: what END gains
    group_of: Array  # [·,S], row GROUPING
    begins: Array  # [M+1], the entries of each
    token: Array  # [E]
    class_of: Array  # [E], of tokens
    owner: Array  # [E], the machine
    in_batch: Array  # [E]: entries, batch by batch in the order of tokens
    at_token: Array  # [E]: entries in the order of tokens
    first: Array  # [L+1], where those of each token begin in `at_token`


class Scores(NamedTuple):
    """Scores as they are split, and the best prefixes and completions of the chain."""

    unary: Array  # [L,S], what the chain keeps; −inf where a state is left out
    told: Array  # at TOLD + entry · G + group: what machines are told
    before: Array  # [L,W], the best prefix up to the step into a state
    after: Array  # [L,W], the best completion of a state
    values: Array  # [M+1], the best of each machine; of the chain
    reached: Array  # [cells], the best way of a machine to each node
    ahead: Array  # [cells], the best way on from it


class Entry(NamedTuple):
    """What belongs to an entry: the machine and its shape, and where tables, scores and cells begin."""

    machine: int
    nodes: int
    groups: int
    grouping: int  # the row of `group_of`
    arcs: int  # of the class of its token
    told: int
    cells: int  # before it
    after: int  # the cells after it


@helper(inline="always")
def entry(machines: Machines, e: int) -> Entry:
    """Where everything stands that belongs to entry e."""
    m, sizes = machines.owner[e], machines.sizes
    nodes, groups, k = sizes[m, NODES], sizes[m, GROUPS], e - machines.begins[m]
    arcs = sizes[m, ARCS] + machines.class_of[e] * nodes * groups
    told, cells = sizes[m, TOLD] + k * groups, sizes[m, CELLS] + k * nodes
    return Entry(m, nodes, groups, sizes[m, GROUPING], arcs, told, cells, cells + nodes)


@helper(inline="always")
def chain_before(matrix: Array, kind: Array, scores: Scores, t: int, row: Array) -> None:
    """before[t] from before[t−1]; that of the first token stays."""
    if t > 0:
        for s in range(scores.unary.shape[1]):
            row[s] = scores.before[t - 1, s] + scores.unary[t - 1, s]
        advance_max(row, matrix, kind[t] if kind.size else 0, scores.before, t)


@helper(inline="always")
def chain_after(matrix: Array, kind: Array, scores: Scores, t: int, row: Array) -> None:
    """after[t] from after[t+1]; that of the last token stays."""
    if t + 1 < len(scores.unary):
        for s in range(scores.unary.shape[1]):
            row[s] = scores.unary[t + 1, s] + scores.after[t + 1, s]
        kinds = len(matrix) // 2
        advance_max(row, matrix, kinds + (kind[t + 1] if kind.size else 0), scores.after, t)


@helper(inline="always")
def machine_before(machines: Machines, scores: Scores, e: int) -> None:
    """reached after an entry from that before it."""
    at, told, reached = entry(machines, e), scores.told, scores.reached
    for n in range(at.nodes):
        reached[at.after + n] = -np.inf
    for n in range(at.nodes):
        if reached[at.cells + n] > -np.inf:
            for g in range(at.groups):
                i = at.arcs + n * at.groups + g
                value = reached[at.cells + n] + machines.gain[i] + told[at.told + g]
                target = at.after + machines.target[i]
                reached[target] = max(reached[target], value)


@helper(inline="always")
def machine_after(machines: Machines, scores: Scores, e: int) -> None:
    """ahead before an entry from that after it."""
    at, told, ahead = entry(machines, e), scores.told, scores.ahead
    for n in range(at.nodes):
        best = -np.inf
        for g in range(at.groups if scores.reached[at.cells + n] > -np.inf else 0):
            i = at.arcs + n * at.groups + g
            best = max(best, machines.gain[i] + told[at.told + g] + ahead[at.after + machines.target[i]])
        ahead[at.cells + n] = best


@helper
def machine_ends(machines: Machines, scores: Scores, m: int) -> None:
    """reached before the first entry of a machine, ahead after its last."""
    sizes = machines.sizes
    for n in range(sizes[m, NODES]):
        scores.reached[sizes[m, CELLS] + n] = 0.0 if n == 0 else -np.inf
        scores.ahead[sizes[m, LAST] + n] = machines.final[sizes[m, FINAL] + n]


@helper(inline="always")
def agree(machines: Machines, e: int, scores: Scores, floor: float, share: float, best: Array) -> float:
    """Take over what a machine knows of a token, leave out states below the floor, give a share back; the
    best of the machine, −inf if no state is left.

    best[·] is scratch; its last is the best of the chain.
    """
    at, t, unary, told = entry(machines, e), machines.token[e], scores.unary, scores.told
    groups, row, column, reached, ahead = at.groups, at.grouping, at.told, scores.reached, scores.ahead
    for g in range(groups):
        best[g] = -np.inf
    for n in range(at.nodes):
        if reached[at.cells + n] > -np.inf:
            for g in range(groups):
                i = at.arcs + n * groups + g
                value = reached[at.cells + n] + machines.gain[i] + ahead[at.after + machines.target[i]]
                best[g] = max(best[g], value)
    most = -np.inf
    for g in range(groups):
        best[g] += told[column + g]
        most = max(most, best[g])
    if most == -np.inf:
        return most
    for g in range(groups):
        best[g] -= most
        if best[g] > -np.inf:
            told[column + g] -= best[g]
    top = -np.inf
    for s in range(unary.shape[1]):
        unary[t, s] += best[machines.group_of[row, s]]
        value = scores.before[t, s] + unary[t, s] + scores.after[t, s]
        if value + most < floor:
            unary[t, s] = -np.inf
        else:
            top = max(top, value)
    best[-1] = top
    if top == -np.inf:
        return top
    share = max(share, 1.0 / (1 + machines.first[t + 1] - machines.first[t]))
    for g in range(groups):
        best[g] = -np.inf
    for s in range(unary.shape[1]):
        g = machines.group_of[row, s]
        best[g] = max(best[g], scores.before[t, s] + unary[t, s] + scores.after[t, s] - top)
    for g in range(groups):
        told[column + g] = told[column + g] + share * best[g] if best[g] > -np.inf else -np.inf
    for s in range(unary.shape[1]):
        given = best[machines.group_of[row, s]]
        if given > -np.inf:
            unary[t, s] -= share * given
    return most


@helper(inline="always")
def leave_out(machines: Machines, scores: Scores, e: int, is_forward: bool, floor: float) -> None:
    """Mark the nodes after an entry, or those before it, through which nothing reaches the floor: there is no
    way to them, or from them, from now on."""
    at, reached, ahead = entry(machines, e), scores.reached, scores.ahead
    first = at.after if is_forward else at.cells
    for i in range(first, first + at.nodes):
        if reached[i] + ahead[i] < floor:
            reached[i] = ahead[i] = -np.inf


@kernel
def exchange(
    matrix: Array,
    kind: Array,
    scores: Scores,
    machines: Machines,
    batch: Array,
    is_forward: bool,
    is_ready: bool,
    floor: float,
    share: float,
) -> bool:
    """One pass of the chain and the machines batch[0] … batch[1]−1 over all tokens; False if no labelling
    reaches the floor.

    Forwards `scores.after` has to be up to date, and `before` is afterwards; backwards the reverse. The same
    holds for `ahead` and `reached` of the machines if they are ready; else they are made so.
    """
    length, values, sizes = len(scores.unary), scores.values, machines.sizes
    begin, end = machines.begins[batch[0]], machines.begins[batch[1]]
    groups, row = 0, forbidden(1, matrix.shape[1])[0]
    for m in range(batch[0], batch[1]):
        machine_ends(machines, scores, m)
        groups = max(groups, sizes[m, GROUPS])
    for i in range(0 if is_ready else end - begin):
        if is_forward:
            machine_after(machines, scores, end - 1 - i)
        else:
            machine_before(machines, scores, begin + i)
    for m in range(batch[0], batch[1]):
        now = sizes[m, CELLS if is_forward else LAST]
        values[m] = -np.inf
        for n in range(sizes[m, NODES]):
            values[m] = max(values[m], scores.reached[now + n] + scores.ahead[now + n])
    best = np.empty(groups + 1)
    others = 0.0
    for m in range(len(values) - 1):
        others += values[m]
    if others == -np.inf:
        return False
    i = begin if is_forward else end - 1
    for k in range(length):
        t = k if is_forward else length - 1 - k
        if is_forward:
            chain_before(matrix, kind, scores, t, row)
        else:
            chain_after(matrix, kind, scores, t, row)
        while begin <= i < end and machines.token[machines.in_batch[i]] == t:
            e = machines.in_batch[i]
            m = machines.owner[e]
            others -= values[m]
            values[m] = agree(machines, e, scores, floor - others, share, best)
            if values[m] == -np.inf:
                return False
            if is_forward:
                machine_before(machines, scores, e)
            else:
                machine_after(machines, scores, e)
            leave_out(machines, scores, e, is_forward, floor - others - best[-1])
            others += values[m]
            i += 1 if is_forward else -1
    t, top = length - 1 if is_forward else 0, -np.inf
    for s in range(scores.unary.shape[1]):
        top = max(top, scores.before[t, s] + scores.unary[t, s] + scores.after[t, s])
    values[len(values) - 1] = top
    return top > -np.inf


@kernel
def completions(matrix: Array, kind: Array, scores: Scores, machines: Machines) -> None:
    """Bring `after` and `ahead` up to date."""
    row = forbidden(1, matrix.shape[1])[0]
    for t in range(len(scores.unary) - 1, -1, -1):
        chain_after(matrix, kind, scores, t, row)
    for m in range(len(machines.sizes)):
        machine_ends(machines, scores, m)
    for e in range(len(machines.token) - 1, -1, -1):
        machine_after(machines, scores, e)


@kernel
def joint_best(scores: Scores, machines: Machines, a: int, b: int, groups: Array) -> float:
    """The best of two machines that read the same labels; groups[2,P] are the pairs that states are in."""
    sizes, told, begins = machines.sizes, scores.told, machines.begins
    size, other = sizes[a, NODES], sizes[b, NODES]
    now, then = forbidden(size, other), forbidden(size, other)
    now[0, 0] = 0.0
    d, e = begins[a], begins[b]
    while d < begins[a + 1] or e < begins[b + 1]:
        first_reads = e == begins[b + 1] or (d < begins[a + 1] and machines.token[d] <= machines.token[e])
        other_reads = d == begins[a + 1] or (e < begins[b + 1] and machines.token[e] <= machines.token[d])
        one, two = entry(machines, d if first_reads else e), entry(machines, e if other_reads else d)
        then[:] = -np.inf
        for n in range(size):
            for k in range(other):
                if now[n, k] == -np.inf:
                    continue
                for p in range(groups.shape[1]):
                    value, x, y = now[n, k], n, k
                    if first_reads:
                        i = one.arcs + n * one.groups + groups[0, p]
                        value += machines.gain[i] + told[one.told + groups[0, p]]
                        x = machines.target[i]
                    if other_reads:
                        i = two.arcs + k * two.groups + groups[1, p]
                        value += machines.gain[i] + told[two.told + groups[1, p]]
                        y = machines.target[i]
                    then[x, y] = max(then[x, y], value)
        now, then = then, now
        d, e = d + first_reads, e + other_reads
    best = -np.inf
    for n in range(size):
        for k in range(other):
            end = machines.final[sizes[a, FINAL] + n] + machines.final[sizes[b, FINAL] + k]
            best = max(best, now[n, k] + end)
    return best


class Prefixes(NamedTuple):
    """Labellings of the first tokens."""

    state: Array  # [K], of the last token
    value: Array  # [K], the score so far, as it is split
    ahead: Array  # [K], what the machines can still gain
    nodes: Array  # [K,M], of the machines


@kernel
def reach(
    pairwise: Array,
    kind: Array,
    scores: Scores,
    machines: Machines,
    t: int,
    prefixes: Prefixes,
    states: Array,
    most: Array,
) -> None:
    """The most that each prefix can reach if token t gets one of the states [A], most[K,A]."""
    most_groups = 0
    for m in range(len(machines.sizes)):
        most_groups = max(most_groups, machines.sizes[m, GROUPS])
    gains, ahead = np.empty(most_groups), scores.ahead
    c = kind[t] if kind.size else 0
    for k in range(len(most)):
        for a in range(len(states)):
            s = states[a]
            step = pairwise[c, prefixes.state[k], s] if t > 0 else 0.0
            most[k, a] = (
                prefixes.value[k] + step + scores.unary[t, s] + scores.after[t, s] + prefixes.ahead[k]
            )
        for i in range(machines.first[t], machines.first[t + 1]):
            at = entry(machines, machines.at_token[i])
            node = prefixes.nodes[k, at.machine]
            arc, before = at.arcs + node * at.groups, ahead[at.cells + node]
            for g in range(at.groups):
                then = ahead[at.after + machines.target[arc + g]]
                gained = then - before if before > -np.inf else before
                gains[g] = machines.gain[arc + g] + scores.told[at.told + g] + gained
            for a in range(len(states)):
                most[k, a] += gains[machines.group_of[at.grouping, states[a]]]


@kernel
def grow(
    pairwise: Array,
    kind: Array,
    scores: Scores,
    machines: Machines,
    t: int,
    prefixes: Prefixes,
    parents: Array,
    longer: Prefixes,
    keys: Array,
) -> None:
    """Prefixes that are a token longer, from parents and `longer.state`; equal futures have equal keys."""
    c, ahead = kind[t] if kind.size else 0, scores.ahead
    for k in range(len(parents)):
        parent, s = parents[k], longer.state[k]
        value, left = prefixes.value[parent] + scores.unary[t, s], prefixes.ahead[parent]
        if t > 0:
            value += pairwise[c, prefixes.state[parent], s]
        for m in range(len(machines.sizes)):
            longer.nodes[k, m] = prefixes.nodes[parent, m]
        for i in range(machines.first[t], machines.first[t + 1]):
            at = entry(machines, machines.at_token[i])
            node, g = prefixes.nodes[parent, at.machine], machines.group_of[at.grouping, s]
            arc = at.arcs + node * at.groups + g
            value += machines.gain[arc] + scores.told[at.told + g]
            if ahead[at.cells + node] > -np.inf:
                left += ahead[at.after + machines.target[arc]] - ahead[at.cells + node]
            longer.nodes[k, at.machine] = machines.target[arc]
        key = s
        for m in range(len(machines.sizes)):
            key = (key * 1000003 + longer.nodes[k, m]) & 0x3FFFFFFFFFF
        longer.value[k], longer.ahead[k], keys[k] = value, left, key


@kernel
def labelling(pairwise: Array, kind: Array, scores: Scores, machines: Machines, states: Array) -> None:
    """The label that reaches most, token by token: a beam of one, in one call. states[L] is filled in, with
    −1 from where it cannot go on."""
    nodes = np.empty(len(machines.sizes), dtype=np.int64)
    nodes[:] = 0
    for t in range(len(states)):
        c, best, most = kind[t] if kind.size else 0, -1, -np.inf
        for s in range(scores.unary.shape[1] if t == 0 or states[t - 1] >= 0 else 0):
            value = scores.unary[t, s] + scores.after[t, s]
            if t > 0:
                value += pairwise[c, states[t - 1], s]
            for i in range(machines.first[t], machines.first[t + 1]):
                at = entry(machines, machines.at_token[i])
                arc = at.arcs + nodes[at.machine] * at.groups + machines.group_of[at.grouping, s]
                value += machines.gain[arc] + scores.told[at.told + machines.group_of[at.grouping, s]]
                value += scores.ahead[at.after + machines.target[arc]]
            if value > most:
                best, most = s, value
        states[t] = best
        for i in range(machines.first[t], machines.first[t + 1] if best >= 0 else 0):
            at = entry(machines, machines.at_token[i])
            arc = at.arcs + nodes[at.machine] * at.groups + machines.group_of[at.grouping, best]
            nodes[at.machine] = machines.target[arc]
