"""The reference for `kernels/pairs.py`: every pair of names, sequence by sequence and token by token."""

from __future__ import annotations

from itertools import pairwise


def combine(counts: list[list[int]], size: int, bound: int) -> tuple[list, list]:
    """Histograms of sums and differences of the counts of two names; the pairs in order only."""
    sums = [[[0] * (bound + 2) for _ in range(size)] for _ in range(size)]
    differences = [[[0] * (2 * bound + 3) for _ in range(size)] for _ in range(size)]
    for row in counts:
        for i in range(size):
            for j in range(i + 1, size):
                sums[i][j][min(bound + 1, row[i] + row[j])] += 1
                clipped = max(-(bound + 1), min(bound + 1, row[i] - row[j]))
                differences[i][j][bound + 1 + clipped] += 1
    return sums, differences


def orders(inside: list[list[int]], offsets: list[int], size: int) -> tuple[list, list]:
    """earlier[a][b]: tokens in a with a token in b before them in their sequence; later: at or after."""
    earlier = [[0] * size for _ in range(size)]
    later = [[0] * size for _ in range(size)]
    for start, stop in pairwise(offsets):
        for t in range(start, stop):
            for a in inside[t]:
                for b in range(size):
                    earlier[a][b] += any(b in inside[u] for u in range(start, t))
                    later[a][b] += any(b in inside[u] for u in range(t, stop))
    return earlier, later


def places(inside: list[list[int]], offsets: list[int], size: int) -> tuple[list, list]:
    """The first and the last token in each name of each sequence, −1 for none, [N,K]."""
    found = [
        [[t for t in range(start, stop) if b in inside[t]] for b in range(size)]
        for start, stop in pairwise(offsets)
    ]
    first = [[min(tokens, default=-1) for tokens in row] for row in found]
    last = [[max(tokens, default=-1) for tokens in row] for row in found]
    return first, last
