"""The pure-Python reference for `kernels/violations.py`, written from what its docs say.

Nothing here calls conseq; the fields of `Ground` may be arrays or lists.
"""

from __future__ import annotations

from itertools import pairwise


def steps_of(labels, size):
    """The steps of a labelling, START and END being size − 1."""
    path = [size - 1, *labels, size - 1]
    return list(pairwise(path))


def count(labels, first_token, ground, n_counters):
    """What the steps of a labelling add to each counter."""
    counters = ground.counters
    counts = [0] * n_counters
    for t, (before, label) in enumerate(steps_of(labels, ground.size)):
        step = before * ground.size + label
        for counter, amount, mask in counters.moves[counters.pairs[step] : counters.pairs[step + 1]]:
            at_token = t < len(labels)
            if mask == -1 or (at_token and counters.masks[mask][first_token + t]):
                counts[counter] += amount
    return counts


def exceed(counts, length, sums):
    """How far each sum is beyond its bound."""
    result = []
    for r, (bound, per_token) in enumerate(sums.limits):
        terms = sums.terms[sums.rows[r] : sums.rows[r + 1]]
        beyond = sum(weight * counts[counter] for weight, counter in terms) - (bound + per_token * length)
        result.append(0.0 if beyond < 1e-9 else beyond)
    return result


def read(labels, first_token, size, machine, automata):
    """What one automaton charges: of the tokens it reads those in its list, or all if it has none."""
    row, first_step, first_arc, symbols, state = machine
    kinds = {first_token + t: 0 for t in range(len(labels))}
    if row >= 0:
        listed = range(automata.readings[row], automata.readings[row + 1])
        kinds = {int(automata.tokens[k]): automata.classes[k] for k in listed}
    charged = 0.0
    for t, (before, label) in enumerate(steps_of(labels, size)):
        if t < len(labels) and first_token + t not in kinds:
            continue
        kind = kinds[first_token + t] if t < len(labels) else 0
        symbol = automata.steps[first_step + kind * size * size + before * size + label]
        charged += automata.cost[first_arc + state * symbols + symbol]
        state = automata.arcs[first_arc + state * symbols + symbol]
    return charged


def violations_of(labels, bounds, first_token, ground):
    """violations[N][P]: the sums, then the automata; nothing for a labelling of −1."""
    result = []
    sums, machines = ground.sums, ground.automata.machines
    n_counters = 1 + max((int(counter) for _, counter in sums.terms), default=0)
    for n, first in enumerate(first_token):
        path = list(labels[bounds[n] : bounds[n + 1]])
        if path and path[0] == -1:
            result.append([0.0] * (len(sums.limits) + len(machines)))
            continue
        charged = exceed(count(path, first, ground, n_counters), len(path), sums)
        result.append(
            [*charged, *(read(path, first, ground.size, machine, ground.automata) for machine in machines)]
        )
    return result
