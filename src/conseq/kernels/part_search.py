"""Branch and bound over the values that variables may still have, with bounds from multipliers of rows.

    D(λ) = Σ_v max over its values of (gain − Σ_k λ_k · weight) + Σ_k λ_k · bound_k,     0 ≤ λ_k ≤ penalty_k

is an upper bound for every λ (of rows that are charged together, Σ λ ≤ penalty). At each node

    narrow    drops values that hard rows rule out, and settles the multipliers of rows that are decided
    descend   takes a few steps down D; the values that D chooses are an answer, whose score is a lower bound
    fix       drops values which D says cannot lead beyond the best answer

and where a gap stays, the row that makes most of it names the value to branch on, with it and without it.

Axes: n variables, L values, m rows (`parts.Part`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from conseq.kernels import rounding
from conseq.kernels.compiled import Array, helper
from conseq.kernels.indicators import EXACT
from conseq.kernels.multipliers import descent, gap_to_close, move, note
from conseq.kernels.parts import Part

DEEPEST = 400
"""Nodes above one another; a part that needs more is left to another solver."""
FIRST_STEPS, STEPS = 60, 4
"""Steps down D at the first node, and at each other one."""
UNTIL_FOUND = 10
"""Times the work that is allowed, for a first answer."""
CLOSE = 0.01
"""Of the usual rounding, for nodes that are left out: a whole problem has many parts."""


class Node(NamedTuple):
    """What is worked out at a node, in arrays that every node uses anew."""

    choice: Array  # [n], the value of each variable that D chooses
    reduced: Array  # [L], gain − Σ λ · weight
    beyond: Array  # [m], how far each row is beyond its bound by that choice
    left: Array  # [n], values that each variable may still have
    most: Array  # [m], of rows that are charged together
    known: Array  # [m], the best multipliers met


@helper
def search(part: Part, found: Array, result: Array, most_work: float) -> bool:
    """Whether the search came to its end before it had looked at `most_work` more entries of rows.

    found[n]    the values of the best answer
    result      its score (what must be surpassed, at first), an upper bound, nodes, work
    """
    n, size, m = len(found), len(part.owner), len(part.bound)
    deepest = min(DEEPEST, size - n + 2)
    alive, multipliers = np.ones((deepest, size), np.uint8), np.zeros((deepest, m))
    bounds, branched, side = (
        np.full(deepest, np.inf),
        np.zeros(deepest, np.int64),
        np.zeros(deepest, np.int64),
    )
    node = Node(
        np.zeros(n, np.int64), np.zeros(size), np.zeros(m), np.zeros(n, np.int64), np.zeros(m), np.zeros(m)
    )
    depth, fresh, begun = 0, True, result[3]
    while depth >= 0:
        if fresh:
            fresh = False
            result[2] += 1
            branched[depth] = look(part, alive[depth], multipliers[depth], node, found, result, depth == 0)
            bounds[depth], side[depth] = result[1], 0
        if branched[depth] < 0 or side[depth] == 2 or bounds[depth] <= result[0] + close(result[0]):
            depth -= 1
            continue
        enough = most_work if result[0] > -np.inf else UNTIL_FOUND * most_work
        if result[3] - begun > enough or depth + 1 == deepest:
            break
        side[depth] += 1
        value = branched[depth]
        for i in range(size):
            left = alive[depth, i]
            if side[depth] == 1 and part.owner[i] == part.owner[value] and i != value:
                left = 0
            if side[depth] == 2 and i == value:
                left = 0
            alive[depth + 1, i] = left
        for k in range(m):
            multipliers[depth + 1, k] = multipliers[depth, k]
        depth += 1
        fresh = True
    result[1] = result[0]
    for d in range(depth + 1):
        if branched[d] >= 0 and side[d] < 2:
            result[1] = max(result[1], bounds[d])
    return depth < 0


@helper
def close(score: float) -> float:
    """What rounding may make of a score; 0 if there is none."""
    return CLOSE * rounding.in_kernels(score) if score > -np.inf else 0.0


@helper
def look(
    part: Part, alive: Array, multipliers: Array, node: Node, found: Array, result: Array, is_first: bool
) -> int:
    """The value to branch on at a node, or −1 if it is done with; result[1] is its bound."""
    result[1] = -np.inf
    if not narrow(part, alive, multipliers, node.left, result):
        return -1
    steps = FIRST_STEPS if is_first else (STEPS if result[0] > -np.inf else 0)
    bound = descend(part, alive, multipliers, node, found, result, steps)
    if bound <= result[0] + close(result[0]):
        result[1] = bound
        return -1
    result[1] = bound
    fix(part, alive, node, bound, result[0])
    return pick(part, alive, multipliers, node)


@helper
def narrow(part: Part, alive: Array, multipliers: Array, count: Array, result: Array) -> bool:
    """Drop the values that hard rows rule out until none is left to drop; whether there may be an answer.

    The multiplier of a row that holds whatever is chosen is 0, of one that is broken for sure its penalty.
    """
    for v in range(len(count)):
        count[v] = 0
        for i in range(part.starts[v], part.starts[v + 1]):
            count[v] += alive[i]
        if count[v] == 0:
            return False
    dropped = 1
    while dropped > 0:
        dropped = 0
        result[3] += len(part.entry) + len(part.bound)
        for k in range(len(part.bound)):
            low, high = reach(part, alive, k)
            room = part.bound[k] + EXACT * (1 + abs(part.bound[k]))
            if part.upper[k] == np.inf:
                if low > room:
                    return False
                if high > room:
                    dropped += drop(part, alive, count, k, room - low)
            elif low >= part.bound[k] and part.group[k] < 0:
                multipliers[k] = part.upper[k]
            if high <= part.bound[k]:
                multipliers[k] = 0.0
    return True


@helper
def reach(part: Part, alive: Array, k: int) -> tuple[float, float]:
    """The least and the most that the values left make of a row."""
    low, high = 0.0, 0.0
    e, end = part.first[k], part.first[k + 1]
    while e < end:
        v = part.owner[part.entry[e]]
        least, most = np.inf, -np.inf
        for i in range(part.starts[v], part.starts[v + 1]):
            weight = 0.0
            if e < end and part.entry[e] == i:
                weight = part.weight[e]
                e += 1
            if alive[i] == 1:
                least, most = min(least, weight), max(most, weight)
        low, high = low + least, high + most
    return low, high


@helper
def drop(part: Part, alive: Array, count: Array, k: int, room: float) -> int:
    """Drop each value that brings a row more than `room` beyond the least of its variable; how many.

    The value that brings the least stays.
    """
    dropped = 0
    e, end = part.first[k], part.first[k + 1]
    while e < end:
        v, begin = part.owner[part.entry[e]], e
        least = np.inf
        for i in range(part.starts[v], part.starts[v + 1]):
            weight = 0.0
            if e < end and part.entry[e] == i:
                weight = part.weight[e]
                e += 1
            if alive[i] == 1:
                least = min(least, weight)
        e = begin
        for i in range(part.starts[v], part.starts[v + 1]):
            weight = 0.0
            if e < end and part.entry[e] == i:
                weight = part.weight[e]
                e += 1
            if alive[i] == 1 and weight - least > room:
                alive[i] = 0
                count[v] -= 1
                dropped += 1
    return dropped


@helper
def descend(
    part: Part, alive: Array, multipliers: Array, node: Node, found: Array, result: Array, steps: int
) -> float:
    """The least bound met on some steps down D, whose multipliers and choice are left behind."""
    state = descent(spread_of(part) if result[0] == -np.inf else np.inf)
    for step in range(steps + 1):
        bound = relax(part, alive, multipliers, node, result)
        score = score_of(part, node)
        if score > result[0]:
            result[0] = score
            for v in range(len(found)):
                found[v] = node.choice[v]
        if note(state, bound):
            for k in range(len(multipliers)):
                node.known[k] = multipliers[k]
        if bound <= result[0] + close(result[0]):
            return bound
        if step == steps or not move(
            multipliers, node.beyond, part.upper, gap_to_close(state, bound, result[0])
        ):
            break
        share(part, multipliers, node.most)
    for k in range(len(multipliers)):
        multipliers[k] = node.known[k]
    return relax(part, alive, multipliers, node, result)


@helper
def spread_of(part: Part) -> float:
    """What a variable loses if it may not have its best value, on average."""
    total = 0.0
    n = len(part.starts) - 1
    for v in range(n):
        best, second = -np.inf, -np.inf
        for i in range(part.starts[v], part.starts[v + 1]):
            if part.gains[i] > best:
                best, second = part.gains[i], best
            elif part.gains[i] > second:
                second = part.gains[i]
        if second > -np.inf:
            total += best - second
    return 0.1 + total / n


@helper
def relax(part: Part, alive: Array, multipliers: Array, node: Node, result: Array) -> float:
    """D at the multipliers, with the choice that it makes."""
    result[3] += 2 * len(part.entry) + len(part.owner)
    for i in range(len(part.gains)):
        node.reduced[i] = part.gains[i]
    total = 0.0
    for k in range(len(multipliers)):
        if multipliers[k] != 0:
            total += multipliers[k] * part.bound[k]
            for e in range(part.first[k], part.first[k + 1]):
                node.reduced[part.entry[e]] -= multipliers[k] * part.weight[e]
    for v in range(len(node.choice)):
        best, most = -1, -np.inf
        for i in range(part.starts[v], part.starts[v + 1]):
            if alive[i] == 1 and (best < 0 or node.reduced[i] > most):
                best, most = i, node.reduced[i]
        node.choice[v] = best
        total += most
    for k in range(len(multipliers)):
        x, size = 0.0, abs(part.bound[k])
        for e in range(part.first[k], part.first[k + 1]):
            if node.choice[part.owner[part.entry[e]]] == part.entry[e]:
                x += part.weight[e]
                size += abs(part.weight[e])
        x -= part.bound[k]
        node.beyond[k] = 0.0 if abs(x) <= EXACT * size else x
    return total


@helper
def score_of(part: Part, node: Node) -> float:
    """The gain of the choice less what it pays for rows."""
    total = 0.0
    for v in range(len(node.choice)):
        total += part.gains[node.choice[v]]
    for k in range(len(node.most)):
        node.most[k] = 0.0
    for k in range(len(node.most)):
        if node.beyond[k] > 0:
            cost = node.beyond[k] * part.upper[k]
            if part.group[k] < 0:
                total -= cost
            else:
                node.most[part.group[k]] = max(node.most[part.group[k]], cost)
    for k in range(len(node.most)):
        total -= node.most[k]
    return total


@helper
def share(part: Part, multipliers: Array, most: Array) -> None:
    """Scale the multipliers of rows that are charged together down to their penalty."""
    for k in range(len(most)):
        most[k] = 0.0
    for k in range(len(most)):
        if part.group[k] >= 0:
            most[part.group[k]] += multipliers[k]
    for k in range(len(most)):
        if part.group[k] >= 0 and most[part.group[k]] > part.upper[k]:
            multipliers[k] *= part.upper[k] / most[part.group[k]]


@helper
def fix(part: Part, alive: Array, node: Node, bound: float, score: float) -> None:
    """Drop the values with which D stays below the best score."""
    for i in range(len(part.owner)):
        v = part.owner[i]
        loss = node.reduced[node.choice[v]] - node.reduced[i]
        if alive[i] == 1 and i != node.choice[v] and bound - loss <= score + close(score):
            alive[i] = 0
            node.left[v] -= 1


@helper
def pick(part: Part, alive: Array, multipliers: Array, node: Node) -> int:
    """A value to branch on: of the row that makes most of the gap, and there of the variable whose choice is
    clearest; −1 if every variable has one value left."""
    best, most = -1, -1.0
    for k in range(len(part.bound)):
        part_of_gap = -multipliers[k] * node.beyond[k]
        if node.beyond[k] > 0:
            hard = part.upper[k] == np.inf
            part_of_gap = 1e200 * node.beyond[k] if hard else part_of_gap + part.upper[k] * node.beyond[k]
        if part_of_gap > max(most, 0.0):
            v = clearest(part, alive, node, k)
            if v >= 0:
                best, most = v, part_of_gap
    if best < 0:
        for v in range(len(node.choice)):
            if node.left[v] > 1:
                best = v
    return node.choice[best] if best >= 0 else -1


@helper
def clearest(part: Part, alive: Array, node: Node, k: int) -> int:
    """The variable of a row that loses most without its choice; −1 if none has another."""
    best, most = -1, -1.0
    for e in range(part.first[k], part.first[k + 1]):
        v = part.owner[part.entry[e]]
        if node.left[v] > 1:
            second = -np.inf
            for i in range(part.starts[v], part.starts[v + 1]):
                if alive[i] == 1 and i != node.choice[v]:
                    second = max(second, node.reduced[i])
            loss = node.reduced[node.choice[v]] - second
            if loss > most:
                best, most = v, loss
    return best
