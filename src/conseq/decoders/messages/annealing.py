"""Simulated annealing: a good labelling soon, where hundreds of rules leave no room for a search.

    labelling ─→ hot: labels change freely ─→ … sweeps … ─→ cold: only for the better ─→ the best one ─→ again

All rules count from the first sweep on (Kirkpatrick et al. 1983), hard ones with a finite weight that grows
where they are broken in the end. That proves nothing; but it often finds a labelling where beams find none,
and a good one makes proofs short.
"""

from __future__ import annotations

import numpy as np

from conseq.constraints.primitives import Linear
from conseq.decoders.base import Best, Limits
from conseq.decoders.chain.viterbi import chain_of, viterbi
from conseq.decoders.messages.machine import Machine, Tables, as_arrays, machine_of
from conseq.decoders.messages.shares import excess_of
from conseq.dtypes import Floats, States
from conseq.kernels import annealing as kernel
from conseq.kernels import clock
from conseq.problem import Problem

SWEEPS, FEWEST, MOST = 100, 400, 3200
"""Sweeps of the first run, each further one having twice as many; of one that may be the last, if it finds
nothing better; of the last one of all, for there may be no labelling."""
CELL = 24
"""Bytes for a cell of a machine, and for what it reads there."""
HOT, COLD = 1.5, 0.15
"""Temperatures, in units of what scores of a token differ by."""
HARD = 8.0
"""What violating a hard rule costs at first, in the same units."""


def anneal(best: Best, limits: Limits) -> float:
    """Make the labelling better, as long as there is time and runs get anywhere; the Viterbi runs."""
    problem, sweeps, runs, before = best.problem, SWEEPS, 0.0, -np.inf
    states = viterbi(problem.potentials).states if best.states is None else best.states
    if problem.n_tokens == 0 or states[0] < 0 or best.is_done(limits):
        return 0.0
    annealing = Annealing(problem, best.begun + limits.seconds, limits.room(CELL))
    while sweeps <= MOST and not best.is_done(limits):
        if sweeps > FEWEST and best.score == before > -np.inf:
            break
        before = best.score
        states = annealing.run(best, states, sweeps, limits)
        states = states if best.states is None else best.states
        runs += sweeps / problem.n_states
        sweeps *= 2
    return runs


class Annealing:
    """What sweeps need to know of a problem; `weights` is what a unit of violation costs in them, [P].

    until    when to stop making machines, by the clock of limits; then there is no time for sweeps, either
    room     cells of machines that there is memory for; what needs more is left out
    """

    def __init__(self, problem: Problem, until: float = np.inf, room: float = np.inf) -> None:
        program, potentials = problem.program, problem.potentials
        self.problem, self.chain, self.rng = problem, chain_of(potentials), np.random.default_rng(0)
        self.unit = _spread(self.chain.unary)
        self.weights = np.where(program.penalties < np.inf, program.penalties, HARD * self.unit)
        units = Problem(potentials, program.with_penalties(np.ones(len(program.rules))), problem.first_token)
        machines, tables = dict[int, Machine](), Tables()
        for p in range(program.n_linear, len(program)):
            if clock.now() > until:
                break
            machine = machine_of(units, p, np.inf, tables) if self.weights[p] > 0 else None
            if machine is not None and machine.cells <= room:
                machines[p], room = machine, room - machine.cells
        self.number = np.array([*machines], dtype=np.int64)
        self.machines = as_arrays([*machines.values()], problem.n_tokens, problem.n_states)
        self.ahead = np.empty(sum(machine.cells for machine in machines.values()))

    def score(self, states: States) -> float:
        """What a labelling scores by the weights."""
        return self.problem.potentials.score(states) - float(self.weights @ self.problem.violations(states))

    def run(self, best: Best, states: States, sweeps: int, limits: Limits) -> States:
        """Sweeps from hot to cold; the labelling that they end with. Hard rules that it breaks weigh twice as
        much from then on."""
        states, score, shape = states.copy(), self.score(states), self.chain.unary.shape
        sums, weights = self.sums(states), self.weights[self.number]
        for share in np.linspace(0.0, 1.0, sweeps):
            if best.is_done(limits):
                break
            noise = self.rng.gumbel(scale=self.unit * HOT * (COLD / HOT) ** share, size=shape)
            score += self.sweep(sums, weights, noise, states)
            if score > best.score:
                best.offer(states)
        broken = self.problem.violations(states) > 0
        self.weights[broken & (self.problem.program.penalties == np.inf)] *= 2
        return states

    def sweep(self, sums: kernel.Totals, weights: Floats, noise: Floats, states: States) -> float:
        """Draw the labels anew; by how much the labelling scores more."""
        first = self.problem.first_token
        return kernel.sweep(self.chain, first, sums, self.machines, weights, noise, states, self.ahead)

    def sums(self, states: States) -> kernel.Totals:
        """The sums of a labelling, by the counters that they weigh."""
        program = self.problem.program
        ground, size = program.arrays, program.n_linear
        (coefficient, counter), rows = ground.sums.terms.T, np.diff(ground.sums.rows)
        order = np.argsort(counter, kind="stable")
        first = np.searchsorted(counter[order], np.arange(len(program.counter_list) + 1))
        uses = np.stack([np.repeat(np.arange(size), rows), coefficient], axis=1)[order]
        linears = [c.primitive for c in program.charges if isinstance(c.primitive, Linear)]
        beyond = np.array([excess_of(self.problem, linear, states) for linear in linears])
        return kernel.Totals(ground.size, ground.counters, first, uses, self.weights[:size].copy(), beyond)


def _spread(unary: Floats) -> float:
    """What the scores of a token differ by, 1 if they do not."""
    known = unary[np.isfinite(unary).all(axis=1)] if len(unary) else unary
    return float(known.std(axis=1).mean()) or 1.0 if len(known) else 1.0
