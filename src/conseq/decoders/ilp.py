"""The integer linear program: a longest path through a lattice, with rows for the constraints.

    Problem ─→ Lattice ─→ Assembly (edges, rows) ─→ HiGHS ─→ states, bound

    max Σ score_e · e − Σ penalty · violation,   e ∈ {0,1},   flow conservation at every node

Exact for all constraints (Roth and Yih 2005; Fersini et al. 2014). Without constraints the program is a
longest path, whose relaxation is whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from conseq.constraints.base import HARD
from conseq.decoders.base import NO_LIMITS, Best, Hint, Limits
from conseq.decoders.chain.viterbi import first_answer
from conseq.decoders.lattice.lattice import Lattice
from conseq.decoders.lattice.rows import add_charge, add_flow, least_violation
from conseq.decoders.lattice.search import lowered
from conseq.kernels.rounding import rounding
from conseq.problem import TOLERANCE, Decoding, Problem
from conseq.solver import ENTRY, Assembly, Outcome

ENTRIES_PER_EDGE, FLOW_SHARE = 2, 0.25
"""Where an edge leaves and where it enters; what of the time that is left HiGHS may take for these alone."""


@dataclass(frozen=True)
class ILP:
    """Integer linear programming by HiGHS.

    relax    solve the linear relaxation only: its value is the bound, and the labelling follows the largest
             flows. It is optimal if they meet, as they do whenever the relaxation is whole. Without `relax`
             it is solved first all the same, for often it suffices and is several times as fast.
    prune    leave out edges and violations that only labellings below the best score known can have: that of
             the best labelling without the constraints, or of the hint. The answer is the same, but sooner.

    >>> from conseq.potentials import Potentials
    >>> from conseq.problem import Problems
    >>> from conseq.schema import Schema
    >>> scores = Potentials.of([[1.0, 0.0], [0.0, 2.0]])
    >>> ILP().decode(Problems.of(scores, Schema(["a", "b"], "plain"))[0])
    Decoding(a b; score 3, OPTIMAL)
    """

    relax: bool = False
    prune: bool = True

    name: ClassVar[str] = "ilp"

    def decode(self, problem: Problem, *, limits: Limits = NO_LIMITS, hint: Hint = None) -> Decoding:
        """The best labelling under all constraints; after `limits.seconds` the best so far with its gap."""
        best, wanted = first_answer(problem, hint)
        if wanted is None:
            return best.decoding(iterations=1 if problem.n_tokens else 0)
        if not self.prune:  # Viterbi's labelling is for pruning
            best = Best(problem, bound=best.bound, begun=best.begun)
            best.offer(hint)
        nodes = self._solve(best, True, limits)
        before = None
        while nodes and not self.relax and best.score != before and not _is_settled(best):
            before = best.score  # a better one makes for a smaller program, so that is worth another run
            nodes += self._solve(best, False, limits)
        return best.decoding(iterations=nodes)

    def _solve(self, best: Best, relax: bool, limits: Limits) -> int:
        """Improve the labelling and the bound; the number of nodes that HiGHS looked at."""
        known = best.score if self.prune else -np.inf
        lattice = Lattice.within(best, lowered(known), limits)
        if lattice is None:
            return 0
        best.prove(lattice.best_score)
        room = Assembly().room(best.left(limits, FLOW_SHARE), limits.room(ENTRY, 0.5))
        if lattice.is_empty or ENTRIES_PER_EDGE * lattice.n_edges > room:
            return 0
        assembly = self._assembly(best, lattice, limits)
        answer = assembly.solve(best.left(limits), relax, limits.nodes, limits.room(ENTRY, 0.5))
        if answer.values is not None:
            best.offer(largest_flow(lattice, answer.values[: lattice.n_edges]))
        if answer.outcome is not Outcome.INFEASIBLE or best.states is None:  # else HiGHS met its tolerances
            best.prove(answer.bound)
        return answer.nodes

    def _assembly(self, best: Best, lattice: Lattice, limits: Limits) -> Assembly:
        """The program; a part of it, where there is no time or no room for the whole."""
        assembly = Assembly()
        edges = add_flow(assembly, lattice, lattice.graph.gains)
        affordable = lattice.best_score - lowered(best.score) if self.prune else np.inf
        for charge in best.problem.charges:
            if charge.penalty == 0 or charge.primitive.is_local:  # the local ones are in the scores
                continue
            room = assembly.room(best.left(limits), limits.room(ENTRY, 0.5))
            if room < 0:
                return assembly
            if charge.penalty * least_violation(charge.primitive, lattice.n_tokens) > affordable:
                charge = charge._replace(penalty=HARD)  # no better labelling can afford to violate it
            add_charge(assembly, lattice, edges, best.problem, charge, room)
        return assembly


def _is_settled(best: Best) -> bool:
    """Whether the labelling is known to be optimal, or that there is none."""
    if best.states is None:
        return best.bound == -np.inf
    return best.bound - best.score <= rounding(best.score, TOLERANCE / 2)


def largest_flow(lattice: Lattice, flow: NDArray[np.float64]) -> NDArray[np.int32]:
    """The states of the path of most flow, [L]: the labelling itself if the edges are whole."""
    path, node = [], 0
    while node < lattice.n_nodes - 1:
        a, b = lattice.graph.first[node : node + 2].tolist()
        path.append(a + int(np.argmax(flow[a:b])))
        node = int(lattice.graph.targets[path[-1]])
    return lattice.states_of(np.array(path))
