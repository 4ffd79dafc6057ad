"""Linear and mixed integer programs, put together in blocks and handed to HiGHS in one call.

    Assembly: blocks of columns, blocks of rows ─→ solve ─→ Answer: values, bound

HiGHS and scipy are imported when they are first needed: they take longer to load than `conseq --help` may.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conseq.dtypes import Floats, Ints
from conseq.errors import ConseqError

TOLERANCE = 1e-9
"""How far HiGHS may be off a row, a reduced cost or a whole number."""

LARGEST = 2.0**20
"""Objectives are divided by a power of two until no coefficient is larger: HiGHS' tolerances are absolute."""

UNBOUNDED = 1e100
"""A bound beyond this is none."""

ENTRY = 150
"""Bytes that HiGHS keeps for an entry of the matrix."""

ENTRIES_PER_SECOND = 2_000_000
"""HiGHS looks at the clock only now and then; a program larger than this for the time given is not begun."""


class Outcome(Enum):
    SOLVED = "solved"
    INFEASIBLE = "infeasible"
    STOPPED = "stopped"


@dataclass(frozen=True, eq=False)
class Answer:
    """What HiGHS found: the objective of no feasible point is above `bound`.

    reduced    of a relaxation, what each column gains beyond what its rows cost: a point that has all of a
               column with a gain below 0 is so much below the bound
    """

    outcome: Outcome
    values: Floats | None  # one per column, if a point was found
    bound: float
    nodes: int = 1
    reduced: Floats | None = None


NOTHING = Answer(Outcome.STOPPED, None, np.inf, 0)


@dataclass
class Assembly:
    """A program under construction: maximise gain · x, all x ≥ 0."""

    gain: list[Floats] = field(default_factory=list)
    upper: list[Floats] = field(default_factory=list)
    integral: list[NDArray[np.bool_]] = field(default_factory=list)
    low: list[Floats] = field(default_factory=list)
    high: list[Floats] = field(default_factory=list)
    entries: list[tuple[NDArray, NDArray, NDArray]] = field(default_factory=list)
    n_columns: int = 0
    n_rows: int = 0
    n_entries: int = 0

    def add_columns(self, gain: Floats, upper: ArrayLike = 1.0, integral: bool = False) -> Ints:
        """As many columns as there are gains; their numbers."""
        n = len(gain)
        self.gain.append(np.asarray(gain, dtype=np.float64))
        self.upper.append(np.full(n, upper))
        self.integral.append(np.full(n, integral))
        self.n_columns += n
        return np.arange(self.n_columns - n, self.n_columns)

    def add_rows(
        self, low: ArrayLike, high: ArrayLike, rows: NDArray, columns: NDArray, values: NDArray
    ) -> None:
        """Rows low ≤ Σ value · x ≤ high; `rows` numbers those of this block from 0, one per entry."""
        low, high = np.broadcast_arrays(np.atleast_1d(low).astype(float), np.atleast_1d(high).astype(float))
        self.low.append(low)
        self.high.append(high)
        self.entries.append((rows + self.n_rows, columns, values))
        self.n_rows += len(low)
        self.n_entries += len(values)

    def maximise(self, gain: Floats) -> None:
        """Another objective; columns beyond the gains given gain nothing."""
        self.gain = [np.pad(gain, (0, self.n_columns - len(gain)))]

    def solve(
        self,
        seconds: float = np.inf,
        relax: bool = False,
        nodes: float = np.inf,
        most_entries: float = np.inf,
    ) -> Answer:
        """The best point, all of `integral` whole unless relaxed; none if time or memory do not suffice."""
        if self.room(seconds, most_entries) < 0:
            return NOTHING
        until, arrays = time.perf_counter() + seconds, self.arrays(relax)
        scale = _scale(arrays)
        solver = _solver(arrays, scale, until - time.perf_counter(), nodes)
        try:
            solver.run()
        except MemoryError:
            return NOTHING
        return _answer(solver, arrays, scale)

    def room(self, seconds: float, most_entries: float) -> float:
        """How many more entries the matrix may have for HiGHS to do something with it in the time; below 0 if
        it has too many."""
        return min(most_entries, seconds * ENTRIES_PER_SECOND) - self.n_entries

    def arrays(self, relax: bool) -> Arrays:
        """The blocks end to end; entries of the matrix at the same place add up."""
        from scipy import sparse

        rows, columns, values = (np.concatenate(part) for part in zip(*self.entries, strict=True))
        shape = (self.n_rows, self.n_columns)
        matrix = sparse.coo_matrix((values.astype(np.float64), (rows, columns)), shape=shape).tocsc()
        gain, upper, low, high = map(np.concatenate, (self.gain, self.upper, self.low, self.high))
        return Arrays(gain, upper, low, high, np.concatenate(self.integral) & (not relax), matrix)


class Arrays(NamedTuple):
    """A whole program."""

    gain: Floats
    upper: Floats
    low: Floats
    high: Floats
    integral: NDArray[np.bool_]
    matrix: Any  # scipy.sparse, [rows,columns], by columns when HiGHS takes it


