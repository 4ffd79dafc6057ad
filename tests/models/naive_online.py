"""References for the online algorithms: weights by key, best labels and gradients by enumeration."""

from __future__ import annotations

from collections import Counter
from itertools import product

import naive_chain as naive
import numpy as np


def easy_chains(seed, **options):
    """Random chains whose values are sums of powers of 2, so that scores are exact and ties are ties."""
    chains = naive.random_chains(seed, **options)
    value = np.random.default_rng(seed).choice([-1.0, 0.5, 1.0, 2.0], size=len(chains.design.value))
    chains.design.value[:] = value
    return chains


def filled(chains):
    """The sequences that have tokens."""
    return [(bags, gold) for bags, gold in chains.sequences() if gold]


def best_labels(bags, weight, n_labels):
    """By enumeration; of equals the one with the lowest last labels."""

    def score(path):
        return sum(n * weight.get(key, 0.0) for key, n in naive.events(bags, path).items())

    paths = [list(path) for path in product(range(n_labels), repeat=len(bags))]
    return min(paths, key=lambda path: (-score(path), path[::-1]))


def perceptron(chains, layout, orders, start=None):
    """The mean of the weights after each sequence, and the wrong labels of each epoch."""
    keys = naive.keys(layout)
    weight = dict(zip(keys, np.zeros(len(keys)) if start is None else start.tolist(), strict=True))
    sequences, after, wrong = filled(chains), [], []
    for order in orders:
        wrong.append(0)
        for n in order:
            bags, gold = sequences[n]
            found = best_labels(bags, weight, chains.n_labels)
            change = Counter(naive.events(bags, gold))
            change.subtract(naive.events(bags, found))
            for key, count in change.items():
                if key in weight:
                    weight[key] += count
            wrong[-1] += sum(a != b for a, b in zip(found, gold, strict=True))
            after.append([weight[key] for key in keys])
    return np.mean(after, axis=0), wrong


def batch_gradient(chains, layout, weights, batch, c2):
    """Of the sequences' own parts of the objective: the penalty of an attribute is shared by its uses."""
    sequences, keys = filled(chains), naive.keys(layout)
    uses = Counter(a for bags, _ in sequences for bag in bags for a, _ in bag)
    there = Counter(a for n in batch for bag in sequences[n][0] for a, _ in bag)
    gradient = np.zeros(len(keys))
    for n in batch:
        gradient += naive.enumerated(_Alone(sequences[n], chains.n_labels), layout, weights)[1]
    for place, key in enumerate(keys):
        share = there[key[1]] / uses[key[1]] if key[0] == "state" else len(batch) / len(sequences)
        gradient[place] += 2 * c2 * share * weights[place]
    return gradient


def adagrad(chains, layout, order, *, batch, rate, c2, first):
    """The weights after one epoch from 0."""
    weights, squares = np.zeros(layout.size), np.full(layout.size, first)
    for lo in range(0, len(order), batch):
        slope = batch_gradient(chains, layout, weights, order[lo : lo + batch], c2)
        squares += slope**2
        weights = weights - rate * slope / np.sqrt(squares)
    return weights


class _Alone:
    """One sequence as a problem."""

    def __init__(self, sequence, n_labels):
        self.sequence, self.n_labels = sequence, n_labels

    def sequences(self):
        return [self.sequence]
