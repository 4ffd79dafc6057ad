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
from conseq.dtypes import Floats
from conseq.potentials import Potentials

Kinds = list[tuple[NDArray[np.int64], dict[int, Floats]]]
"""For each sum the classes of tokens, [T], and what is taken off the steps into tokens of some, [S+1,S]."""


def shifted(
    potentials: Potentials, program: Program, multipliers: Mapping[int, float], first_token: int = 0
) -> Potentials:
    """The potentials with multiplier_p times the amounts of Linear p taken off every step.

    A multiplier of inf forbids the steps; it is meant for local constraints only. `first_token` is the place
    of the first token of the potentials in the program's corpus.
    """
    rows = np.append(potentials.state_labels, len(program.schema))  # of states, and START or END
    square = np.ix_(rows, rows)
    everywhere = np.zeros((len(rows), len(rows)))
    of_tokens: Floats | None = None
    kinds: Kinds = []
    for p, multiplier in multipliers.items():
        if not multiplier:
            continue
        linear = program.charges[p].primitive
        assert isinstance(linear, Linear)
        usual = linear.steps[0][square]
        everywhere += _charge(multiplier, usual)
        if len(linear.steps) == 1:
            continue
        classes = program.classes(linear, first_token, first_token + potentials.n_tokens)
        by_class: dict[int, Floats] = {}
        for k in np.unique(classes[classes > 0]).tolist():
            more = (linear.steps[k][square] - usual)[:, :-1]
            if (more == more[-1]).all():  # whatever stands before it: a matter of the token alone
                of_tokens = np.zeros(potentials.unary.shape) if of_tokens is None else of_tokens
                of_tokens[classes == k] += _charge(multiplier, more[-1])
            else:
                by_class[k] = _charge(multiplier, more)
        if by_class:
            kinds.append((np.where(np.isin(classes, list(by_class)), classes, 0), by_class))
    result = replace(
        potentials,
        pairwise=potentials.pairwise - everywhere[None, :-1, :-1],
        start=potentials.start - everywhere[-1, :-1],
        end=potentials.end - everywhere[:-1, -1],
        unary=potentials.unary if of_tokens is None else potentials.unary - of_tokens,
    )
    return _with_kinds(result, kinds) if kinds else result


def _with_kinds(potentials: Potentials, kinds: Kinds) -> Potentials:
    """A kind of step for each combination of classes that occurs; first tokens are charged in unary."""
    kind = np.zeros(potentials.n_tokens, dtype=np.int64) if potentials.kind is None else potentials.kind
    columns = np.stack([kind, *(classes for classes, _ in kinds)], axis=1)
    combinations, new_kind = np.unique(columns, axis=0, return_inverse=True)
    first = potentials.offsets[:-1][potentials.lengths > 0]
    unary = np.array(potentials.unary, dtype=np.float64)
    pairwise = potentials.pairwise[combinations[:, 0]] if len(combinations) else potentials.pairwise
    pairwise = np.array(pairwise)
    for column, (classes, by_class) in enumerate(kinds, start=1):
        for k, off in by_class.items():
            pairwise[combinations[:, column] == k] -= off[:-1]
            unary[first[classes[first] == k]] -= off[-1]
    return replace(potentials, unary=unary, pairwise=pairwise, kind=new_kind.reshape(-1).astype(np.int32))


def _charge(multiplier: float, amounts: NDArray) -> Floats:
    """multiplier · amount, where inf · 0 is 0."""
    return multiplier * amounts if np.isfinite(multiplier) else np.where(amounts > 0, np.inf, 0.0)
