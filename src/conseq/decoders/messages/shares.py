"""The scores of one sequence, shared out between its chain and machines.

    Problem ─→ Shares ─→ add primitives, pass messages, join machines: the bound falls, states are left out
                      ─→ beam: labellings from left to right, and what those that were dropped could reach

The work is done by `kernels/messages.py`, which says how and why.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from conseq.constraints.primitives import Linear
from conseq.constraints.relaxation import shifted
from conseq.decoders.base import NO_LIMITS, Limits
from conseq.decoders.chain.viterbi import chain_of
from conseq.decoders.messages.machine import Machine, Tables, as_arrays, batches_of, machine_of
from conseq.dtypes import Floats, Ints, States
from conseq.kernels import clock
from conseq.kernels import messages as kernel
from conseq.kernels import multipliers as slope
from conseq.kernels.chain import LANES
from conseq.problem import Problem

SHARE = 0.06
"""What a machine is given of what the chain knows; the others want some, too."""
SHORTEST = 0.1
"""Steps of this share of Polyak's or shorter get nowhere."""
SPARE = 2
"""How many times the width of a beam are made longer, of which some turn out to have the same future."""
MOST_JOINED = 1 << 20
"""Arcs of two machines joined, before what cannot be reached is left out."""


class Beamed(NamedTuple):
    """What a beam found."""

    states: States | None
    value: float  # of the labelling, as far as the machines know
    dropped: float  # what was dropped reaches no more

    @property
    def bound(self) -> float:
        """What no labelling above the floor exceeds."""
        return max(self.value, self.dropped)


class Part(NamedTuple):
    """A machine, what it is told, and the best of it."""

    machine: Machine
    told: Floats  # [E·G]
    value: float

    def joined(self, other: Part, value: float) -> Part:
        """Both in one."""
        made, groups = self.machine.joined(other.machine)
        told = np.zeros((len(made.token), groups.shape[1]))
        for part, group in zip((self, other), groups, strict=True):
            token = part.machine.token
            told[np.searchsorted(made.token, token)] += part.told.reshape(len(token), -1)[:, group]
        return Part(made, told.ravel(), value)


