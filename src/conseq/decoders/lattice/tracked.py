"""The primitives that a product-state search keeps track of, as arrays for `kernels/product_search.py`.

    program, some of its primitives, length ─→ Primitives.select ─→ Tracked: counters, sums, automata

Sums share their counters: once the counters of some sums are followed, every other sum over the same
counters can be settled as well, at no further cost. Where the sums are fewer than their counters, each is
counted as a whole.

Axes: Y labels, J counters of the program, R sums of the program.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conseq.constraints.program import Program
from conseq.kernels.lattice_dual import FALLS, LIMIT, PENALTY, RISES
from conseq.kernels.softdd import Effects
from conseq.kernels.violations import Sums
from conseq.potentials import Potentials
from conseq.threads import ForkLock

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Tracked(NamedTuple):
    """Some primitives of a program, for sequences of one length."""

    counters: Ints  # [R,2]: row of `tables`, row of the program's masks or −1
    tables: Ints  # [·,(Y+1)²], what each step adds
    sums: Sums  # over these counters; their limits have the columns of `kernels/lattice_dual.py`
    settled: Ints  # which sums of the program these are
    machines: Ints  # [M], which primitives the automata are
    heads: Ints  # [M,6], see `product_search.Machines`

    @property
    def width(self) -> int:
        """Numbers that a product state remembers."""
        return len(self.counters) + len(self.heads)


class Primitives:
    """The counters and automata of a program, for searches."""

    @classmethod
    def of(cls, program: Program) -> Primitives:
        """A program's own, made once."""
        if cls not in program.derived:
            origin = program.origin
            program.derived[cls] = cls(program) if origin is None else cls.of(origin)._with_penalties(program)
        return program.derived[cls]

    def __init__(self, program: Program) -> None:
        self.program = program
        self.rows, self.terms, self.limits = program.arrays.sums
        self.row_of_term = np.repeat(np.arange(len(self.limits)), np.diff(self.rows))
        self.tables, self.mask_of = _counter_tables(program)
        self.matters = program.is_nonlocal[: len(self.limits)]
        weights = self.terms[:, 0]
        self.rises, self.falls = self._any_term(weights > 0), self._any_term(weights < 0)
        self.is_masked = self._any_term(self.mask_of[self.terms[:, 1]] >= 0)
        self.form_of, self.sign_of, self.forms = self._forms()
        self.heads, self.least = _heads(program)
        self._effects: dict[bytes, Effects] = {}

    def _with_penalties(self, program: Program) -> Primitives:
        """The primitives of the same rules at other penalties; what penalties do not change is shared."""
        other = copy.copy(self)
        other.program = program
        other.matters = program.is_nonlocal[: len(self.limits)]
        vars(other).pop("ceilings", None)
        return other

    def select(self, primitives: Sequence[int], length: int) -> Tracked:
        """These primitives for a sequence of `length` tokens."""
        chosen = np.asarray(primitives, dtype=np.int64)
        n_linear = self.program.n_linear
        sums, machines = chosen[chosen < n_linear], chosen[chosen >= n_linear]
        is_chosen = np.zeros(len(self.limits), dtype=bool)
        is_chosen[sums] = True
        matter = self.matters | is_chosen  # local ones may be asked for where no potentials charge them
        used = np.unique(self.terms[is_chosen[self.row_of_term], 1])
        forms = np.unique(self.form_of[sums])
        if len(forms) < len(used) and not self.is_masked[sums].any():
            counters, rows, terms, settled = self._whole(forms, matter)
        else:
            counters, rows, terms, settled = self._counted(used, matter)
        limits, heads = self._limits(settled, length), self.heads[machines - n_linear]
        return Tracked(counters, self.tables.rows, Sums(rows, terms, limits), settled, machines, heads)

    def _counted(self, counters: Ints, matter: Bools) -> tuple[Ints, ...]:
        """The counters; rows, terms and numbers of all sums that they settle."""
        position = np.full(len(self.mask_of), -1, dtype=np.int64)
        position[counters] = np.arange(len(counters))
        known = ~self._any_term(position[self.terms[:, 1]] < 0) & matter
        inside, settled = known[self.row_of_term], np.flatnonzero(known)
        terms = np.stack([self.terms[inside, 0], position[self.terms[inside, 1]]], axis=1)
        rows = np.concatenate([[0], np.cumsum(np.diff(self.rows)[settled])])
        return np.stack([counters, self.mask_of[counters]], axis=1), rows, terms, settled

    def _whole(self, forms: Ints, matter: Bools) -> tuple[Ints, ...]:
        """The same where each form is counted as a whole."""
        settled = np.flatnonzero(np.isin(self.form_of, forms) & matter & ~self.is_masked)
        terms = np.stack([self.sign_of[settled], np.searchsorted(forms, self.form_of[settled])], axis=1)
        places = [[self.tables.place(f, self.forms[f]), -1] for f in forms.tolist()]
        return np.array(places), np.arange(len(settled) + 1), terms, settled

    def all_limits(self, length: int) -> Floats:
        """The limits of all sums for a sequence of `length` tokens, [R]."""
        return np.round(self.limits[:, 0] + self.limits[:, 1] * length, 9)

    @cached_property
    def no_multipliers(self) -> Floats:
        return np.zeros(len(self.limits))

    @cached_property
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
        key = possible.tobytes() + (b"" if potentials.label_of is None else potentials.label_of.tobytes())
        if key not in self._effects:
            self._effects[key] = _effects(self.program, potentials.label_of, possible)
        return self._effects[key]

    def _limits(self, settled: Ints, length: int) -> Floats:
        """The columns LIMIT, PENALTY, MULTIPLIER (0), RISES, FALLS of sums, [·,5]."""
        limits = np.zeros((len(settled), 5))
        limits[:, LIMIT] = self.all_limits(length)[settled]
        limits[:, PENALTY] = self.program.penalties[settled]
        limits[:, RISES], limits[:, FALLS] = self.rises[settled], self.falls[settled]
        return limits

    def _any_term(self, holds: Bools) -> Bools:
        """Whether something holds of any term of each sum, [R]."""
        return np.bincount(self.row_of_term[holds], minlength=len(self.limits)) > 0

    def _forms(self) -> tuple[Ints, Ints, list[tuple[tuple[int, int], ...]]]:
        """Which sums add up the same counters: the number of each sum's form, its sign, and the forms."""
        numbers: dict[tuple[tuple[int, int], ...], int] = {}
        form_of, sign_of = np.ones((2, len(self.limits)), dtype=np.int64)
        terms = self.terms.tolist()
        for r, (a, b) in enumerate(zip(self.rows[:-1].tolist(), self.rows[1:].tolist(), strict=True)):
            form = sorted((counter, weight) for weight, counter in terms[a:b])
            if form and form[0][1] < 0:
                sign_of[r], form = -1, [(counter, -weight) for counter, weight in form]
            form_of[r] = numbers.setdefault(tuple(form), len(numbers))
        return form_of, sign_of, list(numbers)


