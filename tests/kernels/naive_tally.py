"""Pure-Python twins of `kernels/tally.py`, written from what its docs say.

Nothing here calls conseq; arrays may be lists.
"""

from __future__ import annotations

from itertools import pairwise


def steps_of(labels, size):
    """The steps of a labelling, START and END being size − 1."""
    path = [size - 1, *labels, size - 1]
    return list(pairwise(path))


def count(labels, first_token, size, counters, n_counters):
    """What the steps of a labelling add to each counter."""
    pairs, moves, masks = counters
    counts = [0] * n_counters
    for t, (before, label) in enumerate(steps_of(labels, size)):
        step = before * size + label
        for counter, amount, mask in moves[pairs[step] : pairs[step + 1]]:
            at_token = t < len(labels)
            if mask == -1 or (at_token and masks[mask][first_token + t]):
                counts[counter] += amount
    return counts


def exceed(counts, length, sums):
    """How far each sum is beyond its bound, or 1 if it is beyond and charged once."""
    rows, terms, limits = sums
    result = []
    for r, (bound, per_token, once) in enumerate(limits):
        total = sum(weight * counts[counter] for weight, counter in terms[rows[r] : rows[r + 1]])
        beyond = total - (bound + per_token * length)
        if beyond < 1e-9:
            result.append(0.0)
        else:
            result.append(1.0 if once else beyond)
    return result


def read(labels, first_token, size, machine, automata):
    """What one automaton charges."""
    _, classes, steps, arcs, cost = automata
    row, first_step, first_arc, symbols, state = machine
    charged = 0.0
    for t, (before, label) in enumerate(steps_of(labels, size)):
        kind = classes[row][first_token + t] if row >= 0 and t < len(labels) else 0
        symbol = steps[first_step + kind * size * size + before * size + label]
        charged += cost[first_arc + state * symbols + symbol]
        state = arcs[first_arc + state * symbols + symbol]
    return charged


def tally(labels, bounds, first_token, size, counters, sums, automata):
    """violations[N][P]: the sums, then the automata; nothing for a labelling of −1."""
    result = []
    n_counters = 1 + max((counter for _, counter in sums[1]), default=0)
    for n, first in enumerate(first_token):
        path = list(labels[bounds[n] : bounds[n + 1]])
        if path and path[0] == -1:
            result.append([0.0] * (len(sums[2]) + len(automata[0])))
            continue
        charged = exceed(count(path, first, size, counters, n_counters), len(path), sums)
        result.append([*charged, *(read(path, first, size, machine, automata) for machine in automata[0])])
    return result
