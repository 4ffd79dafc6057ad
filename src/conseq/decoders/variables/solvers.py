"""The solvers of problems of variables by their names, and one by its name."""

from __future__ import annotations

from typing import ClassVar, Protocol

import numpy as np

from conseq.decoders.base import NO_LIMITS, Limits
from conseq.decoders.variables.beam import VariableBeam
from conseq.decoders.variables.elimination import Elimination
from conseq.decoders.variables.model import Found, Model
from conseq.decoders.variables.program import Integer, Relaxation
from conseq.decoders.variables.search import Search
from conseq.dtypes import Ints
from conseq.errors import ConseqError


class Solver(Protocol):
    """Finds values of a high score and an upper bound on all scores."""

    name: ClassVar[str]

    def solve(self, model: Model, limits: Limits = NO_LIMITS, hint: Ints | None = None) -> Found:
        """What is found within the limits; a hint has the indicator of each variable."""
        ...


SOLVERS: dict[str, type[Solver]] = {
    solver.name: solver for solver in (Search, Elimination, Integer, Relaxation, VariableBeam)
}


def solved(model: Model, given: str | Solver, limits: Limits = NO_LIMITS, hint: Ints | None = None) -> Found:
    """What a solver, or the one of this name, finds. Without variables there is one answer."""
    solver = solver_of(given)
    if model.n_variables:
        return solver.solve(model, limits, hint)
    nothing = np.zeros(0, dtype=np.int64)
    score = model.score(nothing)
    found = Found(nothing if score > -np.inf else None, score)
    return found._replace(integral=True, legal=score > -np.inf) if solver.name == Relaxation.name else found


def solver_of(given: str | Solver) -> Solver:
    """A solver, or the one of this name.

    >>> solver_of("ilp")
    Integer()
    """
    if not isinstance(given, str):
        return given
    if given not in SOLVERS:
        raise ConseqError(f"there is no solver {given!r}; choose one of {', '.join(SOLVERS)}")
    return SOLVERS[given]()