class Tables:
    """What each step adds to each counter, and to each whole sum that was asked for, rows[·,(Y+1)²]."""

    _lock: ClassVar[ForkLock] = ForkLock()

    def __init__(self, counters: Ints) -> None:
        self.rows = counters
        self.used = len(counters)
        self.places: dict[int, int] = {}

    def place(self, form: int, terms: Sequence[tuple[int, int]]) -> int:
        """Where the table of a whole sum stands; it is made when first asked for."""
        with self._lock:
            if form not in self.places:
                if self.used == len(self.rows):
                    self.rows = np.concatenate([self.rows, np.zeros_like(self.rows)])
                for counter, weight in terms:
                    self.rows[self.used] += weight * self.rows[counter]
                self.places[form] = self.used
                self.used += 1
            return self.places[form]


def _counter_tables(program: Program) -> tuple[Tables, Ints]:
    """What each step adds to each counter, [J,(Y+1)²], and the mask of each counter or −1, [J]."""
    size = (len(program.schema) + 1) ** 2
    counters = program.counter_list
    tables = np.array([c.table.ravel() for c in counters], dtype=np.int64).reshape(len(counters), size)
    tests = list(dict.fromkeys(c.test for c in counters if c.test is not None))
    masks = [-1 if c.test is None else tests.index(c.test) for c in counters]
    return Tables(tables), np.array(masks, dtype=np.int64)


def _heads(program: Program) -> tuple[Ints, Floats]:
    """Heads [M,6] of the automata, and the least that each of their states will still be charged."""
    least = [np.empty(0), *(automaton.least for automaton in program.automaton_list)]
    begins = np.cumsum([len(part) for part in least])[:-1]
    heads = np.column_stack([program.arrays.automata.machines, begins]).astype(np.int64)
    return heads, np.concatenate(least)


def _possible(potentials: Potentials) -> Bools:
    """The steps that are not forbidden, [S+1,S+1]; START and END are the last."""
    size = potentials.n_states
    possible = np.zeros((size + 1, size + 1), dtype=bool)
    possible[:-1, :-1] = potentials.pairwise.max(axis=0) > -np.inf
    possible[-1, :-1] = potentials.start > -np.inf
    possible[:-1, -1] = potentials.end > -np.inf
    return possible


def _effects(program: Program, label_of: NDArray[np.int32] | None, possible: Bools) -> Effects:
    size = len(possible) - 1
    rows = np.append(np.arange(size) if label_of is None else label_of, len(program.schema))
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
