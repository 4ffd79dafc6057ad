"""The distribution over the paths of a lattice: forward–backward, and what follows from it.

Lattice ─→ Posterior.of ─→ p(edge), p(node), p(state at token), p(span), samples
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from conseq.decoders.chain.marginals import span_masks
from conseq.decoders.lattice.lattice import Lattice
from conseq.dtypes import Bools, Floats, Ints
from conseq.errors import ConseqError
from conseq.kernels import lattice as kernel


@dataclass(frozen=True, eq=False)
class Posterior:
    """The distribution over the paths of a lattice, p ∝ exp(score); without a path log_partition is −inf."""

    lattice: Lattice
    shares: Floats  # [E], p(edge | its source)
    nodes: Floats  # [B], p(node)
    log_partition: float

    @classmethod
    def of(cls, lattice: Lattice) -> Posterior:
        shares, nodes = np.zeros(lattice.n_edges), np.zeros(lattice.n_nodes)
        log_partition = kernel.posteriors(lattice.graph, shares, nodes)
        return cls(lattice, shares, nodes, log_partition)

    @cached_property
    def edges(self) -> Floats:
        """p(edge), [E]."""
        return self.nodes[self.lattice.sources] * self.shares

    @cached_property
    def states(self) -> Floats:
        """p(state s at token t), [L,S]."""
        lattice = self.lattice
        found = np.zeros((lattice.n_tokens, lattice.n_states))
        inner = lattice.steps.state >= 0
        at = lattice.steps.token[inner], lattice.steps.state[inner]
        np.add.at(found, at, self.edges[lattice.edge_of_step][inner])
        return found

    def passage(self, first: int, masks: Bools) -> float:
        """p(the path has a state of masks[k] at token first + k, for all k), masks[M,S]."""
        found = kernel.passage(self.lattice.graph, self.lattice.steps, self.shares, first, masks)
        return min(1.0, float(found))

    def span_probability(
        self, start: int, before: ArrayLike | None, inside: ArrayLike, after: ArrayLike | None
    ) -> float:
        """As `ChainPosterior.span_probability`."""
        shape = self.lattice.n_tokens, self.lattice.n_states
        first, masks = span_masks(shape, start, before, inside, after)
        return self.passage(first, masks) if len(masks) else 1.0

    def sample(self, n: int, rng: np.random.Generator) -> Ints:
        """Paths drawn independently, as edges [n,L+1], −1 after the last."""
        if self.log_partition == -np.inf:
            raise ConseqError("there is no path to draw from; allow more labels or steps")
        shape = n, self.lattice.n_tokens + 1
        paths = np.empty(shape, dtype=np.int64)
        kernel.sample(self.lattice.graph, self.shares, rng.random(shape), paths)
        return paths
