"""Constraints lowered for the sequences at hand, as arrays that kernels read.

    constraints, schema ──lowered once──┐
    corpus (tokens, lengths) ───────────┴─→ Program ─→ violations[N,P] of any labellings

Axes: N sequences, T tokens, Y labels, P primitives, J counters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conseq.constraints.base import Constraint
from conseq.constraints.primitives import Automaton, Counter, Linear, Primitive, token_classes
from conseq.constraints.tokens import TokenTest
from conseq.corpus import Corpus
from conseq.errors import RuleError
from conseq.kernels import violations as kernel
from conseq.schema import Schema

Ints = NDArray[np.int64]

SHARED = ("n_linear", "rule_of", "arrays", "counter_list", "_classes")
"""What a program computes once and what does not depend on penalties."""


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

    @classmethod
    def of(cls, rules: Iterable[Constraint], schema: Schema, corpus: Corpus) -> Program:
        """Lower every rule; an error says which rule does not fit the labels or the tokens."""
        rules = tuple(rules)
        fixed = lowered(rules, schema)
        lists: list[Sequence[Primitive]] = []
        for rule, primitives in zip(rules, fixed, strict=True):
            lists.append(_lower(rule, schema, corpus) if primitives is None else primitives)
        charges = [Charge(r, rules[r].penalty, p) for r, primitives in enumerate(lists) for p in primitives]
        charges.sort(key=lambda c: isinstance(c.primitive, Automaton))
        program = cls(rules, schema, corpus, tuple(charges))
        program.check_tokens()
        return program

    def with_penalties(self, penalties: Iterable[float]) -> Program:
        """The same rules at other penalties, [K]; what these do not change is shared, so this is quick."""
        pairs = zip(self.rules, penalties, strict=True)
        rules = tuple(replace(rule, penalty=float(penalty)) for rule, penalty in pairs)
        charges = tuple(c._replace(penalty=rules[c.rule].penalty) for c in self.charges)
        other = Program(rules, self.schema, self.corpus, charges, self.origin or self)
        for name in SHARED:
            other.__dict__[name] = getattr(self, name)
        return other

    def check_tokens(self) -> None:
        """Raise with the first rule that looks at tokens where there are none."""
        for rule, _, primitive in self.charges:
            try:
                self.classes(primitive)
            except RuleError as error:
                raise RuleError(f"{error.message} (rule: {self.rules[rule].line()})") from None

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

    def classes(self, primitive: Primitive) -> Ints:
        """The class of each token of the corpus for a primitive, [T]."""
        return self.token_classes(primitive.tests)

    def token_classes(self, tests: tuple[TokenTest, ...]) -> Ints:
        if tests not in self._classes:
            self._classes[tests] = token_classes(tests, self.corpus)
        return self._classes[tests]

    @cached_property
    def derived(self) -> dict[Any, Any]:
        """What others compute from this program once and keep with it."""
        return {}

    @cached_property
    def _classes(self) -> dict[tuple[TokenTest, ...], Ints]:
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
        with np.errstate(invalid="ignore"):
            return np.where(violations > 0, violations * self.penalties, 0.0).sum(axis=1)

    @cached_property
    def _all_soft(self) -> bool:
        return bool(np.isfinite(self.penalties).all())

    # ── arrays for the kernel ───────────────────────────────────────────────────────────────────

    @cached_property
    def arrays(self) -> kernel.Rules:
        """All primitives as `kernels/violations.py` takes them."""
        return kernel.Rules(len(self.schema) + 1, self._counters(), self._sums(), self._automata())

    def _counters(self) -> kernel.Counters:
        tests = list(dict.fromkeys(c.test for c in self.counter_list if c.test is not None))
        moves = []
        for j, counter in enumerate(self.counter_list):
            flat = counter.table.ravel()
            steps = np.flatnonzero(flat)
            mask = -1 if counter.test is None else tests.index(counter.test)
            columns = (steps, np.full(len(steps), j), flat[steps], np.full(len(steps), mask))
            moves.append(np.stack(columns, axis=1))
        table = np.concatenate([np.empty((0, 4), dtype=np.int64), *moves])
        table = table[np.argsort(table[:, 0], kind="stable")]
        size = len(self.schema) + 1
        pairs = np.concatenate([[0], np.cumsum(np.bincount(table[:, 0], minlength=size * size))])
        masks = np.zeros((len(tests), self.corpus.n_tokens), dtype=bool)
        for row, test in zip(masks, tests, strict=True):
            row[:] = self.token_classes((test,)) == 1
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
        automata = self.automaton_list
        tests = list(dict.fromkeys(a.tests for a in automata if a.tests))
        machines: list[list[int]] = []
        steps = [np.empty(0, dtype=np.int16)]
        arcs = [np.empty(0, dtype=np.int32)]
        costs = [np.empty(0)]
        n_steps = n_arcs = 0
        for a in automata:
            row = tests.index(a.tests) if a.tests else -1
            machines.append([row, n_steps, n_arcs, a.next.shape[1], a.start])
            steps.append(a.steps.astype(np.int16).ravel())
            arcs.append(a.next.astype(np.int32).ravel())
            costs.append(a.cost.ravel())
            n_steps, n_arcs = n_steps + a.steps.size, n_arcs + a.next.size
        classes = np.zeros((len(tests), self.corpus.n_tokens), dtype=np.int16)
        for line, test in zip(classes, tests, strict=True):
            line[:] = self.token_classes(test)
        return kernel.Automata(
            np.array(machines, dtype=np.int64).reshape(-1, 5),
            classes,
            np.concatenate(steps),
            np.concatenate(arcs),
            np.concatenate(costs),
        )


@lru_cache(maxsize=32)
def lowered(rules: tuple[Constraint, ...], schema: Schema) -> tuple[Sequence[Primitive] | None, ...]:
    """The primitives of each rule; None for a rule that varies with the sequences."""
    return tuple(None if rule.varies else _lower(rule, schema, None) for rule in rules)


def _lower(rule: Constraint, schema: Schema, corpus: Corpus | None) -> Sequence[Primitive]:
    try:
        return rule.lower(schema, corpus)
    except RuleError as error:
        raise RuleError(f"{error.message} (rule: {rule.line()})") from None
