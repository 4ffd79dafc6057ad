"""Variables that rows connect, cut out as a small problem of their own.

    Variables, Rows, which rows count, which variables ─→ arrays of a Part

Of the values of a variable that no row mentions only the best is kept, and of those that rows only charge,
what gains more than that.

Axes: n variables, L values, m rows, E entries of rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from conseq.kernels.compiled import Array, helper
from conseq.kernels.indicators import Rows, Variables


class Part(NamedTuple):
    """A small problem; its values are numbered from 0, those of a variable one after the other."""

    starts: Array  # [n+1]
    owner: Array  # [L]
    gains: Array  # [L], all finite
    origin: Array  # [L], the indicator that a value is in the whole problem
    first: Array  # [m+1]
    entry: Array  # [E], values
    weight: Array  # [E]
    bound: Array  # [m]
    upper: Array  # [m], the penalty: multipliers do not exceed it
    group: Array  # [m], rows with the same number are charged together; −1: by itself


@helper
def cut_out(variables: Variables, rows: Rows, state: Array, parent: Array, root: int) -> Part:
    """The part of the variables whose parent is `root`. Where one has no value left, the part has none."""
    n_rows, n_entries = 0, 0
    role = np.zeros(len(variables.gains), np.int64)  # 0: in no row; 1: rows only charge it; 2: it may help
    for k in range(len(state)):
        if state[k] > 0 and parent[variables.owner[rows.indicator[rows.first[k]]]] == root:
            n_rows += 1
            n_entries += rows.first[k + 1] - rows.first[k]
            for e in range(rows.first[k], rows.first[k + 1]):
                helps = rows.weight[e] < 0
                role[rows.indicator[e]] = max(role[rows.indicator[e]], 2 if helps else 1)
    n, most = 0, 0
    for v in range(len(parent)):
        if parent[v] == root:
            n += 1
            most += variables.starts[v + 1] - variables.starts[v]
    starts, owner = np.zeros(n + 1, np.int64), np.empty(most, np.int64)
    gains, origin = np.empty(most), np.empty(most, np.int64)
    local = np.full(len(variables.gains), -1)
    n, size = 0, 0
    for v in range(len(parent)):
        if parent[v] == root:
            size = keep(variables, v, role, local, origin, size)
            for i in range(starts[n], size):
                owner[i], gains[i] = n, variables.gains[origin[i]]
            n += 1
            starts[n] = size
    first, entry, weight = np.zeros(n_rows + 1, np.int64), np.empty(n_entries, np.int64), np.empty(n_entries)
    bound, upper, group = np.empty(n_rows), np.empty(n_rows), np.full(n_rows, -1)
    number, n_groups = np.full(len(rows.penalty), -1), 0
    m, n_entries = 0, 0
    for k in range(len(state)):
        if state[k] > 0 and parent[variables.owner[rows.indicator[rows.first[k]]]] == root:
            for e in range(rows.first[k], rows.first[k + 1]):
                if local[rows.indicator[e]] >= 0:
                    entry[n_entries], weight[n_entries] = local[rows.indicator[e]], rows.weight[e]
                    n_entries += 1
            g = rows.group[k]
            bound[m], upper[m] = rows.bound[k], rows.penalty[g]
            if rows.together[g] == 1:
                if number[g] < 0:
                    number[g] = n_groups
                    n_groups += 1
                group[m] = number[g]
            m += 1
            first[m] = n_entries
    return Part(
        starts,
        owner[:size],
        gains[:size],
        origin[:size],
        first,
        entry[:n_entries],
        weight[:n_entries],
        bound,
        upper,
        group,
    )


@helper
def keep(variables: Variables, v: int, role: Array, local: Array, origin: Array, size: int) -> int:
    """Number the values of a variable that may be best from `size` on; how many there are then."""
    neutral, best = -1, -np.inf
    for i in range(variables.starts[v], variables.starts[v + 1]):
        if role[i] == 0 and variables.gains[i] > best:
            neutral, best = i, variables.gains[i]
    for i in range(variables.starts[v], variables.starts[v + 1]):
        gain = variables.gains[i]
        if gain > -np.inf and (i == neutral or role[i] == 2 or (role[i] == 1 and gain > best)):
            local[i], origin[size] = size, i
            size += 1
    return size
