"""Rules about mentions: those of the same thing, and those that share tokens."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from conseq.constraints.relational.base import RelationRule, alike, entity_indicators, joined, spans_of
from conseq.constraints.relational.sums import Sums
from conseq.dtypes import Ints
from conseq.entities import NONE, Candidates, Types


@dataclass(frozen=True)
class MentionsAgree(RelationRule, form="same mentions agree on type"):
    """Charges each two mentions that are said to be of the same thing and have different types.

    >>> print(MentionsAgree(penalty=0.5))
    same mentions agree on type  penalty 0.5
    """

    varies = True

    def lower(self, types: Types, candidates: Candidates) -> Sums:
        same = np.array(sorted(candidates.same), dtype=np.int64).reshape(-1, 2)
        by_type: Iterable[Ints] = (
            entity_indicators(types, candidates, name)[same] for name in types.entities
        )
        return joined([alike(both, [1.0, -1.0], 0.0) for both in by_type])


@dataclass(frozen=True)
class NoOverlap(RelationRule, form="entities but {none:entity} do not overlap"):
    """Charges each two candidate spans that share a token and are both entities.

    none    the type of spans that are no entities

    >>> print(NoOverlap(), NoOverlap("O"), sep="; ")
    entities do not overlap  hard; entities but O do not overlap  hard
    """

    none: str = NONE

    varies = True

    def lower(self, types: Types, candidates: Candidates) -> Sums:
        begin, end = spans_of(candidates).T
        shared = (begin[:, None] < end) & (begin < end[:, None])
        both = np.argwhere(np.triu(shared, 1))
        return alike(entity_indicators(types, candidates, self.none)[both], [-1.0, -1.0], -1.0)

    def line(self) -> str:
        return "entities do not overlap" if self.none == NONE else super().line()
