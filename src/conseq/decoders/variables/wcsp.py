"""Weighted constraint satisfaction: variables with a few values each, tables of weights over some of them.

    WCSP(domains).add(scope, table)…  ─→ solve ─→ Solution: assignment, score, certificate

    score(x) = Σ over the tables of the weight of x's values there;  −inf: forbidden;  the largest is sought

Costs are negative weights. Exact by elimination of variables where the tables stay small (`buckets.py`), by
branch and bound with mini-bucket bounds elsewhere; a limit gives the best so far and its gap.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from conseq.decoders.base import NO_LIMITS, Limits
from conseq.decoders.variables.buckets import Buckets, Table
from conseq.dtypes import Floats, Ints
from conseq.errors import ScoreError
from conseq.kernels import branch, clock
from conseq.potentials import numbers
from conseq.problem import Certificate

NODES_AT_ONCE = 20_000
"""Nodes of the search between two looks at the clock."""

Places = dict[Any, int]
"""A number for each variable: which of its values, or how many it has."""


@dataclass(frozen=True, eq=False)
class Solution:
    """The best assignment found: variable ─→ value; None if there is none."""

    assignment: dict[Any, Any] | None
    choice: Ints | None  # [V], the places of the values in their domains
    score: float
    certificate: Certificate

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

    def score(self, choice: ArrayLike) -> float:
        """The weight of an assignment, given as the places of the values in their domains, [V]."""
        places = np.asarray(choice, dtype=np.int64).tolist()
        return _score(self.tables, dict(zip(self.domains, places, strict=True)))

    def solve(self, limits: Limits = NO_LIMITS, hint: ArrayLike | None = None) -> Solution:
        """The assignment of the largest weight.

        limits   seconds; nodes of the search; states: cells of a table that elimination may make
        hint     an assignment (places of values, [V]) that may be good
        """
        begun = clock.now()
        hinted = {} if hint is None else self._checked(hint)
        found: Places = {}
        bound, nodes = float(sum(float(table.weights) for table in self.tables if not table.scope)), 0
        for sizes, tables in self._parts():
            rest = replace(limits.after(clock.now() - begun), nodes=limits.nodes - nodes)
            best, most, more = _solve(sizes, tables, hinted, rest)
            found.update(best)
            bound, nodes = bound + most, nodes + more
            if bound == -np.inf:
                break
        whole = [places for places in (found, hinted) if len(places) == len(self.domains)]
        offers = [(_score(self.tables, places), places) for places in whole]
        score, winner = max(offers, key=lambda offer: offer[0], default=(-np.inf, found))
        seconds = clock.now() - begun
        if score == -np.inf:
            return Solution(None, None, score, Certificate.of(None, bound, nodes, seconds))
        assignment = {name: values[winner[name]] for name, values in self.domains.items()}
        choice = np.array([winner[name] for name in self.domains], dtype=np.int64)
        return Solution(assignment, choice, score, Certificate.of(score, bound, nodes, seconds))

    def _parts(self) -> Iterable[tuple[Places, list[Table]]]:
        """The variables with their sizes, and the tables, in parts that no table connects."""
        group = {name: [name] for name in self.domains}
        for table in self.tables:
            for name in table.scope[1:]:
                one, other = group[table.scope[0]], group[name]
                if one is not other:
                    one.extend(other)
                    group.update(dict.fromkeys(other, one))
        parts: dict[int, tuple[Places, list[Table]]] = {}
        for name, members in group.items():
            parts.setdefault(id(members), ({}, []))[0][name] = len(self.domains[name])
        for table in self.tables:
            if table.scope:
                parts[id(group[table.scope[0]])][1].append(table)
        return parts.values()

    def _checked(self, hint: ArrayLike) -> Places:
        given = np.asarray(hint, dtype=np.int64)
        if given.shape != (len(self.domains),):
            raise ScoreError(f"the hint has the shape {given.shape}; give the place of a value per variable")
        places = dict(zip(self.domains, given.tolist(), strict=True))
        for name, i in places.items():
            if not 0 <= i < len(self.domains[name]):
                last = len(self.domains[name]) - 1
                raise ScoreError(f"the hint has value {i} for variable {name}; give 0 to {last}")
        return places

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


def _solve(sizes: Places, tables: list[Table], hint: Places, limits: Limits) -> tuple[Places, float, int]:
    """The best values of variables that tables connect (or none), an upper bound, and the nodes of the
    search."""
    until = clock.now() + limits.seconds
    buckets = Buckets.of(sizes, tables, limits)
    if buckets is None:  # there was no time or no room
        return {}, float(sum(table.weights.max() for table in tables)), 0
    flat, frame = buckets.arrays()
    best, found = np.array([-np.inf]), np.full(len(sizes), -1, dtype=np.int64)
    if hint:
        best[0], found[:] = _score(tables, hint), [hint[v] for v in buckets.order]
    done, at = False, frame[-1]
    while not done and at[branch.NODES] < limits.nodes and clock.now() < until:
        nodes = min(limits.nodes, at[branch.NODES] + NODES_AT_ONCE)
        done = branch.search(flat, frame, best, found, nodes)
    bound = max(float(best[0]), branch.open_bound(frame))
    places = dict(zip(buckets.order, found.tolist(), strict=True)) if best[0] > -np.inf else {}
    return places, bound, int(at[branch.NODES])


def _score(tables: list[Table], places: Places) -> float:
    return float(sum(table.weights[tuple(places[v] for v in table.scope)] for table in tables))


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
