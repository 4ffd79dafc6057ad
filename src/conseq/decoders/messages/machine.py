"""A primitive as an automaton that reads groups of states, and as small as it can be.

    Problem, Charge ─→ Machine.of ─→ joined with another, if that pays ─→ as_arrays: what kernels take

Axes: L tokens, of which a machine reads E; S states, C classes of tokens, N nodes, G groups of states.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conseq.constraints.primitives import Linear
from conseq.dtypes import Floats, Ints
from conseq.errors import RuleError
from conseq.kernels import messages as kernel
from conseq.problem import Problem

MOST_ARCS, MOST_CELLS = 1 << 20, 1 << 22
"""Arcs of a machine; nodes times tokens of one for a sum, which can do without (`Shares.charge`)."""


class Machine(NamedTuple):
    """A node is a state of the automaton with what must be known of the last label; 0 is the start."""

    target: Ints  # [C,N,G], the node after
    gain: Floats  # [C,N,G], −cost
    final: Floats  # [N], −cost of END
    group_of: Ints  # [S]
    is_idle: (
        bool  # whether it stays in its node, free of charge, at tokens of class 0; then it reads no other
    )
    token: Ints  # [E], those that it reads
    class_of: Ints  # [E], their classes

    @classmethod
    def of(cls, problem: Problem, p: int, most: float) -> Machine | None:
        """Primitive p; None if it would be too large. What a soft one charges at once is `most` at
        most, which can only raise bounds."""
        charge = problem.charges[p]
        try:
            automaton = charge.primitive.automaton(problem.n_tokens)
        except RuleError:  # a sum of too many different totals
            return None
        groups = automaton.label_groups
        labels = np.append(
            np.unique(groups, return_index=True)[1], len(groups)
        )  # one of each group; START, END
        steps = automaton.steps[:, labels][:, :, labels]
        by_last = steps.swapaxes(0, 1).reshape(len(labels), -1)
        _, row, row_of = np.unique(by_last, axis=0, return_index=True, return_inverse=True)
        row_of = row_of.reshape(-1)  # after labels of the same row all steps are read alike
        nodes = len(automaton.next) * len(row)
        is_long = isinstance(charge.primitive, Linear) and nodes * problem.n_tokens > MOST_CELLS
        if is_long or steps[:, row].size * len(automaton.next) > MOST_ARCS:
            return None
        cost = np.zeros(automaton.cost.shape)
        paid = automaton.cost > 0
        cost[paid] = charge.penalty * automaton.cost[paid]
        if charge.penalty < np.inf:
            cost = np.minimum(cost, most)
        state, last = np.divmod(np.arange(len(automaton.next) * len(row)), len(row))
        read = steps[:, row][:, last]
        target = automaton.next[state[:, None], read[:, :, :-1]] * len(row) + row_of[:-1]
        gain, final = -cost[state[:, None], read[:, :, :-1]], -cost[state, read[0, :, -1]]
        group_of = groups[problem.label_of].astype(np.int64)
        is_idle = automaton.is_idle and len(row) == 1 and len(automaton.tests) > 0
        machine = cls(target, gain, final, group_of, is_idle, *_NOTHING)
        return machine.reduced(automaton.start * len(row) + int(row_of[-1])).reading(problem, p)

    @property
    def cells(self) -> int:
        """A row of nodes before its first entry and after each."""
        return len(self.final) * (len(self.token) + 1)

    def reading(self, problem: Problem, p: int) -> Machine:
        """The same tables for what primitive p reads."""
        token, class_of = _read(problem, p, self.is_idle)
        return self._replace(token=token, class_of=class_of)

    def reduced(self, start: int) -> Machine:
        """The same without nodes that cannot be reached, and with one node for all that have the same future
        (Moore 1956); the start becomes node 0."""
        nodes = _reachable(self.target, start)
        place = np.zeros(len(self.final), dtype=np.int64)
        place[nodes] = np.arange(len(nodes))
        target, gain = place[self.target[:, nodes]], self.gain[:, nodes]
        now = np.column_stack([self.final[nodes], gain.swapaxes(0, 1).reshape(len(nodes), -1)])
        first, kind = _kinds(now)
        while True:
            following = kind[target].swapaxes(0, 1).reshape(len(nodes), -1)
            finer, kind_of = _kinds(np.column_stack([kind, following]))
            if len(finer) == len(first):
                break
            first, kind = finer, kind_of
        order = np.argsort(first)  # that of the start is the first of all
        kept, number = first[order], np.argsort(order)
        return self._replace(
            target=number[kind][target[:, kept]], gain=gain[:, kept], final=self.final[nodes[kept]]
        )

    def joined(self, other: Machine) -> tuple[Machine, Ints]:
        """Both in one; the groups of each that its groups stand for, [2,G]."""
        groups, group_of = np.unique([self.group_of, other.group_of], axis=1, return_inverse=True)
        token = np.union1d(self.token, other.token)
        read = np.zeros((2, len(token) + 1), dtype=np.int64)  # the last is of class 0 for both
        for row, one in zip(read, (self, other), strict=True):
            row[np.searchsorted(token, one.token)] = one.class_of
        classes, class_of = np.unique(read, axis=1, return_inverse=True)
        size = len(other.final)
        shape = (classes.shape[1], len(self.final) * size, groups.shape[1])
        target, gain = (
            (one[classes[0]][:, :, None, groups[0]] * scale + two[classes[1]][:, None, :, groups[1]]).reshape(
                shape
            )
            for one, two, scale in ((self.target, other.target, size), (self.gain, other.gain, 1))
        )
        final = np.add.outer(self.final, other.final).reshape(-1)
        is_idle, class_of = self.is_idle and other.is_idle, class_of.reshape(-1)[:-1]
        made = Machine(target, gain, final, group_of.reshape(-1), is_idle, token, class_of)
        return made.reduced(0), groups


Tables = dict[tuple[int, int, int, float], Machine | None]
"""Machines that were made before, by the arrays of their automata and the penalty."""


def machine_of(problem: Problem, p: int, most: float, known: Tables) -> Machine | None:
    """`Machine.of`; automata of the same arrays share its tables."""
    charge = problem.charges[p]
    if isinstance(charge.primitive, Linear):
        return Machine.of(problem, p, most)
    automaton = charge.primitive
    key = id(automaton.steps), id(automaton.next), id(automaton.cost), charge.penalty
    if key not in known:
        known[key] = Machine.of(problem, p, most)
    machine = known[key]
    return None if machine is None else machine.reading(problem, p)


_NOTHING = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)


def batches_of(machines: Sequence[Machine], length: int) -> list[tuple[int, int]]:
    """Machines first … last−1 that exchange in one pass: as many as have about as many entries as there are
    tokens."""
    batches: list[tuple[int, int]] = []
    entries = 0
    for m, machine in enumerate(machines):
        if not batches or entries + len(machine.token) > length:
            batches.append((m, m))
            entries = 0
        entries += len(machine.token)
        batches[-1] = batches[-1][0], m + 1
    return batches


def as_arrays(machines: Sequence[Machine], length: int, size: int) -> kernel.Machines:
    """Machines as kernels take them; `length` tokens and `size` states."""
    kinds = list({id(machine.target): machine for machine in machines}.values())
    number = {id(machine.target): k for k, machine in enumerate(kinds)}
    kind = np.array([number[id(machine.target)] for machine in machines], dtype=np.int64)
    shapes = np.array([machine.target.shape for machine in kinds], dtype=np.int64).reshape(-1, 3)
    entries = np.array([len(machine.token) for machine in machines], dtype=np.int64)
    nodes, groups = shapes[kind, 1], shapes[kind, 2]
    tables = _begins(shapes.prod(axis=1))[kind], _begins(shapes[:, 1])[kind], kind
    told, cells = _begins(entries * groups), _begins((entries + 1) * nodes)
    sizes = np.stack([nodes, groups, *tables, told, cells, cells + entries * nodes], axis=1)
    token, owner = (
        _flat([machine.token for machine in machines]),
        np.repeat(np.arange(len(machines)), entries),
    )
    spans = batches_of(machines, length)
    batch = np.repeat(np.arange(len(spans)), [b - a for a, b in spans])
    at_token = np.argsort(token, kind="stable")
    return kernel.Machines(
        sizes,
        _flat([machine.target for machine in kinds]),
        _flat([machine.gain for machine in kinds], float),
        _flat([machine.final for machine in kinds], float),
        _flat([machine.group_of for machine in kinds]).reshape(-1, size),
        np.append(0, np.cumsum(entries)),
        token,
        _flat([machine.class_of for machine in machines]),
        owner,
        at_token[np.argsort(batch[owner[at_token]], kind="stable")],
        at_token,
        np.searchsorted(token[at_token], np.arange(length + 1)),
    )


def _begins(sizes: Ints) -> Ints:
    """Where each of several things begins that stand one after the other."""
    return np.cumsum(sizes) - sizes


def _flat(arrays: Sequence[NDArray[Any]], kind: type = int) -> NDArray[Any]:
    """All numbers, one after the other."""
    return np.concatenate([np.empty(0, dtype=kind), *(array.ravel() for array in arrays)])


def _read(problem: Problem, p: int, is_idle: bool) -> tuple[Ints, Ints]:
    """The tokens of the sequence that a primitive reads, and their classes."""
    program, first = problem.program, problem.first_token
    if not is_idle or p < program.n_linear:
        classes = problem.classes(program.charges[p].primitive)
        token = np.flatnonzero(classes) if is_idle else np.arange(len(classes))
        return token, classes[token]
    automata = program.arrays.automata
    row = automata.machines[p - program.n_linear, 0]
    part = slice(*automata.readings[row : row + 2])
    token, classes = automata.tokens[part], automata.classes[part]
    a, b = np.searchsorted(token, (first, first + problem.n_tokens))
    return token[a:b].astype(np.int64) - first, classes[a:b].astype(np.int64)


def _reachable(target: Ints, start: int) -> Ints:
    """The nodes that can be reached, the start first."""
    seen = np.zeros(target.shape[1], dtype=bool)
    found = new = np.array([start])
    while len(new):
        seen[new] = True
        after = np.unique(target[:, new])
        new = after[~seen[after]]
        found = np.append(found, new)
    return found


def _kinds(rows: Floats) -> tuple[Ints, Ints]:
    """The first row of each kind; the kind of each row."""
    _, first, kind = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return first, kind.reshape(-1)
