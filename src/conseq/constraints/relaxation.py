"""Constraints moved into the scores of the chain, where plain Viterbi sees them.

    Potentials, Program, multipliers[P] ─→ shifted Potentials:  score − Σ_p multiplier_p · (sum of Linear p)

With the penalty as multiplier this is exact for local constraints. For the other sums (Soft-DD) every
0 ≤ λ_p ≤ penalty_p gives an upper bound on what any labelling scores:

    D(λ) = max_y (score(y) − Σ λ_p · sum_p(y)) + Σ λ_p · limit_p
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from conseq.constraints.primitives import Linear
from conseq.constraints.program import Program
from conseq.potentials import Potentials

Floats = NDArray[np.float64]


def shifted(
    potentials: Potentials, program: Program, multipliers: Mapping[int, float], first_token: int = 0
) -> Potentials:
    """The potentials with multiplier_p times the amounts of Linear p taken off every step.

    A multiplier of inf forbids the steps; it is meant for local constraints only. `first_token` is the place
    of the first token of the potentials in the program's corpus.
    """
    return _Shift(potentials, program, first_token).apply(multipliers)


class _Shift:
    """Collects what is taken off: for all steps, for tokens, and for kinds of step."""

    def __init__(self, potentials: Potentials, program: Program, first_token: int) -> None:
        self.potentials = potentials
        self.program = program
        self.tokens = slice(first_token, first_token + potentials.n_tokens)
        given = potentials.label_of
        labels = np.arange(potentials.n_states) if given is None else given
        self.rows = np.append(labels, len(program.schema))  # states and START or END, as labels
        size = len(self.rows)
        self.everywhere = np.zeros((size, size))
        self.unary: Floats | None = None
        self.kinds: list[tuple[NDArray[np.int64], dict[int, Floats]]] = []

    def apply(self, multipliers: Mapping[int, float]) -> Potentials:
        for p, multiplier in multipliers.items():
            if multiplier:
                self._add(p, multiplier)
        potentials = self.potentials
        off = self.everywhere
        shifted = replace(
            potentials,
            pairwise=potentials.pairwise - off[None, :-1, :-1],
            start=potentials.start - off[-1, :-1],
            end=potentials.end - off[:-1, -1],
            unary=potentials.unary if self.unary is None else potentials.unary - self.unary,
        )
        return self._with_kinds(shifted) if self.kinds else shifted

    def _add(self, p: int, multiplier: float) -> None:
        linear = self.program.charges[p].primitive
        assert isinstance(linear, Linear)
        steps = linear.steps
        self.everywhere += _charge(multiplier, steps[0][np.ix_(self.rows, self.rows)])
        if len(steps) == 1:
            return
        classes = self.program.classes(linear)[self.tokens]
        by_class: dict[int, Floats] = {}
        for k in np.unique(classes[classes > 0]).tolist():
            more = (steps[k] - steps[0])[np.ix_(self.rows, self.rows[:-1])]
            if (more == more[-1]).all():  # whatever stands before it: a matter of the token alone
                self._unary()[classes == k] += _charge(multiplier, more[-1])
            else:
                by_class[k] = _charge(multiplier, more)
        if by_class:
            self.kinds.append((np.where(np.isin(classes, list(by_class)), classes, 0), by_class))

    def _unary(self) -> Floats:
        if self.unary is None:
            self.unary = np.zeros(self.potentials.unary.shape)
        return self.unary

    def _with_kinds(self, potentials: Potentials) -> Potentials:
        """A kind of step for each combination of classes that occurs; first tokens are charged in unary."""
        kind = np.zeros(potentials.n_tokens, dtype=np.int64) if potentials.kind is None else potentials.kind
        columns = np.stack([kind, *(classes for classes, _ in self.kinds)], axis=1)
        combinations, new_kind = np.unique(columns, axis=0, return_inverse=True)
        first = potentials.offsets[:-1][potentials.lengths > 0]
        unary = np.array(potentials.unary, dtype=np.float64)
        pairwise = potentials.pairwise[combinations[:, 0]] if len(combinations) else potentials.pairwise
        pairwise = np.array(pairwise)
        for column, (classes, by_class) in enumerate(self.kinds, start=1):
            for k, off in by_class.items():
                pairwise[combinations[:, column] == k] -= off[:-1]
                unary[first[classes[first] == k]] -= off[-1]
        return replace(potentials, unary=unary, pairwise=pairwise, kind=new_kind.reshape(-1).astype(np.int32))


def _charge(multiplier: float, amounts: NDArray) -> Floats:
    """multiplier · amount, where inf · 0 is 0."""
    if np.isfinite(multiplier):
        return multiplier * amounts
    return np.where(amounts > 0, np.inf, 0.0)