class Warm:
    """A relaxation that rows are added to, each time solved from where it stood."""

    def __init__(self, assembly: Assembly) -> None:
        self.arrays = assembly.arrays(relax=True)
        self.scale = _scale(self.arrays)
        self.solver = _solver(self.arrays, self.scale, np.inf, np.inf)

    def add_rows(self, high: Floats, first: Ints, columns: Ints, values: Floats) -> None:
        """Rows Σ value · x ≤ high; row k has the entries first[k] … first[k+1]−1."""
        from scipy import sparse

        low = np.full(len(high), -np.inf)
        starts, places = first[:-1].astype(np.int32), columns.astype(np.int32)
        self.solver.addRows(len(high), low, high, len(columns), starts, places, values)
        rows = sparse.csr_matrix((values, columns, first), shape=(len(high), len(self.arrays.gain)))
        self.arrays = self.arrays._replace(
            low=np.append(self.arrays.low, low),
            high=np.append(self.arrays.high, high),
            matrix=sparse.vstack([self.arrays.matrix, rows], "csr"),
        )

    def solve(self, seconds: float = np.inf) -> Answer:
        """The best point within the time, with a bound from the multipliers of its rows."""
        self.solver.setOptionValue("time_limit", float(self.solver.getRunTime()) + seconds)
        self.solver.run()
        return _answer(self.solver, self.arrays, self.scale)


def _scale(arrays: Arrays) -> float:
    """What objectives are divided by."""
    return float(2.0 ** max(0, np.ceil(np.log2(np.abs(arrays.gain).max(initial=1.0) / LARGEST))))


def _solver(arrays: Arrays, scale: float, seconds: float, nodes: float) -> Any:
    """HiGHS with the program in it, its objective divided by the scale."""
    import highspy

    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    for option, value in _options(seconds, nodes).items():
        solver.setOptionValue(option, value)
    matrix = arrays.matrix
    status = solver.passModel(
        matrix.shape[1],
        matrix.shape[0],
        matrix.nnz,
        int(highspy.MatrixFormat.kColwise),
        int(highspy.ObjSense.kMaximize),
        0.0,
        arrays.gain / scale,
        np.zeros(matrix.shape[1]),
        arrays.upper,
        arrays.low,
        arrays.high,
        matrix.indptr.astype(np.int32),
        matrix.indices.astype(np.int32),
        matrix.data,
        arrays.integral.astype(np.int32),
    )
    if status == highspy.HighsStatus.kError:
        size = f"{matrix.shape[1]:,} columns and {matrix.shape[0]:,} rows"
        raise ConseqError(f"HiGHS refused a program of {size}; use another decoder, or fewer rules")
    return solver


def _options(seconds: float, nodes: float) -> dict[str, float | int | bool]:
    return {
        "output_flag": False,
        "threads": 1,
        "time_limit": max(0.0, seconds),
        "mip_max_nodes": int(min(nodes, np.iinfo(np.int32).max)),
        "mip_rel_gap": 0.0,
        "mip_abs_gap": 0.0,
        "primal_feasibility_tolerance": TOLERANCE,
        "dual_feasibility_tolerance": TOLERANCE,
        "mip_feasibility_tolerance": TOLERANCE,
    }


def _answer(solver: Any, arrays: Arrays, scale: float) -> Answer:
    """What HiGHS knows after a run."""
    import highspy

    status, info, solution = solver.getModelStatus(), solver.getInfo(), solver.getSolution()
    statuses = highspy.HighsModelStatus
    if status in (statuses.kInfeasible, statuses.kUnboundedOrInfeasible):  # every column is bounded
        return Answer(Outcome.INFEASIBLE, None, -np.inf)
    feasible = int(highspy.SolutionStatus.kSolutionStatusFeasible)
    found = solution.value_valid and info.primal_solution_status == feasible
    values = np.array(solution.col_value) if found else None
    outcome = Outcome.SOLVED if status == statuses.kOptimal else Outcome.STOPPED
    if not arrays.integral.any():
        duals = np.array(solution.row_dual) * scale if solution.dual_valid else None
        if duals is None:
            return Answer(outcome, values, np.inf)
        return Answer(outcome, values, dual_bound(arrays, duals), 1, reduced_gains(arrays, duals)[2])
    bound = info.mip_dual_bound
    if outcome is Outcome.SOLVED:
        bound = max(bound, info.objective_function_value)
    bound = (bound + 10 * TOLERANCE) * scale if abs(bound) < UNBOUNDED else np.inf
    return Answer(outcome, values, bound, max(1, int(info.mip_node_count)))


def dual_bound(arrays: Arrays, duals: Floats) -> float:
    """An upper bound on gain · x from any duals y of the rows, so it holds whatever tolerances HiGHS kept:

    gain · x = y · Ax + (gain − y · A) · x
             ≤ Σ max(y · low, y · high) + Σ max(0, gain − y · A) · upper
    """
    duals, ends, reduced = reduced_gains(arrays, duals)
    return float(duals @ ends + np.maximum(0.0, reduced) @ arrays.upper)


def reduced_gains(arrays: Arrays, duals: Floats) -> tuple[Floats, Floats, Floats]:
    """Multipliers of rows that have such a side, the sides, and gain − y · A."""
    ends = np.where(duals > 0, arrays.high, arrays.low)
    open_ended = np.isinf(ends)
    duals, ends = np.where(open_ended, 0.0, duals), np.where(open_ended, 0.0, ends)
    return duals, ends, arrays.gain - arrays.matrix.T @ duals
