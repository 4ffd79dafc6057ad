"""The primitives that a product-state search keeps track of, as arrays for `kernels/product_search.py`.

    program, some of its primitives, length ─→ Primitives.select ─→ Tracked: sums, automata

What is followed are *totals*, of which sums are made: their counters, or the sums as a whole where these are
fewer. Once the totals of some sums are followed, every other sum of the same totals can be settled as well,
at no further cost.

Axes: J counters and R sums of the program, K totals.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from conseq.constraints.primitives import Linear
from conseq.constraints.program import Program
from conseq.corpus import gathered
from conseq.dtypes import Bools, Floats, Ints, States
from conseq.kernels.lattice_dual import FALLS, LIMIT, PENALTY, RISES
from conseq.kernels.softdd import Effects
from conseq.kernels.violations import Sums
from conseq.potentials import Potentials


class Tracked(NamedTuple):
    """Some primitives of a program, for sequences of one length."""

    totals: Ints  # [J,K], what each count adds to what is followed
    sums: Sums  # of these; their limits have the columns of `kernels/lattice_dual.py`
    settled: Ints  # which sums of the program these are
    machines: Ints  # [M], which primitives the automata are

    @property
    def width(self) -> int:
        """Numbers that a product state remembers."""
        return self.totals.shape[1] + len(self.machines)


class Primitives:
    """The sums and automata of a program, for searches."""

    @classmethod
    def of(cls, program: Program) -> Primitives:
        """A program's own, made once."""
        if cls not in program.derived:
            if program.origin is None:
                program.derived[cls] = cls(program)
            else:  # the same rules at other penalties; what those do not change is shared
                program.derived[cls] = copy.copy(cls.of(program.origin))
                program.derived[cls].program = program
        return program.derived[cls]

    def __init__(self, program: Program) -> None:
        self.program = program
        linears = [c.primitive for c in program.charges if isinstance(c.primitive, Linear)]
        rows, terms, self.limits = program.arrays.sums
        self.counters = _Basis(rows, terms, len(program.counter_list))
        self.wholes = _Basis(np.arange(len(linears) + 1), _wholes(linears), len(linears))
        signs = [{weight > 0 for weight, _ in linear.terms} for linear in linears]
        self.rises = np.array([True in sign for sign in signs], dtype=bool)
        self.falls = np.array([False in sign for sign in signs], dtype=bool)
        self.is_masked = np.array([bool(linear.tests) for linear in linears], dtype=bool)
        least = [np.empty(0), *(automaton.least for automaton in program.automaton_list)]
        begins = np.cumsum([len(part) for part in least])[:-1]
        self.heads = np.column_stack([program.arrays.automata.machines, begins]).astype(np.int64)  # [M,6]
        self.least = np.concatenate(least)  # what each state of the automata will still be charged at least
        self._effects: dict[bytes, Effects] = {}

    @property
    def matters(self) -> Bools:
        """Which sums the scores do not charge step by step, [R]."""
        return self.program.is_nonlocal[: len(self.limits)]

    def select(self, primitives: Sequence[int], length: int) -> Tracked:
        """These primitives for a sequence of `length` tokens."""
        chosen = np.asarray(primitives, dtype=np.int64)
        is_chosen = np.zeros(len(self.limits), dtype=bool)
        is_chosen[chosen[chosen < len(self.limits)]] = True
        matter = self.matters | is_chosen  # local ones may be asked for where no potentials charge them
        counters, wholes = (basis.totals_of(is_chosen) for basis in (self.counters, self.wholes))
        if wholes.sum() < counters.sum():
            settled, rows, terms = self.wholes.made_of(wholes, matter)
            of_whole = wholes[self.counters.sum_of_term]
            whole = (np.cumsum(wholes) - 1)[self.counters.sum_of_term[of_whole]]
            weight, counter = self.counters.terms[of_whole].T
        else:
            settled, rows, terms = self.counters.made_of(counters, matter)
            counter, whole, weight = np.flatnonzero(counters), np.arange(counters.sum()), 1
        totals = np.zeros((len(counters), min(wholes.sum(), counters.sum())), dtype=np.int64)
        np.add.at(totals, (counter, whole), weight)
        limits = np.zeros((len(settled), 5))
        limits[:, LIMIT] = self.all_limits(length)[settled]
        limits[:, PENALTY] = self.program.penalties[settled]
        limits[:, RISES], limits[:, FALLS] = self.rises[settled], self.falls[settled]
        machines = chosen[chosen >= len(self.limits)]
        return Tracked(totals, Sums(rows, terms, limits), settled, machines)

    def all_limits(self, length: int) -> Floats:
        """The limits of all sums for a sequence of `length` tokens, [R]."""
        return np.round(self.limits[:, 0] + self.limits[:, 1] * length, 9)

    @property
    def ceilings(self) -> Floats:
        """How far multipliers may rise: to the penalty of a sum that looks at no tokens; 0 for others,
        [R]."""
        return np.where(self.matters & ~self.is_masked, self.program.penalties[: len(self.limits)], 0.0)

    def effects(self, potentials: Potentials) -> Effects:
        """What each counter counts, as a bias of states and single steps.

        Counters that look at tokens are left out. Steps that the potentials forbid may be counted either way,
        which lets most counters be a bias alone.
        """
        possible = _possible(potentials)
        key = possible.tobytes() + potentials.state_labels.tobytes()
        if key not in self._effects:
            self._effects[key] = _effects(self.program, potentials.state_labels, possible)
        return self._effects[key]


