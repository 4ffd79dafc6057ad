"""Minimise a smooth function, with an L1 term if wanted: L-BFGS and OWL-QN.

    f(w), ∇f(w), w₀ ─→ Result(weights, value, iterations, …)

L-BFGS: Nocedal and Wright 2006, algorithms 7.4 and 7.5. OWL-QN: Andrew and Gao 2007.
The first inverse Hessian is γ·D with a diagonal D that the caller may give: features differ in frequency by
orders of magnitude, and a diagonal that knows this saves a third of the evaluations.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from conseq.kernels import linear

Vector = NDArray[np.float64]
Objective = Callable[[Vector], tuple[float, Vector]]
Callback = Callable[["Step"], bool | None]
Point = tuple[Vector, float, Vector]
"""Weights, the value there and the gradient."""

ARMIJO, CURVATURE = 1e-4, 0.9

LARGE = 1 << 16
"""From this number of weights on, the history is kept in single precision: half the memory to go through."""


@dataclass(frozen=True)
class Step:
    """What a callback sees after an iteration; returning True stops."""

    iteration: int
    value: float
    weights: Vector
    evaluations: int


@dataclass(frozen=True)
class Result:
    """Where the minimiser stopped and why."""

    weights: Vector
    value: float
    iterations: int
    evaluations: int
    status: str  # converged, stopped (by the callback), limit, line search, interrupted
    history: list[float] = field(default_factory=list)  # the value after each iteration


@dataclass(frozen=True)
class LBFGS:
    """Options; the names and the tests of convergence are CRFsuite's.

    It stops when (f(k−period) − f(k)) / f(k) < delta, or ‖∇f‖ / max(1, ‖w‖) < epsilon.
    """

    c1: float = 0.0  # weight of ‖w‖₁; above 0 OWL-QN is used
    c2: float = 1.0  # weight of ‖w‖₂², part of the smooth function
    max_iterations: int | None = None
    memory: int = 10
    period: int = 10
    delta: float = 1e-5
    epsilon: float = 1e-5
    max_linesearch: int = 20

    @property
    def sparse(self) -> bool:
        """Whether many weights end at 0."""
        return self.c1 > 0

    def minimise(
        self,
        objective: Objective,
        start: Vector,
        *,
        scale: Vector | None = None,
        callback: Callback | None = None,
    ) -> Result:
        """Minimise `objective` (plus c1 ‖w‖₁) from `start`; Ctrl-C gives the last iterate."""
        run = _Run(self, objective, start, scale)
        try:
            return run.loop(callback)
        except KeyboardInterrupt:
            return run.result("interrupted")


class Pair(NamedTuple):
    """A step of the weights, how the gradient changed, and sᵀy."""

    s: NDArray
    y: NDArray
    curvature: float


class _Run:
    """The state of one minimisation."""

    def __init__(self, options: LBFGS, objective: Objective, start: Vector, scale: Vector | None) -> None:
        self.options, self.objective = options, objective
        self.precision = np.dtype(np.float32 if start.size >= LARGE else np.float64)
        self.scale = np.ones(start.size, self.precision) if scale is None else scale.astype(self.precision)
        self.weights = start.copy()
        self.pairs: deque[Pair] = deque(maxlen=options.memory)
        self.history: list[float] = []
        self.evaluations = 0
        self.iteration = 0
        self.value = np.inf

    def loop(self, callback: Callback | None) -> Result:
        self.value, self.gradient = self.evaluate(self.weights)
        first = self.value
        while True:
            slope = self.pseudo_gradient()
            if np.linalg.norm(slope) <= self.options.epsilon * max(1.0, float(np.linalg.norm(self.weights))):
                return self.result("converged")
            if self.options.max_iterations is not None and self.iteration >= self.options.max_iterations:
                return self.result("limit")
            if not self.step(slope):
                if not self.pairs:
                    return self.result("line search")
                self.pairs.clear()
                continue
            self.iteration += 1
            self.history.append(self.value)
            if callback and callback(Step(self.iteration, self.value, self.weights, self.evaluations)):
                return self.result("stopped")
            if self.converged(first):
                return self.result("converged")

    def result(self, status: str) -> Result:
        return Result(self.weights, self.value, self.iteration, self.evaluations, status, self.history)

    def converged(self, first: float) -> bool:
        period = self.options.period
        if self.iteration < period:
            return False
        before = self.history[-period - 1] if self.iteration > period else first
        return (before - self.value) < self.options.delta * abs(self.value)

    def evaluate(self, weights: Vector) -> tuple[float, Vector]:
        """f(w) + c1 ‖w‖₁ and the gradient of the smooth part."""
        self.evaluations += 1
        value, gradient = self.objective(weights)
        if self.options.c1:
            value += self.options.c1 * float(np.abs(weights).sum())
        return value, gradient

    def pseudo_gradient(self) -> Vector:
        """The gradient, or with an L1 term the subgradient of least norm (Andrew and Gao 2007, eq. 4)."""
        c1 = self.options.c1
        if not c1:
            return self.gradient
        right, left = self.gradient + c1, self.gradient - c1
        at_zero = np.where(right < 0, right, np.where(left > 0, left, 0.0))
        return np.where(self.weights > 0, right, np.where(self.weights < 0, left, at_zero))

    def step(self, slope: Vector) -> bool:
        """One iteration: direction, line search, new curvature pair."""
        direction = self.direction(slope)
        search = self.search_orthant if self.options.c1 else self.search_wolfe
        size = 1.0
        if not self.pairs:  # nothing is known of the curvature: a step of length 1, shorter near a minimum
            size = min(1.0, 1.0 / max(1e-12, float(np.sqrt(-(slope @ direction)))))
        found = search(slope, direction, size)
        if found is None:
            return False
        weights, value, gradient = found
        s, y = self.difference(weights, self.weights), self.difference(gradient, self.gradient)
        curvature = float(s @ y)
        if curvature > 1e-12 * float(y @ y):
            self.pairs.append(Pair(s, y, curvature))
        self.weights, self.value, self.gradient = weights, value, gradient
        return True

    def difference(self, a: Vector, b: Vector) -> NDArray:
        """a − b, both first rounded to the precision of the history."""
        return np.subtract(a, b, dtype=self.precision, casting="same_kind")

    def direction(self, slope: Vector) -> Vector:
        """−H ∇f by the two-loop recursion with H₀ = γ D, γ = sᵀy / yᵀDy.

        Each step of a loop adds a vector to q and takes the product of q with the next one, in one pass.
        """
        q = np.negative(slope, dtype=self.precision, casting="same_kind")
        if not self.pairs:
            q *= self.scale
        else:
            self._two_loops(q)
        if self.options.c1:
            q[q * slope >= 0] = 0.0
        return q.astype(np.float64, copy=False)

    def _two_loops(self, q: NDArray) -> None:
        pairs = list(self.pairs)
        shares = []
        product = linear.dot(pairs[-1].s, q)
        for pair, before in zip(reversed(pairs), [*reversed(pairs[:-1]), None], strict=True):
            shares.append(product / pair.curvature)
            if before is not None:
                product = linear.add_dot(q, -shares[-1], pair.y, before.s)
        newest, oldest = pairs[-1], pairs[0]
        gamma = newest.curvature / linear.scaled_square(newest.y, self.scale)
        product = linear.add_scale_dot(q, -shares[-1], oldest.y, self.scale, gamma, oldest.y)
        for pair, after, share in zip(pairs, [*pairs[1:], newest], reversed(shares), strict=True):
            product = linear.add_dot(q, share - product / pair.curvature, pair.s, after.y)

    def search_wolfe(self, slope: Vector, direction: Vector, size: float) -> Point | None:
        """A step that satisfies the weak Wolfe conditions, by bracketing and cubic interpolation."""
        down = float(slope @ direction)
        if down >= 0:
            return None
        low = (0.0, self.value, down)
        high: tuple[float, float, float] | None = None
        for _ in range(self.options.max_linesearch):
            weights = np.empty_like(self.weights)
            linear.sum_times(self.weights, size, direction, weights)
            value, gradient = self.evaluate(weights)
            here = (size, value, float(gradient @ direction))
            if not value <= self.value + ARMIJO * size * down:
                high = here
            elif here[2] < CURVATURE * down:
                low = here
            else:
                return weights, value, gradient
            size = 4 * size if high is None else _between(low, high)
        return None

    def search_orthant(self, slope: Vector, direction: Vector, size: float) -> Point | None:
        """Backtrack along the direction, staying in the orthant of w (of −slope where w is 0)."""
        side = np.where(self.weights != 0, np.sign(self.weights), -np.sign(slope))
        for _ in range(self.options.max_linesearch):
            weights = self.weights + size * direction
            weights[weights * side < 0] = 0.0
            value, gradient = self.evaluate(weights)
            if value <= self.value + ARMIJO * float(slope @ (weights - self.weights)):
                return weights, value, gradient
            size /= 2
        return None


def _between(low: tuple[float, float, float], high: tuple[float, float, float]) -> float:
    """The minimum of the cubic through both ends, kept away from them (Nocedal and Wright 2006, eq. 3.59)."""
    (a, fa, da), (b, fb, db) = low, high
    width = b - a
    middle = a + 0.5 * width
    if not np.isfinite(fb):
        return a + 0.1 * width
    d1 = da + db - 3 * (fa - fb) / (a - b)
    square = d1 * d1 - da * db
    if square < 0:
        return middle
    d2 = np.copysign(np.sqrt(square), width)
    bottom = db - da + 2 * d2
    found = b - width * (db + d2 - d1) / bottom if bottom else middle
    return float(min(max(found, a + 0.1 * width), b - 0.1 * width))
