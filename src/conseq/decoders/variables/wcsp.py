"""Weighted constraint satisfaction: variables with a few values each, tables of weights over some of them.

    WCSP(domains).add(scope, table)…  ─→ solve ─→ Solution: assignment, score, certificate

    score(x) = Σ over the tables of the weight of x's values there;  −inf: forbidden;  the largest is sought

Costs are negative weights. Exact by elimination of variables where the tables stay small (`buckets.py`), by
branch and bound with mini-bucket bounds elsewhere; a limit gives the best so far and its gap.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conseq.decoders.base import NO_LIMITS, Limits
from conseq.decoders.variables.buckets import Buckets, Table
from conseq.errors import ScoreError
from conseq.kernels import branch
from conseq.problem import Certificate

Ints = NDArray[np.int64]

NODES_AT_ONCE = 20_000
"""Nodes of the search between two looks at the clock."""
MOST_CELLS = 100_000
"""Cells of a table that elimination makes, unless the limit of states is lower. More cells, better bounds."""


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
        self._number = {name: v for v, name in enumerate(self.domains)}

    @property
    def sizes(self) -> list[int]:
        """Values of each variable, [V]."""
        return [len(values) for values in self.domains.values()]

    def add(self, scope: Iterable[Hashable], table: ArrayLike | Mapping[tuple[Any, ...], float]) -> WCSP:
        """Weights for the values of some variables: an array with an axis per variable, or a dict from values
        to weights (0 for those that it lacks). Gives the problem back."""
        names = tuple(scope)
        for name in names:
            if name not in self._number:
                raise ScoreError(f"there is no variable {name!r}; the variables are {_listed(self.domains)}")
        if len(set(names)) < len(names):
            raise ScoreError(f"the scope {names} names a variable twice; name each once")
        weights = self._weights(names, table)
        self.tables.append(Table(tuple(self._number[name] for name in names), weights))
        return self

    def score(self, choice: ArrayLike) -> float:
        """The weight of an assignment, given as the places of the values in their domains, [V]."""
        return _score(self.tables, np.asarray(choice, dtype=np.int64))

    def solve(self, limits: Limits = NO_LIMITS, hint: ArrayLike | None = None) -> Solution:
        """The assignment of the largest weight.

        limits   seconds; nodes of the search; states: cells of a table that elimination may make
        hint     an assignment (places of values, [V]) that may be good
        """
        begun = time.perf_counter()
        given = None if hint is None else self._checked(hint)
        choice, bound, nodes = np.zeros(len(self.domains), dtype=np.int64), 0.0, 0
        found = True
        for variables in _components(self.sizes, self.tables):
            part = _Part(self, variables, limits.states, begun + limits.seconds)
            best, most, more = part.solve(limits.nodes - nodes, given)
            nodes += more
            bound += most
            found = found and best is not None
            if best is not None:
                choice[variables] = best
            if most == -np.inf:
                break
        constant = sum(float(table.weights) for table in self.tables if not table.scope)
        return self._solution(choice if found else None, bound + constant, nodes, begun, given)

    def _solution(
        self, choice: Ints | None, bound: float, nodes: int, begun: float, hint: Ints | None
    ) -> Solution:
        offers = [(self.score(x), x) for x in (choice, hint) if x is not None]
        score, best = max(offers, key=lambda offer: offer[0], default=(-np.inf, None))
        if score == -np.inf:
            best = None
        seconds = time.perf_counter() - begun
        certificate = Certificate.of(None if best is None else score, bound, nodes, seconds)
        return Solution(None if best is None else self._named(best), best, score, certificate)

    def _checked(self, hint: ArrayLike) -> Ints:
        given = np.asarray(hint, dtype=np.int64)
        if given.shape != (len(self.domains),):
            raise ScoreError(f"the hint has the shape {given.shape}; give the place of a value per variable")
        for name, size, i in zip(self.domains, self.sizes, given.tolist(), strict=True):
            if not 0 <= i < size:
                raise ScoreError(f"the hint has value {i} for variable {name}; give 0 to {size - 1}")
        return given

    def _named(self, choice: Ints) -> dict[Any, Any]:
        pairs = zip(self.domains.items(), choice.tolist(), strict=True)
        return {name: values[i] for (name, values), i in pairs}

    def _weights(self, names: tuple[Any, ...], table: Any) -> NDArray[np.float64]:
        domains = [self.domains[name] for name in names]
        if isinstance(table, Mapping):
            table = _filled(names, domains, table)
        try:
            weights = np.array(table, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ScoreError(f"the table over {_listed(names)} is not an array of numbers: {error}") from None
        if weights.shape != tuple(map(len, domains)):
            raise ScoreError(
                f"the table over {_listed(names)} has the shape {weights.shape}; "
                f"give {tuple(map(len, domains))}, a number for each combination of values"
            )
        if (np.isnan(weights) | (weights == np.inf)).any():
            raise ScoreError(
                f"the table over {_listed(names)} has a weight that is +inf or not a number; "
                "give numbers, or -inf for what is forbidden"
            )
        return weights


class _Part:
    """Variables that tables connect, and the search for their best values."""

    def __init__(self, problem: WCSP, variables: list[int], most_states: float, until: float) -> None:
        number = {v: i for i, v in enumerate(variables)}
        self.variables = variables
        self.sizes = [problem.sizes[v] for v in variables]
        self.tables = [
            Table(tuple(number[v] for v in table.scope), table.weights)
            for table in problem.tables
            if table.scope and table.scope[0] in number
        ]
        self.until = until
        self.buckets = Buckets.of(self.sizes, self.tables, min(most_states, MOST_CELLS), until)

    def solve(self, nodes: float, hint: Ints | None) -> tuple[Ints | None, float, int]:
        """The places of the best values, an upper bound, and the nodes of the search."""
        buckets = self.buckets
        if buckets is None:  # there was no time
            return None, float(sum(table.weights.max() for table in self.tables)), 0
        if buckets.bound == -np.inf:
            return None, -np.inf, 0
        problem, frame = _arrays(buckets, self.sizes)
        best, found = np.array([-np.inf]), np.full(len(self.sizes), -1, dtype=np.int64)
        if hint is not None:
            found[:] = hint[self.variables][buckets.order]
            best[0] = _score(self.tables, hint[self.variables])
        branch.enter(problem, frame, 0, buckets.bound)
        done, at = False, frame[-1]
        while not done and at[branch.NODES] < nodes and time.perf_counter() < self.until:
            done = branch.search(problem, frame, best, found, min(nodes, at[branch.NODES] + NODES_AT_ONCE))
        bound = max(float(best[0]), -np.inf if done else branch.open_bound(frame, problem[0]))
        if best[0] == -np.inf:
            return None, bound, int(at[branch.NODES])
        choice = np.empty(len(self.sizes), dtype=np.int64)
        choice[buckets.order] = found
        return choice, bound, int(at[branch.NODES])


def _score(tables: list[Table], choice: Ints) -> float:
    values = choice.tolist()
    return float(sum(table.weights[tuple(values[v] for v in table.scope)] for table in tables))


def _arrays(buckets: Buckets, sizes: list[int]) -> tuple[tuple[NDArray, ...], tuple[NDArray, ...]]:
    """The problem and the frame of `kernels/branch.py`."""
    tables = [table for bucket in buckets.tables for table in bucket]
    lengths = [len(table.scope) - 1 for table in tables]
    parents = [v for table in tables for v in table.scope[:-1]]
    cells = [np.ascontiguousarray(table.weights) for table in tables]
    strides = [step // table.itemsize for table in cells for step in table.strides[:-1]]
    problem = (
        np.array([sizes[v] for v in buckets.order], dtype=np.int64),
        _starts([len(bucket) for bucket in buckets.tables]),
        _starts([table.size for table in cells])[:-1],
        _starts(lengths),
        np.array(parents, dtype=np.int64),
        np.array(strides, dtype=np.int64),
        np.concatenate([table.reshape(-1) for table in cells]),
    )
    shape = len(sizes), max(sizes)
    frame = (
        np.zeros(shape[0], dtype=np.int64),
        np.full(shape, -np.inf),
        np.zeros(shape, dtype=np.int64),
        np.zeros(shape[0], dtype=np.int64),
        np.zeros(2, dtype=np.int64),
    )
    return problem, frame


def _starts(lengths: list[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _components(sizes: list[int], tables: list[Table]) -> list[list[int]]:
    """The variables in groups that no table connects."""
    group = {v: [v] for v in range(len(sizes))}
    for table in tables:
        for v in table.scope[1:]:
            one, other = group[table.scope[0]], group[v]
            if one is not other:
                one.extend(other)
                group.update(dict.fromkeys(other, one))
    return [sorted(members) for members in {id(members): members for members in group.values()}.values()]


def _values(name: Any, given: Any) -> Sequence[Any]:
    values = range(given) if isinstance(given, (int, np.integer)) else list(given)
    if not len(values):
        raise ScoreError(f"variable {name!r} has no values; give at least one")
    if len(set(values)) < len(values):
        raise ScoreError(f"variable {name!r} has a value twice; list each once")
    return values


def _filled(
    names: tuple[Any, ...], domains: list[Sequence[Any]], table: Mapping[tuple[Any, ...], float]
) -> list[float] | NDArray:
    known = {values: i for i, values in enumerate(product(*domains))}
    weights = np.zeros(len(known))
    for values, weight in table.items():
        key = values if isinstance(values, tuple) else (values,)
        if key not in known:
            raise ScoreError(f"the table over {_listed(names)} has a weight for {key}, which cannot be")
        weights[known[key]] = weight
    return weights.reshape([len(domain) for domain in domains])


def _listed(names: Iterable[Any]) -> str:
    texts = [str(name) for name in names]
    return ", ".join(texts[:8]) + (" …" if len(texts) > 8 else "")
