"""Counters and automata that read along with a chain: the arrays that `kernels/unfold.py` takes.

    program, some of its primitives, length ─→ Readers.select ─→ counting, sums, automata

Sums share their counters: once the counters of some sums are followed, every other sum over the same
counters can be settled as well, at no further cost. Where the sums are fewer than their counters, each is
counted as a whole.

Axes: Y labels, J counters of the program, R sums of the program.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cached_property
from threading import Lock
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conseq.constraints.program import Program
from conseq.potentials import Potentials

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Three = tuple[NDArray, NDArray, NDArray]


class Selected(NamedTuple):
    """What the kernel takes, in its order."""

    counting: tuple[NDArray, NDArray, NDArray]  # counters, tables, masks
    sums: tuple[NDArray, NDArray, NDArray]  # rows, terms, shape
    automata: tuple[NDArray, ...]  # heads, penalties, classes, steps, arcs, cost, least
    settled: Ints  # which sums of the program these are

    @property
    def width(self) -> int:
        """Numbers that a product state remembers."""
        return len(self.counting[0]) + len(self.automata[0])


class Readers:
    """The counters and automata of a program, for searches. `Readers.of` gives a program's own, made once."""

    _lock: ClassVar[Lock] = Lock()

    @classmethod
    def of(cls, program: Program) -> Readers:
        with cls._lock:
            return cls._of(program)

    @classmethod
    def _of(cls, program: Program) -> Readers:
        if cls not in program.derived:
            origin = program.origin
            program.derived[cls] = cls(program) if origin is None else cls._of(origin)._priced(program)
        return program.derived[cls]

    def __init__(self, program: Program) -> None:
        self.program = program
        self.rows, self.terms, self.limits = program.sums
        self.row_of_term = np.repeat(np.arange(len(self.limits)), np.diff(self.rows))
        self.tables, self.mask_of = _counter_tables(program)
        self.matters = program.is_extra[: len(self.limits)]
        weights = self.terms[:, 0]
        self.rises, self.falls = self._any_term(weights > 0), self._any_term(weights < 0)
        self.is_masked = self._any_term(self.mask_of[self.terms[:, 1]] >= 0)
        self.form_of, self.sign_of, self.forms = self._forms()
        self.automata = _automata(program)
        self._moves: dict[bytes, tuple[NDArray, NDArray, NDArray, NDArray]] = {}

    def _priced(self, program: Program) -> Readers:
        """The readers of the same rules at other prices; arrays that prices do not change are shared."""
        other = copy.copy(self)
        other.program = program
        other.matters = program.is_extra[: len(self.limits)]
        vars(other).pop("ceilings", None)
        return other

    def select(self, primitives: Sequence[int], length: int) -> Selected:
        """The readers of these primitives for a sequence of `length` tokens."""
        with self._lock:
            return self._select(primitives, length)

    def _select(self, primitives: Sequence[int], length: int) -> Selected:
        chosen = np.asarray(primitives, dtype=np.int64)
        n_linear = self.program.n_linear
        counting, sums, settled = self._sums(chosen[chosen < n_linear], length)
        machines = chosen[chosen >= n_linear] - n_linear
        heads, *rest = self.automata
        penalties = self.program.penalties[n_linear + machines]
        return Selected(counting, sums, (heads[machines], penalties, *rest), settled)

    def _sums(self, chosen: Ints, length: int) -> tuple[Three, Three, Ints]:
        """The counters that the chosen sums need, and every sum that these counters can settle."""
        is_chosen = np.zeros(len(self.limits), dtype=bool)
        is_chosen[chosen] = True
        counters = np.unique(self.terms[is_chosen[self.row_of_term], 1])
        forms = np.unique(self.form_of[chosen])
        if len(forms) < len(counters) and not self.is_masked[chosen].any():
            known = np.isin(self.form_of, forms) & self.matters & ~self.is_masked
            settled = np.flatnonzero(known)
            places = np.array([self.tables.place(f, self.forms[f]) for f in forms.tolist()], dtype=np.int64)
            terms = np.stack([self.sign_of[settled], np.searchsorted(forms, self.form_of[settled])], axis=1)
            rows = np.arange(len(settled) + 1)
            following = np.stack([places, np.full(len(places), -1)], axis=1)
        else:
            position = np.full(len(self.mask_of), -1, dtype=np.int64)
            position[counters] = np.arange(len(counters))
            known = ~self._any_term(position[self.terms[:, 1]] < 0) & self.matters
            settled = np.flatnonzero(known)
            inside = known[self.row_of_term]
            terms = np.stack([self.terms[inside, 0], position[self.terms[inside, 1]]], axis=1)
            rows = np.concatenate([[0], np.cumsum(np.diff(self.rows)[settled])])
            following = np.stack([counters, self.mask_of[counters]], axis=1)
        counting = (following.astype(np.int64), self.tables.rows, self.program.counters[2])
        sums = (rows.astype(np.int64), terms.astype(np.int64), self._shape(settled, length))
        return counting, sums, settled

    def all_limits(self, length: int) -> Floats:
        """The limits of all sums for a sequence of `length` tokens, [R]."""
        return np.round(self.limits[:, 0] + self.limits[:, 1] * length, 9)

    @cached_property
    def no_multipliers(self) -> Floats:
        return np.zeros(len(self.limits))

    @cached_property
    def ceilings(self) -> Floats:
        """How far multipliers may rise: to the penalty of a sum that is charged by degree and looks at no
        tokens; 0 for the other sums, [R]."""
        penalties = self.program.penalties[: len(self.limits)]
        simple = self.matters & ~self.is_masked & ((self.limits[:, 2] == 0) | np.isinf(penalties))
        return np.where(simple, penalties, 0.0)

    def moves(self, potentials: Potentials) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        """What each counter counts, as a bias of states and single steps: see `kernels/softdd.py`.

        Counters that look at tokens are left out. Steps that the potentials forbid may be counted either way,
        which lets most counters be a bias alone.
        """
        possible = _possible(potentials)
        key = possible.tobytes() + (b"" if potentials.label_of is None else potentials.label_of.tobytes())
        if key not in self._moves:
            self._moves[key] = _moves(self.program, potentials.label_of, possible)
        return self._moves[key]

    def _shape(self, settled: Ints, length: int) -> Floats:
        """Limit, penalty, multiplier (0), once, may rise, may fall, of each sum, [·,6]."""
        shape = np.empty((len(settled), 6))
        limits = self.limits[settled]
        shape[:, 0] = self.all_limits(length)[settled]
        shape[:, 1] = self.program.penalties[settled]
        shape[:, 2] = 0
        shape[:, 3] = limits[:, 2]
        shape[:, 4], shape[:, 5] = self.rises[settled], self.falls[settled]
        return shape

    def _any_term(self, holds: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Whether something holds of any term of each sum, [R]."""
        return np.bincount(self.row_of_term[holds], minlength=len(self.limits)) > 0

    def _forms(self) -> tuple[Ints, Ints, list[tuple[tuple[int, int], ...]]]:
        """Which sums add up the same counters: the number of each sum's form, its sign, and the forms."""
        numbers: dict[tuple[tuple[int, int], ...], int] = {}
        form_of, sign_of = (
            np.empty(len(self.limits), dtype=np.int64),
            np.ones(len(self.limits), dtype=np.int64),
        )
        terms = self.terms.tolist()
        for r, (a, b) in enumerate(zip(self.rows[:-1].tolist(), self.rows[1:].tolist(), strict=True)):
            form = sorted((counter, weight) for weight, counter in terms[a:b])
            if form and form[0][1] < 0:
                sign_of[r], form = -1, [(counter, -weight) for counter, weight in form]
            form_of[r] = numbers.setdefault(tuple(form), len(numbers))
        return form_of, sign_of, list(numbers)


class Tables:
    """What each step adds to each counter, and to each whole sum that was asked for, rows[·,(Y+1)²]."""

    def __init__(self, counters: Ints) -> None:
        self.rows = counters
        self.used = len(counters)
        self.places: dict[int, int] = {}

    def place(self, form: int, terms: Sequence[tuple[int, int]]) -> int:
        """Where the table of a whole sum stands; it is made when first asked for."""
        if form not in self.places:
            if self.used == len(self.rows):
                self.rows = np.concatenate([self.rows, np.zeros_like(self.rows)])
            row = self.rows[self.used]
            for counter, weight in terms:
                row += weight * self.rows[counter]
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


def _automata(program: Program) -> tuple[NDArray, ...]:
    """Heads [M,6], classes, steps, arcs, cost, and the least that each state will be charged."""
    machines, classes, steps, arcs, cost = program.automata
    least = [np.empty(0), *(automaton.least for automaton in program.automaton_list)]
    begins = np.cumsum([len(part) for part in least])[:-1]
    heads = np.column_stack([machines, begins]).astype(np.int64)
    return heads, classes, steps, arcs, cost, np.concatenate(least)


def _possible(potentials: Potentials) -> NDArray[np.bool_]:
    """The steps that are not forbidden, [S+1,S+1]; START and END are the last."""
    size = potentials.n_states
    possible = np.zeros((size + 1, size + 1), dtype=bool)
    possible[:-1, :-1] = potentials.pairwise.max(axis=0) > -np.inf
    possible[-1, :-1] = potentials.start > -np.inf
    possible[:-1, -1] = potentials.end > -np.inf
    return possible


def _moves(
    program: Program, label_of: NDArray[np.int32] | None, possible: NDArray[np.bool_]
) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """bias[J,S], first[J+1], steps, amounts."""
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
    return bias, np.array(first, dtype=np.int64), np.concatenate(steps), np.concatenate(amounts)
