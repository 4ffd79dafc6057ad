"""The plain reference for `kernels/neighbours.py` and `kernels/voting.py`: a scan over all instances."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

OVERLAP, VALUES, NUMBERS, SHANNON, JEFFREY = 0, 1, 2, 3, 4


class Scan:
    """Instances as lists, features in the order in which distances are summed."""

    def __init__(self, rows, classes, kinds, weights, numbers=None):
        self.rows, self.classes, self.kinds, self.weights = rows, classes, kinds, weights
        self.numbers = numbers
        self.shares = [self._shares(f) for f in range(len(kinds))]

    def _shares(self, f):
        """p(class | value) of a feature."""
        counts = defaultdict(Counter)
        for row, cls in zip(self.rows, self.classes, strict=True):
            counts[row[f]][cls] += 1
        return {v: {c: n / sum(found.values()) for c, n in found.items()} for v, found in counts.items()}

    def difference(self, f, value, i, number):
        other = self.rows[i][f]
        if self.kinds[f] == NUMBERS:
            return abs(number - self.numbers[i][f])
        if value == other:
            return 0.0
        if self.kinds[f] == OVERLAP or value not in self.shares[f]:
            return 1.0
        p, q = self.shares[f][value], self.shares[f][other]
        return sum(apart(self.kinds[f], p.get(c, 0.0), q.get(c, 0.0)) for c in sorted({*p, *q})) / 2

    def distance(self, query, i, number=None):
        total = 0.0
        for f, weight in enumerate(self.weights):
            total += weight * self.difference(f, query[f], i, None if number is None else number[f])
        return total

    def nearest(self, query, k, number=None):
        """The k nearest distances, each with the instances that are so far."""
        found = defaultdict(list)
        for i in range(len(self.rows)):
            found[self.distance(query, i, number)].append(i)
        return sorted(found.items())[:k]

    def votes(self, near, voting, a=1.0, b=1.0):
        first, last = near[0][0], near[-1][0]
        votes = Counter()
        for distance, instances in near:
            for i in instances:
                votes[self.classes[i]] += weight_of(voting, distance, first, last, a, b)
        return {c: v for c, v in votes.items() if v > 0}

    def classify(self, query, k, voting="majority", a=1.0, b=1.0, number=None):
        """The winner, the votes that made it, whether there was a tie."""
        votes = self.votes(self.nearest(query, k, number), voting, a, b)
        tied = leaders(votes)
        if len(tied) > 1:
            more = self.votes(self.nearest(query, k + 1, number), voting, a, b)
            if len(leaders(more)) == 1:
                return leaders(more)[0], more, True
        frequency = Counter(self.classes)
        return min(tied, key=lambda c: (-frequency[c], c)), votes, len(tied) > 1


def apart(kind, p, q):
    if kind == VALUES or 0.0 in (p, q):
        return abs(p - q)
    if kind == JEFFREY:
        return abs(p - q) * math.log2(max(p, q) / min(p, q))
    return sum(one * math.log2(2 * one / (p + q)) for one in (p, q))


def weight_of(voting, distance, first, last, a, b):
    return {
        "majority": lambda: 1.0,
        "inverse-distance": lambda: 1 / (distance + 2.0**-52),
        "inverse-linear": lambda: (last - distance) / (last - first) if last > first else 1.0,
        "exponential-decay": lambda: math.exp(-a * distance**b),
    }[voting]()


def leaders(votes):
    """The classes with most votes; what differs by rounding only is equal."""
    top = max(votes.values())
    return sorted(c for c, v in votes.items() if math.isclose(v, top, rel_tol=1e-12))
