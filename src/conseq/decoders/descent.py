"""Steps down the dual function, without a step size that needs tuning.

    point ─→ bound, labelling, slope ─→ next point: point − step · (bound − target) / ‖direction‖² · direction

(Polyak 1969), where the target is the best score, or while that is far or unknown, a guess. The direction is
the slope, corrected so that it does not turn back on the last one (Camerini, Fratta and Maffioli 1975). When
the bound stops falling, steps are halved and start from the best point again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from conseq.decoders.base import Best, Limits
from conseq.decoders.lagrangian import Lagrangian, is_degree
from conseq.decoders.subproblems import Floats, fits

DEFLECTION = 1.5
"""How strongly a direction is turned away from the last one's opposite."""


class Descent:
    """Where the multipliers stand, which way they go and how far."""

    def __init__(self, best: Best, limits: Limits, step: float, patience: int, shortest: float) -> None:
        self.best = best
        self.limits = limits
        self.first_step = self.step = step
        self.patience = patience
        self.shortest = shortest
        self.dual = Lagrangian(best.problem)
        self.refused: set[int] = set()
        self.point: Floats = np.zeros(len(self.dual))
        self.best_point = self.best_slope = self.direction = self.point
        self.least = np.inf
        self.reach = _spread(self.dual.chain.unary)
        self.idle = 0
        self.iterations = self.begun = 0

    def run(self, lost: int | None = None) -> bool:
        """Iterate until the gap is closed or a limit is reached (False), or there is nowhere to go (True).

        With `lost`, so many iterations without any labelling are an end, too: where there is none, the dual
        falls forever.
        """
        while self.iterations < self.limits.iterations and self.best.seconds < self.limits.seconds:
            bound, slope = self._evaluate()
            if bound == -np.inf or self.best.closed:
                return False
            if not self._move(bound, slope):
                return True
            if lost is not None and self.best.states is None and self.iterations >= self.begun + lost:
                return True
        return False

    def restart(self) -> None:
        """Begin again at the best point, with long steps and all primitives that were brought in since."""
        self._return()
        self.step, self.least, self.begun = self.first_step, np.inf, self.iterations

    def offer(self, states: NDArray[np.int32]) -> None:
        """Keep a better labelling, and bring in what it violates."""
        problem = self.best.problem
        violations = problem.violations(states)
        cost = problem.cost(violations)
        if cost < np.inf and problem.potentials.score(states) - cost > self.best.score:
            self.best.offer(states)
        if not violations.any():
            return
        for p in problem.program.extra(violations).tolist():
            if p in self.dual.members or p in self.refused:
                continue
            if is_degree(problem, p) or fits(problem, p, self.limits.states):
                self.dual.add(p)
            else:
                self.refused.add(p)
        self.point, self.best_point = self._grown(self.point), self._grown(self.best_point)

    def _grown(self, vector: Floats) -> Floats:
        """The vector with zeros for the multipliers that came later."""
        more = len(self.dual) - len(vector)
        return np.append(vector, np.zeros(more)) if more else vector

    def _evaluate(self) -> tuple[float, Floats]:
        """One iteration: the bound and its slope at the point, with what the labelling there violates."""
        score, states = self.dual.solve(self.point)
        self.iterations += 1
        if score == -np.inf:
            self.best.prove(score)
            self.least = score
            return score, self.point
        self.offer(states)
        bound, slope = self.dual.value(self.point, score, states)
        self.best.prove(bound)
        self.idle = 0 if bound < self.least - 1e-9 * (1 + abs(bound)) else self.idle + 1
        if bound <= self.least:
            self.least, self.best_point, self.best_slope = bound, self.point, slope
        return bound, slope

    def _move(self, bound: float, slope: Floats) -> bool:
        """Take a step; False if there is nowhere to go."""
        if self.idle >= self.patience:
            self._return()
            self.step /= 2
            self.reach /= 2
            bound, slope = self.least, self._grown(self.best_slope)
        if self.step < self.shortest:
            return False
        direction = self._direction(slope)
        size = float(direction @ direction)
        if size == 0:
            return False
        target = max(self.best.score, self.least - self.reach)
        self.direction = direction
        moved = self.point - self.step * (bound - target) / size * direction
        self.point = np.clip(moved, self.dual.lower, self.dual.upper)
        return True

    def _return(self) -> None:
        self.idle = 0
        self.point = self._grown(self.best_point)
        self.direction = np.zeros(len(self.point))

    def _direction(self, slope: Floats) -> Floats:
        """The slope without what leads out of the box, turned away from the last direction's opposite."""
        down = (self.point <= self.dual.lower) & (slope > 0)
        up = (self.point >= self.dual.upper) & (slope < 0)
        slope = np.where(down | up, 0.0, slope)
        last = self._grown(self.direction)
        along = float(slope @ last)
        return slope - DEFLECTION * along / float(last @ last) * last if along < 0 else slope


def _spread(unary: Floats) -> float:
    """How far apart the scores of tokens lie: what a first guess of the gap may go by."""
    finite = unary[np.isfinite(unary)]
    return 1.0 + float(np.ptp(finite)) if len(finite) else 1.0
