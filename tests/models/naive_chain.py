"""Random chain problems, and their objective by enumeration and by logarithms; nothing here is fast.

A problem is a design with gold labels. Every weight has a key: ("state", attribute, label), ("move", from,
to), ("start", label) or ("end", label).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np

from conseq.features.design import Design
from conseq.models.layout import Shard


@dataclass
class Chains:
    """N sequences over Y labels."""

    design: Design
    labels: np.ndarray
    offsets: np.ndarray
    n_labels: int

    @property
    def arguments(self):
        return self.design, self.labels, self.offsets, self.n_labels

    @property
    def shard(self):
        return Shard(self.design, self.labels, self.offsets)

    @property
    def as_shards(self):
        """What CRF.fit_all takes."""
        return [self.shard], self.n_labels

    @property
    def bags(self):
        """The attributes with values of each token."""
        return [self.design.attributes(t) for t in range(self.design.n_tokens)]

    def sequences(self):
        """(bags, labels) of each sequence."""
        bags = self.bags
        return [(bags[a:b], self.labels[a:b].tolist()) for a, b in pairwise(self.offsets.tolist())]


def random_chains(seed, *, n_labels=None, lengths=None, values=True, n_attributes=None, n_rows=None):
    """A random problem; empty sequences, rows without attributes and repeated attributes included."""
    rng = np.random.default_rng(seed)
    n_labels = int(rng.integers(1, 5)) if n_labels is None else n_labels
    lengths = rng.integers(0, 5, size=rng.integers(1, 6)) if lengths is None else np.asarray(lengths)
    n_attributes = int(rng.integers(1, 8)) if n_attributes is None else n_attributes
    groups, few_rows = int(rng.integers(1, 4)), int(rng.integers(1, 7))
    n_rows = few_rows if n_rows is None else n_rows
    sizes = rng.integers(0, 4, size=n_rows)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    value = rng.normal(size=sizes.sum()) if values else np.ones(sizes.sum())
    design = Design(
        rng.integers(n_rows, size=(offsets[-1], groups)).astype(np.int32),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        rng.integers(n_attributes, size=sizes.sum()).astype(np.int32),
        value.astype(np.float32),
        n_attributes,
    )
    labels = rng.integers(n_labels, size=offsets[-1]).astype(np.int32)
    return Chains(design, labels, offsets, n_labels)


def events(bags, labels):
    """Σ value of each event of one labelled sequence."""
    counts = Counter()
    for bag, label in zip(bags, labels, strict=True):
        for attribute, value in bag:
            counts["state", attribute, label] += value
    counts.update(("move", *pair) for pair in pairwise(labels))
    counts.update([("start", labels[0]), ("end", labels[-1])] if len(labels) else [])
    return counts


def keys(layout):
    """The key of every weight of a layout, in order."""
    found = []
    for attribute, (a, b) in enumerate(pairwise(layout.feature.tolist())):
        found += [("state", attribute, label) for label in layout.label[a:b].tolist()]
    found += [("move", *move) for move in layout.moves.tolist()]
    found += [("start", label) for label in layout.starts.tolist()]
    return found + [("end", label) for label in layout.ends.tolist()]


def enumerated(chains, layout, weights, c2=0.0):
    """−Σ log p(y|x) + c2 ‖w‖² and its gradient, over all labellings of each sequence."""
    place = {key: i for i, key in enumerate(keys(layout))}

    def vector(bags, labels):
        counts = np.zeros(len(place))
        for key, count in events(bags, labels).items():
            if key in place:
                counts[place[key]] += count
        return counts

    value, gradient = c2 * (weights @ weights), 2 * c2 * weights
    for bags, gold in chains.sequences():
        table = np.array([vector(bags, y) for y in product(range(chains.n_labels), repeat=len(gold))])
        scores = table @ weights
        log_z = np.logaddexp.reduce(scores)
        value += log_z - vector(bags, gold) @ weights
        gradient = gradient + np.exp(scores - log_z) @ table - vector(bags, gold)
    return value, gradient


def recursive(chains, layout, weights):
    """The same (c2 = 0) by forward and backward with logarithms throughout, for sequences of any length."""
    weight = dict(zip(keys(layout), weights.tolist(), strict=True))
    n = range(chains.n_labels)
    move = np.array([[weight.get(("move", i, j), 0.0) for j in n] for i in n])
    start, end = (np.array([weight.get((kind, y), 0.0) for y in n]) for kind in ("start", "end"))
    value, gradient = 0.0, Counter()
    for bags, gold in chains.sequences():
        if not bags:
            continue
        unary = np.array(
            [[sum(v * weight.get(("state", a, y), 0.0) for a, v in bag) for y in n] for bag in bags],
            dtype=np.float64,
        )
        unary[0] += start
        unary[-1] += end
        forward, backward = unary.copy(), np.zeros_like(unary)
        for t in range(1, len(bags)):
            forward[t] += np.logaddexp.reduce(forward[t - 1][:, None] + move, axis=0)
        for t in range(len(bags) - 2, -1, -1):
            backward[t] = np.logaddexp.reduce(move + unary[t + 1] + backward[t + 1], axis=1)
        log_z = np.logaddexp.reduce(forward[-1])
        counts = events(bags, gold)
        value += log_z - sum(count * weight.get(key, 0.0) for key, count in counts.items())
        gradient.subtract(counts)
        node = np.exp(forward + backward - log_z)
        for t, bag in enumerate(bags):
            for y in n:
                for a, v in bag:
                    gradient["state", a, y] += v * node[t, y]
        for t in range(1, len(bags)):
            step = forward[t - 1][:, None] + move + unary[t] + backward[t]
            for i in n:
                for j in n:
                    gradient["move", i, j] += np.exp(step[i, j] - log_z)
        for y in n:
            gradient["start", y] += node[0, y]
            gradient["end", y] += node[-1, y]
    return value, np.array([gradient[key] for key in keys(layout)])
