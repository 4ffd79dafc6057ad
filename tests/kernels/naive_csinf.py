"""Constraint satisfaction inference from its definition (Canisius et al. 2006), and random predictions.

A neighbourhood is a list of (trigram, share); a trigram has three labels, None for a boundary mark.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

Trigram = tuple[int | None, int | None, int | None]

PARTS = [(0, 3), (0, 2), (1, 3), (0, 1), (1, 2), (2, 3)]


@dataclass
class Constraint:
    """These tokens should have these labels."""

    tokens: list[int]
    labels: list[int]
    weight: float

    def satisfied(self, labelling: tuple[int, ...]) -> bool:
        return [labelling[t] for t in self.tokens] == self.labels


@dataclass
class Case:
    """One sequence: per token the neighbourhood and the number of the predicted trigram in it."""

    neighbourhoods: list[list[tuple[Trigram, float]]]
    winners: list[int]
    sharpness: int = 1

    def __len__(self) -> int:
        return len(self.winners)

    def predicted(self, t: int) -> Trigram:
        return self.neighbourhoods[t][self.winners[t]][0]

    def proposals(self, t: int) -> list[int]:
        """Labels proposed for t by its own trigram, the one before, the one after; without repetition."""
        found = []
        for source, place in ((t, 1), (t - 1, 2), (t + 1, 0)):
            if 0 <= source < len(self) and self.predicted(source)[place] is not None:
                found.append(self.predicted(source)[place])
        return list(dict.fromkeys(found))

    def weight(self, t: int, part: tuple[int, int]) -> float:
        """The share of all trigrams in the neighbourhood that agree with the predicted one at some places."""
        a, b = part
        wanted = self.predicted(t)[a:b]
        agree = sum(share for trigram, share in self.neighbourhoods[t] if trigram[a:b] == wanted)
        return agree**self.sharpness

    def constraints(self) -> list[Constraint]:
        found = []
        for t in range(len(self)):
            for part in PARTS:
                tokens = [t - 1 + place for place in range(*part)]
                labels = list(self.predicted(t)[part[0] : part[1]])
                if None not in labels and tokens[0] >= 0 and tokens[-1] < len(self):
                    found.append(Constraint(tokens, labels, self.weight(t, part)))
        return found

    def total(self, labelling: tuple[int, ...]) -> float:
        return sum(c.weight for c in self.constraints() if c.satisfied(labelling))

    def candidates(self) -> list[tuple[int, ...]]:
        return list(product(*(self.proposals(t) for t in range(len(self)))))

    def best(self) -> tuple[int, ...]:
        """The labelling of most weight; of equal ones that with the earliest proposal at the last token …"""
        order = [{label: i for i, label in enumerate(self.proposals(t))} for t in range(len(self))]
        constraints = self.constraints()

        def key(labelling: tuple[int, ...]) -> tuple[float, list[int]]:
            total = sum(c.weight for c in constraints if c.satisfied(labelling))
            return -total, [order[t][y] for t, y in reversed(list(enumerate(labelling)))]

        return min(self.candidates(), key=key)


def random_case(rng: np.random.Generator, n_labels: int, most_tokens: int = 6) -> Case:
    """Shares are 1/4, 1/2 or 1, so that sums are exact and ties are common.

    Half of the trigrams are cut from one labelling, as a good classifier's would be.
    """
    length = int(rng.integers(0, most_tokens + 1))
    truth = rng.integers(0, n_labels, length).tolist()
    neighbourhoods, winners = [], []
    for t in range(length):
        near: dict[Trigram, float] = {}
        for _ in range(int(rng.choice([1, 1, 2, 4]))):
            near[_trigram(rng, truth, t, n_labels)] = float(rng.choice([0.25, 0.5, 1.0]))
        neighbourhoods.append(list(near.items()))
        winners.append(int(rng.integers(len(near))))
    return Case(neighbourhoods, winners)


def _trigram(rng: np.random.Generator, truth: list[int], t: int, n_labels: int) -> Trigram:
    def side(s: int) -> int | None:
        if rng.random() < 0.5:
            return truth[s] if 0 <= s < len(truth) else None
        return None if rng.random() < 0.2 else int(rng.integers(n_labels))

    middle = truth[t] if rng.random() < 0.5 else int(rng.integers(n_labels))
    return side(t - 1), middle, side(t + 1)


def arrays(cases: list[Case]) -> tuple[np.ndarray, ...]:
    """indptr, cls, share, winner, parts, offsets: the cases as the kernels take them."""
    classes: dict[Trigram, int] = {}
    indptr, cls, share, winner, offsets = [0], [], [], [], [0]
    for case in cases:
        for near, best in zip(case.neighbourhoods, case.winners, strict=True):
            for trigram, part in near:
                cls.append(classes.setdefault(trigram, len(classes)))
                share.append(part)
            winner.append(classes[near[best][0]])
            indptr.append(len(cls))
        offsets.append(len(winner))
    parts = [[-1 if label is None else label for label in trigram] for trigram in classes]
    return (
        np.array(indptr, dtype=np.int64),
        np.array(cls, dtype=np.int32),
        np.array(share, dtype=np.float64),
        np.array(winner, dtype=np.int32),
        np.array(parts, dtype=np.int32).reshape(-1, 3),
        np.array(offsets, dtype=np.int64),
    )
