"""Logic from data: a class of samples as a disjunction of clauses, the strongest first.

    matrix[S,Q], target[S] ─→ Table (equal rows once) ─→ one minimum cost problem per clause ─→ Clauses
                                                            ▲   remove what it explains   │
                                                            └─────────────────────────────┘

A clause is a conjunction of literals: predicates, or negated ones. Each clause is the best for what is left,
by a minimum cost satisfiability problem (Fersini et al. 2014, after Felici and Truemper 2002):

    min  Σ_a w_a d_a + literal · Σ_j u_j + false_cost · Σ_b w_b ξ_b
    Σ_j u_j ≤ M_a d_a      for samples a of the class not yet explained, over the literals j false on a
    Σ_j u_j ≥ 1 − ξ_b      for samples b of the others, over the literals j false on b
    u_j + u_k ≤ 1          for a predicate j and its negation k
    shortest ≤ Σ_j u_j ≤ longest,   u, d ∈ {0,1},   ξ ∈ [0,1]

where u_j: literal j is used (p_q and n_q of a predicate q), d_a: the clause is false on a, ξ_b: it is wrongly
true on b, and M_a the most literals false on a that a clause can use. (A row u_j ≤ d_a for each pair is
tighter, but on labelled sequences it took HiGHS many times as long.)

Axes: S samples, D distinct ones, Q predicates, J literals.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from conseq.dtypes import Bools, Floats, Ints
from conseq.errors import DataError
from conseq.solver import Assembly

TOLERANCE = 1e-6
"""A clause whose power comes so close to the bound, relatively, is the best one."""


@dataclass(frozen=True)
class Literal:
    """A predicate or its negation.

    >>> print(Literal("first"), "and", Literal("comma", positive=False))
    first and not comma
    """

    predicate: str
    positive: bool = True

    def __str__(self) -> str:
        return self.predicate if self.positive else f"not {self.predicate}"


@dataclass(frozen=True)
class Clause:
    """A conjunction of literals that tells a class; without literals it always holds.

    support   samples of the class that it holds for, explained by earlier clauses or not
    false     other samples that it holds for
    power     samples of the class that no earlier clause explains, less `false_cost` for each of `false` and
              `literal` for each literal, over the samples drawn: what the clause is the best in
    proved    no clause has more power
    """

    literals: tuple[Literal, ...]
    support: int
    false: int
    power: float
    proved: bool = True

    def __str__(self) -> str:
        return " and ".join(map(str, self.literals)) or "always"


@dataclass(frozen=True, eq=False)
class Table:
    """Samples by predicates: equal samples once, equal predicates once, and no constant ones."""

    names: tuple[str, ...]  # [Q]
    rows: Bools  # [D,Q], all different
    which: Ints  # [S], the row of each sample

    @classmethod
    def of(cls, matrix: ArrayLike, names: Sequence[str], constant: bool = False) -> Table:
        """Of predicates with equal columns the first gives the name; on demand constant ones stay, too."""
        given = np.asarray(matrix, dtype=bool)
        if given.ndim != 2 or given.shape[1] != len(names):
            raise DataError(
                f"a matrix of shape {given.shape} does not fit {len(names)} predicates; "
                "give a row per sample and a column per predicate"
            )
        if len(set(names)) < len(names):
            twice = next(name for i, name in enumerate(names) if name in names[:i])
            raise DataError(f"predicate {twice!r} is listed twice; list each once")
        first, which = distinct(given)
        rows = given[first]
        different = np.sort(distinct(rows.T)[0])
        holds = rows[:, different].sum(axis=0)
        kept = different[((holds > 0) & (holds < len(rows))) | constant]
        return cls(tuple(names[q] for q in kept.tolist()), rows[:, kept], which)

    def count(self, samples: Bools) -> Floats:
        """How many of the samples[S] are equal to each row, [D]."""
        return np.bincount(self.which[samples], minlength=len(self.rows)).astype(np.float64)


@dataclass(frozen=True)
class ClauseMiner:
    """Finds clauses that hold for samples of a class and for none, or few, of the others.

    false_cost    what a sample outside the class costs if a clause holds for it, in samples of the class: a
                  clause pays if the class has more than false_cost / (1 + false_cost) of the samples that it
                  holds for; inf: it must hold for none
    literal       what a literal costs; small: of equally good clauses the shorter one wins
    negations     whether predicates may be negated
    shortest      the least number of literals; 0 allows for the clause that always holds
    longest       the greatest number of literals; None: any
    least_power   the first clause with less power ends the search; above 0
    most_clauses  the greatest number of clauses
    most_samples  of more distinct samples this number is drawn with the seed, frequent ones more likely
    seconds       the limit for each clause; if it strikes, the clause is the best one found

    Powers do not increase from clause to clause as long as all are `proved`, and the same samples in any
    order give the same clauses.

    >>> rows = [[0, 0], [0, 1], [0, 1], [1, 0], [1, 1]]
    >>> for clause in ClauseMiner().mine(rows, ["a", "b"], [0, 1, 1, 1, 0]):
    ...     print(clause, clause.support, clause.false, clause.power)
    b and not a 2 0 1.98
    a and not b 1 0 0.98
    """

    false_cost: float = 1.0
    literal: float = 0.01
    negations: bool = True
    shortest: int = 0
    longest: int | None = None
    least_power: float = 0.5
    most_clauses: int = 20
    most_samples: int = 2_000
    seconds: float = 10.0
    seed: int = 0

    def mine(self, matrix: ArrayLike, names: Sequence[str], target: ArrayLike) -> list[Clause]:
        """Clauses for the samples with target[S], by their predicates, matrix[S,Q]."""
        return self.mine_table(Table.of(matrix, names), target)

    def mine_table(
        self, table: Table, target: ArrayLike, *, among: Bools | None = None, without: Collection[str] = ()
    ) -> list[Clause]:
        """Clauses for a class of the samples, or of those `among`[S] them, not `without` some predicates."""
        self._check()
        inside = np.asarray(target, dtype=bool)
        if inside.shape != table.which.shape:
            raise DataError(
                f"the target has the shape {inside.shape} for {len(table.which)} samples; "
                "give one value per sample"
            )
        kept = np.ones(len(inside), dtype=bool) if among is None else among
        usable = np.array([name not in without for name in table.names], dtype=bool)
        literals, truth = self._literals([n for n in table.names if n not in without], table.rows[:, usable])
        members, others = table.count(inside & kept), table.count(~inside & kept)
        left, wrong = self._draw(members, others)
        cost = min(self.false_cost, float(left.sum()) + 1)  # enough: one wrong sample outweighs all others
        found: list[Clause] = []
        longest = len(table.names) if self.longest is None else self.longest
        while len(found) < self.most_clauses and left.sum() >= self.least_power:
            used, proved, longest = self._best(truth, left, cost * wrong, longest)
            holds = truth[:, used].all(axis=1)
            power = float(left @ holds - cost * (wrong @ holds) - self.literal * len(used))
            if len(used) < self.shortest or power < self.least_power:
                break
            counts = int(members @ holds), int(others @ holds)
            found.append(Clause(tuple(literals[j] for j in used), *counts, power, proved))
            left = np.where(holds, 0.0, left)
        return found

    def _check(self) -> None:
        for name in ("false_cost", "least_power"):
            if not getattr(self, name) > 0:
                raise DataError(f"{name} is {getattr(self, name)}; give a number above 0")
        if not self.literal >= 0:
            raise DataError(f"literal is {self.literal}; give a number of at least 0")

    def _literals(self, names: Sequence[str], rows: Bools) -> tuple[list[Literal], Bools]:
        """The literals, [J], and where they are true, [D,J]."""
        literals = [Literal(name) for name in names]
        if not self.negations:
            return literals, rows
        return literals + [Literal(name, False) for name in names], np.hstack([rows, ~rows])

    def _draw(self, members: Floats, others: Floats) -> tuple[Floats, Floats]:
        """The weights of samples of the class and of the others, 0 for those not drawn, [D] each."""
        weights = np.concatenate([members, others])
        if np.count_nonzero(weights) > self.most_samples:
            rng = np.random.default_rng(self.seed)
            shares = weights / weights.sum()
            drawn = rng.choice(len(weights), self.most_samples, replace=False, p=shares)
            weights = np.where(np.isin(np.arange(len(weights)), drawn), weights, 0.0)
        return weights[: len(members)], weights[len(members) :]

    def _best(self, truth: Bools, gain: Floats, loss: Floats, longest: int) -> tuple[list[int], bool, int]:
        """The literals of the best clause, whether it is proved to be, and the longest one worth having.

        A literal that holds for less than the least power of what is left is in no clause worth having.
        """
        useful = np.flatnonzero(gain @ truth >= self.least_power)
        predicate = useful % max(1, truth.shape[1] // (1 + self.negations))
        rows, options = truth[:, useful], replace(self, longest=longest)
        problem = Problem(*merged(rows, gain), *merged(rows, loss), predicate, options)
        used, proved = problem.solve()
        return useful[used].tolist(), proved, problem.longest


@dataclass(frozen=True, eq=False)
class Problem:
    """The search for one clause: gain[A] for samples of the class, loss[B] for the others it holds for.

    Samples that no literal tells apart are one.
    """

    member: Bools  # [A,J], the literals that are true on samples of the class
    gain: Floats  # [A]
    other: Bools  # [B,J]
    loss: Floats  # [B]
    predicate: Ints  # [J], which predicate a literal is of
    options: ClauseMiner

    def solve(self) -> tuple[Ints, bool]:
        """The best clause, ascending, and whether none is better.

        It is HiGHS', or if the time was up the better of its clause and a greedy one. Among literals that
        exclude each other the greedy one is the best.
        """
        if self.longest <= 1:
            return self.greedy(), True
        answer = self._assemble().solve(self.options.seconds)
        clauses = (
            [] if answer.values is None else [np.flatnonzero(answer.values[: len(self.predicate)] > 0.5)]
        )
        bound = answer.bound + float(self.gain.sum())
        close = TOLERANCE * (1 + abs(bound))
        if not clauses or self.power(clauses[0]) < bound - close:
            clauses.append(self.greedy())
        best = max(clauses, key=self.power)
        return best, self.power(best) >= bound - close

    def power(self, used: Ints) -> float:
        """The power of the clause with these literals."""
        holds, fails = self.member[:, used].all(axis=1), self.other[:, used].all(axis=1)
        return float(self.gain @ holds - self.loss @ fails) - self.options.literal * len(used)

    @cached_property
    def longest(self) -> int:
        """The greatest length of a clause worth having.

        Any two of its literals hold together for at least the least power, so it has at most one literal more
        than the most such partners of a literal: one, if the literals exclude each other.
        """
        longest = len(self.predicate) if self.options.longest is None else self.options.longest
        if longest <= 1:
            return min(longest, len(self.predicate))
        together = (self.member.T * self.gain) @ self.member.astype(np.float64) >= self.options.least_power
        partners = (together & (self.predicate[:, None] != self.predicate)).sum(axis=1)
        return min(longest, 1 + int(partners.max(initial=0)), len(self.predicate))

    def _assemble(self) -> Assembly:
        assembly = Assembly()
        literals = assembly.add_columns(np.full(len(self.predicate), -self.options.literal), integral=True)
        ones = np.ones(len(literals))
        assembly.add_rows(self.options.shortest, self.longest, np.zeros_like(literals), literals, ones)
        self._add_members(assembly)
        missing = assembly.add_columns(-self.loss)
        sample, literal = np.nonzero(~self.other)
        rows, columns = np.concatenate([sample, np.arange(len(missing))]), np.concatenate([literal, missing])
        assembly.add_rows(np.ones(len(missing)), np.inf, rows, columns, np.ones(len(rows)))
        predicates, which = np.unique(self.predicate, return_inverse=True)
        assembly.add_rows(np.full(len(predicates), -np.inf), 1.0, which, literals, ones)
        return assembly

    def _add_members(self, assembly: Assembly) -> None:
        """d_a, and rows that make it 1 if a literal is used that is false on a: Σ u_j − M_a d_a ≤ 0."""
        sample, literal = np.nonzero(~self.member)
        false = assembly.add_columns(-self.gain, integral=True)
        most = np.minimum(np.bincount(sample, minlength=len(false)), self.longest)
        rows, columns = np.concatenate([sample, np.arange(len(false))]), np.concatenate([literal, false])
        values = np.concatenate([np.ones(len(literal)), -most])
        assembly.add_rows(np.full(len(false), -np.inf), 0.0, rows, columns, values)

    def greedy(self) -> Ints:
        """A clause put together literal by literal, each the best next to those before it."""
        member, other = np.ones(len(self.gain), dtype=bool), np.ones(len(self.loss), dtype=bool)
        used: list[int] = []
        tried = [used] if self.options.shortest == 0 else []
        for _ in range(self.longest):
            value = (self.gain * member) @ self.member - (self.loss * other) @ self.other
            value[np.isin(self.predicate, self.predicate[used])] = -np.inf
            best = int(np.argmax(value))
            used = [*used, best]
            member, other = member & self.member[:, best], other & self.other[:, best]
            if len(used) >= self.options.shortest:
                tried.append(used)
        clauses = [np.array(sorted(clause), dtype=np.int64) for clause in tried]
        return max(clauses, key=self.power, default=np.zeros(0, dtype=np.int64))


def distinct(rows: Bools) -> tuple[Ints, Ints]:
    """Where each distinct row occurs first, and the number of each row among them."""
    if not rows.size:
        return np.arange(min(1, len(rows))), np.zeros(len(rows), dtype=np.int64)
    packed = np.ascontiguousarray(np.packbits(rows, axis=1))
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    return first, which.ravel()


def merged(truth: Bools, weights: Floats) -> tuple[Bools, Floats]:
    """The rows that weigh something, equal ones as one with their sum."""
    rows, weights = truth[weights > 0], weights[weights > 0]
    first, which = distinct(rows)
    return rows[first], np.bincount(which, weights, minlength=len(first)).astype(np.float64)
