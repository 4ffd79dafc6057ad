"""The scores that a decoder starts from: those of the chain with the local constraints charged."""

from __future__ import annotations

from conseq.potentials import Potentials
from conseq.problem import Problem, Problems


def folded(problem: Problem | Problems) -> Potentials:
    """The scores with the local constraints charged; the same scores if there are none."""
    return problem.with_local_constraints