class _Basis:
    """Totals of which all sums are made, by terms (coefficient, number of the total)."""

    def __init__(self, rows: Ints, terms: Ints, size: int) -> None:
        self.rows, self.terms, self.size = rows, terms, size
        self.sum_of_term = np.repeat(np.arange(len(rows) - 1), np.diff(rows))

    def totals_of(self, is_chosen: Bools) -> Bools:
        """Those that the chosen sums are made of."""
        found = np.zeros(self.size, dtype=bool)
        found[self.terms[is_chosen[self.sum_of_term], 1]] = True
        return found

    def made_of(self, totals: Bools, among: Bools) -> tuple[Ints, Ints, Ints]:
        """The sums, among some, that are made of these totals alone; rows and terms of them."""
        is_made = among.copy()
        is_made[self.sum_of_term[~totals[self.terms[:, 1]]]] = False
        sums = np.flatnonzero(is_made)
        rows, places = gathered(self.rows, sums)
        terms = self.terms[places]
        terms[:, 1] = (np.cumsum(totals) - 1)[terms[:, 1]]
        return sums, rows, terms


def _wholes(linears: Sequence[Linear]) -> Ints:
    """For each sum 1 or −1 and the first sum that adds up the same counters, or takes off what it adds up."""
    known: dict[frozenset[tuple[int, int]], int] = {}
    found = np.ones((len(linears), 2), dtype=np.int64)
    for r, linear in enumerate(linears):
        terms, negative = (frozenset((s * w, id(c)) for w, c in linear.terms) for s in (1, -1))
        found[r] = (-1, known[negative]) if negative in known else (1, known.setdefault(terms, r))
    return found


def _possible(potentials: Potentials) -> Bools:
    """The steps that are not forbidden, [S+1,S+1]; START and END are the last."""
    size = potentials.n_states
    possible = np.zeros((size + 1, size + 1), dtype=bool)
    possible[:-1, :-1] = potentials.pairwise.max(axis=0) > -np.inf
    possible[-1, :-1] = potentials.start > -np.inf
    possible[:-1, -1] = potentials.end > -np.inf
    return possible


def _effects(program: Program, label_of: States, possible: Bools) -> Effects:
    size = len(possible) - 1
    rows = np.append(label_of, len(program.schema))
    into = possible[:, :-1]
    bias = np.zeros((len(program.counter_list), size))
    first, steps, amounts = [0], [np.empty(0, dtype=np.int64)], [np.empty(0)]
    for j, counter in enumerate(program.counter_list):
        if counter.test is None:
            table = counter.table[np.ix_(rows, rows)].astype(np.float64)
            most = np.where(into, table[:, :-1], -np.inf).max(axis=0)
            bias[j] = np.where(most > -np.inf, most, 0.0)
            table[:, :-1] -= bias[j]
            table[~possible] = 0
            table[-1, -1] = 0
            steps.append(np.flatnonzero(table))
            amounts.append(table.ravel()[steps[-1]])
        first.append(first[-1] + (len(steps[-1]) if counter.test is None else 0))
    return Effects(bias, np.array(first, dtype=np.int64), np.concatenate(steps), np.concatenate(amounts))
