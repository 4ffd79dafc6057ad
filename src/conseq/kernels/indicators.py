"""Variables with scored values, and sums of indicators that should not exceed a bound.

    score(values) = Σ gain of each variable's value − Σ_g penalty_g · violation_g

An indicator is 1 if a variable has a certain value; those of variable v are starts[v] … starts[v+1]−1, and
`values[v]` is the one that is 1. Row k says Σ weight · indicator ≤ bound. A group's violation is the sum of
how far its rows are beyond their bounds, or, if they stand together, the most of these.

Axes: V variables, I indicators, K rows, M entries of rows, G groups.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from conseq.kernels.compiled import Array, helper, kernel

EXACT = 1e-9
"""How far a sum of weights may be beyond its bound by rounding alone, as a share."""


class Variables(NamedTuple):
    """What may be chosen."""

    starts: Array  # [V+1]
    owner: Array  # [I], the variable of each indicator
    gains: Array  # [I], −inf: forbidden


class Rows(NamedTuple):
    """What should hold of the choice."""

    first: Array  # [K+1], row k has the entries first[k] … first[k+1]−1
    indicator: Array  # [M], ascending within a row; every row has one
    weight: Array  # [M]
    bound: Array  # [K]
    group: Array  # [K]
    penalty: Array  # [G], inf: hard
    together: Array  # [G], 1: of the rows of this group only the one violated most counts


@helper
def excess(variables: Variables, rows: Rows, k: int, values: Array) -> float:
    """How far a row is beyond its bound; below 0 if it is not."""
    total, size = 0.0, abs(rows.bound[k])
    for e in range(rows.first[k], rows.first[k + 1]):
        if values[variables.owner[rows.indicator[e]]] == rows.indicator[e]:
            total += rows.weight[e]
            size += abs(rows.weight[e])
    total -= rows.bound[k]
    return 0.0 if abs(total) <= EXACT * size else total


@kernel
def violations(variables: Variables, rows: Rows, values: Array, amounts: Array) -> None:
    """amounts[g] = the violation of each group."""
    amounts[:] = 0.0
    for k in range(len(rows.bound)):
        beyond = excess(variables, rows, k, values)
        if beyond > 0:
            g = rows.group[k]
            if rows.together[g] == 0:
                amounts[g] += beyond
            else:
                amounts[g] = max(amounts[g], beyond)


@kernel
def choose(variables: Variables, values: Array) -> float:
    """The best value of each variable by itself, the lowest of equal ones: the sum of their gains."""
    total = 0.0
    for v in range(len(values)):
        best = variables.starts[v]
        for i in range(variables.starts[v] + 1, variables.starts[v + 1]):
            if variables.gains[i] > variables.gains[best]:
                best = i
        values[v] = best
        total += variables.gains[best]
    return total


@kernel
def activate(variables: Variables, rows: Rows, state: Array, values: Array) -> int:
    """Set the state of each violated row that has none (0) to 2; how many they are.

    A row that stands together with others counts only if it is violated more than those that have a state.
    """
    reached = np.zeros(len(rows.penalty))
    for k in range(len(state)):
        if state[k] > 0 and rows.together[rows.group[k]] == 1:
            beyond = excess(variables, rows, k, values)
            reached[rows.group[k]] = max(reached[rows.group[k]], beyond)
    new = 0
    for k in range(len(state)):
        if state[k] == 0 and rows.penalty[rows.group[k]] > 0:
            beyond = excess(variables, rows, k, values)
            if beyond > 0 and beyond > reached[rows.group[k]] * (1 + EXACT):
                state[k] = 2
                new += 1
    return new


@helper
def root_of(parent: Array, v: int) -> int:
    """The variable that stands for all that are connected with v."""
    while parent[v] != v:
        parent[v] = parent[parent[v]]
        v = parent[v]
    return v


@kernel
def connect(variables: Variables, rows: Rows, state: Array, parent: Array) -> None:
    """parent[v] = the variable that stands for all that rows with a state connect with v."""
    for v in range(len(parent)):
        parent[v] = v
    anchor = np.full(len(rows.penalty), -1)
    for k in range(len(state)):
        if state[k] > 0:
            one = root_of(parent, variables.owner[rows.indicator[rows.first[k]]])
            for e in range(rows.first[k] + 1, rows.first[k + 1]):
                other = root_of(parent, variables.owner[rows.indicator[e]])
                if other != one:
                    parent[other] = one
            g = rows.group[k]
            if rows.together[g] == 1:
                if anchor[g] >= 0:
                    parent[root_of(parent, anchor[g])] = one
                anchor[g] = one
    for v in range(len(parent)):
        parent[v] = root_of(parent, v)