class Shares:
    """What the chain keeps and what each machine is told.

    most     a violation of a soft primitive need not cost more
    until    when to stop, by clock.now
    limits   of which the memory counts here
    with_sums   whether sums may be machines; else all of them have multipliers
    """

    def __init__(
        self,
        problem: Problem,
        most: float,
        until: float = np.inf,
        limits: Limits = NO_LIMITS,
        with_sums: bool = True,
    ) -> None:
        self.problem, self.most, self.until, self.limits = problem, most, until, limits
        self.with_sums = with_sums
        self.shape = length, size = problem.n_tokens, problem.n_states
        before, after = np.zeros((2, length, -(-size // LANES) * LANES))
        self.charged = np.zeros((length, size))  # emission scores of the chain, before any message
        self.sums: dict[int, Linear] = {}  # those that are too large for a machine
        self.machines: list[Machine] = []
        self.primitives: set[int] = set()  # that were taken in, or are too large
        self.arrays = as_arrays([], length, size)
        self.batches = batches_of([], length)
        self.scores = kernel.Scores(
            self.charged.copy(), np.empty(0), before, after, np.zeros(1), np.empty(0), np.empty(0)
        )
        self.tables: Tables = {}
        self.rng = np.random.default_rng(0)
        self.work, self.cells = 0.0, 0
        self.begin(np.zeros(problem.program.n_linear), 1.0)
        self.charge(self.least)

    def begin(self, multipliers: Floats, spread: float) -> None:
        """Begin steps of the multipliers, aiming so far below the bound at first."""
        self.state, self.least = slope.descent(spread), multipliers  # the latter of the least bound
        if self.sums:
            self.charge(multipliers)

    def charge(self, multipliers: Floats) -> None:
        """Charge the sums that are no machines in the scores of the chain; multipliers[R] of all sums."""
        problem, (_, size) = self.problem, self.shape
        self.multipliers, charged = multipliers, {p: float(multipliers[p]) for p in self.sums}
        self.constant = sum(charged[p] * linear.limit(problem.n_tokens) for p, linear in self.sums.items())
        chain = chain_of(
            shifted(problem.with_local_constraints, problem.program, charged, problem.first_token)
        )
        self.pairwise, self.kind = chain.pairwise, chain.kind
        width = self.scores.after.shape[1]
        padded = np.full((2, len(chain.pairwise), width, width), -np.inf)
        padded[:, :, :size, :size] = chain.pairwise, chain.pairwise.swapaxes(1, 2)
        self.matrix = padded.reshape(-1, width, width)
        known, self.charged = self.charged, chain.unary.copy()
        self.charged[0] += chain.start
        with np.errstate(invalid="ignore"):
            more = np.where(known > -np.inf, self.charged - known, 0.0)
        self.scores.unary[:] += more
        self.scores.after[-1, :size] = chain.end
        self._complete()
        self.scores.values[-1] = (self.scores.unary[0] + self.scores.after[0, :size]).max()

    @property
    def is_slow(self) -> bool:
        """Whether steps of the multipliers are so short that the gap is taken to be real."""
        return not self.sums or bool(self.state[slope.STEP] < SHORTEST)

    def step(self, states: States, score: float) -> bool:
        """Move the multipliers along what a labelling has too much of the sums, whether there was anywhere to
        go; `score` is the best known."""
        if not self.sums:
            return False
        if slope.note(self.state, self.bound):
            self.least = self.multipliers
        numbers, problem = list(self.sums), self.problem
        excess = np.array([excess_of(problem, linear, states) for linear in self.sums.values()])
        moved, penalties = self.multipliers[numbers], problem.program.penalties[numbers]
        gap = slope.gap_to_close(self.state, self.bound, score)
        able = slope.move(moved, excess, penalties, gap)
        if able:
            multipliers = self.multipliers.copy()
            multipliers[numbers] = moved
            self.charge(multipliers)
        return bool(able)

    @property
    def bound(self) -> float:
        """What no labelling exceeds."""
        return float(self.scores.values.sum()) + self.constant

    @property
    def is_late(self) -> bool:
        return clock.now() > self.until

    def add(self, primitives: Iterable[int]) -> bool:
        """Take in primitives; whether there was a new one."""
        new = []
        for p in sorted(set(primitives) - self.primitives):
            if self.is_late:
                break
            self.primitives.add(p)
            machine = self._machine(p)
            charge = self.problem.charges[p].primitive
            if machine is not None and self._fits(machine):
                new.append(Part(machine, np.zeros(len(machine.token) * machine.target.shape[2]), 0.0))
            elif isinstance(charge, Linear):
                self.sums[p] = charge
        if new:
            new.sort(key=lambda part: len(part.machine.token))  # those that read little exchange together
            self._put([*self.parts(), *new])
        return bool(new)

    def _machine(self, p: int) -> Machine | None:
        """That of a primitive, unless it is a sum that has multipliers."""
        if isinstance(self.problem.charges[p].primitive, Linear) and not self.with_sums:
            return None
        return machine_of(self.problem, p, self.most, self.tables)

    def _fits(self, machine: Machine) -> bool:
        fits = self.cells + machine.cells <= self.limits.room(16)
        self.cells += machine.cells * fits
        return fits

    @property
    def widest(self) -> int:
        """The labellings that a beam has room for."""
        each = 4 * SPARE * (4 + len(self.machines)) + 8 * self.shape[1]
        return int(min(self.limits.states / (1 + len(self.machines)), self.limits.room(each)))

    def parts(self) -> list[Part]:
        """The machines, with what each is told, and the best of it."""
        told = np.split(self.scores.told, self.arrays.sizes[1:, kernel.TOLD])
        return [Part(*part) for part in zip(self.machines, told, self.scores.values.tolist(), strict=False)]

    def _put(self, parts: list[Part]) -> None:
        self.machines = [part.machine for part in parts]
        self.arrays = as_arrays(self.machines, *self.shape)
        self.batches = batches_of(self.machines, self.shape[0])
        reached, ahead = np.zeros((2, sum(machine.cells for machine in self.machines)))
        self.scores = self.scores._replace(
            told=np.concatenate([part.told for part in parts]),
            values=np.array([*(part.value for part in parts), self.scores.values[-1]]),
            reached=reached,
            ahead=ahead,
        )
        self._complete()

    def _complete(self) -> None:
        """Bring completions of the chain and of all machines up to date, as backwards passes do."""
        kernel.completions(self.matrix, self.kind, self.scores, self.arrays)
        self.is_forward, self.went_forward = True, np.zeros(len(self.batches), dtype=bool)

    def pass_messages(self, floor: float) -> bool:
        """An exchange with every batch, in random order, and in reverse: each goes forwards and
        backwards. False if no labelling reaches the floor."""
        length, size = self.shape
        self.work += length * size
        order = self.rng.permutation(len(self.batches))
        for k in [*order.tolist(), *order[::-1].tolist()]:
            if self.is_late:
                return True
            batch, is_forward = np.array(self.batches[k]), self.is_forward
            given = self.matrix, self.kind, self.scores, self.arrays, batch, is_forward
            is_ready = bool(self.went_forward[k] != is_forward)
            if not kernel.exchange(*given, is_ready, floor - self.constant, SHARE):
                return False
            self.is_forward, self.went_forward[k] = not is_forward, is_forward
            arcs = sum(
                len(machine.token) * machine.target[0].size for machine in self.machines[slice(*batch)]
            )
            self.work += length * size**2 + arcs
        return True

    # ── joining machines ────────────────────────────────────────────────────────────────────────

    def join(self, least: float, until: float) -> None:
        """Join pairs of machines that together lower the bound by at least so much (Sontag et al. 2008); stop
        at so much work."""
        self._complete()
        alone, parts = self._best_of_each(), self.parts()
        falls = []
        for a, b in self._pairs():
            if self.work > until or self.is_late:
                break
            groups = np.unique([self.machines[m].group_of for m in (a, b)], axis=1)
            both = kernel.joint_best(self.scores, self.arrays, a, b, groups)
            self.work += (
                len(self.machines[a].final) * len(self.machines[b].final) * groups.size * self.shape[0]
            )
            if alone[a] + alone[b] - both >= least:
                falls.append((alone[a] + alone[b] - both, a, b, both))
        used: set[int] = set()
        joined = []
        for _, a, b, both in sorted(falls, reverse=True):
            if not used & {a, b} and not self.is_late:
                used |= {a, b}
                joined.append(parts[a].joined(parts[b], both))
        if joined:
            self._put([*(part for m, part in enumerate(parts) if m not in used), *joined])

    def _pairs(self) -> list[tuple[int, int]]:
        """Pairs of machines that are not too large together, the smallest first."""
        arcs = [machine.target.size for machine in self.machines]
        pairs = sorted((arcs[a] * arcs[b], a, b) for a in range(len(arcs)) for b in range(a))
        return [(a, b) for size, a, b in pairs if size <= MOST_JOINED]

    def _best_of_each(self) -> Floats:
        """The best of each machine, where completions are up to date."""
        return self.scores.ahead[self.arrays.sizes[:, kernel.CELLS]]

    # ── labellings ──────────────────────────────────────────────────────────────────────────────

    def beam(self, width: int, floor: float) -> Beamed:
        """Labellings from left to right, the best `width` of each length among those above the floor."""
        self._complete()
        size, floor = len(self.machines), floor - self.constant
        prefixes = kernel.Prefixes(
            np.zeros(1, dtype=np.int64),
            np.zeros(1),
            self._best_of_each().sum(keepdims=True),
            np.zeros((1, size), dtype=np.int32),
        )
        chosen: list[tuple[Ints, Ints]] = []
        dropped, most = -np.inf, np.empty(0)
        for t in range(self.shape[0]):
            states = np.flatnonzero(self.scores.unary[t] > -np.inf)
            reach = np.empty((len(prefixes.state), len(states)))
            kernel.reach(self.pairwise, self.kind, self.scores, self.arrays, t, prefixes, states, reach)
            self.work += reach.size * (1 + size)
            rest, order = _largest(reach.ravel(), SPARE * width, floor)
            dropped = max(dropped, rest)
            if not len(order):
                return Beamed(None, -np.inf, dropped + self.constant)
            if self.is_late:
                return Beamed(None, -np.inf, np.inf)
            parents, which = np.divmod(order, len(states))
            longer = kernel.Prefixes(
                states[which],
                np.empty(len(order)),
                np.empty(len(order)),
                np.empty((len(order), size), dtype=np.int32),
            )
            keys = np.empty(len(order), dtype=np.int64)
            kernel.grow(
                self.pairwise, self.kind, self.scores, self.arrays, t, prefixes, parents, longer, keys
            )
            kept = _different(keys, longer.nodes)
            most = reach.ravel()[order[kept]]
            dropped = max(dropped, float(most[width:].max(initial=-np.inf)))
            kept = kept[:width]
            prefixes = kernel.Prefixes(*(column[kept] for column in longer))
            chosen.append((parents[kept], prefixes.state))
        place, labelling = 0, np.empty(self.shape[0], dtype=np.int32)
        for t in range(self.shape[0] - 1, -1, -1):
            parents, state = chosen[t]
            place, labelling[t] = parents[place], state[place]
        return Beamed(labelling, float(most[0]) + self.constant, dropped + self.constant)

    def labelling(self) -> States | None:
        """The label that reaches most, token by token; None if there is none that goes on."""
        states = np.empty(self.shape[0], dtype=np.int32)
        if self.went_forward.any() or not self.is_forward:
            self._complete()
        kernel.labelling(self.pairwise, self.kind, self.scores, self.arrays, states)
        self.work += self.shape[0] * self.shape[1] ** 2
        return states if states[-1] >= 0 else None


def excess_of(problem: Problem, linear: Linear, states: States) -> float:
    """How far a labelling is beyond the bound of a sum, or below it."""
    labels, end = problem.label_of[states], len(problem.schema)
    classes = np.append(problem.classes(linear), 0)
    total = linear.steps[classes, np.append(end, labels), np.append(labels, end)].sum()
    return float(total) - linear.limit(len(states))


def _largest(numbers: Floats, count: int, floor: float) -> tuple[float, Ints]:
    """The largest number above a floor that is not among the `count` largest; where these stand, in order."""
    places, rest = np.flatnonzero(numbers > floor), -np.inf
    if len(places) > count:
        order = np.argpartition(-numbers[places], count - 1)
        rest, places = float(numbers[places[order[count:]]].max()), places[order[:count]]
    return rest, places[np.argsort(-numbers[places], kind="stable")]


def _different(keys: Ints, nodes: States) -> Ints:
    """The first of those with the same key and nodes, in order."""
    order = np.argsort(keys, kind="stable")
    same = keys[order[1:]] == keys[order[:-1]]
    again = np.flatnonzero(same)
    same[again] = (nodes[order[again + 1]] == nodes[order[again]]).all(axis=1)
    return np.sort(order[np.concatenate([[True], ~same])])
