"""Beam search over variables, for contrast: only the most promising beginnings of an answer are kept.

A beginning can reach at most

    gain so far + best gains of the variables left − cost of what is broken whatever follows

which ranks beginnings. What is dropped can reach no more than the best rank among it, so there is an upper
bound, too; width 1 is a greedy search.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from conseq.decoders.base import NO_LIMITS, Limits
from conseq.decoders.variables.model import Found, Model
from conseq.dtypes import Floats, Ints
from conseq.kernels import clock
from conseq.kernels.indicators import EXACT


@dataclass(frozen=True)
class VariableBeam:
    """Keeps `width` beginnings after each variable, in the variables' order."""

    name: ClassVar[str] = "beam"

    width: int = 8

    def solve(self, model: Model, limits: Limits = NO_LIMITS, hint: Ints | None = None) -> Found:
        """The best answer of the beam; rows that are listed later are charged from then on."""
        until = clock.now() + limits.seconds
        given = model.without_tables()
        found = given.completed(lambda one: _grow(one, self.width, until), limits)
        kept = None if found.values is None else found.values[: model.n_variables]
        return found._replace(values=kept)


class _Step(NamedTuple):
    """A variable, the rows that it is in, and what its values add to them."""

    variable: int
    gains: Floats  # [D]
    rows: Ints  # [k]
    added: Floats  # [D,k]
    later: Floats  # [k], the least that variables to come add to each row


def _grow(model: Model, width: int, until: float) -> Found:
    variables, rows = model.variables, model.rows
    penalty = np.where(rows.together[rows.group] == 1, 0.0, rows.penalty[rows.group])
    penalty = np.where(np.isinf(rows.penalty[rows.group]), np.inf, penalty)  # rows charged together: if hard
    size = np.abs(rows.bound) + np.add.reduceat(np.append(np.abs(rows.weight), 0.0), rows.first[:-1])
    steps = _steps(model)
    total = np.zeros((1, len(rows.bound)))
    start = np.zeros(len(rows.bound))
    for step in steps:
        start[step.rows] += step.added.min(axis=0)
    ranks = np.array([np.maximum.reduceat(variables.gains, variables.starts[:-1]).sum()])
    ranks = ranks - _cost(start[None] - rows.bound, penalty, size).sum(axis=1)
    chosen, dropped = np.zeros((1, model.n_variables), dtype=np.int64), -np.inf
    for step in steps:
        if clock.now() > until:
            return Found(None, max(dropped, float(ranks.max(initial=-np.inf))))
        here, bound = step.rows, rows.bound[step.rows]
        least = step.added.min(axis=0, initial=np.inf) + step.later
        now = total[:, None, here] + step.added + step.later  # [B,D,k], the least there may be in the end
        before = total[:, None, here] + least
        more = [_cost(one - bound, penalty[here], size[here]).sum(axis=2) for one in (now, before)]
        with np.errstate(invalid="ignore"):
            rank = (
                ranks[:, None]
                + (step.gains - step.gains.max())
                - np.where(more[0] > more[1], more[0] - more[1], 0.0)
            )
        flat = rank.reshape(-1)
        order = np.argsort(-flat, kind="stable")
        kept = order[:width][flat[order[:width]] > -np.inf]
        dropped = max(dropped, float(flat[order[width:]].max(initial=-np.inf)))
        parent, value = np.divmod(kept, len(step.gains))
        total, chosen, ranks = total[parent], chosen[parent], flat[kept]
        total[:, here] += step.added[value]
        chosen[:, step.variable] = variables.starts[step.variable] + value
        if not len(kept):
            return Found(None, dropped)
    scores = [model.score(values) for values in chosen]
    best = int(np.argmax(scores))
    return Found(chosen[best], max(dropped, float(np.max(ranks)), scores[best]))


def _steps(model: Model) -> list[_Step]:
    variables, rows = model.variables, model.rows
    row = np.repeat(np.arange(len(rows.bound)), np.diff(rows.first))
    owner = variables.owner[rows.indicator]
    later = np.zeros(len(rows.bound))
    steps = []
    for v in range(model.n_variables - 1, -1, -1):
        here = np.flatnonzero(owner == v)
        own, place = np.unique(row[here], return_inverse=True)
        begin, end = variables.starts[v], variables.starts[v + 1]
        added = np.zeros((end - begin, len(own)))
        added[rows.indicator[here] - begin, place] = rows.weight[here]
        steps.append(_Step(v, variables.gains[begin:end], own, added, later[own]))
        later[own] += added.min(axis=0)
    return steps[::-1]


def _cost(beyond: Floats, penalty: Floats, size: Floats) -> Floats:
    """What each row costs."""
    broken = beyond > EXACT * size
    with np.errstate(invalid="ignore"):
        return np.where(broken, penalty * beyond, 0.0)
