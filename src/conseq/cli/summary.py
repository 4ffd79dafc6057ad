"""Labels for a whole corpus, and how decoding went.  labeller, corpus ─→ ids[T], Summary"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conseq.cli.clock import Clock
from conseq.cli.rules import limit_noted

if TYPE_CHECKING:
    from conseq.corpus import Corpus
    from conseq.dtypes import Ids
    from conseq.labeller import Labeller

WARM_UP = 50
"""How many sequences are labelled beforehand, to load compiled code, which is not decoding."""


WITHOUT_RUNS = ("ilp", "twostage", "enumerate")
"""Decoders whose iterations are no runs of Viterbi."""


@dataclass(frozen=True)
class Summary:
    """How decoding went.

    certified        sequences whose labels are proved to be the best ones
    iterations       of all sequences: Viterbi runs, or steps of a decoder that makes no such runs
    decoder          its name
    before, after    rule ─→ sequences that break it: labelled without any rules, and under them
    """

    sequences: int
    tokens: int
    certified: int
    iterations: float
    seconds: float
    before: Mapping[str, int]
    after: Mapping[str, int]
    decoder: str = "auto"

    @property
    def mean_iterations(self) -> float:
        return self.iterations / max(1, self.sequences)

    @property
    def tokens_per_second(self) -> float:
        return self.tokens / self.seconds

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "sequences": self.sequences,
            "certified": self.certified,
            "mean_iterations": self.mean_iterations,
            "seconds": self.seconds,
            "tokens_per_second": self.tokens_per_second,
            "violations": {"before": dict(self.before), "after": dict(self.after)},
        }

    def sentence(self) -> str:
        word = "step" if self.decoder in WITHOUT_RUNS else "Viterbi run"
        runs = f"1 {word}" if self.mean_iterations == 1 else f"{self.mean_iterations:.2f} {word}s"
        return f"{self.certified:,} of {self.sequences:,} certified, {runs} on average"


def decode_all(labeller: Labeller, corpus: Corpus) -> tuple[Ids, Summary]:
    """The best label of each token, and how that went; decoding alone is timed."""
    import numpy as np

    labeller.predict_ids(corpus.select(range(min(WARM_UP, len(corpus)))))
    lines = [rule.line() for rule in labeller.constraints_]
    ids = [np.empty(0, dtype=np.int32)]
    broken = np.zeros((2, len(lines)), dtype=np.int64)
    certified, iterations, seconds = 0, 0.0, 0.0
    with limit_noted(labeller):
        clock = Clock()
        for found in labeller.answers(corpus):
            seconds += clock.seconds()
            ids.append(found.decodings.labels)
            certified += int(found.decodings.certified.sum())
            iterations += float(found.decodings.iterations.sum())
            if lines:
                broken += [found.broken_without_rules(), found.broken()]
            clock = Clock()
    before, after = (dict(zip(lines, counts, strict=True)) for counts in broken.tolist())
    decoder = labeller.decoder if isinstance(labeller.decoder, str) else labeller.decoder.name
    summary = Summary(len(corpus), corpus.n_tokens, certified, iterations, seconds, before, after, decoder)
    return np.concatenate(ids), summary
