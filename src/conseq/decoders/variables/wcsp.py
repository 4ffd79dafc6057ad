"""Weighted constraint satisfaction: variables with a few values each, tables of weights over some of them.

    WCSP(domains).add(scope, table).add_sum(terms, bound, penalty)…  ─→ solve ─→ Solution

    score(x) = Σ over the tables of the weight of x's values there − Σ over the sums of penalty · excess;
    −inf: forbidden;  the largest is sought

Costs are negative weights. Tables are eliminated where they stay small (`elimination.py`); sums are brought
in where they are violated (`search.py`); a limit gives the best so far and its gap.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from conseq.constraints.relational.sums import Sums
from conseq.decoders.base import NO_LIMITS, Limits
from conseq.decoders.variables.buckets import Table
from conseq.decoders.variables.model import Found, Model, rows_of, variables_of
from conseq.decoders.variables.solvers import Solver, solved
from conseq.dtypes import Floats, Ints
from conseq.errors import ScoreError
from conseq.kernels import clock
from conseq.potentials import numbers
from conseq.problem import Certificate

Terms = Mapping[tuple[Any, Any], float]
"""The weights of a sum by variable and value."""


@dataclass(frozen=True, eq=False)
class Solution:
    """The best assignment found: variable ─→ value; None if there is none.

    integral          of a relaxation (`solver="lp"`): whether no value was taken in part
    rounding_legal    of a relaxation: whether rounding it breaks no hard sum or table
    """

    assignment: dict[Any, Any] | None
    choice: Ints | None  # [V], the places of the values in their domains
    score: float
    certificate: Certificate
    integral: bool | None = None
    rounding_legal: bool | None = None

    def __repr__(self) -> str:
        return f"Solution({self.assignment}; score {self.score:.6g}, {self.certificate.status.name})"


class WCSP:
    """A weighted constraint satisfaction problem.

    domains   per variable its values, or their number; a list (variables are 0, 1, …) or a dict by name

    >>> problem = WCSP({"x": ["red", "blue"], "y": ["red", "blue"], "z": 3})
    >>> problem = problem.add(["x", "y"], [[-np.inf, 0.0], [0.0, -np.inf]])   # not the same colour
    >>> problem = problem.add(["x"], [0.0, 1.5]).add(["y", "z"], {("red", 2): 4.0})
    >>> problem.solve()
    Solution({'x': 'blue', 'y': 'red', 'z': 2}; score 5.5, OPTIMAL)
    """

    def __init__(self, domains: Sequence[Any] | Mapping[Any, Any]) -> None:
        named = dict(domains) if isinstance(domains, Mapping) else dict(enumerate(domains))
        self.domains: dict[Any, Sequence[Any]] = {name: _values(name, given) for name, given in named.items()}
        self.tables: list[Table] = []
        self.sums: list[tuple[Terms, float, float]] = []

    @property
    def sizes(self) -> list[int]:
        """Values of each variable, [V]."""
        return [len(values) for values in self.domains.values()]

    def add(self, scope: Iterable[Hashable], table: ArrayLike | Mapping[tuple[Any, ...], float]) -> WCSP:
        """Weights for the values of some variables: an array with an axis per variable, or a dict from values
        to weights (0 for those that it lacks). Gives the problem back."""
        names = tuple(scope)
        for name in names:
            if name not in self.domains:
                raise ScoreError(f"there is no variable {name!r}; the variables are {_listed(self.domains)}")
        if len(set(names)) < len(names):
            raise ScoreError(f"the scope {names} names a variable twice; name each once")
        self.tables.append(Table(names, self._weights(names, table)))
        return self

    def add_sum(self, terms: Terms, bound: float = 0.0, penalty: float = np.inf) -> WCSP:
        """Σ weight over the variables that have the value named ≤ bound: {(variable, value): weight}.

        What is beyond the bound costs the penalty for each unit; inf: it must not be. Gives the problem back.

        >>> problem = WCSP({"x": 3, "y": 3}).add(["x"], [0, 1, 4]).add(["y"], [0, 1, 2])
        >>> problem.add_sum({("x", 2): 1, ("y", 2): 1}, bound=1).solve()
        Solution({'x': 2, 'y': 1}; score 5, OPTIMAL)
        """
        for (name, value), weight in terms.items():
            if name not in self.domains:
                raise ScoreError(f"there is no variable {name!r}; the variables are {_listed(self.domains)}")
            if value not in self.domains[name]:
                raise ScoreError(f"variable {name!r} has no value {value!r}; use one of its values")
            if not np.isfinite(weight):
                raise ScoreError(f"the sum has the weight {weight} for {(name, value)}; give a number")
        if not np.isfinite(bound) or not penalty >= 0:
            raise ScoreError(
                f"the sum has the bound {bound} and the penalty {penalty}; give numbers, the penalty ≥ 0"
            )
        self.sums.append((dict(terms), float(bound), float(penalty)))
        return self

    def score(self, choice: ArrayLike) -> float:
        """The score of an assignment, given as the places of the values in their domains, [V]."""
        places = np.asarray(choice, dtype=np.int64)
        model, constant = self._model()
        return constant + model.score(model.variables.starts[:-1] + places)

    def solve(
        self, limits: Limits = NO_LIMITS, hint: ArrayLike | None = None, solver: str | Solver = "auto"
    ) -> Solution:
        """The assignment of the highest score.

        limits   seconds; nodes of the search; states: cells of a table that elimination may make
        hint     an assignment (places of values, [V]) that may be good
        solver   auto, elimination, ilp, lp (the relaxation, rounded) or beam; or one with its options
        """
        begun = clock.now()
        model, constant = self._model()
        starts = model.variables.starts[:-1]
        hinted = None if hint is None else starts + self._checked(hint)
        if constant == -np.inf:
            found = Found(None, -np.inf)
        else:
            found = solved(model, solver, limits, hinted)
        offers = [(model.score(values), values) for values in (found.values, hinted) if values is not None]
        score, winner = max(offers, key=lambda offer: offer[0], default=(-np.inf, starts))
        score, bound, seconds = score + constant, found.bound + constant, clock.now() - begun
        if score == -np.inf:
            certificate = Certificate.of(None, bound, found.nodes, seconds)
            return Solution(None, None, score, certificate, found.integral, found.legal)
        choice = winner - starts
        named = zip(self.domains.items(), choice.tolist(), strict=True)
        assignment = {name: values[place] for (name, values), place in named}
        certificate = Certificate.of(score, bound, found.nodes, seconds)
        return Solution(assignment, choice, score, certificate, found.integral, found.legal)

    def _model(self) -> tuple[Model, float]:
        """The problem in arrays, and the weight that every assignment has."""
        number = {name: v for v, name in enumerate(self.domains)}
        gains = [np.zeros(size) for size in self.sizes]
        constant, tables = 0.0, []
        for table in self.tables:
            scope = tuple(number[name] for name in table.scope)
            if not scope:
                constant += float(table.weights)
            elif len(scope) == 1:
                gains[scope[0]] += table.weights
            else:
                tables.append(Table(scope, table.weights))
        variables = variables_of(np.concatenate([np.zeros(0), *gains]), self.sizes)
        groups = []
        for g, (terms, bound, _) in enumerate(self.sums):
            places = [variables.starts[number[v]] + self.domains[v].index(value) for v, value in terms]
            row, weight = (
                np.zeros(len(terms), dtype=np.int64),
                np.array(list(terms.values()), dtype=np.float64),
            )
            groups.append((g, Sums(row, np.array(places, dtype=np.int64), weight, np.array([bound]))))
        penalty = np.array([penalty for _, _, penalty in self.sums], dtype=np.float64)
        rows = rows_of(groups, penalty, np.zeros(len(groups), dtype=np.int64))
        return Model(variables, rows, tuple(tables)), constant

    def _checked(self, hint: ArrayLike) -> Ints:
        given = np.asarray(hint, dtype=np.int64)
        if given.shape != (len(self.domains),):
            raise ScoreError(f"the hint has the shape {given.shape}; give the place of a value per variable")
        for name, i in zip(self.domains, given.tolist(), strict=True):
            if not 0 <= i < len(self.domains[name]):
                last = len(self.domains[name]) - 1
                raise ScoreError(f"the hint has value {i} for variable {name}; give 0 to {last}")
        return given

    def _weights(self, names: tuple[Any, ...], table: Any) -> Floats:
        what, domains = f"the table over {_listed(names)}", [self.domains[name] for name in names]
        shape = tuple(map(len, domains))
        weights = np.zeros(shape)
        if isinstance(table, Mapping):
            for values, weight in table.items():
                key = values if isinstance(values, tuple) else (values,)
                try:
                    place = tuple(domain.index(v) for domain, v in zip(domains, key, strict=True))
                except ValueError:
                    raise ScoreError(f"{what} has a weight for {key}, which cannot be") from None
                weights[place] = weight
        else:
            weights = np.array(numbers(what, table))
        if weights.shape != shape:
            raise ScoreError(
                f"{what} has the shape {weights.shape}; give {shape}, a number for each combination of values"
            )
        if (np.isnan(weights) | (weights == np.inf)).any():
            raise ScoreError(
                f"{what} has a weight that is +inf or not a number; "
                "give numbers, or -inf for what is forbidden"
            )
        return weights


def _values(name: Any, given: Any) -> Sequence[Any]:
    values = range(given) if isinstance(given, (int, np.integer)) else list(given)
    if not len(values):
        raise ScoreError(f"variable {name!r} has no values; give at least one")
    if len(set(values)) < len(values):
        raise ScoreError(f"variable {name!r} has a value twice; list each once")
    return values


def _listed(names: Iterable[Any]) -> str:
    texts = [str(name) for name in names]
    return ", ".join(texts[:8]) + (" …" if len(texts) > 8 else "")
