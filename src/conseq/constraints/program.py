"""Constraints lowered for the sequences at hand, as arrays that kernels read.

    constraints, schema ──lowered once──┐
    corpus (tokens, lengths) ───────────┴─→ Program ─→ violations[N,P] of any labellings

Axes: N sequences, T tokens, Y labels, P primitives, J counters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conseq.constraints.base import Constraint
from conseq.constraints.primitives import Automaton, Counter, Linear, Primitive
from conseq.constraints.tokens import TokenTest, passing
from conseq.corpus import Corpus
from conseq.dtypes import Ints
from conseq.errors import ConseqError, RuleError
from conseq.kept import kept
from conseq.kernels import clock
from conseq.kernels import violations as kernel
from conseq.schema import Schema

SHARED = ("n_linear", "rule_of", "arrays", "counter_list", "_passing")
"""What a program computes once and what does not depend on penalties."""


class TooLate(ConseqError):
    """The rules were not ready for the sequences in time."""


class Charge(NamedTuple):
    """A primitive, the number of the constraint it comes from, and what a unit of its violation costs."""

    rule: int
    penalty: float
    primitive: Primitive


@dataclass(frozen=True, eq=False)
class Program:
    """The primitives of some constraints, ground on a corpus.

    The sums come first, then the automata; `charges[p]` says whose primitive p is.
    """

    rules: tuple[Constraint, ...]
    schema: Schema
    corpus: Corpus
    charges: tuple[Charge, ...]  # [P]
    origin: Program | None = None  # the same rules at other penalties, from which this program was made
    _passing: dict[TokenTest, Ints] = field(default_factory=dict, init=False)  # on this corpus

    @classmethod
    def of(
        cls, rules: Iterable[Constraint], schema: Schema, corpus: Corpus, until: float = np.inf
    ) -> Program:
        """Lower every rule; an error says which rule does not fit the labels or the tokens.

        TooLate if the clock (`clock.now`) passes `until` before.
        """
        rules = tuple(rules)
        charges: list[Charge] = []
        for r, (rule, known) in enumerate(zip(rules, lowered(schema, rules), strict=True)):
            _check_clock(until)
            primitives = _lower(rule, schema, corpus) if known is None else known
            charges += [Charge(r, rule.penalty, primitive) for primitive in primitives]
        charges.sort(key=lambda c: isinstance(c.primitive, Automaton))
        program = cls(rules, schema, corpus, tuple(charges))
        for rule_number, _, primitive in charges:
            _check_clock(until)
            try:
                for test in primitive.tests:
                    program.passing(test)
            except RuleError as error:
                raise RuleError(f"{error.message} (rule: {rules[rule_number].line()})") from None
        return program

    def with_penalties(self, penalties: Iterable[float]) -> Program:
        """The same rules at other penalties, [K]; what these do not change is shared, so this is quick."""
        pairs = zip(self.rules, penalties, strict=True)
        rules = tuple(replace(rule, penalty=float(penalty)) for rule, penalty in pairs)
        charges = tuple(c._replace(penalty=rules[c.rule].penalty) for c in self.charges)
        other = replace(self, rules=rules, charges=charges, origin=self.origin or self)
        for name in SHARED:
            other.__dict__[name] = getattr(self, name)
        return other

    def __len__(self) -> int:
        return len(self.charges)

    @cached_property
    def n_linear(self) -> int:
        """The number of sums; the primitives from there on are automata."""
        return sum(isinstance(c.primitive, Linear) for c in self.charges)

    @cached_property
    def penalties(self) -> NDArray[np.float64]:
        """[P]"""
        return np.array([c.penalty for c in self.charges], dtype=np.float64)

    @cached_property
    def rule_of(self) -> Ints:
        """[P]"""
        return np.array([c.rule for c in self.charges], dtype=np.int64)

    @cached_property
    def local_penalties(self) -> dict[int, float]:
        """The primitives that can be charged step by step, and what they cost."""
        return {p: c.penalty for p, c in enumerate(self.charges) if c.primitive.is_local and c.penalty > 0}

    @cached_property
    def is_nonlocal(self) -> NDArray[np.bool_]:
        """Which primitives cost something and cannot be charged step by step, [P]."""
        return np.array([c.penalty > 0 and not c.primitive.is_local for c in self.charges], dtype=bool)

    def nonlocal_violated(self, violations: NDArray[np.float64]) -> Ints:
        """The primitives with violations [P] that cost something and cannot be charged step by step."""
        return np.flatnonzero((violations > 0) & self.is_nonlocal)

    def classes(self, primitive: Primitive, first: int = 0, last: int | None = None) -> Ints:
        """The class of each token of the corpus (from the first to before the last) for a primitive, [T]."""
        classes = np.zeros((self.corpus.n_tokens if last is None else last) - first, dtype=np.int64)
        for i, test in enumerate(primitive.tests):
            tokens = self.passing(test)
            a, b = np.searchsorted(tokens, (first, first + len(classes)))
            classes[tokens[a:b] - first] |= 1 << i
        return classes

    def passing(self, test: TokenTest) -> Ints:
        """The tokens of the corpus that pass a test, in order."""
        if test not in self._passing:
            self._passing[test] = passing(test, self.corpus)
        return self._passing[test]

    @cached_property
    def derived(self) -> dict[Any, Any]:
        """What others compute from this program once and keep with it."""
        return {}

    def violations(
        self, labels: NDArray, bounds: NDArray | None = None, first_token: NDArray | None = None
    ) -> NDArray[np.float64]:
        """How much labellings violate each primitive, [N,P].

        Labelling n is labels[bounds[n]:bounds[n+1]] and belongs to the tokens from first_token[n] on; without
        them the labels are those of the whole corpus. A labelling of −1 (there is none) violates nothing.
        """
        bounds = self.corpus.offsets if bounds is None else np.asarray(bounds, dtype=np.int64)
        tokens = bounds[:-1] if first_token is None else np.asarray(first_token, dtype=np.int64)
        result = np.zeros((len(bounds) - 1, len(self)))
        if len(self):
            given = np.ascontiguousarray(labels, dtype=np.int32)
            kernel.violations_of(
                given, bounds, np.ascontiguousarray(tokens), self.arrays, 0, len(result), result
            )
        return result

    def by_rule(self, violations: NDArray[np.float64]) -> NDArray[np.float64]:
        """Violations of primitives added up per constraint, [N,P] ─→ [N,K]."""
        result = np.zeros((len(violations), len(self.rules)))
        np.add.at(result.T, self.rule_of, violations.T)
        return result

    def costs(self, violations: NDArray[np.float64]) -> NDArray[np.float64]:
        """Σ penalty · violation, where 0 · inf is 0, [N,P] ─→ [N]."""
        if self._all_soft:
            return violations @ self.penalties
        paid = np.zeros(violations.shape)
        return np.multiply(violations, self.penalties, out=paid, where=violations > 0).sum(axis=1)

    @cached_property
    def _all_soft(self) -> bool:
        return bool(np.isfinite(self.penalties).all())

    # ── arrays for the kernel ───────────────────────────────────────────────────────────────────

    @cached_property
    def arrays(self) -> kernel.Ground:
        """All primitives as `kernels/violations.py` takes them."""
        return kernel.Ground(len(self.schema) + 1, self._counters(), self._sums(), self._automata())

    def _counters(self) -> kernel.Counters:
        tests = list(dict.fromkeys(c.test for c in self.counter_list if c.test is not None))
        moves = []
        for j, counter in enumerate(self.counter_list):
            steps = np.flatnonzero(counter.table)
            mask = -1 if counter.test is None else tests.index(counter.test)
            moves.append(np.stack(np.broadcast_arrays(steps, j, counter.table.flat[steps], mask), axis=1))
        table = np.concatenate([np.empty((0, 4), dtype=np.int64), *moves])
        table = table[np.argsort(table[:, 0], kind="stable")]
        size = len(self.schema) + 1
        pairs = np.concatenate([[0], np.cumsum(np.bincount(table[:, 0], minlength=size * size))])
        masks = np.zeros((len(tests), self.corpus.n_tokens), dtype=bool)
        for row, test in zip(masks, tests, strict=True):
            row[self.passing(test)] = True
        return kernel.Counters(pairs.astype(np.int64), np.ascontiguousarray(table[:, 1:]), masks)

    @cached_property
    def counter_list(self) -> list[Counter]:
        found = {id(c): c for charge in self.charges for _, c in getattr(charge.primitive, "terms", ())}
        return list(found.values())

    def _sums(self) -> kernel.Sums:
        number = {id(c): j for j, c in enumerate(self.counter_list)}
        linears = [c.primitive for c in self.charges if isinstance(c.primitive, Linear)]
        terms = [[weight, number[id(counter)]] for linear in linears for weight, counter in linear.terms]
        rows = np.concatenate([[0], np.cumsum([len(linear.terms) for linear in linears])]).astype(np.int64)
        limits = [[linear.bound, linear.per_token] for linear in linears]
        return kernel.Sums(
            rows,
            np.array(terms, dtype=np.int64).reshape(-1, 2),
            np.array(limits, dtype=np.float64).reshape(-1, 2),
        )

    @property
    def automaton_list(self) -> list[Automaton]:
        return [c.primitive for c in self.charges if isinstance(c.primitive, Automaton)]

    def _automata(self) -> kernel.Automata:
        """Automata may share their tables; memory grows with the tokens that they read."""
        tables: dict[tuple[int, ...], tuple[int, int]] = {}
        readings: dict[tuple[tuple[TokenTest, ...], bool], int] = {}
        read: list[tuple[Ints, Ints]] = [(_NONE, _NONE)]
        machines: list[tuple[int, ...]] = []
        steps, arcs, costs = [_NONE], [_NONE], [np.empty(0)]
        n_steps = n_arcs = 0
        for a in self.automaton_list:
            row = readings.setdefault((a.tests, a.is_idle), len(readings)) if a.tests else -1
            if row == len(read) - 1:
                read.append(self._reading(a))
            key = id(a.steps), id(a.next), id(a.cost)
            if key not in tables:
                tables[key] = n_steps, n_arcs
                steps.append(a.steps.ravel())
                arcs.append(a.next.ravel())
                costs.append(a.cost.ravel())
                n_steps, n_arcs = n_steps + a.steps.size, n_arcs + a.next.size
            machines.append((row, *tables[key], a.next.shape[1], a.start))
        return kernel.Automata(
            np.array(machines, dtype=np.int64).reshape(-1, 5),
            np.cumsum([len(tokens) for tokens, _ in read]),
            np.concatenate([tokens for tokens, _ in read]),
            np.concatenate([classes for _, classes in read]).astype(np.int16),
            np.concatenate(steps).astype(np.int16),
            np.concatenate(arcs).astype(np.int32),
            np.concatenate(costs),
        )

    def _reading(self, automaton: Automaton) -> tuple[Ints, Ints]:
        """The tokens at which an automaton does not just stay where it is, and their classes."""
        if automaton.is_idle and len(automaton.tests) == 1:
            tokens = self.passing(automaton.tests[0])
            return tokens, np.ones(len(tokens), dtype=np.int64)
        classes = self.classes(automaton)
        tokens = np.flatnonzero(classes) if automaton.is_idle else np.arange(len(classes))
        return tokens, classes[tokens]


_NONE = np.empty(0, dtype=np.int64)


@kept
def lowered(schema: Schema, rules: tuple[Constraint, ...]) -> tuple[Sequence[Primitive] | None, ...]:
    """The primitives of each rule; None for a rule that varies with the sequences."""
    return tuple(None if rule.varies else _lower(rule, schema, None) for rule in rules)


def _check_clock(until: float) -> None:
    if clock.now() > until:
        raise TooLate(
            "the rules were not ready for these tokens within the limit of seconds; give fewer rules, "
            "shorter sequences, or a higher limit"
        )


def _lower(rule: Constraint, schema: Schema, corpus: Corpus | None) -> Sequence[Primitive]:
    try:
        return rule.lower(schema, corpus)
    except RuleError as error:
        raise RuleError(f"{error.message} (rule: {rule.line()})") from None
