"""Rules in the states of the chain: what messages about single tokens cannot settle between chain and rules.

    messages ─→ the rule that lowers the bound most as a part of the chain ─→ states (state, its node)
             ─→ messages, beams on the larger chain ─→ … ─→ bound and labelling meet, or there is no room

Chain and automata agree on every token by itself, while the best steps of one are not those of the other. In
a chain whose states know the node of the automaton they are (Sontag et al. 2008).

Axes: L tokens, S states, C classes of tokens, N nodes of the automaton.
"""

from __future__ import annotations

import numpy as np

from conseq.decoders.base import Best, Limits
from conseq.decoders.chain.viterbi import viterbi
from conseq.decoders.lattice.search import lowered
from conseq.decoders.messages.machine import Machine
from conseq.decoders.messages.search import MessagePassing, shares_of
from conseq.decoders.messages.shares import Shares
from conseq.dtypes import Bools, Floats, Ints
from conseq.potentials import Potentials
from conseq.problem import Problem

PASSES = 25
"""Passes after which the rules are compared."""
MOST_CELLS = 1 << 22
"""Steps of the larger chain, before states are left out that cannot be reached."""
MUCH_LARGER = 2
"""How many times as many steps the chain has before labellings are looked for again."""
SHARE = 0.25
"""Of the time that is left, what looking for labellings may take."""
BEAMS = MessagePassing(widest=1 << 14)
"""Wider ones take longer than another rule in the chain."""


def absorb(best: Best, primitives: set[int], limits: Limits) -> float:
    """Improve the labelling and the bound on a chain that grows by one of the primitives after the other; the
    Viterbi runs."""
    problem, state_of, runs = best.problem, np.arange(best.problem.n_states), 0.0
    size = problem.potentials.pairwise.size
    while not best.is_done(limits):
        p = _chosen(_within(problem, best, state_of), primitives, limits)
        if p is None or best.is_done(limits):
            break
        problem, states = with_rule(problem, p)
        state_of, primitives = state_of[states], primitives - {p}
        if problem.potentials.pairwise.size >= MUCH_LARGER * size:
            size, inner = problem.potentials.pairwise.size, _within(problem, best, state_of)
            answer = BEAMS.decode(problem, limits=best.rest(limits, SHARE), hint=inner.states)
            best.offer(None if answer.states is None else state_of[answer.states])
            best.prove(answer.certificate.bound)
            runs += answer.certificate.iterations * (problem.n_states / best.problem.n_states) ** 2
    return runs


def _within(problem: Problem, best: Best, state_of: Ints) -> Best:
    """What is known of the problem, for one whose states stand for its states."""
    inner = Best(problem, bound=best.bound, begun=best.begun)
    if best.states is not None:
        same = state_of == best.states[:, None]
        inner.offer(viterbi(problem.potentials.restricted(same)).states)
    return inner


def _chosen(best: Best, primitives: set[int], limits: Limits) -> int | None:
    """The primitive that lowers the bound most as a part of the chain; None if all are too large."""
    shares, problem = shares_of(best, limits), best.problem
    number: list[int] = []
    for p in sorted(primitives):
        shares.add([p])
        number += [p] * (len(shares.machines) - len(number))
    for _ in range(PASSES):
        if not shares.pass_messages(lowered(best.score)):
            return None
    primitives_of = np.bincount([charge.rule for charge in problem.charges])
    falls: dict[int, float] = {}
    for m, p in enumerate(number):
        if (
            primitives_of[problem.charges[p].rule] == 1
            and not shares.is_late
            and is_small(problem, p, limits)
        ):
            falls[p] = _fall(shares, m)
    return max(falls, key=falls.__getitem__, default=None)


def is_small(problem: Problem, p: int, limits: Limits) -> bool:
    """Whether there is room for a chain with primitive p in its states."""
    machine, steps = Machine.of(problem, p, np.inf), problem.potentials.pairwise.size
    most = min(MOST_CELLS, limits.room(32))
    return machine is not None and steps * len(machine.target) * len(machine.final) ** 2 <= most


def _fall(shares: Shares, m: int) -> float:
    """By how much the best of chain and machine, each for itself, is above the best of both; less for large
    machines."""
    part, kind = shares.parts()[m], shares.kind if len(shares.kind) else None
    end = shares.scores.after[-1, : shares.shape[1]]
    scores = Potentials.of(shares.scores.unary, shares.pairwise, None, end, kind=kind)
    both, _ = product(scores, part.machine, part.told)
    fall = viterbi(scores).scores[0] + part.value - viterbi(both).scores[0]
    return float(fall) / np.log2(1 + len(part.machine.final))


def with_rule(problem: Problem, p: int) -> tuple[Problem, Ints]:
    """The same problem where a rule, of which primitive p is the only one, is in the states of the chain
    instead of among the rules; the state that each state stands for."""
    machine = Machine.of(problem, p, np.inf)
    assert machine is not None
    potentials, state_of = product(problem.potentials, machine)
    penalties = [rule.penalty for rule in problem.program.rules]
    penalties[problem.charges[p].rule] = 0.0
    return Problem(potentials, problem.program.with_penalties(penalties), problem.first_token), state_of


def product(scores: Potentials, machine: Machine, told: Floats | None = None) -> tuple[Potentials, Ints]:
    """One sequence with states (state, node), which gains what the machine does; the state of each.

    told    what the machine is told of the groups at the tokens that it reads
    """
    (length, size), nodes, group_of = scores.unary.shape, len(machine.final), machine.group_of
    state, class_of, unary = np.arange(size), np.zeros(length, dtype=np.int64), scores.unary.copy()
    class_of[machine.token] = machine.class_of
    if told is not None:
        unary[machine.token] += told.reshape(len(machine.token), -1)[:, group_of]
    target, gain = machine.target[:, :, group_of], machine.gain[:, :, group_of]  # [C,N,S]
    kind = np.zeros(length, dtype=np.int64) if scores.kind is None else scores.kind
    kinds, kind_of = np.unique([kind, class_of], axis=1, return_inverse=True)
    steps = np.full((kinds.shape[1], size, nodes, size, nodes), -np.inf)
    for row, k, c in zip(steps, *kinds, strict=True):
        for node in range(nodes):
            row[:, node, state, target[c, node]] = scores.pairwise[k] + gain[c, node]
    steps = steps.reshape(len(steps), size * nodes, -1)
    start, first = np.full((size, nodes), -np.inf), class_of[0]
    start[state, target[first, 0]] = scores.start + gain[first, 0]
    end = scores.end[:, None] + machine.final
    kept = _reachable(start.ravel() > -np.inf, np.any(steps > -np.inf, axis=0))
    kept = kept if len(kept) else np.arange(1)  # a chain has a state, if only one that none can begin in
    state_of = np.repeat(state, nodes)[kept]
    made = Potentials.of(
        unary[:, state_of],
        steps[:, kept][:, :, kept],
        start.ravel()[kept],
        end.ravel()[kept],
        kind=kind_of.reshape(-1),
        label_of=scores.state_labels[state_of],
    )
    return made, state_of


def _reachable(first: Bools, steps: Bools) -> Ints:
    """The states that can be reached from the first ones."""
    seen, before = first.copy(), 0
    while seen.sum() > before:
        before = int(seen.sum())
        seen |= steps[seen].any(axis=0)
    return np.flatnonzero(seen)
