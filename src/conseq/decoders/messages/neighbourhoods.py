"""Large neighbourhoods: most tokens keep their label of the best labelling, the others are labelled anew.

    best labelling ─→ a window of tokens ─→ messages among its labellings ─→ better? ─→ the next window ─→ …

A gap may stay on a whole sequence although each window is solved exactly in milliseconds, since almost
everything that its rules depend on is known. Windows overlap by half, and get wider once none gives anything
better.
"""

from __future__ import annotations

import numpy as np

from conseq.decoders.base import Best, Limits
from conseq.decoders.messages.search import MessagePassing
from conseq.problem import Problem

NARROWEST, WIDEST = 8, 16
"""Tokens of the first windows, and of the last; each time twice as many."""
SHARE = 0.1
"""Of the time that is left, what one window may take."""
WITHIN = MessagePassing(widest=64)


def improve(best: Best, limits: Limits) -> float:
    """Make the labelling better, window by window, as long as there is time; the Viterbi runs."""
    problem, runs, width = best.problem, 0.0, NARROWEST
    while best.states is not None and width <= min(WIDEST, 2 * problem.n_tokens):
        before = best.score
        for first in range(0, problem.n_tokens, width // 2):
            if best.is_done(limits):
                return runs
            near = freed(problem, best.states, slice(first, first + width))
            answer = WITHIN.decode(near, limits=best.rest(limits, SHARE), hint=best.states)
            best.offer(answer.states)
            runs += answer.certificate.iterations
        if best.score == before:
            width *= 2
    return runs


def freed(problem: Problem, states: np.ndarray, window: slice) -> Problem:
    """The same problem where only the tokens of a window may change their states."""
    allowed = np.zeros(problem.potentials.unary.shape, dtype=bool)
    allowed[np.arange(len(states)), states] = True
    allowed[window] = True
    return Problem(problem.potentials.restricted(allowed), problem.program, problem.first_token)
