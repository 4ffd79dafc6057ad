"""The pure-Python reference for `kernels/index.py`, `rows.py` and `scaled.py`, written from their docs.

Matrices are lists of lists and every number a Python one; nothing here calls conseq.
"""

from __future__ import annotations

import math
from itertools import pairwise, product


def factorise(codes):
    """Ids in order of first sight, −1 for negatives, and the place where each was first seen."""
    ids, known, first = [], {}, []
    for i, code in enumerate(codes):
        if code < 0:
            ids.append(-1)
            continue
        if code not in known:
            known[code] = len(known)
            first.append(i)
        ids.append(known[code])
    return ids, first


def lookup(codes, known):
    """The place of each code in `known`, −1 where it has none."""
    place = {code: i for i, code in enumerate(known)}
    return [place.get(code, -1) for code in codes]


def expand(weight_of, entries, width):
    """Row by row Σ value · weight; weight_of[a] is {label: weight}, entries[r] is [(attribute, value)]."""
    rows = []
    for row in entries:
        scores = [0.0] * width
        for attribute, value in row:
            for label, weight in weight_of[attribute].items():
                scores[label] += value * weight
        rows.append(scores)
    return rows


def gather(rows, row_of):
    """The sum of each token's rows."""
    return [[sum(rows[r][y] for r in groups) for y in range(len(rows[0]))] for groups in row_of]


def score(table, entries, weights, singles, width):
    result = []
    for pairs, ones in zip(entries, singles, strict=True):
        total = [math.fsum(value * table[k][y] for k, value in pairs) for y in range(width)]
        for place, y, value in ones:
            total[y] += value * weights[place]
        result.append(total)
    return result


def spread(given, entries, singles, shape, n_weights):
    """What things add to vectors of a table and to the gradient of single weights."""
    table, gradient = [[0.0] * shape[1] for _ in range(shape[0])], [0.0] * n_weights
    for row, pairs, ones in zip(given, entries, singles, strict=True):
        for k, value in pairs:
            table[k] = [a + value * b for a, b in zip(table[k], row, strict=True)]
        for place, y, value in ones:
            gradient[place] += value * row[y]
    return table, gradient


def lowered(scores, n_labels):
    """Each row minus the maximum of its first entries, for those entries."""
    return [[s - max(row[:n_labels]) for s in row[:n_labels]] for row in scores]


def enumerate_chain(weights, moves, n_labels):
    """Z, p(label) of each token, and the expected number of each move, over all labellings of a sequence."""
    total, length = 0.0, len(weights)
    marginals = [[0.0] * n_labels for _ in range(length)]
    moved = [[0.0] * n_labels for _ in range(n_labels)]
    for path in product(range(n_labels), repeat=length):
        steps = list(pairwise(path))
        weight = math.prod(weights[t][y] for t, y in enumerate(path)) * math.prod(
            moves[a][b] for a, b in steps
        )
        total += weight
        for t, y in enumerate(path):
            marginals[t][y] += weight
        for a, b in steps:
            moved[a][b] += weight
    return total, [[m / total for m in row] for row in marginals], [[m / total for m in row] for row in moved]
