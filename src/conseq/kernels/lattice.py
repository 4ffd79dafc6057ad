"""A lattice: the labellings of one sequence as paths through a directed acyclic graph.

    chain, scores above a floor ─→ graph, steps                         (`from_chain`)
    graph ─→ best prefixes and completions, the n best paths            (max-plus)
    graph ─→ log-partition, posteriors, samples, probabilities of spans (log-sum)
    steps ─→ what each edge adds to totals of counters                  (`added`)

Nodes are in topological order: node 0 is the root, before all tokens, the last node is the sink, after END.
The edges of node i are first[i] … first[i+1]−1. An edge spans one token or several, which it labels; an edge
into the sink spans none. An edge takes a *step* (previous label → label) into each token that it spans;
edges into the sink take the step to END.

Axes: L tokens, S states, Y labels, B nodes, E edges, I steps, n ranks. Index Y is START and END.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from conseq.kernels.chain import Chain, advance_max, both_directions, forbidden
from conseq.kernels.compiled import Array, helper, kernel
from conseq.kernels.violations import Counters


class Graph(NamedTuple):
    """Edges by their source, each with its target and what it adds to the score of a path."""

    first: Array  # [B+1]
    targets: Array  # [E]
    gains: Array  # [E]


class Steps(NamedTuple):
    """The steps of edge e are first[e] … first[e+1]−1."""

    first: Array  # [E+1]
    pair: Array  # [I], previous label · (Y+1) + label
    token: Array  # [I], the token that is entered; L for END
    state: Array  # [I], the state that the token gets, −1 for END


# ── from a chain ────────────────────────────────────────────────────────────────────────────────


@kernel
def chain_completions(chain: Chain) -> Array:
    """best[t,s] = the most that labels after token t can add, given state s at t:

    best[L−1,s] = end[s];   best[t,s] = max_j (pairwise[s,j] + unary[t+1,j] + best[t+1,j])
    """
    matrix = both_directions(chain.pairwise)
    kinds, width, size = len(chain.pairwise), matrix.shape[1], len(chain.end)
    gain, row, best = forbidden(1, width)[0], np.empty((1, width)), np.empty(chain.unary.shape)
    for s in range(size if len(best) else 0):
        best[len(best) - 1, s] = chain.end[s]
    for t in range(len(best) - 2, -1, -1):
        for j in range(size):
            gain[j] = chain.unary[t + 1, j] + best[t + 1, j]
        advance_max(gain, matrix, kinds + (chain.kind[t + 1] if chain.kind.size else 0), row, 0)
        for s in range(size):
            best[t, s] = row[0, s]
    return best


@kernel
def from_chain(
    chain: Chain, ahead: Array, floor: float, size: int, graph: Graph, steps: Steps, levels: Array
) -> tuple[int, int]:
    """Fill in the lattice of a sequence; the numbers of nodes and edges, −1 if there is no room for all.

    An edge is kept if the best labelling through it is feasible and reaches the floor:

        best prefix + gain + ahead[t,s] ≥ floor

    levels[L+3]   where the nodes of each level begin: the root, those of each token, the sink; size = Y + 1
    """
    n_states, room = len(chain.start), len(graph.targets)
    states, scores = np.empty(len(graph.first), dtype=np.int64), np.empty(len(graph.first))
    place = np.empty(n_states, dtype=np.int64)
    scores[0], graph.first[0], levels[0], levels[1] = 0.0, 0, 0, 1
    count, n = 1, 0
    for t in range(len(chain.unary)):
        c = chain.kind[t] if chain.kind.size else 0
        for s in range(n_states):
            place[s] = -1
        for source in range(levels[t], levels[t + 1]):
            if n + n_states > room or count + n_states >= len(states):
                return -1, -1
            here = states[source]
            before = chain.label_of[here] if t > 0 else size - 1
            for s in range(n_states):
                gain = (chain.pairwise[c, here, s] if t > 0 else chain.start[s]) + chain.unary[t, s]
                reach = scores[source] + gain + ahead[t, s]
                if reach < floor or reach == -np.inf:
                    continue
                if place[s] < 0:
                    place[s], states[count], scores[count] = count, s, -np.inf
                    count += 1
                node = place[s]
                scores[node] = max(scores[node], scores[source] + gain)
                graph.targets[n], graph.gains[n] = node, gain
                steps.pair[n], steps.token[n], steps.state[n] = before * size + chain.label_of[s], t, s
                n += 1
            graph.first[source + 1] = n
        levels[t + 2] = count
    length = len(chain.unary)
    for node in range(levels[length], count):
        if n == room:
            return -1, -1
        last = states[node]
        graph.targets[n], graph.gains[n] = count, chain.end[last] if length > 0 else 0.0
        steps.pair[n] = (chain.label_of[last] if length > 0 else size - 1) * size + size - 1
        steps.token[n], steps.state[n] = length, -1
        n += 1
        graph.first[node + 1] = n
    graph.first[count + 1], levels[length + 2] = n, count + 1
    return count + 1, n


# ── best paths ──────────────────────────────────────────────────────────────────────────────────


@kernel
def completions(graph: Graph, rest: Array, following: Array) -> None:
    """rest[B] = the most that a path can gain from each node on, following[B] = the edge to take for it.

    A node with no path to the sink has −inf and −1.
    """
    last = len(rest) - 1
    rest[last], following[last] = 0.0, -1
    for node in range(last - 1, -1, -1):
        best, edge = -np.inf, -1
        for e in range(graph.first[node], graph.first[node + 1]):
            value = graph.gains[e] + rest[graph.targets[e]]
            if value > best:
                best, edge = value, e
        rest[node], following[node] = best, edge


@kernel
def prefixes(graph: Graph, best: Array) -> None:
    """best[B] = the most that a path gains up to each node."""
    for node in range(len(best)):
        best[node] = -np.inf
    best[0] = 0.0
    for node in range(len(best)):
        for e in range(graph.first[node], graph.first[node + 1]):
            best[graph.targets[e]] = max(best[graph.targets[e]], best[node] + graph.gains[e])


@helper
def shrink(values: Array, origins: Array, count: int, wanted: int) -> int:
    """Keep the `wanted` best of the first `count` candidates, in any order; how many there are then."""
    if count <= wanted:
        return count
    border = np.partition(values[:count], count - wanted)[count - wanted]
    above = 0
    for i in range(count):
        above += values[i] > border
    equal, kept = wanted - above, 0
    for i in range(count):
        if values[i] > border or (values[i] == border and equal > 0):
            equal -= values[i] == border
            values[kept] = values[i]
            for k in range(3):
                origins[kept, k] = origins[i, k]
            kept += 1
    return kept


@kernel
def best_paths(graph: Graph, rest: Array, following: Array, paths: Array, scores: Array) -> int:
    """Fill paths[n,·] (edges, then −1) and scores[n], best first; how many there are (at most n).

    A path is another one up to some place, then a different edge, then the best completion. So the next best
    is always among the candidates (path, place, edge) that branch off a path found before, at a place after
    the one where that branched off itself:

        score = score of the path − rest[node] + gain of the edge + rest[its target]
    """
    n, most = paths.shape
    room = 4 * n + 1024
    values, origins = np.empty(room), np.empty((room, 3), dtype=np.int64)
    values[0] = rest[0]
    origins[0, 0], origins[0, 1], origins[0, 2] = -1, -1, -1
    count = 1 if rest[0] > -np.inf else 0
    found, sink = 0, len(rest) - 1
    while found < n and count > 0:
        top = 0
        for i in range(1, count):
            if values[i] > values[top]:
                top = i
        scores[found] = values[top]
        parent, place, edge = origins[top, 0], origins[top, 1], origins[top, 2]
        count -= 1
        values[top] = values[count]
        for k in range(3):
            origins[top, k] = origins[count, k]
        for k in range(most):
            paths[found, k] = paths[parent, k] if k < place else -1
        node = 0
        if parent >= 0:
            paths[found, place] = edge
            node = graph.targets[edge]
        k = place + 1
        while node < sink:
            best = following[node]
            for e in range(graph.first[node], graph.first[node + 1]):
                value = scores[found] - rest[node] + graph.gains[e] + rest[graph.targets[e]]
                if e == best or value == -np.inf:
                    continue
                if count == room:
                    count = shrink(values, origins, count, n - found)
                values[count] = value
                origins[count, 0], origins[count, 1], origins[count, 2] = found, k, e
                count += 1
            paths[found, k] = best
            node = graph.targets[best]
            k += 1
        found += 1
    return found


# ── sums over all paths ─────────────────────────────────────────────────────────────────────────


@kernel
def posteriors(graph: Graph, shares: Array, nodes: Array) -> float:
    """shares[e] = p(edge e | the path passes its source) under p ∝ exp(sum of gains), nodes[i] = p(the path
    passes node i); returns log Z.

    Z[sink] = 1;   Z[i] = Σ_e exp(gain_e) · Z[target_e];   share_e = exp(gain_e) · Z[target_e] / Z[i]
    """
    log_z = np.zeros(len(graph.first) - 1)
    for node in range(len(log_z) - 2, -1, -1):
        highest, total = -np.inf, 0.0
        for e in range(graph.first[node], graph.first[node + 1]):
            highest = max(highest, graph.gains[e] + log_z[graph.targets[e]])
        for e in range(graph.first[node], graph.first[node + 1]):
            shares[e] = 0.0
            if highest > -np.inf:
                shares[e] = math.exp(graph.gains[e] + log_z[graph.targets[e]] - highest)
                total += shares[e]
        for e in range(graph.first[node], graph.first[node + 1]):
            shares[e] = shares[e] / total if total > 0 else 0.0
        log_z[node] = highest + math.log(total) if total > 0 else -np.inf
    for node in range(len(nodes)):
        nodes[node] = 1.0 if node == 0 else 0.0
    for node in range(len(nodes)):
        for e in range(graph.first[node], graph.first[node + 1]):
            nodes[graph.targets[e]] += nodes[node] * shares[e]
    return float(log_z[0])


@kernel
def sample(graph: Graph, shares: Array, uniform: Array, paths: Array) -> None:
    """Fill paths[n,·] (edges, then −1) with independent draws from p; uniform[n,·] are numbers in [0, 1)."""
    n, most = paths.shape
    for i in range(n):
        node, k = 0, 0
        while node < len(graph.first) - 2:
            left, chosen = uniform[i, k], -1
            for e in range(graph.first[node], graph.first[node + 1]):
                if shares[e] > 0:
                    chosen = e
                    left -= shares[e]
                    if left < 0:
                        break
            paths[i, k] = chosen
            node = graph.targets[chosen]
            k += 1
        for rest in range(k, most):
            paths[i, rest] = -1


@kernel
def passage(graph: Graph, steps: Steps, shares: Array, token: int, masks: Array) -> float:
    """p(the path has a state of masks[k] at token + k, for all k), masks[M,S] with M ≥ 1."""
    kept = np.zeros(len(graph.first) - 1)  # p(the path keeps to the masks from the node on | it passes it)
    kept[len(kept) - 1] = 1.0
    for node in range(len(kept) - 2, -1, -1):
        for e in range(graph.first[node], graph.first[node + 1]):
            fits = True
            for i in range(steps.first[e], steps.first[e + 1]):
                k = steps.token[i] - token
                fits = fits and (k < 0 or k >= len(masks) or masks[k, steps.state[i]])
            if fits:
                kept[node] += shares[e] * kept[graph.targets[e]]
    return float(kept[0])


# ── what edges add up to ──────────────────────────────────────────────────────────────────


@kernel
def added(steps: Steps, length: int, counters: Counters, totals: Array, token: int) -> Array:
    """What each edge adds to totals, [E,K], of which count j adds totals[j,·].

    `token` is the place of the first token in the masks, which no step to END passes.
    """
    amounts = np.zeros((len(steps.first) - 1, totals.shape[1]), dtype=np.int64)
    for e in range(len(amounts)):
        for i in range(steps.first[e], steps.first[e + 1]):
            t = steps.token[i]
            for m in range(counters.pairs[steps.pair[i]], counters.pairs[steps.pair[i] + 1]):
                j, amount, mask = counters.moves[m, 0], counters.moves[m, 1], counters.moves[m, 2]
                if mask < 0 or (t < length and counters.masks[mask, token + t]):
                    for k in range(totals.shape[1]):
                        amounts[e, k] += amount * totals[j, k]
    return amounts
