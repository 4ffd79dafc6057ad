"""Sentences as they are decided: with the entities that they have, or with candidates for them.

sentences ─given─→ Reading        sentences, Boundaries ─→ Proposals ─of─→ Reading
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from conseq.dtypes import Floats, Ints
from conseq.entities import Sentence
from conseq.models.rows import log_shares
from conseq.relations.boundaries import Boundaries, Proposals, Spans
from conseq.relations.mentions import Mentions

TRUST = 0.5
"""How much of the score of a candidate comes from the boundaries; the rest is the classifier's."""


@dataclass(frozen=True, eq=False)
class Reading:
    """Sentences, their entities and pairs, and what is known of the types beside what a classifier says."""

    sentences: Sequence[Sentence]
    mentions: Mentions
    prior: Floats | None = None  # [E,A], log shares

    @classmethod
    def given(cls, sentences: Sequence[Sentence]) -> Reading:
        """With the entities that they have."""
        return cls(sentences, Mentions.of(sentences))

    @classmethod
    def of(cls, proposals: Proposals) -> Reading:
        """With candidates."""
        return cls(proposals.sentences, Mentions.of(proposals.sentences, proposals.pairs), proposals.scores)

    @classmethod
    def taught(
        cls,
        sentences: Sequence[Sentence],
        fold: Ints,
        types: Sequence[str],
        everything: Boundaries,
        n_jobs: int | None,
    ) -> Reading:
        """With candidates, for learning: by boundaries learned from the other folds, if there are several."""
        spans: list[Spans | None] = [None] * len(sentences)
        for k in np.unique(fold).tolist():
            own = np.flatnonzero(fold == k).tolist()
            rest = [sentences[i] for i in np.flatnonzero(fold != k).tolist()]
            model = Boundaries.learn(rest, types, n_jobs) if rest else everything
            for i, found in zip(own, model.spans([sentences[i] for i in own]), strict=True):
                spans[i] = found
        return cls.of(Proposals.of(sentences, [one for one in spans if one is not None], teach=True))

    def blended(self, scores: Floats) -> Floats:
        """The scores of a classifier of types, with what is known beside."""
        return scores if self.prior is None else log_shares(TRUST * self.prior + (1 - TRUST) * scores)
